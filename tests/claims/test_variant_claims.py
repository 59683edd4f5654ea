"""Claims about the laws of variants refute broken implementations."""

import dataclasses

import numpy as np
import pytest

from fedtheory.claims.power_of_choice import variants
from fedtheory.selection import power_of_choice
from fedtheory.selection.availability import AlternatingGroups, AvailabilityRule
from tests.claims.refutation import broken

RULES = power_of_choice.PowerOfChoice.rules


def starting_at_zero(self, weights, num_rounds):
    rules = RULES(self, weights, num_rounds)
    return dataclasses.replace(rules, memory=np.where(np.isinf(rules.memory), 0.0, rules.memory))


def exact_losses(self, weights, num_rounds):
    return dataclasses.replace(RULES(self, weights, num_rounds), candidate_loss="exact")


def smallest(self, weights, num_rounds):
    rules = RULES(self, weights, num_rounds)
    select = rules.select

    def take_smallest(t, table, memory, weights, candidates, losses, rng, chosen):
        return select(t, table, memory, weights, candidates, -losses, rng, chosen)

    return dataclasses.replace(rules, select=take_smallest)


@pytest.mark.slow  # simulations
@pytest.mark.parametrize(
    ("claim", "mutant"),
    [(variants.rpow_d, starting_at_zero), (variants.cpow_d, exact_losses), (variants.cpow_d, smallest)],
    ids=lambda value: getattr(value, "key", getattr(value, "__name__", "")),
)
def test_a_wrong_law_is_caught(monkeypatch, claim, mutant):
    monkeypatch.setattr(power_of_choice.PowerOfChoice, "rules", mutant)
    assert broken(claim, rng=2)


@pytest.mark.slow
def test_a_late_group_is_caught(monkeypatch):
    honest = AlternatingGroups.attendance

    def late(self, num_clients):
        rule, table, memory = honest(self, num_clients)

        def one_round_late(t, table, memory, rng, present):
            return rule(t + 1, table, memory, rng, present)

        return AvailabilityRule(one_round_late, table, memory)

    monkeypatch.setattr(AlternatingGroups, "attendance", late)
    assert broken(variants.availability, rng=2)
