"""The proofs: what is left of the rate times the potential is a sum of squares, for any vectors whatever."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.claims.error_feedback._runs import (
    deviations,
    draw_constants,
    memory_potential,
    squares,
)
from fedtheory.rational.draws import draw_model, draw_shares, whole
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, equal_to

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
    words = {name: str(value) for name, value in known.items()}
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
