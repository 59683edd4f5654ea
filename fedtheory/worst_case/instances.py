"""Federations that attain a worst case, as functions that ordinary code can train."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from fedtheory._support.summary import Summary
from fedtheory._support.validate import Array

__all__ = ["Instance"]


History = tuple[int, ...]
"""Numbers of the outcomes of earlier rounds."""


class ClientFunction(Protocol):
    """A client's loss."""

    @property
    def minimum(self) -> float:
        """The least loss."""

    def loss(self, w: Array) -> float:
        """Return the loss of a model, shape (v,)."""

    def gradient(self, w: Array) -> Array:
        """Return the gradient there, shape (v,)."""


class Outcome(NamedTuple):
    """An outcome of a selection: its probability, and the coefficients of the clients' updates, shape (K,)."""

    probability: float
    coefficients: Array


@final
@dataclass(frozen=True)
class Interpolant:
    r"""The largest L-smooth, mu-strongly convex function with given values and gradients at some points.

    With ``l = L - mu``, ``h_i = f_i - mu/2 |x_i|^2`` and ``s_i = g_i - mu x_i``, it is

    .. math::
        F(x)=\frac\mu2\|x\|^2+\min_a\ \frac l2\Big\|x-\sum_ia_i\big(x_i-\tfrac{s_i}l\big)\Big\|^2
        +\sum_ia_i\big(h_i-\tfrac{\|s_i\|^2}{2l}\big)

    over weights ``a_i >= 0`` of sum 1 (Taylor, Hendrickx, Glineur 2017).

    Attributes
    ----------
    points, gradients, values
        Where it is known: shapes (n, v), (n, v), (n,). The minimizer is among the points.
    mu, L
        Its constants.
    """

    points: Array
    gradients: Array
    values: Array
    mu: float
    L: float

    @property
    def minimum(self) -> float:
        """The least loss."""
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        """Return the loss of a model."""
        bulge, corners, levels = self.L - self.mu, self._corners, self._levels
        weights = self._weights(w)
        away = w - weights @ corners
        return float(self.mu / 2 * w @ w + bulge / 2 * away @ away + weights @ levels)

    def gradient(self, w: Array) -> Array:
        """Return the gradient there."""
        found: Array = self.mu * w + (self.L - self.mu) * (w - self._weights(w) @ self._corners)
        return found

    @property
    def _corners(self) -> Array:
        found: Array = self.points - (self.gradients - self.mu * self.points) / (self.L - self.mu)
        return found

    @property
    def _levels(self) -> Array:
        slopes = self.gradients - self.mu * self.points
        heights = self.values - self.mu / 2 * (self.points**2).sum(axis=1)
        found: Array = heights - (slopes**2).sum(axis=1) / (2 * (self.L - self.mu))
        return found

    def _weights(self, w: Array) -> Array:
        bulge = self.L - self.mu
        away = w - self._corners
        linear = self._levels / bulge
        return _on_simplex(away, linear)


def _on_simplex(vectors: Array, linear: Array) -> Array:
    """Minimize ``|sum a_i v_i|^2 / 2 + sum a_i c_i`` over ``a_i >= 0`` of sum 1, vertex by vertex (Wolfe 1976)."""
    inside = [int(np.argmin((vectors**2).sum(axis=1) / 2 + linear))]
    weights = np.zeros(linear.size)
    weights[inside] = 1.0
    for _ in range(50 * linear.size):
        slope = vectors @ (weights @ vectors) + linear
        best = int(np.argmin(slope))
        if best in inside or slope[best] >= slope @ weights:
            break
        inside.append(best)
        inside = _settled(weights, inside, vectors, linear)
    return weights


def _settled(weights: Array, inside: list[int], vectors: Array, linear: Array) -> list[int]:
    """Move to the minimum over the face of some vertices, and leave the face where a weight becomes negative."""
    while True:
        here = weights[inside]
        away, is_whole = _way_down(here, vectors[inside], linear[inside])
        below = here + away < 0 if is_whole else away < 0
        share = float((here[below] / -away[below]).min()) if below.any() else 1.0
        weights[inside] = np.where(below & (here + share * away <= 1e-15), 0.0, here + share * away)
        if is_whole and not below.any():
            return inside
        inside = [k for k in inside if weights[k] > 0]


def _way_down(here: Array, vectors: Array, linear: Array) -> tuple[Array, bool]:
    """Return the way to the minimum and True; or, where weights can change and no mixture does, a way down and False.

    Along the second the objective is linear: it ends where a weight does.
    """
    edges, rise = vectors[1:] - vectors[0], linear[1:] - linear[0]
    turns, lengths, _ = np.linalg.svd(edges)
    idle = turns[:, np.count_nonzero(lengths > 1e-12 * np.linalg.norm(edges)) :]
    if idle.size:
        down = -idle @ (idle.T @ rise)
        change = down if down.any() else idle[:, 0]
    else:
        slope = edges @ (here @ vectors) + rise
        change = -turns @ (turns.T @ slope / lengths**2)
    return np.append(-change.sum(), change), not idle.size


@final
@dataclass(frozen=True)
class Parabola:
    """The quadratic loss ``(w - c)' H (w - c) / 2 + minimum``; shapes (v, v) and (v,)."""

    curvature: Array
    center: Array
    minimum: float = 0.0

    def loss(self, w: Array) -> float:
        """Return the loss of a model."""
        away = w - self.center
        return float(away @ self.curvature @ away / 2 + self.minimum)

    def gradient(self, w: Array) -> Array:
        """Return the gradient there."""
        found: Array = self.curvature @ (w - self.center)
        return found


@final
@dataclass(frozen=True, repr=False)
class Instance:
    """A federation, a first model and a selection law; the minimizer w* is the origin.

    Attributes
    ----------
    clients
        Losses.
    weights
        Of the clients in F, shape (K,).
    start
        The first model, shape (v,).
    step_sizes
        Of all steps, round after round.
    num_rounds
        Number of rounds.
    selection
        Outcomes of a round's selection, from the clients' losses at its start, shape (K,), and the numbers of the
        outcomes that came out in the rounds before.
    objective
        ``distance`` or ``gap``.
    noises
        Of each step of a single round, the noise of its gradient by the outcomes of the steps so far, which are equally
        likely and independent across clients, shapes ``(2, ..., 2, v)``; none if gradients are exact.
    """

    clients: tuple[ClientFunction, ...]
    weights: Array
    start: Array
    step_sizes: tuple[float, ...]
    num_rounds: int
    selection: Callable[[Array, History], Sequence[Outcome]]
    objective: str = "distance"
    noises: tuple[Array, ...] = ()

    def __repr__(self) -> str:
        rows = {"num_clients": len(self.clients), "dim": self.start.size, "num_rounds": self.num_rounds}
        rows |= {"local_steps": len(self.step_sizes) // self.num_rounds}
        return Summary("Instance", {**rows, "objective": self.objective}).line

    def run(self) -> float:
        """Train through all outcomes of the selections, and return the expected error after the last round."""
        per_round = len(self.step_sizes) // self.num_rounds

        def expected(w: Array, history: History) -> float:
            first = per_round * len(history)
            if len(history) == self.num_rounds:
                return self.error(w)
            outcomes = self.selection(np.array([client.loss(w) for client in self.clients]), history)
            if self.noises:
                return sum(outcome.probability * self._spread(w, outcome.coefficients) for outcome in outcomes)
            busy = np.any([outcome.coefficients != 0 for outcome in outcomes], axis=0)
            updates = np.zeros((len(self.clients), w.size))
            for k in np.flatnonzero(busy):
                updates[k] = _trained(self.clients[k], w, self.step_sizes[first : first + per_round]) - w
            return sum(
                outcome.probability * expected(w + outcome.coefficients @ updates, (*history, number))
                for number, outcome in enumerate(outcomes)
            )

        found: float = expected(self.start, ())
        return found

    def _spread(self, w: Array, coefficients: Array) -> float:
        """Return the mean squared length of a mean of models whose noises are independent."""
        mean, variance = np.zeros_like(w), 0.0
        for k in np.flatnonzero(coefficients):
            models = np.array(list(_noisily_trained(self.clients[k], w, self.step_sizes, self.noises)))
            mean = mean + coefficients[k] * models.mean(axis=0)
            variance += float(coefficients[k] ** 2 * models.var(axis=0).sum())
        return float(mean @ mean) + variance

    def as_data(self) -> dict[str, Any]:
        """Return everything but the selection as lists of numbers, for a file."""
        plain = {
            "weights": self.weights.tolist(),
            "start": self.start.tolist(),
            "step_sizes": list(self.step_sizes),
            "num_rounds": self.num_rounds,
            "objective": self.objective,
            "noises": [noise.tolist() for noise in self.noises],
            "expected_error": self.run(),
        }
        return plain | {"clients": [_as_data(client) for client in self.clients]}

    def objective_gap(self) -> float:
        """Return Gamma, the loss at w* above the mean of the clients' minima."""
        return self.loss(np.zeros_like(self.start)) - sum(p * client.minimum for p, client in self._weighted)

    def loss(self, w: Array) -> float:
        """Return F at a model."""
        return sum(p * client.loss(w) for p, client in self._weighted)

    def error(self, w: Array) -> float:
        """Return the squared distance of a model from w*, or its loss above F*."""
        return float(w @ w) if self.objective == "distance" else self.loss(w) - self.loss(np.zeros_like(w))

    @property
    def _weighted(self) -> list[tuple[float, ClientFunction]]:
        return [(p, client) for p, client in zip(self.weights.tolist(), self.clients, strict=True) if p]


def _trained(client: ClientFunction, w: Array, step_sizes: Sequence[float]) -> Array:
    for eta in step_sizes:
        w = w - eta * client.gradient(w)
    return w


def _noisily_trained(
    client: ClientFunction, w: Array, step_sizes: Sequence[float], noises: Sequence[Array]
) -> Iterator[Array]:
    """Yield the models after local steps, one for each sequence of outcomes."""
    for outcomes in product((0, 1), repeat=len(noises)):
        y = w
        for s, (eta, noise) in enumerate(zip(step_sizes, noises, strict=True)):
            y = y - eta * (client.gradient(y) + noise[outcomes[: s + 1]])
        yield y


def _as_data(client: Any) -> dict[str, Any]:
    known = {field.name: getattr(client, field.name) for field in fields(client)}
    numbers = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in known.items()}
    return {"kind": type(client).__name__.lower(), **numbers}
