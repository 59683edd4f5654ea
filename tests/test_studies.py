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

from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.study._figures import figure_bytes, titled
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded, quick_result, stored_data

by_name = pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
# The quick runs of these stay in the fast tier.
FAST = ("error_floor", "selection_skew", "tight_rates")


def each(*names: str) -> pytest.MarkDecorator:
    """Ask for the quick run of each study, slow but for three."""
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


def failing(found: study.Study, data: Any) -> set[str]:
    return {name for name, check in found.findings(data).items() if not check.holds}


@pytest.fixture
def full_data(request) -> Any:
    """Study named by the test, and its stored data of the full size."""
    found = loaded(request.param)
    return found, stored_data(found)


def test_the_unrolled_round_lemma_is_the_lemma_applied_round_by_round() -> None:
    shared: dict[str, Any] = {"mu": 1, "L": 2, "num_selected": 2, "objective_gap": 5, "sigma2": 7, "local_steps": 2}
    first = poc.one_round(48, step_size=1 / 4, rho_diagonal=1, rho_tilde=3, **shared)
    second = poc.one_round(first, step_size=1 / 8, rho_diagonal=0.5, rho_tilde=2, **shared)
    skews = {"rho_diagonal": np.array([1, 0.5]), "rho_tilde": np.array([3, 2])}
    found = unrolled_rounds(np.array([1 / 4, 1 / 4, 1 / 8, 1 / 8]), initial_distance2=48.0, **skews, **shared)
    assert found == pytest.approx([48, first, second], rel=1e-14)


@pytest.mark.parametrize("full_data", ["power_of_choice_quadratic"], indirect=True)
def test_wrong_speedups_and_shares_are_caught(full_data) -> None:
    found, data = full_data
    assert failing(found, data) == set()
    ceiling = "far from the optimum the speed-up stays below max h / mean h"
    assert ceiling in failing(found, data.assign(speedup=2 * data["speedup"]))
    # Stopped at d = K/4, as after a quarter of the halvings, adapow-d keeps a floor.
    stuck = data["final_gap"].where(data["strategy"] != "adapow-d", 5 * data["final_gap"])
    assert failing(found, data.assign(final_gap=stuck)) == {"adapow-d ends where rand does once d is m"}
    first = "pow-d reaches the first threshold sooner than rand"
    assert first in failing(found, data.assign(speedup=1 / data["speedup"]))
    shifted = data.assign(share=data["share"].roll(client=1))
    assert "rand follows the data shares" in failing(found, shifted)


@pytest.mark.parametrize("full_data", ["selection_skew"], indirect=True)
def test_wrong_skews_are_caught(full_data) -> None:
    found, data = full_data
    assert failing(found, data) == set()
    bar, diagonal = (data["skew"] == name for name in ("rho_bar", "rho_diagonal"))
    growing = data.assign(bounds=data["bounds"].where(~bar, 1.5))
    assert "rho_bar is below 1 and falls with d" in failing(found, growing)
    narrow = data.assign(bounds=data["bounds"].where(~diagonal, 2.0))
    assert "no sampled model leaves an interval" in failing(found, narrow)
    noisy = data.assign(estimate=data["estimate"] + 0.5 * (data["number"] == "value"))
    assert failing(found, noisy) == {"the estimator is the sample's skew up to noise"}
    assert failing(found, data.assign(along=data["along"].roll(share=1))) == {"along a run the skew grows with d"}


@pytest.mark.parametrize("full_data", ["error_floor"], indirect=True)
def test_wrong_floors_are_caught(full_data) -> None:
    found, data = full_data
    assert failing(found, data) == set()
    higher = failing(found, data.assign(floor=1.3 * data["floor"]))
    assert {"the simulated error is the floor", "the mean field settles at the floor"} <= higher
    assert "no bias term is below the floor" in failing(found, data.assign(bias=0.2 * data["bias"]))
    assert "more candidates, higher floor" in failing(found, data.assign(floor=data["floor"].roll(share=1)))


@pytest.mark.parametrize("full_data", ["closing_the_gap"], indirect=True)
def test_a_chain_with_a_gap_is_caught(full_data) -> None:
    found, data = full_data
    assert failing(found, data) == set()
    lost = "the losses carried along add up to the unrolled bound"
    shorter = data["proof_carried"].where(data["proof_inequality"] != data["proof_inequality"][0], 0.0)
    assert lost in failing(found, data.assign(proof_carried=shorter))
    assert failing(found, data.assign(proof_expected=1.01 * data["proof_expected"])) == {
        "the law of rand is that of the moment recursion"
    }
    assert "no inequality but (54) is false" in failing(found, data.assign(proof_smallest=-abs(data["proof_smallest"])))


@pytest.mark.parametrize("full_data", ["power_of_choice_synthetic"], indirect=True)
def test_a_strategy_that_is_slow_or_never_comes_down_is_caught(full_data) -> None:
    found, data = full_data
    assert failing(found, data) == set()
    swapped = data.assign(loss=data["loss"].isel(strategy=[3, 2, 1, 0]).assign_coords(strategy=data["strategy"]))
    assert any(name.startswith("with one client") for name in failing(found, swapped))
    stuck = data.assign(loss=data["loss"].where(data["strategy"] != "adapow-d", 2.0))
    assert "adapow-d ends below the floor of most candidates" in failing(found, stuck)
