"""The framework of the studies, with a small study."""

import hashlib
import io
import json
import os
import re
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
from fedtheory.study import scripts
from fedtheory.study._figures import figure_bytes
from fedtheory.study.scripts import config_again, plain_config

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
    return {"fair": study.Finding(f"The share of heads is {mean:.3f}.", abs(mean - 0.5) < 0.1)}


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
    return {path.name for path in folder.iterdir()} - {".lock"}


def exit_code(argv: list[str], toy: study.Study = TOY) -> Any:
    with pytest.raises(SystemExit) as stop:
        study.main(toy, argv)
    return stop.value.code


def test_every_file_is_written_and_nothing_else(tmp_path):
    study.produce(TOY, TOY.quick, tmp_path)
    assert names(tmp_path) == {"data.nc", "table.json", "findings.json", "metadata.json", "heads.png", "heads.pdf"}


def test_what_was_written_is_what_is_loaded(tmp_path):
    made = study.produce(TOY, TOY.quick, tmp_path)
    read = study.load(tmp_path)
    assert read.data.identical(made.data)
    assert read.table == made.table
    assert read.findings == made.findings
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


@pytest.mark.parametrize("content", ["{", '{"config": 3}'])
def test_a_folder_of_somebody_else_is_refused(tmp_path, content):
    (tmp_path / "metadata.json").write_text(content)
    with pytest.raises(FileExistsError, match="contains something else"):
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
    with pytest.raises(ValueError, match=r"got table\.json, which differs from the one that metadata\.json lists"):
        study.load(tmp_path)


def test_a_label_that_is_longer_than_the_figure_is_not_cut():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(2, 1))
    axes.set_xlabel("communication rounds of federated averaging, counted from the first")
    edge = plt.imread(io.BytesIO(figure_bytes(figure, "png")["png"]))[:, [0, -1], :3]
    assert (edge == 1).all()


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

    def full_disk(self, stream, **options):
        stream.write(b"half a fig")
        raise OSError(28, "No space left on device")

    study.produce(TOY, TOY.quick, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    monkeypatch.setattr(Figure, "savefig", full_disk)
    with pytest.raises(OSError, match="No space left"):
        study.produce(TOY, replace(TOY.quick, seed=5), tmp_path, force=True)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_command_line_prints_one_table_the_findings_and_where_the_results_are(tmp_path, capsys):
    study.main(TOY, ["--quick", "--out", str(tmp_path / "out")])
    shown = capsys.readouterr()
    assert shown.out.count("heads [1]") == 1
    *_, sentence, _, last, picture = shown.out.splitlines()
    assert re.fullmatch(r"- The share of heads is 0\.\d+\.", sentence)
    assert last.startswith("1 of 1 findings hold; results in ")
    assert Path(picture.removeprefix("figure: ")).is_file()
    assert study.load(tmp_path / "out").metadata["config"]["num_throws"] == 200


def test_default_output_is_named_after_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study.main(TOY, ["--quick"])
    assert (tmp_path / "results" / "toy-quick" / "heads.png").stat().st_size > 1000
    study.main(TOY, [])  # the full size does not get in the way of the small one
    assert names(tmp_path / "results") == {"toy", "toy-quick"}


def test_a_finding_that_does_not_hold_exits_with_one_and_keeps_the_results(tmp_path, capsys):
    unfair = replace(TOY, findings=lambda data: {"fair": study.Finding("The coin is fair.", False, "mean 0.9")})
    assert exit_code(["--quick", "--out", str(tmp_path)], unfair) == 1
    assert "toy: does not hold: The coin is fair. mean 0.9" in capsys.readouterr().err
    assert not study.load(tmp_path).findings["fair"].holds


def test_the_first_finding_is_the_title_of_the_figures(tmp_path):
    import matplotlib.pyplot as plt

    sentences = [
        "The coin shows heads in half of the throws, and this sentence is too long for a line.",
        "Another one.",
    ]
    found = {sentence: study.Finding(sentence, True) for sentence in sentences}
    study.produce(replace(TOY, findings=lambda data: found), TOY.quick, tmp_path)
    assert " ".join(plt.gcf().get_suptitle().split()) == sentences[0]
    assert "\n" in plt.gcf().get_suptitle()


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--wrong", "3"], "--wrong"),
        (["--num-throws", "0"], "num_throws must be at least 1, got 0"),
        (["stray"], "stray"),
        (
            ["--from", "nowhere"],
            "nowhere must hold the results of a study, got a folder in which metadata.json is missing",
        ),
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


def test_a_study_s_own_complaint_can_be_seen_with_its_traceback(tmp_path, capsys):
    def stumble(config, progress):
        message = "tail must be even"
        raise ValueError(message)

    argv = ["--quick", "--out", str(tmp_path)]
    assert exit_code(argv, replace(TOY, run=stumble)) == 2
    assert capsys.readouterr().err == "toy: tail must be even\n"
    assert exit_code([*argv, "--debug"], replace(TOY, run=stumble)) == 2
    shown = capsys.readouterr().err
    assert "in stumble" in shown
    assert shown.endswith("toy: tail must be even\n")


@dataclass(frozen=True)
class Dice:
    """Nested parameters."""

    faces: tuple[int, ...] = (1, 2)
    pairs: tuple[tuple[str, float], ...] = (("a", 0.5),)
    coins: Coins = Coins(3)


def test_a_configuration_is_made_again_from_what_json_keeps_of_it():
    config = Dice((4, 5, 6), (("b", 0.25), ("c", 1.0)), Coins(7, 8))
    assert config_again(Dice, plain_config(config)) == config
    with pytest.raises(
        ValueError, match=r"results must be of this study with these parameters, got some that differ in 'coins'"
    ):
        config_again(Dice, {"faces": [], "pairs": []})


def test_stored_results_are_answered_again_from_their_folder_alone(tmp_path, capsys):
    folder = str(tmp_path / "out")
    study.main(TOY, ["--quick", "--seed", "3", "--num-throws", "250", "--out", folder])
    before = {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")}
    capsys.readouterr()
    study.main(TOY, ["--from", folder])
    shown = capsys.readouterr()
    assert f"the same data as in {folder}" in shown.out
    assert (shown.out.count("250"), shown.err) == (1, "")

    def biased(config, progress):
        return 1 - throw(config, progress)

    assert exit_code(["--from", folder], replace(TOY, run=biased)) == 1
    shown = capsys.readouterr()
    assert f"other data as in {folder}" in shown.out
    assert "toy: heads differs, by at most 1.0e+00 of its size" in shown.err
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names(tmp_path / "out")} == before
    assert exit_code(["--from", folder, "--seed", "4"]) == 2
    assert exit_code(["--from", folder], replace(TOY, name="other")) == 2
    assert "--from must name results of other, got those of 'toy'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["data.nc", "metadata.json", "heads.png"])
def test_what_is_missing_in_a_folder_is_named(tmp_path, name):
    study.produce(TOY, TOY.quick, tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=f"must hold the results of a study, got a folder in which {name} is missing"):
        study.load(tmp_path)


# A figure takes longer to draw than all else.
BARE = replace(TOY, figures={})


def resealed(folder: Path, **files: bytes) -> None:
    """Replace files of a folder, and their digests in the metadata, as anybody can."""
    metadata = json.loads((folder / "metadata.json").read_text())
    for stem, content in files.items():
        name = f"{stem}.nc" if stem == "data" else f"{stem}.json"
        (folder / name).write_bytes(content)
        metadata["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "metadata.json").write_text(json.dumps(metadata))


METADATA: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "metadata.json, which is not JSON"),
    "a list": (b"[]", "metadata.json, in which no files with their digests are listed"),
    "files in a list": ({"files": ["data.nc"]}, "metadata.json, in which no files with their digests are listed"),
    "deep nesting": (b"[" * 10**6, "metadata.json, which is not JSON"),
    "not UTF-8": (b'{"files": "\xff"}', "metadata.json, which is not JSON"),
    "a name twice": (b'{"files": {}, "files": {}}', "metadata.json, which is not JSON"),
    "NaN": (b'{"files": NaN}', "metadata.json, which is not JSON"),
    "infinity in digits": (b'{"files": 1e999}', "metadata.json, which is not JSON"),
    "many digits": (b"1" * 5000, "metadata.json, which is not JSON"),
    "half a character": (b'{"files": "\\ud800"}', "metadata.json, which is not JSON"),
    "another folder": ({"files": {"../own": "0"}}, "metadata.json, which lists a file outside of the folder"),
    "a drive": ({"files": {"C:own": "0"}}, "metadata.json, which lists a file outside of the folder"),
    "the folder": ({"files": {"..": "0"}}, "metadata.json, which lists a file outside of the folder"),
    "a null": ({"files": {"data.nc\0": "0"}}, "metadata.json, which lists a file outside of the folder"),
    "no data": ({"files": {}}, "metadata.json, which does not list data.nc"),
    "seconds in words": ({"seconds": {"run": "1"}}, "metadata.json, which does not say what was run"),
    "a number for a name": ({"study": 3}, "metadata.json, which does not say what was run"),
    "versions in a list": ({"surroundings": []}, "metadata.json, which does not say what was run"),
}  # fmt: skip


@pytest.mark.parametrize("what", METADATA)
def test_metadata_of_another_kind_are_refused_in_one_sentence(tmp_path, capsys, what):
    study.produce(BARE, TOY.quick, tmp_path)
    content, sentence = METADATA[what]
    path = tmp_path / "metadata.json"
    if isinstance(content, dict):
        content = json.dumps(json.loads(path.read_text()) | content).encode()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"must hold the results of a study, got {sentence}")):
        study.load(tmp_path)
    capsys.readouterr()
    assert exit_code(["--from", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_a_file_that_is_no_plain_one_is_refused_in_one_sentence(tmp_path, capsys, kind):
    study.produce(BARE, TOY.quick, tmp_path)
    path = tmp_path / ("metadata.json" if kind == "large" else "table.json")
    path.unlink()
    {
        "link": lambda: path.symlink_to("/etc/passwd"),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "large": lambda: os.truncate(os.open(path, os.O_WRONLY | os.O_CREAT), 2**40),
    }[kind]()
    assert exit_code(["--from", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


TABLES = {"table": [b"[]", b'{"rows": 3}', b'{"rows": [3]}', b'{"rows": [{"a": [1]}]}', b'{"rows": [], "title": 3}'],
          "findings": [b'{"a": 3}', b'{"a": {"sentence": "", "holds": 1, "detail": ""}}', b'{"a": {"holds": 1}}'],
          "data": [b"", b"\x89HDF\r\n\x1a\n", b"CDF\x02"]}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), [(name, one) for name, ones in TABLES.items() for one in ones])
def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path, name, content):
    study.produce(BARE, TOY.quick, tmp_path)
    resealed(tmp_path, **{name: content})
    with pytest.raises(ValueError, match=rf"must hold the results of a study, got {name}\.\w+, which is"):
        study.load(tmp_path)


@pytest.mark.parametrize("value", [2.5, True, [1]])
def test_a_parameter_of_another_type_is_refused_before_the_study_runs(tmp_path, capsys, value):
    study.produce(BARE, TOY.quick, tmp_path)
    metadata = json.loads((tmp_path / "metadata.json").read_text())
    metadata["config"]["num_throws"] = value
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    assert exit_code(["--from", str(tmp_path)]) == 2
    assert "toy: num_throws of the results must be int, got " in capsys.readouterr().err


def test_results_by_other_sources_are_not_overwritten_unless_forced(tmp_path, monkeypatch):
    study.produce(BARE, TOY.quick, tmp_path)
    study.produce(BARE, TOY.quick, tmp_path)
    monkeypatch.setattr(scripts, "source_digest", lambda function: "another")
    with pytest.raises(
        FileExistsError, match="contains results of this configuration, by other sources: choose another"
    ):
        study.produce(BARE, TOY.quick, tmp_path)
    study.produce(BARE, TOY.quick, tmp_path, force=True)


def test_numbers_that_are_not_finite_come_back_in_a_table(tmp_path):
    strange = replace(
        BARE, table=lambda data: study.Table([{"nan": np.nan, "inf": np.float64(np.inf), "-inf": -np.inf}])
    )
    study.produce(strange, TOY.quick, tmp_path)
    [row] = study.load(tmp_path).table.rows
    assert np.isnan(row["nan"])
    assert (row["inf"], row["-inf"]) == (np.inf, -np.inf)


def test_stored_results_are_shown_again_without_an_answer(tmp_path, capsys, monkeypatch):
    study.main(TOY, ["--quick", "--out", str(tmp_path)])
    printed = capsys.readouterr().out.splitlines()

    def refuse(*_):
        raise AssertionError

    drawn: list[Any] = []

    def one(data: Any) -> Any:
        drawn.append(data)
        return draw(data)

    today = replace(TOY, run=refuse, table=lambda data: rows(data)._replace(title="money"), figures={"one": one})
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path.parent)
    study.main(today, ["--show", str(tmp_path)])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "money"
    assert shown[1:3] == printed[1:3]
    # How long a study took that went on after a stop is not known, and is not said.
    assert shown[-2:] == ["1 of 1 findings hold; figures in results/toy-shown", "figure: results/toy-shown/one.png"]
    assert sorted(path.name for path in Path("results/toy-shown").iterdir()) == ["one.pdf", "one.png"]
    assert Path("results/toy-shown/one.png").read_bytes()[1:4] == b"PNG"
    assert [data["heads"].size for data in drawn] == [TOY.quick.num_throws]
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    with pytest.raises(SystemExit):
        study.main(today, ["--show", str(tmp_path), "--out", str(tmp_path)])
    assert "--out must be another folder than that of --show" in capsys.readouterr().err
    unfair = replace(today, findings=lambda data: {"fair": study.Finding("The coin is fair.", False, "mean 7")})
    with pytest.raises(SystemExit) as left:
        study.main(unfair, ["--show", str(tmp_path)])
    assert left.value.code == 1
    with pytest.raises(SystemExit):
        study.main(today, ["--show", str(tmp_path), "--quick"])
    assert "--show shows results as they are, got other parameters as well" in capsys.readouterr().err


@pytest.mark.parametrize("renamed", [0, 3])
def test_a_study_that_was_killed_while_it_wrote_runs_again_without_force(tmp_path, renamed):
    study.produce(TOY, TOY.quick, tmp_path)
    wanted = {name: (tmp_path / name).read_bytes() for name in names(tmp_path) - {"metadata.json"}}
    # As after kill -9: all is written under other names, and some have got their own.
    for name in sorted(names(tmp_path), key=lambda name: name == "metadata.json")[renamed:]:
        (tmp_path / name).rename(tmp_path / f".{name}.123.partial")
    with pytest.raises(ValueError, match=r"metadata.json is missing"):
        study.load(tmp_path)
    study.produce(TOY, TOY.quick, tmp_path)
    assert names(tmp_path) == {*wanted, "metadata.json"}
    assert all((tmp_path / name).read_bytes() == content for name, content in wanted.items())


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    def again(config, progress):
        with pytest.raises(FileExistsError, match=r"only one study may write into .*, got another process"):
            study.produce(TOY, config, tmp_path)
        return throw(config, progress)

    study.produce(replace(TOY, run=again), TOY.quick, tmp_path)
    assert study.load(tmp_path).data.sizes["throw"] == 200


def test_records_may_hold_arrays():
    records = [{"d": 3, "gap": np.array([1.0, 2.0])}, {"d": 9, "gap": np.array([3.0, 5.0])}]
    data = study.from_records(records)
    assert data["gap"].dims == ("row", "gap_0")
    np.testing.assert_array_equal(data["gap"], [[1.0, 2.0], [3.0, 5.0]])
    for broken, message in (
        ([], "records must hold at least one, got none"),
        ([{"d": 3}, {"e": 3}], "records must have the same names, got d at first and e in record 1"),
        (
            [{"d": np.zeros(2)}, {"d": np.zeros(3)}],
            r"d must have one shape in all records, got \(2,\) at first and \(3,\) in record 1",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            study.from_records(broken)


def test_help_shows_every_field_with_its_docstring(capsys):
    assert exit_code(["--help"]) == 0
    shown = capsys.readouterr().out
    for text in ("How often does a coin", "--num-throws", "Throws of the coin.", "--quick", "--out", "--force"):
        assert text in shown
    assert "--no-" not in shown


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

study.main(study.Study("sleeper", Config(), Config(), run, table=None, findings=None))
"""


@pytest.mark.slow
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


@pytest.mark.parametrize("option", ["--out"])
def test_what_is_no_path_is_refused_in_one_line(capsys, option):
    assert exit_code([option, "a\0b"]) == 2
    assert capsys.readouterr().err == "toy: folder must be a path that the system accepts, got PosixPath('a\\x00b')\n"


def test_ctrl_c_ends_a_study_with_130_and_one_line(tmp_path, capsys):
    def interrupt(config, progress):
        raise KeyboardInterrupt

    assert exit_code(["--quick", "--out", str(tmp_path)], replace(TOY, run=interrupt)) == 130
    assert capsys.readouterr().err.splitlines()[-1].endswith("interrupted")
    assert names(tmp_path) == set()


def test_what_changed_since_is_said(tmp_path, capsys):
    study.produce(TOY, TOY.quick, tmp_path)
    metadata = json.loads((tmp_path / "metadata.json").read_text())
    metadata["surroundings"]["numpy"] = "1.0"
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    study.main(TOY, ["--from", str(tmp_path)])
    assert f"toy: numpy was 1.0, is {np.__version__}" in capsys.readouterr().err


def test_results_of_another_configuration_exit_with_two_and_one_line(tmp_path, capsys):
    study.main(TOY, ["--quick", "--out", str(tmp_path)])
    capsys.readouterr()
    again = ["--quick", "--seed", "1", "--out", str(tmp_path)]
    assert exit_code(again) == 2
    shown = capsys.readouterr()
    assert "--force to overwrite" in shown.err
    assert shown.err.count("\n") == 1
    study.main(TOY, [*again, "--force"])
