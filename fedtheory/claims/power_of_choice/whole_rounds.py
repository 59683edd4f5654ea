"""Power-of-Choice without bounded gradients: whole rounds against exact runs, their proofs, and tight examples."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain, as_texts, step
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.observed import initial_distance2, observed_skews
from fedtheory.instances.run_draws import draw_run
from fedtheory.instances.runs import distance2, gap
from fedtheory.instances.step_sizes import StepSizes
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, tenths, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

_A_ROUND = Statement(
    FEDTHEORY, "a whole round, without Assumption 3.4", related=(poc.PAPER, "Appendix C"), form="derived"
)
_ASSUMED = tuple(assumption.text for assumption in poc.one_round.hypotheses)


@claim(
    "power-of-choice:loss-after-step",
    "F_k(y - eta grad F_k(y)) - F_k* >= (1 - eta L)^2 (F_k(y) - F_k*)",
    poc.loss_after_step,
    looseness=1.01,
)
def loss_after_step(rng: np.random.Generator) -> Finding:
    fed, share = draw_federation(rng), Fraction(whole(rng, 1, 7), 8)
    y = draw_model(rng, fed.dim)
    instance = {**format_federation(fed), "y": str(y), "eta L": str(share)}

    def compared(k: int) -> Finding:
        L = max(fed.curvatures[k])
        after = fed.excess(k, y - share / L * fed.gradient(k, y))
        return at_least(after, poc.loss_after_step(fed.excess(k, y), step_size=share / L, L=L), instance=instance)

    return worst_of(map(compared, range(fed.num_clients)))


@claim(
    "power-of-choice:exact-client-drift",
    "1/m sum_k |w_bar_t - w_k_t|^2 <= G2 ((1 - (1 - eta mu)^(tau - 1))/mu)^2 for a fixed step size, without noise",
    poc.exact_client_drift,
    looseness=1.01,
)
def exact_client_drift(rng: np.random.Generator) -> Finding:
    fed, share, tau = draw_federation(rng), Fraction(whole(rng, 1, 8), 8), whole(rng, 2, 6)
    start, eta = draw_model(rng, fed.dim), share / fed.smoothness
    models = [start] * fed.num_clients
    for _ in range(tau - 1):
        models = [w - eta * fed.gradient(k, w) for k, w in enumerate(models)]
    drift = sum(norm2(w - average(models)) for w in models) / fed.num_clients
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "G2": max(map(norm2, fed.gradients(start)))}
    instance = {**format_federation(fed), "start": str(start), "step_size": str(eta), "local_steps": tau}
    return at_most(drift, poc.exact_client_drift(eta, local_steps=tau, **known), instance=instance)


class Rounds:
    """A run with at least one complete round."""

    def __init__(self, rng: np.random.Generator, step_size: StepSizes) -> None:
        self.num_rounds = 0
        while not self.num_rounds:
            drawn = draw_run(rng, step_size=step_size, longest_round=4)
            self.run, self.tau, self.instance = drawn.run, drawn.run.local_steps, drawn.instance
            self.num_rounds = self.run.num_steps // self.tau
        skews = observed_skews(self.run)
        known = {"num_selected": drawn.num_selected, "rho_diagonal": skews.rho_diagonal, "rho_tilde": skews.rho_tilde}
        self.known: dict[str, Any] = {**drawn.constants, **known}
        self.eta = self.run.step_size(0)

    @property
    def from_start(self) -> dict[str, Any]:
        """Constants of the bounds on all rounds."""
        return self.known | {"initial_distance2": initial_distance2(self.run), "local_steps": self.tau}

    def distance2(self, r: int) -> Fraction:
        """``E |w - w*|^2`` after r rounds."""
        return distance2(self.run, r * self.tau)

    def distances_below(self, bound: Callable[[int], Fraction]) -> list[Chain]:
        """Compare the distances after every round with a bound."""
        return [(self.distance2(r), "<=", bound(r)) for r in range(1, self.num_rounds + 1)]


def fixed_step_rounds(rng: np.random.Generator, largest: int = 7) -> list[Rounds]:
    size = Fraction(whole(rng, 1, largest), 8)
    return [Rounds(rng, lambda fed, _: lambda _: size / fed.smoothness)]


def any_step_rounds(rng: np.random.Generator) -> list[Rounds]:
    sizes = [Fraction(whole(rng, 1, 8), 8) for _ in range(7)]
    return [Rounds(rng, lambda fed, _: lambda t: sizes[t % len(sizes)] / fed.smoothness)]


def decaying_step_rounds(rng: np.random.Generator) -> list[Rounds]:
    # A gamma for the longest round is also large enough for shorter ones.
    return [Rounds(rng, lambda fed, _: lambda t: 1 / (fed.strong_convexity * t + 8 * fed.smoothness))]


def _positive_skews(known: dict[str, Any]) -> dict[str, Any]:
    """Replace a skew of 0, by which bounds divide, by 1/1000."""
    rho = known["rho_diagonal"] or Fraction(1, 1000)
    return known | {"rho_diagonal": rho, "rho_tilde": max(known["rho_tilde"], rho)}


@step("power-of-choice:one-round", poc.one_round, fixed_step_rounds)
def one_round(s: Rounds) -> list[Chain]:
    """A round of E |w - w*|^2 without bounded gradients, fixed step size up to 1/L"""
    known = s.known | {"step_size": s.eta, "local_steps": s.tau}
    return s.distances_below(lambda r: poc.one_round(s.distance2(r - 1), **known))


@step("power-of-choice:one-round-any-steps", _A_ROUND, any_step_rounds, hypotheses=_ASSUMED)
def one_round_any_steps(s: Rounds) -> list[Chain]:
    """A round of E |w - w*|^2 without bounded gradients, step sizes in any order up to 1/L"""
    known = dict(s.known)
    Gamma, sigma2 = known.pop("objective_gap"), known.pop("sigma2")

    def bound(r: int) -> Fraction:
        sizes = [s.run.step_size(t) for t in range((r - 1) * s.tau, r * s.tau)]
        by = poc.round_coefficients(sizes, **known)
        return Fraction(by.distance2 * s.distance2(r - 1) + by.objective_gap * Gamma + by.sigma2 * sigma2)

    return s.distances_below(bound)


@step("power-of-choice:fixed-step-distance", poc.fixed_step_distance, fixed_step_rounds)
def fixed_step_distance(s: Rounds) -> list[Chain]:
    """E |w_T - w*|^2 without bounded gradients, fixed step size up to 1/L"""
    return s.distances_below(lambda r: poc.fixed_step_distance(r, step_size=s.eta, **s.from_start))


@step("power-of-choice:decaying-steps-distance", poc.decaying_steps_distance, decaying_step_rounds)
def decaying_steps_distance(s: Rounds) -> list[Chain]:
    """E |w_T - w*|^2 without bounded gradients, step sizes 1/(mu (t + gamma)) with gamma >= 2 tau L/mu"""
    known = _positive_skews(s.from_start) | {"gamma": 8 * s.known["L"] / s.known["mu"]}
    return s.distances_below(lambda r: poc.decaying_steps_distance(r, **known))


@step(
    "power-of-choice:averaged-rounds-gap",
    poc.averaged_rounds_gap,
    lambda rng: fixed_step_rounds(rng, largest=6),
    remark="by convexity the loss at the mean model is at most this mean",
)
def averaged_rounds_gap(s: Rounds) -> Chain:
    """The mean of E F(w) - F* over the starts of rounds, weights (1 - eta mu)^(-tau r), fixed step size below 1/L"""
    weights = [(1 - s.eta * s.known["mu"]) ** (-s.tau * r) for r in range(s.num_rounds)]
    mean = sum(weight * gap(s.run, r * s.tau) for r, weight in enumerate(weights)) / sum(weights)
    return mean, "<=", poc.averaged_rounds_gap(s.num_rounds, step_size=s.eta, **_positive_skews(s.from_start))


class PulledApart:
    """Two selected clients ``mu/2 (s - r)^2 + L/2 (z -+ d)^2``, and Gamma of a population with ``F = mu/2 |w|^2``."""

    def __init__(self, rng: np.random.Generator) -> None:
        mu, kappa = Fraction(whole(rng, 1, 6), 2), Fraction(whole(rng, 5, 20), 4)
        r, d = Fraction(whole(rng, 1, 9), 4), Fraction(whole(rng, 1, 9), 4)
        L = kappa * mu
        # Gamma is so large that the skew at the model is at most L/mu.
        Gamma = (mu * (d**2 + r**2) / 2) * Fraction(whole(rng, 4, 12), 4)
        high = L * d**2 / 2
        self.fed = RationalQuadratics(
            (vector(mu, L),) * 2, (vector(r, d), vector(r, -d)), vector("1/2", "1/2"), vector(0, 0)
        )
        self.start, self.away2 = vector(r, 0), r**2
        rho, rho_tilde = high / (mu * r**2 / 2 + Gamma), (mu * r**2 / 2 + high) / Gamma
        self.known = {"mu": mu, "L": L, "objective_gap": Gamma, "rho_diagonal": rho, "rho_tilde": rho_tilde}

    def models(self, sizes: list[Fraction]) -> list[Vector]:
        """Return the models of both clients after gradient steps."""
        models = [self.start] * 2
        for eta in sizes:
            models = [w - eta * self.fed.gradient(k, w) for k, w in enumerate(models)]
        return models


@claim(
    "power-of-choice:one-round-attained",
    "One local step from squared distance 2 Gamma (rho_tilde - rho)/(mu (1 + rho)) attains the bound of a round",
    poc.one_round,
    "identity",
)
def one_round_attained(rng: np.random.Generator) -> Finding:
    s = PulledApart(rng)
    eta = Fraction(whole(rng, 1, 8), 8) / s.known["L"]
    after = sum(map(norm2, s.models([eta]))) / 2
    known = s.known | {"step_size": eta, "local_steps": 1, "num_selected": 1, "sigma2": Fraction(0)}
    instance = {**format_federation(s.fed), "step_size": str(eta)}
    return equal_to(after, poc.one_round(s.away2, **known), instance=instance)


@claim(
    "power-of-choice:bias-attained",
    "A federation stays at squared distance 2 Gamma (rho_tilde - rho)/(mu (1 + rho)), the bias",
    poc.decaying_steps_distance,
    "identity",
)
def bias_attained(rng: np.random.Generator) -> Finding:
    s = PulledApart(rng)
    sizes = [Fraction(whole(rng, 1, 8), 8) / s.known["L"] for _ in range(whole(rng, 1, 4))]
    tau, gamma = len(sizes), 2 * len(sizes) * s.known["L"] / s.known["mu"]
    known = s.known | {"local_steps": tau, "num_selected": 2, "sigma2": Fraction(0), "initial_distance2": s.away2}
    bias = poc.decaying_steps_distance.terms(1, gamma=gamma, **known)["bias"]
    instance = {**format_federation(s.fed), "steps": str(Vector(sizes))}
    return equal_to(norm2(average(s.models(sizes))), bias, instance=instance)


_MANY = (20, 1000)


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants; skews that are equal, 0 or maximal are frequent."""
    mu, kappa = tenths(rng, 1, 20), tenths(rng, 11, 300)
    rho = kappa * pick(rng, [Fraction(0), Fraction(1), tenths(rng, 1, 9)])
    rho_tilde = rho * pick(rng, [Fraction(1), tenths(rng, 11, 40)]) or tenths(rng, 0, 30)
    return {"mu": mu, "L": mu * kappa, "rho_diagonal": rho, "rho_tilde": rho_tilde}


@claim(
    "power-of-choice:decaying-steps-distance-induction",
    "From psi/s + delta a round of steps 1/(mu (t + gamma)) leads to at most psi/(s + tau) + delta",
    poc.decaying_steps_distance,
    instances=_MANY,
    looseness=1.01,
)
def decaying_steps_induction(rng: np.random.Generator) -> Finding:
    known, tau = _class(rng), whole(rng, 1, 4)
    known["rho_diagonal"] = known["rho_diagonal"] or Fraction(1, 10)
    known["rho_tilde"] = max(known["rho_tilde"], known["rho_diagonal"])
    known |= {"num_selected": whole(rng, 1, 5)}
    Gamma, sigma2 = tenths(rng, 0, 30), tenths(rng, 0, 30)
    gamma = 2 * tau * known["L"] / known["mu"] * pick(rng, [Fraction(1), tenths(rng, 11, 40)])
    rounds = whole(rng, 0, 20)
    shared = {"gamma": gamma, "local_steps": tau, "sigma2": sigma2, "objective_gap": Gamma, **known}

    def bound(num_rounds: int) -> Fraction:
        return Fraction(poc.decaying_steps_distance(num_rounds, initial_distance2=Fraction(0), **shared))

    sizes = [1 / (known["mu"] * (tau * rounds + s + gamma)) for s in range(tau)]
    by = poc.round_coefficients(sizes, **known)
    after = Fraction(by.distance2 * bound(rounds) + by.objective_gap * Gamma + by.sigma2 * sigma2)
    return at_most(after, bound(rounds + 1), instance=as_texts(shared) | {"rounds": rounds})
