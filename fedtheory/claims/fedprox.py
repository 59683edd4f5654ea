"""FedProx's theorem on quadratics whose proximal problems are solved, exactly or inexactly, in rational arithmetic."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedprox
from fedtheory.bounds._worst_cases import tenths
from fedtheory.claims._comparisons import as_texts
from fedtheory.instances._format import format_vectors
from fedtheory.instances.draws import draw_model, draw_shares, pick, whole
from fedtheory.instances.vectors import Vector, average, combination, inner, norm2
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import FEDTHEORY, Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, not_applicable


def _root_above(square: Fraction) -> Fraction:
    """Return a rational that exceeds the square root by at most a thousandth."""
    return Fraction(math.isqrt(square.numerator * 10**6 // square.denominator) + 1, 1000)


def _loss(weights: Vector, curvatures: list[Vector], centers: list[Vector], w: Vector) -> Fraction:
    pairs = zip(curvatures, (w - c for c in centers), strict=True)
    return inner(weights, [inner(h, [x * x for x in away]) for h, away in pairs]) / 2


@claim(
    "fedprox:loss-change",
    "E F(w_+) - F(w) over all draws of one or two quadratic clients, convex or not, with exact and inexact solutions",
    fedprox.loss_change,
    looseness=1.01,
)
def loss_change(rng: np.random.Generator) -> Finding:
    weights, K = draw_shares(rng, whole(rng, 1, 3)), whole(rng, 1, 2)
    curvatures = [Vector(Fraction(whole(rng, -2, 8), 4) for _ in range(2)) for _ in weights]
    w, centers = draw_model(rng, 2), [draw_model(rng, 2) for _ in weights]
    slopes = [Vector(h * x for h, x in zip(hs, w - c, strict=True)) for hs, c in zip(curvatures, centers, strict=True)]
    gradient2 = norm2(combination(weights, slopes))
    words = {"curvatures": format_vectors(curvatures), "centers": format_vectors(centers), "weights": str(weights)}
    words |= {"w": str(w)}
    if not gradient2:
        return not_applicable("w is stationary, and B is infinite there", **words)
    entries = [h for curve in curvatures for h in curve]
    known = {
        "L": max(*map(abs, entries), Fraction(1, 4)),
        "negative_curvature": -min(Fraction(0), *entries),
        "gradient_dissimilarity": max(Fraction(1), _root_above(inner(weights, list(map(norm2, slopes))) / gradient2)),
        "inexactness": pick(rng, [Fraction(0), Fraction(1, 10), Fraction(1, 4)]),
    }
    known["proximal_weight"] = mu = known["negative_curvature"] + Fraction(whole(rng, 1, 80), 4)
    # Each entry of h (y - c) + mu (y - w) is a share of the gradient at w.
    shares = [known["inexactness"] * Fraction(whole(rng, -2, 2), 2) for _ in weights]
    answers = [
        Vector((mu * x + h * c + share * g) / (h + mu) for h, c, x, g in zip(curve, center, w, slope, strict=True))
        for curve, center, slope, share in zip(curvatures, centers, slopes, shares, strict=True)
    ]
    cohorts = Law(enumerate(weights)) ** K
    after = cohorts.mean(lambda chosen: _loss(weights, curvatures, centers, average([answers[k] for k in chosen])))
    change = Fraction(after) - _loss(weights, curvatures, centers, w)
    return at_most(change, fedprox.loss_change(gradient2, **known), instance=words | as_texts({"K": K, **known}))


def _constants(rng: np.random.Generator) -> dict[str, Any]:
    L = tenths(rng, 1, 30)
    negative = L * pick(rng, [Fraction(0), tenths(rng, 1, 10)])
    return {
        "gradient2": tenths(rng, 1, 90),
        "L": L,
        "negative_curvature": negative,
        "proximal_weight": negative + tenths(rng, 1, 300),
        "gradient_dissimilarity": 1 + tenths(rng, 0, 30),
        "inexactness": pick(rng, [Fraction(0), tenths(rng, 1, 5)]),
    }


@claim(
    "fedprox:never-worse",
    "The bound with the constants derived here is at most the published bound",
    Statement(fedprox.PAPER, "Theorem 4"),
    hypotheses=tuple(assumed.text for assumed in fedprox.loss_change.hypotheses),
    looseness=1.2,
)
def never_worse(rng: np.random.Generator) -> Finding:
    known, K = _constants(rng), whole(rng, 1, 100)
    published = fedprox.loss_change.printed(num_selected=K, **known)
    words = as_texts(known) | {"num_selected": K}
    return at_most(fedprox.loss_change(**known), published, instance=words)


@claim(
    "fedprox:some-progress",
    "With exact solutions of convex clients, the weight L (2 B + B^2) gives progress 1/(2 L (2 B + B^2)) for every B",
    fedprox.loss_change,
    looseness=1.01,
)
def some_progress(rng: np.random.Generator) -> Finding:
    L, B = tenths(rng, 1, 30), 1 + tenths(rng, 0, 90)
    weight = L * (2 * B + B**2)
    known: dict[str, Any] = {"L": L, "negative_curvature": 0, "gradient_dissimilarity": B, "inexactness": 0}
    change = fedprox.loss_change(Fraction(1), proximal_weight=weight, **known)
    return at_least(-change, 1 / (2 * weight), instance={"L": str(L), "B": str(B)})


@claim(
    "fedprox:published-progress-at-two",
    "The published theorem guarantees progress at B = 2 with K = 4 B^2 clients and the weight 6 L B^2",
    Statement(FEDTHEORY, "at B = K^(1/2)/2, a conjecture", related=(fedprox.PAPER, "Theorem 4"), form="derived"),
    "refuted conjecture",
    instances=(5, 50),
    remark="its rho is negative for these values, and no B yields 1/(24 L B^2)",
)
def published_progress(rng: np.random.Generator) -> Finding:
    L = tenths(rng, 1, 30)
    known: dict[str, Any] = {"L": L, "negative_curvature": 0, "gradient_dissimilarity": 2, "inexactness": 0}
    change = fedprox.loss_change.printed(Fraction(1), proximal_weight=24 * L, num_selected=16, **known)
    return at_most(change, Fraction(0), instance={"L": str(L)})
