"""Every study, found by looking into the folder: its quick size runs, its checks hold, its figures show something."""

import dataclasses
import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedtheory import study
from tests.environment import ROOT

SCRIPTS = sorted((ROOT / "studies").glob("[!_]*.py"))
by_name = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def loaded(script: Path) -> study.Study:
    """Run the script as a module and return its study."""
    name = f"studies.{script.stem}"
    specification = importlib.util.spec_from_file_location(name, script)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # A dataclass looks its module up while it is being made.
    sys.modules[name] = module
    specification.loader.exec_module(module)
    found: study.Study = module.STUDY
    return found


@pytest.fixture
def _closed_figures() -> Iterator[None]:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def colors(picture: Path) -> int:
    """Number of different colors in a picture."""
    import matplotlib.pyplot as plt
    import numpy as np

    pixels = (255 * plt.imread(picture)[..., :3]).astype(np.int64)
    return int(np.unique(pixels @ [65536, 256, 1]).size)


def test_there_are_studies() -> None:
    assert SCRIPTS


@by_name
@pytest.mark.usefixtures("_closed_figures")
def test_the_quick_study_keeps_its_checks_and_draws_the_same_figures_from_what_it_stored(script, tmp_path) -> None:
    found = loaded(script)
    made = study.produce(found, found.quick, tmp_path)
    assert made.checks
    assert {name: check.detail for name, check in made.checks.items() if not check.holds} == {}
    assert made.table.rows
    read = study.load(tmp_path)
    assert read.table == found.table(read.data)
    assert read.checks == found.checks(read.data)
    for name, draw in found.figures.items():
        picture = tmp_path / f"{name}.png"
        assert colors(picture) > 20
        assert (tmp_path / f"{name}.pdf").stat().st_size > 2_000
        again = tmp_path / f"{name}-again.png"
        study.save_figure(draw(read.data), again, "png")
        assert again.read_bytes() == picture.read_bytes()


@by_name
def test_the_study_says_its_question_in_a_page_with_a_title(script) -> None:
    found = loaded(script)
    title, rule = (inspect.getdoc(inspect.getmodule(found.run)) or "").strip().splitlines()[:2]
    assert set(rule) == {"="}
    assert len(rule) == len(title)
    assert found.name == script.stem


@by_name
def test_every_parameter_of_the_study_is_explained_and_help_is_light(script) -> None:
    found = loaded(script)
    code = f"""
import runpy, sys
sys.argv = ["study", "--help"]
try:
    runpy.run_path({str(script)!r}, run_name="__main__")
finally:
    print("HEAVY", *sorted({{"matplotlib", "xarray", "numba", "scipy", "cvxpy", "sympy"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, heavy = done.stdout.rsplit("HEAVY", 1)
    assert heavy.split() == []
    source = inspect.getsource(type(found.config))
    for field in dataclasses.fields(found.config):
        assert f"--{field.name.replace('_', '-')}" in shown
        line = next(
            place for place, text in enumerate(source.splitlines()) if text.strip().startswith(f"{field.name}:")
        )
        assert '"""' in "\n".join(source.splitlines()[line + 1 : line + 4]), field.name
