"""FedALIGN, Appendix A: the lemmas, and the steps of the appendix that are false as printed."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.rational._alignment import AlignedRun, drawn_averages, two_parabolas
from fedtheory.rational._alignment_draws import draw_alignment
from fedtheory.rational._constants import active_gradient_bound, client_gradient_bound
from fedtheory.rational._rounds import Snapshot, distance2, elapsed
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model
from fedtheory.rational.vectors import combination, difference, norm2, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

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
    run, instance = draw_alignment(rng)
    best = run.federation.minimizer

    def bound(at: Snapshot) -> Fraction:
        distances = tuple(norm2(difference(w, best)) for w in at.local)
        return fa.aggregated_distance(distances, weights=at.coefficients)

    return worst_of(
        at_most(distance2(run, step), run.snapshots[step].mean(bound), instance={**instance, "step": step})
        for step in range(run.num_steps)
    )


@claim(
    "fedalign:lemma-a4",
    "E sum_k p'_k I_k |w_t^k - w_t|^2 <= 4 eta_t^2 (E - 1)^2 G2",
    fa.client_drift,
    looseness=4,
    remark="the factor 4 is for step sizes that halve within a round; those of the theorem fall by less",
)
def lemma_a4(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, longest_round=6)
    G2 = active_gradient_bound(run, 0, run.num_steps)
    return worst_of(
        at_most(
            run.snapshots[step].mean(lambda at: at.drift),
            fa.client_drift(run.step_size(step), local_steps=run.local_steps, G2=G2),
            instance={**instance, "step": step},
        )
        for step in range(run.num_steps)
    )


@claim(
    "fedalign:lemma-a4-refined",
    "E sum_k p'_k I_k |w_t^k - w_t|^2 <= (sum of the round's step sizes so far)^2 G2",
    Statement(fa.PAPER, "Lemma A.4", "eq. (26)", form="refined"),
    hypotheses=("E sum_k p'_k I_k |g_k|^2 <= G2", _FROZEN),
    looseness=1.01,
)
def lemma_a4_refined(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, longest_round=6)
    findings = []
    for step in range(run.num_steps):
        used = elapsed(run, step) ** 2
        G2 = active_gradient_bound(run, step - step % run.local_steps, step) if used else Fraction(0)
        findings.append(
            at_most(run.snapshots[step].mean(lambda at: at.drift), used * G2, instance={**instance, "step": step})
        )
    return worst_of(findings)


@claim(
    "fedalign:lemma-a4-unweighted",
    "sum_k |a_k - a_bar|^2 <= sum_k |a_k|^2 for a weighted average a_bar, as the proof quotes it under (a)",
    Statement(fa.PAPER, "Lemma A.4", "eq. (26), (a)"),
    "erratum",
    instances=(1, 1),
    remark="true with the weights of the average on both sides, which is what the proof needs",
)
def lemma_a4_unweighted(_: np.random.Generator) -> Finding:
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
            together = sum(beginning.team.coefficients[: len(run.priority)], start=Fraction(0))
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
            together = sum(beginning.team.coefficients[: len(run.priority)], start=Fraction(0))
            bound = fa.sampling_variance(used, num_draws=run.num_draws, priority_weight=together, G2=G2)
            standing = beginning.snapshots[-1].mean(lambda at: norm2(difference(at.average, best)))
            apart += chance * (standing + beginning.snapshots[-1].mean(lambda at: drawn_variance(run, at)))
            allowed += chance * (standing + bound)
        where = {**instance, "round": number}
        measured = distance2(run, end)
        findings += [equal_to(measured, apart, instance=where), at_most(measured, allowed, instance=where)]
    return worst_of(findings)


@claim(
    "fedalign:equation-35",
    "(s - 1)/s^2 = (s^2 - 1)/(s (s + 1)) at s = t + gamma, printed with the sign of equality",
    Statement(fa.PAPER, "Appendix A.2", "eq. (35)"),
    "erratum",
    instances=(1, 1),
    remark="a square is missing, (s^2 - 1)/(s^2 (s + 1)); both ends of the chain are true",
)
def equation_35(_: np.random.Generator) -> Finding:
    # The step sizes are 2/(mu s).
    s = 2 / Fraction(fa.decaying_step_sizes(1, mu=1.0, L=1.0, local_steps=1)[0])
    return equal_to((s - 1) / s**2, (s**2 - 1) / (s * (s + 1)), instance={"t + gamma": "8"})


@claim(
    "fedalign:equation-16",
    "w_{t+1} of eq. (16) with the indicators of step t + 1 is w_t - eta_t g_t, also at the end of a round",
    Statement(fa.PAPER, "Appendix A.1", "eqs. (16), (19)"),
    "erratum",
    instances=(1, 1),
    remark="the round's aggregation must use the indicators that were fixed at its start",
)
def equation_16(_: np.random.Generator) -> Finding:
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
