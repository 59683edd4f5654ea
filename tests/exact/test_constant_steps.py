"""Drift of averaging with a fixed step size, against steps in full matrices."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.constant_steps import average_drift
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.selection.full import Full

LINE = ft.QuadraticFederation([1.0, 2.0], [[0.0], [5.0]], [0.5, 0.5])


def federation(form, seed=0):
    rng = np.random.default_rng(seed)
    curvatures = rng.uniform(0.5, 2.0, (3, 2))
    if form == "matrix":
        turned = np.linalg.qr(rng.normal(size=(3, 2, 2)))[0]
        curvatures = np.einsum("kij,kj,klj->kil", turned, curvatures, turned)
        curvatures = (curvatures + curvatures.transpose(0, 2, 1)) / 2
    elif form == "isotropic":
        curvatures = curvatures[:, 0]
    return ft.QuadraticFederation(curvatures, rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3)), normalize=True)


FORMS = pytest.mark.parametrize("form", ["isotropic", "diagonal", "matrix"])


@FORMS
@pytest.mark.parametrize("tau", [1, 2, 5])
def test_a_round_moves_the_minimizer_by_eta_tau_times_the_drift(form, tau):
    fed, eta = federation(form), 0.3
    models = np.tile(fed.minimizer, (fed.num_clients, 1))
    for _ in range(tau):
        models = models - eta * np.einsum("kij,kj->ki", fed.matrices, models - fed.centers)
    np.testing.assert_allclose(
        fed.minimizer - eta * tau * average_drift(fed, tau, eta), fed.weights @ models, atol=1e-15
    )


def test_the_drift_of_one_step_or_of_equal_curvatures_is_zero():
    equal = ft.QuadraticFederation([2.0, 2.0], [[0.0], [5.0]], [0.25, 0.75])
    assert average_drift(federation("matrix"), 1, 0.3).tolist() == [0.0, 0.0]
    assert abs(average_drift(equal, 4, 0.3)) <= 1e-15


def test_the_drift_of_tiny_steps_keeps_its_digits():
    eta = 2.0**-40
    hessians, centers = (((Q(1),),), ((Q(2),),)), ((Q(0),), (Q(5),))
    exact = StationaryPoints(hessians, centers, (Q(1, 2),) * 2).drift(Q(eta), 3)[0]
    assert average_drift(LINE, 3, eta)[0] == pytest.approx(float(exact), rel=1e-14)


def test_the_drift_of_a_run_is_an_argument_of_its_bound():
    bound = ft.bounds.average_drift.fixed_step_distance
    run = {"num_rounds": 3, "local_steps": 2, "step_size": 0.25}
    known = ft.exact.for_run(bound, LINE, Full(), **run)
    assert known["drift2"] == pytest.approx((5 / 24) ** 2)
    after = ft.fedavg(LINE, Full(), record=("models",), **run).models[0, -1]
    assert ((after - LINE.minimizer) ** 2).sum() <= bound(**known)
    with pytest.raises(AssumptionViolated, match=r"covers equal local_steps for all clients, got \[1, 2\]"):
        ft.exact.for_run(bound, LINE, Full(), **run | {"local_steps": [1, 2]})
