"""Error feedback and EF21 in the round loop: runs in rationals, laws of their states, and their bounds."""

from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.bounds import error_feedback
from fedtheory.exact.runs import for_run
from fedtheory.methods import EF21, Compressed, ErrorFeedback, TopK
from fedtheory.selection import Full

ETA = Q(1, 4)
CURVATURES = ((1, 2, 4), (2, 1, 1))
CENTERS = ((3, -1, 2), (-2, 4, 1))
SHARES = (Q(1, 4), Q(3, 4))


def federation(*, common: bool = False) -> Any:
    centers = [CENTERS[0]] * 2 if common else CENTERS
    return ft.QuadraticFederation(np.array(CURVATURES, float), np.array(centers, float), np.array(SHARES, float))


def run(method: Any, fed: Any = None, strategy: Any = None, **changes: Any) -> Any:
    settings: dict[str, Any] = {"num_rounds": 6, "step_size": float(ETA), "record": ("models", "states", "selected")}
    return ft.fedavg(fed or federation(), strategy or Full(), method=method, **settings | changes)


def slope(k: int, x: list[Q]) -> list[Q]:
    return [h * (entry - c) for h, entry, c in zip(CURVATURES[k], x, CENTERS[k], strict=True)]


def top(v: list[Q]) -> list[Q]:
    largest = max(range(3), key=lambda j: abs(v[j]))
    return [entry if j == largest else Q(0) for j, entry in enumerate(v)]


def rational_ef(num_rounds: int) -> list[list[Q]]:
    x, e = [Q(0)] * 3, [[Q(0)] * 3 for _ in SHARES]
    models = [x]
    for _ in range(num_rounds):
        v = [[a + ETA * b for a, b in zip(e[k], slope(k, x), strict=True)] for k in range(2)]
        m = [top(one) for one in v]
        e = [[a - b for a, b in zip(v[k], m[k], strict=True)] for k in range(2)]
        x = [x[j] - sum(p * m[k][j] for k, p in enumerate(SHARES)) for j in range(3)]
        models.append(x)
    return models


def rational_ef21(num_rounds: int) -> list[list[Q]]:
    x, d = [Q(0)] * 3, [[Q(0)] * 3 for _ in SHARES]
    models = [x]
    for _ in range(num_rounds):
        for k in range(2):
            m = top([a - b for a, b in zip(slope(k, x), d[k], strict=True)])
            d[k] = [a + b for a, b in zip(d[k], m, strict=True)]
        x = [x[j] - ETA * sum(p * d[k][j] for k, p in enumerate(SHARES)) for j in range(3)]
        models.append(x)
    return models


@pytest.mark.parametrize(("method", "exact"), [(ErrorFeedback, rational_ef), (EF21, rational_ef21)])
def test_runs_are_those_in_rationals(method: Any, exact: Any) -> None:
    # All numbers are dyadic and short: doubles hold them.
    models = run(method(TopK(1))).models[0]
    assert [[Q(entry) for entry in model] for model in models] == exact(6)


def test_without_loss_both_are_gradient_descent() -> None:
    plain = run(None, record=("models",)).models
    for method in (ErrorFeedback(TopK(3)), EF21(TopK(3))):
        np.testing.assert_allclose(run(method, record=("models",)).models, plain, atol=1e-12)


def test_every_round_keeps_the_rate_of_the_bound() -> None:
    fed = federation(common=True)
    method = ErrorFeedback(TopK(2))
    known = for_run(error_feedback.ef_distance, fed, Full(), num_rounds=40, step_size=0.05, method=method)
    s = known["compression_error"]
    assert s == pytest.approx((1 / 3) ** 0.5, rel=1e-15)
    found = run(method, fed, num_rounds=40, step_size=0.05)
    away, e = found.models[0] - fed.minimizer, found.recorded("states")[0]
    spread = np.einsum("k,nkj->n", fed.weights, (away[:, None] - e) ** 2)
    potential = spread + (np.einsum("k,nkj->nj", fed.weights, e) ** 2).sum(axis=1) / s
    del known["num_rounds"], known["initial_distance2"]
    rate = error_feedback.ef_round(1.0, **known)
    assert rate < 1
    assert (potential[1:] <= rate * potential[:-1] * (1 + 1e-12)).all()


def test_ef21_comes_to_the_minimizer_of_clients_that_differ_and_error_feedback_does_not() -> None:
    fed = federation()
    ef21, ef = (run(method(TopK(1)), fed, num_rounds=4000, step_size=0.02) for method in (EF21, ErrorFeedback))
    gaps = [np.abs(found.models[0, -1] - fed.minimizer).max() for found in (ef21, ef)]
    assert gaps[0] < 1e-9
    assert gaps[1] > 1e-3


def test_compressed_gradients_of_three_clients_diverge_where_those_with_a_memory_converge() -> None:
    # The Hessians 2 a a' + I/2 for a = (-3, 2, 2) and its permutations: along (1, 1, 1) a factor 1 + 11 eta/6 a round.
    rows = np.array([[-3.0, 2, 2], [2, -3, 2], [2, 2, -3]])
    hessians = 2 * np.einsum("ki,kj->kij", rows, rows) + np.eye(3) / 2
    fed = ft.QuadraticFederation(hessians, np.zeros((3, 3)), np.full(3, 1 / 3))
    changes: dict[str, Any] = {"num_rounds": 3000, "step_size": 0.004, "initial": [1.0, 1.0, 1.0]}
    grown = run(Compressed(TopK(1)), fed, **changes | {"num_rounds": 100}).models[0, -1]
    np.testing.assert_allclose(grown, (1 + 11 * 0.004 / 6) ** 100, rtol=1e-10)
    for method in (ErrorFeedback(TopK(1)), EF21(TopK(1))):
        assert np.abs(run(method, fed, **changes).models[0, -1]).max() < 0.5


@pytest.mark.parametrize(
    ("bound", "common", "known"),
    [
        (error_feedback.ef_distance, True, {"compression_error": 0.5}),  # no method
        (error_feedback.ef_distance, False, {"method": ErrorFeedback(TopK(1))}),  # no common minimizer
        (error_feedback.cgd_gap, True, {"method": Compressed(TopK(1))}),  # two clients
    ],
)
def test_a_bound_is_about_its_own_method_and_compressor(bound: Any, common: bool, known: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="got"):
        for_run(bound, federation(common=common), Full(), num_rounds=5, step_size=0.1, **known)
