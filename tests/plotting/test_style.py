"""Style of figures."""

import itertools
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from fedtheory.plotting.style import COLORS, log_places

mpl.use("Agg")

# Linear RGB to the two cone responses left to dichromats (Vienot, Brettel, Mollon 1999): protan, deutan.
SIMULATIONS = {
    "protan": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deutan": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
    "normal": np.eye(3),
}
# About 25 of 255 steps.
APART = 0.1


def seen(eye: str, color: str) -> Any:
    return np.clip(SIMULATIONS[eye] @ np.array(to_rgb(color)) ** 2.2, 0, 1) ** (1 / 2.2)


def closest(eye: str, colors: Iterable[str]) -> Any:
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations([seen(eye, color) for color in colors], 2))


@pytest.mark.parametrize("eye", SIMULATIONS)
def test_colors_stay_apart_for_every_eye(eye):
    assert closest(eye, COLORS) > APART


def test_a_red_and_a_green_of_the_same_lightness_would_fail_the_same_test():
    red, green = "#cc4c33", "#858033"
    assert closest("normal", (red, green)) > APART > closest("deutan", (red, green))


@given(st.integers(1, 20_000), st.integers(2, 300))
def test_log_places_are_increasing_indices_with_both_ends(length, count):
    places = log_places(length, count)
    assert places[0] == 0
    assert places[-1] == length - 1
    assert (np.diff(places) > 0).all()
    assert places.size <= count + 1
