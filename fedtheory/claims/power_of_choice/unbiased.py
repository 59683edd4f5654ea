"""Power-of-Choice, Sections 2 to 4: the objective, its gap, and when a selection has no bias."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import horizon_constants
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.softmax import SoftmaxFederation
from fedtheory.rational._averaging import RationalRun, constant_law
from fedtheory.rational._constants import initial_distance2
from fedtheory.rational._noises import no_noise
from fedtheory.rational._rounds import distance2
from fedtheory.rational._run_draws import draw_run
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_shares, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import inner, vector
from fedtheory.sampling.cohorts import frequencies, power_of_choice
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of


@claim(
    "power-of-choice:equation-1",
    "The mean loss over all samples is sum_k p_k F_k, with p_k the share of client k in the samples",
    Statement(poc.PAPER, "Section 2", "eq. (1)"),
    "identity",
)
def equation_1(rng: np.random.Generator) -> Finding:
    sizes = [whole(rng, 1, 4) for _ in range(whole(rng, 1, 4))]
    clients = [(rng.integers(-8, 9, size=(n, 1)) / 4, rng.integers(2, size=n)) for n in sizes]
    fed = SoftmaxFederation(FederatedData.from_clients(clients, num_classes=2))
    w = 4 * (rng.random(4) - 0.5)
    logits = np.concatenate([np.column_stack([x, np.ones(len(x))]) for x, _ in clients]) @ w.reshape(2, -1).T
    labels = np.concatenate([y for _, y in clients])
    samples = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(labels.size), labels]
    instance = {"clients": [(x[:, 0].tolist(), y.tolist()) for x, y in clients], "w": w.tolist()}
    return equal_to(float(fed.loss(w)), float(samples.mean()), instance=instance)


@claim(
    "power-of-choice:equation-4",
    "Gamma = F* - sum_k p_k F_k* = sum_k p_k (F_k(w*) - F_k(w_k*)), at least mu/2 sum_k p_k |w* - w_k*|^2 >= 0",
    Statement(poc.PAPER, "Section 3.1", "eq. (4)"),
    looseness=1.01,
)
def equation_4(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    at_best, instance = fed.losses(fed.minimizer), federation_in_words(fed)
    own = tuple(fed.losses(center)[k] for k, center in enumerate(fed.centers))
    gamma = inner(fed.weights, at_best) - inner(fed.weights, fed.minima)
    away = [sum((a - b) ** 2 for a, b in zip(fed.minimizer, center, strict=True)) for center in fed.centers]
    least = fed.strong_convexity / 2 * inner(fed.weights, [Fraction(square) for square in away])
    terms = inner(fed.weights, [at - lowest for at, lowest in zip(at_best, own, strict=True)])
    return worst_of(
        [
            equal_to(fed.objective_gap, gamma, instance=instance),
            equal_to(gamma, terms, instance=instance),
            equal_to(fed.rounded().objective_gap, float(gamma), instance=instance, scale=float(max(at_best)) + 1),
            at_most(least, gamma, instance=instance),
        ]
    )


@claim(
    "power-of-choice:no-bias-without-gap",
    "If Gamma = 0 no selection has a bias: without noise |w_t - w*|^2 <= prod (1 - eta_i mu)^2 |w_0 - w*|^2",
    Statement(poc.PAPER, "Section 3.1", "Gamma = 0, after eq. (4)"),
    hypotheses=("every F_k is L-smooth and mu-strongly convex", "eta <= 1/L", "all w_k* are equal"),
    looseness=1.01,
    remark="for the step sizes of Theorem 3.1 the product is ((gamma - 1)/(t + gamma - 1))^2, which tends to 0",
)
def no_bias_without_gap(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, longest_round=4)
    old = drawn.run.federation
    common = RationalQuadratics(old.curvatures, old.centers[:1] * old.num_clients, old.weights, old.minima)
    num_selected = drawn.num_selected
    run = RationalRun(
        federation=common,
        select=lambda w: power_of_choice(common.weights, common.losses(w), num_selected, common.num_clients),
        local_steps=drawn.run.local_steps,
        step_size=drawn.run.step_size,
        initial=drawn.run.initial,
        num_steps=drawn.run.num_steps,
        noise=no_noise(common.dim),
    )
    gamma = 4 * common.smoothness / common.strong_convexity
    start = initial_distance2(run)
    return worst_of(
        at_most(
            distance2(run, step),
            ((gamma - 1) / (step + gamma - 1)) ** 2 * start,
            instance={**federation_in_words(common), "initial": in_words(run.initial), "step": step},
        )
        for step in range(1, run.num_steps + 1)
    )


@claim(
    "power-of-choice:no-bias-term-without-gap",
    "If Gamma = 0 the bias of Theorem 3.1 is 0 for every rho_bar and rho_tilde",
    Statement(poc.PAPER, "Section 3.1", "Gamma = 0, after eq. (4)", form="corrected"),
    "identity",
    remark="rho_tilde is 0/0 there; what the theorem needs is rho_tilde Gamma, which is 0",
)
def no_bias_term_without_gap(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, longest_round=2)
    known = horizon_constants(drawn)
    known["objective_gap"] = Fraction(0)
    gamma = 4 * known["L"] / known["mu"]
    rho = Fraction(whole(rng, 1, 16), 8)
    skews = {"rho_diagonal": rho, "rho_tilde": rho + Fraction(whole(rng, 0, 16), 8)}
    first, second = (poc.decaying_steps_gap(T, **known, **skews, strict=False)[0] for T in (0, 1))
    # Without a bias the bound is proportional to 1/(T + gamma).
    return equal_to(gamma * first, (1 + gamma) * second, instance={**drawn.instance, "skews": str(skews)})


def _shares_of_updates(p: tuple[Fraction, ...], num_selected: int) -> tuple[Fraction, ...]:
    """Mean aggregation weight of each client where as many candidates are drawn as are selected; any losses do."""
    law = power_of_choice(p, range(len(p)), num_selected, num_selected)
    return tuple(Fraction(copies) / num_selected for copies in frequencies(law, len(p)))


@claim(
    "power-of-choice:candidates-equal-selected",
    "d = m makes Power-of-Choice unbiased: client 1 of p = (3/4, 1/4) has the mean weight p_1 where m = 2",
    Statement(poc.PAPER, "Section 4", "footnote 1"),
    "erratum",
    remark="both are drawn, and each has the weight 1/2; the bias is small but for such extremes",
)
def candidates_equal_selected() -> Finding:
    p = vector("3/4", "1/4")
    return equal_to(_shares_of_updates(p, 2)[0], p[0], instance={"p": in_words(p), "num_selected": 2, "d": 2})


@claim(
    "power-of-choice:candidates-equal-selected-bias",
    "With d = m the error has no floor: two clients of p = (3/4, 1/4), w_T where both are always selected",
    Statement(poc.PAPER, "Section 4", "footnote 1"),
    "erratum",
    remark="each round moves the model to the mean 0 of the centers 1 and -1; w* is 1/2, and F(0) - F* is 1/8",
)
def candidates_equal_selected_bias() -> Finding:
    one = vector(1)
    fed = RationalQuadratics((one, one), (one, vector(-1)), vector("3/4", "1/4"), vector(0, 0))
    law = power_of_choice(fed.weights, fed.losses(fed.minimizer), 2, 2)
    run = RationalRun(
        federation=fed,
        select=constant_law(law),
        local_steps=1,
        step_size=lambda _: Fraction(1),
        initial=fed.minimizer,
        num_steps=1,
        noise=no_noise(1),
    )
    (settled,) = {at.average for at in run.snapshots[1]}
    return equal_to(fed.gap(settled), 0, instance={**federation_in_words(fed), "num_selected": 2, "d": 2})


@claim(
    "power-of-choice:candidates-equal-selected-repaired",
    "d = m makes Power-of-Choice unbiased if m = 1 or all p_k are equal",
    Statement(poc.PAPER, "Section 4", "footnote 1", form="corrected"),
    "identity",
)
def candidates_equal_selected_repaired(rng: np.random.Generator) -> Finding:
    size = whole(rng, 1, 5)
    even = whole(rng, 0, 1)
    p = (Fraction(1, size),) * size if even else draw_shares(rng, size)
    m = whole(rng, 1, size) if even else 1
    instance = {"p": in_words(p), "num_selected": m, "d": m}
    found = _shares_of_updates(p, m)
    return worst_of(equal_to(got, share, instance=instance) for got, share in zip(found, p, strict=True))
