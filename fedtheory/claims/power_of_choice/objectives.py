"""Power-of-Choice, Section 2 and Appendix F: the objective and its gap, and the quadratic model."""

from fractions import Fraction

import numpy as np

from fedtheory import federation
from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, average, combination, inner, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, worst_of
from fedtheory.theorem.paper import Statement


@claim(
    "power-of-choice:equation-1",
    "The mean loss over all samples is sum_k p_k F_k, where p_k is the share of client k in the samples",
    Statement(PAPER, "Section 2", "eq. (1)"),
    "identity",
)
def equation_1(rng: np.random.Generator) -> Finding:
    sizes = [whole(rng, 1, 4) for _ in range(whole(rng, 1, 4))]
    clients = [(rng.integers(-8, 9, size=(n, 1)) / 4, rng.integers(2, size=n)) for n in sizes]
    fed = federation.SoftmaxFederation(federation.FederatedData.from_clients(clients, num_classes=2))
    w = 4 * (rng.random(4) - 0.5)
    logits = np.concatenate([np.column_stack([x, np.ones(len(x))]) for x, _ in clients]) @ w.reshape(2, -1).T
    labels = np.concatenate([y for _, y in clients])
    samples = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(labels.size), labels]
    instance = {"clients": [(x[:, 0].tolist(), y.tolist()) for x, y in clients], "w": w.tolist()}
    return equal_to(float(fed.loss(w)), float(samples.mean()), instance=instance)


@claim(
    "power-of-choice:equation-4",
    "Gamma = F* - sum_k p_k F_k* = sum_k p_k (F_k(w*) - F_k(w_k*)), at least mu/2 sum_k p_k |w* - w_k*|^2 >= 0",
    Statement(PAPER, "Section 3.1", "eq. (4)"),
    looseness=1.01,
)
def equation_4(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    p, best, instance = fed.weights, fed.minimizer, format_federation(fed)
    at_best, own = fed.losses(best), [fed.losses(center)[k] for k, center in enumerate(fed.centers)]
    gamma = inner(p, at_best) - inner(p, fed.minima)
    least = fed.strong_convexity / 2 * inner(p, [norm2(best - center) for center in fed.centers])
    return worst_of(
        [
            equal_to(fed.objective_gap, gamma, instance=instance),
            equal_to(gamma, inner(p, at_best - own), instance=instance),
            equal_to(fed.rounded().objective_gap, float(gamma), instance=instance, scale=float(max(at_best)) + 1),
            at_most(least, gamma, instance=instance),
        ]
    )


def _products(left: Vector, right: Vector) -> Vector:
    return Vector(a * b for a, b in zip(left, right, strict=True))


def _quotients(left: Vector, right: Vector) -> Vector:
    return Vector(a / b for a, b in zip(left, right, strict=True))


def _floats(vectors: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(vectors, dtype=np.float64)


@claim(
    "power-of-choice:equation-86",
    "1/2 w'H_k w - e_k'w + 1/2 e_k'H_k^-1 e_k has the minimizer H_k^-1 e_k and minimum 0; F has (sum p H)^-1 sum p e",
    Statement(PAPER, "Appendix F", "eq. (86)"),
    "identity",
)
def equation_86(rng: np.random.Generator) -> Finding:
    exact = draw_federation(rng)
    w, k = draw_model(rng, exact.dim), whole(rng, 0, exact.num_clients - 1)
    H, e = exact.curvatures, tuple(map(_products, exact.curvatures, exact.centers))
    stated = H[k] @ _products(w, w) / 2 - e[k] @ w + e[k] @ _quotients(e[k], H[k]) / 2
    best = _quotients(combination(exact.weights, e), combination(exact.weights, H))
    fed = federation.QuadraticFederation.from_linear(*map(_floats, (H, e, exact.weights)), normalize=True)
    instance = {**format_federation(exact), "w": str(w), "client": k}
    scale = float(max(map(abs, (stated, *best, *w)))) + 1
    return worst_of(
        [
            equal_to(exact.excess(k, w), stated, instance=instance),
            equal_to(float(fed.losses(_floats(w))[k]), float(stated), instance=instance, scale=scale),
            *(equal_to(a, b, instance=instance) for a, b in zip(exact.minimizer, best, strict=True)),
            *(
                equal_to(float(a), float(b), instance=instance, scale=scale)
                for a, b in zip(fed.minimizer, best, strict=True)
            ),
        ]
    )


def _trained(H: Vector, e: Vector, w: Vector, eta: Fraction, local_steps: int) -> Vector:
    """Return the model after the steps of eq. (87)."""
    for _ in range(local_steps):
        w -= eta * (_products(H, w) - e)
    return w


@claim(
    "power-of-choice:equation-87",
    "A local step is w - eta (H_k w - e_k), and the server's model is the mean of the active clients' models",
    Statement(PAPER, "Appendix F", "eq. (87)"),
    "identity",
    remark="two rounds with full participation, by the compiled engine and in rational arithmetic",
)
def equation_87(rng: np.random.Generator) -> Finding:
    from fedtheory.engine.simulation import fedavg
    from fedtheory.selection.full import Full

    exact = draw_federation(rng)
    w, local_steps = draw_model(rng, exact.dim), whole(rng, 1, 3)
    eta, fed = Fraction(whole(rng, 1, 4), 4) / exact.smoothness, exact.rounded()
    run = fedavg(
        federation.QuadraticFederation(fed.curvatures, fed.centers, np.full(fed.num_clients, 1 / fed.num_clients)),
        Full(), num_rounds=2, local_steps=local_steps, step_size=float(eta), initial=_floats(w), record=("models",),
    )  # fmt: skip
    instance = {**format_federation(exact), "initial": str(w), "step_size": str(eta), "local_steps": local_steps}
    for _ in range(2):
        clients = zip(exact.curvatures, exact.centers, strict=True)
        w = average([_trained(H, _products(H, c), w, eta, local_steps) for H, c in clients])
    return worst_of(
        equal_to(float(a), float(b), instance=instance, scale=4.0) for a, b in zip(run.models[0, -1], w, strict=True)
    )
