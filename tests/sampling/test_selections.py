"""Laws of selection, outcome by outcome, against fixtures, brute force and quadrature."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.conformance import weights
from fedtheory.sampling.cohorts import (
    frequencies,
    independent,
    power_of_choice,
    successive,
    uniform_subsets,
    with_replacement,
)
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.statistics.law import Law

sizes = st.lists(st.integers(1, 9), min_size=2, max_size=5)


@given(sizes=sizes, data=st.data())
def test_power_of_choice_agrees_with_quadrature_over_arrival_times(sizes: list[int], data: st.DataObject) -> None:
    num_candidates = data.draw(st.integers(1, len(sizes)))
    num_selected = data.draw(st.integers(1, num_candidates))
    losses = data.draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    law = power_of_choice(sizes, losses, num_selected, num_candidates)  # type: ignore[arg-type]
    exact = [float(frequency) for frequency in frequencies(law, len(sizes))]
    by_quadrature = power_of_choice_inclusion(np.array(sizes) / sum(sizes), losses, num_selected, num_candidates)
    np.testing.assert_allclose(by_quadrature, exact, rtol=0, atol=1e-13)


@given(shares=weights(), data=st.data())
def test_every_law_sums_to_one(shares: tuple[Fraction, ...], data: st.DataObject) -> None:
    num_selected = data.draw(st.integers(1, min(3, len(shares))))
    laws = [
        with_replacement(shares, num_selected),
        successive(shares, num_selected),
        uniform_subsets(len(shares), num_selected),
        independent(shares),
    ]
    assert [sum(law.values()) for law in laws] == [1, 1, 1, 1]


@given(shares=weights(), num_selected=st.integers(1, 3))
def test_draws_with_replacement_are_unbiased(shares: tuple[Fraction, ...], num_selected: int) -> None:
    law = with_replacement(shares, num_selected)
    assert frequencies(law, len(shares)) == tuple(num_selected * share for share in shares)


@given(sizes=sizes)
def test_independent_coins_have_their_probabilities_and_no_correlation(sizes: list[int]) -> None:
    probabilities = [Fraction(size, 10) for size in sizes]
    law = independent(probabilities)
    assert frequencies(law, len(sizes)) == tuple(probabilities)
    for i, j in combinations(range(len(sizes)), 2):
        together = law.mean(lambda chosen, pair={i, j}: pair <= set(chosen))
        assert together == probabilities[i] * probabilities[j]


def test_all_candidates_are_selected_when_there_are_no_more_than_needed() -> None:
    assert power_of_choice([1, 2, 3], [3, 1, 2], 2, 2) == successive([1, 2, 3], 2)  # type: ignore[list-item]


def test_clients_of_weight_zero_are_never_drawn() -> None:
    law = successive([0, 1, 2], 2)  # type: ignore[list-item]
    assert law == Law.certain((1, 2))


def test_uniform_weights_make_successive_draws_uniform_subsets() -> None:
    assert successive([Fraction(1, 4)] * 4, 2) == uniform_subsets(4, 2)
