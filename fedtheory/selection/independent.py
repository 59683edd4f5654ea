"""Independent sampling of updates (Optimal Client Sampling)."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/rules.py says)

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.sampling._arguments import checked_budget
from fedtheory.sampling._newton import write_approximate, write_optimal
from fedtheory.selection.full import choose_all
from fedtheory.selection.laws import Moments
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["Independent"]

LAWS = ("optimal", "approximate", "uniform")


@final
@dataclass(frozen=True)
class Independent:
    r"""Independent sampling of updates, client i with probability p_i and coefficient ``w_i / p_i``.

    The aggregate ``sum_{i in S} (w_i / p_i) U_i`` is unbiased. If no client sends, the model stays.

    Parameters
    ----------
    expected_size
        Expected number m of clients that send, any real number in (0, n].
    probabilities
        ``optimal``: all clients compute, and p minimizes the variance given the norms ``t_i = w_i |U_i|``;
        ``approximate``: the same up to ``max_iterations`` rescalings, which need sums only;
        ``uniform``: ``p_i = m / n``, where only the clients that will send compute.
    max_iterations
        Rescalings allowed to ``approximate``.
    num_candidates
        Clients s that compute and send their norm, at least the budget; None for all. Those asked are in each round a
        subset Q, every one of size s equally likely, drawn before anybody computes. The laws are those given Q.

    Raises
    ------
    ValueError
        If the budget is not positive (or, once the clients are known, above n), the law has another name, or
        candidates are too few, more than the clients, or given to ``uniform``, which has none.

    Notes
    -----
    With candidates the coefficient is ``w_i n / (s p_i)``: Appendix E of the paper, (39), with a set Q of available
    clients that the server draws itself and ``q_i = s / n``. The estimator stays unbiased, since Q is independent of
    the updates. To the mean over Q of the variance given Q its variance adds that of asking only some,
    ``(n / s) (n - s) / (n - 1) (sum_i |w_i U_i|^2 - |sum_i w_i U_i|^2 / n)``. A round costs nothing for the others.

    What is sent up, in floats (a float has 64 bits; with candidates read s for n): besides the updates, ``optimal``
    sends n norms. ``approximate`` sends n norms and, in every pass, from each client its probability and a one if that
    is below 1, else two zeros; the pass that finds nothing left to rescale is sent, too, unless ``max_iterations`` came
    first. ``uniform`` sends updates only. What is sent down is not counted: ``optimal`` sends each client its
    probability; ``approximate`` broadcasts the sum of the norms and one factor per pass.

    Clients whose update is zero do not send. Neither does one of weight zero, whatever its coin says.

    References
    ----------
    Chen, Horvath and Richtarik (2022), Algorithms 1 (optimal) and 2 (approximate), Appendix E (candidates).

    Examples
    --------
    Client 1 moves twice as far as client 0 and is sampled twice as often.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [2.0]], [0.5, 0.5])
    >>> run = ft.fedavg(fed, Independent(1), num_rounds=1, step_size=0.5, initial=[0.0], num_replicates=9000)
    >>> run.counts.mean(axis=0).round(1)
    array([0.3, 0.7])
    """

    expected_size: float
    probabilities: str = "optimal"
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
        """Independent sampling, coefficients ``w_i / p_i``; with candidates given who is asked."""
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
            table=pack(budget, self.max_iterations, n / asked),
            memory=np.concatenate([np.zeros(asked), np.arange(0 if self.num_candidates is None else n)]),
        )

    def inclusion_probabilities(self, weights: Array, losses: Array | None = None) -> Array:
        """``m / n`` for every client, shape (n,), for the uniform law; TypeError for those that look at the updates."""
        if self.probabilities != "uniform":
            message = f"probabilities must be 'uniform' for inclusion probabilities before updates, got {short(self)}"
            raise TypeError(message)
        n = validate.probability_vector("weights", weights).size
        return np.full(n, checked_budget(self.expected_size, n) / n)

    def law(self, weights: Array) -> Moments | None:
        """Moments of the coefficients for the uniform law; None for those that look at the updates."""
        if self.probabilities != "uniform":
            return None
        w = np.asarray(weights, dtype=np.float64)
        second = w**2 / self.inclusion_probabilities(w)
        return Moments(mean=w, alpha=1.0, delta=second - w**2, noise=second)


class _Constants(NamedTuple):
    budget: float
    max_iterations: int
    scale: float  # of coefficients, 1 over the probability of being asked


@inlined
def _read(table):
    return _Constants(table[0], int(table[1]), table[2])


def _gap_scale(probability: float) -> float:
    return 0.0 if probability == 1.0 else 1.0 / math.log1p(-probability)


@compiled
def _draw_gaps(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # Instead of a coin for each client the number of tails before the next head, which is geometric: at least g with
    # probability (1 - p)^g. Floats, since a gap may be longer than any whole number.
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
    # A partial shuffle of any order of the clients puts a uniform subset in front. Who is absent is asked in vain, so
    # that each is asked with the probability s / n whoever is there.
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
    norms, known = memory[: chosen.size], _read(table)
    if _write_norms(weights, chosen, updates, norms):
        write_optimal(norms, known.budget, coefficients)
    else:
        coefficients[:] = 1.0
    _flip_coins(weights, chosen, rng, known.scale, coefficients)
    return float(chosen.size)


@compiled
def _send_by_approximate_law(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    norms, passes = memory[: chosen.size], 0
    budget, limit, scale = _read(table)
    if _write_norms(weights, chosen, updates, norms):
        rest, made, _, _, _ = write_approximate(norms, budget, limit, coefficients)
        passes = min(made + 1, limit) if rest > 0.0 else 0
    else:
        coefficients[:] = 1.0
    _flip_coins(weights, chosen, rng, scale, coefficients)
    return float(chosen.size + 2 * chosen.size * passes)


@compiled
def _write_norms(weights, chosen, updates, norms):
    # The norms w_i |U_i|, up to a common power of two, which the laws do not see; False if one of them is not finite.
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
    # Far from 1 squares lose digits, vanish or overflow: measure against the largest entry.
    unit = 1.0 if 1e-120 < largest < 1e120 else largest
    if not 0.0 < unit < np.inf:
        return unit if np.isfinite(update).all() else np.inf
    square = 0.0
    for j in range(update.size):
        square += (update[j] / unit) * (update[j] / unit)
    return unit * np.sqrt(square)


@compiled
def _flip_coins(weights, chosen, rng, scale, coefficients):
    # Probabilities become coefficients. Every client flips, so that strategies with one seed flip the same coins.
    for i in range(chosen.size):
        sends = rng.random() < coefficients[i]
        coefficients[i] = scale * weights[chosen[i]] / coefficients[i] if sends else 0.0
