"""FedALIGN, Appendix A: from the recursion (30) to Theorem 1 by induction, the lemmas, and false steps."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg
from fedtheory.claims._comparisons import as_texts, at_steps
from fedtheory.rational._alignment import AlignedRun, drawn_averages, two_parabolas
from fedtheory.rational._constants import active_gradient_bound, client_gradient_bound
from fedtheory.rational._rounds import Snapshot, distance2, elapsed, gap
from fedtheory.rational._run_draws import draw_alignment
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.vectors import combination, difference, norm2, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX = "Appendix A.2"
_CONSISTENCY = "Consistency of our result"


class RunCase(NamedTuple):
    """Constants of a run, and what is included in each of its rounds.

    Attributes
    ----------
    known
        mu, L, local_steps, G2, sigma2 and objective_gap.
    initial_distance2
        Delta_0.
    priority_weights, included_gaps
        ``E[1/(1 + s)]`` and the expected included gap of every round.
    """

    known: dict[str, Any]
    initial_distance2: Fraction
    priority_weights: list[Fraction]
    included_gaps: list[Fraction]

    @property
    def gamma(self) -> Fraction:
        """``max(8 L/mu, E)``."""
        return Fraction(max(8 * self.known["L"] / self.known["mu"], self.known["local_steps"]))

    @property
    def num_steps(self) -> int:
        """T."""
        return len(self.priority_weights) * int(self.known["local_steps"])

    def included(self, step: int) -> dict[str, Fraction]:
        """Return what the round of a step includes."""
        number = step // self.known["local_steps"]
        return {"priority_weight": self.priority_weights[number], "included_gap": self.included_gaps[number]}

    def level(self, step: int, first_step: int = 0) -> Fraction:
        """``v_t/(t + gamma)`` of (32), with sums from ``first_step``."""
        mu, delay = self.known["mu"], step + self.gamma
        rises = (self._rises(i) for i in range(first_step, step))
        squared, linear = (sum(terms, start=Fraction(0)) for terms in zip((0, 0), *rises, strict=True))
        means = 4 * squared / mu**2 + 2 * linear * delay / mu
        return Fraction(means / (delay - 2) + self.gamma * self.initial_distance2) / delay

    def _rises(self, step: int) -> tuple[Fraction, Fraction]:
        """B_t and D_t: what ``one_step`` adds to a distance of 0 for one step size and for its square."""
        eta = 1 / (4 * self.known["L"])
        terms = fa.one_step.terms(Fraction(0), step_size=eta, **self.known, **self.included(step))
        return (terms["drift"] + terms["noise"] + terms["heterogeneity"]) / eta**2, terms["bias"] / eta


def draw_case(rng: np.random.Generator) -> RunCase:
    """Draw constants that a run could have."""
    mu, kappa = Fraction(2) ** whole(rng, -1, 1), pick(rng, [1, 2, 32])
    distance2, objective_gap, sigma2 = (Fraction(whole(rng, 0, 4), 4) for _ in range(3))
    num_rounds = whole(rng, 1, 3)
    known = {
        "mu": mu,
        "L": kappa * mu,
        "local_steps": whole(rng, 1, 4),
        # What strong convexity asks for, and some more.
        "G2": mu**2 * distance2 + 2 * mu * objective_gap + sigma2 + whole(rng, 0, 4),
        "sigma2": sigma2,
        "objective_gap": objective_gap,
    }
    weights = [1 / (1 + Fraction(whole(rng, 0, 8), 4)) for _ in range(num_rounds)]
    return RunCase(known, distance2, weights, [Fraction(whole(rng, 0, 8), 4) for _ in range(num_rounds)])


def case_in_words(case: RunCase) -> dict[str, Any]:
    """Name the numbers of a case."""
    return {
        **as_texts(case.known),
        "initial_distance2": str(case.initial_distance2),
        "priority_weights": in_words(tuple(case.priority_weights)),
        "included_gaps": in_words(tuple(case.included_gaps)),
    }


@claim(
    "fedalign:equations-33-34",
    "v_0/gamma = Delta_0, and one step of (30) from v_t/(t + gamma) ends at most at v_{t+1}/(t + 1 + gamma)",
    Statement(fa.PAPER, _APPENDIX, "eqs. (32)-(34)", form="corrected"),
    hypotheses=("the sums begin with i = 0",),
    looseness=1.01,
)
def equations_33_34(rng: np.random.Generator) -> Finding:
    case = draw_case(rng)
    findings = [equal_to(case.level(0), case.initial_distance2, instance=case_in_words(case))]
    for step in range(case.num_steps):
        eta = 2 / (case.known["mu"] * (step + case.gamma))
        new = fa.one_step(case.level(step), step_size=eta, **case.known, **case.included(step))
        findings.append(at_most(new, case.level(step + 1), instance={**case_in_words(case), "step": step}))
    return worst_of(findings)


@claim(
    "fedalign:equation-34-printed",
    "Delta_{t+1} <= v_{t+1}/(t + 1 + gamma) at t = 0, with the sums of (32), which begin with i = 1",
    Statement(fa.PAPER, _APPENDIX, "eqs. (32), (34)"),
    "erratum",
    remark="B_0 and D_0 are in no sum; from t = 1 on the step is right",
)
def equation_34_printed() -> Finding:
    run = two_parabolas(vector(1))
    known = {"mu": Fraction(1), "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    case = RunCase(known, Fraction(0), run.priority_weights, run.included_gaps)
    words = {"clients": "w^2/2 (priority), (w - 1)^2/2, of the same size", "thresholds": "1", "initial": "0 = w*"}
    return at_most(distance2(run, 1), case.level(1, first_step=1), instance=words)


@claim(
    "fedalign:equation-36",
    "E F(w_t) - F* <= L/2 E |w_t - w*|^2, and L/2 v_t/(t + gamma) is at most the right side of Theorem 1",
    Statement(fa.PAPER, _APPENDIX, "eq. (36)", form="corrected"),
    hypotheses=("the sums begin with i = 0",),
    looseness=1.01,
)
def equation_36(rng: np.random.Generator) -> Finding:
    case = draw_case(rng)
    mu, L, steps = (case.known[name] for name in ("mu", "L", "local_steps"))
    sums: dict[str, Any] = {"gamma": case.gamma, "local_steps": steps}
    predicted = fa.full_participation_gap(
        case.num_steps,
        **case.known,
        initial_distance2=case.initial_distance2,
        theta=fa.theta(case.priority_weights, **sums)[-1],
        rho=fa.rho(case.included_gaps, mu=mu, L=L, **sums)[-1],
    )
    drawn = draw_alignment(rng, longest_round=2)
    run, last = drawn.run, drawn.run.num_steps
    smooth = run.federation.smoothness / 2 * distance2(run, last)
    return worst_of(
        [
            at_most(L / 2 * case.level(case.num_steps), predicted, instance=case_in_words(case)),
            at_most(gap(run, last), smooth, instance=drawn.instance),
        ]
    )


@claim(
    "fedalign:equation-36-printed",
    "The right side of (36), (C_1 + C_2 theta_T Gamma) + rho_T, is that of Theorem 1",
    Statement(fa.PAPER, _APPENDIX, "eq. (36)"),
    "erratum",
    remark="a factor 1/(T + gamma) is missing",
)
def equation_36_printed() -> Finding:
    known = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 1, "sigma2": 0, "objective_gap": 0}
    terms = fa.full_participation_gap.printed.terms(2, **known, initial_distance2=1, theta=0, rho=0)
    theorem = sum(terms.values(), start=Fraction(0))
    return equal_to(10 * theorem, theorem, instance={**known, "L": "1", "T": 2, "gamma": 8, "initial_distance2": 1})


@claim(
    "fedalign:li-et-al",
    "With thresholds 0 the right side of Theorem 1 is precisely that of Li et al., Theorem 1",
    Statement(fa.PAPER, "Section 3.2", _CONSISTENCY),
    "erratum",
    remark="theta_T is less than 1, the variances are not weighted by p_k^2, and gamma = E > 8 L/mu changes C_1",
)
def li_et_al() -> Finding:
    known: dict[str, Any] = {"mu": 1, "L": Fraction(1), "local_steps": 1, "G2": 2, "objective_gap": 1}
    # T = 8, gamma = 8: theta_T = 7/14 as printed, and 12/16 is what the gap costs in Li et al.
    mine = fa.full_participation_gap.printed(8, **known, sigma2=0, initial_distance2=0, theta=Fraction(7, 14), rho=0)
    theirs = fedavg.full_participation_gap(8, **known, weighted_sigma2=0, initial_distance2=0)
    return equal_to(mine, theirs, instance={"mu = L": "1", "E": 1, "T": 8, "sigma2": 0, "Gamma": 1, "w_0": "w*"})


@claim(
    "fedalign:li-et-al-corrected",
    "With thresholds 0 and theta_T = 1, which is larger, the corrected Theorem 1 is Li et al.'s for variances sigma2",
    Statement(fa.PAPER, "Section 3.2", _CONSISTENCY, form="corrected"),
    "identity",
    hypotheses=("sum_k p_k^2 sigma_k^2 is replaced by sigma2, its bound",),
)
def li_et_al_corrected(rng: np.random.Generator) -> Finding:
    case = draw_case(rng)
    known, first, horizon = dict(case.known), case.initial_distance2, case.num_steps
    mine = fa.full_participation_gap(horizon, **known, initial_distance2=first, theta=1, rho=0)
    variance = known.pop("sigma2")
    theirs = fedavg.full_participation_gap(horizon, **known, weighted_sigma2=variance, initial_distance2=first)
    return equal_to(mine, theirs, instance=case_in_words(case))


_FROZEN = "the indicators are fixed at the round's start"


@claim("fedalign:lemma-a2", "|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)", fa.gradient_norm, looseness=1.01)
def lemma_a2(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    return worst_of(
        at_most(
            norm2(fed.gradient(k, w)),
            fa.gradient_norm(fed.excess(k, w), L=max(fed.curvatures[k])),
            instance={**federation_in_words(fed), "w": in_words(w)},
        )
        for k in range(fed.num_clients)
    )


@claim("fedalign:lemma-a3", "E |w_t - w*|^2 <= E sum_k p'_k I_k |w_t^k - w*|^2", fa.aggregated_distance, looseness=1.01)
def lemma_a3(rng: np.random.Generator) -> Finding:
    drawn = draw_alignment(rng)
    run, best = drawn.run, drawn.run.federation.minimizer

    def bound(at: Snapshot) -> Fraction:
        distances = tuple(norm2(difference(w, best)) for w in at.local)
        value: Fraction = fa.aggregated_distance(distances, weights=at.coefficients)
        return value

    return at_steps(drawn, lambda step: (distance2(run, step), run.snapshots[step].mean(bound)))


@claim(
    "fedalign:lemma-a4",
    "E sum_k p'_k I_k |w_t^k - w_t|^2 <= 4 eta_t^2 (E - 1)^2 G2",
    fa.client_drift,
    looseness=4,
    remark="the factor 4 is for step sizes that halve within a round; those of the theorem fall by less",
)
def lemma_a4(rng: np.random.Generator) -> Finding:
    drawn = draw_alignment(rng, longest_round=6)
    run, G2 = drawn.run, active_gradient_bound(drawn.run, 0, drawn.run.num_steps)

    def sides(step: int) -> tuple[Fraction, Fraction]:
        bound = fa.client_drift(run.step_size(step), local_steps=run.local_steps, G2=G2)
        return run.snapshots[step].mean(lambda at: at.drift), bound

    return at_steps(drawn, sides)


@claim(
    "fedalign:lemma-a4-refined",
    "E sum_k p'_k I_k |w_t^k - w_t|^2 <= (sum of the round's step sizes so far)^2 G2",
    Statement(fa.PAPER, "Lemma A.4", "eq. (26)", form="refined"),
    hypotheses=("E sum_k p'_k I_k |g_k|^2 <= G2", _FROZEN),
    looseness=1.01,
)
def lemma_a4_refined(rng: np.random.Generator) -> Finding:
    drawn = draw_alignment(rng, longest_round=6)
    run = drawn.run

    def sides(step: int) -> tuple[Fraction, Fraction]:
        used = elapsed(run, step) ** 2
        G2 = active_gradient_bound(run, step - step % run.local_steps, step) if used else Fraction(0)
        return run.snapshots[step].mean(lambda at: at.drift), used * G2

    return at_steps(drawn, sides)


@claim(
    "fedalign:lemma-a4-unweighted",
    "sum_k |a_k - a_bar|^2 <= sum_k |a_k|^2 for a weighted average a_bar, as the proof quotes it under (a)",
    Statement(fa.PAPER, "Lemma A.4", "eq. (26), (a)"),
    "erratum",
    remark="true with the weights of the average on both sides, which is what the proof needs",
)
def lemma_a4_unweighted() -> Finding:
    a, p = vector(0, 0, 0, 1), vector("1/10", "1/10", "1/10", "7/10")
    center = sum(q * x for q, x in zip(p, a, strict=True))
    return at_most(
        sum(((x - center) ** 2 for x in a), start=Fraction(0)),
        norm2(a),
        instance={"a": in_words(a), "weights": in_words(p)},
    )


@claim(
    "fedalign:lemma-a5",
    "E |g_t - mean g_t|^2 = sigma2 sum_k p'_k^2 I_k <= sigma2 for noise of variance sigma2 at every client",
    fa.gradient_variance,
    "identity",
)
def lemma_a5(rng: np.random.Generator) -> Finding:
    # From a common start the first step's spread is eta times that of the aggregated gradient.
    run, instance = draw_alignment(rng, longest_round=1)
    eta, findings = run.step_size(0), []
    (beginning,) = run.rounds[0]
    ends = beginning.snapshots[1]
    mean = combination(list(ends.values()), [at.average for at in ends])
    measured = Fraction(ends.mean(lambda at: norm2(difference(at.average, mean)))) / eta**2
    squares = run.squared_weights[0]
    findings.append(equal_to(measured, fa.gradient_variance(run.sigma2, squared_weights=squares), instance=instance))
    findings.append(at_most(measured, fa.gradient_variance.printed(run.sigma2), instance=instance))
    return worst_of(findings)


@claim(
    "fedalign:lemma-a7",
    "E w'_t = w_t at the end of a round over the draws of priority clients, given the round's inclusions",
    Statement(fa.PAPER, "Lemma A.7", "eq. (56)"),
    "identity",
    hypotheses=("priority clients are drawn with replacement, client k with probability p_k", _FROZEN),
)
def lemma_a7(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2)
    findings = []
    for number, beginnings in enumerate(run.rounds[: run.num_rounds]):
        for at in (at for beginning in beginnings for at in beginning.snapshots[-1]):
            law = drawn_averages(run, at)
            mean = combination(list(law.values()), list(law))
            pairs = zip(mean, at.average, strict=True)
            findings += [equal_to(m, w, instance={**instance, "round": number}) for m, w in pairs]
    return worst_of(findings)


def drawn_variance(run: AlignedRun, at: Snapshot) -> Fraction:
    """Mean of ``|w' - w|^2`` over the draws, given the models of all clients of the round."""
    return Fraction(drawn_averages(run, at).mean(lambda w: norm2(difference(w, at.average))))


@claim(
    "fedalign:lemma-a8",
    "E |w'_t - w_t|^2 <= (step sizes of the round)^2 G2/(K (1 + s)^2) <= 4 eta^2 E^2 G2/K",
    fa.sampling_variance,
    looseness=1.01,
)
def lemma_a8(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2, longest_round=6)
    G2, findings = client_gradient_bound(run), []
    for number, beginnings in enumerate(run.rounds[: run.num_rounds]):
        last = (number + 1) * run.local_steps - 1
        for beginning in beginnings:
            together = sum(beginning.cohort.coefficients[: len(run.priority)], start=Fraction(0))
            used = elapsed(run, last) + run.step_size(last)
            measured = beginning.snapshots[-1].mean(lambda at: drawn_variance(run, at))
            refined = fa.sampling_variance(used, num_draws=run.num_draws, priority_weight=together, G2=G2)
            known: dict[str, int | Fraction] = {"local_steps": run.local_steps, "num_draws": run.num_draws, "G2": G2}
            printed = fa.sampling_variance.printed(run.step_size(last), **known)
            where = {**instance, "round": number}
            findings += [at_most(measured, refined, instance=where), at_most(refined, printed, instance=where)]
    return worst_of(findings)


@claim(
    "fedalign:equation-58",
    "E |w' - w*|^2 = E |w - w*|^2 + E |w' - w|^2 at the end of a round, and the last is at most that of Lemma A.8",
    Statement(fa.PAPER, "Appendix A.4", "eq. (58)"),
    hypotheses=tuple(hypothesis.text for hypothesis in fa.sampling_variance.hypotheses),
    looseness=1.01,
)
def equation_58(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2, longest_round=6)
    G2, best, findings = client_gradient_bound(run), run.federation.minimizer, []
    for number, beginnings in enumerate(run.rounds[: run.num_rounds]):
        end = (number + 1) * run.local_steps
        used, apart, allowed = elapsed(run, end - 1) + run.step_size(end - 1), Fraction(0), Fraction(0)
        for beginning, chance in beginnings.items():
            together = sum(beginning.cohort.coefficients[: len(run.priority)], start=Fraction(0))
            bound = fa.sampling_variance(used, num_draws=run.num_draws, priority_weight=together, G2=G2)
            before = beginning.snapshots[-1].mean(lambda at: norm2(difference(at.average, best)))
            apart += chance * (before + beginning.snapshots[-1].mean(lambda at: drawn_variance(run, at)))
            allowed += chance * (before + bound)
        where = {**instance, "round": number}
        measured = distance2(run, end)
        findings += [equal_to(measured, apart, instance=where), at_most(measured, allowed, instance=where)]
    return worst_of(findings)


@claim(
    "fedalign:equation-35",
    "(s - 1)/s^2 = (s^2 - 1)/(s (s + 1)) at s = t + gamma, printed with the sign of equality",
    Statement(fa.PAPER, "Appendix A.2", "eq. (35)"),
    "erratum",
    remark="a square is missing, (s^2 - 1)/(s^2 (s + 1)); both ends of the chain are true",
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
    remark="the round's aggregation must use the indicators that were fixed at its start",
)
def equation_16() -> Finding:
    run = two_parabolas(vector(1, 0))
    (beginning,) = run.rounds[0]
    (at,) = beginning.snapshots[-1]
    # Eq. (16) at t = 1 takes the indicators of tau(1) = 1, where the threshold 0 includes nobody.
    new = at.local[0]
    return equal_to(
        new[0],
        at.average[0],
        instance={"clients": "w^2/2 (priority), (w - 1)^2/2", "thresholds": "1, 0", "local_steps": 1, "initial": "0"},
    )
