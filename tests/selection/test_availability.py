"""Absent clients are never selected, and available clients by the strategy's law; mutants are detected."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import fedtheory as ft
from fedtheory.bounds import fedavg, power_of_choice
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.availability import AlternatingGroups, AvailabilityRule, Available, BernoulliAvailability
from fedtheory.selection.full import Full
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from fedtheory.selection.size_weighted import SizeWeighted
from fedtheory.selection.uniform import Uniform

WEIGHTS = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
FED = ft.QuadraticFederation([1.0, 2.0, 3.0, 4.0, 5.0], np.eye(5), WEIGHTS)


class Fixed:
    """The same clients are there in every round."""

    def __init__(self, *present):
        self.present = present

    def attendance(self, num_clients):
        table = np.zeros(num_clients)
        table[list(self.present)] = 1.0
        return AvailabilityRule(read_table, table, np.empty(0))


@njit
def read_table(round_index, table, memory, rng, present):
    for k in range(table.size):
        present[k] = table[k] == 1.0
    return int(table.sum())


def attended(availability, num_clients, num_rounds, seed=0):
    """Who is there, and how many the rule says there are."""
    rule, table, memory = availability.attendance(num_clients)
    rng, present, memory = np.random.default_rng(seed), np.ones(num_clients, dtype=np.bool_), memory.copy()
    rows, counts = [], []
    for t in range(num_rounds):
        counts.append(rule(t, table, memory, rng, present))
        rows.append(present.copy())
    return np.array(rows), np.array(counts)


def presences(availability, num_clients, num_rounds, seed=0):
    """Who is there, round by round, shape (num_rounds, num_clients)."""
    return attended(availability, num_clients, num_rounds, seed)[0]


STRATEGIES = [
    Proportional(3), Uniform(2), Uniform(2, "weighted"), Full(), PowerOfChoice(2, "all"), PowerOfChoice(1, 2),
    PowerOfChoice(2, 3, loss="last"), ActiveFederated(2, (10, 20, 30, 40, 50)), Independent(1.5),
    Independent(1.5, "approximate"), Independent(1.5, "uniform"), GreedyShapley(2), SizeWeighted(Uniform(2)),
]  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@pytest.mark.parametrize("present", [(), (3,), (1, 2, 3)], ids=str)
def test_the_absent_are_never_selected(strategy, present):
    run = ft.fedavg(
        FED,
        Available(strategy, Fixed(*present), "allow"),
        num_rounds=60,
        step_size=0.01,
        record=("models", "broadcasts"),
    )
    absent = np.setdiff1d(np.arange(5), present)
    assert run.counts[0, absent].sum() == 0
    assert (run.counts[0].sum() > 0) == (len(present) > 0)
    if not present:  # nobody is there: the model stays, nothing is sent
        assert (run.models == run.models[:, :1]).all()
        assert run.recorded("broadcasts")[0, -1] == 0


@pytest.mark.parametrize("strategy", [*STRATEGIES, PowerOfChoice(2, 4)], ids=repr)
def test_with_everybody_there_the_run_has_the_bits_of_the_bare_strategy(strategy):
    arguments = {"num_rounds": 30, "step_size": 0.01, "gradient_noise": 1.0, "num_replicates": 2, "rng": 4}
    bare = ft.fedavg(FED, strategy, **arguments)
    wrapped = ft.fedavg(FED, Available(strategy, BernoulliAvailability(1.0)), **arguments)
    assert bare.gap.tobytes() == wrapped.gap.tobytes()
    np.testing.assert_array_equal(bare.counts, wrapped.counts)


@pytest.mark.parametrize(
    "strategy",
    [
        PowerOfChoice(1, 2),
        PowerOfChoice(2, 2),
        PowerOfChoice(1, 3),
        Uniform(2),
        Proportional(2),
        PowerOfChoice(1, "all"),
    ],
    ids=repr,
)
def test_those_present_are_selected_by_the_law_among_them(strategy):
    here, count = [0, 2, 4], 8000
    # Steps too short to move the model: in each round the losses are those at the initial model.
    start = np.full(5, 0.7)
    run = ft.fedavg(FED, Available(strategy, Fixed(*here)), num_rounds=count, step_size=1e-30, initial=start)
    p = WEIGHTS[here] / WEIGHTS[here].sum()
    # All candidates are as many as there are clients, here the three present.
    law = strategy.inclusion_probabilities(p, FED.losses(start)[here])
    copies = 2 if isinstance(strategy, Proportional) else 1
    spread = np.sqrt(np.maximum(law * (copies - law / copies), 0) / count)
    assert (np.abs(run.counts[0, here] / count - law) <= 5 * spread + 1e-12).all()


def test_absent_clients_that_a_rule_selects_are_removed():
    class Careless:
        def rules(self, weights, num_rounds):
            return Rules(draw_among_all, max_selected=1, table=np.cumsum(weights))

    wrapped = Available(Careless(), Fixed(0, 2, 4), "allow")
    careless = ft.fedavg(FED, wrapped, num_rounds=1, step_size=0.01, num_replicates=400)
    assert careless.counts[:, [1, 3]].sum() == 0
    assert abs(careless.counts.sum() / 400 - 0.6) < 5 * np.sqrt(0.24 / 400)  # two fifths of the rounds are lost


def draw_among_all(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = np.searchsorted(table, rng.random() * table[-1])
    return 1


def test_groups_take_turns_and_exactly_a_tenth_drops_out():
    rows = presences(AlternatingGroups(dropout=0.1), 40, 4000)
    assert (rows[::2, 20:] == 0).all()
    assert (rows[1::2, :20] == 0).all()
    assert (rows.sum(axis=1) == 18).all()
    # each member is there in nine tenths of its rounds: standard deviation sqrt(0.09 / 2000)
    assert np.abs(rows[::2, :20].mean(axis=0) - 0.9).max() < 5 * np.sqrt(0.09 / 2000)
    # all 190 pairs drop out equally often
    pairs = dict.fromkeys(itertools.combinations(range(20), 2), 0)
    for row in rows[::2, :20]:
        first, second = np.flatnonzero(~row)
        pairs[int(first), int(second)] += 1
    expected = 2000 / 190
    assert max(abs(n - expected) for n in pairs.values()) < 5.5 * np.sqrt(expected)


def test_of_an_odd_number_of_clients_the_first_half_is_larger():
    np.testing.assert_array_equal(presences(AlternatingGroups(dropout=0.0), 5, 2), [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]])


class OneByOne:
    """One client after the other, which the memory counts."""

    def attendance(self, num_clients):
        return AvailabilityRule(count_on, np.empty(0), np.zeros(1))


@njit
def count_on(round_index, table, memory, rng, present):
    for k in range(present.size):
        present[k] = k == memory[0]
    memory[0] += 1.0
    return 1


def test_every_replicate_begins_with_the_first_memory_of_the_availability():
    known = {"num_rounds": 3, "step_size": 0.1, "num_replicates": 5, "record": ("selected",)}
    found = ft.fedavg(FED, Available(Uniform(1), OneByOne()), **known).recorded("selected")
    assert found[:, :3, 0].tolist() == [[0, 1, 2]] * 5


def test_coins_have_their_probabilities_and_no_memory():
    p = np.array([0.0, 0.2, 0.9, 1.0])
    rows = presences(BernoulliAvailability(p), 4, 20_000).astype(float)
    assert (np.abs(rows.mean(axis=0) - p) <= 5 * np.sqrt(p * (1 - p) / 20_000)).all()
    together = (rows[1:, 1] * rows[:-1, 1]).mean()
    assert abs(together - 0.04) < 5 * np.sqrt(0.04 * 0.96 / 20_000)


@given(st.integers(0, 5), st.integers(1, 9), st.floats(0, 1))
def test_present_counts_are_right_for_any_parameters(seed, num_clients, share):
    for availability in (AlternatingGroups(share), BernoulliAvailability(share)):
        present, counts = attended(availability, num_clients, 5, seed)
        np.testing.assert_array_equal(counts, present.sum(axis=1))


def test_strategies_with_one_seed_meet_the_same_clients():
    runs = [
        ft.fedavg(FED, Available(s, BernoulliAvailability(0.5), "allow"), num_rounds=50, step_size=1e-3, rng=9)
        for s in (Full(), PowerOfChoice(5, "all"))
    ]
    np.testing.assert_array_equal(runs[0].counts, runs[1].counts)


def test_a_shortfall_is_refused_unless_allowed():
    arguments = {"num_rounds": 3, "step_size": 0.01}
    for strategy, present in ((PowerOfChoice(3, 4), Fixed(0, 1)), (Proportional(1), Fixed())):
        with pytest.raises(ValueError, match="clients must be available in every round"):
            ft.fedavg(FED, Available(strategy, present), **arguments)
    run = ft.fedavg(FED, Available(PowerOfChoice(3, 4), Fixed(0, 1), "allow"), **arguments)
    np.testing.assert_array_equal(run.counts, [[3, 3, 0, 0, 0]])


@pytest.mark.parametrize(
    ("availability", "covered"),
    [
        (BernoulliAvailability(0.5), True),
        (AlternatingGroups(), False),
        (Fixed(0), False),  # does not say whether it has a memory
    ],
)
def test_theorems_for_any_memoryless_selection_cover_memoryless_availability_only(availability, covered):
    scheme = Available(Proportional(2), availability).scheme
    assert power_of_choice.decaying_steps_gap.statement.accepts(scheme) is covered
    assert not fedavg.with_replacement_gap.statement.accepts(scheme)
    assert power_of_choice.client_drift.statement.accepts(scheme)
    # Where no client may be available, the aggregate is no mean.
    assert not power_of_choice.client_drift.statement.accepts(Available(Proportional(2), availability, "allow").scheme)
    assert not Available(ActiveFederated(2, (1,) * 6), availability).scheme.memoryless
