"""Power-of-Choice: the m clients with the largest losses among d candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, final

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.sampling.inclusion import inclusion_by_losses, power_of_choice_inclusion
from fedtheory.selection._draw import alias_table, draw_by_weight, first_arrivals, keep_largest, scan_for_the_rest
from fedtheory.selection.laws import Fixed, Ranked, Scheduled
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["DecayingCandidates", "HalfTimeCandidates", "HalvingCandidates", "PowerOfChoice"]

Counts = npt.NDArray[np.int64]


class CandidateSchedule(Protocol):
    """Numbers of candidates for all rounds."""

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,), each in ``num_selected .. num_clients``."""


@final
@dataclass(frozen=True)
class HalvingCandidates:
    """adapow-d of the quadratic experiments: d starts at K and halves every ``every`` rounds, down to m.

    >>> HalvingCandidates(every=2).counts(num_rounds=7, num_selected=3, num_clients=10)
    array([10, 10,  5,  5,  3,  3,  3])
    """

    every: int = 5000

    def __post_init__(self) -> None:
        validate.count("every", self.every)

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        halvings = np.minimum(np.arange(num_rounds) // min(self.every, validate.LARGEST_SIZE), 62)
        sizes: Counts = np.maximum(num_clients // 2**halvings, num_selected)
        return sizes


@final
@dataclass(frozen=True)
class HalfTimeCandidates:
    """adapow-d of the synthetic experiments: d = K during the first half of the rounds, then d = m.

    >>> HalfTimeCandidates().counts(num_rounds=4, num_selected=3, num_clients=10)
    array([10, 10,  3,  3])
    """

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        return np.where(2 * np.arange(num_rounds) < num_rounds, num_clients, num_selected)


@final
@dataclass(frozen=True)
class DecayingCandidates:
    """Schedule of GreedyFed's baseline: d starts at K and becomes ``max(ceil(factor d), m)`` in every round.

    >>> DecayingCandidates(0.9).counts(num_rounds=5, num_selected=7, num_clients=10)
    array([10,  9,  9,  9,  9])
    """

    factor: float = 0.9

    def __post_init__(self) -> None:
        validate.fraction("factor", self.factor)

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        factor = float(self.factor)
        sizes = np.empty(num_rounds, dtype=np.int64)
        size = num_clients
        for i in range(num_rounds):
            sizes[i] = size
            # The small summand keeps ceil(0.9 * 10) at 9 although 0.9 is not a binary fraction.
            size = max(int(np.ceil(factor * size - 1e-9)), num_selected)
        return sizes


def _check(num_rounds: int, num_selected: int, num_clients: int) -> None:
    validate.size("num_rounds", num_rounds, 0)
    validate.count("num_selected", num_selected, high=validate.size("num_clients", num_clients))


@final
@dataclass(frozen=True)
class PowerOfChoice:
    """Selection of the m largest losses among d candidates, sampled without replacement by their weights.

    The models are averaged. d = K selects the m largest losses of all clients; d = m is sampling without replacement,
    which is not exactly unbiased. Source: Cho, Wang, Joshi (2020), section 4 and Appendix F, Algorithms 1 and 2.

    Parameters
    ----------
    num_selected
        Number m of clients per round; ties for the last places are broken at random.
    num_candidates
        Number d of candidates per round (m <= d <= K): a number, ``"all"`` for K, or a schedule (adapow-d).
    loss
        ``exact``: the candidates report F_k at the server's model (pow-d). ``minibatch``: they report the mean loss on
        one mini-batch of the run's batch size, drawn for this purpose (cpow-d). ``last``: no loss is evaluated for the
        selection; a client sends with its update the mean of the losses before each local step, on the samples of the
        step, which ranks it until its next participation. It is infinite before the first one (rpow-d).
    """

    num_selected: int
    num_candidates: int | Literal["all"] | CandidateSchedule
    loss: Literal["exact", "minibatch", "last"] = "exact"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        if isinstance(self.num_candidates, str):
            validate.choice("num_candidates", self.num_candidates, ("all",))
        elif isinstance(self.num_candidates, int | float | np.number):
            validate.count("num_candidates", self.num_candidates, self.num_selected)
        elif not callable(getattr(self.num_candidates, "counts", None)):
            known = "a whole number, 'all' or a schedule with a method counts"
            message = f"num_candidates must be {known}, got {truncate(self.num_candidates)}"
            raise TypeError(message)
        validate.choice("loss", self.loss, ("exact", "minibatch", "last"))

    @property
    def scheme(self) -> Scheme:
        """Power of choice, plain mean; rpow-d depends on losses of earlier rounds."""
        return Scheme("power of choice", "mean", memoryless=self.loss != "last")

    def candidate_counts(self, num_clients: int, num_rounds: int) -> Array:
        """Return the numbers of candidates, shape (num_rounds,), or (1,) if it never changes."""
        if isinstance(self.num_candidates, str):
            return np.array([float(num_clients)])
        if isinstance(self.num_candidates, int | np.integer):
            return np.array([float(validate.count("num_candidates", self.num_candidates, 1, num_clients))])
        counts = np.asarray(self.num_candidates.counts(num_rounds, self.num_selected, num_clients))
        name = f"the counts of {truncate(self.num_candidates)}"
        if counts.shape != (num_rounds,):
            message = f"{name} must have shape ({num_rounds},), got {counts.shape}"
            raise ValueError(message)
        checked: Counts = validate.counts(name, counts, self.num_selected, num_clients)
        return checked.astype(np.float64)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        num_clients, m = weights.size, self.num_selected
        counts = self._feasible_counts(weights, num_rounds)
        most = int(counts.max(initial=m))
        table = pack(m, alias_table(weights), counts)
        never_drawn = np.full(num_clients, -1.0)
        if self.loss == "last":
            return Rules(
                select=_select_by_memory,
                weigh=_mean_and_reports,
                observe=_keep_reports,
                max_selected=m,
                table=table,
                memory=np.concatenate([never_drawn, np.full(num_clients, np.inf)]),
            )
        draws_most = 5 * int(counts.min(initial=num_clients)) > 4 * num_clients and most < num_clients
        return Rules(
            propose=_propose_most if draws_most else _propose_by_weight,
            select=_select_largest,
            max_selected=m,
            max_candidates=most,
            candidate_loss=self.loss,
            table=table,
            memory=never_drawn,
        )

    def inclusion_probabilities(self, weights: Array, losses: Array) -> Array:
        """Return the exact probability of each client to be selected for given losses, shape (K,)."""
        if self.loss != "exact":
            message = f"loss must be 'exact' for inclusion probabilities, got {self}"
            raise TypeError(message)
        if self._is_scheduled:
            message = "num_candidates must be a number for inclusion probabilities, got a schedule: go round by round"
            raise TypeError(message)
        weights = validate.probability_vector("weights", weights)
        (d,) = self._feasible_counts(weights, 1)
        return power_of_choice_inclusion(weights, losses, self.num_selected, int(d))

    def law(self, weights: Array) -> Fixed | Ranked | Scheduled | None:
        """Return frequencies by order of the losses, per round for a schedule; None unless ranked by exact losses."""
        if self.loss != "exact":
            return None
        if self._is_scheduled:
            return Scheduled(lambda num_rounds: self._laws(weights, self._feasible_counts(weights, num_rounds)))
        return self._laws(weights, self._feasible_counts(weights, 1))[0]

    @property
    def _is_scheduled(self) -> bool:
        return not isinstance(self.num_candidates, str | int | np.integer)

    def _laws(self, weights: Array, counts: Array) -> list[Fixed | Ranked]:
        known = {d: _law(weights, self.num_selected, int(d)) for d in np.unique(counts)}
        return [known[d] for d in counts]

    def _feasible_counts(self, weights: Array, num_rounds: int) -> Array:
        """Return the numbers of candidates after validating that enough clients have positive weights."""
        m = validate.count("num_selected", self.num_selected, 1, weights.size)
        counts = self.candidate_counts(weights.size, num_rounds)
        positive, most = int(np.count_nonzero(weights)), int(counts.max(initial=m))
        if positive < most:
            message = f"num_candidates must be at most {positive}, the clients with positive weight, got {most}"
            raise ValueError(message)
        return counts


def _law(weights: Array, m: int, d: int) -> Fixed | Ranked:
    inclusion = inclusion_by_losses(weights, m, d)
    if m == d:
        return Fixed(inclusion(np.zeros(len(weights))) / m)
    return Ranked(
        lambda losses: inclusion(losses) / m,
        prefers_large=True,
        favors_heavy=True,
        num_top=m if d == len(weights) else None,
    )


# A table has m, the alias table, and numbers of candidates, one for all rounds or one for each.
_ALIAS = 1


@jitable
def _number_of_candidates(table, num_clients, round_index):
    first = _ALIAS + 2 * num_clients
    return int(table[min(first + round_index, table.size - 1)])


@compiled
def _propose_by_weight(round_index, table, memory, weights, rng, candidates):
    num_clients, alias = weights.size, table[_ALIAS : _ALIAS + 2 * weights.size]
    size = _number_of_candidates(table, num_clients, round_index)
    filled, stamp = 0, float(round_index)
    if size == num_clients:
        for k in range(num_clients):
            candidates[filled] = k
            filled += weights[k] >= 0.0  # below 0 it is absent
        return filled
    # Without replacement: rejection from the alias table, and a scan of the rest once rejections are frequent. Either
    # way the next client has its exact law given those drawn before, which memory[k] == stamp marks.
    tries = 0
    while filled < size and tries < 4 * size + 16:
        k = draw_by_weight(alias, rng)
        candidates[np.uint64(filled)] = k
        filled += (memory[k] != stamp) & (weights[k] > 0.0)
        memory[k] = stamp
        tries += 1
    if filled < size:
        filled = scan_for_the_rest(weights, stamp, memory, rng, filled, size, candidates)
    return filled


@compiled
def _propose_most(round_index, table, memory, weights, rng, candidates):
    # One number for each client is cheaper than rejection if most clients are drawn.
    return first_arrivals(weights, rng, _number_of_candidates(table, weights.size, round_index), candidates)


@compiled
def _select_largest(round_index, table, memory, weights, candidates, losses, rng, chosen):
    size = min(int(table[0]), candidates.size)
    if size > 0:
        keep_largest(candidates, losses, size, rng, chosen)
    return size


@compiled
def _select_by_memory(round_index, table, memory, weights, candidates, losses, rng, chosen):
    most = _number_of_candidates(table, weights.size, round_index)
    drawn, reports = np.empty(most, dtype=np.int64), np.empty(most)
    size = _propose_by_weight(round_index, table, memory, weights, rng, drawn)
    for j in range(size):
        reports[j] = memory[weights.size + drawn[j]]
    return _select_largest(round_index, table, memory, weights, drawn[:size], reports[:size], rng, chosen)


@compiled
def _mean_and_reports(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    # Each update comes with one more number, the mean loss.
    for i in range(chosen.size):
        coefficients[i] = 1.0 / chosen.size
    return float(chosen.size)


@compiled
def _keep_reports(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    for i in range(chosen.size):
        memory[weights.size + chosen[i]] = mean_losses[i]
