"""Programs have the worst case of their lines, and what cannot be stated is refused."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.errors import AssumptionViolated
from fedtheory.worst_case import Problem
from fedtheory.worst_case._vectors import Vector

NARROW = 1e-6


def started(p: Problem, best: Vector) -> Vector:
    x = p.point("x")
    p.at_most((x - best).square, 1, name="d")
    return x


def noisy_mirror_step(p: Problem) -> None:
    """The step goes twice as far as the noise, where h is flat."""
    f, h = p.function(L=1), p.function(mu=Q(1, 2), L=1)
    best = f.minimizer()
    x = started(p, best)
    y = h.linear_minimizer(f.stochastic_gradient(x, variance=1) - f.gradient(x) - h.gradient(x))
    p.maximize((y - x).square)


def noise_of_the_server(p: Problem) -> None:
    c, server = p.clients(10, L=1), p.function(L=1)
    best = c.minimizer()
    x = started(p, best)
    w = x - (server.stochastic_gradient(x, variance=100) - server.gradient(x))
    p.maximize(c.sample(5).square(w - best))


def noise_of_clients(p: Problem) -> None:
    c = p.clients(10, L=1)
    best = c.minimizer()
    x = started(p, best)
    w = x - (c.stochastic_gradient(x, variance=100) - c.gradient(x))
    p.maximize(c.sample(5).square(w - best))


def sample_of_one_group_at_a_point_of_another(p: Problem) -> None:
    """The difference from their mean is what all clients of the first group share."""
    c, d = p.clients(10, L=1), p.clients(10, mu=Q(1, 10), L=1)
    x = p.point()
    p.at_most((d.gradient(x) - d.mean(d.gradient(x))).square, 1)
    p.maximize(c.sample(5).square(d.gradient(x) - d.mean(d.gradient(x))))


def quadratic_at_a_noisy_point(p: Problem) -> None:
    """<H x, H (x - g/2)> is not negative for one matrix H <= I."""
    f = p.function(L=1, quadratic=True)
    best = f.minimizer()
    x = started(p, best)
    turn = f.gradient(x) @ f.gradient(x - Q(1, 2) * f.stochastic_gradient(x, variance=1))
    p.maximize(Q(1, 10) * (x - best).square - turn)


def quadratic_in_a_sum(p: Problem) -> None:
    f, g = p.function(mu=1, L=10, quadratic=True), p.function()
    best = (f + g).minimizer()
    x = started(p, best)
    p.maximize((g.proximal(x - Q(1, 10) * f.gradient(x), Q(1, 10)) - best).square)


def equality_that_counts(p: Problem) -> None:
    x, y = p.point(), p.point()
    p.equal_to(x.square, 4, name="e")
    p.at_most((y - x).square, 1, name="d")
    p.maximize(y.square)


def inexact_step(p: Problem) -> None:
    """The step leaves 1/2 where f is flattest, and the error adds half of its length, 1/4."""
    f = p.function(mu=1, L=Q(3, 2))
    best = f.minimizer()
    x = started(p, best)
    p.maximize((x - Q(1, 2) * f.inexact_gradient(x, relative=Q(1, 2)) - best).square)


def least_value_0(p: Problem) -> None:
    """f(x) <= 1/2 |grad f(x)|^2 + 1/4 needs the least value, which is in force although it is not asked for."""
    f, x = p.function(L=1, minimum=0), p.point()
    p.at_most(f.value(x), Q(1, 4))
    p.maximize(f.gradient(x).square)


RIGHT: dict[Callable[[Problem], None], Q] = {
    noisy_mirror_step: Q(4), noise_of_the_server: Q(101), noise_of_clients: Q(21),
    sample_of_one_group_at_a_point_of_another: Q(1), quadratic_at_a_noisy_point: Q(1, 10),
    quadratic_in_a_sum: Q(81, 100), equality_that_counts: Q(9), inexact_step: Q(9, 16), least_value_0: Q(1, 2),
}  # fmt: skip


@pytest.mark.parametrize("write", RIGHT, ids=lambda write: write.__name__)
def test_the_worst_case_is_that_of_the_lines(write: Callable[[Problem], None]) -> None:
    p, known = Problem(), RIGHT[write]
    write(p)
    worst = p.solve()
    lower, upper = worst.enclosure
    assert lower <= known <= upper
    assert upper - lower < NARROW * known
    assert not worst.relaxed
    # The lemma is the upper side, with every number that counts.
    constraints = (*worst.deciding.proof.program.equalities, *worst.deciding.proof.program.inequalities)
    numbers = {one.name: one.bound for one in constraints if one.name}
    assert sum(c * numbers[name] for name, c in worst.multipliers.items()) == upper


def noise(p: Problem) -> Any:
    """A stochastic gradient of a function at a point."""
    return p.function(L=1).stochastic_gradient(p.point(), variance=1)


def with_its_mean(p: Problem) -> Any:
    c = p.clients(2, L=1)
    noisy = c.stochastic_gradient(p.point(), variance=1)
    return c, noisy, c.mean(noisy)


def mean_after_a_step(p: Problem) -> Any:
    c = p.clients(2, L=1)
    noisy = c.stochastic_gradient(p.point(), variance=1)
    c.gradient(noisy)
    return c.mean(noisy)


def noise_times_its_mean(p: Problem) -> Any:
    c, noisy, mean = with_its_mean(p)
    p.maximize(noisy @ c.gradient(mean))


def sample_of_a_noise_and_its_mean(p: Problem) -> Any:
    c, noisy, mean = with_its_mean(p)
    return c.sample(1).square(noisy - mean)


def one_name_for_two_numbers(p: Problem) -> Any:
    x = p.point()
    p.equal_to(x.square, 1, name="d")
    p.at_most(2 * x.square, 3, name="d")


def minimizer_that_was_placed(p: Problem) -> Any:
    f = p.function(L=1)
    f.minimizer()
    return p.mean([f, p.function(L=1)]).minimizer(p.origin, objective_gap=0)


def gradient_of(p: Problem) -> Any:
    """The gradients of clients at a point."""
    return p.clients(2, L=1).gradient(p.point())


REFUSED: dict[str, tuple[Callable[[Problem], Any], str]] = {
    "quadratics of clients at a noisy point": (
        lambda p: p.clients(2, L=1, quadratic=True).gradient(noise(p)), "must be asked where no noise"
    ),
    "clients at points of others": (lambda p: p.clients(2, L=1).gradient(gradient_of(p)), "one group of clients"),
    "noise at the points of clients": (
        lambda p: p.function(L=1).stochastic_gradient(gradient_of(p), variance=1), "at a point that clients share"
    ),
    "noise of a sum with clients": (
        lambda p: (p.clients(2, L=1) + p.function(L=1)).stochastic_gradient(p.point(), variance=1), "of f0 alone"
    ),
    "a compressed sum": (
        lambda p: p.compressed(gradient_of(p) + gradient_of(p), Q(1, 4)), "one group of clients"
    ),
    "the mean of a noise after a step": (mean_after_a_step, "at whose outcomes nothing is computed"),
    "a step after the mean of a noise": (lambda p: (n := with_its_mean(p))[0].gradient(n[1]), "after its mean was"),
    "a noise times its mean": (noise_times_its_mean, "must not have the noise of a client and its mean"),
    "a sample of a noise and its mean": (sample_of_a_noise_and_its_mean, "the noise of a client and its mean"),
    "balanced clients": (lambda p: p.function(L=1).balance(gradient_of(p)), "at a point of its clients"),
    "a noisy minimizer": (lambda p: p.function(L=1).minimizer(noise(p)), "that clients share, without noise"),
    "a minimizer of clients": (
        lambda p: (p.function(L=1) + p.function()).minimizer(gradient_of(p)), "that clients share, without noise"
    ),
    "a step of Frank and Wolfe of clients": (
        lambda p: p.clients(2, L=1).linear_minimizer(p.point()), "functions that are written one by one"
    ),
    "a line search of a sum with clients": (
        lambda p: (p.function(L=1) + p.clients(2, L=1)).line_search(p.point(), p.point()), "got the clients f1"
    ),
    "minimizer, weakly convex": (lambda p: p.function(mu=-1).minimizer(), "convex, or smooth and not quadratic"),
    "minimizer, indefinite": (lambda p: p.function(-1, 1, quadratic=True).minimizer(), r"\(stationary_point"),
    "minimizer, clients": (lambda p: p.clients(2, mu=-1, L=1).minimizer(), "convex functions"),
    "Gamma of indefinite": (lambda p: p.function(-1, 1, quadratic=True).objective_gap(), r"\(stationary_point"),
    "least value, weakly convex": (lambda p: p.function(mu=-1, minimum=0), "minimum must be None"),
    "least value, indefinite": (lambda p: p.clients(2, -1, 1, quadratic=True, minimum=0), "minimum must be None"),
    "a proximal step, not convex": (lambda p: p.function(mu=-2, L=1).proximal(p.point(), 1), "minimize a convex"),
    "a proximal step of a negative": (lambda p: (-1 * p.function(L=1)).proximal(p.point(), 1), "the factor -1"),
    "a mirror step, not convex": (lambda p: p.function(mu=-1, L=1).linear_minimizer(p.point()), "convex functions"),
    "a minimizer that was placed": (minimizer_that_was_placed, "must be placed when it is first asked for"),
    "one name for two numbers": (one_name_for_two_numbers, "one number, got 'd' for 1 and for 3"),
    "one name for two points": (lambda p: p.point("x") - p.point("x"), "no other point has"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stated_is_refused(case: str) -> None:
    write, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        write(Problem())


def test_a_least_value_that_nothing_has_leaves_nothing() -> None:
    p = Problem()
    f, x = p.function(L=1, minimum=0), p.point("x")
    p.at_most(f.value(x), -1, name="below")
    p.at_most(f.gradient(x).square, 1)
    p.maximize(f.gradient(x).square)
    with pytest.raises(AssumptionViolated, match="contradictions of below"):
        p.solve()


def at_the_points_of_clients(p: Problem) -> None:
    """Of the points of two clients the function has no condition."""
    f, c = p.function(mu=Q(1, 10), L=1), p.clients(2, L=1)
    best = c.minimizer()
    x = started(p, best)
    p.at_most(c.gradient(best).square, 1)
    p.at_most(f.gradient(best).square, 1)
    p.maximize(f.gradient(x - c.gradient(x)).square)


def not_smooth_at_a_noisy_point(p: Problem) -> None:
    f, g = p.function(L=1), p.function(lipschitz=1)
    x = started(p, f.minimizer())
    p.maximize(g.gradient(x - f.stochastic_gradient(x, variance=1)).square)


@pytest.mark.parametrize("write", [at_the_points_of_clients, not_smooth_at_a_noisy_point])
def test_what_is_stated_in_part_has_an_upper_side_only(write: Callable[[Problem], None]) -> None:
    p = Problem()
    write(p)
    worst = p.solve()
    assert worst.relaxed
    assert worst.lower is None
    assert worst.upper is not None
    assert worst.verify()[0] is None
