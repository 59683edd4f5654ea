"""The hypotheses of every bound equal those of the documents, and hypotheses about numbers are checked.

``hypotheses_of_the_documents`` was transcribed from the papers and theory pages. Bounds that it does not list are
skipped by name.
"""

import re
from typing import Any

import pytest

from fedtheory.bounds import optimal_client_sampling
from fedtheory.errors import AssumptionViolated
from tests.additions import leave_out_if_new
from tests.bounds import worlds
from tests.bounds.demands import DEMANDS
from tests.bounds.hypotheses_of_the_documents import EXPECTED
from tests.bounds.test_transcriptions import forms

FORMS = [(f"{param.values[0]}-{param.values[1]}", param.values[2]) for param in forms()]
KEYS = [key for key, _ in FORMS]


def expected(key):
    """The demands of a form in the documents; without a list the test is left out."""
    if key not in EXPECTED:
        pytest.skip(f"{key} has no hypotheses in tests/bounds/hypotheses_of_the_documents.py")
    return EXPECTED[key]


def base(key, bound):
    """A world that has the arguments of every bound and meets all demands of this one, with room on all sides."""
    world: dict[str, Any] = {}
    for paper in ("optimal_client_sampling", "fedalign", key.split(".")[0]):
        world |= worlds.world(paper, worlds.generator(3), num_clients=4, num_selected=3, local_steps=3)
    return world


def moved(key, bound, change):
    world = base(key, bound)
    return worlds.pick(bound, {**world, **change(world)})


def said(bound):
    """The demands that the texts of the hypotheses make, as often as they make them."""
    return [
        name
        for hypothesis in bound.hypotheses
        for name, demand in DEMANDS.items()
        if re.search(demand.phrase, hypothesis.text)
    ]


def refusals(bound, arguments):
    """What a bound has against these numbers."""
    try:
        return bound(**arguments, strict=False)[1]
    except ValueError as error:
        return [str(error)]


def enforced(key, bound, name):
    """Whether numbers beyond the brink are refused, for that reason."""
    beyond = moved(key, bound, DEMANDS[name].outside)
    return any(re.search(DEMANDS[name].phrase, reason) for reason in refusals(bound, beyond))


def made(key, bound):
    """The demands that the bound makes: in words where it is about functions, in deeds where it is about numbers."""
    mentioned = expected(key) | set(said(bound))
    readable = {name for name in mentioned if DEMANDS[name].outside is not None}
    return (set(said(bound)) - readable) | {name for name in readable if enforced(key, bound, name)}


@pytest.mark.parametrize(("key", "bound"), FORMS, ids=KEYS)
def test_the_hypotheses_are_those_of_the_documents(key, bound):
    assert made(key, bound) == expected(key)


@pytest.mark.parametrize(("key", "bound"), FORMS, ids=KEYS)
def test_numbers_at_the_brink_are_accepted_and_those_beyond_are_refused_by_name(key, bound):
    demands = {name: DEMANDS[name] for name in sorted(expected(key))}
    for name, demand in demands.items():
        reasons = [] if demand.inside is None else refusals(bound, moved(key, bound, demand.inside))
        assert not any(re.search(demand.phrase, reason) for reason in reasons), name
        assert reasons == [] or demand.implied, name
    for beyond in (demand.outside for demand in demands.values() if demand.outside):
        with pytest.raises(AssumptionViolated):
            bound(**moved(key, bound, beyond))


@pytest.mark.parametrize(("key", "bound"), FORMS, ids=KEYS)
def test_doubles_are_forgiven_their_rounding_and_nothing_more(key, bound):
    # Eight roundings; two sides of a sum over all clients may differ by more.
    allowed = {hypothesis.text: getattr(hypothesis, "rtol", 0.0) for hypothesis in bound.hypotheses}
    more = {text: rtol for text, rtol in allowed.items() if rtol > 8 * 2.0**-52 and "sum_squared" not in text}
    leave_out_if_new(key.partition("-")[0], f"a reason for more rounding in {more}" if more else "")
    assert more == {}
    assert max(allowed.values(), default=0.0) <= 1e-12


def test_what_is_expected_is_expected_of_bounds_that_exist():
    assert set(EXPECTED) - set(KEYS) == set()


def test_equation_21_is_false_with_multiplicative_noise():
    # One client f = x^2/2 at x = 1 with noise +-x (M = 1) and the longest step 1 lands on +-1; (21) promises 0.
    landed = [1 - 1 * (1 + noise) for noise in (1, -1)]
    assert sum(x**2 for x in landed) / 2 == 1
    for bound in (optimal_client_sampling.full_participation, optimal_client_sampling.full_participation_distance):
        assert bound(1, **_parabola(bound)) == 0
        assert "no multiplicative noise" in said(bound)


def _parabola(bound):
    constants = {"initial_distance2": 1, "step_size": 1, "mu": 1, "L": 1, "sum_squared_weights": 1, "sigma2": 0}
    return worlds.pick(bound, constants)
