"""``fedtheory sweep``: what it shows, and its one-line refusals."""

import json

import pytest

from fedtheory.__main__ import main
from fedtheory._commands import sweeping
from fedtheory.study._figures import save_figure
from tests.environment import ROOT
from tests.sweeps import toy

STUDY = str(ROOT / "tests" / "sweeps" / "toy.py")


def command(folder, *more):
    return ["sweep", STUDY, "--quick", "--backend", "threads", "--out", str(folder), *more]


def test_a_sweep_shows_a_table_and_where_the_results_are(tmp_path, capsys):
    more = ["--set", "drift=-1.0,1", "--set", "pair=1:2,3", "--seeds", "3,4", "--show", "end"]
    assert main(command(tmp_path, *more)) == 0
    shown = capsys.readouterr()
    title, header, *rows = shown.out.splitlines()
    assert (title, header.split()) == ("end over drift, pair", ["drift", "pair", "end", "+-", "(95%)"])
    assert [row.split()[0] for row in rows[:4]] == ["-1", "-1", "1", "1"]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert f"8 configurations, 0 failed; digest {summary['digest'][:16]}; results in {tmp_path}" in shown.out
    assert "sweep: 8 of 8" in shown.err
    assert (tmp_path / "sweep.png").stat().st_size > 1000
    header = json.loads((tmp_path / "sweep.json").read_text())
    assert header["axes"] == {"drift": ["-1.0", "1.0"], "pair": ["[1,2]", "[3]"]}
    assert main(command(tmp_path, *more)) == 0  # all is there


def test_the_figure_of_a_sweep_shows_the_variable_that_the_table_shows(tmp_path, monkeypatch, capsys):
    drawn = []

    def seen(figure, path, kind):
        [axes] = figure.axes
        lines = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
        drawn.append((kind, axes.get_xlabel(), axes.get_ylabel(), lines))
        save_figure(figure, path, kind)

    monkeypatch.setattr(sweeping, "save_figure", seen)
    assert main(command(tmp_path, "--set", "drift=-1.0,1", "--seeds", "3,4", "--show", "end")) == 0
    _, _, *rows = capsys.readouterr().out.splitlines()
    means = [float(row.split()[1]) for row in rows[:2]]
    assert [(kind, across, up) for kind, across, up, _ in drawn] == [(kind, "drift", "end") for kind in ("png", "pdf")]
    for *_, [(x, y)] in drawn:
        assert x == [-1.0, 1.0]
        assert y == pytest.approx(means, rel=1e-3)


def test_a_plan_names_what_would_run_and_how_long_it_takes(tmp_path, capsys):
    assert main(command(tmp_path / "new", "--set", "num_steps=5,0", "--seeds", "2", "--workers", "2", "--plan")) == 0
    shown = capsys.readouterr().out
    assert "0 configurations are complete, 4 would run on 2 workers" in shown
    assert "  num_steps=5, seed=" in shown
    assert "3 of them took" in shown
    assert "all would take about 0:00:00" in shown
    assert "1 of them failed" in shown
    assert not (tmp_path / "new").exists()


def test_a_plan_of_what_is_complete_has_no_time_to_tell(tmp_path, capsys):
    done = command(tmp_path, "--set", "num_steps=5")
    assert main(done) == 0
    capsys.readouterr()
    assert main([*done, "--workers", "2", "--plan"]) == 0
    assert capsys.readouterr().out == "1 configurations are complete, 0 would run on 2 workers\n"


def test_failures_are_named_and_leave_with_one(tmp_path, capsys):
    assert main(command(tmp_path, "--set", "num_steps=5,0")) == 1
    assert "failed: num_steps=0: IndexError: " in capsys.readouterr().err
    [failure] = json.loads((tmp_path / "failures.json").read_text())
    assert "Traceback" in failure["traceback"]
    assert toy.__name__.split(".")[-1] in failure["traceback"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--set", "K=3"], "the grid must set parameters of walk (num_steps, drift, pair, lively, word, seed), got K"),
        (["--set", "num_steps=many"], "num_steps must be a whole number, got 'many'"),
        (["--set", "lively=yes"], "lively must be true or false, got 'yes'"),
        (["--set", "drift=x"], "drift must be a number, got 'x'"),
        (["--set", "drift"], "must be NAME=V1,V2, got 'drift'"),
        (["--set", "drift=1", "--set", "drift=2"], "--set must name each parameter once"),
        (["--seeds", "0"], "seeds must be at least 1, got 0"),
        (["--seeds", "x"], "must be a whole number, or several with commas, got 'x'"),
        (["--workers", "0"], "workers must be at least 1, got 0"),
        (["--backend", "gpu"], "backend must be one of"),
        (["--set", "drift=1", "--show", "height"], "variable must be one of 'end', 'checks_failed', got 'height'"),
    ],
)
def test_wrong_usage_is_refused_in_one_line(tmp_path, capsys, more, sentence):
    with pytest.raises(SystemExit) as left:
        main(command(tmp_path / "new", *more))
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert left.value.code == 2
    assert sentence in complaint


def test_other_results_and_other_files_are_refused_in_one_line(tmp_path, capsys):
    assert main(command(tmp_path, "--set", "drift=1")) == 0
    capsys.readouterr()
    for arguments, sentence in (
        (command(tmp_path, "--set", "drift=2"), "holds results of another sweep (with drift 1.0)"),
        (["sweep", "nowhere.py", "--out", str(tmp_path)], "STUDY must be a Python file, got nowhere.py"),
        (["sweep", str(ROOT / "tests" / "environment.py"), "--out", str(tmp_path)], "must have a STUDY, got none in"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        complaint = capsys.readouterr().err
        assert (left.value.code, complaint.count("\n")) == (2, 1)
        assert sentence in complaint
