"""Rates of error feedback, FedProx and stochastic gradients, against an independent program."""

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.bounds import error_feedback as ef
from fedtheory.bounds import fedprox, sgd
from fedtheory.worst_case import compression, proximal_rounds
from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round
from fedtheory.worst_case.problem import Problem

TENTH = {"mu": Q(1, 10), "L": Q(1)}
HALF = {**TENTH, "compression_error": Q(1, 2)}
BEST = Q(20, 33)  # 2/(L + mu) (1 - s)/(1 + s)
BEST_ALONE = Q(40, 31)  # 2/((1 + s) L + (1 - s) mu)


@pytest.mark.parametrize(
    ("mu", "s", "step_size", "rate"),
    [
        (Q(3, 5), Q(1, 3), Q(5, 8), Q(4, 9)),
        (Q(7, 8), Q(1, 3), Q(8, 15), Q(9, 25)),
        (Q(5, 16), Q(1, 3), Q(16, 21), Q(49, 81)),
        (Q(1, 10), Q(1, 2), BEST, 0.884808290633),
        (Q(1, 10), Q(1, 10), Q(180, 121), 0.728504656739),
        (Q(1, 10), Q(1, 2), Q(3, 10) * BEST, 0.964184636),
        (Q(1, 10), Q(1, 2), Q(21, 20) * BEST, 0.940911873),
        (Q(1, 10), Q(1, 2), Q(11, 10) * BEST, 1),
    ],
)
@pytest.mark.parametrize("bound", [ef.ef_round, ef.ef21_round], ids=["EF", "EF21"])
def test_a_round_with_memories_leaves_this_share_of_the_potential(bound, mu, s, step_size, rate) -> None:
    found = bound(Q(1), mu=mu, L=Q(1), compression_error=s, step_size=step_size)
    assert float(found) == pytest.approx(float(rate), rel=1e-9)
    assert isinstance(rate, float) or found == rate


@pytest.mark.parametrize("method", [compression.error_feedback, compression.ef21], ids=["EF", "EF21"])
def test_rounds_with_memories_have_the_worst_case_of_one_round_to_their_number(method) -> None:
    for num_rounds in (1, 3):
        lower, upper = method(num_rounds, BEST, potential=1, **HALF).enclosure
        assert float(lower) == pytest.approx(0.884808290633**num_rounds, rel=1e-6)
        assert float(upper) == pytest.approx(0.884808290633**num_rounds, rel=1e-6)


def test_compressed_gradients_contract_losses_and_not_distances() -> None:
    assert ef.cgd_gap(1, step_size=BEST_ALONE, initial_gap=Q(1), **HALF) == Q(841, 961)
    published = ef.cgd_gap(1, step_size=Q(40, 33), initial_gap=Q(1), **HALF)
    assert float(published) == pytest.approx(0.882460973, rel=1e-9)
    lower, upper = compression.compressed_gradients(1, BEST_ALONE, gap=1, error="distance2", **HALF).enclosure
    assert float(lower) == pytest.approx(1.233137829912, rel=1e-6)
    assert float(upper) == pytest.approx(1.233137829912, rel=1e-6)


@pytest.mark.parametrize(
    ("negative", "weight", "B", "inexactness", "K", "descent"),
    [
        (0, 10, 1, 0, 10, 0.029334368540),
        (0, 10, 2, 0, 10, -0.073219806740),
        (0, 24, 2, 0, 100, 0.020834034810),
        (Q(1, 2), 20, Q(3, 2), Q(1, 10), 50, 0.014615976331),
    ],
)
def test_fedprox_as_published_promises_this_descent(negative, weight, B, inexactness, K, descent) -> None:
    known = {"L": 1, "negative_curvature": negative, "proximal_weight": weight, "gradient_dissimilarity": B}
    change = fedprox.loss_change.printed(1, inexactness=inexactness, num_selected=K, **known)
    assert -float(change) == pytest.approx(descent, rel=1e-9)


@pytest.mark.parametrize(("weight", "B", "worst", "derived"), [(4, 1, 0.18, 0.15625), (10, 2, 0.0826343, 0.06)])
def test_fedprox_with_exact_answers_descends_by_this_at_least(weight, B, worst, derived) -> None:
    known = {"L": 1, "negative_curvature": 0, "gradient_dissimilarity": B}
    assert -fedprox.loss_change(1, proximal_weight=weight, inexactness=0, **known) == pytest.approx(derived, rel=1e-15)
    for end in proximal_rounds.fedprox(weight, **known).enclosure:
        assert -float(end) == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize(("step_size", "expected"), [(Q(1), 2.391927048976), (Q(1, 4), 1.021112781876)])
def test_a_step_of_one_client_is_bounded_by_what_is_attained(step_size, expected) -> None:
    known = {**TENTH, "step_size": step_size, "distance2": 1, "zeta2": 1}
    assert sgd.drawn_step(num_selected=1, **known) == pytest.approx(expected, rel=1e-11)
    for end in heterogeneous_round(1, num_selected=1, sampling="independent", **known).enclosure:
        assert float(end) == pytest.approx(expected, rel=1e-6)


def test_of_two_drawn_clients_the_bound_is_not_attained() -> None:
    known = {**TENTH, "step_size": Q(1, 4), "distance2": 1, "zeta2": 1}
    assert sgd.drawn_step(num_selected=2, **known) == pytest.approx(0.985909156096, rel=1e-11)
    for end in heterogeneous_round(1, num_clients=2, num_selected=2, sampling="independent", **known).enclosure:
        assert float(end) == pytest.approx(0.983780020, rel=1e-6)


def test_two_steps_of_two_clients_cost_less_than_the_bound_on_a_step_applied_twice() -> None:
    known = {**TENTH, "step_size": 1, "num_selected": 1, "zeta2": 1}
    twice = sgd.drawn_step(sgd.drawn_step(1, **known), **known)
    assert twice == pytest.approx(3.6645782, rel=1e-7)
    p = Problem()
    losses = [p.function(**TENTH) for _ in range(2)]
    best, w = (losses[0] + losses[1]).minimizer(), p.point("start")
    p.at_most((w - best).square, 1, name="distance2")
    p.at_most(p.mean([f.gradient(best).square for f in losses]), 1, name="zeta2")
    once = [w - f.gradient(w) for f in losses]
    p.maximize(p.mean([(x - f.gradient(x) - best).square for x in once for f in losses]))
    for end in p.solve().enclosure:
        assert float(end) == pytest.approx(3.2942853, rel=1e-6)


def test_a_step_from_the_minimizer_is_as_long_as_the_gradients_there() -> None:
    known: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "step_size": Q(1, 4), "distance2": 0, "zeta2": 1}
    lower, upper = heterogeneous_round(1, num_selected=1, sampling="independent", **known).enclosure
    assert lower <= Q(1, 16) <= upper
