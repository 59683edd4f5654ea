"""A loss of one's own is two functions: with those of parabolas a run is what the library's parabolas compute."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

import fedtheory as ft
from fedtheory.errors import AssumptionViolated

# Sums in another order, over a few dozen steps.
ROUNDING = 1e-12
CURVATURES = np.array([1.0, 2.0, 0.5])
CENTERS = np.array([[1.0, 0.0], [-1.0, 2.0], [3.0, 1.0]])
WEIGHTS = np.array([0.5, 0.25, 0.25])
BEST = (WEIGHTS * CURVATURES) @ CENTERS / (WEIGHTS @ CURVATURES)


def loss(data, k, w):
    curvatures, centers = data
    away = w - centers[k]
    return curvatures[k] / 2 * (away * away).sum()


def gradient(data, k, w):
    curvatures, centers = data
    return curvatures[k] * (w - centers[k])


class Data(NamedTuple):
    curvatures: np.ndarray
    centers: np.ndarray


DATA = (CURVATURES, CENTERS)
OWN = ft.federation.LossFederation(loss, gradient, DATA, WEIGHTS, dim=2, minimizer=BEST)
KNOWN = ft.QuadraticFederation(CURVATURES, CENTERS, WEIGHTS)


@pytest.mark.parametrize("strategy", [ft.selection.Full(), ft.selection.PowerOfChoice(1, 2)])
@pytest.mark.parametrize(
    "options", [{}, {"gradient_noise": 0.5, "momentum": 0.5}, {"proximal_weight": 0.3, "relative_noise": 0.1}]
)
def test_a_run_with_the_losses_of_parabolas_is_that_of_parabolas(strategy, options) -> None:
    settings = {"num_rounds": 20, "local_steps": 3, "step_size": 0.05, "rng": 3, "record": ("gap", "models", "loss")}
    own, known = (ft.fedavg(fed, strategy, **settings, **options) for fed in (OWN, KNOWN))
    for name in ("gap", "models", "loss"):
        np.testing.assert_allclose(own.recorded(name), known.recorded(name), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("shape", [(2,), (4, 2), (3, 4, 2)])
def test_losses_and_gradients_at_many_models_are_those_of_parabolas(shape) -> None:
    models = np.random.default_rng(0).normal(size=shape)
    for name in ("loss", "losses", "gradient", "gradients"):
        found, wanted = (getattr(fed, name)(models) for fed in (OWN, KNOWN))
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=ROUNDING)


def test_compiled_functions_and_named_data_do_as_well() -> None:
    named = ft.federation.LossFederation(njit(loss), njit(gradient), Data(*DATA), WEIGHTS, dim=2, minimizer=BEST)
    runs = [ft.fedavg(fed, ft.selection.Full(), num_rounds=3, step_size=0.1).gap for fed in (OWN, named)]
    assert (runs[0] == runs[1]).all()


def test_without_a_minimizer_the_loss_is_recorded_and_the_gap_says_what_it_needs() -> None:
    fed = ft.federation.LossFederation(loss, gradient, DATA, WEIGHTS, dim=2)
    settings = {"num_rounds": 3, "step_size": 0.1}
    with pytest.raises(AssumptionViolated, match=r"needs minimizer=.*record=\('loss',\)"):
        ft.fedavg(fed, ft.selection.Full(), **settings)
    lost = ft.fedavg(fed, ft.selection.Full(), record=("loss",), **settings).loss
    assert (lost == ft.fedavg(OWN, ft.selection.Full(), record=("loss",), **settings).loss).all()


def test_a_wrong_gradient_is_seen() -> None:
    assert OWN.gradient_error([0.3, -2.0]) < 1e-9
    wrong = ft.federation.LossFederation(loss, lambda data, k, w: 2 * gradient(data, k, w), DATA, WEIGHTS, dim=2)
    assert wrong.gradient_error([0.3, -2.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"client_loss": 3.0}, TypeError, r"client_loss must be a function of \(data, k, w\), got float"),
        ({"dim": 0}, ValueError, "dim must be"),
        ({"weights": [0.5, 0.6]}, ValueError, "weights must sum to 1"),
        ({"minimizer": [0.0]}, ValueError, "minimizer must have shape"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, said) -> None:
    good = {"client_loss": loss, "client_gradient": gradient, "data": DATA, "weights": WEIGHTS, "dim": 2}
    with pytest.raises(error, match=said):
        ft.federation.LossFederation(**{**good, **change})


def test_batches_and_models_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="batch_size must be None for a federation without samples"):
        ft.fedavg(OWN, ft.selection.Full(), num_rounds=1, step_size=0.1, batch_size=2)
    with pytest.raises(ValueError, match=r"w must have shape \(\.\.\., 2\)"):
        OWN.loss([1.0])
