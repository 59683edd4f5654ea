"""Power-of-Choice: what its hypotheses imply together, and what the printed recursions leave unsaid about steps."""

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import at_steps, horizon_constants, one_step_distances
from fedtheory.claims.power_of_choice._appendices import opposite_run
from fedtheory.rational._averaging import RationalRun
from fedtheory.rational._constants import constants_of
from fedtheory.rational._run_draws import MEAN_LAWS, WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.vectors import norm2, vector
from fedtheory.sampling.cohorts import Selection, uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.assumptions import HalvingSteps
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, worst_of


def implied(drawn: Drawn, bound: Bound) -> Finding:
    """Compare the least G2 of a run with all that its bound reads off the other constants."""
    run = drawn.run
    known = {
        **horizon_constants(drawn, "rho_diagonal"),
        "initial_gap": run.federation.gap(run.initial),
        "squared_weights": max(sum(q * q for q in at.coefficients) for at in run.snapshots[0]),
    }
    sides = [c.sides(*(known[name] for name in c.reads)) for c in bound.consequences if c.sides is not None]
    return worst_of(
        at_least(*((left, right) if relation == ">=" else (right, left)), instance=drawn.instance)
        for left, relation, right in sides
    )


def _implied_by(bound: Bound, laws: tuple[str, ...]) -> Callable[[np.random.Generator], Finding]:
    return lambda rng: implied(draw_run(rng, laws=laws), bound)


_STATED = Statement(poc.PAPER, "Assumptions 3.1 to 3.4", "what they imply together", form="derived")
_HYPOTHESES = ("every F_k is mu-strongly convex", "E |g_k|^2 <= G2 at the first model, for every client")

consistency = claim(
    "power-of-choice:consistent-constants",
    "G2 >= max(1, rho_diagonal) (mu^2 |w_0 - w*|^2 + 2 mu Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
    remark="by the inequality of Polyak and Lojasiewicz, averaged over all clients or over the first selection",
)(_implied_by(poc.decaying_steps_gap, MEAN_LAWS))

consistency_of_a_fixed_step = claim(
    "power-of-choice:consistent-constants-fixed-step",
    "G2 >= 2 mu max(1, rho_diagonal) (F(w_0) - F* + Gamma), and G2 >= sigma2",
    _STATED,
    hypotheses=_HYPOTHESES,
    looseness=1.01,
)(_implied_by(poc.fixed_step_gap, MEAN_LAWS))

consistency_of_weights = claim(
    "power-of-choice:consistent-constants-weighted",
    "For weights of sum one sum_k q_k^2 >= 1/m, and G2 is as large as without weights",
    _STATED,
    hypotheses=(*_HYPOTHESES, "q_k >= 0 with sum 1"),
    looseness=1.01,
)(_implied_by(poc.weighted_average_gap, WEIGHTED_LAWS))


_REMARK = "all other hypotheses hold: the second step of the round is less than half of the first"


def falling_run(law: Law[Selection], sizes: tuple[Fraction, ...], local_steps: int) -> RationalRun:
    """Two opposite clients, started at 0 between them, without noise; every skew is 1."""
    return opposite_run(law, local_steps, lambda step: sizes[step], len(sizes))


def _largest_gradient(run: RationalRun) -> Fraction:
    """Return the smallest G2 of Assumption 3.4 for every client at every model that any client visits."""
    visited = {w for at in chain.from_iterable(run.snapshots) for w in (*at.local, at.average)}
    return max(norm2(run.federation.gradient(k, w)) for k in range(run.federation.num_clients) for w in visited)


def _in_words(run: RationalRun, law: str, num_selected: int) -> dict[str, Any]:
    return {
        **federation_in_words(run.federation),
        "law": law,
        "num_selected": num_selected,
        "local_steps": run.local_steps,
        "step sizes": ", ".join(str(run.step_size(step)) for step in range(run.num_steps)),
        "initial": "0",
    }


def against_recursion(bound: Bound, run: RationalRun, num_selected: int, law: str) -> Finding:
    """Compare every step of a run with a printed recursion that starts from the true distance; all skews are 1."""
    known = {**constants_of(run), "local_steps": run.local_steps, "num_selected": num_selected}
    known |= {"G2": _largest_gradient(run), "rho_bar": Fraction(1), "rho_tilde": Fraction(1)}
    drawn = Drawn(run, num_selected, _in_words(run, law, num_selected))
    return one_step_distances(drawn, lambda start, t: bound(start, step_size=run.step_size(t), **known))


def _unstated(bound: Bound) -> tuple[str, ...]:
    return tuple(known.text for known in bound.hypotheses if not isinstance(known, HalvingSteps))


def _falling(bound: Bound, law: Law[Selection], name: str, sizes: tuple[str, str]) -> Callable[[], Finding]:
    num_selected = len(next(iter(law)))
    run = falling_run(law, vector(*sizes), local_steps=2)
    return lambda: against_recursion(bound, run, num_selected, name)


equation_65_falling_steps = claim(
    "power-of-choice:equation-65-falling-steps",
    "One step of E |w_bar_t - w*|^2 against eqs. (64)-(65) for the step sizes 1/4 and 1/1000 of one round",
    poc.one_step.printed,
    "erratum",
    hypotheses=_unstated(poc.one_step.printed),
    remark=_REMARK,
)(_falling(poc.one_step.printed, uniform_subsets(2, 1), "uniform", ("1/4", "1/1000")))

equation_81_falling_steps = claim(
    "power-of-choice:equation-81-falling-steps",
    "One step of E |w_bar_t - w*|^2 against eq. (81), m = 2, for the step sizes 1/8 and 1/10000 of one round",
    poc.weighted_one_step.printed,
    "erratum",
    hypotheses=_unstated(poc.weighted_one_step.printed),
    remark=_REMARK,
)(
    _falling(
        poc.weighted_one_step.printed, with_replacement(vector("1/2", "1/2"), 2), "proportional", ("1/8", "1/10000")
    )
)


@claim(
    "power-of-choice:lemma-b2-falling-steps",
    "E 1/m sum_k |w_bar_t - w_k_t|^2 <= 16 eta_t^2 tau^2 G2 for the step sizes 1/4 and 1/1000 of one round",
    poc.client_drift.printed,
    "erratum",
    hypotheses=_unstated(poc.client_drift.printed),
    remark=_REMARK,
)
def lemma_b2_falling_steps() -> Finding:
    run = falling_run(uniform_subsets(2, 2), vector("1/4", "1/1000"), local_steps=2)

    def sides(step: int) -> tuple[Fraction, Any]:
        bound = poc.client_drift.printed(run.step_size(step), local_steps=2, G2=_largest_gradient(run))
        return run.snapshots[step].mean(lambda at: at.drift), bound

    return at_steps(Drawn(run, 2, _in_words(run, "everybody", 2)), sides)


equation_81_single_client = claim(
    "power-of-choice:equation-81-single-client",
    "One step of E |w_bar_t - w*|^2 against eq. (81) for m = 1, the fixed step size 1/100 and ten local steps",
    poc.weighted_one_step.printed,
    "erratum",
    remark="all hypotheses hold; the drift term has the factor m - 1 = 0, as in eq. (85)",
)(
    lambda: against_recursion(
        poc.weighted_one_step.printed, falling_run(uniform_subsets(2, 1), vector("1/100") * 3, 10), 1, "uniform"
    )
)
