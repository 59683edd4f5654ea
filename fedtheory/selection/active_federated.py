"""Active federated learning: sampling by the losses of the last participation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory._support.values import to_tuples
from fedtheory.selection._draw import keep_largest
from fedtheory.selection.power_of_choice import _mean_and_reports
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["ActiveFederated", "ActiveFederatedByReports"]


@final
@dataclass(frozen=True)
class ActiveFederated:
    """Sampling of most clients by valuation ``v_k = sqrt(n_k) F_k(w)``, the others uniformly; plain mean.

    Of the K clients the ``floor(dropped K)`` of smallest valuation are dropped, ties at random. Of those kept, ``(1 -
    explored) m`` (rounded, at least 1 and at most all) are drawn without replacement, with probabilities proportional
    to ``exp(sharpness v_k)`` among those left. The rest of the cohort is drawn uniformly from all other clients. A
    valuation is updated only when its client is selected, at the server's model of that round.

    Parameters
    ----------
    num_selected
        Number m of clients per round.
    sample_counts
        Numbers n_k of samples, shape (K,).
    dropped, sharpness, explored
        Parameters alpha_1, alpha_2 and alpha_3 of the source.
    initial_loss
        Initial valuations are ``sqrt(n_k)`` times this, which the source does not specify. With 0 the first selected
        clients are preferred from then on; ``log C`` is the loss of a softmax model of zeros.

    Notes
    -----
    Goetz et al. (2019), "Active federated learning"; ``afl`` of Cho, Wang, Joshi (2020).
    """

    num_selected: int
    sample_counts: npt.ArrayLike
    dropped: float = 0.75
    sharpness: float = 0.01
    explored: float = 0.1
    initial_loss: float = 0.0

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        validate.counts("sample_counts", validate.unmasked("sample_counts", self.sample_counts))
        validate.fraction("dropped", self.dropped)
        validate.double("sharpness", validate.nonnegative("sharpness", self.sharpness))
        validate.fraction("explored", self.explored)
        validate.double("initial_loss", self.initial_loss)
        object.__setattr__(self, "sample_counts", to_tuples(self.sample_counts))

    @property
    def scheme(self) -> Scheme:
        """Active federated learning, plain mean; the valuations depend on losses of earlier rounds."""
        return Scheme("active", "mean", memoryless=False)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        m = validate.count("num_selected", self.num_selected, 1, weights.size)
        counts = validate.array("sample_counts", self.sample_counts, shape=(weights.size,))
        by_valuation = max(1, int(np.floor((1 - self.explored) * m + 0.5)))
        return Rules(
            propose=_draw_cohort,
            select=_take_all_and_remember,
            max_selected=m,
            max_candidates=m,
            table=pack(m, by_valuation, self.dropped, self.sharpness, np.sqrt(counts)),
            memory=np.sqrt(counts) * self.initial_loss,
        )


@compiled
def _draw_cohort(round_index, table, memory, weights, rng, candidates):
    num_selected, by_valuation, dropped, sharpness = int(table[0]), int(table[1]), table[2], table[3]
    here, left = _present(weights)
    size = min(num_selected, here)
    # The small summand keeps floor(0.75 * 4) at 3 for fractions that are not binary.
    kept = here - int(np.floor(dropped * here + 1e-9))
    filled = 0
    if kept > 0:
        values = np.empty(here)
        for j in range(here):
            values[j] = memory[left[j]]
        best = np.empty(kept, dtype=np.int64)
        keep_largest(left[:here].copy(), values, kept, rng, best)
        filled = min(by_valuation, kept, size)
        _draw_by_valuation(memory, sharpness, best, filled, rng, candidates)
    _draw_uniformly(left[:here], filled, size, rng, candidates)
    return size


@compiled
def _present(weights):
    clients, here = np.empty(weights.size, dtype=np.int64), 0
    for k in range(weights.size):
        clients[here] = k
        here += weights[k] >= 0.0  # below 0 it is absent
    return here, clients


@compiled
def _draw_by_valuation(memory, sharpness, best, size, rng, drawn):
    shares = np.empty(best.size)
    for i in range(size):
        left = best.size - i
        # Relative to the largest remaining valuation, so that powers neither overflow nor all underflow.
        top, total = -np.inf, 0.0
        for j in range(left):
            top = max(top, memory[best[j]])
        for j in range(left):
            shares[j] = np.exp(sharpness * (memory[best[j]] - top))
            total += shares[j]
        target, last = rng.random() * total, 0
        for j in range(left):
            if shares[j] > 0.0:
                last = j
                target -= shares[j]
                if target < 0.0:
                    break
        drawn[i] = best[last]
        best[last] = best[left - 1]


@compiled
def _draw_uniformly(clients, filled, size, rng, drawn):
    # Move those already drawn to the end, then draw from the others by a partial shuffle.
    left = clients.size
    for i in range(filled):
        for j in range(left):
            if clients[j] == drawn[i]:
                left -= 1
                clients[j], clients[left] = clients[left], clients[j]
                break
    for i in range(filled, size):
        j = int(rng.random() * left)
        left -= 1
        clients[j], clients[left] = clients[left], clients[j]
        drawn[i] = clients[left]


@compiled
def _take_all_and_remember(round_index, table, memory, weights, candidates, losses, rng, chosen):
    roots = table[4:]  # of the sample counts
    for i in range(candidates.size):
        chosen[i] = candidates[i]
        memory[candidates[i]] = roots[candidates[i]] * losses[i]
    return candidates.size


@final
@dataclass(frozen=True)
class ActiveFederatedByReports:
    """Sampling of ``floor((1 - explored) m)`` clients by their last reported losses, the others uniformly; plain mean.

    A client's report is its mean loss over the local steps of its last participation, which it sends with its update;
    before the first participation it is minus infinity. In each round the ``floor(dropped K)`` smallest reports, ties
    at random, are reset to minus infinity, so that only uniform draws select these clients. Draws by reports are
    without replacement and proportional to ``exp(sharpness report)`` among the remaining finite reports. If there are
    too few of these, as in the first round, uniform draws replace them.

    ``dropped``, ``sharpness`` and ``explored`` are those of ``ActiveFederated``; the papers leave different details
    open. This is ``afl`` of Cho, Wang, Joshi (2020), without the factor ``sqrt(n_k)``.
    """

    num_selected: int
    dropped: float = 0.75
    sharpness: float = 0.01
    explored: float = 0.1

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        validate.fraction("dropped", self.dropped)
        validate.nonnegative("sharpness", self.sharpness)
        validate.fraction("explored", self.explored)

    @property
    def scheme(self) -> Scheme:
        """Active federated learning, plain mean; the reports are those of earlier rounds."""
        return Scheme("active", "mean", memoryless=False)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        m = validate.count("num_selected", self.num_selected, 1, weights.size)
        # The small summand keeps floor(0.8 * 5) at 4 for fractions that are not binary.
        by_report = int(np.floor((1 - self.explored) * m + 1e-9))
        return Rules(
            select=_draw_by_reports,
            weigh=_mean_and_reports,
            observe=_keep_reports,
            max_selected=m,
            table=pack(m, by_report, self.dropped, self.sharpness),
            memory=np.full(weights.size, -np.inf),
        )


@compiled
def _draw_by_reports(round_index, table, memory, weights, candidates, losses, rng, chosen):
    num_selected, by_report, dropped, sharpness = int(table[0]), int(table[1]), table[2], table[3]
    _forget(memory, int(np.floor(dropped * memory.size + 1e-9)), rng)
    here, left = _present(weights)
    reported, count = np.empty(here, dtype=np.int64), 0
    for j in range(here):
        reported[count] = left[j]
        count += memory[left[j]] > -np.inf
    size = min(num_selected, here)
    filled = min(by_report, count, size)
    _draw_by_valuation(memory, sharpness, reported[:count], filled, rng, chosen)
    _draw_uniformly(left[:here], filled, size, rng, chosen)
    return size


@compiled
def _forget(memory, size, rng):
    if size == 0:
        return
    clients, smallness = np.empty(memory.size, dtype=np.int64), np.empty(memory.size)
    for k in range(memory.size):
        clients[k], smallness[k] = k, -memory[k]
    smallest = np.empty(size, dtype=np.int64)
    keep_largest(clients, smallness, size, rng, smallest)
    for j in range(size):
        memory[smallest[j]] = -np.inf


@compiled
def _keep_reports(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    for i in range(chosen.size):
        memory[chosen[i]] = mean_losses[i]
