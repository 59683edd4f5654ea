"""Where compressed communication does not converge as one may think, and which step sizes are best."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.claims.error_feedback._runs import draw_constants, memory_potential
from fedtheory.rational.draws import whole
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled, vector
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most
from fedtheory.worst_case.compressed_rounds import compressed_gradients

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
    instances=(1, 1),
    remark="three clients |w|^2/2 + <h_k, w> that send the larger entry: the run leaves w* with empty memories",
)
def ef_without_common_minimizer(rng: np.random.Generator) -> Finding:
    del rng
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
    instances=(1, 1),
    remark="refuted by a certified worst case in which the distance grows",
)
def cgd_distance(rng: np.random.Generator) -> Finding:
    del rng
    worst = compressed_gradients(1, Fraction(40, 31), gap=1, error="distance2", **_TENTH)
    bound = error_feedback.cgd_gap(1, initial_gap=1, step_size=Fraction(40, 31), **_TENTH)
    return at_most(worst.enclosure[0], bound, instance={name: str(value) for name, value in _TENTH.items()})


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
    s, known = c.compression_error, {name: c.known[name] for name in ("mu", "L", "compression_error")}
    steps = 2 / ((1 + s) * (c.L + c.mu)), 2 / ((1 + s) * c.L + (1 - s) * c.mu)
    published, best = (error_feedback.cgd_gap(1, initial_gap=Fraction(1), step_size=eta, **known) for eta in steps)
    return at_most(published, best, instance={name: str(value) for name, value in known.items()})


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
    s, known = c.compression_error, {name: c.known[name] for name in ("mu", "L", "compression_error")}
    alone = 2 / ((1 + s) * c.L + (1 - s) * c.mu)
    q2 = error_feedback.cgd_gap(1, initial_gap=Fraction(1), step_size=alone, **known)
    z2 = error_feedback.ef_round(Fraction(1), step_size=2 * (1 - s) / ((1 + s) * (c.L + c.mu)), **known)
    return at_most(q2, z2, instance={name: str(value) for name, value in known.items()})
