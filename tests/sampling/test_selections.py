"""Laws of selection, outcome by outcome, against fixtures, brute force and quadrature."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.conformance import weights
from fedtheory.sampling.cohorts import (
    cohort_law,
    frequencies,
    independent,
    power_of_choice,
    successive,
    uniform_subsets,
    with_replacement,
)
from fedtheory.statistics.law import Law

sizes = st.lists(st.integers(1, 9), min_size=2, max_size=5)


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


def test_rational_weights_give_rational_laws_of_sum_one():
    law = cohort_law([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [1, 1, 2], 2, 2)
    assert sum(law.values()) == 1
    assert all(isinstance(probability, Fraction) for probability in law.values())
    assert law == successive([Fraction(3), Fraction(2), Fraction(1)], 2).map(frozenset)


def test_float_weights_agree_with_the_same_rationals():
    weights, losses = [1, 2, 3, 4, 5], [2, 2, 1, 2, 0]
    exact = cohort_law(weights, losses, 2, 3)
    rounded = cohort_law(np.array(weights) / 15, losses, 2, 3)
    assert exact.keys() == rounded.keys()
    np.testing.assert_allclose([rounded[c] for c in exact], [float(v) for v in exact.values()], rtol=1e-14)


def test_ties_share_the_last_places_equally():
    # All three are candidates; client 2 is on top, and 0 and 1 draw for the second place.
    half = Fraction(1, 2)
    assert cohort_law([1, 5, 9], [1, 1, 2], 2, 3) == {frozenset({0, 2}): half, frozenset({1, 2}): half}
