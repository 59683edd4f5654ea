"""Tools for tests of one's own: named checks for pytest, and Hypothesis strategies for the objects of this package."""

from fedtheory.testing.checks import checks_of as checks_of
from fedtheory.testing.constants import constants_of as constants_of
from fedtheory.testing.federations import prioritized_federations as prioritized_federations
from fedtheory.testing.federations import quadratic_federations as quadratic_federations
from fedtheory.testing.federations import rational_federations as rational_federations
from fedtheory.testing.federations import seeds as seeds
from fedtheory.testing.numbers import games as games
from fedtheory.testing.numbers import laws as laws
from fedtheory.testing.numbers import norms as norms
from fedtheory.testing.numbers import norms_and_budgets as norms_and_budgets
from fedtheory.testing.numbers import rationals as rationals
from fedtheory.testing.numbers import weights as weights
from fedtheory.testing.random_sets import samplings as samplings
