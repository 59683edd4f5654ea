"""Quadratic forms in doubles and in integers: common minimizers, distant models, rounding errors."""

# mypy: allow-untyped-calls

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.exact._integer_forms import integer_forms
from fedtheory.exact._problem import problem_of
from fedtheory.federation.quadratic import QuadraticFederation
from tests.exact.judge import Judge, rational

EPS = 2.0**-52


def test_busy_clients_that_share_their_minimizer_are_given_that_of_the_first_and_idle_ones_keep_theirs():
    centers = np.array([[3.0, 5.0], [1.0, 2.0], [1.0 + EPS, 2.0]])
    problem = problem_of(QuadraticFederation([1.0, 2.0, 3.0], centers, [0.0, 0.25, 0.75]))
    assert problem.objective_gap == 0
    assert problem.fed.centers.tolist() == centers[[0, 1, 1]].tolist()


@pytest.mark.parametrize("constant", [Fraction(0), Fraction(3, 7), Fraction(-2, 5)])
def test_the_form_of_an_inequality_is_its_difference_in_one_unit_at_all_models(constant):
    rng = np.random.default_rng(3)
    fed = QuadraticFederation(rng.uniform(1, 3, (3, 2)), rng.normal(size=(3, 2)), rng.dirichlet(np.ones(3)))
    q, number, exact, judge = rng.dirichlet(np.ones(3)), 0.7, integer_forms(fed), Judge(fed, 1, 1)
    form, units = exact.skew(q).above(number, constant), set()
    for w in rng.normal(size=(4, 2)):
        difference = (rational(q) - Fraction(number) * judge.p) @ judge.excess(rational(w)) + constant
        z = exact.point(w)
        units.add(Fraction(int(z @ form @ z), int(z[-1]) ** 2) / difference)
    assert len(units) == 1
    assert units.pop() > 0
