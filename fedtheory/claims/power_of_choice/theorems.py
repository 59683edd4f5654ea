"""Power-of-Choice, Theorems 3.1 and A.1: the one-step recursions, implied constants, and repaired forms."""

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import (
    at_steps,
    compared,
    expected_gaps,
    horizon_constants,
    one_step_distances,
    theorem_constants,
)
from fedtheory.claims.power_of_choice._situations import opposite_run
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_run
from fedtheory.instances.noise import two_point_noise
from fedtheory.instances.observed import constants_of, initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.instances.run_draws import MEAN_LAWS, WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.instances.runs import RationalRun, constant_law, elapsed
from fedtheory.instances.step_sizes import decaying, fixed_step, short_steps
from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.sampling.cohorts import Selection, uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.assumptions import HalvingSteps
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import claim
from fedtheory.theorem.findings import Finding, at_most, not_applicable
from fedtheory.theorem.paper import FEDTHEORY, Statement


def repaired_steps(drawn: Drawn, bound: Bound = poc.one_step, weights: str = "num_selected") -> Finding:
    """Compare every step of a run with the repaired one-step bound, or with its weighted variant."""
    run, skews = drawn.run, observed_skews(drawn.run)
    known = drawn.constants | {"rho_diagonal": skews.rho_diagonal, "rho_tilde": skews.rho_tilde}

    def predicted(distance2: Fraction, t: int) -> Any:
        of_means = weights == "num_selected"
        known[weights] = drawn.num_selected if of_means else max(norm2(at.coefficients) for at in run.snapshots[t])
        G2 = observed_gradient_bound(run, t, t + 1)
        return bound(distance2, step_size=run.step_size(t), elapsed_step_size=elapsed(run, t), G2=G2, **known)

    return one_step_distances(drawn, predicted)


one_step = claim(
    "power-of-choice:one-step",
    "The repaired recursion for E |w_bar_t - w*|^2, for any step sizes up to 1/(4 L)",
    poc.one_step,
    looseness=1.01,
)(lambda rng: repaired_steps(draw_run(rng, step_size=short_steps(rng), longest_round=6)))


@claim(
    "power-of-choice:one-step-printed",
    "The printed recursion for E |w_bar_t - w*|^2 (its proof has a gap; the statement is true)",
    poc.one_step.printed,
    looseness=1.05,
)
def one_step_printed(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng)
    sizes, known = drawn.run.step_size, theorem_constants(drawn, "rho_bar")
    return one_step_distances(drawn, lambda start, t: poc.one_step.printed(start, step_size=sizes(t), **known))


@claim(
    "power-of-choice:weighted-one-step",
    "The repaired recursion for weighted averages with q_k >= 0 of sum one",
    poc.weighted_one_step,
    looseness=1.01,
)
def weighted_one_step(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=WEIGHTED_LAWS, step_size=short_steps(rng), longest_round=6)
    return repaired_steps(drawn, poc.weighted_one_step, "squared_weights")


_DECAYING = "the closed form has the drift 32 tau^2 G2 in every step, even for one local step, where the drift is 0"
_FIXED = "has the drift 32 tau^2 G2 even for one local step, where the drift is 0: see theorem-a.1-refined"


def against_decaying_steps(bound: Bound, skew: str, longest_round: int) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=decaying, longest_round=longest_round)
        known = horizon_constants(drawn, skew)
        if not known[skew]:
            return not_applicable(**drawn.instance)
        return expected_gaps(drawn, lambda T: bound(T, **known))

    return check


theorem_31_printed = claim(
    "power-of-choice:theorem-3.1-printed",
    "E F(w_T) - F* against eq. (7), decaying steps (proved under hypotheses 1-3 of Theorem R)",
    poc.decaying_steps_gap.printed,
    looseness=32,
    remark=_DECAYING,
)(against_decaying_steps(poc.decaying_steps_gap.printed, "rho_bar", longest_round=12))

theorem_31 = claim(
    "power-of-choice:theorem-3.1",
    "E F(w_T) - F* against the repaired theorem, decaying step sizes and any tau",
    poc.decaying_steps_gap,
    looseness=32,
    remark=_DECAYING,
)(against_decaying_steps(poc.decaying_steps_gap, "rho_diagonal", longest_round=12))

theorem_31_refined = claim(
    "power-of-choice:theorem-3.1-refined",
    "E F(w_T) - F* against the repaired theorem with the smaller drift of its proof",
    poc.refined_decaying_steps_gap,
    looseness=1.5,
    remark="the recursion is attained (one-step); in its closed form the initial error decays more slowly",
)(against_decaying_steps(poc.refined_decaying_steps_gap, "rho_diagonal", longest_round=5))


def against_fixed_steps(bound: Bound, skew: str, initial: str) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=6)
        run = drawn.run
        first = run.federation.gap(run.initial) if initial == "initial_gap" else initial_distance2(run)
        known = {**theorem_constants(drawn, skew), "step_size": run.step_size(0), initial: first}
        return expected_gaps(drawn, lambda T: bound(T, **known))

    return check


theorem_a1_printed = claim(
    "power-of-choice:theorem-a.1-printed",
    "E F(w_T) - F* against eq. (8), fixed step size, with the expectation that eq. (8) omits",
    poc.fixed_step_gap.printed,
    looseness=1.2,
    remark=_FIXED,
)(against_fixed_steps(poc.fixed_step_gap.printed, "rho_bar", "initial_gap"))

theorem_a1 = claim(
    "power-of-choice:theorem-a.1",
    "E F(w_T) - F* against the repaired theorem, fixed step size up to 1/(4 L)",
    poc.fixed_step_gap,
    looseness=1.2,
    remark=_FIXED,
)(against_fixed_steps(poc.fixed_step_gap, "rho_diagonal", "initial_gap"))

theorem_a1_refined = claim(
    "power-of-choice:theorem-a.1-refined",
    "E F(w_T) - F* against the repaired theorem with the smaller drift of its proof, fixed step size",
    poc.refined_fixed_step_gap,
    looseness=1.05,
)(against_fixed_steps(poc.refined_fixed_step_gap, "rho_diagonal", "initial_distance2"))


@claim(
    "power-of-choice:theorem-a.1-pathwise",
    "F(w_T) - F* against eq. (8) on every path, as printed without expectation",
    poc.fixed_step_gap.printed,
    "erratum",
)
def theorem_a1_pathwise() -> Finding:
    fed = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))
    # The noise is 10 with probability 1/101 and -1/10 otherwise: mean 0 and variance 1.
    noise, eta = two_point_noise(vector(10), 100), Fraction(1, 4)
    run = RationalRun(fed, constant_law(with_replacement(fed.weights, 1)), 1, lambda _: eta, vector(0), 1, noise)
    known = {**theorem_constants(Drawn(run, 1, {})), "rho_bar": 1, "rho_tilde": 1, "initial_gap": Fraction(0)}
    unlucky = max(run.snapshots[1], key=lambda at: fed.gap(at.average))
    instance = format_run(run, **{"probability of the path": str(run.snapshots[1][unlucky])})
    return at_most(fed.gap(unlucky.average), poc.fixed_step_gap.printed(1, step_size=eta, **known), instance=instance)


def implied_constants(bound: Bound, laws: tuple[str, ...]) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares the smallest G2 of a run with the lower bounds implied by the other constants."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, laws=laws)
        run = drawn.run
        known = {
            **horizon_constants(drawn, "rho_diagonal"),
            "initial_gap": run.federation.gap(run.initial),
            "squared_weights": max(norm2(at.coefficients) for at in run.snapshots[0]),
        }
        stated = [c.sides(*(known[name] for name in c.reads)) for c in bound.consequences if c.sides is not None]
        larger = [(left, right) if relation == ">=" else (right, left) for left, relation, right in stated]
        return compared([(large, ">=", small) for large, small in larger], drawn.instance)

    return check


_STATED = Statement(
    FEDTHEORY, "their joint implications", related=(poc.PAPER, "Assumptions 3.1 to 3.4"), form="derived"
)
_HYPOTHESES = ("every F_k is mu-strongly convex", "E |g_k|^2 <= G2 at the first model, for every client")

consistency = claim(
    "power-of-choice:consistent-constants",
    "G2 >= max(1, rho_diagonal) (mu^2 |w_0 - w*|^2 + 2 mu Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
    remark="by the inequality of Polyak and Lojasiewicz, averaged over all clients or over the first selection",
)(implied_constants(poc.decaying_steps_gap, MEAN_LAWS))

consistency_of_a_fixed_step = claim(
    "power-of-choice:consistent-constants-fixed-step",
    "G2 >= 2 mu max(1, rho_diagonal) (F(w_0) - F* + Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
)(implied_constants(poc.fixed_step_gap, MEAN_LAWS))

consistency_of_weights = claim(
    "power-of-choice:consistent-constants-weighted",
    "For weights of sum one sum_k q_k^2 >= 1/m, and G2 is as large as without weights",
    _STATED,
    hypotheses=(*_HYPOTHESES, "q_k >= 0 with sum 1"),
    looseness=1.01,
)(implied_constants(poc.weighted_average_gap, WEIGHTED_LAWS))


_HALVED = "all other hypotheses hold; the second step of the round is less than half as long as the first"


def falling_run(law: Law[Selection], sizes: Vector, local_steps: int) -> RationalRun:
    """Return a run of two opposite clients that starts at 0, halfway between them, without noise; every skew is 1."""
    return opposite_run(law, local_steps, lambda t: sizes[t], len(sizes))


def _format_falling(run: RationalRun, law: str, num_selected: int) -> dict[str, Any]:
    sizes = ", ".join(str(run.step_size(t)) for t in range(run.num_steps))
    return format_run(run, law=law, num_selected=num_selected, **{"step sizes": sizes})


def _largest_gradient(run: RationalRun) -> Fraction:
    """Return the smallest G2 of Assumption 3.4 for every client at every model that any client visits."""
    visited = {w for at in chain.from_iterable(run.snapshots) for w in (*at.local, at.average)}
    return max(norm2(g) for w in visited for g in run.federation.gradients(w))


def against_recursion(bound: Bound, run: RationalRun, num_selected: int, law: str) -> Finding:
    """Compare every step of a run with a printed recursion that starts from the exact distance; all skews are 1."""
    known = {**constants_of(run), "local_steps": run.local_steps, "num_selected": num_selected}
    known |= {"G2": _largest_gradient(run), "rho_bar": Fraction(1), "rho_tilde": Fraction(1)}
    drawn = Drawn(run, num_selected, _format_falling(run, law, num_selected))
    return one_step_distances(drawn, lambda start, t: bound(start, step_size=run.step_size(t), **known))


def _without_halving(bound: Bound) -> tuple[str, ...]:
    return tuple(known.text for known in bound.hypotheses if not isinstance(known, HalvingSteps))


@claim(
    "power-of-choice:equation-65-falling-steps",
    "One step of E |w_bar_t - w*|^2 against eqs. (64)-(65) for the step sizes 1/4 and 1/1000 of one round",
    poc.one_step.printed,
    "erratum",
    hypotheses=_without_halving(poc.one_step.printed),
    remark=_HALVED,
)
def equation_65_falling_steps() -> Finding:
    run = falling_run(uniform_subsets(2, 1), vector("1/4", "1/1000"), local_steps=2)
    return against_recursion(poc.one_step.printed, run, 1, "uniform")


@claim(
    "power-of-choice:equation-81-falling-steps",
    "One step of E |w_bar_t - w*|^2 against eq. (81), m = 2, for the step sizes 1/8 and 1/10000 of one round",
    poc.weighted_one_step.printed,
    "erratum",
    hypotheses=_without_halving(poc.weighted_one_step.printed),
    remark=_HALVED,
)
def equation_81_falling_steps() -> Finding:
    run = falling_run(with_replacement(vector("1/2", "1/2"), 2), vector("1/8", "1/10000"), local_steps=2)
    return against_recursion(poc.weighted_one_step.printed, run, 2, "proportional")


@claim(
    "power-of-choice:lemma-b2-falling-steps",
    "E 1/m sum_k |w_bar_t - w_k_t|^2 <= 16 eta_t^2 tau^2 G2 for the step sizes 1/4 and 1/1000 of one round",
    poc.client_drift.printed,
    "erratum",
    hypotheses=_without_halving(poc.client_drift.printed),
    remark=_HALVED,
)
def lemma_b2_falling_steps() -> Finding:
    run = falling_run(uniform_subsets(2, 2), vector("1/4", "1/1000"), local_steps=2)

    def sides(t: int) -> tuple[Any, Any]:
        bound = poc.client_drift.printed(run.step_size(t), local_steps=2, G2=_largest_gradient(run))
        return run.snapshots[t].mean(lambda at: at.drift), bound

    return at_steps(Drawn(run, 2, _format_falling(run, "full", 2)), sides)


@claim(
    "power-of-choice:equation-81-single-client",
    "One step of E |w_bar_t - w*|^2 against eq. (81) for m = 1, fixed step size 1/100, ten local steps",
    poc.weighted_one_step.printed,
    "erratum",
    remark="all hypotheses hold; the drift term has the factor m - 1 = 0, as in eq. (85)",
)
def equation_81_single_client() -> Finding:
    run = falling_run(uniform_subsets(2, 1), vector(*["1/100"] * 3), local_steps=10)
    return against_recursion(poc.weighted_one_step.printed, run, 1, "uniform")
