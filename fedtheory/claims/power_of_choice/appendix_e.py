"""Power-of-Choice, Appendix E: one step of averages with weights q_k, their theorem, and eq. (85) as printed."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import (
    Chain,
    compared,
    expected_gaps,
    horizon_constants,
    one_step_distances,
    step,
    theorem_constants,
)
from fedtheory.claims.power_of_choice._situations import (
    CURVATURE,
    Recursion,
    Step,
    opposite_run,
    recursion,
    weighted_step,
    weighted_step_of_several,
)
from fedtheory.instances.draws import draw_model, draw_shares
from fedtheory.instances.federations import RationalQuadratics, opposite_clients
from fedtheory.instances.formatting import format_federation, format_run, format_vectors
from fedtheory.instances.noise import no_noise
from fedtheory.instances.observed import skew
from fedtheory.instances.run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.instances.runs import RationalRun, Snapshot, constant_law
from fedtheory.instances.step_sizes import weighted_steps
from fedtheory.instances.vectors import Vector, combination, inner, norm2, vector
from fedtheory.sampling.cohorts import Selection, uniform_subsets
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import FEDTHEORY, Statement

line = partial(Statement, poc.PAPER, "Appendix E")
_SUM_TO_ONE = "q_k >= 0 with sum 1"
_EVERYWHERE = "E[|g_k|^2 | S] <= G2 for the active copies"
_STEP_SIZES = "step sizes of eq. (85)"


def plain_drift(s: Step) -> Fraction:
    """``E 1/m sum_k |w_hat - w_k|^2``: the average has weights q_k, the mean of the squares is unweighted."""
    return Fraction(s.E(lambda at: sum(norm2(at.average - w) for w in at.local) / Fraction(len(at.local))))


@step(
    "power-of-choice:equation-73",
    line("eq. (73)"),
    weighted_step,
    hypotheses=(_SUM_TO_ONE, _EVERYWHERE, _STEP_SIZES),
    looseness=64,
    remark="m (m - 1) instead of (m - 1)/m, and 16 tau^2, which allows steps that halve",
)
def equation_73(s: Step) -> Chain:
    """1/m E sum_k |w_hat_t - w_k|^2 <= 16 eta^2 m (m - 1) tau^2 G2 for weights q_k in the average"""
    return plain_drift(s), "<=", s.printed_weighted_drift


class WeightedCohort(NamedTuple):
    """Models of some copies with weights q_k of sum one, and an arbitrary w*."""

    at: Snapshot
    best: Vector
    instance: dict[str, Any]

    @property
    def distance2(self) -> Fraction:
        """``|w_hat - w*|^2``."""
        return norm2(self.at.average - self.best)


def weighted_cohort(rng: np.random.Generator, smallest: int = 1) -> list[WeightedCohort]:
    size, dim = whole(rng, smallest, 4), whole(rng, 1, 2)
    q, models = draw_shares(rng, size), tuple(draw_model(rng, dim) for _ in range(size))
    average, best = combination(q, models), draw_model(rng, dim)
    at = Snapshot(average, tuple(range(size)), q, models, average)
    return [WeightedCohort(at, best, {"q": str(q), "models": format_vectors(models), "w*": str(best)})]


@step(
    "power-of-choice:equation-74",
    line("eq. (74)"),
    lambda rng: weighted_cohort(rng, smallest=2),
    hypotheses=(_SUM_TO_ONE,),
    looseness=4,
    remark="the factor m is superfluous, see equation-74-refined",
)
def equation_74(s: WeightedCohort) -> Chain:
    """|w_hat - w*|^2 <= m sum_k q_k |w_k - w*|^2, for m >= 2"""
    return s.distance2, "<=", len(s.at.chosen) * s.at.spread(s.best)


@step(
    "power-of-choice:equation-74-refined",
    Statement(FEDTHEORY, "", related=(poc.PAPER, "Appendix E, eq. (74)"), form="refined"),
    weighted_cohort,
    hypotheses=(_SUM_TO_ONE,),
)
def equation_74_refined(s: WeightedCohort) -> Chain:
    """|w_hat - w*|^2 <= sum_k q_k |w_k - w*|^2, without the factor m of eq. (74)"""
    return s.distance2, "<=", s.at.spread(s.best)


@claim(
    "power-of-choice:equation-74-unbalanced",
    "|w_hat - w*|^2 <= m sum_k q_k |w_k - w*|^2 for the weights q_k = p_k K/m, an example in the paper",
    line("eq. (74)"),
    "erratum",
    remark="with p = (3/4, 1/4) and m = 1 the only weight is 3/2, so that the average of a model at w* is not w*",
)
def equation_74_unbalanced() -> Finding:
    one, q = vector(1), vector("3/2")
    at = Snapshot(one, (0,), q, (one,), combination(q, (one,)))
    instance = {"p": "(3/4, 1/4)", "m": 1, "K": 2, "chosen": 0, "w_k = w*": "1"}
    return at_most(norm2(at.average - one), 1 * at.spread(one), instance=instance)


@step(
    "power-of-choice:equation-75",
    line("eq. (75)"),
    weighted_step,
    hypotheses=(_SUM_TO_ONE, CURVATURE, _EVERYWHERE, _STEP_SIZES),
)
def equation_75(s: Step) -> Chain:
    """E |w_hat_{t+1} - w*|^2 <= (1 - eta mu/m) Delta_t + eta^2 sigma2 m + 16 m^2 (m - 1) eta^2 tau^2 G2 + M"""
    # M and the distance may be negative together, the other terms may not.
    kept = (1 - s.eta * s.mu / s.m) * s.Delta + s.M(2 * (1 + s.m))
    return s.Delta_next, "<=", kept + s.eta**2 * s.run.sigma2 * s.m + s.m * s.printed_weighted_drift


@step("power-of-choice:equation-76", line("eq. (76)"), weighted_step, kind="identity")
def equation_76(s: Step) -> list[Chain]:
    """E sum_k q_k (F_k(w') - F_k*) = rho_q(S(w), w') (F(w') - sum_k p_k F_k*)"""
    run, fed = s.run, s.fed

    def weighted_excess(w: Vector, chosen: Selection) -> Fraction:
        return inner(run.weigh(chosen), [fed.excess(k, w) for k in chosen])

    def sides(at: Snapshot) -> Chain:
        law = run.select(at.anchor)
        rho, total = skew(run, law, at.average), fed.total_excess(at.average)
        return Fraction(law.mean(partial(weighted_excess, at.average))), "=", (rho or 0) * total

    start = run.snapshots[s.t - s.t % s.tau]
    return list(map(sides, list(start)[:4]))


@claim(
    "power-of-choice:equations-77-78",
    "0 <= rho_bar_q <= rho_tilde_q, both values of the skew at w' = w*",
    line("eqs. (77)-(78)"),
    hypotheses=("the objective gap is positive", _SUM_TO_ONE),
    looseness=1.01,
)
def equations_77_78(rng: np.random.Generator) -> Finding:
    (s,) = weighted_step(rng)
    if not s.Gamma:
        return not_applicable("the objective gap is 0", **s.instance)
    return at_most(s.observed.skews.rho_bar, s.observed.skews.rho_tilde, instance=s.instance)


def below_80(s: Step, drift: Fraction) -> Chain:
    """Compare M, plus the contraction of eq. (80), with the bias, the drift and the heterogeneity."""
    rho, rho_tilde = s.observed.skews.rho_bar, s.observed.skews.rho_tilde
    contraction = s.eta * s.mu * rho / 2 * s.Delta
    bias = 2 * s.eta * s.Gamma * (rho_tilde - rho)
    heterogeneity = 2 * s.x * s.eta * (2 + s.m) * rho * s.Gamma
    return s.M(2 * (1 + s.m)) + contraction, "<=", bias + drift + heterogeneity


@step(
    "power-of-choice:equations-79-80",
    line("eqs. (79)-(80)", form="corrected"),
    weighted_step_of_several,
    hypotheses=(_SUM_TO_ONE, CURVATURE, _EVERYWHERE, "m >= 2", _STEP_SIZES),
    looseness=2,
    remark="the title omits 2 L eta^2 (2 + m) rho_bar Gamma; the bound has a drift even for one local step",
)
def equations_79_80(s: Step) -> Chain:
    """M + eta mu rho_bar/2 Delta_t <= 2 eta Gamma (rho_tilde - rho_bar) + 16 m^2 (m-1) eta^2 tau^2 G2 + ..."""
    return below_80(s, s.m * s.printed_weighted_drift)


@claim(
    "power-of-choice:equation-80-single-client",
    "M against eq. (80) for m = 1 after two of ten steps of 1/100 from 0, the midpoint of two opposite clients",
    line("eqs. (79)-(80)"),
    "erratum",
    remark="all hypotheses hold; the drift of the single client has the factor m - 1 = 0",
)
def equation_80_single_client() -> Finding:
    run = opposite_run(uniform_subsets(2, 1), 10, lambda _: Fraction(1, 100), num_steps=3)
    s = Step(Drawn(run, 1, format_run(run, law="uniform", num_selected=1)), 2)
    return compared(below_80(s, s.printed_weighted_drift), s.instance)


def _weighted_slope(m: int, x: Fraction) -> Fraction:
    return 2 * (1 - (1 + m) * x) * (1 - x)


@claim(
    "power-of-choice:step-80-printed",
    "eta < 1/(2 L (1 + m)) gives 2 (1 - (1 + m) L eta)(1 - L eta) >= 1, which eq. (80) needs",
    line("eqs. (79)-(80)"),
    "erratum",
    remark="affects this step of the proof only: the step sizes of eq. (85) are half as long",
)
def step_80_printed() -> Finding:
    x = Fraction(9, 40)  # below 1/(2 (1 + m)) = 1/4
    known: dict[str, Any] = {"mu": 1, "L": 1, "local_steps": 1, "num_selected": 1, "G2": 9, "sigma2": 1}
    known |= {"objective_gap": 1, "rho_bar": 1, "rho_tilde": 1}
    poc.weighted_one_step.printed(Fraction(1), step_size=x, **known)  # the printed recursion accepts this step size
    return at_least(_weighted_slope(1, x), Fraction(1), instance={"num_selected": 1, "L eta": str(x)})


@claim(
    "power-of-choice:step-80",
    "the step sizes of eq. (85), at most 1/(4 L (1 + m)), give 2 (1 - (1 + m) L eta)(1 - L eta) >= 1",
    line("eqs. (79)-(80)", form="corrected"),
    looseness=1.5,
)
def step_80(rng: np.random.Generator) -> Finding:
    m, L, t = whole(rng, 1, 30), whole(rng, 1, 9), whole(rng, 0, 4)
    x = L * Fraction(poc.weighted_step_sizes(t + 1, mu=1.0, L=float(L), num_selected=m)[t])
    return at_least(_weighted_slope(m, x), Fraction(1), instance={"num_selected": m, "L": L, "step": t})


@step("power-of-choice:equation-81", poc.weighted_one_step.printed, weighted_step_of_several, also=("m >= 2",))
def equation_81(s: Step) -> Chain:
    """One step of E |w_hat_t - w*|^2 against eq. (81) for m >= 2 and weights of sum one"""
    known = theorem_constants(s.drawn, "rho_bar")
    return s.Delta_next, "<=", poc.weighted_one_step.printed(s.Delta, step_size=s.eta, **known)


@step(
    "power-of-choice:equation-83",
    line("eqs. (82)-(83)", form="corrected"),
    recursion,
    hypotheses=("D >= 0", "1 < beta mu B <= gamma"),
    remark="the printed condition gamma > 0 is not sufficient: see equation-66-any-gamma",
)
def equation_83(s: Recursion) -> list[Chain]:
    """Delta_t <= psi_t/(t + gamma) by induction from eq. (82), psi_t as in eq. (83)"""
    return s.below_psi()


@step("power-of-choice:equation-84", line("eq. (84)"), weighted_step, hypotheses=("F is L-smooth",))
def equation_84(s: Step) -> Chain:
    """E F(w_hat_t) - F* <= L/2 Delta_t"""
    return s.gap, "<=", s.L / 2 * s.Delta


def from_recursion(known: dict[str, Any], T: int, rho: Fraction, rho_tilde: Fraction) -> Fraction:
    """``L/2 psi/(T + gamma)`` of eqs. (83) and (84), with the sum of the two numbers in the maximum psi."""
    m, mu, L, tau, Gamma = (known[name] for name in ("num_selected", "mu", "L", "local_steps", "objective_gap"))
    beta, gamma = m / mu, 4 * m * (1 + m) * L / mu
    C = 32 * m**2 * (m - 1) * tau**2 * known["G2"] + known["sigma2"] * m + 2 * L * (2 + m) * rho * Gamma
    D, rate = 2 * Gamma * (rho_tilde - rho), beta * mu * (Fraction(1, m) + rho / 2)
    steady = (beta**2 * C + D * beta * (T + gamma)) / (rate - 1)
    return Fraction(L / 2 * (gamma * known["initial_distance2"] + steady) / (T + gamma))


@claim(
    "power-of-choice:equations-83-85",
    "L/2 psi/(T + gamma) is eq. (85) without the factor 1/rho_bar in its bias",
    poc.derived_weighted_average_gap,
    "identity",
)
def equations_83_85(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=WEIGHTED_LAWS, longest_round=2, smallest_cohort=2, step_size=weighted_steps)
    known, T = horizon_constants(drawn), whole(rng, 0, 9)
    rho, rho_tilde = Fraction(whole(rng, 1, 8), 8), Fraction(whole(rng, 8, 16), 8)
    stated, _ = poc.derived_weighted_average_gap(T, **known, rho_bar=rho, rho_tilde=rho_tilde, strict=False)
    instance = {**drawn.instance, "T": T, "rho_bar": rho}
    return equal_to(stated, from_recursion(known, T, rho, rho_tilde), instance=instance)


@claim(
    "power-of-choice:equation-85-bias",
    "The bias of eq. (85), 2 L Gamma/(rho_bar mu) (rho_tilde/rho_bar - 1), follows from eqs. (83)-(84)",
    poc.weighted_average_gap.printed,
    "erratum",
    remark="for two opposite clients, rho_bar = 1/2 and rho_tilde = 1 it is 2, and the recursion gives 1",
)
def equation_85_bias() -> Finding:
    one, half, fed = Fraction(1), Fraction(1, 2), opposite_clients()
    # Everything but the bias is proportional to 1/(T + gamma) with gamma = 24, so that two horizons determine it.
    known: dict[str, Any] = {"mu": one, "L": one, "objective_gap": fed.objective_gap, "G2": one, "sigma2": 0 * one}
    known |= {"local_steps": 1, "num_selected": 2, "initial_distance2": 0 * one}

    def bias(values: Sequence[Any]) -> Fraction:
        return Fraction(25 * values[1] - 24 * values[0])

    printed = [
        poc.weighted_average_gap.printed(T, **known, rho_bar=half, rho_tilde=one, strict=False)[0] for T in (0, 1)
    ]
    derived = [from_recursion(known, T, half, one) for T in (0, 1)]
    return equal_to(bias(printed), bias(derived), instance={**format_federation(fed), "m": 2, "rho_bar": "1/2"})


def _one_uniform_client(fed: RationalQuadratics, initial: int, local_steps: int, num_steps: int) -> Drawn:
    """Return a run of one client drawn uniformly, with the aggregation weight ``q_k = p_k K/m``."""
    run = RationalRun(
        federation=fed,
        select=constant_law(uniform_subsets(fed.num_clients, 1)),
        local_steps=local_steps,
        step_size=weighted_steps(fed, 1),
        initial=vector(initial),
        num_steps=num_steps,
        noise=no_noise(1),
        weigh=lambda chosen: Vector(fed.weights[k] * fed.num_clients for k in chosen),
    )
    return Drawn(run, 1, format_run(run, law="uniform, q_k = p_k K/m", num_selected=1))


def below_85(drawn: Drawn, bound: Bound = poc.weighted_average_gap.printed, skew_name: str = "rho_bar") -> Finding:
    """Compare expected gaps of an unbiased selection, whose skews are 1, with a form of eq. (85)."""
    known = horizon_constants(drawn) | {skew_name: Fraction(1), "rho_tilde": Fraction(1)}
    return expected_gaps(drawn, lambda T: bound(T, **known))


@claim(
    "power-of-choice:equation-85-single-client",
    "E F(w_T) - F* against eq. (85) for m = 1, equal weights and tau = T = 10: 50/289 > 1/6",
    poc.weighted_average_gap.printed,
    "erratum",
    remark="all hypotheses hold; the drift term has the factor m - 1 = 0",
)
def equation_85_single_client() -> Finding:
    return below_85(_one_uniform_client(opposite_clients(), 0, local_steps=10, num_steps=10))


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
    return below_85(_one_uniform_client(same, 1, local_steps=1, num_steps=2))


def against_weighted_average(bound: Bound, skew: str, smallest_cohort: int) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares exact expected gaps with a bound that takes one of the skews."""

    def check(rng: np.random.Generator) -> Finding:
        options: dict[str, Any] = {"smallest_cohort": smallest_cohort, "step_size": weighted_steps}
        drawn = draw_run(rng, laws=WEIGHTED_LAWS, longest_round=4, **options)
        known = horizon_constants(drawn, skew)
        if not known[skew]:
            return not_applicable(**drawn.instance)
        return expected_gaps(drawn, lambda T: bound(T, **known))

    return check


equation_85_derived = claim(
    "power-of-choice:equation-85-derived",
    "E F(w_T) - F* against the bound of the recursion (82)-(84), for m >= 2 and weights of sum one",
    poc.derived_weighted_average_gap,
    looseness=32,
    remark="no round attains the drift 32 m (m - 1) tau^2 G2 and m^2 times the variance of the closed form",
)(against_weighted_average(poc.derived_weighted_average_gap, "rho_bar", smallest_cohort=2))

equation_85 = claim(
    "power-of-choice:equation-85",
    "E F(w_T) - F* against the repaired form of eq. (85), for every m and weights of sum one",
    poc.weighted_average_gap,
    looseness=4,
    remark="the closed form has the drift 32 m (m - 1) tau^2 G2 in every step, even in the first of each round",
)(against_weighted_average(poc.weighted_average_gap, "rho_diagonal", smallest_cohort=1))


@claim(
    "power-of-choice:equation-85-single-client-repaired",
    "The repaired form of eq. (85) on the counterexample to the printed form",
    poc.weighted_average_gap,
    looseness=2048,
    remark="the closed form has a drift in every step; the only round of the instance starts at the minimizer",
)
def equation_85_single_client_repaired() -> Finding:
    drawn = _one_uniform_client(opposite_clients(), 0, local_steps=10, num_steps=10)
    return below_85(drawn, poc.weighted_average_gap, "rho_diagonal")


# Statements that are false as printed, for hunts, which draw instances from their hypotheses. The skews of these laws
# are 1 at all models, so that no minimum over models must be computed.
_UNBIASED = ("proportional", "full, weights p_k")
_ALSO = ("the selection is unbiased, so that rho_bar = rho_tilde = 1",)
_NO_DRIFT = "the drift 32 m (m - 1) tau^2 G2 of a single client is 0 for any number of local steps"


def _unbiased_run(rng: np.random.Generator) -> Drawn:
    return draw_run(rng, laws=_UNBIASED, longest_round=12, step_size=weighted_steps)


@claim(
    "power-of-choice:equation-85-as-printed",
    "E F(w_T) - F* against eq. (85) for any m and unbiased selection",
    poc.weighted_average_gap.printed,
    "erratum",
    also=_ALSO,
    remark=_NO_DRIFT,
)
def equation_85_as_printed(rng: np.random.Generator) -> Finding:
    return below_85(_unbiased_run(rng))


@claim(
    "power-of-choice:equation-81-as-printed",
    "One step of E |w_hat_t - w*|^2 against eq. (81) for any m and unbiased selection",
    poc.weighted_one_step.printed,
    "erratum",
    also=_ALSO,
    remark=_NO_DRIFT,
)
def equation_81_as_printed(rng: np.random.Generator) -> Finding:
    drawn = _unbiased_run(rng)
    sizes, known = drawn.run.step_size, theorem_constants(drawn) | {"rho_bar": Fraction(1), "rho_tilde": Fraction(1)}
    return one_step_distances(drawn, lambda start, t: poc.weighted_one_step.printed(start, step_size=sizes(t), **known))
