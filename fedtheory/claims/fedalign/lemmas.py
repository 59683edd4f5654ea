"""FedALIGN, Appendix A: the lemmas, and the steps of the appendix that are false as printed."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims._aligned_runs import AlignedRun, drawn_averages
from fedtheory.claims._alignment_instances import align, draw_alignment
from fedtheory.claims._instances import draw_federation, draw_model, federation_in_words, in_words
from fedtheory.paper import Statement
from fedtheory.verification.claim import FAILS, Claim, Finding, at_most, equal_to, worst_of
from fedtheory.verification.rational import Vector, combination, difference, norm2, vector
from fedtheory.verification.runs import Snapshot, expected, no_noise

_FROZEN = "the indicators are fixed at the round's start"


def _gradient_norm(rng: np.random.Generator) -> Finding:
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


LEMMA_A2 = Claim(
    key="fedalign:lemma-a2",
    title="|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)",
    statement=fa.gradient_norm.statement,
    kind="inequality",
    check=_gradient_norm,
    bound=fa.gradient_norm,
)


def _aggregated_distance(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng)
    best = run.federation.minimizer

    def bound(at: Snapshot) -> Fraction:
        distances = tuple(norm2(difference(w, best)) for w in at.local)
        return fa.aggregated_distance(distances, weights=at.coefficients)

    return worst_of(
        at_most(run.distance2(step), expected(run.standing(step), bound), instance={**instance, "step": step})
        for step in range(run.num_steps)
    )


LEMMA_A3 = Claim(
    key="fedalign:lemma-a3",
    title="E |w_t - w*|^2 <= E sum_k p'_k I_k |w_t^k - w*|^2",
    statement=fa.aggregated_distance.statement,
    kind="inequality",
    check=_aggregated_distance,
    bound=fa.aggregated_distance,
)


def drift(at: Snapshot) -> Fraction:
    """Weighted mean of the squared distances of the clients' models from their average."""
    terms = zip(at.coefficients, at.local, strict=True)
    return sum((q * norm2(difference(w, at.average)) for q, w in terms), start=Fraction(0))


def _client_drift(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, longest_round=6)
    G2 = run.mean_gradient_bound()
    return worst_of(
        at_most(
            expected(run.standing(step), drift),
            fa.client_drift(run.step_size(step), local_steps=run.local_steps, G2=G2),
            instance={**instance, "step": step},
        )
        for step in range(run.num_steps)
    )


LEMMA_A4 = Claim(
    key="fedalign:lemma-a4",
    title="E sum_k p'_k I_k |w_t^k - w_t|^2 <= 4 eta_t^2 (E - 1)^2 G2",
    statement=fa.client_drift.statement,
    kind="inequality",
    check=_client_drift,
    bound=fa.client_drift,
)


def _displacement(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, longest_round=6)
    findings = []
    for step in range(run.num_steps):
        used = run.elapsed(step) ** 2
        G2 = run.mean_gradient_bound(step - step % run.local_steps, step) if used else Fraction(0)
        findings.append(at_most(expected(run.standing(step), drift), used * G2, instance={**instance, "step": step}))
    return worst_of(findings)


LEMMA_A4_REFINED = Claim(
    key="fedalign:lemma-a4-refined",
    title="E sum_k p'_k I_k |w_t^k - w_t|^2 <= (sum of the round's step sizes so far)^2 G2",
    statement=Statement(fa.PAPER, "Lemma A.4", "eq. (26)", form="refined"),
    kind="inequality",
    check=_displacement,
    hypotheses=("E sum_k p'_k I_k |g_k|^2 <= G2", _FROZEN),
)


def _unweighted_spread(_: np.random.Generator) -> Finding:
    a, p = vector(0, 0, 0, 1), vector("1/10", "1/10", "1/10", "7/10")
    center = sum(q * x for q, x in zip(p, a, strict=True))
    return at_most(
        sum(((x - center) ** 2 for x in a), start=Fraction(0)),
        norm2(a),
        instance={"a": in_words(a), "weights": in_words(p)},
    )


LEMMA_A4_UNWEIGHTED = Claim(
    key="fedalign:lemma-a4-unweighted",
    title="sum_k |a_k - a_bar|^2 <= sum_k |a_k|^2 for a weighted average a_bar, as the proof quotes it under (a)",
    statement=Statement(fa.PAPER, "Lemma A.4", "eq. (26), (a)"),
    kind="erratum",
    check=_unweighted_spread,
    expected=FAILS,
    instances=(1, 1),
    remark="true with the weights of the average on both sides, which is what the proof needs",
)


def _gradient_variance(rng: np.random.Generator) -> Finding:
    # From a common start the first step's spread is eta times that of the aggregated gradient.
    run, instance = draw_alignment(rng, longest_round=1)
    eta, findings = run.step_size(0), []
    beginning = run.rounds[0][0]
    ends = beginning.run.snapshots[1]
    mean = combination([at.probability for at in ends], [at.average for at in ends])
    measured = Fraction(expected(ends, lambda at: norm2(difference(at.average, mean)))) / eta**2
    squares = run.squared_weights(0)
    findings.append(equal_to(measured, fa.gradient_variance(run.sigma2, squared_weights=squares), instance=instance))
    findings.append(at_most(measured, fa.gradient_variance.printed(run.sigma2), instance=instance))
    return worst_of(findings)


LEMMA_A5 = Claim(
    key="fedalign:lemma-a5",
    title="E |g_t - mean g_t|^2 = sigma2 sum_k p'_k^2 I_k <= sigma2 for noise of variance sigma2 at every client",
    statement=fa.gradient_variance.statement,
    kind="identity",
    check=_gradient_variance,
    bound=fa.gradient_variance,
)


def _unbiased_draws(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2)
    findings = []
    for number, beginnings in enumerate(run.rounds):
        for at in (at for beginning in beginnings for at in beginning.run.snapshots[-1]):
            law = drawn_averages(run, at)
            mean = combination([chance for chance, _ in law], [w for _, w in law])
            pairs = zip(mean, at.average, strict=True)
            findings += [equal_to(m, w, instance={**instance, "round": number}) for m, w in pairs]
    return worst_of(findings)


LEMMA_A7 = Claim(
    key="fedalign:lemma-a7",
    title="E w'_t = w_t at the end of a round over the draws of priority clients, given the round's inclusions",
    statement=Statement(fa.PAPER, "Lemma A.7"),
    kind="identity",
    check=_unbiased_draws,
    hypotheses=("priority clients are drawn with replacement, client k with probability p_k", _FROZEN),
)


def drawn_variance(run: AlignedRun, at: Snapshot) -> Fraction:
    """Mean of ``|w' - w|^2`` over the draws, given the models of all clients of the round."""
    law = drawn_averages(run, at)
    return sum((chance * norm2(difference(w, at.average)) for chance, w in law), start=Fraction(0))


def _sampling_variance(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, most_draws=2, longest_round=6)
    G2, findings = run.gradient_bound(), []
    for number, beginnings in enumerate(run.rounds):
        last = (number + 1) * run.local_steps - 1
        for beginning in beginnings:
            chosen = (*run.priority, *beginning.included)
            together = sum(run.weights(chosen)[: len(run.priority)], start=Fraction(0))
            used = run.elapsed(last) + run.step_size(last)
            measured = expected(beginning.run.snapshots[-1], lambda at: drawn_variance(run, at))
            refined = fa.sampling_variance(used, num_draws=run.num_draws, priority_weight=together, G2=G2)
            known: dict[str, int | Fraction] = {"local_steps": run.local_steps, "num_draws": run.num_draws, "G2": G2}
            printed = fa.sampling_variance.printed(run.step_size(last), **known)
            where = {**instance, "round": number}
            findings += [at_most(measured, refined, instance=where), at_most(refined, printed, instance=where)]
    return worst_of(findings)


LEMMA_A8 = Claim(
    key="fedalign:lemma-a8",
    title="E |w'_t - w_t|^2 <= (step sizes of the round)^2 G2/(K (1 + s)^2) <= 4 eta^2 E^2 G2/K",
    statement=fa.sampling_variance.statement,
    kind="inequality",
    check=_sampling_variance,
    bound=fa.sampling_variance,
)


def _chain_of_35(_: np.random.Generator) -> Finding:
    s = Fraction(8)
    return equal_to((s - 1) / s**2, (s**2 - 1) / (s * (s + 1)), instance={"t + gamma": "8"})


EQUATION_35 = Claim(
    key="fedalign:equation-35",
    title="(s - 1)/s^2 = (s^2 - 1)/(s (s + 1)) at s = t + gamma, printed with the sign of equality",
    statement=Statement(fa.PAPER, "Appendix A.2", "eq. (35)"),
    kind="erratum",
    check=_chain_of_35,
    expected=FAILS,
    instances=(1, 1),
    remark="a square is missing, (s^2 - 1)/(s^2 (s + 1)); both ends of the chain are true",
)


def two_parabolas(thresholds: Vector, local_steps: int = 1, num_draws: int = 0) -> AlignedRun:
    """Priority client w^2/2, another client (w - 1)^2/2 of the same size, started at w* = 0, gamma = 8 steps."""
    one = vector(1)
    fed = align((one, one), (vector(0), one), vector(1, 1), 1, vector(0, 0))
    return AlignedRun(
        federation=fed,
        shares=vector(1, 1),
        thresholds=thresholds,
        local_steps=local_steps,
        step_size=lambda step: Fraction(2, step + 8),
        initial=vector(0),
        noise=no_noise(1),
        num_draws=num_draws,
    )


def _moving_indicators(_: np.random.Generator) -> Finding:
    run = two_parabolas(vector(1, 0))
    (at,) = run.rounds[0][0].run.snapshots[-1]
    # Eq. (16) at t = 1 takes the indicators of tau(1) = 1, where the threshold 0 includes nobody.
    new = at.local[0]
    return equal_to(
        new[0],
        at.average[0],
        instance={"clients": "w^2/2 (priority), (w - 1)^2/2", "thresholds": "1, 0", "local_steps": 1, "initial": "0"},
    )


EQUATION_16 = Claim(
    key="fedalign:equation-16",
    title="w_{t+1} of eq. (16) with the indicators of step t + 1 is w_t - eta_t g_t, also at the end of a round",
    statement=Statement(fa.PAPER, "Appendix A.1", "eqs. (16), (19)"),
    kind="erratum",
    check=_moving_indicators,
    expected=FAILS,
    instances=(1, 1),
    remark="the round's aggregation must use the indicators that were fixed at its start",
)
