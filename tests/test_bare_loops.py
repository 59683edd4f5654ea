"""The bare loops of the performance study equal a round in plain Python, and their clock counts the work."""

from collections.abc import Iterator
from typing import Any

import _bare_loops as floor
import numpy as np
import pytest

from fedtheory.selection._draw import alias_table, client_at

CURVATURES, MINIMA = np.array([2.0, 3.0, 5.0]), np.array([0.5, 0.25, 1.0])
CENTERS = np.array([[1.0, -1.0], [0.5, 2.0], [-3.0, 0.25]])
ROWS = np.column_stack([CURVATURES, MINIMA, CENTERS])
STEP = 1e-5


def plain(loop: Any) -> Any:
    """Take a loop as plain Python."""
    return getattr(loop, "py_func", loop)


def two_steps(model: Any, clients: Any) -> Any:
    """What the updates of two local steps of clients are on average."""
    shrink = 1 - (1 - STEP * CURVATURES[clients]) ** 2
    return model + np.mean(shrink[:, None] * (CENTERS[clients] - model), axis=0)


def test_a_round_draws_a_hundred_numbers() -> None:
    total = plain(floor._draw)(np.random.default_rng(3), 2)
    assert total == pytest.approx(np.random.default_rng(3).random(200).sum(), rel=1e-12)


def test_the_first_clients_take_two_steps_a_round_and_the_losses_of_all_candidates_are_summed() -> None:
    model = np.array([0.7, -0.3])
    expected = two_steps(two_steps(model, [0, 1]), [0, 1])
    first = plain(floor._evaluate_and_step)(ROWS, model, 3, 2, 2)
    # Updates are kept small to keep the model where it is; eleven digits of them are left beside it.
    assert model - [0.7, -0.3] == pytest.approx(expected - [0.7, -0.3], rel=1e-9)
    assert first == model[0]
    # The one client that trains stands still; another's loss, 10^300 times 3 (1/4 + 1) + 7/8, is taken in by 10^-300.
    still = np.array([0.5, 1.0])
    rows = np.array([[0.0, 0.0, 9.0, 9.0], [6e300, 7e300 / 8, 0.0, 0.0]])
    plain(floor._evaluate_and_step)(rows, still, 2, 1, 1)
    assert still == pytest.approx([0.5 + 37 / 8, 1.0 + 37 / 8], rel=1e-12)


def test_as_many_clients_are_ranked_first_as_are_selected_where_no_losses_tie() -> None:
    losses = np.array([0.3, 5.1, 2.2, 7.9])
    assert plain(floor._rank)(losses, 3, 5) == 15
    assert losses.tolist() == [2.3, 6.1, 3.2, 8.9]
    assert plain(floor._rank)(np.array([0.0, 1.0, 1.0, 1.0]), 2, 1) == 4  # all of them tie after the first round


@pytest.mark.slow
@pytest.mark.parametrize("lead", [0, 1])
def test_rand_trains_whom_it_draws_however_far_ahead_it_asks(lead: int) -> None:
    alias, counts, num_rounds = alias_table(np.array([1.0, 2.0, 3.0])), np.zeros(3, np.int64), 4
    plain(floor._rand)(alias, ROWS, counts, np.random.default_rng(5), lead, num_rounds)
    rng = np.random.default_rng(5)
    drawn = [client_at(alias, rng.random()) for _ in range(10 * (num_rounds + 2 * lead))][: 10 * num_rounds]
    expected = np.bincount(drawn, minlength=3)
    # Before the first are drawn, a lead names and trains the first column's client.
    expected[client_at(alias, 0.0)] += 10 * lead
    expected[0] += 10 * lead
    assert counts.tolist() == expected.tolist()


def test_a_trained_client_is_counted_and_takes_two_steps() -> None:
    counts, model, clients = np.zeros(3, np.int64), np.array([0.7, -0.3]), np.array([2, 0, 2])
    plain(floor._train)(ROWS, counts, clients, model)
    assert counts.tolist() == [1, 0, 2]
    assert model - [0.7, -0.3] == pytest.approx(two_steps(np.array([0.7, -0.3]), clients) - [0.7, -0.3], rel=1e-9)


def test_the_smallest_of_nine_times_is_told_for_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    now, taken = [100.0], iter([0.0, 9.0, 7.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.5, 1.5, 1.0])
    asked = []

    def program(first: str, num_rounds: int) -> None:
        asked.append((first, num_rounds))
        now[0] += next(taken)

    monkeypatch.setattr(floor, "process_time", lambda: now[0])
    assert floor._nanoseconds(program, "rng", 50) == pytest.approx(1e9 * 1.5 / 50, rel=1e-12)
    assert asked == [("rng", 10)] + [("rng", 50)] * 9


def test_every_part_of_a_round_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: Iterator[float] = iter([300.0, 5.0, 7.0, 50.0, 70.0])
    seen = []

    def time(program: Any, *arguments: Any) -> float:
        seen.append((program.__name__, *(np.shape(each) for each in arguments[:-1]), arguments[-1]))
        return next(taken)

    monkeypatch.setattr(floor, "_nanoseconds", time)
    few, many = floor.floors(1000)
    assert few == {"num_clients": 30, "draws": 10.65 * 3, "losses and steps": 5.0, "ranking": 7.0, "together": 43.95}
    assert many["together"] == pytest.approx(36.15 * 3 + 120.0, rel=1e-12)
    assert seen == [
        ("_draw", (), 100),
        ("_evaluate_and_step", (30, 7), (5,), (), (), 1000),
        ("_rank", (9,), (), 1000),
        ("_evaluate_and_step", (100, 7), (5,), (), (), 1000),
        ("_rank", (30,), (), 1000),
    ]


def test_bare_rounds_do_every_part_as_often_as_rounds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    for name in ("_draw", "_evaluate_and_step", "_rank"):
        monkeypatch.setattr(floor, name, lambda *given: seen.append([np.size(one) for one in given[:-1]] + [given[-1]]))
    floor.bare_rounds(30, 1000)
    assert seen == [[1, 106], [210, 5, 1, 1, 1000], [9, 1, 1000]]


@pytest.mark.slow
def test_among_many_clients_memory_is_asked_with_and_without_a_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def time(program: Any, *arguments: Any) -> float:
        seen.append((program.__name__, *(np.shape(each) for each in arguments[1:3]), *arguments[4:]))
        return float(len(seen))

    monkeypatch.setattr(floor, "_nanoseconds", time)
    rows = floor.floors_of_many(70)
    assert rows == [
        {"num_clients": 1_000, "lead of 0": 1.0, "lead of 1": 2.0},
        {"num_clients": 1_000_000, "lead of 0": 3.0, "lead of 1": 4.0},
    ]
    assert seen == [("_rand", (size, 12), (size,), lead, 70) for size in (1_000, 1_000_000) for lead in (0, 1)]
