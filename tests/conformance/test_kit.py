"""What the kit says and when it stops: readable, escaped, one sentence each, exceptions with reasons, no hang."""

import random
import threading
import time
import unittest
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import Conformance, Failure, _declared, _selecting, _selection_laws, strategy_checks
from fedtheory.conformance._manners import Subject
from fedtheory.conformance._patience import Broken, Watch
from fedtheory.conformance._selecting import Case, played
from fedtheory.conformance.checks import FALSE_ALARMS
from fedtheory.selection.full import Full
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.uniform import Uniform
from fedtheory.testing import checks_of
from fedtheory.valuation import shapley
from fedtheory.verification import check_aggregation, check_bound, check_probabilities, check_shapley, check_strategy

HOSTILE = "<script>alert('&')</script>"


def everybody(rng, weights, losses):
    return range(len(weights))


def hostile(rng, weights, losses):
    raise ValueError(HOSTILE)


def test_what_is_shown_fits_80_columns_and_markup_stays_text() -> None:
    hostile.__qualname__ = HOSTILE
    found = check_strategy(hostile)
    assert not found.holds
    assert max(map(len, repr(found).splitlines())) <= 80
    assert HOSTILE in repr(found)
    assert "<script>" not in found._repr_html_()
    assert found._repr_html_().count("&lt;script&gt;") == 2  # the name, and what was raised


def test_a_long_name_and_a_long_case_are_cut() -> None:
    failure = Failure("range", "clients must be in 0..4, got 5", {"losses": np.arange(1000.0)})
    found = Conformance("f" * 200, ("runs", "range"), (failure,), {"history": "it remembers on purpose"})
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].endswith("...: fails 1 of 2 checks")
    assert len(lines) < 12
    assert "not asked, history: it remembers on purpose" in repr(found)


def test_code_that_does_not_run_is_told_once() -> None:
    assert [failure.check for failure in check_strategy(hostile).failures] == ["runs"]


def test_a_check_can_be_excepted_with_a_reason_and_pytest_is_told() -> None:
    def first(rng, weights, losses):
        return [0]

    reasons = dict.fromkeys(("relabeling", "fair ties"), "client 0 is the server's own")
    assert [failure.check for failure in check_strategy(first).failures] == list(reasons)
    found = check_strategy(first, exceptions=reasons)
    assert found.holds
    assert found.excepted == reasons
    assert not set(reasons) & set(found.checks)
    [excepted, *_] = [check for check in checks_of(first, exceptions=reasons) if check.name == "relabeling"]
    with pytest.raises(unittest.SkipTest, match="client 0 is the server's own"):
        excepted()


def test_a_check_that_fails_says_so_by_an_assertion_error() -> None:
    [check] = [check for check in checks_of(hostile) if check.name == "ties"]
    with pytest.raises(AssertionError, match=r"^ties: raised ValueError: <script>"):
        check()
    assert repr(check) == "<check 'ties'>"


def test_what_hangs_is_stopped_and_nothing_is_asked_after_it() -> None:
    def hangs(rng, weights, losses):
        while True:
            pass

    before, started = threading.active_count(), time.monotonic()
    found = check_strategy(hangs, patience=0.2)
    assert [failure.sentence for failure in found.failures] == ["did not return within 0.2 s"]
    # Plain Python is stopped, not left behind.
    while threading.active_count() > before and time.monotonic() - started < 20:
        time.sleep(0.05)
    assert threading.active_count() == before


def test_patience_is_for_each_call_and_not_for_all_of_them() -> None:
    watch = Watch(1.0)
    assert watch.over(lambda: [watch.call(time.sleep, 0.3, case={}) for _ in range(4)]) == [None] * 4
    assert not watch.hung


def test_to_wait_takes_no_processor_from_what_is_waited_for() -> None:
    before = time.thread_time()
    Watch(10.0).over(lambda: time.sleep(0.4))
    assert time.thread_time() - before < 0.05  # a hundredth where others use it, too


def test_the_global_generators_are_left_as_they_were() -> None:
    def careless(rng, weights, losses):
        return [int(random.random() + np.random.random())]  # noqa: NPY002 (the defect)

    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 (what must not move)
    check_strategy(careless, num_draws=20)
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


def test_the_same_seed_gives_the_same_verdict_and_the_same_case() -> None:
    def biased(rng, weights, losses):
        return [int(rng.random() < 0.4)]

    one, two = (check_strategy(biased, like=Uniform(1), rng=3) for _ in range(2))
    assert repr(one) == repr(two)
    assert not one.holds


def test_the_checks_of_a_call_and_their_cases_share_its_rate_of_false_alarms(monkeypatch) -> None:
    spent: list[float] = []
    for module, name in ((_declared, "_sampled"), (_selection_laws, "_equal_under"), (_selection_laws, "_has_law")):
        monkeypatch.setattr(module, name, lambda *arguments: spent.append(arguments[-1]))
    strategy = PowerOfChoice(2, 4)
    assert check_strategy(strategy, like=strategy, num_draws=8).holds
    # Of six random checks all but the one of many clients have several cases: 2, 2, 5, 3 and 3.
    assert len(spent) == 15
    assert sum(spent) == pytest.approx(FALSE_ALARMS * 5 / 6)


def test_updates_grow_with_the_size_of_losses_of_any_sign_and_stay_finite() -> None:
    case = Case(np.full(4, 0.25), np.array([-4.0, 9.0, 0.25, -1e300]))
    updates = played(Full(), Watch(10.0), case)(np.random.default_rng(0)).updates
    assert updates[:, 0].tolist() == [2.0, 3.0, 0.5, 1e9]


def test_the_weights_of_those_who_are_there_sum_to_one_and_the_absent_have_minus_one() -> None:
    case = Case(np.array([0.5, 0.25, 0.125, 0.125]), np.arange(4.0))

    def weights_without(*absent: int) -> list[float]:
        def attend(round_index, table, memory, rng, mask):
            assert round_index == 0
            mask[list(absent)] = False

        rules: Any = SimpleNamespace(attend=attend, attend_table=np.zeros(1), attend_memory=np.zeros(1))
        there = _selecting._attend(rules, case, np.random.default_rng(0))
        assert np.flatnonzero(~there.mask).tolist() == list(absent)
        return there.weights.tolist()

    assert weights_without() == [0.5, 0.25, 0.125, 0.125]
    assert weights_without(0) == [-1.0, 0.5, 0.25, 0.25]
    assert weights_without(0, 2, 3) == [-1.0, 1.0, -1.0, -1.0]
    assert weights_without(0, 1, 2, 3) == [-1.0] * 4


def test_one_value_among_numbers_that_is_none_is_seen() -> None:
    def half_a_number(utility, n):
        return [np.nan, *shapley(utility, n)[1:]]

    assert "values must be finite, got [nan, " in repr(check_shapley(half_a_number))


def test_a_verdict_is_printed_in_80_columns_and_no_word_is_torn_at_its_hyphen() -> None:
    for blanks in range(12):
        sentence = "x" * blanks + " " + "pow-d takes one-third " * 9
        found = Conformance("f", ("range",), (Failure("range", sentence, {"case": sentence}),), {"runs": sentence})
        lines = repr(found).splitlines()
        assert 72 < max(map(len, lines)) <= 80
        assert not any(line.endswith("-") for line in lines)


def test_a_verdict_without_a_word_to_add_is_a_line_in_a_notebook() -> None:
    assert Conformance("f", ("runs", "range"), (), {})._repr_html_() == "<p>f: passes 2 checks</p>"


def test_a_coalition_that_is_a_number_is_told_as_none() -> None:
    first, *_ = check_shapley(lambda utility, n: [utility(k) for k in range(n)]).failures
    assert first.sentence == "must ask for coalitions of players, asked for 0"


def test_batches_double_until_everything_is_drawn(monkeypatch) -> None:
    assert list(_selection_laws.grown(2)) == [2]
    assert list(_selection_laws.grown(300)) == [125, 125, 50]
    assert list(_selection_laws.grown(1000)) == [125, 125, 250, 500]
    # Begun at 70 s, there is time at 70, at 71 and at 74.9 s, and none at 75.1 s.
    monkeypatch.setattr(time, "monotonic", iter([70.0, 70.0, 71.0, 74.9, 75.1]).__next__)
    assert list(_selection_laws.grown(10**6)) == [125, 125, 250]


def test_an_odd_number_of_clients_is_renumbered_backward_or_with_the_second_half_first(monkeypatch) -> None:
    orders: list[Any] = []
    monkeypatch.setattr(_selection_laws, "_equal_under", lambda _, __, order, *___: orders.append(order.tolist()))
    checks = {check.name: check for check in strategy_checks(everybody, num_clients=5)}
    checks["relabeling"]()
    assert orders == [[4, 3, 2, 1, 0], [3, 4, 0, 1, 2]]
    check = {check.name: check for check in strategy_checks(everybody, num_clients=3, num_draws=8)}["fair ties"]
    check()


def test_of_weights_of_ones_own_nothing_is_asked_that_needs_others() -> None:
    def largest(rng, weights, losses):
        return np.lexsort((rng.random(4), losses))[-2:]

    options: dict[str, Any] = {"like": PowerOfChoice(2, "all"), "num_clients": 4, "num_draws": 150}
    own = strategy_checks(largest, weights=[0.4, 0.3, 0.2, 0.1], **options)
    others = {"zero weights", "relabeling", "fair ties", "many clients"}
    assert {check.name for check in strategy_checks(largest, **options)} - {check.name for check in own} == others
    assert [check.failure() for check in own] == [None] * len(own)


@pytest.mark.parametrize(
    ("copies", "expected", "most"),
    [(True, [0.25, 0.0, 0.125], 1.0), (True, [1.5, 0.25, 1.4999], 3.0), (False, [1.0, 1.0, 1.0], 1.0)],
)
def test_nobody_is_taken_more_often_than_clients_are_drawn(copies: bool, expected: list[float], most: float) -> None:
    nothing: Any = None
    assert Subject("f", nothing, nothing, nothing, nothing, copies).most_copies(np.array(expected)) == most


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_copies_of_many_clients_are_counted(share: float) -> None:
    # Each of 300 clients is drawn half a time a round; who is drawn twice or more counts twice or more.
    like = SimpleNamespace(inclusion_probabilities=lambda weights, _: 150 * share * weights)
    prepare: Any = lambda case: lambda rng: rng.choice(case.num_clients, 150, p=case.weights).tolist()  # noqa: E731
    nothing: Any = None
    subject = Subject("f", nothing, prepare, nothing, nothing, copies=True)
    many = partial(_selection_laws._many, subject, like, 1000, np.random.SeedSequence(0), 1e-6)
    if share == 1:
        many()
    else:
        with pytest.raises(Broken, match=r"must select client \d+ of 300 \S+ times a round, and did \d+ times in \d+"):
            many()


def test_a_law_of_another_number_of_clients_is_not_asked_about_many() -> None:
    def of_six(weights, losses):
        raise ValueError

    like = SimpleNamespace(inclusion_probabilities=of_six)
    subject: Any = SimpleNamespace()  # it has nothing that could be asked
    assert _selection_laws._many(subject, like, 8, np.random.SeedSequence(0), 1e-6) is None  # type: ignore[func-returns-value]


def test_who_waits_can_be_interrupted_and_leaves_nothing_running(monkeypatch) -> None:
    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    def hangs(rng, weights, losses):
        while True:
            pass

    before, started = threading.active_count(), time.monotonic()
    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check_strategy(hangs, patience=20)
    while threading.active_count() > before and time.monotonic() - started < 10:
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_strategy(3), TypeError, r"strategy must be a strategy or a function .*, got 3"),
        (lambda: check_strategy(Uniform), TypeError, "got the class Uniform"),
        (
            lambda: check_strategy(everybody, like=GreedyShapley(2)),
            TypeError,
            "like must be a strategy whose joint law",
        ),
        (lambda: check_strategy(everybody, like=Independent(2)), TypeError, "like must be a strategy whose joint law"),
        (lambda: check_strategy(everybody, like=PowerOfChoice(1, 2, loss="last")), TypeError, "like must be"),
        (
            lambda: check_strategy(everybody, exceptions={"luck": "none"}),
            ValueError,
            "exceptions must name checks, runs",
        ),
        (lambda: check_strategy(everybody, exceptions={"ties": " "}), ValueError, "exceptions must give reasons"),
        (lambda: check_strategy(everybody, patience=0), ValueError, "patience must be finite and positive"),
        (lambda: check_probabilities(everybody, rtol=-1), ValueError, "rtol must be finite and positive"),
        (lambda: check_strategy(everybody, num_draws=1), ValueError, "num_draws must be at least 2, got 1"),
        (lambda: check_aggregation(everybody, num_draws=1), ValueError, "num_draws must be at least 2, got 1"),
        (lambda: check_shapley(everybody, num_draws=1), ValueError, "num_draws must be at least 2, got 1"),
        (lambda: check_shapley(everybody, largest=0), ValueError, "largest must be finite and positive"),
        (lambda: check_shapley(everybody, exact=1), TypeError, "exact must be True or False"),
        (lambda: check_bound(everybody, "power-of-choice:displacement"), ValueError, "claim must compare with a bound"),
        (lambda: check_bound(everybody, "power-of-choice:bias-attained"), ValueError, "claim must ask for its bound"),
        (lambda: checks_of(everybody, by=print), ValueError, "by must be one of check_strategy, check_probabilities"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
