"""Power-of-Choice without bounded gradients: whole rounds against exact runs, and tight examples."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain, step
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.observed import initial_distance2, observed_skews
from fedtheory.instances.run_draws import draw_run
from fedtheory.instances.runs import gap
from fedtheory.instances.step_sizes import StepSizes
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, equal_to


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


def fixed_step_rounds(rng: np.random.Generator, largest: int = 7) -> list[Rounds]:
    size = Fraction(whole(rng, 1, largest), 8)
    return [Rounds(rng, lambda fed, _: lambda _: size / fed.smoothness)]


def _positive_skews(known: dict[str, Any]) -> dict[str, Any]:
    """Replace a skew of 0, by which bounds divide, by 1/1000."""
    rho = known["rho_diagonal"] or Fraction(1, 1000)
    return known | {"rho_diagonal": rho, "rho_tilde": max(known["rho_tilde"], rho)}


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
