"""Power-of-Choice, Appendix F: the quadratic model, its optimum and its local step, in floating point and exactly."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.engine.simulation import fedavg
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.vectors import Vector, combination, difference, inner, scaled
from fedtheory.selection.full import Full
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, equal_to, worst_of


def _products(left: Vector, right: Vector) -> Vector:
    return tuple(a * b for a, b in zip(left, right, strict=True))


def _floats(vectors: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(vectors, dtype=np.float64)


@claim(
    "power-of-choice:equation-86",
    "1/2 w'H_k w - e_k'w + 1/2 e_k'H_k^-1 e_k has the minimizer H_k^-1 e_k and minimum 0; F has (sum p H)^-1 sum p e",
    Statement(PAPER, "Appendix F", "eq. (86)"),
    "identity",
)
def equation_86(rng: np.random.Generator) -> Finding:
    drawn = draw_federation(rng)
    w, k = draw_model(rng, drawn.dim), whole(rng, 0, drawn.num_clients - 1)
    linear = list(map(_products, drawn.curvatures, drawn.centers))
    h, e = drawn.curvatures[k], linear[k]
    stated = inner(h, _products(w, w)) / 2 - inner(e, w) + inner(e, [b / a for a, b in zip(h, e, strict=True)]) / 2
    best = [
        b / a
        for a, b in zip(combination(drawn.weights, drawn.curvatures), combination(drawn.weights, linear), strict=True)
    ]
    numbers = (_floats(x) for x in (drawn.curvatures, linear, drawn.weights))
    fed = QuadraticFederation.from_linear(*numbers, normalize=True)
    found = fed.minimizer
    instance = {**federation_in_words(drawn), "w": in_words(w), "client": k}
    scale = float(max(map(abs, (stated, *best, *w)))) + 1
    return worst_of(
        [
            equal_to(drawn.excess(k, w), stated, instance=instance),
            equal_to(float(fed.losses(_floats(w))[k]), float(stated), instance=instance, scale=scale),
            *(equal_to(a, b, instance=instance) for a, b in zip(drawn.minimizer, best, strict=True)),
            *(equal_to(float(a), float(b), instance=instance, scale=scale) for a, b in zip(found, best, strict=True)),
        ]
    )


def _trained(curvature: Vector, linear: Vector, w: Vector, eta: Fraction, local_steps: int) -> Vector:
    """Follow eq. (87)."""
    for _ in range(local_steps):
        w = difference(w, scaled(eta, difference(_products(curvature, w), linear)))
    return w


@claim(
    "power-of-choice:equation-87",
    "A local step is w - eta (H_k w - e_k), and the server's model the mean of the active clients' models",
    Statement(PAPER, "Appendix F", "eq. (87)"),
    "identity",
    remark="two rounds of everybody, by the compiled engine and in rational arithmetic",
)
def equation_87(rng: np.random.Generator) -> Finding:
    drawn = draw_federation(rng)
    w, local_steps = draw_model(rng, drawn.dim), whole(rng, 1, 3)
    eta = Fraction(whole(rng, 1, 4), 4) / drawn.smoothness
    fed = drawn.rounded()
    run = fedavg(
        QuadraticFederation(fed.curvatures, fed.centers, np.full(fed.num_clients, 1 / fed.num_clients)),
        Full(), num_rounds=2, local_steps=local_steps, step_size=float(eta), initial=_floats(w), record=("models",),
    )  # fmt: skip
    exact, share = w, (Fraction(1, drawn.num_clients),) * drawn.num_clients
    for _ in range(2):
        trained = [
            _trained(h, _products(h, c), exact, eta, local_steps)
            for h, c in zip(drawn.curvatures, drawn.centers, strict=True)
        ]
        exact = combination(share, trained)
    instance = {**federation_in_words(drawn), "initial": in_words(w), "step_size": str(eta), "local_steps": local_steps}
    return worst_of(
        equal_to(float(a), float(b), instance=instance, scale=4.0)
        for a, b in zip(run.models[0, -1], exact, strict=True)
    )
