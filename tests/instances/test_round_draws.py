"""Random rounds reach both kinds of noise, flat clients only where asked, and are told by their numbers."""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.instances.run_draws import draw_alignment, draw_run
from fedtheory.instances.sampled_rounds import draw_quadratic_round, draw_wells_round

DRAWS = 200
# A corner that a fifth of the draws should reach is missed by this share of 200 only once in 10^6.
SOME = DRAWS // 20


def drawn(draw: Any, **options: Any) -> list[Any]:
    rng = np.random.default_rng(47)
    return [draw(rng, **options) for _ in range(DRAWS)]


def numbers(value: Any) -> list[Fraction]:
    """Return the numbers of nested sequences, or of words."""
    if isinstance(value, str):
        return [Fraction(found) for found in re.findall(r"-?\d+(?:/\d+)?", value)]
    if isinstance(value, Iterable):
        return [number for part in value for number in numbers(part)]
    return [Fraction(value)]


@pytest.mark.parametrize("draw", [draw_quadratic_round, draw_wells_round])
def test_either_noise_is_drawn_however_long_the_round_and_both_only_in_short_ones(draw: Any) -> None:
    short: list[tuple[bool, bool]] = []
    long: list[tuple[bool, bool]] = []
    for one in drawn(draw, longest_round=3):
        noises = bool(one.round.noise_factor), bool(one.round.noise_length)
        steps = one.round.num_clients * one.round.local_steps
        assert 2 ** (sum(noises) * steps) <= 300
        if steps <= 4:
            short.append(noises)
        elif steps <= 8:
            long.append(noises)
    assert set(short) == {(False, False), (False, True), (True, False), (True, True)}
    # Both, of which one is kept, are drawn in 12 of 20 cases, either alone in 3 or 4: each is left in 9 or 10 of 20.
    assert min(long.count((False, True)), long.count((True, False))) > len(long) / 4
    assert any(noises == (False, False) for noises in long)


def test_a_client_lacks_curvature_only_along_the_first_coordinate_and_only_if_asked() -> None:
    plain, flat = drawn(draw_quadratic_round), drawn(draw_quadratic_round, flat=True)
    assert all(min(diagonal) > 0 for one in plain for diagonal in one.federation.curvatures)
    for one in flat:
        first, *others = one.federation.curvatures
        assert first[0] == 0 < min((*first[1:], *(a for diagonal in others for a in diagonal)))


def test_rounds_of_one_step_are_short_and_long_and_some_quadratic_ones_start_at_the_minimizer() -> None:
    quadratic, wells = drawn(draw_quadratic_round), drawn(draw_wells_round)
    lengths = {one.round.step_size * one.federation.smoothness for one in quadratic}
    assert lengths == {Fraction(1, 20), Fraction(1, 4), 1, 10}
    assert {one.round.step_size * one.clients.smoothness for one in wells} == {Fraction(1, 20), Fraction(1, 4), 1, 4}
    assert SOME < sum(one.round.model == one.federation.minimizer for one in quadratic) < DRAWS // 2
    for one in [*quadratic, *wells]:
        assert one.round.local_steps == 1
        assert 0 < numbers(one.instance["law"])[0] <= one.round.num_clients


@pytest.mark.parametrize("draw", [draw_quadratic_round, draw_wells_round])
def test_a_round_is_told_by_the_numbers_that_define_it(draw: Any) -> None:
    for one in drawn(draw, longest_round=3)[:20]:
        told = {name: numbers(value) for name, value in one.instance.items() if name != "law"}
        shown, clients = one.round, one[1]
        names = ("curvatures", "minima") if draw is draw_quadratic_round else ("amplitudes", "slopes")
        assert told == {
            **{name: numbers(getattr(clients, name)) for name in (*names, "centers", "weights")},
            "model": list(shown.model),
            "step_size": [shown.step_size],
            "local_steps": [shown.local_steps],
            "server_step_size": [2],
            "relative_noise": [shown.noise_factor**2],
            "sigma2": [shown.noise_length**2],
        }


@pytest.mark.parametrize("draw", [draw_run, draw_alignment])
def test_a_run_is_told_by_the_numbers_that_define_it(draw: Any) -> None:
    for one in drawn(draw)[:20]:
        told, run = {name: numbers(value) for name, value in one.instance.items()}, one.run
        for name in ("curvatures", "centers", "weights", "minima"):
            assert told[name] == numbers(getattr(run.federation, name))
        assert told["local_steps"] + told["num_steps"] == [run.local_steps, run.num_steps]
        assert told["first_step_size"] == [run.step_size(0)]
        assert told["initial"] == list(run.initial)
        assert told["noise"] == [number for value, chance in run.noise.items() for number in (*value, chance)]
        if draw is draw_alignment:
            assert told["shares"] == list(run.shares)
            assert told["thresholds"] == list(run.thresholds)
            assert told["num_draws"] == [run.num_draws]
