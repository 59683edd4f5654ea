"""Li et al., the lemmas behind their theorems, on exact steps and over all selections."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedavg
from fedtheory.claims.fedavg._checks import balanced, own_constants, own_steps
from fedtheory.rational._rounds import distance2
from fedtheory.rational._run_draws import draw_run
from fedtheory.rational._step_sizes import delayed
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, norm2
from fedtheory.sampling.selections import Selection, uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of


@claim(
    "fedavg:one-step",
    "One step of E |w_t - w*|^2 with all clients, for steps 2/(mu (t + max(8 L/mu, E)))",
    fedavg.one_step,
    looseness=1.01,
)
def one_step(rng: np.random.Generator) -> Finding:
    drawn = own_steps(draw_run(rng, laws=("full, weights p_k",), longest_round=6), is_balanced=False)
    run, known = drawn.run, own_constants(drawn)
    del known["initial_distance2"]
    distances2 = [distance2(run, step) for step in range(run.num_steps + 1)]
    return worst_of(
        at_most(
            distances2[step + 1],
            fedavg.one_step(distances2[step], step_size=run.step_size(step), **known),
            instance={**drawn.instance, "step": step},
        )
        for step in range(run.num_steps)
    )


def _round_of_all(fed: RationalQuadratics, start: Vector, sizes: list[Fraction]) -> tuple[list[Vector], Fraction]:
    """Models of all clients after a round without noise, and the largest squared gradient on their ways."""
    models, largest = [start] * fed.num_clients, Fraction(0)
    for eta in sizes:
        gradients = [fed.gradient(k, w) for k, w in enumerate(models)]
        models = [combination((Fraction(1), -eta), pair) for pair in zip(models, gradients, strict=True)]
        largest = max(largest, *map(norm2, gradients))
    return models, largest


def _selected_averages(law: Law[Selection], models: list[Vector], num_selected: int) -> Law[Vector]:
    """Law of the mean of the selected models."""
    share = [Fraction(1, num_selected)] * num_selected
    return law.map(lambda chosen: combination(share, [models[k] for k in chosen]))


@claim(
    "fedavg:lemma-4",
    "E w_bar = sum_k p_k w_k over the draws, with replacement by the p_k and without for equal weights",
    Statement(fedavg.PAPER, "Lemma 4"),
    "identity",
    hypotheses=("the server averages the models of K drawn clients",),
)
def lemma_4(rng: np.random.Generator) -> Finding:
    fed, findings = draw_federation(rng), []
    num_selected = whole(rng, 1, fed.num_clients)
    models = [draw_model(rng, fed.dim) for _ in fed.weights]
    words = {"models": "; ".join(map(in_words, models)), "weights": in_words(fed.weights), "K": num_selected}
    equal = (Fraction(1, fed.num_clients),) * fed.num_clients
    laws = {
        fed.weights: with_replacement(fed.weights, num_selected),
        equal: uniform_subsets(fed.num_clients, num_selected),
    }
    for weights, law in laws.items():
        averages = _selected_averages(law, models, num_selected)
        mean, wanted = combination(list(averages.values()), list(averages)), combination(weights, models)
        findings.append(equal_to(norm2(difference(mean, wanted)), Fraction(0), instance=words))
    return worst_of(findings)


def _selected_variance(
    law: Callable[[Vector, int], Law[Selection]], bound: Callable[..., Fraction], *, is_balanced: bool
) -> Callable[[np.random.Generator], Finding]:
    def check(rng: np.random.Generator) -> Finding:
        fed = balanced(draw_federation(rng)) if is_balanced else draw_federation(rng)
        num_selected, local_steps = whole(rng, 1, fed.num_clients), whole(rng, 1, 5)
        first, start = local_steps * whole(rng, 0, 3), draw_model(rng, fed.dim)
        steps = delayed()(fed, local_steps)
        models, G2 = _round_of_all(fed, start, [steps(first + step) for step in range(local_steps)])
        mean = combination(fed.weights, models)
        averages = _selected_averages(law(fed.weights, num_selected), models, num_selected)
        variance = Fraction(averages.mean(lambda average: norm2(difference(average, mean))))
        instance = {**federation_in_words(fed), "initial": in_words(start), "num_selected": num_selected}
        return at_most(
            variance,
            bound(fed, steps(first + local_steps - 1), local_steps=local_steps, num_selected=num_selected, G2=G2),
            instance={**instance, "local_steps": local_steps, "first_step": first},
        )

    return check


variance_with_replacement = claim(
    "fedavg:lemma-5-with-replacement",
    "Variance of the mean of K models drawn with replacement, at the end of a round",
    fedavg.with_replacement_variance,
    looseness=8,
    remark="the factor 4 is for step sizes that halve within a round: with equal ones 1/4 is the most",
)(
    _selected_variance(
        with_replacement, lambda _, eta, **known: fedavg.with_replacement_variance(eta, **known), is_balanced=False
    )
)

variance_without_replacement = claim(
    "fedavg:lemma-5-without-replacement",
    "Variance of the mean of K of N models drawn without replacement, at the end of a round",
    fedavg.without_replacement_variance,
    looseness=8,
    remark="the factor 4 is for step sizes that halve within a round: with equal ones 1/4 is the most",
)(
    _selected_variance(
        lambda weights, num_selected: uniform_subsets(len(weights), num_selected),
        lambda fed, eta, **known: fedavg.without_replacement_variance(eta, num_clients=fed.num_clients, **known),
        is_balanced=True,
    )
)
