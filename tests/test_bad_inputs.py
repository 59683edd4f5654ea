"""Invalid values that ``tests/wrong_things.py`` does not generate are rejected, with what was given."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds.fedalign.alignment import priority_weights
from fedtheory.statistics import bounded_mean

FED = ft.QuadraticFederation([1.0, 2.0], [[1.0], [-1.0]], [0.5, 0.5])
POC = ft.selection.PowerOfChoice(1, 2)
DATA = ft.federation.FederatedData


class Tensor:
    """An object that refuses to become an array, as a tensor that needs gradients."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("use detach()")


def run(fed=FED, strategy=POC, **changes):
    return ft.fedavg(fed, strategy, **{"num_rounds": 2, "step_size": 0.1, **changes})


def quadratics(curvatures, centers=((1.0,), (-1.0,)), **changes):
    return ft.QuadraticFederation(curvatures, centers, [0.5, 0.5], **changes)


def data(labels, **changes):
    return DATA.from_clients([([[0.0]] * len(labels), labels)], **changes)


@pytest.mark.parametrize(
    ("call", "given"),
    [
        # numbers whose squares or products leave the range of doubles
        (lambda: quadratics([5e-324, 1.0]), "5e-324 for client 0"),
        (lambda: quadratics(np.array([[[1.0]], [[1e-200]]])), "eigenvalue 1e-200 for client 1"),
        (lambda: quadratics([1.0, 1e308]), r"1e\+308 at index 1"),
        (lambda: quadratics([1.0, 1.0], [[1.0], [-1e200]]), r"-1e\+200 at index \(1, 0\)"),
        (lambda: quadratics([1.0, 1.0], minima=1e308), r"1e\+308"),
        (lambda: ft.exact.average_drift(FED, 3, 1e300), r"1e\+300"),
        (lambda: ft.sampling.cohort_law([1e308, 1e308], [1, 2], 1, 1), r"entries up to 1e\+308"),
        # one wrong entry among right ones
        (lambda: quadratics([1.0, -1.0]), "-1.0 for client 1"),
        (lambda: priority_weights([[0.5, 0.5], [0.5, 0.25]], [True, False]), "0.75"),
        (lambda: ft.sampling.variance([1.0, 2.0], [0.5, 1.5]), "1.5"),
        (lambda: ft.sampling.variance([Q(1), Q(-2)], [Q(1), Q(1)]), "-2"),
        (lambda: ft.sampling.estimator_variance([[0.5, 0.1], [0.1, 0.0]], np.ones((2, 1))), "0.0"),
        (lambda: ft.sampling.estimator_variance([[1.5, 0.0], [0.0, 0.5]], np.ones((2, 1))), "1.5"),
        (lambda: data([0, 10**18]), "the label 1000000000000000000"),
        (lambda: DATA.from_clients([([[1.0], [4.0]], [0, 1, 1])]), r"shape \(2, 1\)"),
        # things of another kind
        (lambda: data(["cat", "dog"]), "'cat'"),
        (lambda: DATA.from_clients([(Tensor(), [0])]), r"a Tensor: use detach\(\)"),
        (lambda: run(fed=POC, strategy=FED), "PowerOfChoice, a strategy, which is the second argument"),
        (lambda: run(fed=ft.QuadraticFederation), "the class QuadraticFederation"),
        (lambda: run(strategy="pow-d"), "'pow-d'"),
        (lambda: run(step_size=ft.engine.Halving), "the class Halving"),
        (lambda: run(record="gap"), "'gap'"),
        (lambda: run(num_rounds=np.array([2, 2])), r"an array of shape \(2,\)"),
        (lambda: run(batches="half"), "'half'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence_that_says_what_was_given(call, given):
    with pytest.raises((TypeError, ValueError), match=rf"^[^\n]* (must|needs) [^\n]*, got {given}") as refused:
        call()
    assert "\n" not in str(refused.value)


def test_extreme_federations_that_are_taken_have_finite_constants():
    for curvature in (1e-100, 1e200):
        for center in (0.0, 1e-100, 1e50):
            fed = quadratics([curvature, curvature], [[center], [-center]], minima=-1e100)
            constants = (fed.minimizer, fed.minimum, fed.objective_gap, fed.losses([center]), fed.gradients([-center]))
            assert all(np.isfinite(value).all() for value in constants)
    assert data([0, 10**6], num_classes=10**6 + 1).num_classes == 10**6 + 1


@pytest.mark.parametrize("lower", [0.0, -1e8, -1e16, -1e300])
def test_rounding_does_not_exclude_the_mean(lower: float) -> None:
    interval = bounded_mean(np.tile([0.0, 1.0], 2000), lower, 1.0)
    assert interval.lower <= 0.5 <= interval.upper <= 1.0


def test_exact_variances_stay_exact() -> None:
    half = Q(1, 2)
    assert ft.sampling.estimator_variance([[half, 0], [0, half]], [[half], [1]]) == Q(1, 4)
