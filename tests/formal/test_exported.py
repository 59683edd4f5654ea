"""Exported theorems: readable statements, and proofs that Coq accepts."""

import re
from collections.abc import Callable
from fractions import Fraction as Q
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fedtheory.worst_case import Problem, WorstCase, fedprox, scaffold
from fedtheory.worst_case._coq_names import NotStated
from fedtheory.worst_case.formal_theorems import file_of, file_of_certificate
from fedtheory.worst_case.worst_cases import largest
from tests.worst_case.gallery import GALLERY
from tests.worst_case.gallery.composite import frank_wolfe, proximal_gradient
from tests.worst_case.gallery.continuous_time import accelerated_flow_with_a_positive_potential
from tests.worst_case.gallery.examples import Example
from tests.worst_case.gallery.nonconvex import polyak_and_lojasiewicz, steps_of_a_nonconvex_function
from tests.worst_case.gallery.stochastic import saga
from tests.worst_case.gallery.unconstrained import subgradient_method


def worst_of(example: Any) -> WorstCase:
    """Solve an example of the gallery, or what a function writes."""
    made = example.problem() if isinstance(example, Example) else example()
    return made.solve() if isinstance(made, Problem) else made


def gradient_step() -> Problem:
    p = Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    return p


@cache
def solved() -> WorstCase:
    return gradient_step().solve()


def exported(worst: WorstCase) -> str:
    return file_of([case.in_short_numbers().document() for case in worst.cases], "worst_case")


def statement(text: str) -> str:
    return text.partition("Theorem ")[2].partition("Proof.")[0]


def quadratic_step() -> Problem:
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1, quadratic=True)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    for _ in range(2):
        x = x - Q(3, 2) * f.gradient(x)
    p.maximize((x - best).square)
    return p


def several_hypotheses() -> Problem:
    """Have a function with the least value 0, another one with bounded subgradients, and a geometric mean."""
    p = Problem()
    f, g = p.function(L=1, minimum=0), p.function(lipschitz=2)
    x, best = p.point("x"), g.minimizer()
    p.at_most(f.value(x), 1)
    p.at_most((x - best).square, 1)
    p.maximize(p.geometric_mean(f.gradient(x).square, g.value(x) - g.value(best)))
    return p


def averaging(*, gap: int | None = None) -> Problem:
    """Write a round of federated averaging with two local steps, or one with a sample of the clients."""
    p = Problem()
    c = p.clients(10, mu=0 if gap else Q(1, 10), L=1)
    best, x = c.minimizer(objective_gap=gap), p.point("start")
    p.at_most((x - best).square, 1)
    if gap is None:
        c.heterogeneity(zeta2=1)
        w = c.mean(c.step(c.step(x, Q(1, 2)), Q(1, 2)))
        p.maximize((w - best).square)
    else:
        p.maximize(c.sample(3).square(c.step(x, Q(1, 2)) - best))
    return p


def drawn_step(num_selected: int) -> Problem:
    """Write a step of clients that are drawn with replacement."""
    p = Problem()
    c = p.clients(5, mu=Q(1, 10), L=1)
    best, x = c.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    c.heterogeneity(zeta2=1)
    p.maximize(c.sample(num_selected, "independent").square(c.step(x, Q(1, 2)) - best))
    return p


SOME: list[Any] = [
    averaging, lambda: averaging(gap=1), lambda: drawn_step(2), lambda: scaffold(2, Q(1, 8), mu=1, L=4),
    lambda: fedprox(4, L=1, negative_curvature=0, gradient_dissimilarity=1),
    gradient_step, several_hypotheses, proximal_gradient, polyak_and_lojasiewicz,
    lambda: steps_of_a_nonconvex_function(2), subgradient_method, frank_wolfe,
    accelerated_flow_with_a_positive_potential, saga,
]  # fmt: skip


STATED = [
    one
    for one in GALLERY
    if all(declared.of.kind == "function" and not declared.of.quadratic for declared in one.problem().record.declared)
]
"""The examples of the gallery whose classes have a formal statement."""


def resolvent_step() -> Problem:
    p = Problem()
    T = p.operator(monotone=True)
    best, x = T.zero(), p.point("start")
    p.at_most((x - best).square, 1)
    p.maximize((T.resolvent(x, 1) - best).square)
    return p


@pytest.mark.parametrize(
    ("problem", "named"),
    [
        (quadratic_step, "f0, and quadratic functions have no formal statement"),
        (resolvent_step, "T0, and operators have no formal statement"),
    ],
)
def test_a_class_or_step_without_a_formal_statement_is_refused_by_its_name(
    problem: Callable[[], Problem], named: str
) -> None:
    with pytest.raises(NotStated, match=rf"\A[^\n]*{named}[^\n]*\Z"):
        exported(problem().solve())


def test_a_long_bound_is_rounded_up() -> None:
    [document] = [case.document() for case in solved().cases]
    [(over, under)] = re.findall(r"<= (\d+) / (\d+)\.", statement(file_of([document], "t")))
    upper = Q(document["proof"]["upper"])
    assert upper <= Q(int(over), int(under)) <= upper + Q(1, 10**7)


def test_names_of_a_problem_shadow_no_word_of_a_statement() -> None:
    """Whatever points are called: a point named ``convex`` would change what the hypothesis says."""
    p = Problem()
    f = p.function(L=1, name="smooth")
    best = f.minimizer(name="convex")
    x = p.point("Rmin' *")
    p.at_most((x - best).square, 1)
    p.maximize(f.value(x) - f.value(best))
    said = statement(exported(p.solve()))
    assert "(smooth_2 : V -> R) (grad_smooth_2 : V -> V) (convex_2 Rminp_s : V)" in said


def certificate(tmp_path: Path, worst: WorstCase) -> Path:
    file = tmp_path / "certificate.json"
    worst.save(file)
    return file


def test_the_theorem_of_a_certificate_is_that_of_its_problem(tmp_path: Path) -> None:
    worst = solved()
    found = statement(file_of_certificate(certificate(tmp_path, worst), "worst_case"))
    assert found.splitlines()[:-1] == statement(exported(worst)).splitlines()[:-1]


def refused(action: Callable[[], Any]) -> str:
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        action()
    return str(caught.value)


def test_what_has_no_formal_statement_is_one_sentence(tmp_path: Path) -> None:
    p = Problem()
    f = p.function(mu=Q(1, 2), L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    p.maximize((f.step(x, 1, variance=1) - best).square)
    noisy = p.solve()
    assert "got noises, which have no formal statement yet" in refused(lambda: noisy.coq(tmp_path / "a.v"))
    p = Problem()
    c = p.clients(2, lipschitz=1)
    best, x = c.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    p.maximize((c.mean(c.step(x, 1)) - best).square)
    mixed = p.solve()
    assert "got f0 in a problem with clients" in refused(lambda: mixed.coq(tmp_path / "a.v"))
    assert not (tmp_path / "a.v").exists()


def test_a_problem_without_an_upper_side_or_with_a_contradiction() -> None:
    worst = solved()
    [document] = [case.document() for case in worst.cases]
    del document["proof"]["upper"], document["proof"]["multipliers"]
    assert "got an upper side without a proof" in refused(lambda: file_of([document], "t"))
    p = Problem()
    x = p.point()
    p.at_most(x.square, -1)
    p.maximize(x.square)
    empty = p.case()
    assert statement(file_of([empty.document()], "t")).endswith("  sq v0 <= -1 ->\n  False.\n")
    assert largest([*worst.cases, empty])[1] == worst.upper
