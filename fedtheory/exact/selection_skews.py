r"""The selection skews of a strategy on a quadratic federation, each with a certified lower and upper side."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.exact._cells import skews_in_one_dimension
from fedtheory.exact._diagonal import diagonal_bound, ranked_matrices
from fedtheory.exact._forms import Forms, forms, is_homogeneous, without_idle_clients
from fedtheory.exact._quadratic import quadratic
from fedtheory.exact._ranking import RankingLaw, ranking_law
from fedtheory.exact._search import Found, smallest_over_models
from fedtheory.exact._top_sets import is_tractable, least_over_top_sets
from fedtheory.exact.frequencies import StateIndependent
from fedtheory.exact.interval import Interval, SelectionSkew
from fedtheory.exact.ranking_bound import least_skew_over_rankings
from fedtheory.exact.skews import skew_extremes
from fedtheory.exact.subsets import subset_minima
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.power_of_choice import HighestLoss, PowerOfChoice

__all__ = ["selection_skew"]

_FIXED = "fixed frequencies"
_CELLS = "all rankings in one dimension"
_RANKINGS = "all rankings, by the subsets of clients"
_TOP_SETS = "all sets of largest losses not excluded by multipliers"
_PLANES = "cutting planes on the base polytope"
_REARRANGEMENT = "rearrangement"
_MINIMIZER = "attained at w*"
_SEARCH = "search over models"
_UNDEFINED = "0/0: objective gap 0"


def selection_skew(
    fed: QuadraticFederation,
    strategy: StateIndependent | PowerOfChoice | HighestLoss,
    rng: Any = 0,
    *,
    num_models: int = 4000,
    least_ratios: Array | None = None,
) -> SelectionSkew:
    r"""Certified intervals for the selection skews of a strategy.

    Parameters
    ----------
    fed
        Quadratic clients.
    strategy
        State-independent, or Power-of-Choice with a fixed number of candidates.
    rng
        Seed or Generator of the search; it can only tighten the searched sides.
    num_models
        Models that each search evaluates.
    least_ratios
        ``subset_minima`` of the clients with positive weight if already known; it does not depend on the strategy.

    Returns
    -------
    SelectionSkew
        Intervals ``rho_bar``, ``rho_tilde``, ``rho_diagonal``; each unpacks as (lower, upper), and ``lower_by`` and
        ``upper_by`` say how the sides are known. With objective gap 0 rho_tilde is 0/0: the interval (0, inf) says so,
        and bounds only use its product with the gap, which is 0.

    Raises
    ------
    TypeError
        If the federation is not quadratic, or the strategy is neither state-independent nor pow-d with a number d.
    ValueError
        If the strategy does not fit the federation.

    Notes
    -----
    State-independent strategies and one-dimensional federations: exact up to rounding. Otherwise:

    * rho_bar: below by ``least_skew_over_rankings``; above by a search over w with the exact infimum over w'. If all
      clients are candidates (and isotropic, and the sets of m clients few), below by the smallest infimum of a set of m
      clients for which there is no proof that it never ranks first; this closes the interval in most cases.
    * rho_tilde: above by ranking by the excess losses at w* (rearrangement); below by search, and equal, attained at
      w*, if all F_k* are equal.
    * rho_diagonal: below by maximizing a concave eigenvalue over the base polytope; above by search.

    Examples
    --------
    Clients at +1 and -1, the worse one selected: at some w' that client is optimal, but never at w.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> skews = selection_skew(fed, PowerOfChoice(num_selected=1, num_candidates=2))
    >>> [tuple(round(side, 12) for side in interval) for interval in skews]
    [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)]
    """
    fed = quadratic(fed)
    num_models = _validate.count("num_models", num_models)
    if least_ratios is not None:
        busy = int(np.count_nonzero(fed.weights))
        least_ratios = _validate.nonnegative(
            "least_ratios", _validate.array("least_ratios", least_ratios, shape=(busy,))
        )
    if isinstance(strategy, StateIndependent):
        return _with_fixed_frequencies(fed, strategy.coefficient_moments(fed.weights).mean)
    law, fed = ranking_law(fed, strategy), without_idle_clients(fed)
    if law.is_constant:
        return _with_fixed_frequencies(fed, law.frequencies(np.zeros(fed.num_clients)))
    if fed.dim == 1:
        return _in_one_dimension(fed, law)
    return _by_bounds_and_search(_Problem(fed, forms(fed), law, _validate.generator(rng), num_models), least_ratios)


def _with_fixed_frequencies(fed: QuadraticFederation, q: Array) -> SelectionSkew:
    least = Interval.exact(skew_extremes(fed, q)[0], _FIXED)
    return SelectionSkew(least, _rho_tilde(fed, lambda excess: Interval.exact(float(q @ excess), _FIXED)), least)


def _in_one_dimension(fed: QuadraticFederation, law: RankingLaw) -> SelectionSkew:
    exact = skews_in_one_dimension(fed, forms(fed), law)
    return SelectionSkew(
        Interval.exact(exact.rho_bar, _CELLS),
        _rho_tilde(fed, lambda _: Interval.exact(exact.excess_at_minimizer, _CELLS)),
        Interval.exact(exact.rho_diagonal, _CELLS),
    )


def _rho_tilde(fed: QuadraticFederation, numerator: Callable[[Array], Interval]) -> Interval:
    """Divide an interval for ``sup_w sum_k q_k(w) (F_k(w*) - F_k*)`` by the objective gap."""
    if is_homogeneous(fed):
        return Interval(0.0, float("inf"), _UNDEFINED, _UNDEFINED)
    known = numerator(fed.excesses(fed.minimizer))
    gap = fed.objective_gap
    return Interval(known.lower / gap, known.upper / gap, known.lower_by, known.upper_by)


class _Problem(NamedTuple):
    """What the bounds and searches for pow-d in several dimensions share."""

    fed: QuadraticFederation
    forms: Forms
    law: RankingLaw
    rng: np.random.Generator
    num_models: int

    def frequencies(self, w: Array) -> Array:
        """Return the selection frequencies at w."""
        return self.law.frequencies(self.fed.losses(w))

    def search(self, objective: Callable[[Array], float], starts: Iterable[Array] = ()) -> Found:
        """Look for a model where the objective is small."""
        return smallest_over_models(objective, self.fed, self.rng, self.num_models, starts)


def _by_bounds_and_search(problem: _Problem, least_ratios: Array | None) -> SelectionSkew:
    diagonal, at = _rho_diagonal(problem)
    rho_bar = _rho_bar(problem, least_ratios, at)
    if diagonal.lower < rho_bar.lower:
        diagonal = replace(diagonal, lower=rho_bar.lower, lower_by=rho_bar.lower_by)
    tilde = _rho_tilde(problem.fed, lambda excess: _largest_excess(problem, excess))
    return SelectionSkew(rho_bar, tilde, diagonal)


def _rho_bar(problem: _Problem, least_ratios: Array | None, start: Array) -> Interval:
    fed, law = problem.fed, problem.law

    def least_skew(w: Array) -> float:
        return max(float(np.linalg.eigvalsh(problem.forms.mixture(problem.frequencies(w)))[0]), 0.0)

    upper = problem.search(least_skew, [start]).value
    if law.num_candidates == fed.num_clients and is_tractable(fed, law.num_selected) and not is_homogeneous(fed):
        bound = least_over_top_sets(fed, problem.forms, law.num_selected, upper)
        upper = min([upper, *map(least_skew, bound.models)])
        return Interval(min(bound.lower, upper), upper, _TOP_SETS, _SEARCH)
    least = least_skew_over_rankings(law, subset_minima(fed) if least_ratios is None else least_ratios)
    return Interval(min(least, upper), upper, _RANKINGS, _SEARCH)


def _rho_diagonal(problem: _Problem) -> tuple[Interval, Array]:
    """Interval of the diagonal skew, and the model of its upper side."""
    fed, forms, law = problem.fed, problem.forms, problem.law
    bound = diagonal_bound(ranked_matrices(forms, fed.minima, law), law)

    def ratio(w: Array) -> float:
        excess = fed.excesses(w)
        total = float(fed.weights @ excess)
        return float(problem.frequencies(w) @ excess) / total if total > 0 else np.inf

    found = problem.search(ratio, [forms.model(z) for z in bound.points])
    lower = min(bound.value, found.value)
    return Interval(lower, found.value, _PLANES, _SEARCH), found.model


def _largest_excess(problem: _Problem, excess: Array) -> Interval:
    upper = problem.law.largest(excess)
    if np.ptp(problem.fed.minima) == 0:
        return Interval(upper, upper, _MINIMIZER, _REARRANGEMENT)
    found = problem.search(lambda w: -float(problem.frequencies(w) @ excess))
    return Interval(min(-found.value, upper), upper, _SEARCH, _REARRANGEMENT)
