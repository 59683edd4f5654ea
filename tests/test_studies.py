"""Every study runs at its quick size, its checks hold, and its figures show data."""

import dataclasses
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _power_of_choice_bounds import unrolled_rounds

from fedtheory.bounds import power_of_choice as poc
from fedtheory.study._figures import figure_bytes, titled
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded, quick_result

by_name = pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
# The quick run of this one stays in the fast tier.
FAST = ("error_floor",)


def each(*names: str) -> pytest.MarkDecorator:
    """Ask for the quick run of each study, slow but for one."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in names]
    )


@pytest.fixture
def _closed_figures() -> Iterator[None]:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def has_colors(picture: Path, number: int) -> bool:
    """Whether a picture has more different colors than a number; most have them in every tenth row."""
    import matplotlib.pyplot as plt

    pixels = plt.imread(picture)[..., :3]
    few, all_of_them = pixels[::10], pixels
    return any(np.unique((255 * rows).astype(np.int64) @ [65536, 256, 1]).size > number for rows in (few, all_of_them))


@each(*(script.stem for script in SCRIPTS))
@pytest.mark.usefixtures("_closed_figures")
def test_the_findings_of_the_quick_study_hold_and_its_figures_are_drawn_from_what_it_stored(
    name, tmp_path_factory
) -> None:
    found = loaded(name)
    read, folder = quick_result(found, tmp_path_factory)
    assert read.findings
    assert [one for one in read.findings.values() if not one.holds] == []
    assert read.table.rows
    assert read.table == found.table(read.data)
    assert read.findings == found.findings(read.data)
    title = next(iter(read.findings.values())).sentence
    drawn = {figure: draw(read.data) for figure, draw in found.figures.items()}
    for figure, shown in drawn.items():
        picture = folder / f"{figure}.png"
        assert has_colors(picture, 20)
        assert (folder / f"{figure}.pdf").stat().st_size > 2_000
        assert figure_bytes(titled(shown, title), "png")["png"] == picture.read_bytes()


@by_name
def test_the_script_runs_the_study(name) -> None:
    text = (ROOT / "studies" / f"{name}.py").read_text(encoding="utf-8")
    assert text.endswith('\n\nif __name__ == "__main__":\n    study.main(STUDY)\n')


HELP = """
import os, runpy, sys
import rich.console, tyro  # what every study needs for its help is imported once; each study asks in a fork of its own
import fedtheory.study
sys.path.insert(0, sys.argv[1])
for script in sys.argv[2:]:
    print("STUDY", flush=True)
    if os.fork() == 0:
        sys.argv = ["study", "--help"]
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as stop:
            print("CODE", stop.code or 0)
        finally:
            print("HEAVY", *sorted({"matplotlib", "xarray", "numba", "scipy", "cvxpy", "sympy"} & set(sys.modules)))
            sys.stdout.flush()
            os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What each study prints when it is asked for help, how it ends, and what was imported by then."""
    command = [sys.executable, "-c", HELP, str(ROOT / "studies"), *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return dict(zip([script.stem for script in SCRIPTS], done.stdout.split("STUDY\n")[1:], strict=True))


@by_name
def test_every_parameter_of_the_study_is_explained_and_help_is_light(name, helps) -> None:
    found = loaded(name)
    shown, ended = helps[name].rsplit("CODE", 1)
    assert ended.split() == ["0", "HEAVY"]
    flat = " ".join(re.sub("[│|╭╮╰╯─]", " ", shown).split())
    for parameter in parameters(found.config):
        explained = flat.rsplit(f"--{parameter.replace('_', '-')} ", 1)[1].split("(default")[0]
        assert re.search("[a-z]", explained), f"{parameter} has no docstring"


def parameters(config, before="") -> Iterator[str]:
    """Yield the names of options, those of a dataclass within another one behind its name and a point."""
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from parameters(value, f"{before}{field.name}.")
        else:
            yield before + field.name


def test_the_unrolled_round_lemma_is_the_lemma_applied_round_by_round() -> None:
    shared: dict[str, Any] = {"mu": 1, "L": 2, "num_selected": 2, "objective_gap": 5, "sigma2": 7, "local_steps": 2}
    first = poc.one_round(48, step_size=1 / 4, rho_diagonal=1, rho_tilde=3, **shared)
    second = poc.one_round(first, step_size=1 / 8, rho_diagonal=0.5, rho_tilde=2, **shared)
    skews = {"rho_diagonal": np.array([1, 0.5]), "rho_tilde": np.array([3, 2])}
    found = unrolled_rounds(np.array([1 / 4, 1 / 4, 1 / 8, 1 / 8]), initial_distance2=48.0, **skews, **shared)
    assert found == pytest.approx([48, first, second], rel=1e-14)
