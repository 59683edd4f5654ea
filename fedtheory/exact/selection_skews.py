r"""Certified selection skews of a strategy on a quadratic federation."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.progress import announced
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array, RNGLike
from fedtheory.exact._arguments import frequency_law, is_unbiased, quadratic
from fedtheory.exact._diagonal import diagonal_bound, proved_bound, ranked_matrices
from fedtheory.exact._extremes import infimum
from fedtheory.exact._one_dimension import sides_in_one_dimension
from fedtheory.exact._problem import Problem, busy_clients, problem_of
from fedtheory.exact._ranking import among, largest_totals, least_skew_over_rankings, rearranged, remembering
from fedtheory.exact._top_sets import is_tractable, least_over_top_sets
from fedtheory.exact.skew_intervals import SelectionSkew, outward
from fedtheory.exact.subsets import least_ratios_of
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, KnowsItsLaw, Ranked
from fedtheory.statistics.interval import Interval

__all__ = ["selection_skew"]

_FIXED = "fixed frequencies"
_UNBIASED = "unbiased: numerator and denominator are equal"
_ORDERS = "all rankings in one dimension"
_RANKINGS = "all rankings, by the subsets of clients"
_TOP_SETS = "all sets of largest losses not excluded by multipliers"
_PLANES = "cutting planes on the base polytope"
_REARRANGEMENT = "rearrangement"
_MINIMIZER = "attained at w*"
_SEARCH = "search over models"
_UNDEFINED = "0/0: objective gap 0"
_SIGN = "no skew is negative"


@announced("fedtheory certifies the selection skew")
@pinned
def selection_skew(
    fed: QuadraticFederation,
    strategy: KnowsItsLaw,
    rng: RNGLike = 0,
    *,
    num_models: int = 4000,
    least_ratios: Array | None = None,
) -> SelectionSkew:
    r"""Certified intervals for the selection skews of a strategy.

    Each unpacks as (lower, upper); ``lower_by`` and ``upper_by`` describe how the sides were obtained. With objective
    gap 0, rho_tilde is 0/0 and its interval is (0, inf); bounds only use its product with the gap, which is 0. It is
    (inf, inf) if selected clients of weight 0 have other minimizers.

    Parameters
    ----------
    fed
        Quadratic clients.
    strategy
        State-independent, or Power-of-Choice with a fixed number of candidates.
    rng
        Seed or Generator of the search, which can only tighten the searched sides.
    num_models
        Number of models that each search evaluates.
    least_ratios
        ``subset_minima`` of the clients with positive weight, if already computed; it does not depend on the strategy.

    Notes
    -----
    For state-independent strategies and one-dimensional federations the results are exact up to rounding. Otherwise one
    side is found by a search over models. The other side is certified: that of rho_bar by ``least_skew_over_rankings``
    or by all sets of largest losses, that of rho_tilde by rearrangement at w* (exact if all F_k* are equal), and that
    of rho_diagonal by maximizing a concave eigenvalue over the base polytope.

    Examples
    --------
    Clients at +1 and -1, the worse one selected: at some w' that client is optimal, but never at w.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> skews = selection_skew(fed, PowerOfChoice(num_selected=1, num_candidates=2))
    >>> [tuple(round(side, 12) for side in interval) for interval in skews]
    [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)]
    """
    fed = quadratic(fed, otherwise="; estimated_selection_skew estimates the skews of other federations")
    num_models, generator = validate.count("num_models", num_models), validate.generator(rng)
    is_busy = fed.weights > 0
    if least_ratios is not None:
        shape = (int(np.count_nonzero(is_busy)),)
        least_ratios = validate.nonnegative("least_ratios", validate.array("least_ratios", least_ratios, shape=shape))
    weights = fed.weights
    law = frequency_law(strategy, weights)
    if is_unbiased(strategy, weights):
        return _without_bias(problem_of(fed))
    if isinstance(law, Fixed):
        return _with_fixed_frequencies(problem_of(fed), law.mean)
    law, problem = remembering(among(law, is_busy)), problem_of(busy_clients(fed))
    if problem.fed.num_clients == 1:
        return _with_fixed_frequencies(problem, np.ones(1))
    if fed.dim == 1:
        return _in_one_dimension(problem, law)
    return _by_bounds_and_search(_Search(problem, law, generator, num_models), least_ratios)


def _without_bias(problem: Problem) -> SelectionSkew:
    """Return skews of 1: the numerator and the denominator are the same sum at every model."""
    one = Interval(1.0, 1.0, _UNBIASED, _UNBIASED)
    return SelectionSkew(one, one if problem.objective_gap > 0 else _rho_tilde(problem, 0.0, 0.0, _FIXED, _FIXED), one)


def _with_fixed_frequencies(problem: Problem, q: Array) -> SelectionSkew:
    guess, model = infimum(problem.fed, problem.forms, q)
    least = outward(problem.proved(q, guess), problem.skew(q, model), _FIXED, _FIXED)
    excess = float(q @ problem.excess)
    return SelectionSkew(least, _rho_tilde(problem, excess, excess, _FIXED, _FIXED), least)


def _in_one_dimension(problem: Problem, law: Ranked) -> SelectionSkew:
    bar, diagonal, excess = sides_in_one_dimension(problem, law)
    return SelectionSkew(
        outward(*bar, _ORDERS, _ORDERS),
        _rho_tilde(problem, excess, excess, _ORDERS, _ORDERS),
        outward(*diagonal, _ORDERS, _ORDERS),
    )


def _rho_tilde(problem: Problem, lower: float, upper: float, lower_by: str, upper_by: str) -> Interval[float]:
    """Divide the sides of ``sup_w sum_k q_k(w) (F_k(w*) - F_k*)`` by the objective gap."""
    gap = problem.objective_gap
    if gap == 0:
        return Interval(float("inf") if lower > 0 else 0.0, float("inf"), _UNDEFINED, _UNDEFINED)
    return outward(lower / gap, upper / gap, lower_by, upper_by)


class Found(NamedTuple):
    """A value and the model that has it."""

    value: float
    model: Array


class _Search(NamedTuple):
    """A search over models for a ranking law in several dimensions."""

    problem: Problem
    law: Ranked
    rng: np.random.Generator
    num_models: int

    def frequencies(self, w: Array) -> Array:
        """Return the selection frequencies at w, where rounding may exchange nearly tied clients."""
        return self.law.frequencies(self.problem.fed.losses(w))

    def exact_frequencies(self, w: Array) -> Array:
        """Return the selection frequencies at w by the exact order of the losses."""
        return self.law.frequencies(self.problem.order(w))

    def least(
        self, guess: Callable[[Array], float], value: Callable[[Array], float], starts: Iterable[Array] = ()
    ) -> Found:
        """Return the smallest value at the models where ``guess``, the value in doubles, is small."""
        found = smallest_over_models(guess, self.problem.fed, self.rng, self.num_models, starts)
        best, at = min((value(one.model), tuple(one.model)) for one in found)
        return Found(best, np.array(at))


def _by_bounds_and_search(search: _Search, least_ratios: Array | None) -> SelectionSkew:
    diagonal, at = _rho_diagonal(search)
    rho_bar = _rho_bar(search, least_ratios, at)
    if diagonal.lower < rho_bar.lower:
        diagonal = replace(diagonal, lower=rho_bar.lower, lower_by=rho_bar.lower_by)
    if diagonal.upper < rho_bar.upper:
        rho_bar = replace(rho_bar, upper=diagonal.upper)
    return SelectionSkew(rho_bar, _largest_excess(search), diagonal)


def _rho_bar(search: _Search, least_ratios: Array | None, start: Array) -> Interval[float]:
    problem, law = search.problem, search.law

    def guess(w: Array) -> float:
        return max(float(np.linalg.eigvalsh(problem.forms.mixture(search.frequencies(w)))[0]), 0.0)

    def value(w: Array) -> float:
        q = search.exact_frequencies(w)
        return problem.skew(q, infimum(problem.fed, problem.forms, q).model)

    upper = search.least(guess, value, [start]).value
    if law.num_top is not None and is_tractable(problem, law.num_top):
        bound = least_over_top_sets(problem, law.num_top, upper)
        return outward(bound.lower, min([upper, *map(value, bound.models)]), _TOP_SETS, _SEARCH)
    ratios = least_ratios_of(problem.fed, problem.forms) if least_ratios is None else least_ratios
    ratios = np.maximum(ratios - problem.forms.rounding / np.arange(1, ratios.size + 1), 0.0)
    least = least_skew_over_rankings(largest_totals(law, problem.fed.weights), ratios)
    return outward(least, upper, _RANKINGS, _SEARCH)


def _rho_diagonal(search: _Search) -> tuple[Interval[float], Array]:
    """Return the interval of the diagonal skew, and the model of its upper side."""
    problem, law = search.problem, search.law
    fed = problem.fed
    lower, by, starts = 0.0, _SIGN, list[Array]()
    if law.prefers_large and (problem.objective_gap > 0 or np.ptp(fed.minima) == 0):
        bound = diagonal_bound(ranked_matrices(problem.forms, fed.minima, law), law)
        lower, by = proved_bound(problem, law, bound), _PLANES
        starts = [problem.forms.model(z) for z in bound.points]

    def guess(w: Array) -> float:
        excess = fed.excesses(w)
        total = float(fed.weights @ excess)
        return float(search.frequencies(w) @ excess) / total if total > 0 else np.inf

    found = search.least(guess, lambda w: problem.skew(search.exact_frequencies(w), w), starts)
    return outward(lower, found.value, by, _SEARCH), found.model


def _largest_excess(search: _Search) -> Interval[float]:
    problem, law = search.problem, search.law
    upper = rearranged(law, problem.fed.weights, problem.excess)
    if law.prefers_large and np.ptp(problem.fed.minima) == 0:
        return _rho_tilde(problem, upper, upper, _MINIMIZER, _REARRANGEMENT)
    if problem.objective_gap == 0:
        return _rho_tilde(problem, 0.0, upper, _SEARCH, _REARRANGEMENT)
    found = search.least(
        lambda w: -float(search.frequencies(w) @ problem.excess),
        lambda w: -float(search.exact_frequencies(w) @ problem.excess),
    )
    return _rho_tilde(problem, -found.value, upper, _SEARCH, _REARRANGEMENT)


_NUM_REFINED = 3


def smallest_over_models(
    objective: Callable[[Array], float],
    fed: QuadraticFederation,
    rng: np.random.Generator,
    num_models: int,
    starts: Iterable[Array] = (),
) -> list[Found]:
    """Evaluate given and random models at all distances from w*, then improve the best ones by adaptive random steps.

    Return the improved ones, the best first.
    """
    spread = float(np.linalg.norm(fed.centers - fed.minimizer, axis=1).max()) or 1.0
    models = [fed.minimizer, *fed.centers, *starts]
    while len(models) < num_models // 2:
        direction = rng.standard_normal(fed.dim)
        distance = spread * 10.0 ** rng.uniform(-2.0, 2.0)
        models.append(fed.minimizer + distance * direction / np.linalg.norm(direction))
    tried = sorted((Found(objective(model), model) for model in models), key=lambda found: found.value)
    refined = [
        _improved(objective, found, spread, rng, (num_models - num_models // 2) // _NUM_REFINED)
        for found in tried[:_NUM_REFINED]
    ]
    return sorted(refined, key=lambda found: found.value)


def _improved(
    objective: Callable[[Array], float], best: Found, spread: float, rng: np.random.Generator, num_steps: int
) -> Found:
    """Take random steps that never increase the objective; the step length grows on success and shrinks otherwise."""
    start = step = 0.3 * spread
    for _ in range(num_steps):
        model = best.model + step * rng.standard_normal(best.model.size)
        value = objective(model)
        step *= 1.8 if value < best.value else 0.85
        if value <= best.value:
            best = Found(value, model)
        if step < 1e-7 * start:
            step = start
    return best
