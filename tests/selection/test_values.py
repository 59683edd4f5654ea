"""Strategies and their parts are values: equal ones compare and hash equal, and print shortly."""

import numpy as np
import pytest

import fedtheory as ft

S = ft.selection


def made_of_arrays(size, change=0.0):
    """One of each strategy, and of each part of one, that takes a number per client; the last number may change."""
    shares = np.linspace(0.25, 0.5, size)
    shares[-1] += change
    counts, chances = np.arange(1, size + 1), np.linspace(0.25, 0.5, size)
    counts[-1] += bool(change)
    chances[-1] += change
    mask = np.arange(size) == 0
    shares[0] = 1.0
    return {
        "ActiveFederated": S.ActiveFederated(1, counts),
        "LossMatching": S.LossMatching(mask, shares, np.full(3, 0.5)),
        "BernoulliAvailability": S.Available(S.Full(), S.BernoulliAvailability(chances)),
        "Periodic": S.Periodic([chances / chances.sum()]),
    }


@pytest.mark.parametrize("name", made_of_arrays(3))
def test_strategies_made_of_equal_arrays_are_equal_and_others_are_not(name):
    one, other, different = made_of_arrays(30)[name], made_of_arrays(30)[name], made_of_arrays(30, 0.125)[name]
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)
    assert one != different
    assert repr(one) != repr(different)
