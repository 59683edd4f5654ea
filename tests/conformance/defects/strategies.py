"""Strategies of this package's form whose declarations contradict their behavior."""

from dataclasses import dataclass

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.laws import Fixed, Moments
from fedtheory.selection.rules import Rules
from fedtheory.selection.uniform import Uniform
from fedtheory.theorem.scheme import Scheme


def pair(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[:] = rng.permutation(weights.size)[:2]
    return 2


def mean(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    coefficients[:] = 0.5
    return 0.0


@dataclass(frozen=True)
class Pair:
    """Two different clients, uniformly, as it should be; the others change one thing."""

    select = staticmethod(pair)
    weigh = staticmethod(mean)
    scheme = Scheme("uniform without replacement", "mean")

    def rules(self, weights, num_rounds):
        return Rules(select=self.select, weigh=self.weigh, max_selected=2)

    def inclusion_probabilities(self, weights, losses):
        return np.full(len(weights), 2 / len(weights))

    def law(self, weights):
        return Uniform(2).law(weights)


def by_weight(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[:] = rng.choice(weights.size, 2, replace=False, p=weights)
    return 2


def beyond(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[:] = weights.size
    return 2


class DrawsByWeight(Pair):
    select = staticmethod(by_weight)


class ChoosesWhoIsNot(Pair):
    select = staticmethod(beyond)


class DeclaresTheWeights(Pair):
    def inclusion_probabilities(self, weights, losses):
        return 2 * weights


class DeclaresWrongMeans(Pair):
    def law(self, weights):
        return Fixed(weights)


class DeclaresIndependence(Pair):
    def law(self, weights):
        mean, _, delta, noise = Uniform(2).law(weights)
        return Moments(mean, 1.0, delta, noise)


class DeclaresTooFew(Pair):
    def inclusion_probabilities(self, weights, losses):
        return np.full(2, 0.5)


CAUGHT = [
    (DrawsByWeight(), check_strategy, {}, "declared inclusion"),
    (DrawsByWeight(), check_strategy, {"like": Uniform(2)}, "joint law"),
    (ChoosesWhoIsNot(), check_strategy, {}, "contract"),
    (DeclaresTheWeights(), check_strategy, {}, "declared inclusion"),
    (DeclaresWrongMeans(), check_strategy, {}, "declared moments"),
    (DeclaresIndependence(), check_strategy, {}, "declared moments"),
    (DeclaresTooFew(), check_strategy, {}, "declared inclusion"),
]
