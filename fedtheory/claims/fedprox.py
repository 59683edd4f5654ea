"""FedProx's theorem on quadratics whose proximal problems are solved, exactly or inexactly, in rational arithmetic."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedprox
from fedtheory.instances.draws import draw_model, draw_shares
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, average, combination, inner, norm2
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, tenths, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, not_applicable
from fedtheory.theorem.paper import Statement


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


_PRINTED = tuple(assumed.text for assumed in fedprox.loss_change.printed.hypotheses)


def _rho(*, negative_curvature: Any = 0, **known: Any) -> Fraction:
    """Return rho of the printed Theorem 4 for L = 1 and exact solutions."""
    known |= {"L": 1, "negative_curvature": negative_curvature, "inexactness": 0}
    rho: Fraction = -fedprox.loss_change.printed(Fraction(1), **known)
    return rho


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
    "fedprox:corollary-7",
    "With exact solutions of convex devices, 1 << B <= K^(1/2)/2 and mu = 6 L B^2, rho is at least 1/(24 L B^2)",
    Statement(fedprox.PAPER, "Corollary 7"),
    "erratum",
    hypotheses=(*_PRINTED, "the F_k are convex, and all local solutions are exact"),
    remark=(
        "printed with approximate signs, but the constant is not reached: rho is 0.864 times as large here. For"
        " K = 4 B^2 the factor is below 4 (11/12 - 1/2^(1/2)) = 0.838 for every B, and at B = 2 rho is negative. The"
        " proof uses 1 - B (2/K)^(1/2) >= 1/2, for which B must be at most (K/8)^(1/2)"
    ),
)
def corollary_7() -> Finding:
    B, K = 700, 2 * 1000**2  # (2 K)^(1/2) is rational
    rho = _rho(proximal_weight=6 * B**2, gradient_dissimilarity=B, num_selected=K)
    return at_least(rho, Fraction(1, 24 * B**2), instance=as_texts({"L": 1, "B": B, "K": K, "mu": 6 * B**2}))


@claim(
    "fedprox:corollary-7-derived",
    "With exact solutions of convex clients and the weight 6 L B^2, the progress is at least 3/(24 L B^2) for all B, K",
    fedprox.loss_change,
    looseness=1.01,
)
def corollary_7_derived(rng: np.random.Generator) -> Finding:
    L, B = tenths(rng, 1, 30), 1 + tenths(rng, 0, 90)
    known: dict[str, Any] = {"L": L, "negative_curvature": 0, "gradient_dissimilarity": B, "inexactness": 0}
    change = fedprox.loss_change(Fraction(1), proximal_weight=6 * L * B**2, **known)
    return at_least(-change, 3 / (24 * L * B**2), instance={"L": str(L), "B": str(B)})


@claim(
    "fedprox:proof-of-corollary-7",
    "With exact solutions of convex devices and B < K^(1/2), large weights mu make rho positive",
    Statement(fedprox.PAPER, "Appendix A.3"),
    "erratum",
    hypotheses=(*_PRINTED, "the F_k are convex, and all local solutions are exact"),
    remark=(
        "rho is at most (1 - B (2/K)^(1/2))/mu for every mu, which is -1/(4 mu) here: B < (K/2)^(1/2) is needed. The"
        " derived bound yields progress for every B and K"
    ),
)
def proof_of_corollary_7() -> Finding:
    mu, B, K = 10**12, Fraction(5, 2), 8  # (2 K)^(1/2) is rational
    rho = _rho(proximal_weight=mu, gradient_dissimilarity=B, num_selected=K)
    return at_least(mu * rho, Fraction(0), instance=as_texts({"L": 1, "B": B, "K": K, "mu": mu}))


@claim(
    "fedprox:corollary-9",
    "Theorem 4 holds with the largest inexactness among the devices that are drawn, if this makes rho positive",
    Statement(fedprox.PAPER, "Corollary 9"),
    "erratum",
    hypotheses=(*_PRINTED, "device k returns a solution of inexactness gamma_k"),
    remark=(
        "the expectation is over all draws, and exact devices alone are drawn in one of 65,536. They would make the"
        " decrease 1.99 times the true one, and with a smaller share of exact devices any number of times. With the"
        " maximum over all devices the statement is Theorem 4"
    ),
)
def corollary_9() -> Finding:
    mu, K = 1000, 8  # (2 K)^(1/2) is rational
    # All F_k are w^2/2 and w is 1: an exact solution, and the model w itself, whose inexactness is 1.
    answers = Law({Fraction(mu, mu + 1): Fraction(1, 4), Fraction(1): Fraction(3, 4)})
    change = (answers**K).mean(lambda drawn: (sum(drawn) / K) ** 2 / 2) - Fraction(1, 2)
    rho = _rho(proximal_weight=mu, gradient_dissimilarity=1, num_selected=K, negative_curvature=Fraction(1, 1000))
    known = {"F_k": "w^2/2", "w": 1, "L": 1, "L_": "1/1000", "B": 1, "mu": mu, "K": K}
    return at_most(change, -rho, instance=known | {"gamma_k": "0 with weight 1/4, 1 with weight 3/4"})
