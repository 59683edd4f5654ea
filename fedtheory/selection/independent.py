"""Independent sampling of updates (Optimal Client Sampling)."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

import math
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.sampling.arguments import checked_budget
from fedtheory.sampling.newton import write_approximate, write_optimal
from fedtheory.selection.full import choose_all
from fedtheory.selection.laws import Moments
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["Independent"]

LAWS = ("optimal", "approximate", "uniform")


@final
@dataclass(frozen=True)
class Independent:
    """Independent sampling of updates, client i with probability p_i and coefficient ``w_i / p_i``.

    The aggregate ``sum_{i in S} (w_i / p_i) U_i`` is unbiased. If no client sends, the model does not change. Clients
    with zero updates or of weight zero do not send.

    Source: Chen, Horvath and Richtarik (2022), Algorithms 1 (optimal) and 2 (approximate), Appendix E (candidates).

    Parameters
    ----------
    expected_size
        Expected number m of clients that send, a real number in (0, n].
    probabilities
        ``optimal``: all clients train, and p minimizes the variance given the norms ``t_i = w_i |U_i|``;
        ``approximate``: the same up to ``max_iterations`` rescalings, for which the server needs only sums;
        ``uniform``: ``p_i = m / n``, and only clients that send train.
    max_iterations
        Largest number of rescalings for ``approximate``.
    num_candidates
        Number s of clients that train and send their norms, at least m; None for all, as ``uniform`` requires. In each
        round they are a uniform subset that is drawn before the training. Their coefficients are ``w_i n / (s p_i)``.

    Notes
    -----
    Floats sent to the server in addition to the updates (with candidates s replaces n): ``optimal`` sends n norms;
    ``approximate`` sends n norms and, in every pass, two numbers per client. The pass that finds nothing to rescale
    counts unless ``max_iterations`` is reached first. Numbers sent to clients are not counted.
    """

    expected_size: float
    probabilities: Literal["optimal", "approximate", "uniform"] = "optimal"
    max_iterations: int = 4
    num_candidates: int | None = None

    def __post_init__(self) -> None:
        validate.double("expected_size", validate.positive("expected_size", self.expected_size))
        validate.choice("probabilities", self.probabilities, LAWS)
        validate.count("max_iterations", self.max_iterations)
        if self.num_candidates is not None:
            validate.count("num_candidates", self.num_candidates, math.ceil(self.expected_size))
            validate.choice("probabilities of candidates", self.probabilities, LAWS[:2])

    @property
    def scheme(self) -> Scheme:
        """Independent sampling, coefficients ``w_i / p_i``; given the candidates, if there are any."""
        among = "" if self.num_candidates is None else " among candidates"
        return Scheme(f"independent{among}", "inverse probability")

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        n = weights.size
        budget = checked_budget(self.expected_size, n)
        if self.probabilities == "uniform":
            table = pack(budget, _gap_scale(budget / n))
            return Rules(select=_draw_gaps, weigh=_weigh_by_share, max_selected=n, table=table)
        asked = n if self.num_candidates is None else validate.count("num_candidates", self.num_candidates, 1, n)
        return Rules(
            select=choose_all if self.num_candidates is None else _choose_candidates,
            weigh=_send_by_optimal_law if self.probabilities == "optimal" else _send_by_approximate_law,
            max_selected=asked,
            table=pack(budget, self.max_iterations, n / asked),  # the last scales coefficients of candidates
            memory=np.concatenate([np.zeros(asked), np.arange(0 if self.num_candidates is None else n)]),
        )

    def inclusion_probabilities(self, weights: Array, losses: Array | None = None) -> Array:
        """Return ``m / n`` for every client, shape (n,); TypeError for laws that depend on the updates."""
        if self.probabilities != "uniform":
            message = (
                f"probabilities must be 'uniform' for inclusion probabilities before updates, got {truncate(self)}"
            )
            raise TypeError(message)
        n = validate.probability_vector("weights", weights).size
        return np.full(n, checked_budget(self.expected_size, n) / n)

    def law(self, weights: Array) -> Moments | None:
        """Return the moments of the coefficients for the uniform law; None for laws that depend on the updates."""
        if self.probabilities != "uniform":
            return None
        w = np.asarray(weights, dtype=np.float64)
        second = w**2 / self.inclusion_probabilities(w)
        return Moments(mean=w, alpha=1.0, delta=second - w**2, noise=second)


def _gap_scale(probability: float) -> float:
    return 0.0 if probability == 1.0 else 1.0 / math.log1p(-probability)


@compiled
def _draw_gaps(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # The number of tails before the next head, instead of one coin per client: it is at least g with probability
    # (1 - p)^g. As floats, since a gap may exceed the range of integers.
    scale, filled = table[1], 0
    k = np.floor(np.log1p(-rng.random()) * scale)
    while k < weights.size:
        chosen[filled] = int(k)
        filled += weights[int(k)] >= 0.0  # below 0 it is absent
        k += 1.0 + np.floor(np.log1p(-rng.random()) * scale)
    return filled


@compiled
def _weigh_by_share(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    scale = weights.size / table[0]
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]] * scale
    return 0.0


@compiled
def _choose_candidates(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # A partial shuffle of the clients puts a uniform subset in front. Absent clients may be drawn, so that each client
    # is a candidate with probability s / n.
    order = memory[chosen.size :]
    filled = 0
    for i in range(chosen.size):
        j = i + int(rng.random() * (order.size - i))
        order[i], order[j] = order[j], order[i]
        chosen[filled] = int(order[i])
        filled += weights[chosen[filled]] >= 0.0
    return filled


@compiled
def _send_by_optimal_law(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    norms, budget, scale = memory[: chosen.size], table[0], table[2]
    if _write_norms(weights, chosen, updates, norms):
        write_optimal(norms, budget, coefficients)
    else:
        coefficients[:] = 1.0
    _flip_coins(weights, chosen, rng, scale, coefficients)
    return float(chosen.size)


@compiled
def _send_by_approximate_law(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    norms, passes = memory[: chosen.size], 0
    budget, limit, scale = table[0], int(table[1]), table[2]
    if _write_norms(weights, chosen, updates, norms):
        rest, made, _, _, _ = write_approximate(norms, budget, limit, coefficients)
        passes = min(made + 1, limit) if rest > 0.0 else 0
    else:
        coefficients[:] = 1.0
    _flip_coins(weights, chosen, rng, scale, coefficients)
    return float(chosen.size + 2 * chosen.size * passes)


@compiled
def _write_norms(weights, chosen, updates, norms):
    # The norms w_i |U_i|, up to a common power of two, which does not affect the laws; False if one is not finite.
    largest = 0.0
    for i in range(norms.size):
        norms[i] = weights[chosen[i]] * _norm(updates[i])
        largest = max(largest, norms[i])
        if not np.isfinite(norms[i]):
            return False
    if largest > 1e290:  # so that the sum does not overflow
        for i in range(norms.size):
            norms[i] *= 2.0**-64
    return True


@compiled
def _norm(update):
    largest = 0.0
    for j in range(update.size):
        largest = max(largest, abs(update[j]))
    # Squares of very small or large entries underflow or overflow, so that the largest entry is the unit.
    unit = 1.0 if 1e-120 < largest < 1e120 else largest
    if not 0.0 < unit < np.inf:
        return unit if np.isfinite(update).all() else np.inf
    square = 0.0
    for j in range(update.size):
        square += (update[j] / unit) * (update[j] / unit)
    return unit * np.sqrt(square)


@compiled
def _flip_coins(weights, chosen, rng, scale, coefficients):
    # Probabilities become coefficients. Every client has a coin, so that strategies with one seed have the same coins.
    for i in range(chosen.size):
        sends = rng.random() < coefficients[i]
        coefficients[i] = scale * weights[chosen[i]] / coefficients[i] if sends else 0.0
