"""Power-of-Choice, Appendix E: averages with weights q_k; eq. (85) as printed, its counterexamples, and its repair."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import expected_gaps, horizon_constants
from fedtheory.rational._averaging import RationalRun, constant_law
from fedtheory.rational._noises import no_noise
from fedtheory.rational._run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import weighted_steps
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.quadratics import RationalQuadratics, opposite_clients
from fedtheory.rational.vectors import vector
from fedtheory.sampling.cohorts import uniform_subsets
from fedtheory.theorem.bound import Bound
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, not_applicable


def balanced_weights(fed: RationalQuadratics, num_selected: int) -> Callable[[tuple[int, ...]], tuple[Fraction, ...]]:
    """Make the aggregation weights ``q_k = p_k K / m``."""
    return lambda chosen: tuple(fed.weights[k] * fed.num_clients / num_selected for k in chosen)


def _one_uniform_client(fed: RationalQuadratics, initial: int, local_steps: int, num_steps: int) -> Drawn:
    run = RationalRun(
        federation=fed,
        select=constant_law(uniform_subsets(fed.num_clients, 1)),
        local_steps=local_steps,
        step_size=weighted_steps(fed, 1),
        initial=vector(initial),
        num_steps=num_steps,
        noise=no_noise(1),
        weigh=balanced_weights(fed, 1),
    )
    words = {
        **federation_in_words(fed),
        "law": "uniform without replacement, q_k = p_k K / m",
        "num_selected": 1,
        "local_steps": local_steps,
        "num_steps": num_steps,
        "step_size": "1/(t + 8)",
        "initial": initial,
    }
    return Drawn(run, 1, words)


def _against_85(drawn: Drawn, bound: Bound = poc.weighted_average_gap.printed, skew: str = "rho_bar") -> Finding:
    # Both skews are 1: uniform selection with q_k = p_k K / m is unbiased.
    known = horizon_constants(drawn) | {skew: Fraction(1), "rho_tilde": Fraction(1)}
    return expected_gaps(drawn, lambda step: bound(step, **known))


@claim(
    "power-of-choice:equation-85-single-client",
    "E F(w_T) - F* against eq. (85) for m = 1, equal weights and tau = T = 10: 50/289 > 1/6",
    poc.weighted_average_gap.printed,
    "erratum",
    remark="all hypotheses hold; the drift term has the factor m - 1 = 0",
)
def equation_85_single_client() -> Finding:
    return _against_85(_one_uniform_client(opposite_clients(), 0, local_steps=10, num_steps=10))


@claim(
    "power-of-choice:equation-85-unbalanced",
    "E F(w_T) - F* against eq. (85) for q_k = p_k K / m and p = (3/4, 1/4): 1/8 > 0",
    poc.weighted_average_gap.printed,
    "erratum",
    remark="the weights p_k K / m, which the paper gives as an example, sum to one only if all p_k are equal",
)
def equation_85_unbalanced() -> Finding:
    one = vector(1)
    same = RationalQuadratics((one, one), (one, one), vector("3/4", "1/4"), vector(0, 0))
    return _against_85(_one_uniform_client(same, 1, local_steps=1, num_steps=2))


def against_weighted_average(bound: Bound, skew: str, smallest_cohort: int) -> Callable[[np.random.Generator], Finding]:
    """Make the check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = draw_run(
            rng, laws=WEIGHTED_LAWS, longest_round=4, smallest_cohort=smallest_cohort, step_size=weighted_steps
        )
        known = horizon_constants(drawn, skew)
        if not known[skew]:
            return not_applicable(**drawn.instance)
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


equation_85_derived = claim(
    "power-of-choice:equation-85-derived",
    "E F(w_T) - F* against what the recursion (82)-(84) gives, for m >= 2 and weights of sum one",
    poc.derived_weighted_average_gap,
    looseness=32,
    remark="the closed form pays the drift 32 m (m - 1) tau^2 G2 and the variance m^2 times over, which no round has",
)(against_weighted_average(poc.derived_weighted_average_gap, "rho_bar", smallest_cohort=2))

equation_85 = claim(
    "power-of-choice:equation-85",
    "E F(w_T) - F* against the repaired form of eq. (85), for every m and weights of sum one",
    poc.weighted_average_gap,
    looseness=4,
    remark="the closed form pays the drift 32 m (m - 1) tau^2 G2 in every step, also in the first of each round",
)(against_weighted_average(poc.weighted_average_gap, "rho_diagonal", smallest_cohort=1))


@claim(
    "power-of-choice:equation-85-single-client-repaired",
    "The repaired form of eq. (85) on the instance that refutes the printed one",
    poc.weighted_average_gap,
    looseness=2048,
    remark="the closed form pays for drift in every step; the one round of the instance begins at the minimizer",
)
def equation_85_single_client_repaired() -> Finding:
    drawn = _one_uniform_client(opposite_clients(), 0, local_steps=10, num_steps=10)
    return _against_85(drawn, poc.weighted_average_gap, "rho_diagonal")
