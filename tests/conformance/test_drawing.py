"""The Hypothesis strategies of the package draw what they document."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from fedtheory.conformance import (
    constants_of,
    games,
    laws,
    norms,
    norms_and_budgets,
    quadratic_federations,
    rationals,
    seeds,
    weights,
)
from fedtheory.instances.constants import Constants
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import POSITIVE
from fedtheory.theorem.paper import Paper
from fedtheory.verification import known_bounds
from tests.additions import leave_out_if_new

UNSHRUNK = settings(phases=[Phase.generate], max_examples=1000)
FORMS = [
    pytest.param(name, form, id=f"{form.__name__}-{form.statement.form}")
    for name, bound in known_bounds().items()
    for form in dict.fromkeys((bound, bound.printed))
]


@pytest.mark.parametrize(("name", "bound"), FORMS)
def test_constants_fulfill_the_hypotheses_of_every_bound_of_the_package(name, bound) -> None:
    drawn: list[Any] = []
    try:
        strategy = constants_of(bound)
    except ValueError as error:
        leave_out_if_new(name, f"constants in fedtheory/instances/constants.py: {error}")
        raise

    @settings(max_examples=5)
    @given(constants=strategy)
    def draw(constants) -> None:
        drawn.append(constants)

    draw()
    unmet = {text for constants in drawn for text in bound(**constants, strict=False)[1]}
    leave_out_if_new(name, "constants that fulfill its hypotheses" if unmet else "")
    assert not any(np.isnan(np.asarray(bound(**constants), dtype=float)).any() for constants in drawn)


def test_what_a_bound_divides_by_is_a_ninth_where_it_would_be_zero() -> None:
    half, opposite = [Fraction(1, 2)] * 2, [Fraction(1), Fraction(-1)]
    rng = np.random.default_rng(0)
    clients = Constants(rng, "optimal-client-sampling", {"client_weights": half, "gradients": opposite})
    assert (clients["gradient2"], clients["mean_update2"]) == (Fraction(1, 9), Fraction(1, 9))
    short = Constants(rng, "fedalign", {"local_steps": 1, "joined": half[:1]})
    assert (short["theta"], short["rho"]) == (Fraction(1, 9), Fraction(1, 9))


def test_a_bound_with_an_unknown_argument_is_refused() -> None:
    @states(Paper("textbook", "Lectures", "Nesterov", 2018), "Theorem 1", domains={"depth": POSITIVE})
    def other(num_steps, *, depth):
        return {"only": depth / num_steps}

    with pytest.raises(ValueError, match=r"argument of other must have a law, got none for depth"):
        constants_of(other)


@given(fed=quadratic_federations(max_clients=3, max_dim=2))
def test_federations_have_moderate_condition_numbers(fed) -> None:
    assert fed.strong_convexity * (1 + 1e-12) >= 0.5
    assert fed.smoothness <= 5 * (1 + 1e-12)
    assert fed.weights.sum() == pytest.approx(1, abs=1e-12)


def form_of(fed: Any) -> str:
    """Name the form of a federation's curvatures by the shape of what it holds."""
    return ("isotropic", "diagonal", "matrix")[np.ndim(fed.curvatures) - 1]


@pytest.mark.parametrize("form", ["isotropic", "diagonal", "matrix"])
def test_a_form_that_is_named_is_drawn_always_and_without_a_name_every_one_is(form: str) -> None:
    @settings(max_examples=30)
    @given(quadratic_federations(form, min_clients=2, min_dim=2))
    def always(fed: Any) -> None:
        assert form_of(fed) == form

    always()
    any_form = quadratic_federations(min_clients=2, min_dim=2)
    assert form_of(find(any_form, lambda fed: form_of(fed) == form, settings=UNSHRUNK)) == form


@given(shares=weights(max_clients=4))
def test_weights_sum_to_one_exactly(shares) -> None:
    assert sum(shares) == 1


# What is drawn, its measure, and the ends between which it lies, both of which are reached.
ENDS: dict[str, tuple[Any, Callable[[Any], Any], Any, Any]] = {
    "rationals": (rationals(1, 3, 2), lambda x: x, 1, 3),
    "clients with weights": (weights(2, 4), len, 2, 4),
    "ratios of weights": (weights(largest=3), lambda shares: max(shares) / min(shares), 1, 3),
    "norms": (norms(3, 2.0), lambda found: found.max(), 0, 2),
    "budgets": (norms_and_budgets(3, smallest_share=0.5), lambda pair: pair[1] / pair[0].size, 0.5, 1),
    "outcomes of laws": (laws(4), max, 0, 3),
    "players": (games(3), len, 2, 8),
    "clients of federations": (quadratic_federations(max_clients=3), lambda fed: fed.num_clients, 1, 3),
    "dimensions of federations": (quadratic_federations(max_dim=2), lambda fed: fed.dim, 1, 2),
    "seeds": (seeds(), lambda seed: seed, 0, 2**32 - 1),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_strategy_reaches_both_ends_and_nothing_beyond(name: str) -> None:
    drawn, measure, low, high = ENDS[name]
    for end in (low, high):
        reached = find(drawn, lambda value, end=end: measure(value) == end, settings=UNSHRUNK)
        assert measure(reached) == end

    @settings(max_examples=100)
    @given(drawn)
    def stays(value: Any) -> None:
        assert low <= measure(value) <= high

    stays()
