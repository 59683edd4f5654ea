"""A step of the interior-point method does what its equations say, on random numbers that fulfill none of them yet."""

from collections.abc import Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array

from fedtheory._validate import Array
from fedtheory.worst_case import _interior
from fedtheory.worst_case._frames import Data, data_of, frame_of, normal_solve
from fedtheory.worst_case._packing import packed
from fedtheory.worst_case.solver import Assembled, Solution
from tests.worst_case.interior_world import LOOSE, NUM_ROWS, SIZES, World


def close(found: Any, expected: Any) -> bool:
    # Products of a dozen numbers of order one, and equations that are solved three times.
    return bool(np.allclose(found, expected, rtol=1e-10, atol=1e-11))


def inner(lefts: Sequence[Array], rights: Sequence[Array]) -> float:
    return sum(float(np.trace(left @ right)) for left, right in zip(lefts, rights, strict=True))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_combinations_of_function_values_are_those_that_constraints_can_tell_apart(scale: float) -> None:
    # The objective and three constraints on three values: first only differences count, then all values do.
    differences = np.array([[2.0, -1.0, -1.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 2.0, -2.0]])
    for levels, num in ((differences, 2), (differences[:3], 2), (differences + np.eye(4)[:, [3]], 3)):
        rows = scale * np.column_stack([np.ones(len(levels)), levels])
        data = data_of(Assembled((1,), csr_array(rows), np.arange(float(len(levels))), 1))
        assert close(data.combinations.T @ data.combinations, np.eye(num))
        assert close(data.levels / scale, levels @ data.combinations)
        assert num == 3 or close(np.ones(3) @ data.combinations, 0)
        assert close(data.grams / scale, 1)
        assert (data.sizes, data.bounds.tolist()) == ((1,), list(range(1, len(levels))))
        assert data.loose.tolist() == [False, *[True] * (len(levels) - 2)]
    assert (data.combinations == np.eye(3)).all()


@pytest.mark.parametrize("seed", range(3))
def test_what_multipliers_promise_beyond_the_point_is_what_slacks_and_leftovers_say(seed: int) -> None:
    world = World(seed)
    data, state = world.data, world.state
    missing = state.multipliers @ data.levels[1:] - data.levels[0]
    gap = state.multipliers @ data.bounds - _interior._objective(data, state)
    slacks, leftovers = data.slacks(state.factors, state.values), data.leftovers(state.multipliers)
    assert close(gap, inner(leftovers, world.grams) + state.multipliers @ slacks + missing @ state.values)


@pytest.mark.parametrize("seed", range(3))
def test_in_its_coordinates_a_gram_matrix_and_what_is_left_of_its_block_are_the_same_diagonal(seed: int) -> None:
    world = World(seed)
    data, state, frame = world.data, world.state, world.frame
    for R, length, G, S in zip(frame.turns, frame.lengths, world.grams, state.leftovers, strict=True):
        assert close(R @ np.diag(length) @ R.T, G)
        assert close(R.T @ S @ R, np.diag(length))
    # Five rows of blocks, and four inequalities.
    assert frame.mean * 9 == pytest.approx(inner(world.grams, state.leftovers) + state.slacks @ state.multipliers)
    assert data.degree == 9
    moved = [R @ X @ R.T for R, X in zip(frame.turns, world.grams, strict=True)]
    assert close(frame.rows @ packed(world.grams), data.grams[1:] @ packed(moved))
    normal = frame.rows @ frame.rows.T + np.diag(np.where(LOOSE, state.slacks / state.multipliers, 0.0))
    right = world.rng.normal(size=NUM_ROWS)
    assert close(normal @ frame.solve(right), right)
    assert close(normal @ np.diag(frame.weights), normal * np.where(LOOSE, state.slacks / state.multipliers, 0.0))
    remains = data.levels[1:].T @ np.linalg.solve(normal, data.levels[1:])
    assert close(remains @ normal_solve(frame.level_triangle, right[:2]), right[:2])
    # Rows are scaled to unit length, whatever their size.
    assert close(np.diag(frame.triangle.T @ frame.triangle), 1)


def test_a_state_in_which_something_is_singular_has_no_coordinates() -> None:
    world = World(0)
    indefinite = world.state._replace(leftovers=[np.diag([1.0, -1.0]), np.eye(3)])
    undefined = world.state._replace(slacks=np.full(NUM_ROWS, np.nan))
    assert [frame_of(world.data, state) for state in (indefinite, undefined)] == [None, None]


@pytest.mark.parametrize("num_solves", [1, 2, 3])
def test_after_a_whole_step_both_sides_are_true_and_all_products_are_the_target(
    num_solves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where nothing is ill-conditioned, equations that are solved once are solved.
    monkeypatch.setattr(_interior, "_NUM_SOLVES", num_solves)
    world = World(num_solves)
    data, state, frame = world.data, world.state, world.frame
    products, scalars, step = world.steps()
    grams, slacks, leftovers, multipliers = world.after(step)
    assert close(slacks, data.bounds - data.grams[1:] @ packed(grams) - data.levels[1:] @ (state.values + step.values))
    assert not slacks[~LOOSE].any()
    assert all(close(S, true) for S, true in zip(leftovers, data.leftovers(multipliers), strict=True))
    assert close(data.levels[0], multipliers @ data.levels[1:])
    for length, X, Z, known in zip(frame.lengths, step.grams, step.leftovers, products, strict=True):
        D = np.diag(length)
        first_order = (D @ (X + Z) + (X + Z) @ D) / 2
        assert close(D @ D + first_order + known, 0.3 * np.eye(len(D)))
    first = state.slacks * state.multipliers + state.slacks * step.multipliers + state.multipliers * step.slacks
    assert close((first + scalars)[LOOSE], 0.3)


@pytest.mark.parametrize(("blocks", "numbers"), [(1.0, 1.0), (50.0, 0.01), (0.01, 50.0), (1e-3, 1e-3)])
def test_a_step_goes_nineteen_twentieths_of_the_way_to_where_it_would_leave(blocks: float, numbers: float) -> None:
    for seed in range(3):
        world = World(seed)
        state = world.state
        _, _, whole = world.steps()
        step = whole._replace(
            grams=[blocks * X for X in whole.grams],
            leftovers=[blocks * Z for Z in whole.leftovers],
            slacks=numbers * whole.slacks,
            multipliers=numbers * whole.multipliers,
        )
        shares = []
        for matrices, changes, entries, moves in zip(
            (world.grams, state.leftovers),
            world.changes(step),
            (state.slacks, state.multipliers),
            (step.slacks, step.multipliers),
            strict=True,
        ):
            shrinking = [eigh(-change, matrix)[0].max() for matrix, change in zip(matrices, changes, strict=True)]
            fastest = max(*shrinking, *(-moves / np.where(LOOSE, entries, np.inf)))
            shares.append(1.0 if fastest <= 0.95 else 0.95 / fastest)
        assert close(_interior._longest(world.data, state, world.frame, step), shares)


# From seed 174 going straight to zero would leave more than there is.
@pytest.mark.parametrize("seed", [0, 1, 174])
@pytest.mark.parametrize("least", [1e-3, 0.9])
def test_a_direction_aims_at_what_going_straight_to_zero_would_leave(seed: int, least: float) -> None:
    world = World(seed)
    data, state, frame = world.data, world.state, world.frame
    zeros = [np.zeros((size, size)) for size in SIZES]
    straight = _interior._towards(data, state, frame, 0.0, zeros, np.zeros(NUM_ROWS))
    primal, dual = _interior._longest(data, state, frame, straight)
    grams, slacks, leftovers, multipliers = world.after(straight, primal, dual)
    share = float(((inner(grams, leftovers) + slacks @ multipliers) / (9 * frame.mean)) ** 2)
    target = min(max(share, least), 1.0) * frame.mean
    step = _interior._direction(data, state, frame, least)
    second = straight.slacks * straight.multipliers
    first = state.slacks * state.multipliers + state.slacks * step.multipliers + state.multipliers * step.slacks
    assert close((first + second)[LOOSE], target)
    for length, X, Z, U, V in zip(
        frame.lengths, step.grams, step.leftovers, straight.grams, straight.leftovers, strict=True
    ):
        D = np.diag(length)
        total = (D + X) @ (D + Z) + U @ V - X @ Z
        assert close((total + total.T) / 2, target * np.eye(len(D)))


@pytest.mark.parametrize("seed", range(3))
def test_a_move_is_its_shares_of_the_step_on_either_side(seed: int) -> None:
    world = World(seed)
    _, _, step = world.steps()
    primal, dual = _interior._longest(world.data, world.state, world.frame, step)
    grams, slacks, leftovers, multipliers = world.after(step, primal, dual)
    found = _interior._moved(world.data, world.state, world.frame, step)
    assert 0 < min(primal, dual) < 1
    assert primal != dual
    assert all(close(V @ V.T, G) for V, G in zip(found.factors, grams, strict=True))
    assert all(close(kept, S) for kept, S in zip(found.leftovers, leftovers, strict=True))
    assert close(found.values, world.state.values + primal * step.values)
    assert close(found.slacks, slacks)
    assert close(found.multipliers, multipliers)


def truthful(world: World, slacks: Array, share: float) -> Data:
    """The program in which these are the true slacks, and a share of the leftovers the true ones of the last block."""
    data, state = world.data, world.state
    bounds = data.bounds + slacks - data.slacks(state.factors, state.values)
    wanted = [state.leftovers[0], share * state.leftovers[1]]
    objective = state.multipliers @ data.grams[1:] - packed(wanted)
    return data._replace(bounds=bounds, grams=np.vstack([objective, data.grams[1:]]))


@pytest.mark.parametrize(("first", "last"), list(product((-1.0, 0.05, 0.15, 3.0), repeat=2)))
def test_true_slacks_and_leftovers_are_taken_where_they_are_a_tenth_of_those_kept(first: float, last: float) -> None:
    world = World(1)
    kept = world.state.slacks / 10
    state = world.state._replace(slacks=kept)
    # What equalities lack does not count.
    true = np.array([-2.0, 3.0, first, 1.0, 1.0, 1.0]) * np.where(LOOSE, kept, 1.0)
    data = truthful(world, true, last)
    found, inside = _interior._renewed(data, state)
    assert inside == (first > 0.1 < last)
    assert close(found.slacks, true * LOOSE if first > 0.1 else kept)
    assert close(found.leftovers[1], (last if last > 0.1 else 1.0) * world.state.leftovers[1])
    assert close(found.leftovers[0], world.state.leftovers[0])


def test_far_from_all_bounds_products_are_one_and_slacks_as_large_as_they_are_but_at_least_one() -> None:
    world = World(2)
    units = [np.eye(size) for size in SIZES]
    true = np.array([5.0, -5.0, 7.0, 0.5, -3.0, 1.5])
    data = world.data._replace(bounds=true + world.data.grams[1:] @ packed(units))
    found = _interior._start(data)
    assert close(found.slacks, [0, 0, 7, 1, 1, 1.5])
    assert close(found.multipliers, [0, 0, 1 / 7, 1, 1, 1 / 1.5])
    assert not found.values.any()
    assert all(close(V, unit) for V, unit in zip(found.factors, units, strict=True))
    assert all(close(S, unit) for S, unit in zip(found.leftovers, units, strict=True))


def test_a_way_begins_anew_with_small_products_where_rounding_has_made_them_negative() -> None:
    world = World(3)
    state = world.state
    # Products of slacks and multipliers are 1/2, 8, 6; the last slack is not positive.
    multipliers = np.array([-1.3, 0.7, 0.25, 4.0, 3.0, 5.0])
    slacks = np.array([0.1, -0.1, 2.0, 2.0, 2.0, -0.25])
    data = truthful(World(3), slacks, 1.0)._replace(grams=world.data.grams)
    spectra = ([0.5, 20.0], [-3.0, 7.0, 9.0])
    turns = [np.linalg.qr(world.rng.normal(size=(size, size)))[0] for size in SIZES]
    wanted = [turn @ np.diag(lengths) @ turn.T for turn, lengths in zip(turns, spectra, strict=True)]
    data = data._replace(grams=np.vstack([multipliers @ data.grams[1:] - packed(wanted), data.grams[1:]]))
    roots = tuple(V.T for V in state.factors)
    start = Solution(roots, data.combinations @ state.values, multipliers[2:], multipliers[:2])
    found = _interior._begun(data, start)
    assert close(found.values, state.values)
    assert all(close(V, own) for V, own in zip(found.factors, state.factors, strict=True))
    assert close(found.multipliers, multipliers)
    assert close(found.slacks, [0, 0, 2, 2, 2, 6 / 5])
    again = _interior._solution(data, found)
    assert close(again.values, start.values)
    assert close(again.multipliers, start.multipliers)
    assert close(again.equality_multipliers, start.equality_multipliers)
    assert all(close(V, root) for V, root in zip(again.roots, roots, strict=True))
    # The least eigenvalue becomes 6, the median product, and the others move as much.
    for S, lengths in zip(found.leftovers, ([6.0, 25.5], [6.0, 16.0, 18.0]), strict=True):
        assert close(np.linalg.eigvalsh(S), lengths)


def test_leftovers_that_are_large_enough_begin_as_they_are() -> None:
    world = World(3)
    data = truthful(world, np.full(NUM_ROWS, 0.1), 1.0)
    large = [S + 100 * np.eye(len(S)) for S in world.state.leftovers]
    objective = world.state.multipliers @ data.grams[1:] - packed(large)
    data = data._replace(grams=np.vstack([objective, data.grams[1:]]))
    roots, multipliers = tuple(V.T for V in world.state.factors), world.state.multipliers
    start = Solution(roots, data.combinations @ world.state.values, multipliers[2:], multipliers[:2])
    found = _interior._begun(data, start)
    assert all(close(S, same) for S, same in zip(found.leftovers, large, strict=True))
    assert close(found.slacks, 0.1 * LOOSE)


Script = list[tuple[float, bool]]
SHRINKING: Script = [(0.75**n, True) for n in range(40)]
# Means of nine products, whether the point is inside, the accuracy that is asked for, and the number of solutions.
SCRIPTS: dict[str, tuple[Script, float, int]] = {
    # 9 * 0.75^n is below 0.2 times the objective, which is -4, from n = 9 on.
    "as close as asked": (SHRINKING, 0.2, 10),
    "as close as asked, but outside": ([(mean, False) for mean, _ in SHRINKING], 0.2, 40),
    "inside in the end": ([(mean, n > 20) for n, (mean, _) in enumerate(SHRINKING)], 0.2, 22),
    # Six steps in a row, of which none gains a fifth.
    "standing still": ([(1.0, True)] * 40, 1e-9, 7),
    "slow": ([(0.85**n, True) for n in range(40)], 1e-9, 7),
    "growing": ([(2.0**n, False) for n in range(40)], 1e-9, 7),
    # What is gained is gained on the best so far, not on the last.
    "up and down": ([(4.0, True), (1.0, True), *[(2.0, True), (1.0, True)] * 19], 1e-9, 8),
    "a fifth in time": ([(1.0, True)] * 6 + [(0.8, True)] * 34, 1e-9, 13),
    "twice in time": ([(1.0, True)] * 6 + [(0.7, True)] * 6 + [(0.5, True)] * 28, 1e-9, 19),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_way_ends_where_it_is_close_or_comes_no_closer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script, accuracy, expected = SCRIPTS[name]
    world, means, insides = World(0), iter(script), [inside for _, inside in script]
    aims = list[float]()

    def framed(*_: Any) -> Any:
        mean, _inside = next(means, (None, False))
        return None if mean is None else SimpleNamespace(mean=mean)

    monkeypatch.setattr(_interior, "data_of", lambda _: world.data)
    monkeypatch.setattr(_interior, "_renewed", lambda _, state: (state, [*insides, True][len(aims)]))
    monkeypatch.setattr(_interior, "frame_of", framed)
    monkeypatch.setattr(_interior, "_objective", lambda *_: -4.0)
    monkeypatch.setattr(_interior, "_direction", lambda *given: aims.append(given[-1]))
    monkeypatch.setattr(_interior, "_moved", lambda *given: given[1])
    found = list(_interior.path(cast("Any", None), accuracy))
    assert [inside for _, inside in found] == insides[:expected]
    # The last one makes no step, unless the coordinates have ended.
    assert aims == [1e-3 if inside else 0.2 for inside in insides[: min(expected, len(aims))]]
    assert len(aims) in (expected - 1, len(script))
