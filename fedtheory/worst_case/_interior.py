"""An interior-point method that keeps the digits that small values need: slower than the solver, and closer.

It follows the central path of a program and of its dual by the directions of Nesterov and Todd and the steps of
Mehrotra. What keeps the digits: Gram matrices live in factors, and steps are computed in coordinates in which a Gram
matrix and what multipliers leave of its block are one diagonal matrix, so that tiny eigenvalues do not drown in large
ones; slacks are computed anew from the point; and what rounding leaves of a step's equations is mended in the step
itself, since to the multipliers behind it that correction would be less than their last digit.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case._frames import Data, Frame, State, data_of, frame_of, normal_solve
from fedtheory.worst_case._packing import packed, unpacked
from fedtheory.worst_case.solver import Assembled, Solution

__all__ = ["path"]

_MOST_STEPS = 80
# Between shares of the longest step that stays inside.
_CAUTION = 0.95
# Products are not aimed at less than this share of themselves, and less boldly until slacks are true.
_LEAST, _OUTSIDE = 1e-3, 0.2
# A step's equations are solved, and what rounding leaves of them is mended twice.
_NUM_SOLVES = 3
# So many steps without progress are enough.
_PATIENCE = 5


class _Step(NamedTuple):
    """A change of the state; of Gram matrices and leftovers in the coordinates in which they are the same."""

    grams: list[Array]
    values: Array
    slacks: Array
    multipliers: Array
    leftovers: list[Array]


def path(assembled: Assembled, accuracy: float, start: Solution | None = None) -> Iterator[tuple[Solution, bool]]:
    """Yield the way to a program's solution, and whether point and multipliers are strictly inside.

    Parameters
    ----------
    assembled
        The program.
    accuracy
        It ends where what the multipliers promise exceeds what the point reaches by less than this times that, or where
        rounding ends the progress.
    start
        Where to begin; by default far from all bounds.

    Yields
    ------
    Solution
        Each closer than the one before.
    bool
        Whether it breaks no constraint.
    """
    data = data_of(assembled)
    state, best, stale = _begun(data, start) if start else _start(data), np.inf, 0
    for _ in range(_MOST_STEPS):
        state, inside = _renewed(data, state)
        frame = frame_of(data, state)
        if frame is None:
            return
        yield _solution(data, state), inside
        left = frame.mean * data.degree
        stale, best = (stale + 1 if left > 0.8 * best else 0), min(left, best)
        if stale > _PATIENCE or (inside and left < accuracy * abs(_objective(data, state))):
            return
        state = _moved(data, state, frame, _direction(data, state, frame, _LEAST if inside else _OUTSIDE))


def _solution(data: Data, state: State) -> Solution:
    roots = tuple(V.T for V in state.factors)
    return Solution(
        roots, data.combinations @ state.values, state.multipliers[data.loose], state.multipliers[~data.loose]
    )


def _start(data: Data) -> State:
    """Begin with products of 1: the unit matrices, and slacks as large as they are there, but at least 1."""
    units, values = [np.eye(size) for size in data.sizes], np.zeros(data.levels.shape[1])
    slacks = np.maximum(data.slacks(units, values), 1.0)
    return State(units, values, slacks * data.loose, data.loose / slacks, units)


def _begun(data: Data, start: Solution) -> State:
    """Begin with a solution, in which slacks and leftovers that rounding has made negative are small instead."""
    factors, values = [root.T for root in start.roots], np.linalg.pinv(data.combinations) @ start.values
    slacks = data.slacks(factors, values)
    multipliers = np.zeros_like(slacks)
    multipliers[data.loose], multipliers[~data.loose] = start.multipliers, start.equality_multipliers
    products = (slacks * multipliers)[data.loose]
    small = np.median(products[products > 0])
    slacks = np.divide(small, multipliers, out=slacks * data.loose, where=data.loose & (slacks <= 0))
    leftovers = data.leftovers(multipliers)
    lacking = [max(0.0, small - np.linalg.eigvalsh(S).min(initial=small)) for S in leftovers]
    leftovers = [S + lack * np.eye(len(S)) for S, lack in zip(leftovers, lacking, strict=True)]
    return State(factors, values, slacks, multipliers, leftovers)


def _objective(data: Data, state: State) -> float:
    return float(data.grams[0] @ packed([V @ V.T for V in state.factors]) + data.levels[0] @ state.values)


def _renewed(data: Data, state: State) -> tuple[State, bool]:
    """Take true slacks and leftovers where they are positive enough, and say whether all are."""
    slacks, leftovers = data.slacks(state.factors, state.values), data.leftovers(state.multipliers)
    primal = bool((slacks > 0.1 * state.slacks)[data.loose].all())
    dual = all(
        np.linalg.eigvalsh(true - 0.1 * kept).min(initial=1.0) > 0
        for true, kept in zip(leftovers, state.leftovers, strict=True)
    )
    state = state._replace(slacks=slacks * data.loose) if primal else state
    return (state._replace(leftovers=leftovers) if dual else state), primal and dual


def _direction(data: Data, state: State, frame: Frame, least: float) -> _Step:
    """Aim at 0 for all products, see how far that gets, and aim again at what that says can be reached."""
    zero = [np.zeros((size, size)) for size in data.sizes]
    first = _towards(data, state, frame, 0.0, zero, np.zeros_like(state.slacks))
    primal, dual = _longest(data, state, frame, first)
    left = float((state.slacks + primal * first.slacks) @ (state.multipliers + dual * first.multipliers))
    for length, gram, leftover in zip(frame.lengths, first.grams, first.leftovers, strict=True):
        left += np.vdot(np.diag(length) + primal * gram, np.diag(length) + dual * leftover).item()
    share: float = np.clip((left / (frame.mean * data.degree)) ** 2, least, 1.0).item()
    products = [(X @ Z + Z @ X) / 2 for X, Z in zip(first.grams, first.leftovers, strict=True)]
    return _towards(data, state, frame, share * frame.mean, products, first.slacks * first.multipliers)


def _towards(
    data: Data, state: State, frame: Frame, target: float, products: Sequence[Array], scalar_products: Array
) -> _Step:
    """Return the step after which all products are a target to first order, some second-order products given."""
    untrue = _untrue_leftovers(data, state, frame)
    sums = [
        2 * (np.diag(target - length**2) - product) / (length[:, None] + length)
        for length, product in zip(frame.lengths, products, strict=True)
    ]
    wanted = target - state.slacks * state.multipliers - scalar_products
    slacks = np.divide(wanted, state.multipliers, out=np.zeros_like(wanted), where=data.loose)
    grams = [both - part for both, part in zip(sums, untrue, strict=True)]
    rest = _Step(grams, np.zeros_like(state.values), slacks, np.zeros_like(slacks), untrue)
    missing = data.slacks(state.factors, state.values) - state.slacks
    unbalanced = data.levels[0] - data.levels[1:].T @ state.multipliers
    for _ in range(_NUM_SOLVES):
        rest = _mended(data, frame, rest, missing, unbalanced)
    return rest


def _untrue_leftovers(data: Data, state: State, frame: Frame) -> list[Array]:
    true = data.leftovers(state.multipliers)
    return [R.T @ (a - b) @ R for R, a, b in zip(frame.turns, true, state.leftovers, strict=True)]


def _mended(data: Data, frame: Frame, step: _Step, missing: Array, unbalanced: Array) -> _Step:
    """Solve for what is left of a step's linear equations, and add it to the step."""
    levels = data.levels[1:]
    left = missing - frame.rows @ packed(step.grams) - levels @ step.values - step.slacks
    change = -frame.solve(left)
    values = normal_solve(frame.level_triangle, unbalanced - levels.T @ (step.multipliers + change))
    change = change + frame.solve(levels @ values)
    moves = unpacked(data.sizes, change @ frame.rows)
    return _Step(
        grams=[a - b for a, b in zip(step.grams, moves, strict=True)],
        values=step.values + values,
        slacks=step.slacks - frame.weights * change,
        multipliers=step.multipliers + change,
        leftovers=[a + b for a, b in zip(step.leftovers, moves, strict=True)],
    )


def _longest(data: Data, state: State, frame: Frame, step: _Step) -> tuple[float, float]:
    """Return how far a point, and multipliers, may go along a step and stay inside."""
    found = []
    for matrices, numbers, changes in (
        (step.grams, state.slacks, step.slacks),
        (step.leftovers, state.multipliers, step.multipliers),
    ):
        shrinking = (-changes[data.loose] / numbers[data.loose]).max(initial=0.0)
        for length, matrix in zip(frame.lengths, matrices, strict=True):
            relative = matrix / np.sqrt(length[:, None] * length)
            shrinking = max(shrinking, -np.linalg.eigvalsh(relative).min(initial=0.0))
        found.append(_CAUTION / max(shrinking, _CAUTION))
    return found[0], found[1]


def _moved(data: Data, state: State, frame: Frame, step: _Step) -> State:
    primal, dual = _longest(data, state, frame, step)
    factors = [
        R @ np.linalg.cholesky(np.diag(length) + primal * gram)
        for R, length, gram in zip(frame.turns, frame.lengths, step.grams, strict=True)
    ]
    multipliers = state.multipliers + dual * step.multipliers
    before, after = data.leftovers(state.multipliers), data.leftovers(multipliers)
    # What is untrue of leftovers gets less, as does what is untrue of slacks.
    leftovers = [
        kept + (new - old) + dual * (old - kept) for kept, old, new in zip(state.leftovers, before, after, strict=True)
    ]
    slacks = state.slacks + primal * step.slacks
    return State(factors, state.values + primal * step.values, slacks, multipliers, leftovers)
