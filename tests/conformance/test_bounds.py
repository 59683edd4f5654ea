"""A user's bound can replace the bound of every claim that compares a value with a whole bound."""

import math
from typing import Any

import numpy as np
import pytest

from fedtheory.bounds.power_of_choice import gradient_norm
from fedtheory.conformance import check_bound
from fedtheory.theorem.claims import Claim
from fedtheory.verification import known_claims

COMPARED = [claim for claim in known_claims().values() if claim.bound is not None]
# What they say of single summands, a function that returns one number cannot answer.
OF_SUMMANDS = {"power-of-choice:bias-attained"}

UNHUNTED = {"survives a hunt": "it takes seconds to make a counterexample small"}


def is_asked(claim: Claim) -> bool:
    """Whether the claim's check asks whatever stands in for its bound."""
    try:
        check_bound.checks(lambda *_, **__: 0.0, claim, num_instances=2)
    except ValueError as error:
        return "must evaluate its bound as a whole" not in str(error)
    return True


@pytest.mark.slow
def test_every_claim_about_a_bound_asks_for_it_but_for_those_about_single_summands() -> None:
    assert len(COMPARED) > 100
    unasked = {claim.key for claim in COMPARED if not is_asked(claim)}
    assert unasked >= OF_SUMMANDS
    if unasked > OF_SUMMANDS:
        pytest.skip(f"nothing can stand in for the bound of {', '.join(sorted(unasked - OF_SUMMANDS))}")


@pytest.mark.parametrize("key", ["optimal-client-sampling:dsgd-contraction-worst-case", "fedavg:one-round-worst-case"])
def test_a_promise_below_the_worst_case_is_refuted_whatever_the_librarys_bound_says(key: str) -> None:
    def nothing(**_: Any) -> float:
        return 0.0

    found = check_bound(nothing, key, num_instances=1, exceptions=UNHUNTED)
    assert [failure.check for failure in found.failures] == ["holds"]


@pytest.mark.slow
def test_the_mean_of_squared_distances_may_not_be_one_percent_smaller() -> None:
    def mean(distances2: Any) -> Any:
        return sum(distances2) / len(distances2)

    options: dict[str, Any] = {"num_instances": 3, "exact": True, "exceptions": UNHUNTED}
    assert check_bound(mean, "power-of-choice:lemma-b3", **options).holds
    smaller = check_bound(lambda distances2: mean(distances2) * 99 / 100, "power-of-choice:lemma-b3", **options)
    assert [failure.check for failure in smaller.failures] == ["holds"]


def test_a_bound_may_return_a_number_of_numpy() -> None:
    def in_an_array(excess: Any, L: Any) -> Any:
        return np.array(gradient_norm(excess, L=L))

    for bound in (in_an_array, lambda excess, L: in_an_array(excess, L)[()]):
        found = check_bound(bound, "power-of-choice:lemma-b1", num_instances=3, exceptions=UNHUNTED)
        assert found.holds, found


def test_a_bound_may_be_infinite_on_some_instances_and_not_on_all() -> None:
    def of_some(excess: Any, L: Any) -> Any:
        return (
            gradient_norm(excess, L=L) if excess > 20 else math.inf
        )  # the first instance has 19.5, the next ones more

    assert check_bound(of_some, "power-of-choice:lemma-b1", num_instances=6, exceptions=UNHUNTED).holds
