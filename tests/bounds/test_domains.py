"""Every argument of every bound is rejected by name outside its domain, and its symbol has the right sign."""

from fractions import Fraction as Q

import pytest

from fedtheory.bounds import fedalign
from tests.bounds import worlds
from tests.bounds.test_transcriptions import forms

COUNTS = {"num_clients", "num_selected", "local_steps", "num_draws"}
HORIZONS = {"num_steps", "num_rounds"}
POSITIVE = {
    *("mu", "L", "step_size", "server_step_size", "gamma", "smallest_gamma", "mean_inverse_gamma"),
    *("max_weight", "sum_squared_weights", "squared_weights"),
}
REAL = {"value", "value_difference"}
SKEWS = {"rho_bar", "rho_diagonal", "rho_tilde"}  # a negative one meets the hypothesis that forbids it
FORMS = [pytest.param(param.values[0], param.values[2], id=param.id) for param in forms()]


def impossible(name, argument):
    """Values that the argument cannot have, each with the error."""
    if argument in COUNTS:
        return [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)]
    if argument in HORIZONS:
        return [(-1, ValueError), (2.0, TypeError), (True, TypeError)]
    unreal = [(float("nan"), ValueError), (float("inf"), ValueError), ("1", TypeError), (True, TypeError)]
    if argument in REAL:
        return unreal
    if argument in POSITIVE and (name, argument) != ("optimal_client_sampling.perturbed_inner_product", "mu"):
        return [(0, ValueError), (-0.5, ValueError), *unreal]
    return [(-0.5, ValueError), (-Q(1, 10**9), ValueError), *unreal]


def world_of(name, bound):
    return worlds.draw(name, bound, worlds.generator(3))


@pytest.mark.parametrize(("name", "bound"), FORMS)
def test_what_an_argument_cannot_be_is_refused_by_name(name, bound):
    arguments = world_of(name, bound)
    for argument, fine in arguments.items():
        for value, error in impossible(name, argument):
            if not isinstance(fine, list):
                bad = value
            elif value is True or isinstance(value, Q):
                continue  # an array of numbers takes both for floating-point numbers
            else:
                bad = [value, *map(float, fine[1:])]
            with pytest.raises(error, match=argument):
                bound(**{**arguments, argument: bad})


@pytest.mark.parametrize(("name", "bound"), FORMS)
def test_symbols_know_their_sign(name, bound):
    for symbol in bound.symbolic().free_symbols:
        if isinstance(world_of(name, bound).get(symbol.name, []), list):
            assert symbol.is_nonnegative
            continue
        assert symbol.is_integer is (True if symbol.name in COUNTS | HORIZONS else None)
        assert symbol.is_nonnegative is (None if symbol.name in REAL else True)
        assert symbol.is_positive or symbol.name not in COUNTS | POSITIVE or name.endswith("inner_product")


def test_a_sequence_is_of_rationals_or_of_floating_point_numbers():
    constants = {"mu": 1, "L": 2, "local_steps": 1, "G2": 9, "sigma2": 1, "objective_gap": 1, "initial_distance2": 1}
    sequences = {"priority_weights": [Q(1, 2), 1], "included_gaps": [Q(1, 4), Q(1, 4)]}
    exact = fedalign.recursion_gap(2, **constants, **sequences)
    floats = fedalign.recursion_gap(2, **constants, priority_weights=[0.5, 1], included_gaps=[0.25, 0.25])
    assert floats == pytest.approx(float(exact), rel=1e-14)
    with pytest.raises(TypeError, match="priority_weights"):
        fedalign.recursion_gap(2, **constants, priority_weights=[Q(1, 2), 0.5], included_gaps=[0.25, 0.25])
