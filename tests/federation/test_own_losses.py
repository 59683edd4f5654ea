"""A run with user-defined parabolas equals the run with the library's parabolas."""

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_compiled_functions_and_named_data_do_as_well() -> None:
    named = ft.federation.LossFederation(njit(loss), njit(gradient), Data(*DATA), WEIGHTS, dim=2, minimizer=BEST)
    runs = [ft.fedavg(fed, ft.selection.Full(), num_rounds=3, step_size=0.1).gap for fed in (OWN, named)]
    assert (runs[0] == runs[1]).all()


@pytest.mark.slow  # compiles a loop for these functions; docs/howto/own_loss.md runs one in the fast tier
def test_without_a_minimizer_the_loss_is_recorded_and_the_gap_says_what_it_needs() -> None:
    fed = ft.federation.LossFederation(loss, gradient, DATA, WEIGHTS, dim=2)
    settings = {"num_rounds": 3, "step_size": 0.1}
    with pytest.raises(AssumptionViolated, match=r"needs minimizer=.*record=\('loss',\)"):
        ft.fedavg(fed, ft.selection.Full(), **settings)
    lost = ft.fedavg(fed, ft.selection.Full(), record=("loss",), **settings).loss
    assert (lost == ft.fedavg(OWN, ft.selection.Full(), record=("loss",), **settings).loss).all()


def first_run(client_loss=loss, client_gradient=gradient, data=DATA):
    fed = ft.federation.LossFederation(client_loss, client_gradient, data, WEIGHTS, dim=2)
    return ft.fedavg(fed, ft.selection.Full(), num_rounds=1, step_size=0.1, record=("loss",))


def of_curvatures(data, k, w):
    return data[0][9] * loss(data, k, w)


WRONG_FUNCTIONS = {
    "a gradient off by 38": ({"client_gradient": lambda data, k, w: 38 + gradient(data, k, w)}, "be the gradient of"),
    "a gradient of a client": ({"client_gradient": lambda data, k, w: (k < 2) * gradient(data, k, w)}, "for client 2"),
    "a coordinate": ({"client_gradient": lambda data, k, w: gradient(data, k, w) * [1, 1.1]}, "be the gradient of"),
    "a list": ({"client_gradient": lambda data, k, w: list(w)}, r"return an array of real numbers of shape \(2,\)"),
    "a matrix": ({"client_gradient": lambda data, k, w: w[None]}, r"got float64 of shape \(1, 2\) for client 0"),
    "no number": ({"client_loss": lambda data, k, w: w}, r"return a number, got array\(.*\) for client 0"),
    "nothing": ({"client_loss": lambda data, k, w: None}, "return a number, got None for client 0"),
    "an index": ({"client_loss": of_curvatures}, "return a value .*got IndexError for client 0: index 9"),
    "an argument": (
        {"client_loss": lambda data, k: 0.0},
        "return a value .*got TypeError for client 0: .*3 were given",
    ),
    "a model changed": ({"client_loss": lambda data, k, w: w.fill(0)}, "return a value .* read-only"),
    "draws": ({"client_loss": lambda data, k, w: np.random.rand()}, "be the gradient of client_loss"),  # noqa: NPY002
}


@pytest.mark.parametrize("what", WRONG_FUNCTIONS)
def test_functions_that_are_no_loss_and_its_gradient_are_refused_before_the_first_round(what) -> None:
    functions, said = WRONG_FUNCTIONS[what]
    with pytest.raises((TypeError, ValueError), match=f"^client_(loss|gradient) must {said}|{said}") as caught:
        first_run(**functions)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("client_loss", "client_gradient"),
    [
        (lambda data, k, w: 1e9 + (w * w).sum(), lambda data, k, w: 2 * w),  # whose differences lose nine digits
        (lambda data, k, w: np.maximum(w, 0).sum(), lambda data, k, w: (w > 0) * 1.0),
        (lambda data, k, w: (w - np.log(w)).sum(), lambda data, k, w: 1 - 1 / w),
        (lambda data, k, w: np.cos(1e4 * w).sum(), lambda data, k, w: -1e4 * np.sin(1e4 * w)),
        (lambda data, k, w: 0.0, lambda data, k, w: 0 * w),
    ],
)
def test_a_right_gradient_of_a_difficult_loss_is_accepted(client_loss, client_gradient) -> None:
    fed = ft.federation.LossFederation(client_loss, client_gradient, None, WEIGHTS, dim=2)
    assert fed.checked_functions == (client_loss, client_gradient)
