"""Compressed communication: error feedback, EF21 and compressed gradients, their proofs, runs and worst cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.claims._comparisons import as_texts
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_shares, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to
from fedtheory.worst_case.compression import compressed_gradients


@dataclass(frozen=True)
class Constants:
    """mu, L, s, a step size, the rate z of error feedback there, and the curvature at which it is attained."""

    mu: Fraction
    L: Fraction
    compression_error: Fraction
    step_size: Fraction
    z: Fraction
    curvature: Fraction

    @property
    def known(self) -> dict[str, Fraction]:
        """What bounds take."""
        return self.of_class | {"step_size": self.step_size}

    @property
    def of_class(self) -> dict[str, Fraction]:
        """What bounds take beside the step size."""
        return {name: getattr(self, name) for name in ("mu", "L", "compression_error")}

    @property
    def words(self) -> dict[str, str]:
        """What bounds take, as texts."""
        return as_texts(self.known)


def draw_constants(rng: np.random.Generator, mu: Fraction | None = None, L: Fraction | None = None) -> Constants:
    """Draw constants, and a step size at which the rate z is rational, on either side of the best one."""
    s = Fraction(whole(rng, 1, 9), 10)
    L = Fraction(whole(rng, 5, 30), 10) if L is None else L
    mu = L * Fraction(whole(rng, 1, 9), 10) if mu is None else mu
    least = (1 - s) * (L - mu) / (L + mu)
    low = Fraction(int(64 * (float(least) + math.sqrt(float(least) ** 2 + 4 * float(s))) / 2) + 1, 64)
    z = low + (Fraction(5, 4) - low) * Fraction(whole(rng, 0, 16), 16)
    t = z - s / z
    options = [((t + 1 - s) / ((1 + s) * L), L)]
    if t < 1 - s:
        options.append(((1 - s - t) / ((1 + s) * mu), mu))
    step_size, curvature = pick(rng, options)
    return Constants(mu, L, s, step_size, z, curvature)


@dataclass(frozen=True)
class Drawn:
    """A federation, its first model, constants, and everything in words."""

    federation: RationalQuadratics
    model: Vector
    constants: Constants
    words: dict[str, Any]


def draw_run(rng: np.random.Generator, *, common: bool) -> Drawn:
    """Draw a federation, with one minimizer for all clients if ``common``, a model, and constants."""
    fed = draw_federation(rng, common_minimizer=common)
    model, constants = draw_model(rng, fed.dim), draw_constants(rng, fed.strong_convexity, fed.smoothness)
    return Drawn(fed, model, constants, {**federation_in_words(fed), "model": in_words(model), **constants.words})


def compressed(rng: np.random.Generator, vector: Vector, error: Fraction) -> Vector:
    """Return what some compressor makes of a vector: each entry is off by a share of it, up to the largest."""
    return tuple((1 + error * Fraction(whole(rng, -2, 2), 2)) * entry for entry in vector)


def deviations(weights: Vector, vectors: Sequence[Vector]) -> list[Vector]:
    """Return the vectors less their mean."""
    mean = combination(weights, vectors)
    return [difference(one, mean) for one in vectors]


def squares(weights: Vector, vectors: Sequence[Vector]) -> Fraction:
    """Return the weighted mean of squared lengths."""
    return sum((p * norm2(one) for p, one in zip(weights, vectors, strict=True)), start=Fraction(0))


def memory_potential(weights: Vector, away: Vector, memories: Sequence[Vector], s: Fraction) -> Fraction:
    """Return ``mean |w - w* - e_k|^2 + |mean e_k|^2/s``."""
    return squares(weights, [difference(away, e) for e in memories]) + norm2(combination(weights, memories)) / s


def ef_round_of(
    rng: np.random.Generator, drawn: Drawn, model: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Take a round of error feedback."""
    fed, eta = drawn.federation, drawn.constants.step_size
    wanted = [added(e, scaled(eta, g)) for e, g in zip(memories, fed.gradients(model), strict=True)]
    sent = [compressed(rng, v, drawn.constants.compression_error) for v in wanted]
    left_out = [difference(v, m) for v, m in zip(wanted, sent, strict=True)]
    return difference(model, combination(fed.weights, sent)), left_out


def ef21_round_of(
    rng: np.random.Generator, drawn: Drawn, model: Vector, memories: Sequence[Vector]
) -> tuple[Vector, list[Vector]]:
    """Take a round of EF21."""
    fed = drawn.federation
    model = difference(model, scaled(drawn.constants.step_size, combination(fed.weights, memories)))
    changes = [difference(g, d) for g, d in zip(fed.gradients(model), memories, strict=True)]
    sent = [compressed(rng, v, drawn.constants.compression_error) for v in changes]
    return model, [added(d, m) for d, m in zip(memories, sent, strict=True)]


def gradient_potential(fed: RationalQuadratics, model: Vector, memories: Sequence[Vector], s: Fraction) -> Fraction:
    """Return ``s |grad F(w)|^2 + mean |grad F_k(w) - d_k|^2``."""
    gradients = fed.gradients(model)
    apart = [difference(g, d) for g, d in zip(gradients, memories, strict=True)]
    return s * norm2(combination(fed.weights, gradients)) + squares(fed.weights, apart)


_PAPER = error_feedback.PAPER
_TENTH = {"mu": Fraction(1, 10), "L": Fraction(1), "compression_error": Fraction(1, 2)}


def _top_1(x: Vector) -> Vector:
    """Keep the entry of largest size, the first of several."""
    largest = max(range(len(x)), key=lambda i: abs(x[i]))
    return tuple(entry if i == largest else Fraction(0) for i, entry in enumerate(x))


@claim(
    "error-feedback:ef-without-common-minimizer",
    "Error feedback contracts its potential also where clients have minimizers of their own",
    Statement(_PAPER, "EF", "without a common minimizer, a guess", form="derived"),
    "refuted conjecture",
    remark="three clients |w|^2/2 + <h_k, w> that send the larger entry: the run leaves w* with empty memories",
)
def ef_without_common_minimizer() -> Finding:
    tilts, eta = (vector(3, 1), vector(-1, 2), vector(-2, -3)), Fraction(9, 140)  # with a rational rate, 225/256
    weights = (Fraction(1, 3),) * 3
    # At w* = 0 the potential is 0. In two dimensions the larger entry is off by at most (1/2)^(1/2) < 3/4.
    sent = [_top_1(scaled(eta, h)) for h in tilts]
    left_out = [difference(scaled(eta, h), m) for h, m in zip(tilts, sent, strict=True)]
    after = memory_potential(weights, scaled(-1, combination(weights, sent)), left_out, Fraction(3, 4))
    known = {"mu": Fraction(1), "L": Fraction(2), "compression_error": Fraction(3, 4), "step_size": eta}
    return at_most(after, error_feedback.ef_round(0, **known), instance={"step_size": str(eta)})


@claim(
    "error-feedback:cgd-of-three-clients",
    "Compressed gradient descent of three clients with one minimizer converges at a short step size",
    Statement(_PAPER, "CGD", "several clients, a guess", form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="<a_k, w>^2 + |w|^2/4 with the largest entry sent: the model is multiplied by 1 + 11 eta/6 whatever eta",
)
def cgd_of_three_clients(rng: np.random.Generator) -> Finding:
    eta, x = Fraction(1, whole(rng, 1, 10**6)), vector(1, 1, 1)
    rows = (vector(-3, 2, 2), vector(2, -3, 2), vector(2, 2, -3))
    slopes = [added(scaled(2 * inner(a, x), a), scaled(Fraction(1, 2), x)) for a in rows]
    after = difference(x, combination((eta / 3,) * 3, [_top_1(g) for g in slopes]))
    # The gap is a form that is the same along (1, 1, 1): it grows as |w|^2 does.
    return at_most(norm2(after), norm2(x), instance={"step_size": str(eta)})


@claim(
    "error-feedback:cgd-distance",
    "Compressed gradient descent contracts distances at the rate of its losses",
    Statement(_PAPER, "CGD", "for distances, a guess", form="derived"),
    "refuted conjecture",
    remark="refuted by a certified worst case in which the distance grows",
)
def cgd_distance() -> Finding:
    worst = compressed_gradients(1, Fraction(40, 31), gap=1, error="distance2", **_TENTH)
    bound = error_feedback.cgd_gap(1, initial_gap=1, step_size=Fraction(40, 31), **_TENTH)
    return at_most(worst.enclosure[0], bound, instance=as_texts(_TENTH))


@claim(
    "error-feedback:cgd-published-step",
    "The best step size of compressed gradient descent is 2/((1 + s) (L + mu))",
    Statement(_PAPER, "CGD", "the step size of a published script, a guess", form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="(1 - s) mu belongs in the place of (1 + s) mu; the factor of the script's step size is attained",
)
def cgd_published_step(rng: np.random.Generator) -> Finding:
    c = draw_constants(rng)
    s, known = c.compression_error, c.of_class
    steps = 2 / ((1 + s) * (c.L + c.mu)), 2 / ((1 + s) * c.L + (1 - s) * c.mu)
    published, best = (error_feedback.cgd_gap(1, initial_gap=Fraction(1), step_size=eta, **known) for eta in steps)
    return at_most(published, best, instance=as_texts(known))


@claim(
    "error-feedback:best-step",
    "No step size has a better rate of error feedback than 2 (1 - s)/((1 + s) (L + mu))",
    error_feedback.ef_round,
    "optimality",
)
def best_step(rng: np.random.Generator) -> Finding:
    c = draw_constants(rng)
    s = c.compression_error
    best = 2 * (1 - s) / ((1 + s) * (c.L + c.mu))
    bound = error_feedback.ef_round(1.0, **{**c.known, "step_size": best})
    return at_least(error_feedback.ef_round(Fraction(1), **c.known), bound, instance=c.words)


@claim(
    "error-feedback:cgd-faster",
    "At its best step size compressed gradient descent of one client is at least as fast as error feedback at its own",
    error_feedback.cgd_gap,
    looseness=1.01,
    remark="with D = (L - mu)/(L + mu) the root q = (D + s)/(1 + s D) makes q^2 - (1 - s) D q - s negative",
)
def cgd_faster(rng: np.random.Generator) -> Finding:
    c = draw_constants(rng)
    s, known = c.compression_error, c.of_class
    alone = 2 / ((1 + s) * c.L + (1 - s) * c.mu)
    q2 = error_feedback.cgd_gap(1, initial_gap=Fraction(1), step_size=alone, **known)
    z2 = error_feedback.ef_round(Fraction(1), step_size=2 * (1 - s) / ((1 + s) * (c.L + c.mu)), **known)
    return at_most(q2, z2, instance=as_texts(known))


_MANY = (40, 2000)
_ANY = "the multipliers and squares are those of the page; the vectors are any, so that no run can break the identity"


def _vectors(rng: np.random.Generator, count: int) -> list[Vector]:
    return [draw_model(rng, 2) for _ in range(count)]


def _cocoercive(
    weights: Vector, slopes: Sequence[Vector], ways: Sequence[Vector], mu: Fraction, L: Fraction
) -> Fraction:
    """Return the mean of ``<g - mu x, g - L x>/(L - mu)``, which functions of the class keep at most 0."""
    each = (inner(difference(g, scaled(mu, x)), difference(g, scaled(L, x))) for g, x in zip(slopes, ways, strict=True))
    return inner(weights, tuple(each)) / (L - mu)


@claim(
    "error-feedback:ef-identity",
    "z^2 V less the next potential of error feedback is a sum of multiplied inequalities and squares",
    error_feedback.ef_round,
    "identity",
    instances=_MANY,
    remark=_ANY,
)
def ef_identity(rng: np.random.Generator) -> Finding:
    c, weights = draw_constants(rng), draw_shares(rng, whole(rng, 1, 3))
    s, z, eta, t = c.compression_error, c.z, c.step_size, c.z - c.compression_error / c.z
    x, (e, g, m) = draw_model(rng, 2), (_vectors(rng, len(weights)) for _ in range(3))
    v = [added(one, scaled(eta, slope)) for one, slope in zip(e, g, strict=True)]
    left_out = [difference(*pair) for pair in zip(v, m, strict=True)]
    after = memory_potential(weights, difference(x, combination(weights, m)), left_out, s)
    A = (1 + s) * t * z / s
    B = eta * z * (2 / (c.L - c.mu) - eta * (1 + s) / t)
    apart = 2 * eta * z / (c.L - c.mu) - s * eta**2 - s**2 * eta**2 / (t * z)
    mean_e, mean_g, dev_g = combination(weights, e), combination(weights, g), deviations(weights, g)
    drift = [
        difference(one, scaled(s * eta / (t * z), two)) for one, two in zip(deviations(weights, e), dev_g, strict=True)
    ]
    summands = (
        -2 * eta * z * _cocoercive(weights, g, [x] * len(g), c.mu, c.L),
        -(squares(weights, left_out) - s**2 * squares(weights, v)) / s,
        A * norm2(combination((Fraction(1), (1 - z**2) / A, -(1 + s) * eta / A), (mean_e, x, mean_g))),
        B * norm2(difference(mean_g, scaled(c.curvature, x))),
        t * z * squares(weights, drift),
        apart * squares(weights, dev_g),
        (1 / s - 1) * squares(weights, deviations(weights, left_out)),
    )
    bound = error_feedback.ef_round(memory_potential(weights, x, e, s), **c.known)
    if min(A, B, apart) < 0:
        return equal_to(min(A, B, apart), 0, instance=c.words)
    return equal_to(after + sum(summands), bound, instance=c.words)


@claim(
    "error-feedback:ef21-identity",
    "z^2 V less the next potential of EF21 is a sum of multiplied inequalities and squares",
    error_feedback.ef21_round,
    "identity",
    instances=_MANY,
    remark=_ANY,
)
def ef21_identity(rng: np.random.Generator) -> Finding:
    c, weights = draw_constants(rng), draw_shares(rng, whole(rng, 1, 3))
    s, z, eta, t = c.compression_error, c.z, c.step_size, c.z - c.compression_error / c.z
    g, d, after, m = (_vectors(rng, len(weights)) for _ in range(4))
    mean_g, mean_d = combination(weights, g), combination(weights, d)
    change = [difference(*pair) for pair in zip(after, g, strict=True)]
    wanted = [difference(*pair) for pair in zip(after, d, strict=True)]
    left_out = [difference(*pair) for pair in zip(wanted, m, strict=True)]
    mean_q, dev_q = combination(weights, change), deviations(weights, change)
    step = scaled(-eta, mean_d)
    A = (1 + s) * t * z
    B = s * z * (2 / (eta * (c.L - c.mu)) - (1 + s) / t)
    apart = 2 * s * z / (eta * (c.L - c.mu)) - s**2 - s**4 / (z**2 - s**2)
    behind = deviations(weights, [difference(*pair) for pair in zip(g, d, strict=True)])
    drift = [difference(one, scaled(s**2 / (z**2 - s**2), two)) for one, two in zip(behind, dev_q, strict=True)]
    summands = (
        -2 * s * z / eta * _cocoercive(weights, change, [step] * len(g), c.mu, c.L),
        -(squares(weights, left_out) - s**2 * squares(weights, wanted)),
        A * norm2(combination((Fraction(1), -(z**2 - s**2) / A, -s * (1 + s) / A), (mean_g, mean_d, mean_q))),
        B * norm2(added(mean_q, scaled(c.curvature * eta, mean_d))),
        (z**2 - s**2) * squares(weights, drift),
        apart * squares(weights, dev_q),
    )
    before = s * norm2(mean_g) + squares(weights, [difference(*pair) for pair in zip(g, d, strict=True)])
    potential = s * norm2(combination(weights, after)) + squares(weights, left_out)
    if min(A, B, apart, z**2 - s**2) < 0:
        return equal_to(min(A, B, apart), 0, instance=c.words)
    return equal_to(potential + sum(summands), error_feedback.ef21_round(before, **c.known), instance=c.words)


@claim(
    "error-feedback:cgd-identity",
    "q^2 times the gap less the next one is a sum of multiplied inequalities and squares, without a memory",
    error_feedback.cgd_gap,
    "identity",
    instances=_MANY,
    remark=_ANY,
)
def cgd_identity(rng: np.random.Generator) -> Finding:
    s, L = Fraction(whole(rng, 1, 9), 10), Fraction(whole(rng, 5, 30), 10)
    mu = L * Fraction(whole(rng, 1, 9), 10)
    eta = 2 * Fraction(whole(rng, 1, 20), 20) / ((1 + s) * L)
    short, long, bulge = 1 - (1 - s) * eta * mu, (1 + s) * eta * L - 1, L - mu
    q, k = (short, mu) if short >= long else (long, L)
    x, g, after, sent = _vectors(rng, 4)
    gap, gap_after = (Fraction(whole(rng, 0, 40), 4) for _ in range(2))
    zero, way = scaled(0, x), difference(x, scaled(eta, sent))
    r = q - eta * L * s
    # 2 - eta ((1 + s) L + (1 - s) mu) is what the step is shorter, or longer, than the best one.
    away = abs(2 - eta * ((1 + s) * L + (1 - s) * mu))
    last = q * away * (L * eta * (1 - s) if k == mu else 2 - (1 + s) * eta * L) / (2 * bulge * r)
    summands = (
        q * _above((gap, x, g), (gap_after, way, after), mu, L),
        (1 - q) * _above((Fraction(0), zero, zero), (gap_after, way, after), mu, L),
        q * (1 - q) * _above((Fraction(0), zero, zero), (gap, x, g), mu, L),
        eta * q / (2 * s) * (s**2 * norm2(g) - norm2(difference(sent, g))),
        norm2(combination((Fraction(1), -q, L * eta, -L * (1 - q)), (after, g, sent, x))) / (2 * bulge),
        eta * r / (2 * s) * norm2(combination((Fraction(1), -(1 - s) * q / r, L * s * (1 - q) / r), (sent, g, x))),
        last * norm2(difference(g, scaled(k, x))),
    )
    known = {"mu": mu, "L": L, "compression_error": s, "step_size": eta}
    words = as_texts(known)
    if min(r, last, 1 - q) < 0:
        return equal_to(min(r, last, 1 - q), 0, instance=words)
    return equal_to(gap_after + sum(summands), error_feedback.cgd_gap(1, initial_gap=gap, **known), instance=words)


Known = tuple[Fraction, Vector, Vector]
"""Value, place and gradient."""


def _above(one: Known, other: Known, mu: Fraction, L: Fraction) -> Fraction:
    """Return by how much a value is above the least that the class allows beside another point."""
    (f, x, g), (e, y, h) = one, other
    way = difference(x, y)
    bend = difference(difference(g, h), scaled(mu, way))
    return f - e - inner(h, way) - mu / 2 * norm2(way) - norm2(bend) / (2 * (L - mu))


@claim(
    "error-feedback:ef-round",
    "A round of error feedback of quadratic clients with one minimizer, any memories, weights, step size, compressor",
    error_feedback.ef_round,
    looseness=1.01,
)
def one_ef_round(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, common=True)
    fed, c = drawn.federation, drawn.constants
    memories = [draw_model(rng, fed.dim) for _ in fed.weights]
    model, left_out = ef_round_of(rng, drawn, drawn.model, memories)
    before, after = (
        memory_potential(fed.weights, difference(w, fed.minimizer), e, c.compression_error)
        for w, e in ((drawn.model, memories), (model, left_out))
    )
    return at_most(after, error_feedback.ef_round(before, **c.known), instance=drawn.words)


@claim(
    "error-feedback:ef-distance",
    "Up to four rounds of error feedback from empty memories, quadratic clients with one minimizer",
    error_feedback.ef_distance,
    looseness=1.01,
)
def ef_distance(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=True), whole(rng, 1, 4)
    fed, model = drawn.federation, drawn.model
    memories = [scaled(0, model)] * fed.num_clients
    for _ in range(num_rounds):
        model, memories = ef_round_of(rng, drawn, model, memories)
    start, end = (norm2(difference(w, fed.minimizer)) for w in (drawn.model, model))
    bound = error_feedback.ef_distance(num_rounds, initial_distance2=start, **drawn.constants.known)
    return at_most(end, bound, instance=drawn.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:ef21-round",
    "A round of EF21 of any quadratic clients, any memories, weights, step size, compressor",
    error_feedback.ef21_round,
    looseness=1.01,
)
def one_ef21_round(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, common=False)
    fed, s = drawn.federation, drawn.constants.compression_error
    memories = [draw_model(rng, fed.dim) for _ in fed.weights]
    model, after = ef21_round_of(rng, drawn, drawn.model, memories)
    bound = error_feedback.ef21_round(gradient_potential(fed, drawn.model, memories, s), **drawn.constants.known)
    return at_most(gradient_potential(fed, model, after, s), bound, instance=drawn.words)


@claim(
    "error-feedback:ef21-gradient2",
    "|grad F|^2 after up to four rounds of EF21 whose clients send their first gradients as they are",
    error_feedback.ef21_gradient2,
    looseness=1.01,
)
def ef21_gradient2(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=False), whole(rng, 1, 4)
    fed, s, model = drawn.federation, drawn.constants.compression_error, drawn.model
    memories = list(fed.gradients(model))
    start = gradient_potential(fed, model, memories, s)
    for _ in range(num_rounds):
        model, memories = ef21_round_of(rng, drawn, model, memories)
    bound = error_feedback.ef21_gradient2(num_rounds, initial_potential=start, **drawn.constants.known)
    end = norm2(combination(fed.weights, fed.gradients(model)))
    return at_most(end, bound, instance=drawn.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:cgd-gap",
    "Up to four compressed gradient steps of one quadratic client, any compressor",
    error_feedback.cgd_gap,
    looseness=1.01,
)
def cgd_gap(rng: np.random.Generator) -> Finding:
    drawn, num_rounds = draw_run(rng, common=True), whole(rng, 1, 4)
    fed, c, model = drawn.federation, drawn.constants, drawn.model
    eta = 2 * Fraction(whole(rng, 1, 20), 20) / ((1 + c.compression_error) * c.L)
    for _ in range(num_rounds):
        step = compressed(rng, combination(fed.weights, fed.gradients(model)), c.compression_error)
        model = difference(model, scaled(eta, step))
    known = c.known | {"step_size": eta}
    bound = error_feedback.cgd_gap(num_rounds, initial_gap=fed.gap(drawn.model), **known)
    return at_most(fed.gap(model), bound, instance=drawn.words | {"step_size": str(eta), "num_rounds": num_rounds})


@claim(
    "error-feedback:ef-attained",
    "A parabola and the compressor (1 + s) v attain the rate of error feedback in every round, at every step size",
    error_feedback.ef_round,
    "identity",
    instances=(20, 1000),
)
def ef_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s, k, Z = c.compression_error, c.curvature, c.z if c.curvature == c.mu else -c.z
    x, e = Fraction(1), (1 - Z) / (1 + s) - c.step_size * k
    bound = memory_potential((Fraction(1),), (x,), [(e,)], s)
    for _ in range(num_rounds):
        wanted = e + c.step_size * k * x
        x, e = x - (1 + s) * wanted, -s * wanted
        bound = error_feedback.ef_round(bound, **c.known)
    after = memory_potential((Fraction(1),), (x,), [(e,)], s)
    return equal_to(after, bound, instance=c.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:ef21-attained",
    "A parabola and the compressor (1 + s) v attain the rate of EF21 in every round, at every step size",
    error_feedback.ef21_round,
    "identity",
    instances=(20, 1000),
)
def ef21_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s, k, Z = c.compression_error, c.curvature, c.z if c.curvature == c.mu else -c.z
    x, d = Fraction(1), (1 - Z) / c.step_size
    bound = s * (k * x) ** 2 + (k * x - d) ** 2
    for _ in range(num_rounds):
        x -= c.step_size * d
        d += (1 + s) * (k * x - d)
        bound = error_feedback.ef21_round(bound, **c.known)
    after = s * (k * x) ** 2 + (k * x - d) ** 2
    return equal_to(after, bound, instance=c.words | {"num_rounds": num_rounds})


@claim(
    "error-feedback:cgd-attained",
    "A parabola and the compressor (1 - s) v or (1 + s) v attain the rate of compressed gradient descent",
    error_feedback.cgd_gap,
    "identity",
    instances=(20, 1000),
)
def cgd_attained(rng: np.random.Generator) -> Finding:
    c, num_rounds = draw_constants(rng), whole(rng, 1, 4)
    s = c.compression_error
    eta = 2 * Fraction(whole(rng, 1, 20), 20) / ((1 + s) * c.L)
    known = c.known | {"step_size": eta}
    k, share = max(((c.mu, 1 - s), (c.L, 1 + s)), key=lambda pair: abs(1 - eta * pair[0] * pair[1]))
    x = (1 - eta * k * share) ** num_rounds
    bound = error_feedback.cgd_gap(num_rounds, initial_gap=k / 2, **known)
    return equal_to(k / 2 * x**2, bound, instance=as_texts(known))
