"""Power-of-Choice, Appendices B and C: the lemmas and the steps of the proof before it conditions on the selection."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._instances import (
    draw_federation,
    draw_model,
    draw_run,
    federation_in_words,
    in_words,
    opposite_clients,
    whole,
)
from fedtheory.paper import Statement
from fedtheory.verification.claim import FAILS, Claim, Finding, at_most, equal_to, worst_of
from fedtheory.verification.observed_constants import observed_gradient_bound
from fedtheory.verification.rational import Vector, combination, difference, norm2, vector
from fedtheory.verification.runs import RationalRun, Snapshot, expected

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_NOISE = "noise of mean zero and variance at most sigma2, independent across active copies and of the selection"


def _gradient_norm(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "w": in_words(w)}
    return worst_of(
        at_most(
            norm2(fed.gradient(k, w)), poc.gradient_norm(fed.excess(k, w), L=max(fed.curvatures[k])), instance=instance
        )
        for k in range(fed.num_clients)
    )


LEMMA_B1 = Claim(
    key="power-of-choice:lemma-b1",
    title="|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)",
    statement=poc.gradient_norm.statement,
    kind="inequality",
    check=_gradient_norm,
    bound=poc.gradient_norm,
)


def drift(at: Snapshot) -> Fraction:
    """Mean squared distance of the active copies' models from their average."""
    return _mean_square(at.local, at.average)


def displacement(at: Snapshot) -> Fraction:
    """Mean squared distance of the active copies' models from the round's starting model."""
    return _mean_square(at.local, at.anchor)


def _mean_square(models: tuple[Vector, ...], center: Vector) -> Fraction:
    return sum((norm2(difference(w, center)) for w in models), start=Fraction(0)) / len(models)


def elapsed(run: RationalRun, step: int) -> Fraction:
    """Sum of the step sizes used in the round before a step."""
    return sum((run.step_size(i) for i in range(run.round_start(step), step)), start=Fraction(0))


def _printed_drift(rng: np.random.Generator) -> Finding:
    # Rounds much longer than gamma + 1 = 5 are included: there step sizes more than halve within the first round.
    run, _, instance = draw_run(rng, longest_round=24)
    G2 = observed_gradient_bound(run)
    return worst_of(
        at_most(
            expected(snapshots, drift),
            poc.client_drift.printed(run.step_size(step), local_steps=run.local_steps, G2=G2),
            instance={**instance, "step": step},
        )
        for step, snapshots in enumerate(run.snapshots)
    )


LEMMA_B2 = Claim(
    key="power-of-choice:lemma-b2",
    title="E 1/m sum_k |w_bar_t - w_k_t|^2 <= 16 eta_t^2 tau^2 G2 for eta_t = 1/(mu (t + 4 L/mu)) and every tau",
    statement=poc.client_drift.printed.statement,
    kind="inequality",
    check=_printed_drift,
    hypotheses=(_CURVATURE, _NOISE, "E |g_k|^2 <= G2 at the active copies, and at round starts for every client"),
    bound=poc.client_drift.printed,
)


def _refined_drift(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng, longest_round=5)
    G2 = observed_gradient_bound(run)
    return worst_of(
        at_most(
            expected(snapshots, drift),
            poc.client_drift(run.step_size(step), local_steps=run.local_steps, G2=G2),
            instance={**instance, "step": step},
        )
        for step, snapshots in enumerate(run.snapshots)
    )


LEMMA_B2_REFINED = Claim(
    key="power-of-choice:lemma-b2-refined",
    title="E 1/m sum_k |w_bar_t - w_k_t|^2 <= 4 eta_t^2 (tau - 1)^2 G2 if tau <= 4 L/mu + 1",
    statement=poc.client_drift.statement,
    kind="inequality",
    check=_refined_drift,
    bound=poc.client_drift,
)


def _displacement(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng, longest_round=6)
    G2 = observed_gradient_bound(run)
    return worst_of(
        at_most(expected(snapshots, displacement), elapsed(run, step) ** 2 * G2, instance={**instance, "step": step})
        for step, snapshots in enumerate(run.snapshots)
    )


DISPLACEMENT = Claim(
    key="power-of-choice:displacement",
    title="E 1/m sum_k |w_k_t - w_round_start|^2 <= (sum of the round's step sizes so far)^2 G2",
    statement=Statement(poc.PAPER, "Lemma B.2", "eqs. (16)-(18)", form="corrected"),
    kind="inequality",
    check=_displacement,
    hypotheses=("E 1/m sum_k |g_k|^2 <= G2 over the active copies",),
)


def _averaged_distance(rng: np.random.Generator) -> Finding:
    run, _, instance = draw_run(rng)
    best = run.federation.minimizer
    return worst_of(
        at_most(
            expected(snapshots, lambda at: norm2(difference(at.average, best))),
            expected(snapshots, lambda at: _mean_square(at.local, best)),
            instance={**instance, "step": step},
        )
        for step, snapshots in enumerate(run.snapshots)
    )


LEMMA_B3 = Claim(
    key="power-of-choice:lemma-b3",
    title="E |w_bar_t - w*|^2 <= 1/m E sum_k |w_k_t - w*|^2",
    statement=poc.averaged_distance.statement,
    kind="inequality",
    check=_averaged_distance,
    bound=poc.averaged_distance,
)


def _squared_mean_gradient(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    models = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    instance = {**federation_in_words(fed), "models": "; ".join(map(in_words, models))}
    share = Fraction(1, fed.num_clients)
    gradients = [fed.gradient(k, w) for k, w in enumerate(models)]
    of_mean = norm2(combination([share] * fed.num_clients, gradients))
    mean_square = share * sum(map(norm2, gradients))
    excess = share * sum(fed.excess(k, w) for k, w in enumerate(models))
    return worst_of(
        [
            at_most(of_mean, mean_square, instance=instance),
            at_most(mean_square, poc.gradient_norm(excess, L=fed.smoothness), instance=instance),
        ]
    )


EQUATIONS_38_39 = Claim(
    key="power-of-choice:equations-38-39",
    title="|1/m sum_k grad F_k(w_k)|^2 <= 1/m sum_k |grad F_k(w_k)|^2 <= 2 L/m sum_k (F_k(w_k) - F_k*)",
    statement=Statement(poc.PAPER, _APPENDIX_C, "eqs. (38)-(39)", form="corrected"),
    kind="inequality",
    check=_squared_mean_gradient,
    hypotheses=("every F_k is L-smooth",),
)


def _opposite_gradients(_: np.random.Generator) -> Finding:
    fed, origin = opposite_clients(), vector(0)
    gradients = [fed.gradient(k, origin) for k in range(2)]
    half = Fraction(1, 2)
    return equal_to(
        norm2(combination([half, half], gradients)),
        half * sum(map(norm2, gradients)),
        instance={**federation_in_words(fed), "models": "both clients at 0"},
    )


EQUATION_38_PRINTED = Claim(
    key="power-of-choice:equation-38-printed",
    title="|1/m sum_k grad F_k(w_k)|^2 = 1/m sum_k |grad F_k(w_k)|^2, printed with the sign of equality",
    statement=Statement(poc.PAPER, _APPENDIX_C, "eq. (38)"),
    kind="erratum",
    check=_opposite_gradients,
    expected=FAILS,
    instances=(1, 1),
)


def _distances(run: RationalRun, step: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Average the squared distance from w*, that of the local models, and their losses above F_k* and F_k(w*)."""
    fed, best = run.federation, run.federation.minimizer

    def excess(at: Snapshot, reference: int) -> Fraction:
        levels = [fed.excess(k, w) - reference * fed.excess(k, best) for k, w in zip(at.chosen, at.local, strict=True)]
        return sum(levels, start=Fraction(0)) / len(levels)

    snapshots = run.snapshots[step]
    return (
        expected(snapshots, lambda at: norm2(difference(at.average, best))),
        expected(snapshots, lambda at: _mean_square(at.local, best)),
        expected(snapshots, lambda at: excess(at, 0)),
        expected(snapshots, lambda at: excess(at, 1)),
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
            + expected(run.snapshots[step], drift)
            + eta**2 * run.sigma2 / num_selected
            + 4 * fed.smoothness * eta**2 * distances[2]
            - 2 * eta * distances[3]
        )
        findings.append(at_most(_distances(run, step + 1)[0], bound, instance={**instance, "step": step}))
    return worst_of(findings)


EQUATION_43 = Claim(
    key="power-of-choice:equation-43",
    title="One step of E |w_bar_t - w*|^2 in terms of the local models, with the drift itself for 16 eta^2 tau^2 G2",
    statement=Statement(poc.PAPER, _APPENDIX_C, "eq. (43)", form="refined"),
    kind="inequality",
    check=lambda rng: _recursion(rng, contracting=1),
    hypotheses=(_CURVATURE, _NOISE),
    remark="the printed form follows by Lemma B.2",
)

EQUATION_44 = Claim(
    key="power-of-choice:equation-44",
    title="One step of E |w_bar_t - w*|^2 with contraction 1 - eta mu, with the drift itself for 16 eta^2 tau^2 G2",
    statement=Statement(poc.PAPER, _APPENDIX_C, "eq. (44)", form="refined"),
    kind="inequality",
    check=lambda rng: _recursion(rng, contracting=0),
    hypotheses=(_CURVATURE, _NOISE),
    remark="the printed form follows by Lemma B.2",
)


def _expansion(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    models = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    center = draw_model(rng, fed.dim)
    eta = Fraction(whole(rng, 1, 8), 32) / fed.smoothness
    nu = 2 * eta * (1 - 2 * fed.smoothness * eta)
    share = Fraction(1, fed.num_clients)
    at_center = share * sum(fed.excess(k, center) for k in range(fed.num_clients))
    at_models = share * sum(fed.excess(k, w) for k, w in enumerate(models))
    return at_most(
        nu * (1 - eta * fed.smoothness) * at_center,
        nu * at_models + nu * (1 - fed.strong_convexity * eta) / (2 * eta) * _mean_square(tuple(models), center),
        instance={**federation_in_words(fed), "models": "; ".join(map(in_words, models)), "center": in_words(center)},
    )


EQUATIONS_47_50 = Claim(
    key="power-of-choice:equations-47-50",
    title="The losses at the local models against those at any one model, the average or the round's start",
    statement=Statement(poc.PAPER, _APPENDIX_C, "eqs. (47)-(50)"),
    kind="inequality",
    check=_expansion,
    hypotheses=(_CURVATURE, "eta <= 1/(4 L)"),
)
