"""Power-of-Choice, Theorems 3.1 and A.1, the one-step recursions and the conditioning step behind them, and repairs."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import expected_gaps, horizon_constants, one_step_distances, theorem_constants
from fedtheory.claims.power_of_choice._appendices import opposite_run
from fedtheory.rational._averaging import RationalRun, constant_law
from fedtheory.rational._constants import initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.rational._noises import two_point_noise
from fedtheory.rational._rounds import Snapshot, elapsed
from fedtheory.rational._run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import decaying, fixed_step, short_steps
from fedtheory.rational._words import federation_in_words, run_in_words
from fedtheory.rational.draws import whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import added, difference, norm2, scaled, vector
from fedtheory.sampling.cohorts import with_replacement
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, not_applicable, worst_of


def excess_of_active(run: RationalRun, at: Snapshot, *, of_start: bool) -> Fraction:
    """Mean of ``F_k - F_k*`` over the active copies, at the round's starting model or at the averaged model."""
    w = at.anchor if of_start else at.average
    return sum((run.federation.excess(k, w) for k in at.chosen), start=Fraction(0)) / len(at.chosen)


@claim(
    "power-of-choice:equation-16-pathwise",
    "|w_k'_t - w_k_t|^2 <= |sum of eta_i (g_k' - g_k) over the whole round|^2 after one of two local steps",
    Statement(poc.PAPER, "Lemma B.2", "eq. (16)"),
    "erratum",
    remark="later gradients can cancel earlier ones: sum to t - 1, and extend it after Cauchy-Schwarz; the lemma holds",
)
def equation_16_pathwise() -> Finding:
    one, zero, eta, noises = vector(1), vector(0), Fraction(1, 4), (vector(-1, 1), vector(1, -1))
    fed = RationalQuadratics((one, one), (zero, zero), vector("1/2", "1/2"), vector(0, 0))
    models, difference_sum, after_first = [vector(0), vector(0)], vector(0), Fraction(0)
    for step, noise in enumerate(noises):
        gradients = [added(fed.gradient(k, models[k]), vector(noise[k])) for k in range(2)]
        models = [added(w, scaled(-eta, g)) for w, g in zip(models, gradients, strict=True)]
        difference_sum = added(difference_sum, scaled(eta, difference(gradients[1], gradients[0])))
        if step == 0:
            after_first = norm2(difference(models[1], models[0]))
    return at_most(
        after_first,
        norm2(difference_sum),
        instance={
            "clients": "two, F(w) = w^2/2",
            "initial": "0",
            "step_size": "1/4",
            "noises": noises,
            "local_steps": 2,
        },
    )


@claim(
    "power-of-choice:step-54-55",
    "E 1/m sum_{k in S_t} (F_k(w_bar_t) - F_k*) >= rho_bar (E F(w_bar_t) - sum_k p_k F_k*) inside a round",
    Statement(poc.PAPER, "Appendix C", "eqs. (54)-(55)"),
    "erratum",
    remark="inside a round the averaged model depends on the selection, so that the skew says nothing about it",
)
def step_54_55() -> Finding:
    run = opposite_run(with_replacement(vector("1/2", "1/2"), 1), 2, lambda _: Fraction(1, 4), num_steps=1)
    after_one = run.snapshots[1]
    return at_least(
        after_one.mean(lambda at: excess_of_active(run, at, of_start=False)),
        after_one.mean(lambda at: run.federation.total_excess(at.average)),  # rho_bar is 1
        instance={
            **federation_in_words(run.federation),
            "law": "proportional",
            "num_selected": 1,
            "local_steps": 2,
            "step": 1,
            "step_size": "1/4",
            "initial": "0",
        },
    )


@claim(
    "power-of-choice:step-54-55-repaired",
    "E 1/m sum_{k in S_t} (F_k(u) - F_k*) >= rho_diagonal (E F(u) - sum_k p_k F_k*) at the round's start u",
    Statement(poc.PAPER, "Appendix C", "eqs. (54)-(55)", form="corrected"),
    hypotheses=("the selection depends on the past only through the round's starting model",),
    looseness=1.01,
)
def step_54_55_repaired(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng)
    rho = observed_skews(run).rho_diagonal
    return worst_of(
        at_least(
            snapshots.mean(lambda at: excess_of_active(run, at, of_start=True)),
            rho * snapshots.mean(lambda at: run.federation.total_excess(at.anchor)),
            instance={**instance, "step": step, "rho_diagonal": rho},
        )
        for step, snapshots in enumerate(run.snapshots[: run.num_steps])
    )


def repaired_steps(drawn: Drawn, bound: Bound = poc.one_step, weights: str = "num_selected") -> Finding:
    """Compare every step of a run with the repaired one-step bound, or a variant of it, of means or with weights."""
    run, skews = drawn.run, observed_skews(drawn.run)
    known = drawn.constants | {"rho_diagonal": skews.rho_diagonal, "rho_tilde": skews.rho_tilde}

    def predicted(distance2: Fraction, step: int) -> Any:
        of_means = weights == "num_selected"
        known[weights] = drawn.num_selected if of_means else max(norm2(at.coefficients) for at in run.snapshots[step])
        return bound(
            distance2,
            step_size=run.step_size(step),
            elapsed_step_size=elapsed(run, step),
            G2=observed_gradient_bound(run, step, step + 1),
            **known,
        )

    return one_step_distances(drawn, predicted)


one_step = claim(
    "power-of-choice:one-step",
    "The repaired recursion for E |w_bar_t - w*|^2, for any step sizes up to 1/(4 L)",
    poc.one_step,
    looseness=1.01,
)(lambda rng: repaired_steps(draw_run(rng, step_size=short_steps(rng), longest_round=6)))


@claim(
    "power-of-choice:one-step-printed",
    "The printed recursion for E |w_bar_t - w*|^2 (its proof has a gap, the statement is true for rho_bar <= 79)",
    poc.one_step.printed,
    looseness=1.05,
)
def one_step_printed(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng)
    sizes, known = drawn.run.step_size, theorem_constants(drawn, "rho_bar")
    return one_step_distances(drawn, lambda start, t: poc.one_step.printed(start, step_size=sizes(t), **known))


@claim(
    "power-of-choice:weighted-one-step",
    "The repaired recursion for weighted averages, q_k >= 0 of sum one",
    poc.weighted_one_step,
    looseness=1.01,
)
def weighted_one_step(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=WEIGHTED_LAWS, step_size=short_steps(rng), longest_round=6)
    return repaired_steps(drawn, poc.weighted_one_step, "squared_weights")


def _weighted_slope(num_selected: int, x: Fraction) -> Fraction:
    return 2 * (1 - (1 + num_selected) * x) * (1 - x)


@claim(
    "power-of-choice:step-80-printed",
    "eta < 1/(2 L (1 + m)) gives 2 (1 - (1 + m) L eta)(1 - L eta) >= 1, which eq. (80) needs",
    Statement(poc.PAPER, "Appendix E", "eqs. (79)-(80)"),
    "erratum",
    remark="a step of the proof only: the step sizes of eq. (85) are half as long",
)
def step_80_printed() -> Finding:
    x = Fraction(9, 40)  # below 1/(2 (1 + m)) = 1/4
    # The printed recursion accepts the step.
    poc.weighted_one_step.printed(
        Fraction(1),
        step_size=x,
        mu=1,
        L=1,
        local_steps=1,
        num_selected=1,
        G2=9,
        sigma2=1,
        objective_gap=1,
        rho_bar=1,
        rho_tilde=1,
    )
    return at_least(_weighted_slope(1, x), Fraction(1), instance={"num_selected": 1, "L eta": str(x)})


@claim(
    "power-of-choice:step-80",
    "the step sizes of eq. (85), at most 1/(4 L (1 + m)), give 2 (1 - (1 + m) L eta)(1 - L eta) >= 1",
    Statement(poc.PAPER, "Appendix E", "eqs. (79)-(80)", form="corrected"),
    looseness=1.5,
)
def step_80(rng: np.random.Generator) -> Finding:
    m, L, step = whole(rng, 1, 30), whole(rng, 1, 9), whole(rng, 0, 4)
    sizes = poc.weighted_step_sizes(step + 1, mu=1.0, L=float(L), num_selected=m)
    x = L * Fraction(sizes[step])
    return at_least(_weighted_slope(m, x), Fraction(1), instance={"num_selected": m, "L": L, "step": step})


_FIXED = "pays the drift 32 tau^2 G2 where rounds have one step, too, and there is none: see theorem-a.1-refined"


def against_decaying_steps(bound: Bound, skew: str, longest_round: int) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=decaying, longest_round=longest_round)
        known = horizon_constants(drawn, skew)
        if not known[skew]:
            return not_applicable(**drawn.instance)
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


theorem_31_printed = claim(
    "power-of-choice:theorem-3.1-printed",
    "E F(w_T) - F* against eq. (7), decaying steps (proved for rho_bar <= 79 under hypotheses 1-3 of Theorem R)",
    poc.decaying_steps_gap.printed,
    looseness=32,
    remark="the closed form pays the drift 32 tau^2 G2 in every step, also where rounds have one and there is none",
)(against_decaying_steps(poc.decaying_steps_gap.printed, "rho_bar", longest_round=12))

theorem_31 = claim(
    "power-of-choice:theorem-3.1",
    "E F(w_T) - F* against the repaired theorem, decaying step sizes and every tau",
    poc.decaying_steps_gap,
    looseness=32,
    remark="the closed form pays the drift 32 tau^2 G2 in every step, also where rounds have one and there is none",
)(against_decaying_steps(poc.decaying_steps_gap, "rho_diagonal", longest_round=12))

theorem_31_refined = claim(
    "power-of-choice:theorem-3.1-refined",
    "E F(w_T) - F* against the repaired theorem with the drift that its proof needs",
    poc.refined_decaying_steps_gap,
    looseness=1.5,
    remark="the recursion is attained (one-step); its closed form lets the first error fall more slowly than steps do",
)(against_decaying_steps(poc.refined_decaying_steps_gap, "rho_diagonal", longest_round=5))


def against_fixed_steps(bound: Bound, skew: str, initial: str) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=6)
        run = drawn.run
        first = run.federation.gap(run.initial) if initial == "initial_gap" else initial_distance2(run)
        known = {**theorem_constants(drawn, skew), "step_size": run.step_size(0), initial: first}
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


theorem_a1_printed = claim(
    "power-of-choice:theorem-a.1-printed",
    "E F(w_T) - F* against eq. (8), fixed step size, with the expectation that eq. (8) leaves out",
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
    "E F(w_T) - F* against the repaired theorem with the drift that its proof needs, fixed step size",
    poc.refined_fixed_step_gap,
    looseness=1.05,
)(against_fixed_steps(poc.refined_fixed_step_gap, "rho_diagonal", "initial_distance2"))


@claim(
    "power-of-choice:theorem-a.1-pathwise",
    "F(w_T) - F* against eq. (8) on every path, as it reads without an expectation",
    poc.fixed_step_gap.printed,
    "erratum",
)
def theorem_a1_pathwise() -> Finding:
    one = vector(1)
    fed = RationalQuadratics((one,), (vector(0),), one, vector(0))
    # The noise is 10 with probability 1/101 and -1/10 otherwise: mean 0 and variance 1.
    run = RationalRun(
        federation=fed,
        select=constant_law(with_replacement(fed.weights, 1)),
        local_steps=1,
        step_size=lambda _: Fraction(1, 4),
        initial=vector(0),
        num_steps=1,
        noise=two_point_noise(vector(10), Fraction(100)),
    )
    drawn = Drawn(run, 1, {})
    bound = poc.fixed_step_gap.printed(
        1, step_size=Fraction(1, 4), rho_bar=1, rho_tilde=1, initial_gap=Fraction(0), **theorem_constants(drawn)
    )
    unlucky = max(run.snapshots[1], key=lambda at: fed.gap(at.average))
    instance = run_in_words(run, **{"probability of the path": str(run.snapshots[1][unlucky])})
    return at_most(fed.gap(unlucky.average), bound, instance=instance)
