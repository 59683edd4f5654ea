"""Quadratics in rationals agree with floating point; constants of double wells are verified by hand and on a grid."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given

from fedtheory.conformance import seeds
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics, Wells
from fedtheory.instances.vectors import combination, norm2, vector

FEDERATIONS = seeds().map(lambda seed: draw_federation(np.random.default_rng(seed)))


@given(exact=FEDERATIONS, seed=seeds())
def test_every_constant_agrees_with_the_floating_point_federation(exact: RationalQuadratics, seed: int) -> None:
    w = draw_model(np.random.default_rng(seed), exact.dim)
    fed, model = exact.rounded(), [float(x) for x in w]
    gradients = [[float(x) for x in exact.gradient(k, w)] for k in range(exact.num_clients)]
    # Entries are below 20 and sums have a few terms: 1e-12 is a hundred times their rounding.
    np.testing.assert_allclose(fed.losses(model), [float(x) for x in exact.losses(w)], atol=1e-12)
    np.testing.assert_allclose(fed.gradients(model), gradients, atol=1e-12)
    np.testing.assert_allclose(fed.minimizer, [float(x) for x in exact.minimizer], atol=1e-12)
    np.testing.assert_allclose(fed.objective_gap, float(exact.objective_gap), atol=1e-12)
    np.testing.assert_allclose(fed.excess(model), float(exact.gap(w)), atol=1e-12)
    assert (fed.smoothness, fed.strong_convexity) == (float(exact.smoothness), float(exact.strong_convexity))


@given(fed=FEDERATIONS, seed=seeds())
def test_the_gradient_vanishes_at_the_minimizer_and_nowhere_is_the_gap_negative(
    fed: RationalQuadratics, seed: int
) -> None:
    gradients = [fed.gradient(k, fed.minimizer) for k in range(fed.num_clients)]
    assert norm2(combination(fed.weights, gradients)) == 0
    assert fed.gap(fed.minimizer) == 0
    assert fed.gap(draw_model(np.random.default_rng(seed), fed.dim)) >= 0


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
