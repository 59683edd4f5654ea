"""Exact joint laws of the selections that depend on weights and losses only, for comparison with user code."""

from functools import partial, singledispatch
from itertools import combinations

import numpy as np

from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.sampling import cohorts as selections
from fedtheory.sampling.cohorts import Selection
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.laws import Fixed, Ranked
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.size_weighted import SizeWeighted
from fedtheory.selection.uniform import Uniform
from fedtheory.statistics.law import Law


@singledispatch
def joint_law(strategy: object, weights: Array, losses: Array) -> Law[Selection]:
    """Exact law of the clients that train in a round, in increasing order with copies, given weights and losses.

    ``joint_law.register`` adds user-defined strategies.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> law = joint_law(PowerOfChoice(1, 2), np.array([0.5, 0.25, 0.25]), np.array([1.0, 3.0, 2.0]))
    >>> {clients: round(p, 12) for clients, p in law.items()}  # client 0 has the smallest loss
    {(1,): 0.583333333333, (2,): 0.416666666667}
    """
    message = f"like must be a strategy with a known joint law given weights and losses, got {truncate(strategy)}"
    raise TypeError(message)


@joint_law.register
def _all(_: Full, weights: Array, losses: Array) -> Law[Selection]:
    return Law.certain(tuple(range(losses.size)))


@joint_law.register
def _uniform(strategy: Uniform, weights: Array, losses: Array) -> Law[Selection]:
    return selections.uniform_subsets(losses.size, strategy.num_selected)


@joint_law.register
def _proportional(strategy: Proportional, weights: Array, losses: Array) -> Law[Selection]:
    return selections.with_replacement(weights.tolist(), strategy.num_selected)


@joint_law.register
def _power_of_choice(strategy: PowerOfChoice, weights: Array, losses: Array) -> Law[Selection]:
    if not isinstance(strategy.law(weights), Fixed | Ranked):
        return joint_law.dispatch(object)(strategy, weights, losses)
    (candidates,) = strategy.candidate_counts(weights.size, 1)
    return selections.power_of_choice(weights.tolist(), losses.tolist(), strategy.num_selected, int(candidates))


@joint_law.register
def _independent(strategy: Independent, weights: Array, losses: Array) -> Law[Selection]:
    if strategy.probabilities != "uniform":
        return joint_law.dispatch(object)(strategy, weights, losses)
    return selections.independent(strategy.inclusion_probabilities(weights).tolist())


@joint_law.register
def _size_weighted(strategy: SizeWeighted, weights: Array, losses: Array) -> Law[Selection]:
    return joint_law(strategy.strategy, weights, losses)


@joint_law.register
def _active(strategy: ActiveFederated, weights: Array, losses: Array) -> Law[Selection]:
    """Keep the largest valuations, draw most clients from these, and the others uniformly from all remaining ones."""
    num_clients, m = losses.size, strategy.num_selected
    values = np.sqrt(np.asarray(strategy.sample_counts, dtype=np.float64)) * losses
    num_kept = num_clients - int(np.floor(strategy.dropped * num_clients + 1e-9))
    first = min(max(1, int(np.floor((1 - strategy.explored) * m + 0.5))), num_kept, m)

    def one_more(kept: Selection, drawn: Selection) -> Law[Selection]:
        left = [k for k in kept if k not in drawn]
        # Relative to the largest remaining valuation, so that they do not all underflow.
        shares = np.exp(strategy.sharpness * (values[left] - values[left].max())).tolist()
        return Law.proportional({tuple(sorted((*drawn, k))): share for k, share in zip(left, shares, strict=True)})

    def by_valuation(kept: Selection) -> Law[Selection]:
        drawn: Law[Selection] = Law.certain(())
        for _ in range(first):
            drawn = drawn.then(partial(one_more, kept))
        return drawn

    def filled_up(drawn: Selection) -> Law[Selection]:
        others = [k for k in range(num_clients) if k not in drawn]
        return Law.uniform(tuple(sorted((*drawn, *rest))) for rest in combinations(others, m - len(drawn)))

    if not num_kept:
        return selections.uniform_subsets(num_clients, m)
    kept = selections.largest(tuple(range(num_clients)), values.tolist(), num_kept)
    return kept.then(by_valuation).then(filled_up)
