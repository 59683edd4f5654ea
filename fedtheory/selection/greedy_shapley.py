"""Selection by Shapley values: GreedyFed, upper confidence bounds, and S-FedAvg."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)
from dataclasses import dataclass
from typing import Literal, NamedTuple, final, get_args

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.selection._draw import keep_largest
from fedtheory.selection.rules import Rules, ValuationMethod, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["GreedyShapley", "SoftmaxShapley", "UpperConfidenceShapley"]

RUNNING_MEAN = -1.0


class _Memory(NamedTuple):
    values: Array  # cumulative, shape (K,)
    counts: Array  # how often each client was valued, shape (K,)


def memory_of(num_clients: int, initial: float = 0.0) -> Array:
    """State before round 0."""
    return pack(np.full(num_clients, initial), np.zeros(num_clients))


@inlined
def read_memory(memory):
    """Return views of the values and counts in a state."""
    half = memory.size // 2
    return _Memory(memory[:half], memory[half:])


def checked_averaging(averaging: str | float) -> float:
    """Return the weight of old values, or ``RUNNING_MEAN``."""
    if isinstance(averaging, str) and averaging == "mean":
        return RUNNING_MEAN
    share = 1.0 if isinstance(averaging, str) else validate.fraction("averaging", averaging)
    if share == 1:
        message = f"averaging must be 'mean' or a number in [0, 1), got {truncate(averaging)}"
        raise ValueError(message)
    return share


@compiled
def remember_values(
    round_index, table, memory, weights, chosen, coefficients, values, updates, server_model, model, rng
):
    """Average the values of the chosen clients with their previous ones; ``table[0]`` is the weight of the latter."""
    known = read_memory(memory)
    for i in range(chosen.size):
        k = chosen[i]
        known.counts[k] += 1.0
        kept = table[0] if table[0] >= 0.0 else (known.counts[k] - 1.0) / known.counts[k]
        known.values[k] = kept * known.values[k] + (1.0 - kept) * values[i]


@compiled
def weigh_by_size(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    """Coefficients proportional to the objective weights, of sum 1."""
    total = 0.0
    for i in range(chosen.size):
        total += weights[chosen[i]]
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]] / total if total > 0.0 else 1.0 / chosen.size
    return 0.0


@compiled
def first_turns(memory, weights, rng, chosen):
    """Draw uniformly among the clients that were never valued, fill up with others; return how many, 0 for no turns."""
    known = read_memory(memory)
    unseen, seen = 0, 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            unseen += known.counts[k] == 0.0
            seen += known.counts[k] > 0.0
    if unseen == 0:
        return 0
    filled = _fill_uniformly(known.counts, weights, False, unseen, 0, min(unseen, chosen.size), rng, chosen)
    return _fill_uniformly(known.counts, weights, True, seen, filled, min(filled + seen, chosen.size), rng, chosen)


@compiled
def _fill_uniformly(counts, weights, wants_seen, left, filled, size, rng, chosen):
    """Fill ``chosen`` up to ``size`` with a uniform subset of the ``left`` available clients, valued or not."""
    for k in range(weights.size):
        if weights[k] >= 0.0 and (counts[k] > 0.0) == wants_seen and filled < size:
            if rng.random() * left < size - filled:
                chosen[filled] = k
                filled += 1
            left -= 1
    return filled


@final
@dataclass(frozen=True)
class GreedyShapley:
    """GreedyFed: the ``num_selected`` clients with the largest cumulative Shapley values; average by sample counts.

    First each client has a turn, in random order; the last group is filled up with clients that already had theirs. The
    values of a round are those of its game and change the cumulative values of its clients only. Ties are broken at
    random.

    Source: Singhal, Pandey, Popovski (2024), "Greedy Shapley Client Selection for Communication-Efficient Federated
    Learning", Algorithm 1, whose printed first turns ``{t, ..., t + M - 1}`` overlap.

    Parameters
    ----------
    num_selected
        Number M of clients per round, at most 20.
    averaging
        ``mean``: cumulative values are means over the rounds in which a client was selected. A number a in [0, 1): they
        become ``a v + (1 - a) v_round`` and start at 0.
    valuation
        ``gtg`` (truncated random orders) or ``exact`` (all coalitions).
    """

    num_selected: int
    averaging: Literal["mean"] | float = "mean"
    valuation: ValuationMethod = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        checked_averaging(self.averaging)
        validate.choice("valuation", self.valuation, get_args(ValuationMethod))

    @property
    def scheme(self) -> Scheme:
        """Largest values, which depend on earlier rounds; mean by size."""
        return Scheme("largest cumulative Shapley value", "mean by size", memoryless=False)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return _greedy_rules(weights, self.num_selected, checked_averaging(self.averaging), 0.0, self.valuation)


@final
@dataclass(frozen=True)
class UpperConfidenceShapley:
    """Clients with the largest ``v_k + exploration sqrt(log(t + 1) / N_k)``; average by sample counts.

    Here t is the number of past rounds, N_k the number of those in which client k was selected, and v_k its mean value
    in them. The first turns, ``num_selected`` and ``valuation`` are those of ``GreedyShapley``; ``exploration`` is at
    least 0. Source: Pandey et al. (2023), in the form with which GreedyFed is compared.
    """

    num_selected: int
    exploration: float = 0.01
    valuation: ValuationMethod = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        validate.nonnegative("exploration", validate.one("exploration", self.exploration))
        validate.choice("valuation", self.valuation, get_args(ValuationMethod))

    @property
    def scheme(self) -> Scheme:
        """Largest upper confidence limits of values, which depend on earlier rounds; mean by size."""
        return Scheme("largest upper confidence limit of Shapley values", "mean by size", memoryless=False)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return _greedy_rules(
            weights, self.num_selected, checked_averaging("mean"), float(self.exploration), self.valuation
        )


def _greedy_rules(
    weights: Array, num_selected: int, averaging: float, exploration: float, valuation: ValuationMethod
) -> Rules:
    return Rules(
        select=_select_largest,
        weigh=weigh_by_size,
        value=remember_values,
        max_selected=validate.count("num_selected", num_selected, 1, weights.size),
        table=pack(averaging, exploration),
        memory=memory_of(weights.size),
        valuation=valuation,
    )


@compiled
def _select_largest(round_index, table, memory, weights, candidates, losses, rng, chosen):
    filled = first_turns(memory, weights, rng, chosen)
    if filled > 0:
        return filled
    known, exploration = read_memory(memory), table[1]
    here, scores, left = np.empty(weights.size, dtype=np.int64), np.empty(weights.size), 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            here[left] = k
            scores[left] = known.values[k] + exploration * np.sqrt(np.log(round_index + 1.0) / known.counts[k])
            left += 1
    size = min(chosen.size, left)
    keep_largest(here[:left], scores[:left], size, rng, chosen)
    return size


@final
@dataclass(frozen=True)
class SoftmaxShapley:
    """S-FedAvg: sampling of ``num_selected`` clients without replacement, by ``exp(phi_k)``; average by sample counts.

    phi starts at 1/K. For a selected client it becomes ``a phi_k + (1 - a) v_k``, where v_k is the client's Shapley
    value in the round and a is ``averaging``, in [0, 1). Other arguments are those of ``GreedyShapley``.

    Source: Nagalapatti, Narayanam (2021), "Game of Gradients", in the form with which GreedyFed is compared. GreedyFed
    describes phi as an average of cumulative values (means over past rounds), here it is one of round values.
    """

    num_selected: int
    averaging: float = 0.75
    valuation: ValuationMethod = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        checked_averaging(validate.double("averaging", self.averaging))
        validate.choice("valuation", self.valuation, get_args(ValuationMethod))

    @property
    def scheme(self) -> Scheme:
        """Draws by values, which depend on earlier rounds; mean by size."""
        return Scheme("softmax of Shapley values", "mean by size", memoryless=False)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return Rules(
            select=_draw_by_softmax,
            weigh=weigh_by_size,
            value=remember_values,
            max_selected=validate.count("num_selected", self.num_selected, 1, weights.size),
            table=pack(checked_averaging(self.averaging)),
            memory=memory_of(weights.size, 1 / weights.size),
            valuation=self.valuation,
        )


@compiled
def _draw_by_softmax(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # The largest sums of phi and independent Gumbel variables have the law of successive draws by exp(phi).
    known = read_memory(memory)
    here, keys, left = np.empty(weights.size, dtype=np.int64), np.empty(weights.size), 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            here[left] = k
            keys[left] = known.values[k] - np.log(-np.log1p(-rng.random()))
            left += 1
    size = min(chosen.size, left)
    keep_largest(here[:left], keys[:left], size, rng, chosen)
    return size
