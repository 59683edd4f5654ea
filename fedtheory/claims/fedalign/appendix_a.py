"""FedALIGN, Appendix A: from the recursion (30) to Theorem 1 by induction, the lemmas, and false steps."""

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg
from fedtheory.claims._comparisons import Chain, compared, step
from fedtheory.claims._quadratics import Model, any_model
from fedtheory.instances.observed import active_gradient_bound, client_gradient_bound
from fedtheory.instances.run_draws import DrawnAlignment, draw_alignment
from fedtheory.instances.runs import Beginning, Snapshot, distance2, drawn_averages, elapsed, gap, two_parabolas
from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

line = partial(Statement, fa.PAPER, "Appendix A.2")
_CONSISTENCY = partial(Statement, fa.PAPER, "Section 3.2", "Consistency of our result")
_FROM_ZERO = ("the sums begin with i = 0",)
_FROZEN = "the indicators are fixed at the round's start"


class Course(NamedTuple):
    """Constants of a run (mu, L, local_steps, G2, sigma2, objective_gap) and the inclusions of its rounds.

    ``initial_distance2`` is Delta_0. For each round, ``priority_weights`` contains ``E[1/(1 + s)]`` and
    ``included_gaps`` the expected included gap.
    """

    known: dict[str, Any]
    initial_distance2: Fraction
    priority_weights: list[Fraction]
    included_gaps: list[Fraction]

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        numbers = {"initial_distance2": self.initial_distance2, "priority_weights": Vector(self.priority_weights)}
        return as_texts(self.known | numbers | {"included_gaps": Vector(self.included_gaps)})

    @property
    def gamma(self) -> Fraction:
        """``max(8 L/mu, E)``."""
        return Fraction(max(8 * self.known["L"] / self.known["mu"], self.known["local_steps"]))

    @property
    def T(self) -> int:
        """Number of local steps."""
        return len(self.priority_weights) * int(self.known["local_steps"])

    def included(self, t: int) -> dict[str, Fraction]:
        """Return the inclusions of the round of step t."""
        number = t // self.known["local_steps"]
        return {"priority_weight": self.priority_weights[number], "included_gap": self.included_gaps[number]}

    def level(self, t: int, first_step: int = 0) -> Fraction:
        """``v_t/(t + gamma)`` of (32), with sums from ``first_step``."""
        mu, delay = self.known["mu"], t + self.gamma
        B, D = (
            sum(terms, start=Fraction(0))
            for terms in zip((0, 0), *map(self._B_and_D, range(first_step, t)), strict=True)
        )
        means = 4 * B / mu**2 + 2 * D * delay / mu
        return Fraction(means / (delay - 2) + self.gamma * self.initial_distance2) / delay

    def _B_and_D(self, t: int) -> tuple[Fraction, Fraction]:
        """B_t and D_t: the parts that ``one_step`` adds for the square of the step size and for the step size."""
        eta = 1 / (4 * self.known["L"])
        terms = fa.one_step.terms(Fraction(0), step_size=eta, **self.known, **self.included(t))
        return (terms["drift"] + terms["noise"] + terms["heterogeneity"]) / eta**2, terms["bias"] / eta


def course(rng: np.random.Generator) -> list[Course]:
    """Draw constants of a possible run."""
    mu, kappa = Fraction(2) ** whole(rng, -1, 1), pick(rng, [1, 2, 32])
    distance2, Gamma, sigma2 = (Fraction(whole(rng, 0, 4), 4) for _ in range(3))
    num_rounds, local_steps = whole(rng, 1, 3), whole(rng, 1, 4)
    # Values implied by strong convexity, and larger ones.
    G2 = mu**2 * distance2 + 2 * mu * Gamma + sigma2 + whole(rng, 0, 4)
    known = {"mu": mu, "L": kappa * mu, "local_steps": local_steps, "G2": G2, "sigma2": sigma2, "objective_gap": Gamma}
    weights = [1 / (1 + Fraction(whole(rng, 0, 8), 4)) for _ in range(num_rounds)]
    return [Course(known, distance2, weights, [Fraction(whole(rng, 0, 8), 4) for _ in range(num_rounds)])]


@step("fedalign:equations-33-34", line("eqs. (32)-(34)", form="corrected"), course, hypotheses=_FROM_ZERO)
def equations_33_34(s: Course) -> list[Chain]:
    """v_0/gamma = Delta_0, and one step of (30) from v_t/(t + gamma) ends at most at v_{t+1}/(t + 1 + gamma)"""

    def one_step(t: int) -> Chain:
        eta = 2 / (s.known["mu"] * (t + s.gamma))
        return fa.one_step(s.level(t), step_size=eta, **s.known, **s.included(t)), "<=", s.level(t + 1)

    return [(s.level(0), "=", s.initial_distance2), *map(one_step, range(s.T))]


@claim(
    "fedalign:equation-34-printed",
    "Delta_{t+1} <= v_{t+1}/(t + 1 + gamma) at t = 0, with the sums of (32), which begin with i = 1",
    line("eqs. (32), (34)"),
    "erratum",
    remark="the sums contain neither B_0 nor D_0; the step is correct for t >= 1",
)
def equation_34_printed() -> Finding:
    run = two_parabolas(vector(1))
    known = {"mu": Fraction(1), "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    s = Course(known, Fraction(0), run.priority_weights, run.included_gaps)
    words = {"clients": "w^2/2 (priority), (w - 1)^2/2, of equal size", "thresholds": "1", "initial": "0 = w*"}
    return at_most(distance2(run, 1), s.level(1, first_step=1), instance=words)


@claim(
    "fedalign:equation-36",
    "E F(w_t) - F* <= L/2 E |w_t - w*|^2, and L/2 v_t/(t + gamma) is at most the right-hand side of Theorem 1",
    line("eq. (36)", form="corrected"),
    hypotheses=_FROM_ZERO,
    looseness=1.01,
)
def equation_36(rng: np.random.Generator) -> Finding:
    (s,) = course(rng)
    mu, L, tau = (s.known[name] for name in ("mu", "L", "local_steps"))
    sums: dict[str, Any] = {"gamma": s.gamma, "local_steps": tau}
    theta = fa.theta(s.priority_weights, **sums)[-1]
    rho = fa.rho(s.included_gaps, mu=mu, L=L, **sums)[-1]
    first = s.initial_distance2
    stated = fa.full_participation_gap(s.T, **s.known, initial_distance2=first, theta=theta, rho=rho)
    run, instance = draw_alignment(rng, longest_round=2)
    smooth = run.federation.smoothness / 2 * distance2(run, run.num_steps)
    return worst_of(
        [
            at_most(L / 2 * s.level(s.T), stated, instance=s.instance),
            at_most(gap(run, run.num_steps), smooth, instance=instance),
        ]
    )


@claim(
    "fedalign:equation-36-printed",
    "The right-hand side of (36), (C_1 + C_2 theta_T Gamma) + rho_T, is that of Theorem 1",
    line("eq. (36)"),
    "erratum",
    remark="the factor 1/(T + gamma) is missing",
)
def equation_36_printed() -> Finding:
    known = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    terms = fa.full_participation_gap.printed.terms(2, **known, initial_distance2=1, theta=0, rho=0)
    theorem = sum(terms.values(), start=Fraction(0))
    return equal_to(10 * theorem, theorem, instance={**known, "L": "1", "T": 2, "gamma": 8, "initial_distance2": 1})


@claim(
    "fedalign:li-et-al",
    "With thresholds 0 the right-hand side of Theorem 1 equals that of Li et al., Theorem 1",
    _CONSISTENCY(),
    "erratum",
    remark="theta_T is less than 1, the variances are not weighted by p_k^2, and gamma = E > 8 L/mu changes C_1",
)
def li_et_al() -> Finding:
    known: dict[str, Any] = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 2, "objective_gap": 1}
    # T = 8, gamma = 8: theta_T = 7/14 as printed; the term of the gap in Li et al. is 12/16.
    mine = fa.full_participation_gap.printed(8, **known, sigma2=0, initial_distance2=0, theta=Fraction(7, 14), rho=0)
    theirs = fedavg.full_participation_gap(8, **known, weighted_sigma2=0, initial_distance2=0)
    return equal_to(mine, theirs, instance={"mu = L": "1", "E": 1, "T": 8, "sigma2": 0, "Gamma": 1, "w_0": "w*"})


@step(
    "fedalign:li-et-al-corrected",
    _CONSISTENCY(form="corrected"),
    course,
    kind="identity",
    hypotheses=("sum_k p_k^2 sigma_k^2 is replaced by sigma2, its bound",),
)
def li_et_al_corrected(s: Course) -> Chain:
    """With thresholds 0, and theta_T replaced by its upper bound 1, the corrected Theorem 1 is that of Li et al.
    for variances sigma2"""
    known, first = dict(s.known), s.initial_distance2
    mine = fa.full_participation_gap(s.T, **known, initial_distance2=first, theta=1, rho=0)
    variance = known.pop("sigma2")
    theirs = fedavg.full_participation_gap(s.T, **known, weighted_sigma2=variance, initial_distance2=first)
    return mine, "=", theirs


@claim(
    "fedalign:equation-35",
    "(s - 1)/s^2 = (s^2 - 1)/(s (s + 1)) at s = t + gamma, printed as an equality",
    line("eq. (35)"),
    "erratum",
    remark="a square is missing, (s^2 - 1)/(s^2 (s + 1)); both ends of the chain are correct",
)
def equation_35() -> Finding:
    # The step sizes are 2/(mu s).
    s = 2 / Fraction(fa.decaying_step_sizes(1, mu=1.0, L=1.0, local_steps=1)[0])
    return equal_to((s - 1) / s**2, (s**2 - 1) / (s * (s + 1)), instance={"t + gamma": "8"})


@claim(
    "fedalign:equation-16",
    "w_{t+1} of eq. (16) with the indicators of step t + 1 is w_t - eta_t g_t, also at the end of a round",
    Statement(fa.PAPER, "Appendix A.1", "eqs. (16), (19)"),
    "erratum",
    remark="the aggregation at the end of a round must use the indicators of its start",
)
def equation_16() -> Finding:
    run = two_parabolas(vector(1, 0))
    (beginning,) = run.rounds[0]
    (at,) = beginning.snapshots[-1]
    words = {"clients": "w^2/2 (priority), (w - 1)^2/2", "thresholds": "1, 0", "local_steps": 1, "initial": "0"}
    # Eq. (16) at t = 1 uses the indicators of tau(1) = 1, for which the threshold 0 includes no other client.
    return equal_to(at.local[0][0], at.average[0], instance=words)


@step("fedalign:lemma-a2", fa.gradient_norm, any_model)
def lemma_a2(s: Model) -> list[Chain]:
    """|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)"""
    fed, w = s.fed, s.w
    return [
        (norm2(fed.gradient(k, w)), "<=", fa.gradient_norm(fed.excess(k, w), L=max(fed.curvatures[k])))
        for k in range(fed.num_clients)
    ]


class Step:
    """Step t of a run, with expectations over its paths."""

    def __init__(self, drawn: DrawnAlignment, t: int) -> None:
        self.run, self.t, self.instance = drawn.run, t, {**drawn.instance, "step": t}
        self.best, self.E, self.eta = drawn.run.federation.minimizer, drawn.run.local_steps, drawn.run.step_size(t)

    @property
    def drift(self) -> Fraction:
        """``E sum_k p'_k I_k |w_k - w|^2``."""
        return Fraction(self.run.snapshots[self.t].mean(lambda at: at.drift))


def steps(rng: np.random.Generator, longest_round: int = 4) -> list[Step]:
    drawn = draw_alignment(rng, longest_round=longest_round)
    return [Step(drawn, t) for t in range(drawn.run.num_steps)]


@step("fedalign:lemma-a3", fa.aggregated_distance, steps)
def lemma_a3(s: Step) -> Chain:
    """E |w_t - w*|^2 <= E sum_k p'_k I_k |w_t^k - w*|^2"""

    def bound(at: Snapshot) -> Any:
        return fa.aggregated_distance(tuple(norm2(w - s.best) for w in at.local), weights=at.coefficients)

    return distance2(s.run, s.t), "<=", s.run.snapshots[s.t].mean(bound)


@claim(
    "fedalign:lemma-a4",
    "E sum_k p'_k I_k |w_t^k - w_t|^2 <= 4 eta_t^2 (E - 1)^2 G2",
    fa.client_drift,
    looseness=4,
    remark="the factor 4 allows step sizes that halve within a round; those of the theorem decrease less",
)
def lemma_a4(rng: np.random.Generator) -> Finding:
    along = steps(rng, longest_round=6)
    G2 = active_gradient_bound(along[0].run, 0, len(along))
    return worst_of(
        compared((s.drift, "<=", fa.client_drift(s.eta, local_steps=s.E, G2=G2)), s.instance) for s in along
    )


@step(
    "fedalign:lemma-a4-refined",
    Statement(FEDTHEORY, "", related=(fa.PAPER, "Lemma A.4, eq. (26)"), form="refined"),
    lambda rng: steps(rng, longest_round=6),
    hypotheses=("E sum_k p'_k I_k |g_k|^2 <= G2", _FROZEN),
)
def lemma_a4_refined(s: Step) -> Chain:
    """E sum_k p'_k I_k |w_t^k - w_t|^2 <= (sum of the round's step sizes so far)^2 G2"""
    used, start = elapsed(s.run, s.t), s.t - s.t % s.E
    G2 = active_gradient_bound(s.run, start, s.t) if used else Fraction(0)
    return s.drift, "<=", used**2 * G2


@claim(
    "fedalign:lemma-a4-unweighted",
    "sum_k |a_k - a_bar|^2 <= sum_k |a_k|^2 for a weighted average a_bar, as quoted in the proof under (a)",
    Statement(fa.PAPER, "Lemma A.4", "eq. (26), (a)"),
    "erratum",
    remark="true with the weights of the average on both sides, which the proof needs",
)
def lemma_a4_unweighted() -> Finding:
    a, p = vector(0, 0, 0, 1), vector("1/10", "1/10", "1/10", "7/10")
    around = norm2([x - p @ a for x in a])
    return at_most(around, norm2(a), instance={"a": str(a), "weights": str(p)})


@claim(
    "fedalign:lemma-a5",
    "E |g_t - mean g_t|^2 = sigma2 sum_k p'_k^2 I_k <= sigma2 for noise of variance sigma2 at every client",
    fa.gradient_variance,
    "identity",
)
def lemma_a5(rng: np.random.Generator) -> Finding:
    # From a common start, the spread after the first step is eta times that of the aggregated gradient.
    run, instance = draw_alignment(rng, longest_round=1)
    (beginning,) = run.rounds[0]
    ends = beginning.snapshots[1].map(lambda at: at.average)
    mean = ends.mean(lambda w: w)
    measured = Fraction(ends.mean(lambda w: norm2(w - mean))) / run.step_size(0) ** 2
    stated = fa.gradient_variance(run.sigma2, squared_weights=run.squared_weights[0])
    return compared([(measured, "=", stated), (measured, "<=", fa.gradient_variance.printed(run.sigma2))], instance)


class RoundEnd:
    """The end of a round of a run in which K priority clients are drawn."""

    def __init__(self, drawn: DrawnAlignment, number: int, G2: Fraction) -> None:
        self.run, self.instance, self.G2 = drawn.run, {**drawn.instance, "round": number}, G2
        self.beginnings, self.end = drawn.run.rounds[number], (number + 1) * drawn.run.local_steps
        self.last_step = drawn.run.step_size(self.end - 1)
        self.used = elapsed(drawn.run, self.end - 1) + self.last_step

    def variance(self, at: Snapshot) -> Fraction:
        """Mean of ``|w' - w|^2`` over the draws, given the models of all clients of the round."""
        return Fraction(drawn_averages(self.run, at).mean(lambda w: norm2(w - at.average)))

    def bound(self, beginning: Beginning) -> Fraction:
        """Lemma A.8 given the round's beginning."""
        together = sum(beginning.cohort.coefficients[: len(self.run.priority)], start=Fraction(0))
        K = self.run.num_draws
        return Fraction(fa.sampling_variance(self.used, num_draws=K, priority_weight=together, G2=self.G2))


def round_ends(rng: np.random.Generator) -> list[RoundEnd]:
    drawn = draw_alignment(rng, most_draws=2, longest_round=6)
    G2 = client_gradient_bound(drawn.run)
    return [RoundEnd(drawn, number, G2) for number in range(drawn.run.num_rounds)]


@claim(
    "fedalign:lemma-a7",
    "E w'_t = w_t at the end of a round over the draws of priority clients, given the round's inclusions",
    Statement(fa.PAPER, "Lemma A.7", "eq. (56)"),
    "identity",
    hypotheses=("priority clients are drawn with replacement, client k with probability p_k", _FROZEN),
)
def lemma_a7(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2)
    beginnings = (beginning for law in run.rounds[: run.num_rounds] for beginning in law)
    ends = (at for beginning in beginnings for at in beginning.snapshots[-1])
    pairs = ((drawn_averages(run, at).mean(lambda w: w), at.average) for at in ends)
    return worst_of(
        equal_to(m, w, instance=instance) for mean, average in pairs for m, w in zip(mean, average, strict=True)
    )


@step("fedalign:lemma-a8", fa.sampling_variance, round_ends)
def lemma_a8(s: RoundEnd) -> list[Chain]:
    """E |w'_t - w_t|^2 <= (step sizes of the round)^2 G2/(K (1 + s)^2) <= 4 eta^2 E^2 G2/K"""
    known: dict[str, Any] = {"local_steps": s.run.local_steps, "num_draws": s.run.num_draws, "G2": s.G2}
    printed = fa.sampling_variance.printed(s.last_step, **known)
    return [
        (beginning.snapshots[-1].mean(s.variance), "<=", s.bound(beginning), "<=", printed)
        for beginning in s.beginnings
    ]


@step(
    "fedalign:equation-58",
    Statement(fa.PAPER, "Appendix A.4", "eq. (58)"),
    round_ends,
    hypotheses=tuple(hypothesis.text for hypothesis in fa.sampling_variance.hypotheses),
)
def equation_58(s: RoundEnd) -> list[Chain]:
    """E |w' - w*|^2 = E |w - w*|^2 + E |w' - w|^2 at the end of a round, and the last is at most that of Lemma A.8"""
    best = s.run.federation.minimizer
    before = s.beginnings.mean(lambda each: each.snapshots[-1].mean(lambda at: norm2(at.average - best)))
    variance = s.beginnings.mean(lambda each: each.snapshots[-1].mean(s.variance))
    after = distance2(s.run, s.end)
    return [(after, "=", before + variance), (after, "<=", before + s.beginnings.mean(s.bound))]
