"""Federated averaging: the bounds of Li et al. and those without bounded gradients, by runs and worst cases."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedavg, power_of_choice
from fedtheory.claims._comparisons import Chain, expected_gaps, horizon_constants, one_step_distances, step
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.observed import skew
from fedtheory.instances.run_draws import Drawn, draw_run
from fedtheory.instances.step_sizes import delayed
from fedtheory.instances.vectors import Vector, average, combination, norm2
from fedtheory.sampling.cohorts import Selection, uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, not_applicable, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.worst_case import federated_averaging


def equal_weights(num_clients: int) -> Vector:
    """Return the weights 1/N."""
    return Vector([Fraction(1, num_clients)] * num_clients)


def own_steps(drawn: Drawn, *, is_balanced: bool) -> Drawn:
    """Return the run with step sizes ``2/(mu (t + max(8 L/mu, E)))``, with equal weights if ``is_balanced``."""
    run = drawn.run
    fed = replace(run.federation, weights=equal_weights(run.federation.num_clients)) if is_balanced else run.federation
    steps = delayed()(fed, run.local_steps)
    instance = {**drawn.instance, **format_federation(fed), "first_step_size": str(steps(0))}
    return Drawn(replace(run, federation=fed, step_size=steps), drawn.num_selected, instance)


def own_constants(drawn: Drawn, *counts: str) -> dict[str, Any]:
    """Return the constants of the theorems on a run, with the named counts.

    G2 bounds the mean over the clients, which suffices for the proofs.
    """
    fed, known = drawn.run.federation, horizon_constants(drawn)
    sigma2, num_selected = known.pop("sigma2"), known.pop("num_selected")
    numbers = {"num_selected": num_selected, "num_clients": fed.num_clients}
    return {**known, "weighted_sigma2": norm2(fed.weights) * sigma2, **{name: numbers[name] for name in counts}}


@claim(
    "fedavg:unit-skew",
    "Selection with replacement in proportion to p_k has selection skew 1 at every pair of models",
    Statement(power_of_choice.PAPER, "Section 3.1", "eqs. (5)-(6)"),
    "identity",
    hypotheses=("not all clients are at their minimizers, where the skew is 0/0",),
)
def unbiased_selection(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("proportional",))
    run = drawn.run
    models = {run.initial, run.federation.minimizer, *(at.average for at in run.snapshots[-1])}
    law = run.select(run.initial)
    skews = [rho for w in models if (rho := skew(run, law, w)) is not None]
    if not skews:  # the run visited only the common minimizer of all clients
        return not_applicable(**drawn.instance)
    return worst_of(equal_to(rho, 1, instance=drawn.instance) for rho in skews)


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
    return one_step_distances(drawn, lambda start, t: fedavg.one_step(start, step_size=run.step_size(t), **known))


def round_of_all(fed: RationalQuadratics, start: Vector, sizes: list[Fraction]) -> tuple[list[Vector], Fraction]:
    """Return the clients' models after a round without noise, and the largest squared gradient on their paths."""
    models, largest = [start] * fed.num_clients, Fraction(0)
    for eta in sizes:
        gradients = [fed.gradient(k, w) for k, w in enumerate(models)]
        models = [w - eta * g for w, g in zip(models, gradients, strict=True)]
        largest = max(largest, *map(norm2, gradients))
    return models, largest


def selected_averages(law: Law[Selection], models: list[Vector]) -> Law[Vector]:
    """Law of the mean of the selected models."""
    return law.map(lambda chosen: average([models[k] for k in chosen]))


@claim(
    "fedavg:lemma-4",
    "E w_bar = sum_k p_k w_k over the draws, with replacement by p_k, or without replacement for equal weights",
    Statement(fedavg.PAPER, "Lemma 4"),
    "identity",
    hypotheses=("the server averages the models of K drawn clients",),
)
def lemma_4(rng: np.random.Generator) -> Finding:
    fed, findings = draw_federation(rng), []
    num_selected = whole(rng, 1, fed.num_clients)
    models = [draw_model(rng, fed.dim) for _ in fed.weights]
    instance = {"models": format_vectors(models), "weights": str(fed.weights), "K": num_selected}
    laws = {
        fed.weights: with_replacement(fed.weights, num_selected),
        equal_weights(fed.num_clients): uniform_subsets(fed.num_clients, num_selected),
    }
    for weights, law in laws.items():
        averages = selected_averages(law, models)
        off = combination(list(averages.values()), list(averages)) - combination(weights, models)
        findings.append(equal_to(norm2(off), Fraction(0), instance=instance))
    return worst_of(findings)


class RoundEnd:
    """The clients' models at the end of a round with the theorems' step sizes, and the number of selected clients."""

    def __init__(self, rng: np.random.Generator, *, is_balanced: bool) -> None:
        self.fed = fed = draw_federation(rng, equal_weights=is_balanced)
        self.num_selected, self.tau = whole(rng, 1, fed.num_clients), whole(rng, 1, 5)
        first, start = self.tau * whole(rng, 0, 3), draw_model(rng, fed.dim)
        sizes = [delayed()(fed, self.tau)(first + t) for t in range(self.tau)]
        self.eta = sizes[-1]
        self.models, G2 = round_of_all(fed, start, sizes)
        self.known: dict[str, Any] = {"local_steps": self.tau, "num_selected": self.num_selected, "G2": G2}
        counts = {"num_selected": self.num_selected, "local_steps": self.tau, "first_step": first}
        self.instance: dict[str, Any] = {**format_federation(fed), "initial": str(start), **counts}

    def variance(self, law: Law[Selection]) -> Fraction:
        """Mean squared distance of the selected clients' mean model from the mean of all."""
        mean = combination(self.fed.weights, self.models)
        return Fraction(selected_averages(law, self.models).mean(lambda w_bar: norm2(w_bar - mean)))


_HALVING = "the factor 4 allows step sizes that halve within a round; with equal step sizes the ratio is at most 1/4"


@step(
    "fedavg:lemma-5-with-replacement",
    fedavg.with_replacement_variance,
    lambda rng: [RoundEnd(rng, is_balanced=False)],
    looseness=8,
    remark=_HALVING,
)
def variance_with_replacement(s: RoundEnd) -> Chain:
    """Variance of the mean of K models drawn with replacement, at the end of a round"""
    law = with_replacement(s.fed.weights, s.num_selected)
    return s.variance(law), "<=", fedavg.with_replacement_variance(s.eta, **s.known)


@step(
    "fedavg:lemma-5-without-replacement",
    fedavg.without_replacement_variance,
    lambda rng: [RoundEnd(rng, is_balanced=True)],
    looseness=8,
    remark=_HALVING,
)
def variance_without_replacement(s: RoundEnd) -> Chain:
    """Variance of the mean of K of N models drawn without replacement, at the end of a round"""
    law = uniform_subsets(s.fed.num_clients, s.num_selected)
    bound = fedavg.without_replacement_variance(s.eta, num_clients=s.fed.num_clients, **s.known)
    return s.variance(law), "<=", bound


_FIRST_STEP = "a step at curvature mu multiplies the first gap by (1 - 2/gamma)^2, the closed form by gamma/(gamma + 1)"


def against_theorem(bound: Bound, law: str, *counts: str) -> Callable[[np.random.Generator], Finding]:
    """Return a check that compares exact expected gaps with one of the theorems."""

    def check(rng: np.random.Generator) -> Finding:
        drawn = own_steps(draw_run(rng, laws=(law,), longest_round=10), is_balanced=law == "uniform")
        known = own_constants(drawn, *counts)
        return expected_gaps(drawn, lambda step: bound(step, **known))

    return check


theorem_1 = claim(
    "fedavg:theorem-1",
    "E F(w_T) - F* with all clients, averaged with the weights p_k, for steps 2/(mu (t + max(8 L/mu, E)))",
    fedavg.full_participation_gap,
    looseness=2,
    remark=_FIRST_STEP,
)(against_theorem(fedavg.full_participation_gap, "full, weights p_k"))

theorem_2 = claim(
    "fedavg:theorem-2",
    "E F(w_T) - F* with K clients drawn with replacement in proportion to p_k and averaged",
    fedavg.with_replacement_gap,
    looseness=4,
    remark="the sampling term is four times its value for nearly constant step sizes within a round",
)(against_theorem(fedavg.with_replacement_gap, "proportional", "num_selected"))

theorem_3 = claim(
    "fedavg:theorem-3",
    "E F(w_T) - F* with K of N equally weighted clients drawn without replacement and averaged",
    fedavg.without_replacement_gap,
    looseness=2,
    remark=_FIRST_STEP,
)(against_theorem(fedavg.without_replacement_gap, "uniform", "num_selected", "num_clients"))


@claim(
    "fedavg:transformed-scheme",
    "E F(w_T) - F* with K of N clients drawn without replacement that take steps on N p_k F_k",
    fedavg.transformed_gap,
    looseness=2,
    remark=_FIRST_STEP,
)
def transformed_scheme(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, laws=("uniform",), longest_round=10)
    run, fed = drawn.run, drawn.run.federation
    N, largest, smallest = fed.num_clients, max(fed.weights), min(fed.weights)
    stretched = tuple(N * p * h for p, h in zip(fed.weights, fed.curvatures, strict=True))
    own = replace(fed, curvatures=stretched, weights=equal_weights(N))
    mu, L = N * smallest * fed.strong_convexity, N * largest * fed.smoothness
    gamma = max(8 * L / mu, Fraction(run.local_steps))
    instance = {**drawn.instance, **format_federation(own), "p": str(fed.weights), "step_size": "as in the theorem"}
    transformed = replace(run, federation=own, step_size=lambda t: 2 / (mu * (t + gamma)))
    transformed_run = Drawn(transformed, drawn.num_selected, instance)
    known = own_constants(transformed_run, "num_selected", "num_clients")
    known |= {"mu": fed.strong_convexity, "L": fed.smoothness, "max_weight": largest, "min_weight": smallest}
    known["weighted_G2"] = known.pop("G2")
    return expected_gaps(transformed_run, lambda step: fedavg.transformed_gap(step, **known))


@claim(
    "fedavg:transformed-gradients",
    "The squared gradients of the transformed objectives N p_k F_k are at most nu G^2, with nu = N max_k p_k",
    Statement(fedavg.PAPER, "Theorem 3", "the constants of the transformed Scheme II"),
    "erratum",
    hypotheses=("E |g_k|^2 <= G^2 for every client and iterate",),
    remark=(
        "the gradient of N p_k F_k is N p_k times that of F_k, so that nu^2 G^2 is needed for one client, and likewise"
        " for the variance. The conclusion is true: the proof needs N sum_k p_k^2 G_k^2, which is at most nu G^2"
    ),
)
def transformed_gradients() -> Finding:
    N, p, G2 = 2, Fraction(3, 4), Fraction(1)
    instance = {"F_k": "w^2/2", "w": "1", "G2": "1", "p": "3/4, 1/4"}
    return at_most((N * p) ** 2 * G2, N * p * G2, instance=instance)


def _guess(distance2: Fraction, objective_gap: Fraction, *, mu: Fraction, L: Fraction, step_size: Fraction) -> Fraction:
    """Return the increase of the distance in a round of two local steps that tilted parabolas suggest."""
    c = 1 - step_size * mu
    return c**4 * distance2 + c**2 * step_size**3 * L * (L - mu) / (2 - step_size * (L + mu)) * objective_gap


@claim(
    "fedavg:two-steps-guess",
    "Tilted parabolas are the worst case of two local steps of all clients: c^2 eta^3 L (L - mu)/(2 - eta (L + mu))",
    Statement(
        FEDTHEORY,
        "two local steps, a conjecture from quadratic clients",
        related=(fedavg.PAPER, "Theorem 1"),
        form="derived",
    ),
    "refuted conjecture",
    remark="a certified non-quadratic federation is a counterexample; fedavg.one_round has the correct coefficient",
)
def two_steps_guess() -> Finding:
    given: dict[str, Any] = {"mu": Fraction(1, 10), "L": Fraction(1), "distance2": Fraction(1)}
    given |= {"objective_gap": Fraction(1, 10)}
    worst = federated_averaging.fedavg(2, Fraction(1, 4), **given)
    return at_most(worst.enclosure[0], _guess(step_size=Fraction(1, 4), **given), instance=as_texts(given))


@claim(
    "fedavg:common-noise",
    "Theorem 1 holds without independence of the noises across clients, which the paper does not list",
    Statement(FEDTHEORY, "with noise common to all clients", related=(fedavg.PAPER, "Theorem 1"), form="derived"),
    "refuted conjecture",
    remark="the mean of common noises has the variance 1, and sum_k p_k^2 sigma_k^2 is 1/10",
)
def common_noise() -> Finding:
    # From the minimizer of w^2/2, one step of 1/4 with the gradient 1 or -1.
    known = {"num_clients": 10, "F_k": "w^2/2", "w_0": 0, "noise": "1 or -1, common to all clients", "T": 1}
    constants = {"mu": 1, "L": 1, "local_steps": 1, "G2": 1, "objective_gap": 0, "initial_distance2": 0}
    bound = fedavg.full_participation_gap(1, weighted_sigma2=Fraction(1, 10), **constants)
    return at_most(Fraction(1, 4) ** 2 / 2, bound, instance=known)
