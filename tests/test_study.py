"""The harness of the studies, tried with a toy study."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from fedtheory import study
from fedtheory._console import first_sentence

mpl.use("Agg")


@dataclass(frozen=True)
class Coins:
    """How often does a coin show heads?"""

    num_throws: int = 1000
    """Throws of the coin."""
    seed: int = 0
    """Entropy of the throws."""

    def __post_init__(self):
        if self.num_throws < 1:
            message = f"num_throws must be at least 1, got {self.num_throws}"
            raise ValueError(message)


def throw(config, progress):
    import xarray

    rng = np.random.default_rng(config.seed)
    heads = [rng.random() < 0.5 for _ in progress(range(config.num_throws), "throwing")]
    return xarray.Dataset({"heads": ("throw", np.array(heads, dtype=float))})


def rows(data):
    return study.Table([{"throws": data.sizes["throw"], "heads [1]": float(data["heads"].mean())}], title="coins")


def fair(data):
    mean = float(data["heads"].mean())
    return {"fair": study.Check(abs(mean - 0.5) < 0.1, f"mean {mean:.3f}")}


def draw(data):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot(np.cumsum(data["heads"]))
    return figure


TOY = study.Study("toy", Coins(), Coins(num_throws=200), throw, rows, fair, {"heads": draw})


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def exit_code(argv: list[str], toy: study.Study = TOY) -> Any:
    with pytest.raises(SystemExit) as stop:
        study.main(toy, argv)
    return stop.value.code


def test_every_file_is_written_and_nothing_else(tmp_path):
    study.produce(TOY, TOY.quick, tmp_path)
    assert names(tmp_path) == {"data.nc", "table.json", "checks.json", "metadata.json", "heads.png", "heads.pdf"}


def test_what_was_written_is_what_is_loaded(tmp_path):
    made = study.produce(TOY, TOY.quick, tmp_path)
    read = study.load(tmp_path)
    assert read.data.identical(made.data)
    assert read.table == made.table
    assert read.checks == made.checks
    assert read.metadata == made.metadata
    assert read.metadata["config"] == {"num_throws": 200, "seed": 0}
    assert read.metadata["seed_entropy"] == 0


def test_the_same_configuration_makes_the_same_bytes(tmp_path):
    for folder in ("one", "two"):
        study.produce(TOY, TOY.quick, tmp_path / folder)
    for name in names(tmp_path / "one") - {"metadata.json"}:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    # Two runs within a second would agree on the date.
    assert b"CreationDate" not in (tmp_path / "one" / "heads.pdf").read_bytes()


def test_the_same_configuration_may_run_again_and_another_needs_force(tmp_path):
    study.produce(TOY, TOY.quick, tmp_path)
    study.produce(TOY, TOY.quick, tmp_path)
    other = replace(TOY.quick, seed=1)
    with pytest.raises(FileExistsError, match="another configuration"):
        study.produce(TOY, other, tmp_path)
    assert study.load(tmp_path).metadata["config"]["seed"] == 0
    study.produce(TOY, other, tmp_path, force=True)
    assert study.load(tmp_path).metadata["config"]["seed"] == 1


@pytest.mark.parametrize("content", ["", "[]", '{"config": 3}', "{"])
def test_a_folder_of_somebody_else_is_refused(tmp_path, content):
    (tmp_path / "metadata.json").write_text(content)
    with pytest.raises(FileExistsError, match=r"holds"):
        study.produce(TOY, TOY.quick, tmp_path)
    assert names(tmp_path) == {"metadata.json"}


def test_a_file_in_the_place_of_the_folder_is_refused_before_the_run(tmp_path):
    def never(config, progress):
        pytest.fail("the study ran")

    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        study.produce(replace(TOY, run=never), TOY.quick, tmp_path / "file")


def test_a_changed_file_is_not_loaded(tmp_path):
    study.produce(TOY, TOY.quick, tmp_path)
    (tmp_path / "table.json").write_text(json.dumps({"rows": []}))
    with pytest.raises(ValueError, match=r"table\.json must be the file that was sealed"):
        study.load(tmp_path)


def test_a_failing_figure_leaves_the_earlier_results_as_they_were(tmp_path):
    def broken(data):
        message = "no figure today"
        raise RuntimeError(message)

    study.produce(TOY, TOY.quick, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(RuntimeError, match="no figure"):
        study.produce(replace(TOY, figures={"heads": broken}), replace(TOY.quick, seed=5), tmp_path, force=True)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_failing_write_leaves_the_earlier_results_as_they_were(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def full_disk(self, path, **options):
        path.write_bytes(b"half a fig")
        raise OSError(28, "No space left on device")

    study.produce(TOY, TOY.quick, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    monkeypatch.setattr(Figure, "savefig", full_disk)
    with pytest.raises(OSError, match="No space left"):
        study.produce(TOY, replace(TOY.quick, seed=5), tmp_path, force=True)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_command_line_prints_one_table_and_where_the_results_are(tmp_path, capsys):
    study.main(TOY, ["--quick", "--output", str(tmp_path / "out")])
    shown = capsys.readouterr()
    assert shown.out.count("heads [1]") == 1
    assert "1 of 1 checks hold" in shown.out
    assert study.load(tmp_path / "out").metadata["config"]["num_throws"] == 200


def test_an_option_changes_the_quick_size(tmp_path):
    study.main(TOY, ["--quick", "--num-throws", "300", "--output", str(tmp_path)])
    assert study.load(tmp_path).metadata["config"]["num_throws"] == 300


def test_default_output_is_named_after_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study.main(TOY, ["--quick"])
    assert (tmp_path / "results" / "toy" / "heads.png").stat().st_size > 1000


def test_a_failed_check_exits_with_one_and_keeps_the_results(tmp_path, capsys):
    unfair = replace(TOY, checks=lambda data: {"fair": study.Check(False, "mean 0.9")})
    assert exit_code(["--quick", "--output", str(tmp_path)], unfair) == 1
    assert "check failed: fair: mean 0.9" in capsys.readouterr().err
    assert not study.load(tmp_path).checks["fair"].holds


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--wrong", "3"], "--wrong"),
        (["--num-throws", "many"], "num-throws"),
        (["--num-throws", "0"], "num_throws must be at least 1, got 0"),
        (["--num-throws"], "num-throws"),
        (["stray"], "stray"),
    ],
)
def test_wrong_usage_exits_with_two_and_one_line(tmp_path, monkeypatch, capsys, argv, sentence):
    monkeypatch.chdir(tmp_path)
    assert exit_code(argv) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert sentence in shown.err
    assert shown.err.count("\n") == 1
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    "panel",
    [
        "╭─ Oops ──╮\n│ a bad   │\n│ option  │\n│ ─────── │\n│ help    │\n╰─────────╯\n",
        "\x1b[31m╭─\x1b[0m \x1b[1mOops\x1b[0m ──╮\n│ a bad   │\n│ option  │\n│ ─────── │\n│ help    │\n╰─────────╯\n",
        " Oops    \n ------- \n  a bad  \n  option \n  -------\n  help   \n\n",
    ],
)
def test_only_the_complaint_of_a_panel_is_kept(panel):
    assert first_sentence(panel) == "a bad option (see --help)"


def test_results_of_another_configuration_exit_with_two_and_one_line(tmp_path, capsys):
    study.main(TOY, ["--quick", "--output", str(tmp_path)])
    capsys.readouterr()
    again = ["--quick", "--seed", "1", "--output", str(tmp_path)]
    assert exit_code(again) == 2
    shown = capsys.readouterr()
    assert "--force to overwrite" in shown.err
    assert shown.err.count("\n") == 1
    study.main(TOY, [*again, "--force"])


def test_help_shows_every_field_with_its_docstring(capsys):
    assert exit_code(["--help"]) == 0
    shown = capsys.readouterr().out
    for text in ("How often does a coin", "--num-throws", "Throws of the coin.", "--quick", "--output", "--force"):
        assert text in shown
    assert "--no-" not in shown


def test_help_takes_the_attributes_of_a_numpydoc_docstring_too(capsys):
    @dataclass(frozen=True)
    class Dice:
        """How often does a die show six?

        Attributes
        ----------
        num_throws
            Throws of the die.
        """

        num_throws: int = 6

    assert exit_code(["--help"], replace(TOY, config=Dice())) == 0
    shown = capsys.readouterr().out
    assert "Throws of the die." in shown
    assert "How often does a die show six?" in shown
    assert "Attributes" not in shown


SLEEPER = """
import time
from fedtheory import study
from dataclasses import dataclass

@dataclass(frozen=True)
class Config:
    seed: int = 0

def run(config, progress):
    print("started", flush=True)
    for _ in progress(range(1000), "sleeping"):
        time.sleep(0.05)

study.main(study.Study("sleeper", Config(), Config(), run, table=None, checks=None))
"""


def test_control_c_exits_with_130_and_no_traceback(tmp_path):
    # A shell starts what it runs in the background deaf to Ctrl-C, and so is all that this starts: tests, too.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + SLEEPER
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert "interrupted" in complaint


def test_importing_the_harness_loads_nothing_heavy():
    heavy = "{'matplotlib', 'xarray', 'scipy', 'numba', 'cvxpy', 'sympy'}"
    code = f"import sys, fedtheory.study; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
