"""Slots reject rules with other signatures, and pass arrays without reference counting."""

# mypy: allow-untyped-calls

import gc
import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from fedtheory._support.compiling import compiled, is_compiled
from fedtheory.engine._binding import bound
from fedtheory.engine._blocks import block_type
from fedtheory.engine._kernels_quadratic import quadratic_family
from fedtheory.engine._rounds import run_rounds
from fedtheory.engine.contract import LocalWork
from fedtheory.selection.rules import Rules

PLAIN = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)
needs_numba = pytest.mark.skipif(not is_compiled(run_rounds), reason="numba is switched off")


def federation():
    return ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])


def first_two(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0], chosen[1] = 0, 1
    return 2


def forgetful(table, memory, weights, candidates, losses, rng, chosen):
    return 0


def silent(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = 0


@needs_numba
@pytest.mark.parametrize("rule", [forgetful, silent])
def test_a_rule_of_the_wrong_shape_is_refused_by_name_before_the_first_round(rule) -> None:
    with pytest.raises(TypeError, match=rf"the rule select must follow fedtheory.selection.rules, got {rule.__name__}"):
        bound(quadratic_family(federation(), PLAIN), Rules(select=compiled(rule), max_selected=2))


class Named(NamedTuple):
    """A record with something that is no array."""

    rows: Any
    name: str


class TwoFirst:
    """A strategy with a rule and a table of its own."""

    def __init__(self, rule, table=None):
        self.rule = rule
        self.table = np.empty(0) if table is None else table

    def rules(self, weights, num_rounds):
        return Rules(select=self.rule, max_selected=2, table=self.table)


def test_a_run_leaves_the_references_to_what_it_was_lent_as_they_were() -> None:
    strategy = TwoFirst(compiled(first_two), table=np.ones(3))
    before = sys.getrefcount(strategy.table)
    for _ in range(3):
        ft.fedavg(federation(), strategy, num_rounds=5, step_size=0.1, num_replicates=3)
    gc.collect()
    after = sys.getrefcount(strategy.table)
    assert after == before


@needs_numba
def test_one_loop_serves_all_families_whatever_their_arrays() -> None:
    ft.fedavg(federation(), ft.selection.Full(), num_rounds=1, step_size=0.1)
    loop: Any = run_rounds
    known = list(loop.signatures)
    wide = ft.QuadraticFederation([[1.0, 2.0], [3.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]], [0.5, 0.5])
    run = ft.fedavg(wide, ft.selection.Full(), num_rounds=1, step_size=0.1, record=("models",))
    assert list(loop.signatures) == known
    # From 0 a step of 1/10 along h_k c_k: (0, 2) and (3, 1).
    np.testing.assert_allclose(run.models[0, 1], [0.15, 0.15], rtol=1e-15)


@needs_numba
def test_what_the_loop_could_not_hold_is_refused_before_the_first_round() -> None:
    with pytest.raises(
        TypeError, match=r"^what kernels read must be arrays, numbers, or tuples of them, got unicode_type"
    ):
        block_type(Named(np.zeros((2, 1)), "no array"))


@needs_numba
def test_samples_of_another_type_than_those_of_the_run_are_refused() -> None:
    family = quadratic_family(federation(), PLAIN)
    other = replace(family, arrays=family.arrays._replace(rows=family.arrays.rows.astype(np.float32)))
    with pytest.raises(TypeError, match="validation and test samples must be laid out as those of fed"):
        bound(family, ft.selection.Full().rules(np.full(2, 0.5), 1), None, (other,))
