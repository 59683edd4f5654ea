"""Softmax regression satisfies the assumptions of Power-of-Choice with the constants that its federation reports."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.softmax import SoftmaxFederation
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

_MODEL = "F_k is the mean cross-entropy of a linear softmax model with l2/2 |W|^2"
_RIDGE = "l2 > 0"
_IMAGINARY = 1e-100


class _Drawn(NamedTuple):
    fed: SoftmaxFederation
    w: Array
    direction: Array
    instance: dict[str, Any]


def _draw(rng: np.random.Generator) -> _Drawn:
    """Draw two or three clients with a few samples in quarters, a model, and a direction of length 1/8 to 4."""
    num_classes, num_features = whole(rng, 2, 3), whole(rng, 1, 2)
    clients = []
    for _ in range(whole(rng, 2, 3)):
        count = whole(rng, 2, 5)
        features = rng.integers(-8, 9, size=(count, num_features)) / 4
        clients.append((features, rng.integers(num_classes, size=count)))
    l2 = 2.0 ** -whole(rng, 0, 5)
    fed = SoftmaxFederation(FederatedData.from_clients(clients, num_classes=num_classes), l2)
    w = whole(rng, 0, 4) * (2 * rng.random(fed.dim) - 1)
    direction = 2 * rng.random(fed.dim) - 1
    direction *= 2.0 ** whole(rng, -3, 2) / np.linalg.norm(direction)
    words = {f"client {k}": f"x = {x.tolist()}, y = {y.tolist()}" for k, (x, y) in enumerate(clients)}
    return _Drawn(fed, w, direction, {**words, "l2": l2, "w": w.tolist(), "direction": direction.tolist()})


def _textbook_loss(fed: SoftmaxFederation, k: int, w: Any) -> Any:
    """Evaluate F_k sample by sample from its definition; accepts complex models."""
    x, y = fed.data.client(k)
    model = w.reshape(fed.data.num_classes, -1)
    total = 0.0
    for row, label in zip(x, y, strict=True):
        logits = [sum(model[c, :-1] * row) + model[c, -1] for c in range(len(model))]
        total = total + np.log(sum(np.exp(z - logits[label]) for z in logits))
    return total / len(y) + fed.l2 / 2 * sum(w * w)


@claim(
    "softmax:gradient",
    "grad F_k(w) . d is the derivative of the cross-entropy along d",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 5"), form="derived"),
    "identity",
    hypotheses=(_MODEL,),
)
def gradient(rng: np.random.Generator) -> Finding:
    fed, w, direction, instance = _draw(rng)
    slopes = fed.gradients(w) @ direction
    # A gradient is a mean of terms of this size, which may cancel; the rounding error scales with them.
    terms = float(np.abs(fed.data.features).max() + 1) * float(np.abs(direction).sum())
    return worst_of(
        # The imaginary part at a tiny imaginary step is the derivative without cancellation.
        equal_to(
            float(slopes[k]),
            float(_textbook_loss(fed, k, w + 1j * _IMAGINARY * direction).imag / _IMAGINARY),
            instance={**instance, "k": k},
            scale=terms,
        )
        for k in range(fed.num_clients)
    )


def _steepest(drawn: _Drawn) -> _Drawn:
    """Step from the zero model of two classes in the direction in which the logits of a sample change most."""
    x = drawn.fed.inputs[0]
    data = FederatedData.from_clients([(x[None, :-1], [0])], num_classes=2)
    fed = SoftmaxFederation(data, drawn.fed.l2)
    direction = np.concatenate([x, -x]) / (16 * np.linalg.norm(x))
    instance = {"client 0": f"x = {x[:-1].tolist()}, y = 0", "l2": fed.l2, "w": 0, "direction": direction.tolist()}
    return _Drawn(fed, np.zeros(fed.dim), direction, instance)


def _above_tangent(drawn: _Drawn) -> tuple[Array, float]:
    """Return F_k(w + d) - F_k(w) - grad F_k(w).d for every client, and 1/2 |d|^2."""
    fed, w, d, _ = drawn
    return fed.losses(w + d) - fed.losses(w) - fed.gradients(w) @ d, float(0.5 * d @ d)


@claim(
    "softmax:smoothness",
    "F_k(v) <= F_k(w) + grad F_k(w).(v - w) + L/2 |v - w|^2 with L = max_k lambda_max(X_k'X_k/n_k)/2 + l2",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.1"), form="derived"),
    hypotheses=(_MODEL,),
    looseness=1.01,
)
def smoothness(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng)
    findings = []
    for one in (drawn, _steepest(drawn)):
        rises, half_square = _above_tangent(one)
        findings.append(at_most(float(rises.max()), one.fed.smoothness * half_square, instance=one.instance))
    return worst_of(findings)


@claim(
    "softmax:strong-convexity",
    "F_k(v) >= F_k(w) + grad F_k(w).(v - w) + l2/2 |v - w|^2",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.2"), form="derived"),
    hypotheses=(_MODEL, _RIDGE),
    looseness=1.01,
)
def strong_convexity(rng: np.random.Generator) -> Finding:
    drawn = _draw(rng)
    # Equal shifts of all classes do not change the probabilities, so that only the ridge term has curvature there.
    shift = np.tile(drawn.direction[: drawn.fed.inputs.shape[1]], drawn.fed.data.num_classes)
    findings = []
    for one in (drawn, drawn._replace(direction=shift)):
        rises, half_square = _above_tangent(one)
        least = one.fed.strong_convexity * half_square
        findings += [at_least(float(rise), least, instance=one.instance) for rise in rises]
    return worst_of(findings)


@claim(
    "softmax:minimizer",
    "|grad F(w*)| <= 1e-10 and l2/2 |w - w*|^2 <= F(w) - F* <= |grad F(w)|^2 / (2 l2)",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.2"), form="derived"),
    "optimality",
    hypotheses=(_MODEL, _RIDGE),
)
def minimizer(rng: np.random.Generator) -> Finding:
    fed, w, direction, instance = _draw(rng)
    best = fed.minimizer
    near = best + direction
    excess, square = float(fed.loss(near) - fed.minimum), float(direction @ direction)
    gradient = fed.gradient(near)
    return worst_of(
        [
            at_most(float(np.linalg.norm(fed.gradient(best))), 1e-10, instance=instance),
            at_least(excess, fed.strong_convexity / 2 * square, instance=instance),
            at_most(excess, float(gradient @ gradient) / (2 * fed.strong_convexity), instance=instance),
            at_least(float(fed.loss(w)), fed.minimum, instance=instance),
        ]
    )


@claim(
    "softmax:invariance",
    "F, F* and sum_k p_k F_k* do not change when clients are permuted, duplicated or split into equal halves",
    Statement(FEDTHEORY, "", related=(PAPER, "Section 3, eq. (4)"), form="derived"),
    "identity",
    hypotheses=(_MODEL, _RIDGE, "p_k is proportional to the sample counts"),
    instances=(10, 100),
)
def invariance(rng: np.random.Generator) -> Finding:
    fed, w, _, instance = _draw(rng)
    order = np.argsort(rng.random(fed.num_clients))
    x, y = fed.data.client(0)
    rest = [fed.data.client(k) for k in range(1, fed.num_clients)]
    halves = [(x, y), (x, y), *(pair for pair in rest for _ in range(2))]
    others = {
        "permuted": fed.data.take(order.tolist()),
        "duplicated": fed.data.take([*order.tolist(), *order.tolist()]),
        "halves of doubled clients": FederatedData.from_clients(halves, num_classes=fed.data.num_classes),
    }
    findings = []
    for name, data in others.items():
        other = SoftmaxFederation(data, fed.l2)
        words = {**instance, "clients": name}
        findings += [
            equal_to(float(other.loss(w)), float(fed.loss(w)), instance=words),
            equal_to(other.minimum, fed.minimum, instance=words),
            equal_to(float(other.weights @ other.local_minima), float(fed.weights @ fed.local_minima), instance=words),
        ]
    return worst_of(findings)


def _batch_gradients(fed: SoftmaxFederation, k: int, size: int, w: Array) -> Array:
    """Return the gradients of all mini-batches of distinct samples of client k."""
    x, y = fed.data.client(k)
    batches = [list(rows) for rows in itertools.combinations(range(y.size), size)]
    data = FederatedData.from_clients([(x[rows], y[rows]) for rows in batches], num_classes=fed.data.num_classes)
    return SoftmaxFederation(data, fed.l2).gradients(w)


def _draw_batches(rng: np.random.Generator) -> tuple[_Drawn, int, int, Array]:
    drawn = _draw(rng)
    k = whole(rng, 0, drawn.fed.num_clients - 1)
    size = whole(rng, 1, max(1, int(drawn.fed.sample_counts.min()) - 1))
    batches = _batch_gradients(drawn.fed, k, size, drawn.w)
    return drawn._replace(instance={**drawn.instance, "k": k, "batch_size": size}), k, size, batches


@claim(
    "softmax:batch-mean",
    "E g_k = grad F_k(w) for mini-batches of distinct samples, along any direction",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.3"), form="derived"),
    "identity",
    hypotheses=(_MODEL, "the mini-batch is uniform among those of its size"),
)
def batch_mean(rng: np.random.Generator) -> Finding:
    (fed, w, direction, instance), k, _, batches = _draw_batches(rng)
    return equal_to(float(np.mean(batches @ direction)), float(fed.gradients(w)[k] @ direction), instance=instance)


def _enumerated_variance(batches: Array) -> float:
    return float(np.mean(np.sum((batches - batches.mean(axis=0)) ** 2, axis=1)))


@claim(
    "softmax:batch-variance",
    "E |g_k - grad F_k(w)|^2 = (n_k - b)/(b (n_k - 1)) times the variance of one sample's gradient",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.3"), form="derived"),
    "identity",
    hypotheses=(_MODEL, "the mini-batch is uniform among those of its size"),
)
def batch_variance(rng: np.random.Generator) -> Finding:
    (fed, w, _, instance), k, size, batches = _draw_batches(rng)
    # Samples may be equal; the variance 0 is then a difference of equal moments.
    shift = float(np.mean(np.sum(batches**2, axis=1)))
    exact = float(fed.minibatch_variances(size, w)[k])
    return equal_to(shift + exact, shift + _enumerated_variance(batches), instance=instance)


@claim(
    "softmax:batch-variance-bound",
    "E |g_k - grad F_k(w)|^2 <= max_k (n_k - b)/(b (n_k - 1)) 2/n_k sum_i |x_i|^2 for every w",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.3"), form="derived"),
    hypotheses=(_MODEL, "the mini-batch is uniform among those of its size"),
    looseness=1.01,
)
def batch_variance_bound(rng: np.random.Generator) -> Finding:
    (fed, _, _, instance), _, size, batches = _draw_batches(rng)
    t = float(whole(rng, 1, 64))
    # Both samples are misclassified: the variance is 2 t^2, the bound 2 (t^2 + 1).
    wrong = SoftmaxFederation(FederatedData.from_clients([([[t], [-t]], [0, 0])]))
    surely = np.array([0.0, -50.0, 0.0, 50.0])
    extreme = _enumerated_variance(_batch_gradients(wrong, 0, 1, surely))
    return worst_of(
        [
            at_most(_enumerated_variance(batches), fed.minibatch_variance(size), instance=instance),
            at_most(extreme, wrong.minibatch_variance(1), instance={"x": f"({t}), ({-t})", "y": "0, 0"}),
        ]
    )


@claim(
    "softmax:gradient-bound",
    "E |g_k|^2 <= G2 along every run with step sizes up to 1/l2, with G2 from an invariant ball",
    Statement(FEDTHEORY, "", related=(PAPER, "Assumption 3.4"), form="derived"),
    hypotheses=(_MODEL, _RIDGE, "step sizes at most 1/l2", "aggregation by averages"),
    looseness=1.01,
)
def gradient_bound(rng: np.random.Generator) -> Finding:
    fed, w, _, instance = _draw(rng)
    G2 = fed.gradient_bound(w)
    largest = 0.0
    for _ in range(10):
        moments = fed.minibatch_variances(1, w) + np.sum(fed.gradients(w) ** 2, axis=1)
        largest = max(largest, float(moments.max()))
        steps = _batch_gradients(fed, whole(rng, 0, fed.num_clients - 1), 1, w)
        # The longest step size that the bound allows.
        w = w - steps[whole(rng, 0, len(steps) - 1)] / fed.l2
    return at_most(largest, G2, instance=instance)
