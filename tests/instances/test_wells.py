"""Constants of the non-convex clients, by hand and against a grid."""

from dataclasses import replace
from fractions import Fraction as Q

import pytest

from fedtheory.instances.federations import Wells
from fedtheory.instances.vectors import vector

TILTED = Wells(vector(3, 3), vector(2, 2), vector("1/2", "-1/4"), vector("1/3", "2/3"))
MOVED = Wells(vector(3, 2), vector(2, -1), vector(0, 0), vector("1/3", "2/3"))


def dissimilarity_at(clients: Wells, w: Q) -> Q:
    slopes = [clients.gradient(k, (w,))[0] for k in range(2)]
    mean = sum((p * g for p, g in zip(clients.weights, slopes, strict=True)), Q(0))
    return sum((p * (g - mean) ** 2 for p, g in zip(clients.weights, slopes, strict=True)), Q(0))


def test_clients_that_differ_by_slopes_are_as_dissimilar_everywhere() -> None:
    # (1/3) (1/2)^2 + (2/3) (1/4)^2
    assert TILTED.dissimilarity == Q(1, 8)
    assert {dissimilarity_at(TILTED, Q(n, 4)) for n in range(-20, 21)} == {Q(1, 8)}


@pytest.mark.parametrize("clients", [MOVED, replace(MOVED, centers=vector(2, 2))])
def test_others_are_no_more_dissimilar_than_their_steepest_slopes(clients: Wells) -> None:
    # |phi'|^2 <= 27/64: (27/64) ((1/3) 3^2 + (2/3) 2^2)
    assert clients.dissimilarity == Q(27, 64) * Q(17, 3)
    assert max(dissimilarity_at(clients, Q(n, 16)) for n in range(-160, 161)) <= clients.dissimilarity
