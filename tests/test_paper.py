"""Citations attached to functions: what a bound checks, returns and describes."""

import inspect
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated
from fedtheory.theorem.assumptions import Hypothesis
from fedtheory.theorem.bound import is_bound, states
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.verification import known_bounds, known_claims
from tests.additions import check_of_all

PAPER = Paper("example", "An Example", "Author", 2020)
SMALL_STEP = Hypothesis("step_size <= 1/(4 L)", lambda step_size, L: (step_size, "<=", 1 / (4 * L)))
GOOD = {"mu": 1, "L": 2, "step_size": 0.1}


@states(PAPER, "Theorem 0", equation="(1)", assumes=(SMALL_STEP, Hypothesis("F is nice")))
def geometric(num_steps, *, mu, L, step_size):
    """Return a made-up bound."""
    return {"transient": (1 - mu * step_size) ** num_steps, "floor": L * step_size / mu}


def test_a_bound_is_called_and_found_like_a_function_and_has_its_source():
    assert inspect.isroutine(geometric)
    assert is_bound(geometric)
    assert geometric.__module__ == __name__
    assert list(inspect.signature(geometric).parameters) == ["num_steps", "mu", "L", "step_size", "strict"]
    assert str(geometric.statement) == "Author (2020), Theorem 0, (1) [printed]"
    assert [hypothesis.text for hypothesis in geometric.hypotheses] == ["step_size <= 1/(4 L)", "F is nice"]
    assert geometric.printed is geometric


def test_nothing_is_called_printed_that_was_not_compared_with_the_print():
    heard = replace(PAPER, basis="remembered")
    assert str(Statement(heard, "Lemma 1")) == "Author (2020), Lemma 1 [remembered]"
    assert str(Statement(heard, "Lemma 1", form="corrected")) == "Author (2020), Lemma 1 [corrected, remembered]"
    assert str(Statement(heard, "Lemma 2", basis="printed")) == "Author (2020), Lemma 2 [printed]"


def test_exactly_the_forms_that_no_paper_states_rest_on_this_project():
    statements = [bound.statement for bound in known_bounds().values()]
    statements += [claim.statement for claim in known_claims().values()]
    for statement in statements:
        is_own = statement.form in ("derived", "refined", "variant")
        assert (statement.basis == "own") == is_own == (statement.paper is FEDTHEORY)
        assert is_own or not statement.related
    check_of_all(
        "a related paper",
        (
            f"{name}: {bound.statement}"
            for name, bound in known_bounds().items()
            if bound.statement.basis == "own" and not bound.statement.related
        ),
    )


def test_horizons_may_be_arrays_and_fractions_stay_exact():
    np.testing.assert_allclose(geometric(np.array([0, 1, 2]), **GOOD), [1.2, 1.1, 1.01], rtol=1e-12)
    exact = geometric(2, mu=Fraction(1), L=Fraction(2), step_size=Fraction(1, 10))
    assert exact == Fraction(101, 100)
    assert isinstance(exact, Fraction)


def test_an_unmet_hypothesis_names_itself_and_both_sides():
    with pytest.raises(AssumptionViolated, match=r"Theorem 0 needs step_size <= 1/\(4 L\): got 0.5 > 0.125"):
        geometric(2, **(GOOD | {"step_size": 0.5}))
    with pytest.raises(AssumptionViolated, match=r"got 0\.5 > 0\.125"):
        geometric.terms(2, **(GOOD | {"step_size": 0.5}))


def test_loose_evaluation_returns_the_value_and_what_is_unmet():
    value, unmet = geometric(2, strict=False, **(GOOD | {"step_size": 0.5}))
    assert value == 0.25 + 1
    assert unmet == ["step_size <= 1/(4 L): got 0.5 > 0.125"]
    assert geometric(2, strict=False, **GOOD)[1] == []


@states(PAPER, "Theorem 2")
def corrected(num_clients, *, sigma2):
    """Return a made-up bound that divides one count by another."""
    return {"drawn": sigma2 / num_clients, "finite": num_clients / (num_clients - 1)}


@pytest.mark.parametrize("sigma2", [Fraction(3), 3.0])
def test_a_division_of_counts_by_zero_is_infinite_in_its_own_summand_only(sigma2):
    assert corrected.terms(1, sigma2=sigma2) == {"drawn": 3.0, "finite": np.inf}


def test_a_hypothesis_about_an_argument_that_is_none_is_refused_when_the_bound_is_made():
    short = Hypothesis("step_size <= 1/L", lambda step_size, L: (step_size, "<=", 1 / L))
    wanted = r"^gap must take step_size, which its hypothesis 'step_size <= 1/L' reads, got distance2, L$"
    with pytest.raises(TypeError, match=wanted):

        @states(PAPER, "Lemma 1", assumes=(short,))
        def gap(distance2, *, L):
            return {"quadratic": L / 2 * distance2}


def test_statements_accept_the_schemes_they_name():
    mean = Statement(PAPER, "1", schemes=(Scheme("any", "mean"),))
    assert mean.accepts(Scheme("multinomial", "mean"))
    assert not mean.accepts(Scheme("multinomial", "weighted"))
    assert Statement(PAPER, "1").accepts(Scheme("whatever", "weighted"))
    assert Statement(PAPER, "1").schemes == (ANY_SCHEME,)
