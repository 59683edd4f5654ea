"""What fills a slot of the round loop follows its signature, and federations of a run have equal types of arrays."""

import pytest
from numba import njit

import fedtheory as ft
from fedtheory.selection.rules import Rules
from tests.environment import PLAIN_PYTHON

FED = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])


class Selecting:
    """A strategy of one rule."""

    def __init__(self, rule):
        self.rule = rule

    def rules(self, weights, num_rounds):
        return Rules(select=self.rule, max_selected=2)


def forgetful(table, memory, weights, candidates, losses, rng, chosen):
    return 0


def silent(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = 0


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
@pytest.mark.parametrize("rule", [forgetful, silent])
def test_a_rule_of_another_signature_is_refused_by_name_before_the_first_round(rule):
    with pytest.raises(TypeError, match=rf"the rule select must follow fedtheory.selection.rules, got {rule.__name__}"):
        ft.fedavg(FED, Selecting(njit(rule)), num_rounds=1, step_size=0.1)
