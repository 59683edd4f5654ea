"""Constants that are unknown for other losses than quadratic ones are estimated on request, and marked."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact import applicable
from fedtheory.selection import PowerOfChoice

CLIENTS = [([[0.0], [0.5]], [0, 1]), ([[1.0], [-0.5]], [0, 1])]
FED = ft.SoftmaxFederation(ft.federation.FederatedData.from_clients(CLIENTS), l2=0.5)
RUN = {"num_rounds": 20, "step_size": 0.1, "initial": [1.0, 0.0, 0.0, 0.0]}
MODELS = np.array([[1.0, 0.0, 0.0, 0.0], [0.3, 0.2, -0.1, 0.4]])
WORST = PowerOfChoice(1, 2)


def row_of(name, rows):
    return next(row for row in rows if row.name == name)


def ratios(w, other):
    """Skew at w of the client with the largest loss, for the losses at another model."""
    excess = FED.losses(other) - FED.local_minima
    return excess[np.argmax(FED.losses(w))] / (FED.weights @ excess)


def test_the_skews_of_softmax_clients_are_missing_and_their_gradients_are_bounded_by_a_proof() -> None:
    rows = applicable(FED, WORST, **RUN)
    row = row_of("power_of_choice.fixed_step_gap", rows)
    assert (row.verdict, row.missing) == ("needs constants", ("rho_diagonal", "rho_tilde"))
    assert row.arguments["G2"] == FED.gradient_bound(RUN["initial"])
    assert "estimate=True" in repr(rows)


def test_estimates_are_those_at_the_given_models_and_are_marked() -> None:
    rows = applicable(FED, WORST, **RUN, estimate=MODELS)
    row = row_of("power_of_choice.fixed_step_gap", rows)
    points = [*MODELS, FED.minimizer]
    assert row.arguments["rho_diagonal"] == pytest.approx(min(ratios(w, w) for w in points))
    assert row.arguments["rho_tilde"] == pytest.approx(max(ratios(w, FED.minimizer) for w in points))
    assert row.value == float(row.bound(**row.arguments))
    assert (row.verdict, row.estimated) == ("applies with estimates", ("rho_diagonal", "rho_tilde"))
    assert "(estimated: rho_diagonal, rho_tilde)" in row.result
    assert [row.verdict for row in rows if row.estimated and row.verdict == "applies"] == []


def test_a_gradient_bound_needs_steps_that_keep_models_in_the_ball() -> None:
    row = row_of("power_of_choice.client_drift", applicable(FED, WORST, **{**RUN, "step_size": 2.5}))
    assert "G2" not in row.arguments


def test_what_is_certified_is_not_estimated() -> None:
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    run = {"num_rounds": 20, "step_size": 0.1, "initial": [3.0]}
    one, other = applicable(fed, WORST, **run), applicable(fed, WORST, **run, estimate=True)
    assert [(row.name, row.value) for row in one if row.verdict == "applies"] == [
        (row.name, row.value) for row in other if row.verdict == "applies"
    ]


@pytest.mark.slow
def test_the_models_that_a_run_recorded_are_those_of_its_estimates() -> None:
    run = ft.fedavg(FED, WORST, **RUN, record=("models",))
    expected = applicable(FED, WORST, **RUN, estimate=run.models)
    found = applicable(run, estimate=True)
    assert [(row.name, row.result) for row in found] == [(row.name, row.result) for row in expected]


def test_a_notebook_folds_the_bounds_that_do_not_apply() -> None:
    rows = applicable(FED, WORST, **RUN)
    shown, _, folded = rows._repr_html_().partition("<details>")
    names = {row.name: row.verdict == "does not apply" for row in rows}
    assert all((f"<td>{name}</td>" in folded) == is_folded for name, is_folded in names.items())
    assert all((f"<td>{name}</td>" in shown) != is_folded for name, is_folded in names.items())
