"""FedALIGN: all priority clients, and other clients with a matching loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, final

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled, inlined
from fedtheory._support.validate import Array, Mask
from fedtheory._support.values import to_tuples
from fedtheory._support.wording import truncate
from fedtheory.selection._draw import alias_table, draw_present
from fedtheory.selection.rules import CandidateLoss, Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["AnnealedThreshold", "LossMatching", "matches"]


class Matches(NamedTuple):
    """Willing and matched clients, booleans of shape (..., T, K)."""

    willing: Mask
    matched: Mask


def matches(
    losses: npt.ArrayLike, weights: npt.ArrayLike, eps: npt.ArrayLike, comparison: Literal["<", "<="] = "<"
) -> Matches:
    """Compare every client's loss with the objective: willing if ``F_k - F < eps``, matched if ``|F_k - F| < eps``.

    Willing clients would send, and the server would use matched clients. The losses F_k are those at the round starts,
    shape (..., T, K), the objective weights have shape (K,), and the thresholds eps shape (T,).

    >>> willing, matched = matches([[2.0, 0.5, 4.0]], [1.0, 0.0, 0.0], [1.0])
    >>> willing.tolist(), matched.tolist()
    ([[True, True, False]], [[True, False, False]])
    """
    values = validate.array("losses", losses)
    objective = values @ validate.array("weights", weights, shape=values.shape[-1:])
    gaps = values - objective[..., None]
    limit = validate.extended("eps", eps)[..., None]
    if validate.choice("comparison", comparison, ("<", "<=")) == "<":
        return Matches(gaps < limit, np.abs(gaps) < limit)
    return Matches(gaps <= limit, np.abs(gaps) <= limit)


class ThresholdSchedule(Protocol):
    """Thresholds that depend on the number of rounds."""

    def thresholds(self, num_rounds: int) -> Array:
        """Return eps for each round, shape (num_rounds,)."""


@final
@dataclass(frozen=True)
class AnnealedThreshold:
    """Threshold that decreases linearly from ``initial`` to 0 at the fraction ``end`` of all rounds.

    >>> AnnealedThreshold(1.0, end=0.5).thresholds(8)
    array([1.  , 0.75, 0.5 , 0.25, 0.  , 0.  , 0.  , 0.  ])
    """

    initial: float
    end: float = 1.0

    def __post_init__(self) -> None:
        validate.double("initial", validate.nonnegative("initial", self.initial))
        validate.positive("end", validate.fraction("end", self.end))

    def thresholds(self, num_rounds: int) -> Array:
        """Return eps for each round, shape (num_rounds,)."""
        validate.size("num_rounds", num_rounds, 0)
        initial, end = float(self.initial), float(self.end)
        result: Array = initial * np.maximum(1.0 - np.arange(num_rounds) / (end * max(num_rounds, 1)), 0.0)
        return result


def is_schedule(threshold: Any) -> bool:
    """Whether a threshold is a schedule."""
    return not isinstance(threshold, type) and callable(getattr(threshold, "thresholds", None))


def checked_threshold(threshold: Any) -> Array:
    """Return thresholds, numbers of at least 0, as an array."""
    raw = validate.unmasked("threshold", threshold)
    if raw.dtype.kind not in "iuf":
        message = f"threshold must be a real number, one per round, or a schedule, got {truncate(threshold)}"
        raise TypeError(message)
    values: Array = raw.astype(np.float64)
    bad = ~(values >= 0)
    if bad.any():
        message = f"threshold must be at least 0, got {values[bad].flat[0]}"
        raise ValueError(message)
    return values


_ALL, _DRAWS, _SUBSETS = 0, 1, 2


class _Sizes(NamedTuple):
    mode: int
    first: int  # numbers of priority clients, or draws, and of others that can train
    others: int


# Accuracies have the same distances as shares of mistakes.
_ASKED: dict[str, CandidateLoss] = {"loss": "exact", "accuracy": "mistakes", "minibatch accuracy": "minibatch mistakes"}


@final
@dataclass(frozen=True)
class LossMatching:
    """FedALIGN: all priority clients, and each other client with ``|F_k(w) - F(w)| < eps`` at the start of the round.

    The included clients' updates have the renormalized weights ``p'_k = p_k/(1 + s)``, where s is the total share of
    the included non-priority clients. Threshold 0 gives federated averaging over the priority clients, infinity over
    all.

    Parameters
    ----------
    priority, shares
        Booleans that are true for priority clients, at least one, and the shares p_k of all clients, shape (K,) each,
        with sum 1 over the priority clients: the attributes of a ``Prioritized`` federation.
    threshold
        eps: a number at least 0 (possibly infinite), one per round, or a schedule such as ``AnnealedThreshold``.
    warmup_rounds
        Number of initial rounds in which only priority clients train and no loss is evaluated.
    num_draws
        Number K of draws of priority clients with replacement by their weights p_k (eq. (56), Theorem A.9), or None if
        all of them train. Each draw has the weight ``1/K`` in place of p_k; copies act as different clients.
    fraction
        Fraction of the priority clients and of the others that can train (Appendix C.3), or None for all. In each round
        both are uniform subsets, of rounded sizes with at least one priority client. No theorem of the paper covers it.
    match
        Quantity that is compared: ``loss`` (the definition), ``accuracy`` on the client's samples, or ``minibatch
        accuracy`` on one mini-batch of the run's batch size (section 3.1, "in practice"). F(w) is then the mean
        accuracy of the priority clients, and the family must be a classifier.

    Notes
    -----
    FedALIGN (Ravi, Shomorony), section 3.1 and Appendix A.4. Indicators are evaluated at the server's model at the
    round's start and do not change within the round; the paper's eq. (19) evaluates them at local models. In every
    round after the warm-up all clients send their losses. The indicator is that of section 3.2; section 3.1 has ``<=``.

    If clients may be absent (``Available``), F covers the available priority clients; in a round without any of them no
    client is included. With ``BernoulliAvailability`` of probability 1 for priority clients, the others take part in a
    random pattern (eq. (55)).
    """

    priority: Sequence[bool] | npt.NDArray[np.bool_]
    shares: Sequence[float] | Array
    threshold: float | Sequence[float] | Array | ThresholdSchedule = 0.2
    warmup_rounds: int = 0
    num_draws: int | None = None
    fraction: float | None = None
    match: Literal["loss", "accuracy", "minibatch accuracy"] = "loss"

    def __post_init__(self) -> None:
        mask = validate.mask("priority", self.priority, (None,))
        if not mask.any():
            message = "priority must name at least one priority client, got none"
            raise ValueError(message)
        p = validate.nonnegative("shares", validate.array("shares", self.shares, shape=mask.shape))
        if abs(p[mask].sum() - 1) > 1e-9:
            message = f"shares must sum to 1 over the priority clients, got {p[mask].sum()!r}"
            raise ValueError(message)
        if not is_schedule(self.threshold):
            checked_threshold(self.threshold)
        validate.horizon("warmup_rounds", self.warmup_rounds)
        if self.num_draws is not None:
            validate.count("num_draws", self.num_draws)
        if self.fraction is not None:
            validate.positive("fraction", validate.fraction("fraction", self.fraction))
            if self.num_draws is not None:
                message = f"num_draws must be None if a fraction is given, got {self.num_draws}"
                raise ValueError(message)
        validate.choice("match", self.match, tuple(_ASKED))
        for name, value in (("priority", mask), ("shares", p), ("threshold", self.threshold)):
            object.__setattr__(self, name, to_tuples(value))

    @property
    def scheme(self) -> Scheme:
        """Loss matching with the law of the priority clients, renormalized weights."""
        among = {_ALL: "", _DRAWS: ", priority drawn with replacement", _SUBSETS: ", uniform subsets"}
        return Scheme(f"loss matching{among[self._sizes().mode]}", "renormalized")

    def thresholds(self, num_rounds: int) -> Array:
        """Return the thresholds of all rounds, shape (num_rounds,); they are 0 in the warm-up."""
        num_rounds = validate.size("num_rounds", num_rounds, 0)
        given: Any = self.threshold
        values = checked_threshold(given.thresholds(num_rounds) if is_schedule(given) else given)
        if values.shape not in ((), (num_rounds,)):
            message = f"threshold must be a number or have shape ({num_rounds},), got shape {values.shape}"
            raise ValueError(message)
        eps = np.broadcast_to(values, (num_rounds,)).copy()
        eps[: self.warmup_rounds] = 0.0
        return eps

    def inclusion_probabilities(self, weights: Array, losses: Array) -> Array:
        """Return the exact expected number of copies of each client in a round after the warm-up, shape (K,).

        A TypeError is raised if the threshold changes from round to round.
        """
        if np.ndim(self.threshold) or is_schedule(self.threshold):  # type: ignore[arg-type]
            message = "threshold must be the same in all rounds for inclusion probabilities, got changes"
            raise TypeError(message)
        mask, (mode, first, others) = np.array(self.priority), self._sizes()
        matched = matches(np.asarray(losses)[None], weights, checked_threshold(self.threshold)[None]).matched[0]
        chances = np.array(self.shares) * first if mode == _DRAWS else np.full(mask.size, first / mask.sum())
        return np.where(mask, chances, matched * others / max(int((~mask).sum()), 1))

    def _sizes(self) -> _Sizes:
        num_priority, num_clients = sum(self.priority), len(self.priority)
        num_others = num_clients - num_priority
        if self.num_draws is not None:
            return _Sizes(_DRAWS, int(self.num_draws), num_others)
        if self.fraction is not None:
            return _Sizes(_SUBSETS, max(1, round(self.fraction * num_priority)), round(self.fraction * num_others))
        return _Sizes(_ALL, num_priority, num_others)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules for a federation whose objective covers the priority clients only."""
        mask, p = np.array(self.priority), np.array(self.shares)
        if weights.shape != p.shape or np.abs(weights - np.where(mask, p, 0.0)).max() > 1e-9:
            message = "weights of the federation must be the shares of the priority clients and 0 for the others"
            raise ValueError(message)
        sizes, eps = self._sizes(), self.thresholds(num_rounds)
        alias = alias_table(np.where(mask, p, 0.0))
        return Rules(
            propose=_propose_everyone,
            select=_select_matching,
            weigh=_renormalize,
            max_selected=sizes.first + int((~mask).sum()),
            max_candidates=p.size,
            candidate_loss=_ASKED[self.match],
            table=pack(*sizes, self.warmup_rounds, p, mask, alias, eps),
            # A permutation within each group, from which subsets are drawn.
            memory=np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)]).astype(np.float64),
        )


class _Constants(NamedTuple):
    mode: int
    first: int
    others: int
    warmup_rounds: int
    shares: Array
    priority: Array
    alias: Array  # of the priority clients
    thresholds: Array


@inlined
def _read(table, num_clients):
    parts = table[4:]
    return _Constants(
        int(table[0]), int(table[1]), int(table[2]), int(table[3]), parts[:num_clients],
        parts[num_clients : 2 * num_clients], parts[2 * num_clients : 4 * num_clients], parts[4 * num_clients :],
    )  # fmt: skip


@compiled
def _propose_everyone(round_index, table, memory, weights, rng, candidates):
    if round_index < _read(table, weights.size).warmup_rounds:
        return 0
    for k in range(weights.size):
        candidates[k] = k
    return weights.size


@compiled
def _select_matching(round_index, table, memory, weights, candidates, losses, rng, chosen):
    known = _read(table, weights.size)
    first = int(known.priority.sum())
    size = _take_priority(table, memory[:first], weights, rng, chosen)
    others = memory[first:]
    # The subset is drawn in every round, so that runs with other thresholds or warm-ups have the same subsets.
    able = _shuffle(others, known.others, weights, rng) if known.mode == _SUBSETS else others.size
    gaps = _gaps(weights, candidates, losses)
    for j in range(able):
        if gaps[int(others[j])] < known.thresholds[round_index]:
            chosen[size] = int(others[j])
            size += 1
    return size


@compiled
def _gaps(weights, candidates, losses):
    """Return ``|F_k(w) - F(w)|``; NaN for absent clients, in the warm-up, or if no priority client is available."""
    gaps = np.full(weights.size, np.nan)
    objective, known = 0.0, False
    for j in range(candidates.size):
        objective += weights[candidates[j]] * losses[j]
        known = known or weights[candidates[j]] > 0.0
    for j in range(candidates.size):
        if known:
            gaps[candidates[j]] = abs(losses[j] - objective)
    return gaps


@compiled
def _take_priority(table, memory, weights, rng, chosen):
    known, size = _read(table, weights.size), 0
    if known.mode == _DRAWS:
        for _ in range(known.first):
            size += draw_present(known.alias, weights, rng, chosen[size : size + 1])
        return size
    taken = _shuffle(memory, known.first, weights, rng) if known.mode == _SUBSETS else memory.size
    for i in range(taken):
        chosen[size] = int(memory[i])
        size += weights[int(memory[i])] >= 0.0  # below 0 it is absent
    return size


@inlined
def _shuffle(memory, size, weights, rng):
    # In a random order the first available clients are a uniform subset; it ends at the returned index.
    end = 0
    while size > 0 and end < memory.size:
        j = end + int(rng.random() * (memory.size - end))
        memory[end], memory[j] = memory[j], memory[end]
        size -= weights[int(memory[end])] >= 0.0
        end += 1
    return end


@compiled
def _renormalize(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    known = _read(table, weights.size)
    all_shares, present_shares = 0.0, 0.0
    for k in range(weights.size):
        share = known.shares[k] * known.priority[k]
        all_shares += share
        present_shares += share if weights[k] >= 0.0 else 0.0
    total = 0.0
    for i in range(chosen.size):
        k = chosen[i]
        drawn = known.mode == _DRAWS and known.priority[k] > 0.0
        # The draws represent the available priority clients.
        coefficients[i] = present_shares / all_shares / known.first if drawn else known.shares[k]
        total += coefficients[i]
    for i in range(chosen.size):
        # There may be only clients without a share.
        coefficients[i] /= total if total > 0.0 else 1.0
    return 0.0
