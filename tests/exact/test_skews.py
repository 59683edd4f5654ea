"""The skew at a point and its extremes, against its definition and a minimization over models."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.errors import AssumptionViolated
from fedtheory.exact.skews import skew, skew_extremes
from fedtheory.federation.quadratic import QuadraticFederation


def federation(kind, seed, num_clients=6, dim=3):
    rng = np.random.default_rng(seed)
    curvatures = rng.uniform(0.2, 3.0, (num_clients, dim))
    if kind == "isotropic":
        curvatures = curvatures[:, 0]
    elif kind == "full":
        rotations = np.linalg.qr(rng.standard_normal((num_clients, dim, dim)))[0]
        curvatures = (rotations * curvatures[:, None, :]) @ rotations.transpose(0, 2, 1)
    weights, frequencies = rng.random(num_clients) + 0.05, rng.random(num_clients) ** 3
    fed = QuadraticFederation(
        curvatures, rng.standard_normal((num_clients, dim)), weights / weights.sum(), rng.standard_normal(num_clients)
    )
    return fed, frequencies / frequencies.sum()


def literally(fed, q, w):
    """Skew from its definition, one client at a time."""
    excess = [0.5 * (w - c) @ H @ (w - c) for H, c in zip(fed.matrices, fed.centers, strict=True)]
    return np.dot(q, excess) / np.dot(fed.weights, excess)


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
def test_the_skew_is_its_definition_and_independent_of_the_minima(kind):
    fed, q = federation(kind, 1)
    models = np.random.default_rng(2).standard_normal((4, 3))
    np.testing.assert_allclose(skew(fed, q, models), [literally(fed, q, w) for w in models], rtol=1e-13)


def value_and_slope(w, fed, q, sign):
    """Skew times a sign, and its slope by the rule of quotients; for all clients at once."""
    offsets = w - fed.centers
    pulls = np.einsum("kij,kj->ki", fed.matrices, offsets)
    excess = 0.5 * (pulls * offsets).sum(axis=1)
    value = (q @ excess) / (fed.weights @ excess)
    return sign * value, sign * (q @ pulls - value * (fed.weights @ pulls)) / (fed.weights @ excess)


def from_minimization(fed, q, sign):
    """Extreme of the skew by BFGS from many starts, and the values far away in random directions."""
    from scipy.optimize import minimize

    rng, options = np.random.default_rng(0), {"gtol": 1e-10}
    starts = fed.centers.mean(axis=0) + rng.standard_normal((10, fed.dim)) * 10 ** rng.uniform(-1, 2, (10, 1))
    found = [minimize(value_and_slope, w, (fed, q, sign), jac=True, options=options).x for w in starts]
    return sign * min(sign * literally(fed, q, w) for w in found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
@pytest.mark.parametrize("seed", range(2))
def test_the_extremes_are_those_of_a_minimization_over_models(kind, seed):
    fed, q = federation(kind, seed)
    lowest, highest = skew_extremes(fed, q)
    assert from_minimization(fed, q, 1) == pytest.approx(lowest, rel=1e-7)
    assert from_minimization(fed, q, -1) == pytest.approx(highest, rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 4))
def test_the_isotropic_closed_form_equals_the_eigenproblem_and_encloses_the_skew(seed, num_clients, dim):
    fed, q = federation("isotropic", seed, num_clients, dim)
    as_matrices = QuadraticFederation(fed.matrices, fed.centers, fed.weights)
    lowest, highest = skew_extremes(fed, q)
    np.testing.assert_allclose(skew_extremes(as_matrices, q), (lowest, highest), atol=1e-12 * highest)
    models = 10.0 * np.random.default_rng(seed).standard_normal((20, dim))
    values = skew(fed, q, models)
    assert lowest * (1 - 1e-12) <= values.min()
    assert values.max() <= highest * (1 + 1e-12)


def test_an_infimum_at_infinity_is_the_quotient_of_the_curvatures():
    # A pair at +-1 and a third client at 0 with half the curvature: by symmetry w_q = w* = 0, so the skew is
    # (H_q w^2 / 2 + Gamma_q) / (H w^2 / 2 + Gamma), monotone in |w|, and one extreme is only reached at infinity.
    fed = QuadraticFederation([1.0, 1.0, 0.5], [[1.0], [-1.0], [0.0]], [0.25, 0.25, 0.5])
    q = [0.1, 0.1, 0.8]
    # H = 3/4, Gamma = 1/4; H_q = 3/5, Gamma_q = 1/10: 4/5 at infinity and 2/5 at 0.
    np.testing.assert_allclose(skew_extremes(fed, q), (0.4, 0.8), rtol=1e-14)
    np.testing.assert_allclose(skew_extremes(fed, [0.5, 0.5, 0.0]), (4 / 3, 2.0), rtol=1e-14)
    assert skew(fed, q, [1e8]) == pytest.approx(0.8, rel=1e-12)


def test_the_smallest_skew_keeps_its_digits_near_zero():
    # All frequency on client 0 but 1e-20: the infimum is about 1e-20 times a number of order one, far below eps.
    fed, _ = federation("isotropic", 5, 3, 2)
    lowest = [skew_extremes(fed, [1 - 2 * t, t, t])[0] for t in (1e-18, 1e-20)]
    assert lowest[0] / lowest[1] == pytest.approx(100, rel=1e-9)


def test_clients_that_share_their_minimizer_have_the_extremes_of_their_curvatures():
    center = [0.3, -0.7]
    fed = QuadraticFederation([[1.0, 4.0], [3.0, 2.0]], [center, center], [0.5, 0.5])
    # H = diag(2, 3); q = (1, 0): ratios 1/2 and 4/3.
    np.testing.assert_allclose(skew_extremes(fed, [1.0, 0.0]), (1 / 2, 4 / 3), rtol=1e-14)
    same = QuadraticFederation([1.0, 2.0], [[0.0], [0.0]], [0.5, 0.5])
    for models in ([0.0], [[0.0], [1.0]]):  # there alone, and among others
        with pytest.raises(AssumptionViolated, match="0/0 at a common minimizer of the clients"):
            skew(same, [1.0, 0.0], models)


def test_a_selected_client_of_weight_zero_elsewhere_makes_the_supremum_infinite():
    # p = (1, 0): D = w^2/2; q = (1/2, 1/2) with client 1 at 1: N = w^2/4 + (w-1)^2/4, N/D = (w^2 + (w-1)^2) / (2 w^2),
    # which is smallest at w = 1, where it is 1/2.
    fed = QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [1.0, 0.0])
    lowest, highest = skew_extremes(fed, [0.5, 0.5])
    assert lowest == pytest.approx(1 / 2, rel=1e-12)
    assert highest == np.inf
    assert skew_extremes(fed, [0.0, 1.0])[0] == 0.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_frequencies_equal_to_the_weights_have_skew_one_everywhere(seed):
    fed, _ = federation("full", seed)
    np.testing.assert_allclose(skew_extremes(fed, fed.weights), (1.0, 1.0), rtol=1e-11)
