"""Power-of-Choice without bounded gradients: whole rounds against exact runs, and the federations that attain them."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.rational._constants import initial_distance2, observed_skews
from fedtheory.rational._rounds import distance2, gap
from fedtheory.rational._run_draws import Drawn, draw_run
from fedtheory.rational._step_sizes import StepSizes
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, worst_of


@claim(
    "power-of-choice:loss-after-step",
    "F_k(y - eta grad F_k(y)) - F_k* >= (1 - eta L)^2 (F_k(y) - F_k*)",
    poc.loss_after_step,
    looseness=1.01,
)
def loss_after_step(rng: np.random.Generator) -> Finding:
    fed, eta = draw_federation(rng), Fraction(whole(rng, 1, 7), 8)
    w = draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "w": in_words(w), "eta L": str(eta)}

    def compared(k: int) -> Finding:
        L = max(fed.curvatures[k])
        after = combination([Fraction(1), -eta / L], [w, fed.gradient(k, w)])
        left = poc.loss_after_step(fed.excess(k, w), step_size=eta / L, L=L)
        return at_least(fed.excess(k, after), left, instance=instance)

    return worst_of(map(compared, range(fed.num_clients)))


@claim(
    "power-of-choice:exact-client-drift",
    "1/m sum_k |w_bar_t - w_k_t|^2 <= G2 ((1 - (1 - eta mu)^(tau - 1))/mu)^2 for a fixed step size, without noise",
    poc.exact_client_drift,
    looseness=1.01,
)
def exact_client_drift(rng: np.random.Generator) -> Finding:
    fed, eta, local_steps = draw_federation(rng), Fraction(whole(rng, 1, 8), 8), whole(rng, 2, 6)
    start = draw_model(rng, fed.dim)
    eta, mean = eta / fed.smoothness, [Fraction(1, fed.num_clients)] * fed.num_clients
    models = [start] * fed.num_clients
    for _ in range(local_steps - 1):
        models = [combination([Fraction(1), -eta], [w, fed.gradient(k, w)]) for k, w in enumerate(models)]
    average = combination(mean, models)
    away = [norm2(combination([Fraction(1), Fraction(-1)], [w, average])) for w in models]
    bound = poc.exact_client_drift(
        eta,
        mu=fed.strong_convexity,
        L=fed.smoothness,
        local_steps=local_steps,
        G2=max(map(norm2, fed.gradients(start))),
    )
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta), "local_steps": local_steps}
    return at_most(sum(away) / fed.num_clients, bound, instance=instance)


def _same_size(rng: np.random.Generator, largest: int = 7) -> StepSizes:
    size = Fraction(whole(rng, 1, largest), 8)
    return lambda fed, _: lambda _: size / fed.smoothness


def _any_sizes(rng: np.random.Generator) -> StepSizes:
    sizes = [Fraction(whole(rng, 1, 8), 8) for _ in range(7)]
    return lambda fed, _: lambda step: sizes[step % len(sizes)] / fed.smoothness


def _constants(drawn: Drawn) -> dict[str, Any]:
    skews = observed_skews(drawn.run)
    return {
        **drawn.constants,
        "num_selected": drawn.num_selected,
        "rho_diagonal": skews.rho_diagonal,
        "rho_tilde": skews.rho_tilde,
    }


def _whole_rounds(drawn: Drawn) -> range:
    return range(drawn.run.num_steps // drawn.run.local_steps)


def _draw(rng: np.random.Generator, step_size: StepSizes) -> Drawn:
    """Draw a run of which a round, at least, is complete."""
    while True:
        drawn = draw_run(rng, step_size=step_size, longest_round=4)
        if _whole_rounds(drawn):
            return drawn


@claim(
    "power-of-choice:one-round",
    "A round of E |w - w*|^2 without bounded gradients, fixed step size up to 1/L",
    poc.one_round,
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng, _same_size(rng))
    run, known = drawn.run, _constants(drawn)
    tau, eta = run.local_steps, run.step_size(0)
    return worst_of(
        at_most(
            distance2(run, (r + 1) * tau),
            poc.one_round(distance2(run, r * tau), step_size=eta, local_steps=tau, **known),
            instance={**drawn.instance, "round": r},
        )
        for r in _whole_rounds(drawn)
    )


@claim(
    "power-of-choice:one-round-any-steps",
    "A round of E |w - w*|^2 without bounded gradients, step sizes in any order up to 1/L",
    Statement(poc.PAPER, "Appendix C", "a whole round, without Assumption 3.4", form="derived"),
    hypotheses=tuple(assumption.text for assumption in poc.one_round.hypotheses),
    looseness=1.01,
)
def one_round_any_steps(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng, _any_sizes(rng))
    run, known = drawn.run, _constants(drawn)
    tau, gap_, sigma2 = run.local_steps, known.pop("objective_gap"), known.pop("sigma2")

    def promised(r: int) -> Fraction:
        sizes = [run.step_size(t) for t in range(r * tau, (r + 1) * tau)]
        by = poc.round_coefficients(sizes, **known)
        return Fraction(by.distance2 * distance2(run, r * tau) + by.objective_gap * gap_ + by.sigma2 * sigma2)

    return worst_of(
        at_most(distance2(run, (r + 1) * tau), promised(r), instance={**drawn.instance, "round": r})
        for r in _whole_rounds(drawn)
    )


def _at_round_ends(drawn: Drawn, bound: Callable[[int], Fraction]) -> Iterator[Finding]:
    for r in _whole_rounds(drawn):
        reached = distance2(drawn.run, (r + 1) * drawn.run.local_steps)
        yield at_most(reached, bound(r + 1), instance={**drawn.instance, "rounds": r + 1})


@claim(
    "power-of-choice:fixed-step-distance",
    "E |w_T - w*|^2 without bounded gradients, fixed step size up to 1/L",
    poc.fixed_step_distance,
    looseness=1.01,
)
def fixed_step_distance(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng, _same_size(rng))
    run, known = drawn.run, _constants(drawn) | {"initial_distance2": initial_distance2(drawn.run)}
    known |= {"step_size": run.step_size(0), "local_steps": run.local_steps}
    return worst_of(_at_round_ends(drawn, lambda r: poc.fixed_step_distance(r, **known)))


@claim(
    "power-of-choice:decaying-steps-distance",
    "E |w_T - w*|^2 without bounded gradients, step sizes 1/(mu (t + gamma)) with gamma >= 2 tau L/mu",
    poc.decaying_steps_distance,
    looseness=1.01,
)
def decaying_steps_distance(rng: np.random.Generator) -> Finding:
    # A gamma for the longest round serves shorter ones, too.
    drawn = _draw(rng, lambda fed, _: lambda t: 1 / (fed.strong_convexity * t + 8 * fed.smoothness))
    run, known = drawn.run, _constants(drawn) | {"initial_distance2": initial_distance2(drawn.run)}
    known |= {"gamma": 8 * known["L"] / known["mu"], "local_steps": run.local_steps}
    if not known["rho_diagonal"]:
        known["rho_diagonal"] = Fraction(1, 1000)
        known["rho_tilde"] = max(known["rho_tilde"], known["rho_diagonal"])
    return worst_of(_at_round_ends(drawn, lambda r: poc.decaying_steps_distance(r, **known)))


@claim(
    "power-of-choice:averaged-rounds-gap",
    "The mean of E F(w) - F* over rounds' starts with weights (1 - eta mu)^(-tau r), fixed step size below 1/L",
    poc.averaged_rounds_gap,
    looseness=1.01,
    remark="by convexity the loss of the mean of the models is not larger",
)
def averaged_rounds_gap(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng, _same_size(rng, largest=6))
    run, known = drawn.run, _constants(drawn) | {"initial_distance2": initial_distance2(drawn.run)}
    tau, eta, num_rounds = run.local_steps, run.step_size(0), len(_whole_rounds(drawn))
    weights = [(1 - eta * known["mu"]) ** (-tau * r) for r in range(num_rounds)]
    mean = sum(weight * gap(run, r * tau) for r, weight in enumerate(weights)) / sum(weights)
    if not known["rho_diagonal"]:
        known["rho_diagonal"] = Fraction(1, 1000)
        known["rho_tilde"] = max(known["rho_tilde"], known["rho_diagonal"])
    bound = poc.averaged_rounds_gap(num_rounds, step_size=eta, local_steps=tau, **known)
    return at_most(mean, bound, instance={**drawn.instance, "rounds": num_rounds})


def _pulled_apart(rng: np.random.Generator) -> tuple[RationalQuadratics, dict[str, Any], Fraction]:
    """Draw two selected clients ``mu/2 (s - r)^2 + L/2 (z -+ d)^2``, and Gamma of a population with F = mu/2 |w|^2."""
    mu, kappa = Fraction(whole(rng, 1, 6), 2), Fraction(whole(rng, 5, 20), 4)
    r, d = Fraction(whole(rng, 1, 9), 4), Fraction(whole(rng, 1, 9), 4)
    L, zero = kappa * mu, Fraction(0)
    # So large a Gamma that the skew at the model is at most L/mu.
    objective_gap = (mu * (d**2 + r**2) / 2) * Fraction(whole(rng, 4, 12), 4)
    high = L * d**2 / 2
    fed = RationalQuadratics(((mu, L), (mu, L)), ((r, d), (r, -d)), (Fraction(1, 2),) * 2, (zero, zero))
    known = {
        "mu": mu,
        "L": L,
        "objective_gap": objective_gap,
        "rho_diagonal": high / (mu * r**2 / 2 + objective_gap),
        "rho_tilde": (mu * r**2 / 2 + high) / objective_gap,
    }
    return fed, known, r


@claim(
    "power-of-choice:one-round-attained",
    "One local step from squared distance 2 Gamma (rho_tilde - rho)/(mu (1 + rho)) attains the round's bound",
    poc.one_round,
    "identity",
)
def one_round_attained(rng: np.random.Generator) -> Finding:
    fed, known, r = _pulled_apart(rng)
    eta = Fraction(whole(rng, 1, 8), 8) / known["L"]
    start = (r, Fraction(0))
    after = [norm2(combination([Fraction(1), -eta], [start, fed.gradient(k, start)])) for k in range(2)]
    bound = poc.one_round(r**2, step_size=eta, local_steps=1, num_selected=1, sigma2=Fraction(0), **known)
    return equal_to(sum(after) / 2, bound, instance={**federation_in_words(fed), "step_size": str(eta)})


@claim(
    "power-of-choice:bias-attained",
    "A federation stays for ever at the bias 2 Gamma (rho_tilde - rho)/(mu (1 + rho)) in squared distance",
    poc.decaying_steps_distance,
    "identity",
)
def bias_attained(rng: np.random.Generator) -> Finding:
    fed, known, r = _pulled_apart(rng)
    sizes = [Fraction(whole(rng, 1, 8), 8) / known["L"] for _ in range(whole(rng, 1, 4))]
    models: list[Vector] = [(r, Fraction(0))] * 2
    for eta in sizes:
        models = [combination([Fraction(1), -eta], [w, fed.gradient(k, w)]) for k, w in enumerate(models)]
    average = combination([Fraction(1, 2)] * 2, models)
    tau, gamma = len(sizes), 2 * len(sizes) * known["L"] / known["mu"]
    terms = poc.decaying_steps_distance.terms(
        1, gamma=gamma, local_steps=tau, num_selected=2, sigma2=Fraction(0), initial_distance2=r**2, **known
    )
    return equal_to(
        norm2(average), terms["bias"], instance={**federation_in_words(fed), "steps": in_words(tuple(sizes))}
    )
