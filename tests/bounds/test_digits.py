"""Every bound in doubles equals its formula in rationals, or in 500 digits, up to 2^-40, or errs on the safe side."""

# mypy: allow-untyped-calls

import contextlib
from fractions import Fraction as Q
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds import power_of_choice as poc
from fedtheory.verification import known_bounds
from tests.additions import leave_out_if_new

FORMS = {
    f"{name}{suffix}": form
    for name, bound in known_bounds().items()
    for suffix, form in (("", bound), ("-printed", bound.printed))
    if not suffix or form.__name__.startswith("_")
}
NAMES = {form: name.removesuffix("-printed") for name, form in FORMS.items()}
PROMISED = 2.0**-40  # of a value, by which it may lie on the wrong side of the exact one
LARGEST = float(np.finfo(np.float64).max)
LONGEST_SEQUENCE = 6


def by_name(forms):
    return pytest.mark.parametrize("bound", forms.values(), ids=forms.keys())


def draw_number(domain, rng, others):
    size = 10.0 ** rng.uniform(-10, 10)
    if others and rng.random() < 0.3:
        other = float(others[rng.integers(len(others))])
        size = [other, 1 / other if other else 1.0, 1.0][rng.integers(3)] * (1 + rng.integers(-2, 3) * 2.0**-52)
    if "positive" not in domain.assumptions and rng.random() < 0.1:
        return 0.0
    return -size if "real" in domain.assumptions and rng.random() < 0.5 else abs(size) or 1.0


def draw_count(domain, rng):
    largest = [2, 20, 10**20][rng.integers(3)]
    return int(largest ** rng.random()) - ("positive" not in domain.assumptions and rng.random() < 0.2)


def fitting(name, domain, number):
    """The number, or one made of it, that a domain takes."""
    for candidate in (number, 1 / number if number else 1.0, number % 1, number + 2):
        with contextlib.suppress(ValueError, TypeError):
            return float(domain.check(name, candidate))
    return pytest.skip(f"no numbers are drawn for {name} here")


def takes_sequences(bound):
    return {name for name, domain in bound.domains.items() if domain.is_sequence}


def draw(bound, rng):
    """Arguments within their domains, whatever the hypotheses say: the formula is at stake, not the theorem."""
    sequences, world = takes_sequences(bound), dict[str, Any]()
    for name, domain in bound.domains.items():
        others = [value for value in world.values() if isinstance(value, float)]
        if name in sequences:
            world[name] = [draw_number(domain, rng, others) for _ in range(LONGEST_SEQUENCE)]
        elif "integer" in domain.assumptions:
            world[name] = draw_count(domain, rng)
            if sequences and name == "num_steps":
                world[name] %= LONGEST_SEQUENCE
        else:
            world[name] = fitting(name, domain, draw_number(domain, rng, others))
    for pair in (("mu", "L"), ("num_selected", "num_clients")):
        if world.keys() >= set(pair):
            world.update(zip(pair, sorted(world[name] for name in pair), strict=True))
    if "imbalance2" in world:  # beyond eta mu = 1 its root may be imaginary
        world["step_size"] = min(world["step_size"], (1 - 2.0**-50) / world["mu"])
    if "beta2" in world:  # below 1 the root of Theorem 2 of FedNova may be imaginary
        world["beta2"] = max(world["beta2"], 1.0)
    horizon = next((name for name in ("num_steps", "num_rounds") if name in world and not sequences), None)
    if horizon and {"step_size", "mu"} <= world.keys() and rng.random() < 0.5:
        # as many steps as it takes to forget the start, a thousandth of it or a thousand times more
        world[horizon] = int(min(10.0 ** rng.uniform(-3, 3) / world["step_size"] / world["mu"], 1e18)) + 1
    return world


def has_roots(bound):
    """Whether the value may be irrational among rationals."""
    return any(power.exp == sympy.Rational(1, 2) for power in bound.symbolic().atoms(sympy.Pow))


def exact_terms(bound, world):
    """The summands in 500 digits, or None where the formula divides by zero."""
    horizon = max(world.get(name, 0) for name in ("num_steps", "num_rounds", "local_steps"))
    number = Q if horizon <= 20 and not has_roots(bound) else mpmath.mpf
    exact = {name: exactly(value, number) for name, value in world.items()}
    try:
        summands = bound.__wrapped__(**exact)
    except ZeroDivisionError:
        return None
    return {name: digits(summand) for name, summand in summands.items()}


def exactly(value, number):
    if isinstance(value, list):
        return tuple(map(Q, value))
    # Numbers of steps are exponents and lengths of arrays, unless they are beyond both.
    return value if isinstance(value, int) and value < 2**53 else number(value)


def digits(number):
    return mpmath.mpf(number.numerator) / number.denominator if isinstance(number, Q | int) else mpmath.mpf(number)


def keeps_the_promise(value, terms, side, unmet):
    sign = {"upper": 1, "lower": -1}[side]
    if terms is None:
        return value == sign * np.inf
    exact = mpmath.fsum(terms.values())
    if np.isinf(value):
        # Beyond the hypotheses, powers of numbers below -1 may cancel to anything.
        return value == sign * np.inf and (unmet or sign * exact > LARGEST)
    outward = sign * (mpmath.mpf(value) - exact)
    return outward >= -PROMISED * abs(mpmath.mpf(value))


def has_the_digits_of_its_summands(value, terms):
    if mpmath.fsum(terms.values()) > LARGEST:
        return value == np.inf
    return (
        abs(mpmath.mpf(value) - mpmath.fsum(terms.values()))
        <= PROMISED * mpmath.fsum(map(abs, terms.values())) + 1e-300
    )


@by_name(FORMS)
@pytest.mark.parametrize(
    ("seed", "count"), [(20, 12), pytest.param(21, 120, marks=(pytest.mark.slow, pytest.mark.long))]
)
def test_a_value_is_on_the_wrong_side_by_at_most_2_to_the_minus_40_of_itself(bound, seed, count):
    rng = np.random.default_rng(seed)
    with mpmath.workdps(500):
        for _ in range(count):
            world = draw(bound, rng)
            value, unmet = bound(**world, strict=False)
            terms = exact_terms(bound, world)
            assert keeps_the_promise(value, terms, bound.statement.side, unmet), world
            lost = not unmet and not has_the_digits_of_its_summands(value, terms)
            leave_out_if_new(NAMES[bound], "digits, which fedtheory.arithmetic.geometric keeps" if lost else "")
            assert not lost, world


def extreme_worlds(bound, rng):
    """Worlds of counts up to 20 with one number at the brink of what a double holds."""
    for name in (name for name, domain in bound.domains.items() if "integer" not in domain.assumptions):
        for extreme in (1e300, 1.7e308, 1e-300):
            drawn = draw(bound, rng).items()
            world = {key: 1 + value % 20 if isinstance(value, int) else value for key, value in drawn}
            yield {**world, name: [extreme] * LONGEST_SEQUENCE if name in takes_sequences(bound) else extreme}


def value_if_any(bound, world):
    """The value, unless the hypotheses are unmet or contradict each other."""
    try:
        value, unmet = bound(**world, strict=False)
    except ValueError:  # mu above L
        return None
    return None if unmet else value


@by_name(FORMS)
def test_a_bound_is_infinite_only_beyond_the_largest_double_however_far_doubles_overflow_on_the_way(bound):
    sign = {"upper": 1, "lower": -1}[bound.statement.side]
    worlds = list(extreme_worlds(bound, np.random.default_rng(23)))
    infinite = [world for world in worlds if (value := value_if_any(bound, world)) is not None and np.isinf(value)]
    with mpmath.workdps(500):
        assert [w for w in infinite if sign * mpmath.fsum(exact_terms(bound, w).values()) <= LARGEST] == []


def takes_arrays(bound):
    # the average of an array's last axis is a single number
    return not takes_sequences(bound) and bound is not poc.averaged_distance


@by_name({name: form for name, form in FORMS.items() if takes_arrays(form)})
def test_arrays_keep_the_promise_of_numbers(bound):
    rng = np.random.default_rng(21)
    worlds = [draw(bound, rng) for _ in range(8)]
    for world in worlds:
        # an array of counts holds 64 bits
        world.update({name: min(value, 10**18) for name, value in world.items() if isinstance(value, int)})
    values, _ = bound(**{name: np.array([world[name] for world in worlds]) for name in bound.domains}, strict=False)
    with mpmath.workdps(500):
        for value, world in zip(values, worlds, strict=True):
            terms, unmet = exact_terms(bound, world), bound(**world, strict=False)[1]
            assert keeps_the_promise(value, terms, bound.statement.side, unmet), world


NOISE_ALONE = {
    "L": 1.0, "local_steps": 1, "num_selected": 1, "G2": 1.0, "sigma2": 1.0, "objective_gap": 0.0,
    "rho_diagonal": 0.0, "rho_tilde": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("mu", [1e-4, 1e-8, 1e-12, 1e-100])
def test_one_step_of_noise_costs_half_its_variance_however_flat_the_objective(mu):
    # x = eta mu, so (1 - (1 - x)) 4 L eta sigma2/(8 mu) = L eta^2 sigma2/2, which w^2/2 with noise attains.
    value = poc.refined_fixed_step_gap(1, step_size=1e-5, mu=mu, initial_distance2=0.0, **NOISE_ALONE)
    assert value == pytest.approx(5e-11, rel=1e-15)
    horizons = poc.refined_fixed_step_gap(
        np.array([0, 1, 2]), step_size=1e-5, mu=mu, initial_distance2=0.0, **NOISE_ALONE
    )
    np.testing.assert_allclose(horizons, [0, 5e-11, 1e-10 * (1 - 1e-5 * mu / 2)], rtol=1e-15)


EVERYBODY = {"step_size": 0.5, "mu": 1e-3, "L": 1.0, "max_weight": 0.5, "sum_squared_weights": 0.5, "sigma2": 2.0}
LARGE_GAP = {**EVERYBODY, "relative_noise": 0.0, "objective_gap": 1e20}


def test_a_large_gap_does_not_swallow_the_noise_when_everybody_is_sampled():
    # gamma = 1 and M = 0: beta_1/gamma - beta_2 = sigma2 S2 = 1, of which eta^2 is a quarter.
    assert ocs.dsgd_strongly_convex(0.0, gap=0.0, gamma=1.0, **LARGE_GAP) == 0.25
    assert ocs.dsgd_contraction(0.0, smallest_gamma=1.0, mean_inverse_gamma=1.0, **LARGE_GAP) == 0.25


def test_what_is_left_by_the_longest_step_is_not_less_than_nothing():
    # mu = L and eta next to 1/L: 1 - mu eta is a rounding error, exactly 2^-53 here; the bound must not fall below it.
    step_size = 1 - 2.0**-53
    world = {"step_size": step_size, "mu": 1.0, "L": 1.0, "sum_squared_weights": 0.5, "sigma2": 0.0}
    assert ocs.full_participation(8.0, **world) == 8 * 2.0**-53
    third = {**world, "mu": 3.0, "L": 3.0, "step_size": 1 / 3}
    assert Q(ocs.full_participation(8.0, **third)) >= 8 * (1 - 3 * Q(1 / 3)) > 0
    assert ocs.full_participation(8.0, **{**world, "step_size": 1.0}) == 0.0
