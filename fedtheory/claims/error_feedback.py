"""Claims about compressed communication (error feedback, EF21, compressed gradients): runs and false conjectures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, average, combination, inner, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.worst_case.compression import compressed_gradients


@dataclass(frozen=True)
class Constants:
    """mu, L, s and a step size."""

    mu: Fraction
    L: Fraction
    compression_error: Fraction
    step_size: Fraction

    @property
    def known(self) -> dict[str, Fraction]:
        """Arguments of the bounds."""
        return self.of_class | {"step_size": self.step_size}

    @property
    def of_class(self) -> dict[str, Fraction]:
        """Arguments of the bounds except the step size."""
        return {name: getattr(self, name) for name in ("mu", "L", "compression_error")}

    @property
    def instance(self) -> dict[str, str]:
        """Arguments of the bounds as text."""
        return as_texts(self.known)


def draw_constants(rng: np.random.Generator, mu: Fraction | None = None, L: Fraction | None = None) -> Constants:
    """Draw constants and a step size, below or above the best one, at which the rate z is rational."""
    s = Fraction(whole(rng, 1, 9), 10)
    L = Fraction(whole(rng, 5, 30), 10) if L is None else L
    mu = L * Fraction(whole(rng, 1, 9), 10) if mu is None else mu
    least = (1 - s) * (L - mu) / (L + mu)
    low = Fraction(int(64 * (float(least) + math.sqrt(float(least) ** 2 + 4 * float(s))) / 2) + 1, 64)
    z = low + (Fraction(5, 4) - low) * Fraction(whole(rng, 0, 16), 16)
    t = z - s / z
    options = [(t + 1 - s) / ((1 + s) * L)]
    if t < 1 - s:
        options.append((1 - s - t) / ((1 + s) * mu))
    return Constants(mu, L, s, pick(rng, options))


class Drawn(NamedTuple):
    """A federation, its first model, the constants, and the numbers that define them."""

    fed: RationalQuadratics
    w: Vector
    constants: Constants
    instance: dict[str, Any]


def draw_run(rng: np.random.Generator, *, common: bool) -> Drawn:
    """Draw a federation, a model and constants; if ``common``, all clients have the same minimizer."""
    fed = draw_federation(rng, common_minimizer=common)
    w, constants = draw_model(rng, fed.dim), draw_constants(rng, fed.strong_convexity, fed.smoothness)
    return Drawn(fed, w, constants, {**format_federation(fed), "model": str(w), **constants.instance})


def compressed(rng: np.random.Generator, x: Vector, error: Fraction) -> Vector:
    """Return a random compression of a vector: each entry has a relative error of at most ``error``."""
    return Vector((1 + error * Fraction(whole(rng, -2, 2), 2)) * entry for entry in x)


def apart(left: Sequence[Vector], right: Sequence[Vector]) -> list[Vector]:
    """Return the differences of vectors, elementwise."""
    return [x - y for x, y in zip(left, right, strict=True)]


def squares(weights: Vector, vectors: Sequence[Vector]) -> Fraction:
    """Return the weighted mean of the squared norms."""
    return inner(weights, list(map(norm2, vectors)))


def memory_potential(weights: Vector, away: Vector, memories: Sequence[Vector], s: Fraction) -> Fraction:
    """Return ``mean |w - w* - e_k|^2 + |mean e_k|^2/s``."""
    return squares(weights, [away - e for e in memories]) + norm2(combination(weights, memories)) / s


def ef_round_of(
    rng: np.random.Generator, drawn: Drawn, w: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Return the model and the memories after a round of error feedback."""
    fed, c = drawn.fed, drawn.constants
    wanted = [e + c.step_size * g for e, g in zip(memories, fed.gradients(w), strict=True)]
    sent = [compressed(rng, v, c.compression_error) for v in wanted]
    return w - combination(fed.weights, sent), apart(wanted, sent)


def ef21_round_of(
    rng: np.random.Generator, drawn: Drawn, w: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Return the model and the memories after a round of EF21."""
    fed, c = drawn.fed, drawn.constants
    w -= c.step_size * combination(fed.weights, memories)
    sent = [compressed(rng, change, c.compression_error) for change in apart(fed.gradients(w), memories)]
    return w, [d + m for d, m in zip(memories, sent, strict=True)]


def gradient_potential(
    weights: Vector, gradients: Sequence[Vector], memories: Sequence[Vector], s: Fraction
) -> Fraction:
    """Return ``s |grad F(w)|^2 + mean |grad F_k(w) - d_k|^2``."""
    return s * norm2(combination(weights, gradients)) + squares(weights, apart(gradients, memories))


_PAPER = error_feedback.PAPER
_TENTH = {"mu": Fraction(1, 10), "L": Fraction(1), "compression_error": Fraction(1, 2)}


def _top_1(x: Vector) -> Vector:
    """Keep the first of the entries of largest absolute value."""
    largest = max(range(len(x)), key=lambda i: abs(x[i]))
    return Vector(entry if i == largest else 0 for i, entry in enumerate(x))


@claim(
    "error-feedback:ef-without-common-minimizer",
    "Error feedback contracts its potential even if the clients have different minimizers",
    Statement(FEDTHEORY, "without a common minimizer, a conjecture", related=(_PAPER, "EF"), form="derived"),
    "refuted conjecture",
    remark="three clients |w|^2/2 + <h_k, w> that send the larger entry: the run leaves w* with memories of 0",
)
def ef_without_common_minimizer() -> Finding:
    eta = Fraction(9, 140)  # with a rational rate, 225/256
    wanted = [eta * tilt for tilt in (vector(3, 1), vector(-1, 2), vector(-2, -3))]
    # At w* = 0 the potential is 0. In two dimensions the larger entry has an error of at most (1/2)^(1/2) < 3/4.
    sent = list(map(_top_1, wanted))
    after = memory_potential(vector("1/3", "1/3", "1/3"), -1 * average(sent), apart(wanted, sent), Fraction(3, 4))
    known = {"mu": Fraction(1), "L": Fraction(2), "compression_error": Fraction(3, 4), "step_size": eta}
    return at_most(after, error_feedback.ef_round(0, **known), instance={"step_size": str(eta)})


@claim(
    "error-feedback:cgd-of-three-clients",
    "Compressed gradient descent of three clients with one minimizer converges at a short step size",
    Statement(FEDTHEORY, "several clients, a conjecture", related=(_PAPER, "CGD"), form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="<a_k, w>^2 + |w|^2/4 if the largest entry is sent: the model is multiplied by 1 + 11 eta/6 for every eta",
)
def cgd_of_three_clients(rng: np.random.Generator) -> Finding:
    eta, x = Fraction(1, whole(rng, 1, 10**6)), vector(1, 1, 1)
    rows = (vector(-3, 2, 2), vector(2, -3, 2), vector(2, 2, -3))
    after = x - eta * average([_top_1(2 * (a @ x) * a + x / 2) for a in rows])
    # The gap is a quadratic form with one value along (1, 1, 1), so that it grows like |w|^2.
    return at_most(norm2(after), norm2(x), instance={"step_size": str(eta)})


@claim(
    "error-feedback:cgd-distance",
    "Compressed gradient descent contracts distances at the rate at which it contracts losses",
    Statement(FEDTHEORY, "for distances, a conjecture", related=(_PAPER, "CGD"), form="derived"),
    "refuted conjecture",
    remark="in a certified worst case the distance grows",
)
def cgd_distance() -> Finding:
    worst = compressed_gradients(1, Fraction(40, 31), gap=1, error="distance2", **_TENTH)
    bound = error_feedback.cgd_gap(1, initial_gap=1, step_size=Fraction(40, 31), **_TENTH)
    return at_most(worst.enclosure[0], bound, instance=as_texts(_TENTH))


@claim(
    "error-feedback:cgd-published-step",
    "The best step size of compressed gradient descent is 2/((1 + s) (L + mu))",
    Statement(FEDTHEORY, "the step size of a published script, a conjecture", related=(_PAPER, "CGD"), form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="(1 - s) mu is correct instead of (1 + s) mu; the rate of the script's step size is attained",
)
def cgd_published_step(rng: np.random.Generator) -> Finding:
    c = draw_constants(rng)
    s, known = c.compression_error, c.of_class
    steps = 2 / ((1 + s) * (c.L + c.mu)), 2 / ((1 + s) * c.L + (1 - s) * c.mu)
    published, best = (error_feedback.cgd_gap(1, initial_gap=Fraction(1), step_size=eta, **known) for eta in steps)
    return at_most(published, best, instance=as_texts(known))


@claim(
    "error-feedback:ef-distance",
    "Up to four rounds of error feedback with initial memories of 0, quadratic clients with a common minimizer",
    error_feedback.ef_distance,
    looseness=1.01,
)
def ef_distance(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=True), whole(rng, 1, 4)
    fed, w = drawn.fed, drawn.w
    memories = [0 * w] * fed.num_clients
    for _ in range(num_rounds):
        w, memories = ef_round_of(rng, drawn, w, memories)
    initial_distance2 = norm2(drawn.w - fed.minimizer)
    bound = error_feedback.ef_distance(num_rounds, initial_distance2=initial_distance2, **drawn.constants.known)
    return at_most(norm2(w - fed.minimizer), bound, instance=drawn.instance | {"num_rounds": num_rounds})


@claim(
    "error-feedback:ef21-gradient2",
    "|grad F|^2 after up to four rounds of EF21 if the clients send their first gradients exactly",
    error_feedback.ef21_gradient2,
    looseness=1.01,
)
def ef21_gradient2(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=False), whole(rng, 1, 4)
    fed, c, w = drawn.fed, drawn.constants, drawn.w
    memories = list(fed.gradients(w))
    start = gradient_potential(fed.weights, memories, memories, c.compression_error)
    for _ in range(num_rounds):
        w, memories = ef21_round_of(rng, drawn, w, memories)
    bound = error_feedback.ef21_gradient2(num_rounds, initial_potential=start, **c.known)
    end = norm2(combination(fed.weights, fed.gradients(w)))
    return at_most(end, bound, instance=drawn.instance | {"num_rounds": num_rounds})
