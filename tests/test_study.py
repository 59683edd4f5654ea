"""The framework of the studies, with a small study."""

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from fedtheory import study
from fedtheory.study import scripts

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
# A figure takes longer to draw than all else.
BARE = replace(TOY, figures={})


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def produced(tmp_path_factory):
    """Results without a figure, which are made once."""
    folder = tmp_path_factory.mktemp("toy")
    study.produce(BARE, TOY.quick, folder)
    return folder


@pytest.fixture
def bare(produced, tmp_path):
    """Results without a figure, in a folder of the test."""
    return shutil.copytree(produced, tmp_path / "results")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def exit_code(argv: list[str], toy: study.Study = TOY) -> Any:
    with pytest.raises(SystemExit) as stop:
        study.main(toy, argv)
    return stop.value.code


def test_what_was_written_is_what_is_loaded(tmp_path):
    made = study.produce(TOY, TOY.quick, tmp_path)
    assert names(tmp_path) == {"data.nc", "table.json", "findings.json", "metadata.json", "heads.png", "heads.pdf"}
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


def test_a_changed_file_is_not_loaded(bare):
    (bare / "table.json").write_text(json.dumps({"rows": []}))
    with pytest.raises(ValueError, match=r"got table\.json, which differs from the one that metadata\.json lists"):
        study.load(bare)


def test_a_failing_figure_leaves_the_earlier_results_as_they_were(tmp_path):
    def broken(data):
        message = "no figure today"
        raise RuntimeError(message)

    study.produce(TOY, TOY.quick, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(RuntimeError, match="no figure"):
        study.produce(replace(TOY, figures={"heads": broken}), replace(TOY.quick, seed=5), tmp_path, force=True)
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


def test_a_study_says_in_one_line_that_it_starts_before_it_computes(tmp_path, capsys):
    def run(config, progress):
        assert capsys.readouterr().err == f"toy: runs, and writes its results to {tmp_path / 'new'}\n"
        return throw(config, progress)

    study.main(replace(TOY, run=run), ["--out", str(tmp_path / "new")])
    assert capsys.readouterr().err == ""


def test_a_finding_that_does_not_hold_exits_with_one_and_keeps_the_results(tmp_path, capsys):
    unfair = replace(BARE, findings=lambda data: {"fair": study.Finding("The coin is fair.", False, "mean 0.9")})
    assert exit_code(["--quick", "--out", str(tmp_path)], unfair) == 1
    assert "toy: does not hold: The coin is fair. mean 0.9" in capsys.readouterr().err
    assert not study.load(tmp_path).findings["fair"].holds


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--wrong", "3"], "--wrong"),
        (["--num-throws", "0"], "num_throws must be at least 1, got 0"),
        (["stray"], "stray"),
        (
            ["--show", "nowhere"],
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


@pytest.mark.parametrize("name", ["data.nc", "heads.png"])
def test_what_is_missing_in_a_folder_is_named(tmp_path, name):
    study.produce(TOY, TOY.quick, tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=f"must hold the results of a study, got a folder in which {name} is missing"):
        study.load(tmp_path)


def resealed(folder: Path, **files: bytes) -> None:
    """Replace files of a folder, and their digests in the metadata, as anybody can."""
    metadata = json.loads((folder / "metadata.json").read_text())
    for stem, content in files.items():
        name = f"{stem}.nc" if stem == "data" else f"{stem}.json"
        (folder / name).write_bytes(content)
        metadata["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "metadata.json").write_text(json.dumps(metadata))


METADATA: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "which is not JSON"),
    "a list": (b"[]", "in which no files with their digests are listed"),
    "deep nesting": (b"[" * 10**6, "which is not JSON"),
    "a name twice": (b'{"files": {}, "files": {}}', "which is not JSON"),
    "another folder": ({"files": {"../own": "0"}}, "which lists a file outside of the folder"),
    "a drive": ({"files": {"C:own": "0"}}, "which lists a file outside of the folder"),
    "no data": ({"files": {}}, "which does not list data.nc"),
    "seconds in words": ({"seconds": {"run": "1"}}, "which does not say what was run"),
    "versions in a list": ({"surroundings": []}, "which does not say what was run"),
}


@pytest.mark.parametrize("what", METADATA)
def test_metadata_of_another_kind_are_refused_in_one_sentence(bare, capsys, what):
    content, sentence = METADATA[what]
    path = bare / "metadata.json"
    if isinstance(content, dict):
        content = json.dumps(json.loads(path.read_text()) | content).encode()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"must hold the results of a study, got metadata.json, {sentence}"):
        study.load(bare)
    capsys.readouterr()
    assert exit_code(["--show", str(bare)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large"])
def test_a_file_that_is_no_plain_one_is_refused_in_one_sentence(bare, capsys, kind):
    path = bare / ("metadata.json" if kind == "large" else "table.json")
    path.unlink()
    {
        "link": lambda: path.symlink_to("/etc/passwd"),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "large": lambda: os.truncate(os.open(path, os.O_WRONLY | os.O_CREAT), 2**40),
    }[kind]()
    assert exit_code(["--show", str(bare)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


TABLES = {"table": [b"[]", b'{"rows": 3}', b'{"rows": [3]}', b'{"rows": [{"a": [1]}]}', b'{"rows": [], "title": 3}'],
          "findings": [b'{"a": 3}', b'{"a": {"sentence": "", "holds": 1, "detail": ""}}', b'{"a": {"holds": 1}}'],
          "data": [b"", b"\x89HDF\r\n\x1a\n", b"CDF\x02"]}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), [(name, one) for name, ones in TABLES.items() for one in ones])
def test_a_file_of_another_kind_is_refused_by_its_name(bare, name, content):
    resealed(bare, **{name: content})
    with pytest.raises(ValueError, match=rf"must hold the results of a study, got {name}\.\w+, which is"):
        study.load(bare)


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


@pytest.mark.parametrize("number", [1, 20, 21, 45])
def test_each_row_of_a_table_is_either_displayed_or_counted(number):
    table = study.Table([{"name": f"row-{i}"} for i in range(number)])
    for text in (repr(table), table._repr_html_()):
        displayed = set(re.findall(r"row-\d+", text))
        counted = [int(count) for count in re.findall(r"(\d+) more rows", text)]
        assert len(displayed) + sum(counted) == number
        assert 0 not in counted


def test_stored_results_are_shown_again_without_a_run(tmp_path, capsys, monkeypatch):
    study.main(TOY, ["--quick", "--out", str(tmp_path)])
    printed = capsys.readouterr().out.splitlines()

    def refuse(*_):
        raise AssertionError

    today = replace(TOY, run=refuse, table=lambda data: rows(data)._replace(title="money"))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path.parent)
    study.main(today, ["--show", str(tmp_path)])
    shown = capsys.readouterr().out.splitlines()
    assert (shown[0], shown[1:3]) == ("money", printed[1:3])
    assert Path("results/toy-shown/heads.png").read_bytes()[1:4] == b"PNG"
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    unfair = replace(today, findings=lambda data: {"fair": study.Finding("The coin is fair.", False, "mean 7")})
    assert exit_code(["--show", str(tmp_path)], unfair) == 1
    for words in (["--out", str(tmp_path)], ["--quick"]):
        assert exit_code(["--show", str(tmp_path), *words], today) == 2
    assert exit_code(["--show", str(tmp_path)], replace(today, name="other")) == 2


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    def again(config, progress):
        with pytest.raises(FileExistsError, match=r"only one study may write into .*, got another process"):
            study.produce(BARE, config, tmp_path)
        return throw(config, progress)

    study.produce(replace(BARE, run=again), TOY.quick, tmp_path)
    assert study.load(tmp_path).data.sizes["throw"] == 200


def test_records_may_hold_arrays():
    records = [{"d": 3, "gap": np.array([1.0, 2.0])}, {"d": 9, "gap": np.array([3.0, 5.0])}]
    data = study.from_records(records)
    assert data["gap"].dims == ("row", "gap_0")
    np.testing.assert_array_equal(data["gap"], [[1.0, 2.0], [3.0, 5.0]])
    for broken in ([], [{"d": 3}, {"e": 3}], [{"d": np.zeros(2)}, {"d": np.zeros(3)}]):
        with pytest.raises(ValueError, match=r"^(records|d) must "):
            study.from_records(broken)


def test_ctrl_c_ends_a_study_with_130_and_one_line(tmp_path, capsys):
    def interrupt(config, progress):
        raise KeyboardInterrupt

    assert exit_code(["--quick", "--out", str(tmp_path)], replace(TOY, run=interrupt)) == 130
    assert capsys.readouterr().err.splitlines()[-1].endswith("interrupted")
    assert names(tmp_path) == set()


def test_results_of_another_configuration_exit_with_two_and_one_line(tmp_path, capsys):
    study.main(BARE, ["--quick", "--out", str(tmp_path)])
    capsys.readouterr()
    again = ["--quick", "--seed", "1", "--out", str(tmp_path)]
    assert exit_code(again) == 2
    shown = capsys.readouterr()
    assert "--force to overwrite" in shown.err
    assert shown.err.count("\n") == 1
    study.main(BARE, [*again, "--force"])
