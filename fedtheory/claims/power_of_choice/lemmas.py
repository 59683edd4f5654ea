"""Power-of-Choice, Appendices B and C: the lemmas and the steps of the proof before it conditions on the selection."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import ascending, at_steps
from fedtheory.rational._averaging import RationalRun
from fedtheory.rational._constants import observed_gradient_bound
from fedtheory.rational._rounds import Snapshot, distance2, elapsed
from fedtheory.rational._run_draws import Drawn, draw_run
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import opposite_clients
from fedtheory.rational.vectors import combination, difference, norm2, vector
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_NOISE = "noise of mean zero and variance at most sigma2, independent across active copies and of the selection"


@claim("power-of-choice:lemma-b1", "|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)", poc.gradient_norm, looseness=1.01)
def lemma_b1(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "w": in_words(w)}
    return worst_of(
        at_most(
            norm2(fed.gradient(k, w)), poc.gradient_norm(fed.excess(k, w), L=max(fed.curvatures[k])), instance=instance
        )
        for k in range(fed.num_clients)
    )


@claim(
    "power-of-choice:lemma-b2",
    "E 1/m sum_k |w_bar_t - w_k_t|^2 <= 16 eta_t^2 tau^2 G2 for eta_t = 1/(mu (t + 4 L/mu)) and every tau",
    poc.client_drift.printed,
    hypotheses=(_CURVATURE, _NOISE, "E |g_k|^2 <= G2 at the active copies, and at round starts for every client"),
    looseness=32,
    remark="16 tau^2 where 4 (tau - 1)^2 is true, and those 4 are for step sizes that halve: see the refined form",
)
def lemma_b2(rng: np.random.Generator) -> Finding:
    # Rounds much longer than gamma + 1 = 5 are included: there step sizes more than halve within the first round.
    return _drifts(draw_run(rng, longest_round=24), poc.client_drift.printed)


def _drifts(drawn: Drawn, bound: Bound) -> Finding:
    run, G2 = drawn.run, observed_gradient_bound(drawn.run)

    def sides(step: int) -> tuple[Fraction, Any]:
        drift = run.snapshots[step].mean(lambda at: at.drift)
        return drift, bound(run.step_size(step), local_steps=run.local_steps, G2=G2)

    return at_steps(drawn, sides, range(len(run.snapshots)))


@claim(
    "power-of-choice:lemma-b2-refined",
    "E 1/m sum_k |w_bar_t - w_k_t|^2 <= 4 eta_t^2 (tau - 1)^2 G2 if tau <= 4 L/mu + 1",
    poc.client_drift,
    looseness=4,
    remark="the factor 4 is for step sizes that halve within a round; those of the theorem fall by less",
)
def lemma_b2_refined(rng: np.random.Generator) -> Finding:
    return _drifts(draw_run(rng, longest_round=5), poc.client_drift)


@claim(
    "power-of-choice:displacement",
    "E 1/m sum_k |w_k_t - w_round_start|^2 <= (sum of the round's step sizes so far)^2 G2",
    Statement(poc.PAPER, "Lemma B.2", "eqs. (16)-(18)", form="corrected"),
    hypotheses=("E 1/m sum_k |g_k|^2 <= G2 over the active copies",),
    looseness=1.01,
)
def displacement(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, longest_round=6)
    run, G2 = drawn.run, observed_gradient_bound(drawn.run)

    def sides(step: int) -> tuple[Fraction, Fraction]:
        return run.snapshots[step].mean(lambda at: at.displacement), elapsed(run, step) ** 2 * G2

    return at_steps(drawn, sides, range(len(run.snapshots)))


@claim(
    "power-of-choice:lemma-b3",
    "E |w_bar_t - w*|^2 <= 1/m E sum_k |w_k_t - w*|^2",
    poc.averaged_distance,
    looseness=1.01,
)
def lemma_b3(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng)
    best = run.federation.minimizer
    return worst_of(
        at_most(
            distance2(run, step),
            snapshots.mean(lambda at: poc.averaged_distance([norm2(difference(w, best)) for w in at.local])),
            instance={**instance, "step": step},
        )
        for step, snapshots in enumerate(run.snapshots)
    )


@claim(
    "power-of-choice:equations-38-39",
    "|1/m sum_k grad F_k(w_k)|^2 <= 1/m sum_k |grad F_k(w_k)|^2 <= 2 L/m sum_k (F_k(w_k) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (38)-(39)", form="corrected"),
    hypotheses=("every F_k is L-smooth",),
    looseness=1.01,
)
def equations_38_39(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    models = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    instance = {**federation_in_words(fed), "models": "; ".join(map(in_words, models))}
    share = Fraction(1, fed.num_clients)
    gradients = [fed.gradient(k, w) for k, w in enumerate(models)]
    of_mean = norm2(combination([share] * fed.num_clients, gradients))
    mean_square = share * sum(map(norm2, gradients))
    excess = share * sum(fed.excess(k, w) for k, w in enumerate(models))
    return ascending([of_mean, mean_square, poc.gradient_norm(excess, L=fed.smoothness)], instance)


@claim(
    "power-of-choice:equation-38-printed",
    "|1/m sum_k grad F_k(w_k)|^2 = 1/m sum_k |grad F_k(w_k)|^2, printed with the sign of equality",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (38)"),
    "erratum",
)
def equation_38_printed() -> Finding:
    fed, origin = opposite_clients(), vector(0)
    gradients = [fed.gradient(k, origin) for k in range(2)]
    half = Fraction(1, 2)
    return equal_to(
        norm2(combination([half, half], gradients)),
        half * sum(map(norm2, gradients)),
        instance={**federation_in_words(fed), "models": "both clients at 0"},
    )


def _distances(run: RationalRun, step: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Average the squared distance from w*, that of the local models, and their losses above F_k* and F_k(w*)."""
    fed, best = run.federation, run.federation.minimizer

    def excess(at: Snapshot, reference: int) -> Fraction:
        levels = [fed.excess(k, w) - reference * fed.excess(k, best) for k, w in zip(at.chosen, at.local, strict=True)]
        return sum(levels, start=Fraction(0)) / len(levels)

    snapshots = run.snapshots[step]
    return (
        distance2(run, step),
        snapshots.mean(lambda at: at.spread(best)),
        snapshots.mean(lambda at: excess(at, 0)),
        snapshots.mean(lambda at: excess(at, 1)),
    )


def _recursion(rng: np.random.Generator, contracting: int) -> Finding:
    run, num_selected, instance = draw_run(rng)
    fed = run.federation
    findings = []
    for step in range(run.num_steps):
        eta, distances = run.step_size(step), _distances(run, step)
        bound = (
            distances[0]
            - eta * fed.strong_convexity * distances[contracting]
            + run.snapshots[step].mean(lambda at: at.drift)
            + eta**2 * run.sigma2 / num_selected
            + 4 * fed.smoothness * eta**2 * distances[2]
            - 2 * eta * distances[3]
        )
        findings.append(at_most(distance2(run, step + 1), bound, instance={**instance, "step": step}))
    return worst_of(findings)


equation_43 = claim(
    "power-of-choice:equation-43",
    "One step of E |w_bar_t - w*|^2 in terms of the local models, with the drift itself for 16 eta^2 tau^2 G2",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (43)", form="refined"),
    hypotheses=(_CURVATURE, _NOISE),
    looseness=1.01,
    remark="the printed form follows by Lemma B.2",
)(lambda rng: _recursion(rng, contracting=1))

equation_44 = claim(
    "power-of-choice:equation-44",
    "One step of E |w_bar_t - w*|^2 with contraction 1 - eta mu, with the drift itself for 16 eta^2 tau^2 G2",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (44)", form="refined"),
    hypotheses=(_CURVATURE, _NOISE),
    looseness=1.01,
    remark="the printed form follows by Lemma B.2",
)(lambda rng: _recursion(rng, contracting=0))


@claim(
    "power-of-choice:equations-47-50",
    "The losses at the local models against those at any one model, the average or the round's start",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (47)-(50)"),
    hypotheses=(_CURVATURE, "eta <= 1/(4 L)"),
    looseness=1.01,
)
def equations_47_50(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    models = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    center = draw_model(rng, fed.dim)
    eta = Fraction(whole(rng, 1, 8), 32) / fed.smoothness
    nu = 2 * eta * (1 - 2 * fed.smoothness * eta)
    share = Fraction(1, fed.num_clients)
    at_center = share * sum(fed.excess(k, center) for k in range(fed.num_clients))
    at_models = share * sum(fed.excess(k, w) for k, w in enumerate(models))
    spread = share * sum(norm2(difference(w, center)) for w in models)
    return at_most(
        nu * (1 - eta * fed.smoothness) * at_center,
        nu * at_models + nu * (1 - fed.strong_convexity * eta) / (2 * eta) * spread,
        instance={**federation_in_words(fed), "models": "; ".join(map(in_words, models)), "center": in_words(center)},
    )
