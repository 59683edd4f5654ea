"""Hypothesis strategies for numbers, finite laws, games and federations."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.instances.constants import draw_constants
from fedtheory.statistics.law import Law
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.valuation.games import MOST_PLAYERS

__all__ = [
    "constants_of", "games", "laws", "norms", "norms_and_budgets", "quadratic_federations", "rationals", "seeds",
    "weights",
]  # fmt: skip

_FORMS = ("isotropic", "diagonal", "matrix")


def rationals(
    low: float | Fraction = 0, high: float | Fraction = 10, max_denominator: int = 20
) -> SearchStrategy[Fraction]:
    """Fractions between two limits, both included, with small denominators in shrunk examples.

    >>> from hypothesis import find
    >>> find(rationals(1, 2), lambda number: number.denominator > 1)
    Fraction(3, 2)
    """
    least, most = (validate.one(name, validate.finite(name, limit)) for name, limit in (("low", low), ("high", high)))
    return st.fractions(least, most, max_denominator=validate.count("max_denominator", max_denominator))


def weights(min_clients: int = 2, max_clients: int = 5, largest: int = 9) -> SearchStrategy[tuple[Fraction, ...]]:
    """Objective weights: tuples of positive Fractions with sum 1 and ratios up to ``largest``.

    >>> from hypothesis import find
    >>> sum(find(weights(), lambda drawn: len(drawn) == 3))
    Fraction(1, 1)
    """
    fewest, most = validate.size("min_clients", min_clients), validate.size("max_clients", max_clients)
    sizes = st.lists(st.integers(1, validate.count("largest", largest)), min_size=fewest, max_size=most)
    return sizes.map(_shares)


def _shares(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(size, sum(sizes)) for size in sizes)


def norms(max_clients: int = 80, largest: float = 1e6) -> SearchStrategy[Array]:
    """Norms of updates: arrays of 1 to ``max_clients`` floats in [0, largest], including ties and zeros.

    >>> from hypothesis import find
    >>> find(norms(), lambda norms: norms.size == 2 and norms.min() > 0).size
    2
    """
    numbers = st.floats(0, validate.double("largest", validate.positive("largest", largest)))
    return st.lists(numbers, min_size=1, max_size=validate.size("max_clients", max_clients)).map(np.array)


def norms_and_budgets(
    max_clients: int = 80, largest: float = 1e6, smallest_share: float = 0.01
) -> SearchStrategy[tuple[Array, float]]:
    """Pairs of norms, shape (n,), and a budget m in (0, n], the arguments of ``optimal_probabilities``.

    n is at most ``max_clients``, no norm is above ``largest``, and m/n is at least ``smallest_share``.

    >>> from hypothesis import find
    >>> norms, budget = find(norms_and_budgets(), lambda drawn: True)
    >>> 0 < budget <= norms.size
    True
    """
    shares = st.floats(validate.fraction("smallest_share", smallest_share), 1)
    return st.tuples(norms(max_clients, largest), shares).map(lambda drawn: (drawn[0], drawn[1] * drawn[0].size))


def laws(outcomes: int = 6, largest: int = 9) -> SearchStrategy[Law[int]]:
    """Finite laws on subsets of 0, 1, ..., ``outcomes`` - 1, with rational probabilities of ratios up to ``largest``.

    >>> from hypothesis import find
    >>> find(laws(), lambda law: len(law) == 2)
    Law({0: 1/2, 1: 1/2})
    """
    odds = st.integers(1, validate.count("largest", largest))
    shares = st.dictionaries(st.integers(0, validate.size("outcomes", outcomes) - 1), odds, min_size=1)
    return shares.map(Law.proportional)


def games(max_players: int = 5, largest: int = 9) -> SearchStrategy[list[Fraction]]:
    """Games as tables of utilities in bit order: lists of 2^n Fractions for n = 1, ..., ``max_players``.

    Absolute utilities are at most ``largest``.

    >>> from hypothesis import find
    >>> find(games(max_players=2), lambda utilities: utilities[-1] > 2)
    [Fraction(0, 1), Fraction(3, 1)]
    """
    most = validate.one("largest", validate.positive("largest", largest))
    utilities = st.fractions(-most, most, max_denominator=7)
    players = st.integers(1, validate.count("max_players", max_players, high=MOST_PLAYERS))
    return players.flatmap(lambda n: st.lists(utilities, min_size=1 << n, max_size=1 << n))


def seeds() -> SearchStrategy[int]:
    """Seeds of random generators: integers from 0 to 2^32 - 1.

    >>> from hypothesis import find
    >>> find(seeds(), lambda seed: seed > 6)
    7
    """
    return st.integers(0, 2**32 - 1)


def quadratic_federations(
    form: str | None = None, min_clients: int = 1, max_clients: int = 6, min_dim: int = 1, max_dim: int = 4
) -> SearchStrategy[QuadraticFederation]:
    """Quadratic federations of condition number at most 10, with random minima and weights.

    Sizes shrink. The numbers come from a seed, so that they are of moderate size and in general position. The
    curvatures have the ``form`` ``isotropic``, ``diagonal`` or ``matrix``; None stands for any.

    >>> from hypothesis import find
    >>> find(quadratic_federations(min_clients=2), lambda fed: True).num_clients
    2
    """
    forms = st.sampled_from(_FORMS) if form is None else st.just(validate.choice("form", form, _FORMS))
    fewest, most = validate.size("min_clients", min_clients), validate.size("max_clients", max_clients)
    dims = st.integers(validate.size("min_dim", min_dim), validate.size("max_dim", max_dim))
    return st.builds(draw_quadratics, forms, seeds(), st.integers(fewest, most), dims)


def draw_quadratics(form: str, seed: int, num_clients: int = 4, dim: int = 3) -> QuadraticFederation:
    """Draw the quadratic federation of a seed."""
    validate.choice("form", form, _FORMS)
    num_clients, dim = validate.size("num_clients", num_clients), validate.size("dim", dim)
    rng = np.random.default_rng(validate.count("seed", seed, 0))
    diagonals = rng.uniform(0.5, 5, (num_clients, dim))
    curvatures = diagonals[:, 0] if form == "isotropic" else diagonals
    if form == "matrix":
        turned = np.linalg.qr(rng.normal(size=(num_clients, dim, dim)))[0]
        curvatures = np.einsum("kij,kj,klj->kil", turned, diagonals, turned)
        curvatures = (curvatures + curvatures.transpose(0, 2, 1)) / 2
    centers, minima = rng.normal(size=(num_clients, dim)), rng.normal(size=num_clients)
    return QuadraticFederation(curvatures, centers, rng.uniform(0.1, 1, num_clients), minima, normalize=True)


def constants_of(bound: Bound) -> SearchStrategy[dict[str, Any]]:
    """Nonzero rational arguments of a bound, by name, that satisfy the hypotheses of all bounds of its paper.

    Hypothesis shrinks their seed. ValueError if constants for an argument of the bound are not implemented.

    >>> from hypothesis import find
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> poc.one_step(**find(constants_of(poc.one_step), lambda constants: constants["sigma2"] > 1)) > 0
    True
    """
    if not is_bound(bound):
        message = f"bound must be a function of fedtheory.bounds or one with states, got {truncate(bound)}"
        raise TypeError(message)
    draw_constants(bound, np.random.default_rng(0))
    return seeds().map(lambda seed: draw_constants(bound, np.random.default_rng(seed)))
