"""The smallest skew of fixed frequencies, in particular with unselected clients that have another minimizer."""

# mypy: allow-untyped-calls

import numpy as np
import pytest

from fedtheory.arithmetic.matrices import is_semidefinite
from fedtheory.exact._extremes import infimum
from fedtheory.exact._forms import forms
from fedtheory.exact._integer_forms import integer_forms
from fedtheory.exact.skews import skew, skew_extremes
from fedtheory.federation.quadratic import QuadraticFederation

CENTER = np.array([0.3, -0.7, 1.1])


def with_idle_clients(seed: int) -> QuadraticFederation:
    """Two busy clients that share their minimizer, and two of weight zero elsewhere; no two curvatures alike."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(4, 3, 3))
    centers = np.array([CENTER, CENTER, [2.0, 0.5, -1.0], [-1.5, 1.0, 0.4]])
    return QuadraticFederation(roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(3), centers, [0.4, 0.6, 0.0, 0.0])


def assert_least(fed: QuadraticFederation, q: np.ndarray) -> None:
    """The infimum is attained at its model, and nothing is below: decided in integers."""
    found = infimum(fed, forms(fed), q)
    assert skew(fed, q, found.model) == pytest.approx(found.value, rel=1e-10)
    assert is_semidefinite(integer_forms(fed).skew(q).above(found.value * (1 - 1e-10)))
    assert not is_semidefinite(integer_forms(fed).skew(q).above(found.value * (1 + 1e-10)))


@pytest.mark.parametrize("q", [(0.1, 0.2, 0.3, 0.4), (0.0, 0.0, 0.7, 0.3), (0.5, 0.0, 0.5, 0.0)])
@pytest.mark.parametrize("seed", range(3))
def test_with_idle_clients_elsewhere_the_infimum_is_attained_and_certified(seed, q):
    fed = with_idle_clients(seed)
    assert_least(fed, np.array(q))
    lowest, highest = skew_extremes(fed, q)
    assert lowest == infimum(fed, forms(fed), np.array(q)).value
    assert highest == np.inf


@pytest.mark.parametrize("kind", ["isotropic", "diagonal"])
@pytest.mark.parametrize("num_centers", [1, 4])
def test_the_infimum_of_busy_clients_is_attained_and_certified(kind, num_centers):
    rng = np.random.default_rng(4)
    h, centers = rng.uniform(0.5, 3, (4, 3)), np.resize(rng.normal(size=(num_centers, 3)), (4, 3))
    fed = QuadraticFederation(h[:, 0] if kind == "isotropic" else h, centers, rng.dirichlet(np.ones(4)))
    assert_least(fed, rng.dirichlet(np.ones(4)))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("apart", "elsewhere"), [(0.9e-12, False), (1.2e-12, True)])
def test_an_idle_client_is_elsewhere_if_it_is_off_by_more_than_rounding_of_its_own_center(scale, apart, elsewhere):
    # A relative distance of 1e-12 to the shared minimizer, whatever the unit of length.
    centers = scale * np.array([[3.0, 4.0], [3.0, 4.0], [3.0 * (1 + apart), 4.0 * (1 + apart)]])
    fed = QuadraticFederation([1.0, 2.0, 3.0], centers, [0.25, 0.75, 0.0])
    assert (skew_extremes(fed, [0.2, 0.3, 0.5])[1] == np.inf) is elsewhere
    assert skew_extremes(fed, [0.6, 0.4, 0.0])[1] < np.inf
