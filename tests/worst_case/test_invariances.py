"""Methods that a linear tilt of each client's function does not change: both sides, and programs that only look so."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.worst_case import Problem
from fedtheory.worst_case._certificates import FeasiblePoint, forms_at
from tests.worst_case.gallery.examples import begun

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1}
HALF, QUARTER = Q(1, 2), Q(1, 4)


def clients(p: Problem, tilted: bool, num_clients: int = 2, **of: Any) -> tuple[Any, Any]:
    """Return clients whose gradients at the minimizer are arbitrary, or 0, and the minimizer."""
    c = p.clients(num_clients, **(of or CLASS))
    return c, c.minimizer(p.origin) if tilted else c.minimizer(p.origin, objective_gap=0)


def feddyn(tilted: bool, **of: Any) -> Problem:
    p = Problem()
    c, best = clients(p, tilted, **of)
    w, kept = p.point("w"), p.point("kept") + c.deviation()
    p.at_most((w - best).square + (kept - c.gradient(best)).square, 1, name="potential")
    y = c.proximal(w + kept, 1)
    kept = kept - (y - w)
    p.maximize((c.mean(y - kept) - best).square + (kept - c.gradient(best)).square)
    return p


def gradient_tracking(tilted: bool) -> Problem:
    p = Problem()
    c, best = clients(p, tilted)
    x, error = p.point("x") + c.deviation(), c.deviation()
    slope = c.gradient(x)
    track = c.mean(slope) + error
    p.at_most((x - best).square + QUARTER**2 * error.square, 1, name="potential")
    after = HALF * (x + c.mean(x)) - QUARTER * track
    track = HALF * (track + c.mean(track)) + c.gradient(after) - slope
    p.maximize((after - best).square + QUARTER**2 * (track - c.mean(track)).square)
    return p


def proximal_round(tilted: bool, **of: Any) -> Problem:
    """Take a proximal step of each client, less its gradient at the minimizer."""
    p = Problem()
    c, best = clients(p, tilted, **of)
    y = c.proximal(begun(p, best) + HALF * c.gradient(best), HALF)
    p.maximize((y - best).square)
    return p


def noisy_proximal_round(tilted: bool) -> Problem:
    p = Problem()
    c, best = clients(p, tilted)
    w, own = begun(p, best), c.gradient(best)
    y = c.proximal(w - HALF * (c.stochastic_gradient(w, variance=1) - 2 * own), HALF)
    p.maximize(c.sample(1).square(y - best))
    return p


def splitting(tilted: bool, **of: Any) -> Problem:
    """Reflect at the mean and at each client (FedSplit)."""
    p = Problem()
    c, best = clients(p, tilted, **of)
    s, fixed = p.point("s") + c.deviation(), best - c.gradient(best)
    p.at_most((s - fixed).square, 1, name="distance2")
    mean = c.mean(s)
    p.maximize((s + 2 * (c.proximal(2 * mean - s, 1) - mean) - fixed).square)
    return p


def regularized(tilted: bool, **of: Any) -> Problem:
    """Take a gradient step of all clients and a proximal step of the server's function."""
    p = Problem()
    c, f = p.clients(3, **CLASS), p.function(**of)
    F = c + f
    best = F.minimizer(p.origin) if tilted else F.minimizer(p.origin, objective_gap=0)
    w = begun(p, best)
    p.maximize((f.proximal(w - QUARTER * c.mean(c.gradient(w)), QUARTER) - best).square)
    return p


QUADRATIC, NONSMOOTH = {**CLASS, "quadratic": True}, {"mu": Q(1, 10)}
METHODS: dict[str, Callable[[bool], Problem]] = {
    "FedDyn": feddyn,
    "gradient tracking": gradient_tracking,
    "proximal round": proximal_round,
    "proximal round, nonsmooth": lambda tilted: proximal_round(tilted, **NONSMOOTH),
    "proximal round with noise": noisy_proximal_round,
    "splitting": splitting,
    "regularized, quadratic": lambda tilted: regularized(tilted, **QUADRATIC),
}


@pytest.mark.parametrize("method", METHODS)
def test_both_sides_of_a_method_that_no_tilt_changes_agree(method: str) -> None:
    assert METHODS[method](True).solve().relative_width < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_no_tilt_changes_has_the_value_that_it_has_without_tilts(method: str) -> None:
    tilted, plain = METHODS[method](True).solve(), METHODS[method](False).solve()
    assert tilted.value == pytest.approx(plain.value, rel=1e-6)
    assert tilted.verify() == tilted.enclosure


def test_a_run_of_tilted_quadratics_stays_below_the_upper_side_of_feddyn() -> None:
    upper, rng = float(feddyn(True).solve().enclosure[1]), np.random.default_rng(0)
    reached = 0.0
    for _ in range(100):
        h = rng.choice([0.1, 1.0, rng.uniform(0.1, 1.0)], size=2)
        tilt = 10.0 ** rng.integers(0, 4) * np.array([1.0, -1.0])
        w, error = rng.normal(size=2)
        kept = tilt + error
        # y = w + kept - (h y + tilt)
        y = (w + kept - tilt) / (1 + h)
        after = kept - (y - w)
        before = w**2 + error**2
        reached = max(reached, ((y - after).mean() ** 2 + ((after - tilt) ** 2).mean()) / before)
    assert 0.9 * upper < reached < upper * (1 + 1e-9)


def with_heterogeneity(p: Problem, c: Any, best: Any) -> Any:
    c.heterogeneity(zeta2=1)
    return c.proximal(begun(p, best) + HALF * c.gradient(best), HALF) - best


def with_a_bounded_memory(p: Problem, c: Any, best: Any) -> Any:
    kept = c.deviation()
    p.at_most(kept.square, 1)
    p.at_most((kept - c.gradient(best)).square, 1)
    return c.proximal(begun(p, best) + HALF * kept, HALF) - best


def with_a_gradient_in_the_objective(p: Problem, c: Any, best: Any) -> Any:
    return c.proximal(begun(p, best) + HALF * c.gradient(best), HALF) - best + c.gradient(best)


def with_half_a_correction(p: Problem, c: Any, best: Any) -> Any:
    return c.proximal(begun(p, best) + QUARTER * c.gradient(best), HALF) - best


def with_uncorrected_local_steps(p: Problem, c: Any, best: Any) -> Any:
    return c.mean(c.step(c.step(begun(p, best), QUARTER), QUARTER)) - best


def with_a_minimizer_of_each(p: Problem, c: Any, best: Any) -> Any:
    p.at_most(c.objective_gap(), 1)
    return c.proximal(begun(p, best) + HALF * c.gradient(best), HALF) - best


def with_a_compressed_gradient(p: Problem, c: Any, best: Any) -> Any:
    w = begun(p, best)
    return w - HALF * (p.compressed(c.gradient(w), QUARTER) - c.gradient(best)) - best


ATTACKS = [
    with_heterogeneity, with_a_bounded_memory, with_a_gradient_in_the_objective, with_half_a_correction,
    with_uncorrected_local_steps, with_a_minimizer_of_each, with_a_compressed_gradient,
]  # fmt: skip


def attacked(attack: Callable[[Problem, Any, Any], Any], **of: Any) -> Problem:
    p = Problem()
    c = p.clients(2, **(of or CLASS))
    p.maximize(attack(p, c, c.minimizer(p.origin)).square)
    return p


def test_a_class_of_bounded_gradients_has_no_free_tilt() -> None:
    def corrected(p: Problem, c: Any, best: Any) -> Any:
        return c.proximal(begun(p, best) + HALF * c.gradient(best), HALF) - best

    assert attacked(corrected).program().free
    assert attacked(corrected, lipschitz=1).program().free == ()


PROGRAMS: dict[str, Callable[[], Problem]] = {
    **{name: lambda method=method: method(True) for name, method in METHODS.items()},
    **{attack.__name__: lambda attack=attack: attacked(attack) for attack in ATTACKS},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_square_of_a_free_direction_is_in_no_form(name: str) -> None:
    program = PROGRAMS[name]().program()
    assert bool(program.free) == (name in METHODS)
    for direction in program.free:
        grams = tuple(
            tuple(
                tuple(direction.get((block, i), Q(0)) * direction.get((block, j), Q(0)) for j in range(size))
                for i in range(size)
            )
            for block, size in enumerate(program.sizes)
        )
        assert not any(forms_at(program, FeasiblePoint(grams, (Q(0),) * len(program.values))))
