"""Rates of error feedback, FedProx and stochastic gradients, against an independent program."""

from fractions import Fraction as Q

import pytest

from fedtheory.bounds import error_feedback as ef
from fedtheory.bounds import fedprox, sgd
from fedtheory.worst_case import compression, proximal_rounds
from fedtheory.worst_case.heterogeneous_rounds import heterogeneous_round

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
