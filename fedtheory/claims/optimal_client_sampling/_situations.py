"""Situations of Optimal Client Sampling: norms with a budget, and a round of DSGD or FedAvg."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances.federations import RationalQuadratics, Wells
from fedtheory.instances.sampled_rounds import SampledRound, draw_quadratic_round, draw_wells_round
from fedtheory.instances.vectors import Vector, combination, inner, norm2
from fedtheory.theorem.draws import whole

PROBLEM = "norms at least 0 and finite, 0 < m <= n"


def draw_norms(rng: np.random.Generator) -> Vector:
    """Draw 1 to 9 norms: integers with ties, many zeros, equal norms, or up to 500 orders of magnitude apart."""
    num_clients, kind = whole(rng, 1, 9), whole(rng, 0, 3)
    if kind == 0:
        return Vector(Fraction(whole(rng, 0, 6)) for _ in range(num_clients))
    if kind == 1:
        return Vector(Fraction(whole(rng, 0, 3) * whole(rng, 0, 1), 7) for _ in range(num_clients))
    if kind == 2:
        return Vector([Fraction(whole(rng, 1, 9), 4)] * num_clients)
    widest = (3, 30, 250)[whole(rng, 0, 2)]
    return Vector(whole(rng, 1, 99) * Fraction(2) ** whole(rng, -widest, widest) for _ in range(num_clients))


def draw_budget(rng: np.random.Generator, num_clients: int) -> Fraction:
    """Draw a budget in (0, n]: a multiple of 1/8, an integer, or n."""
    kind = whole(rng, 0, 3)
    if kind == 0:
        return Fraction(whole(rng, 1, num_clients))
    return Fraction(num_clients) if kind == 1 else Fraction(whole(rng, 1, 8 * num_clients), 8)


def as_floats(numbers: Vector) -> list[float]:
    """Round the entries of a vector to floats."""
    return [float(number) for number in numbers]


class Norms:
    """Norms t_i of n updates, and the expected number m of sampled clients."""

    def __init__(self, t: Vector, m: Fraction) -> None:
        self.t, self.m, self.n = t, m, len(t)
        self.instance: dict[str, Any] = {"norms": ", ".join(map(str, t)), "expected_size": str(m)}

    @property
    def floats(self) -> tuple[list[float], float]:
        """Norms and budget as floats."""
        return as_floats(self.t), float(self.m)

    @property
    def array(self) -> Any:
        """The norms as an object array, which keeps them exact."""
        return np.array(self.t, dtype=object)


def norms(rng: np.random.Generator) -> list[Norms]:
    t = draw_norms(rng)
    return [Norms(t, draw_budget(rng, len(t)))]


def squared_weight(weights: Vector, vectors: tuple[Vector, ...]) -> Fraction:
    """``sum_i w_i^2 |v_i|^2``."""
    return inner([w * w for w in weights], list(map(norm2, vectors)))


def steps_of(drawn: SampledRound) -> dict[str, Any]:
    """R and eta_g under the argument names of the bounds."""
    return {"local_steps": drawn.local_steps, "server_step_size": drawn.server_step_size}


class QuadraticRound:
    """A round on quadratics.

    Only f must be strongly convex; its ``mu`` may exceed ``client_mu``, that of the clients.
    """

    def __init__(self, drawn: SampledRound, fed: RationalQuadratics, instance: dict[str, Any]) -> None:
        self.round, self.fed, self.instance = drawn, fed, instance
        self.eta, self.L, self.Gamma = drawn.step_size, fed.smoothness, fed.objective_gap
        self.mu, self.client_mu = min(combination(fed.weights, fed.curvatures)), fed.strong_convexity
        self.distance2, self.gap = norm2(drawn.model - fed.minimizer), fed.gap(drawn.model)

    @property
    def known(self) -> dict[str, Any]:
        """Constants of the one-round bounds."""
        errors = {"distance2": self.distance2, "gap": self.gap, "step_size": self.eta}
        return errors | {"mu": self.mu, "L": self.L, "gamma": self.round.gamma, **self.round.constants}

    @property
    def known_of_fedavg(self) -> dict[str, Any]:
        """Constants of the bounds of Theorem 17."""
        return self.known | steps_of(self.round) | {"mu": self.client_mu}

    @property
    def after(self) -> Fraction:
        """``E |x+ - x*|^2``."""
        return distance2_after(self.round, self.fed.minimizer)


def distance2_after(drawn: SampledRound, best: Vector) -> Fraction:
    """``E |x+ - x*|^2`` after a round."""
    return Fraction(drawn.models.mean(lambda x: norm2(x - best)))


class WellsRound:
    """A round on non-convex clients."""

    def __init__(self, drawn: SampledRound, clients: Wells, instance: dict[str, Any]) -> None:
        self.round, self.clients, self.instance = drawn, clients, instance
        self.eta, self.L, self.gradients = drawn.step_size, clients.smoothness, drawn.gradients()
        self.value, self.gradient2 = clients.value(drawn.model), norm2(drawn.full_gradient)

    @property
    def known(self) -> dict[str, Any]:
        """Constants of Theorem 15 except gamma."""
        known = {"gradient2": self.gradient2, "step_size": self.eta, "L": self.L}
        return known | {"dissimilarity": self.clients.dissimilarity, **self.round.constants}

    @property
    def after(self) -> Fraction:
        """``E f(x+)``."""
        return Fraction(self.round.models.mean(self.clients.value))


def quadratic_round(rng: np.random.Generator, longest_round: int = 1) -> list[QuadraticRound]:
    return [QuadraticRound(*draw_quadratic_round(rng, longest_round=longest_round))]


def long_quadratic_round(rng: np.random.Generator) -> list[QuadraticRound]:
    return quadratic_round(rng, longest_round=3)


def wells_round(rng: np.random.Generator, longest_round: int = 1) -> list[WellsRound]:
    return [WellsRound(*draw_wells_round(rng, longest_round=longest_round))]


def long_wells_round(rng: np.random.Generator) -> list[WellsRound]:
    return wells_round(rng, longest_round=3)
