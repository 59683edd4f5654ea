"""Power-of-Choice, Theorems 3.1 and A.1: as printed, repaired and refined, against exact expected errors."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._instances import Drawn, constant_law, decaying, draw_run, fixed_step, in_words
from fedtheory.paper import Bound
from fedtheory.verification.claim import FAILS, Claim, Finding, at_most, not_applicable, worst_of
from fedtheory.verification.observed_constants import Skews, observed_gradient_bound, observed_skews
from fedtheory.verification.rational import RationalQuadratics, difference, norm2, vector
from fedtheory.verification.runs import RationalRun, expected, two_point_noise
from fedtheory.verification.selections import with_replacement


def theorem_constants(drawn: Drawn) -> dict[str, Any]:
    """Constants that every form of the theorems takes, G2 the smallest for which the hypotheses hold on the run."""
    run = drawn.run
    return {
        **drawn.constants,
        "local_steps": run.local_steps,
        "num_selected": drawn.num_selected,
        "G2": observed_gradient_bound(run),
    }


def initial_distance2(run: RationalRun) -> Fraction:
    """Squared distance of the first model from the minimizer."""
    return norm2(difference(run.initial, run.federation.minimizer))


def expected_gaps(drawn: Drawn, bound: Callable[[int], Any]) -> Finding:
    """Compare ``E F(w_bar_T) - F*`` with a bound at every horizon of a run (at T = 0 it is just smoothness)."""
    run = drawn.run
    return worst_of(
        at_most(
            expected(run.snapshots[step], lambda at: run.federation.gap(at.average)),
            bound(step),
            instance={**drawn.instance, "step": step},
        )
        for step in range(1, run.num_steps + 1)
    )


def _skews(skews: Skews, name: str) -> dict[str, Fraction]:
    return {name: getattr(skews, name), "rho_tilde": skews.rho_tilde}


def against_decaying_steps(bound: Bound, skew: str, longest_round: int) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=decaying, longest_round=longest_round)
        skews = _skews(observed_skews(drawn.run), skew)
        if not skews[skew]:
            return not_applicable(**drawn.instance)
        known = {
            **theorem_constants(drawn),
            **skews,
            "initial_distance2": initial_distance2(drawn.run),
        }
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


THEOREM_31_PRINTED = Claim(
    key="power-of-choice:theorem-3.1-printed",
    title="E F(w_T) - F* against eq. (7), decaying steps (proved for rho_bar <= 79 under hypotheses 1-3 of Theorem R)",
    statement=poc.decaying_steps_gap.printed.statement,
    kind="inequality",
    check=against_decaying_steps(poc.decaying_steps_gap.printed, "rho_bar", longest_round=12),
    bound=poc.decaying_steps_gap.printed,
)

THEOREM_31 = Claim(
    key="power-of-choice:theorem-3.1",
    title="E F(w_T) - F* against the repaired theorem, decaying step sizes and every tau",
    statement=poc.decaying_steps_gap.statement,
    kind="inequality",
    check=against_decaying_steps(poc.decaying_steps_gap, "rho_diagonal", longest_round=12),
    bound=poc.decaying_steps_gap,
)

THEOREM_31_REFINED = Claim(
    key="power-of-choice:theorem-3.1-refined",
    title="E F(w_T) - F* against the repaired theorem with the drift that its proof needs",
    statement=poc.refined_decaying_steps_gap.statement,
    kind="inequality",
    check=against_decaying_steps(poc.refined_decaying_steps_gap, "rho_diagonal", longest_round=5),
    bound=poc.refined_decaying_steps_gap,
)


def against_fixed_steps(bound: Bound, skew: str, initial: str) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=6)
        run, skews = drawn.run, _skews(observed_skews(drawn.run), skew)
        first = run.federation.gap(run.initial) if initial == "initial_gap" else initial_distance2(run)
        known = {**theorem_constants(drawn), **skews, "step_size": run.step_size(0), initial: first}
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


THEOREM_A1_PRINTED = Claim(
    key="power-of-choice:theorem-a.1-printed",
    title="E F(w_T) - F* against eq. (8), fixed step size, with the expectation that eq. (8) leaves out",
    statement=poc.fixed_step_gap.printed.statement,
    kind="inequality",
    check=against_fixed_steps(poc.fixed_step_gap.printed, "rho_bar", "initial_gap"),
    bound=poc.fixed_step_gap.printed,
)

THEOREM_A1 = Claim(
    key="power-of-choice:theorem-a.1",
    title="E F(w_T) - F* against the repaired theorem, fixed step size up to 1/(4 L)",
    statement=poc.fixed_step_gap.statement,
    kind="inequality",
    check=against_fixed_steps(poc.fixed_step_gap, "rho_diagonal", "initial_gap"),
    bound=poc.fixed_step_gap,
)

THEOREM_A1_REFINED = Claim(
    key="power-of-choice:theorem-a.1-refined",
    title="E F(w_T) - F* against the repaired theorem with the drift that its proof needs, fixed step size",
    statement=poc.refined_fixed_step_gap.statement,
    kind="inequality",
    check=against_fixed_steps(poc.refined_fixed_step_gap, "rho_diagonal", "initial_distance2"),
    bound=poc.refined_fixed_step_gap,
)


def _on_a_path(_: np.random.Generator) -> Finding:
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
    return at_most(
        fed.gap(unlucky.average),
        bound,
        instance={
            "clients": "one, F(w) = w^2/2",
            "noise": "; ".join(f"{in_words(value)} with probability {chance}" for chance, value in run.noise),
            "step_size": "1/4",
            "initial": "0",
            "num_steps": 1,
            "probability of the path": str(unlucky.probability),
        },
    )


THEOREM_A1_PATHWISE = Claim(
    key="power-of-choice:theorem-a.1-pathwise",
    title="F(w_T) - F* against eq. (8) on every path, as it reads without an expectation",
    statement=poc.fixed_step_gap.printed.statement,
    kind="erratum",
    check=_on_a_path,
    expected=FAILS,
    instances=(1, 1),
    bound=poc.fixed_step_gap.printed,
)
