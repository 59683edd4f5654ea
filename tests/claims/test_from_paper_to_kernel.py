"""The page from the paper to the kernel: every cell is checked, and a false one stops the build."""

from fractions import Fraction as Q
from importlib import import_module
from typing import Any

import pytest

from fedtheory.formal import Theorem
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.noise import no_noise
from fedtheory.instances.runs import RationalRun, gap
from fedtheory.instances.vectors import vector
from fedtheory.statistics.law import Law
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page, data = import_module("from_paper_to_kernel"), import_module("headlines")
HEADLINES = {one.title: one for one in data.HEADLINES}
# These repeat claims, or runs of hundreds of steps.
LONG = ("Power-of-Choice, Theorem 3.1", "Optimal Client Sampling, eq. (7)")
TITLES = [pytest.param(title, marks=[pytest.mark.slow] * (title in LONG)) for title in HEADLINES]
STATED = [title for title, one in HEADLINES.items() if one.bound is not None]
LI = HEADLINES["Federated averaging (Li et al.), Theorem 1"]


@pytest.mark.parametrize("title", TITLES)
def test_every_hypothesis_has_a_counterexample_or_a_reason_why_it_is_not_needed(title: str) -> None:
    lines = page.without_each(HEADLINES[title])
    assert len(lines) >= len(page.assumed(HEADLINES[title]))
    assert all(line.count(" | ") == 3 for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("title", STATED)
def test_a_printed_formula_has_the_value_of_the_bound(title: str) -> None:
    assert ("$$" in page.in_print(HEADLINES[title])) is (HEADLINES[title].printed is not None)


def instances_of(title: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Lines on the instances, without the worst case, which takes seconds."""
    monkeypatch.setattr(page, "worst_case", lambda headline: "")
    text, share = page.instances(HEADLINES[title])
    return text, share


@pytest.mark.parametrize("title", TITLES)
def test_instances_satisfy_all_hypotheses_with_exact_sides(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, share = instances_of(title, monkeypatch)
    assert share == "attained" or 0 < float(share.split()[0]) < 1
    assert "**Instances**" in text


def broken(**changed: Any) -> Any:
    return LI._replace(**changed)


FIRST = LI.without[0]
FALSE = {
    "a counterexample that satisfies the bound": lambda: page.without_each(
        broken(without=(FIRST._replace(sides=lambda: data.Sides(Q(1), Q(1))), *LI.without[1:]))
    ),
    "constants that violate another hypothesis": lambda: page.without_each(
        broken(without=(FIRST._replace(sides=lambda: data.Sides(Q(2), Q(1), ("E <= 1: got 2 > 1",))), *LI.without[1:]))
    ),
    "a hypothesis without a line": lambda: page.without_each(broken(without=LI.without[1:])),
    "hypotheses in another order": lambda: page.without_each(broken(without=LI.without[::-1])),
    "a reason that does not hold": lambda: page.without_each(
        broken(without=(FIRST._replace(sides=None, needless=lambda: False), *LI.without[1:]))
    ),
    "an instance of another bound": lambda: page.cells_of(
        broken(), data.one_claim("fedavg:common-noise").check(None), {}
    ),
    "a theorem that is not in the file": lambda: page.in_coq(Theorem("FedAvgTheorems.v", "theorem_of_nobody")),
    "a file that is not compiled": lambda: page.in_coq(Theorem("__init__.py", "theorem")),
}


@pytest.mark.parametrize("what", FALSE)
def test_a_false_cell_stops_the_build(what: str) -> None:
    with pytest.raises(ValueError, match="must"):
        FALSE[what]()


@pytest.mark.slow
def test_another_constant_in_a_printed_formula_stops_the_build() -> None:
    wrong = broken(printed=lambda T1, gamma, mu, L, D1: L / mu / (gamma + T1) * mu * gamma / 2 * D1)
    with pytest.raises(ValueError, match="printed formula"):
        page.in_print(wrong)


def test_the_drift_of_a_round_is_that_of_an_exact_run() -> None:
    fed = RationalQuadratics((vector(1), vector(2)), (vector(1), vector(-1)), vector("1/2", "1/2"), vector(0, 0))
    everyone: Law[tuple[int, ...]] = Law.certain((0, 1))
    run = RationalRun(fed, lambda _: everyone, 6, lambda t: Q(2, t + 16), fed.minimizer, 6, no_noise(1))
    assert data.drifted(16, 2, 6) == gap(run, 6) > 0


def test_own_coins_of_probability_one_are_the_common_coin() -> None:
    """Scaffnew then takes gradient steps of length 1 on the mean: it is at the minimizer, and the errors are 0."""
    assert data.own_coins(Q(1), 1) == 0
    # A coin of 1/2 that falls leaves the distance 0 and the error 1/2, otherwise both are 1: (4/4 + 1 + 4)/2.
    assert data.own_coins(Q(1, 2), 1) == 3


def test_the_well_is_smooth_and_has_its_minimum_at_two() -> None:
    points = [Q(k, 4) for k in range(-16, 17)]
    assert min(data.well(w)[0] for w in points) == data.well(Q(2))[0] == -1
    slopes = [data.well(w)[1] for w in points]
    assert all(
        abs(a - b) <= abs(u - w)
        for a, u in zip(slopes, points, strict=True)
        for b, w in zip(slopes, points, strict=True)
    )


def test_noise_that_decides_on_an_inclusion_has_a_mean() -> None:
    """From 0 after one step of 1/4: -1/8 or 1/4."""
    assert data.follows_the_noise(1) == (Q(1, 8) ** 2 + Q(1, 4) ** 2) / 4
