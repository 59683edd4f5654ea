"""Active federated learning as Power-of-Choice's experiments run it: plain losses that come with the updates."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/rules.py says)

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory.selection._draw import keep_largest
from fedtheory.selection.active_federated import _draw_by_valuation, _draw_uniformly, _present
from fedtheory.selection.power_of_choice import _mean_and_reports
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["ActiveFederatedByReports"]


@final
@dataclass(frozen=True)
class ActiveFederatedByReports:
    r"""Draw ``floor((1 - explored) m)`` clients by their last reported losses, the others uniformly; average them.

    A client's report is its mean loss over the local steps of its last participation, which it sends along with its
    update; before the first one it is minus infinity. Each round the ``floor(dropped K)`` smallest reports, ties at
    random, are set back to minus infinity, so that only the uniform draws find their clients again. By reports means
    one after the other without replacement, proportional to ``exp(sharpness report)`` among those left whose report
    is finite; where these are too few, uniform draws take over, as in the first round.

    Parameters
    ----------
    num_selected
        Clients per round m.
    dropped, sharpness, explored
        As in ``ActiveFederated``.

    Notes
    -----
    ``afl`` of Cho, Wang, Joshi (2020) follows Goetz et al. (2019), see ``ActiveFederated``; the two leave different
    things open. Here losses are not multiplied by ``sqrt(n_k)``, nobody evaluates one at the server's model, and of
    three clients two are drawn by loss and one uniformly, where rounding ``(1 - 0.1) 3`` to the nearest number draws
    all three by loss and explores nobody.
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

    def law(self, weights: Array) -> None:
        """None: the draws depend on losses of earlier rounds."""

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        m = validate.count("num_selected", self.num_selected, 1, weights.size)
        # The nudge keeps floor(0.8 * 5) at 4 for fractions that are not binary.
        by_report = int(np.floor((1 - self.explored) * m + 1e-9))
        return Rules(
            select=_draw_by_reports,
            weigh=_mean_and_reports,
            observe=_keep_reports,
            max_selected=m,
            table=pack(m, by_report, self.dropped, self.sharpness),
            memory=np.full(weights.size, -np.inf),
        )


class _Constants(NamedTuple):
    num_selected: int
    by_report: int
    dropped: float
    sharpness: float


@inlined
def _read(table):
    return _Constants(int(table[0]), int(table[1]), table[2], table[3])


@compiled
def _draw_by_reports(round_index, table, memory, weights, candidates, losses, rng, chosen):
    known = _read(table)
    _forget(memory, int(np.floor(known.dropped * memory.size + 1e-9)), rng)
    here, left = _present(weights)
    reported, count = np.empty(here, dtype=np.int64), 0
    for j in range(here):
        reported[count] = left[j]
        count += memory[left[j]] > -np.inf
    size = min(known.num_selected, here)
    filled = min(known.by_report, count, size)
    _draw_by_valuation(memory, known.sharpness, reported[:count], filled, rng, chosen)
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
