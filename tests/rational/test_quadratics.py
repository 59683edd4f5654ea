"""Rational federations agree with floating-point ones."""

import numpy as np
from hypothesis import given

from fedtheory.conformance import rational_federations, seeds
from fedtheory.rational.draws import draw_model
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import combination, difference, norm2, vector


@given(exact=rational_federations(), seed=seeds())
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


@given(fed=rational_federations(), seed=seeds())
def test_the_gradient_vanishes_at_the_minimizer_and_nowhere_is_the_gap_negative(
    fed: RationalQuadratics, seed: int
) -> None:
    gradients = [fed.gradient(k, fed.minimizer) for k in range(fed.num_clients)]
    assert norm2(combination(fed.weights, gradients)) == 0
    assert fed.gap(fed.minimizer) == 0
    assert fed.gap(draw_model(np.random.default_rng(seed), fed.dim)) >= 0


def test_vectors_are_exact() -> None:
    assert norm2(difference(vector("1/3", 1), vector("1/3", "1/2"))) == vector("1/4")[0]
