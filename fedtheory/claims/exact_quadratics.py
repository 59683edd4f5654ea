"""Claims about fedtheory.exact: it agrees with enumeration, and its error floors agree with long runs."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.engine.simulation import fedavg
from fedtheory.exact.floor import ErrorFloor, error_floor
from fedtheory.exact.mean_field import mean_field_gap
from fedtheory.exact.moments import expected_gap
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.noise import no_noise, two_point_noise
from fedtheory.instances.runs import RationalRun, constant_law, gap, mean_weights
from fedtheory.instances.step_sizes import decaying
from fedtheory.instances.vectors import Vector, vector
from fedtheory.sampling.cohorts import (
    Selection,
    frequencies,
    independent,
    power_of_choice,
    successive,
    uniform_subsets,
    with_replacement,
)
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

_QUADRATURE = 1e-13
"""Relative accuracy of the trapezoidal rule for inclusion probabilities; all its terms are positive."""
# The duality gap of an error floor is a few units in the last place.
_ATTAINED = 1e-13
_MOMENTS = 1e-12
"""Relative rounding error of a few hundred products of moments about w*."""
_DISCRETIZED = 0.02
"""Relative error at step size 2e-5 against the limit of small steps, of order of its root; measured: below 1%."""


class _Ranked(NamedTuple):
    """Clients to select from, in exact arithmetic."""

    weights: tuple[Fraction, ...]
    losses: tuple[Fraction, ...]
    num_selected: int
    num_candidates: int

    @property
    def instance(self) -> dict[str, str]:
        """The numbers as text."""
        return as_texts(self._asdict())


def draw_ranked(rng: np.random.Generator, most: int = 6) -> _Ranked:
    """Draw weights over eight orders of magnitude (integers, exact as floats), losses with ties, m and d."""
    num_clients = whole(rng, 1, most)
    d = whole(rng, 1, num_clients)
    weights = tuple(Fraction(whole(rng, 1, 9) * 10 ** whole(rng, 0, 8)) for _ in range(num_clients))
    losses = tuple(Fraction(whole(rng, 0, num_clients)) for _ in range(num_clients))
    return _Ranked(weights, losses, whole(rng, 1, d), d)


@claim(
    "exact-quadratics:inclusion-probabilities",
    "Inclusion probabilities of pow-d by quadrature agree with the enumeration of all draws",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 4"), form="derived"),
    "identity",
)
def inclusion(rng: np.random.Generator) -> Finding:
    drawn = draw_ranked(rng)
    exact = frequencies(power_of_choice(*drawn), len(drawn.weights))
    computed = power_of_choice_inclusion(
        np.array(drawn.weights, dtype=float), np.array(drawn.losses, dtype=float), *drawn[2:]
    )
    return worst_of(
        equal_to(float(found), float(truth), instance={**drawn.instance, "client": k}, rtol=_QUADRATURE)
        for k, (found, truth) in enumerate(zip(computed, exact, strict=True))
    )


def polytope_findings(drawn: _Ranked, inclusion: Sequence[Any]) -> list[Finding]:
    """Compare ``sum_U pi_k`` with ``f(U) = E min(m, candidates in U)`` for every U, with equality for all clients."""
    m, all_clients = drawn.num_selected, range(len(drawn.weights))
    candidates = successive(drawn.weights, drawn.num_candidates)

    def rank(members: tuple[int, ...]) -> Fraction:
        return Fraction(candidates.mean(lambda drawn_set: min(m, len(set(drawn_set) & set(members)))))

    subsets = chain.from_iterable(combinations(all_clients, size) for size in range(1, len(all_clients)))
    findings = [
        at_most(
            sum((inclusion[k] for k in members), start=Fraction(0)),
            rank(members),
            instance={**drawn.instance, "subset": members},
            rtol=_QUADRATURE,
        )
        for members in subsets
    ]
    total = sum(inclusion, start=Fraction(0))
    return [*findings, equal_to(total, Fraction(m), instance=drawn.instance, rtol=_QUADRATURE)]


@claim(
    "exact-quadratics:base-polytope",
    "sum_{k in U} pi_k <= E min(m, candidates in U) for every set U of clients, with equality for all clients",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 4"), form="derived"),
    "optimality",
    remark="hence the frequencies of pow-d lie in the base polytope of a submodular function, for every ranking",
)
def base_polytope(rng: np.random.Generator) -> Finding:
    drawn = draw_ranked(rng, most=5)
    weights, losses = (np.array(numbers, dtype=float) for numbers in drawn[:2])
    strategy = PowerOfChoice(drawn.num_selected, drawn.num_candidates)
    return worst_of(
        polytope_findings(drawn, strategy.inclusion_probabilities(weights / weights.sum(), losses).tolist())
    )


class _Scheme(NamedTuple):
    """A state-independent strategy with its explicit law and coefficients."""

    strategy: Any
    law: Law[Selection]
    weigh: Any


def _schemes(weights: Vector, m: int) -> list[_Scheme]:
    num_clients = len(weights)
    chance = Fraction(m, num_clients)

    def shares(chosen: tuple[int, ...]) -> Vector:
        return Vector(weights[k] for k in chosen)

    def inverse(chosen: tuple[int, ...]) -> Vector:
        return shares(chosen) / chance

    return [
        _Scheme(Proportional(m), with_replacement(weights, m), mean_weights),
        _Scheme(Uniform(m), uniform_subsets(num_clients, m), mean_weights),
        _Scheme(Full(), uniform_subsets(num_clients, num_clients), shares),
        _Scheme(Uniform(m, "weighted"), uniform_subsets(num_clients, m), inverse),
        _Scheme(Independent(m, "uniform"), independent([chance] * num_clients), inverse),
    ]


@claim(
    "exact-quadratics:expected-gap",
    "E F(w_t) - F* from the recursion of moments agrees with the enumeration of all runs in rational arithmetic",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 2, eqs. (2)-(3)"), form="derived"),
    "identity",
    hypotheses=("the selection does not depend on the model",),
)
def gap_by_moments(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    tau, m, initial = whole(rng, 1, 3), whole(rng, 1, 2), draw_model(rng, fed.dim)
    options = _schemes(fed.weights, m)
    scheme = options[whole(rng, 0, len(options) - 1)]
    # Noise with two values has the same variance in all directions only in one dimension.
    noisy = fed.dim == 1 and tau * m <= 2 and min(map(len, scheme.law)) * tau <= 4
    noise = two_point_noise(vector(Fraction(whole(rng, 1, 4), 2))) if noisy else no_noise(fed.dim)
    num_rounds = 1 if noisy or len(scheme.law) > 6 else 2
    step_size = decaying(fed)
    run = RationalRun(
        fed, constant_law(scheme.law), tau, step_size, initial, num_rounds * tau, noise, scheme.weigh, "deltas"
    )
    etas = [float(step_size(step)) for step in range(num_rounds * tau)]
    start = np.array(initial, dtype=float)
    gaps = expected_gap(fed.rounded(), scheme.strategy, num_rounds, tau, etas, start, float(run.sigma2))
    # Small gaps are differences of larger ones, so that rounding scales with the largest gap of the run.
    scale = float(fed.gap(initial) + fed.objective_gap + run.sigma2)
    instance = {**format_federation(fed), "strategy": str(scheme.strategy), "local_steps": tau}
    sides = [(scale + float(gaps[t]), scale + float(gap(run, t * tau))) for t in range(num_rounds + 1)]
    return worst_of(
        equal_to(found, truth, instance={**instance, "round": t}, rtol=_MOMENTS)
        for t, (found, truth) in enumerate(sides)
    )


def _drawn_quadratics(rng: np.random.Generator) -> tuple[QuadraticFederation, PowerOfChoice, dict[str, Any]]:
    num_clients, seed = whole(rng, 3, 12), whole(rng, 0, 2**31)
    d = whole(rng, 2, num_clients)
    m = whole(rng, 1, d)
    fed = power_of_choice_quadratics(num_clients=num_clients, dim=3, rng=seed)
    return fed, PowerOfChoice(m, d), {"clients": f"Appendix F, K = {num_clients}, v = 3, seed {seed}", "m": m, "d": d}


def mean_of_selected(fed: QuadraticFederation, strategy: PowerOfChoice, w: Any) -> float:
    """Return the mean loss at w of the clients that pow-d selects at w, a convex function."""
    losses = fed.losses(w)
    return float(strategy.inclusion_probabilities(fed.weights, losses) @ losses) / strategy.num_selected


@claim(
    "exact-quadratics:floor-certificate",
    "Up to rounding, no model has a smaller mean loss of the selected clients than the minimizer of the error floor",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 4"), form="derived"),
    "optimality",
)
def floor_certificate(rng: np.random.Generator) -> Finding:
    fed, strategy, instance = _drawn_quadratics(rng)
    floor = error_floor(fed, strategy)
    size = np.sqrt(fed.objective_gap / fed.strong_convexity)
    others = floor.minimizer + size * 10.0 ** -whole(rng, 0, 6) * (2 * rng.random((8, fed.dim)) - 1)
    lowest = mean_of_selected(fed, strategy, floor.minimizer)
    return worst_of(
        at_most(lowest, mean_of_selected(fed, strategy, w), instance=instance, rtol=_ATTAINED) for w in others
    )


@claim(
    "exact-quadratics:small-step-bias",
    "The error floor of small steps is at most objective_gap (rho_tilde / rho_diagonal - 1)",
    Statement(FEDTHEORY, "the bias term", related=(PAPER, "Theorem 3.1"), form="refined"),
    hypotheses=("every F_k is convex", "step sizes small enough for convergence"),
    looseness=2,
    remark="the paper's bias term is 8 L/(3 mu) times as large, and has rho_bar for rho_diagonal",
)
def small_step_bias(rng: np.random.Generator) -> Finding:
    fed, strategy, instance = _drawn_quadratics(rng)
    skews = selection_skew(fed, strategy, num_models=40)
    bias = fed.objective_gap * (skews.rho_tilde.upper / skews.rho_diagonal.lower - 1)
    return at_most(error_floor(fed, strategy).value, bias, instance=instance)


_PAPER_INSTANCE = "Appendix F, K = 30, v = 5, m = 3, seed 0"
_SETTLING: dict[str, Any] = {"local_steps": 2, "step_size": 2e-5, "initial": np.zeros(5), "num_replicates": 4}


def long_run_findings(floors: dict[int, ErrorFloor]) -> list[Finding]:
    """Compare predicted floors, by d, with the mean gap over the last three quarters of 300,000 rounds."""
    fed = power_of_choice_quadratics(num_clients=30, dim=5, rng=0)
    findings = []
    for d, floor in floors.items():
        run = fedavg(fed, PowerOfChoice(3, d), num_rounds=300_000, record_every=100, **_SETTLING)
        instance = {"clients": _PAPER_INSTANCE, "d": d, "num_rounds": 300_000, "step_size": 2e-5}
        measured = float(run.gap[:, 750:].mean())
        findings.append(equal_to(measured, floor.value, instance=instance, rtol=_DISCRETIZED))
    return findings


@claim(
    "exact-quadratics:error-floor",
    "The error of pow-d after 300,000 rounds with steps 2e-5 is the predicted error floor",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 5, Figure 2"), form="derived"),
    "reproduction",
)
def floor() -> Finding:
    fed = power_of_choice_quadratics(num_clients=30, dim=5, rng=0)
    return worst_of(long_run_findings({d: error_floor(fed, PowerOfChoice(3, d)) for d in (9, 30)}))


@claim(
    "exact-quadratics:mean-field",
    "The mean-field recursion predicts the error of pow-d after 15,000 rounds with steps 2e-5 within 1%",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 5, Figure 2"), form="derived"),
    "reproduction",
    remark="an approximation that omits the variance of the selection, which is of the order of the step size",
)
def mean_field() -> Finding:
    fed = power_of_choice_quadratics(num_clients=30, dim=5, rng=0)
    settings = {**_SETTLING, "num_rounds": 15_000, "initial": np.full(5, 10.0)}
    findings = []
    for d in (6, 30):
        run = fedavg(fed, PowerOfChoice(3, d), **settings)
        known = {name: value for name, value in settings.items() if name != "num_replicates"}
        predicted = float(mean_field_gap(fed, PowerOfChoice(3, d), **known)[-1])
        instance = {"clients": _PAPER_INSTANCE, "d": d, "num_rounds": 15_000, "step_size": 2e-5}
        findings.append(equal_to(float(run.gap[:, -1].mean()), predicted, instance=instance, rtol=_DISCRETIZED / 2))
    return worst_of(findings)
