"""The text of a program states its record, and unknown parts are rejected in one sentence."""

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


def mean_of_a_point_with_noise_of_the_server(p: Problem) -> None:
    c, server = p.clients(10, L=1), p.function(L=1)
    best = c.minimizer()
    x = started(p, best)
    w = x - (server.stochastic_gradient(x, variance=100) - server.gradient(x))
    p.maximize((c.mean(w) - best).square)


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
    """Half of the gradient's length is left where f is steepest, and 1/2 is added."""
    f = p.function(mu=1, L=Q(3, 2))
    best = f.minimizer()
    x = started(p, best)
    p.maximize((x - Q(1, 2) * f.inexact_gradient(x, absolute=1) - best).square)


def least_value_0(p: Problem) -> None:
    """f(x) <= 1/2 |grad f(x)|^2 + 1/4 needs the least value, which is in force although it is not asked for."""
    f, x = p.function(L=1, minimum=0), p.point()
    p.at_most(f.value(x), Q(1, 4))
    p.maximize(f.gradient(x).square)


RIGHT: dict[Callable[[Problem], None], Q] = {
    noisy_mirror_step: Q(4),
    noise_of_the_server: Q(101),
    mean_of_a_point_with_noise_of_the_server: Q(101),
    noise_of_clients: Q(21),
    sample_of_one_group_at_a_point_of_another: Q(1),
    quadratic_at_a_noisy_point: Q(1, 10),
    quadratic_in_a_sum: Q(81, 100),
    equality_that_counts: Q(9),
    inexact_step: Q(1),
    least_value_0: Q(1, 2),
}


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


def clients_at_a_noisy_point(p: Problem) -> Any:
    f, c, x = p.function(L=1), p.clients(2, L=1, quadratic=True), p.point()
    return c.gradient(x - f.stochastic_gradient(x, variance=1))


def clients_at_points_of_others(p: Problem) -> Any:
    c, d, x = p.clients(2, L=1), p.clients(2, L=1), p.point()
    return c.gradient(x - d.gradient(x))


def noise_of_a_function_at_the_points_of_clients(p: Problem) -> Any:
    c, f, x = p.clients(2, L=1), p.function(L=1), p.point()
    return f.stochastic_gradient(x - c.gradient(x), variance=1)


def noise_of_a_sum_with_clients(p: Problem) -> Any:
    return (p.clients(2, L=1) + p.function(L=1)).stochastic_gradient(p.point(), variance=1)


def compressed_sum_of_two_sources(p: Problem) -> Any:
    c, d, x = p.clients(2, L=1), p.clients(2, L=1), p.point()
    return p.compressed(c.gradient(x) + d.gradient(x), Q(1, 4))


def mean_of_noise(p: Problem) -> Any:
    c = p.clients(2, L=1)
    noisy = c.stochastic_gradient(p.point(), variance=1)
    c.gradient(noisy)
    return c.mean(noisy)


def with_its_mean(p: Problem) -> Any:
    c = p.clients(2, L=1)
    noisy = c.stochastic_gradient(p.point(), variance=1)
    return c, noisy, c.mean(noisy)


def step_after_the_mean(p: Problem) -> Any:
    c, noisy, _ = with_its_mean(p)
    return c.gradient(noisy)


def noise_times_its_mean(p: Problem) -> Any:
    c, noisy, mean = with_its_mean(p)
    p.maximize(noisy @ c.gradient(mean))


def sample_of_a_noise_and_its_mean(p: Problem) -> Any:
    c, noisy, mean = with_its_mean(p)
    return c.sample(1).square(noisy - mean)


def balanced_noise(p: Problem) -> Any:
    f, x = p.function(L=1), p.point()
    return f.balance(p.point(), f.stochastic_gradient(x, variance=1))


def balanced_clients(p: Problem) -> Any:
    f, c, x = p.function(L=1), p.clients(2, L=1), p.point()
    return f.balance(c.gradient(x))


def noisy_minimizer(p: Problem) -> Any:
    f, x = p.function(L=1), p.point()
    return f.minimizer(f.stochastic_gradient(x, variance=1))


def minimizer_at_a_clients_point(p: Problem) -> Any:
    f, c = p.function(L=1), p.clients(2, L=1)
    return (f + p.function()).minimizer(c.gradient(p.point()))


def one_name_for_two_numbers(p: Problem) -> Any:
    x = p.point()
    p.at_most(x.square, 1, name="d")
    p.at_most(2 * x.square, 3, name="d")


def one_name_for_a_bound_and_an_equality(p: Problem) -> Any:
    x = p.point()
    p.equal_to(x.square, 1, name="d")
    p.at_most(2 * x.square, 3, name="d")


def steps_with_different_noise(p: Problem) -> Any:
    f = p.function(L=1)
    f.step(f.step(p.point(), 1, variance=1), 1, variance=2)


def one_name_for_two_points(p: Problem) -> Any:
    return p.point("x"), p.point("x")


SOURCES = "must depend on one group of clients, got one that depends on"
REFUSED: dict[str, tuple[Callable[[Problem], Any], str]] = {
    "clients at a noisy point": (
        clients_at_a_noisy_point,
        "clients with quadratic functions must be asked where no noise",
    ),
    "clients at points of others": (clients_at_points_of_others, SOURCES),
    "noise at the points of clients": (
        noise_of_a_function_at_the_points_of_clients,
        "drawn at a point that clients share, got",
    ),
    "noise of a sum with clients": (noise_of_a_sum_with_clients, "asked of f0 alone and added, got the sum f0 \\+ f1"),
    "a compressed sum": (compressed_sum_of_two_sources, SOURCES),
    "the mean of noise": (mean_of_noise, "noises of the clients at whose outcomes nothing is computed"),
    "a step after the mean of a noise": (step_after_the_mean, "must not depend on a client's noise after its mean was"),
    "a noise times its mean": (noise_times_its_mean, "a product must not have the noise of a client and its mean"),
    "a sample of a noise and its mean": (
        sample_of_a_noise_and_its_mean,
        "must not have the noise of a client and its mean",
    ),
    "balanced noise": (balanced_noise, "without noise, got another"),
    "balanced clients": (balanced_clients, "at a point of its clients"),
    "a noisy minimizer": (noisy_minimizer, "placed at a point that clients share, without noise"),
    "a minimizer of clients": (minimizer_at_a_clients_point, "placed at a point that clients share, without noise"),
    "a step of Frank and Wolfe of clients": (
        lambda p: p.clients(2, L=1).linear_minimizer(p.point()),
        "linear_minimizer must be asked of functions that are written one by one .* got the clients f0",
    ),
    "a line search of clients": (lambda p: p.clients(2, L=1).line_search(p.point(), p.point()), "got the clients f0"),
    "a line search of a sum with clients": (
        lambda p: (p.function(L=1) + p.clients(2, L=1)).line_search(p.point(), p.point()),
        "got the clients f1",
    ),
    "minimizer, weakly convex": (
        lambda p: p.function(mu=-1).minimizer(),
        "convex, or smooth and not quadratic, got f0",
    ),
    "minimizer, indefinite": (lambda p: p.function(-1, 1, quadratic=True).minimizer(), r"mu = -1 \(stationary_point"),
    "minimizer, clients": (lambda p: p.clients(2, mu=-1, L=1).minimizer(), "convex functions, got f0"),
    "Gamma of indefinite": (lambda p: p.function(-1, 1, quadratic=True).objective_gap(), r"\(stationary_point\(\)\)"),
    "least value, weakly convex": (lambda p: p.function(mu=-1, minimum=0), "minimum must be None"),
    "least value, indefinite": (lambda p: p.clients(2, -1, 1, quadratic=True, minimum=0), "minimum must be None"),
    "a proximal step, not convex": (lambda p: p.function(mu=-2, L=1).proximal(p.point(), 1), "must minimize a convex"),
    "a proximal step of a negative": (lambda p: (-1 * p.function(L=1)).proximal(p.point(), 1), "the factor -1"),
    "a mirror step, not convex": (lambda p: p.function(mu=-1, L=1).linear_minimizer(p.point()), "convex functions"),
    "a negative Gamma": (lambda p: p.function(L=1).minimizer(objective_gap=-1), "objective_gap must be"),
    "one name for two numbers": (one_name_for_two_numbers, "one number, got 'd' for 1 and for 3"),
    "and an equality": (one_name_for_a_bound_and_an_equality, "one number, got 'd' for 1 and for 3"),
    "noises of two sizes": (steps_with_different_noise, "got 'gradient_noise' for 1 and for 2"),
    "one name for two points": (one_name_for_two_points, "no other point has, got 'x'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stated_is_refused_in_one_sentence(case: str) -> None:
    write, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as refused:
        write(Problem())
    assert "\n" not in str(refused.value)


def test_a_least_value_that_nothing_has_leaves_nothing() -> None:
    p = Problem()
    f, x = p.function(L=1, minimum=0), p.point("x")
    p.at_most(f.value(x), -1, name="below")
    p.at_most(f.gradient(x).square, 1)
    p.maximize(f.gradient(x).square)
    with pytest.raises(AssumptionViolated, match="contradictions of below"):
        p.solve()


def small_mean(p: Problem) -> None:
    """The root may be as small as one likes, which says nothing of x."""
    x, y = p.point(), p.point()
    p.at_most(p.geometric_mean(x.square, y.square), 1)
    p.at_most(y.square, 1)
    p.at_most(x.square, 9)
    p.maximize(x.square)


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


@pytest.mark.parametrize("write", [small_mean, at_the_points_of_clients, not_smooth_at_a_noisy_point])
def test_what_is_stated_in_part_has_an_upper_side_only(write: Callable[[Problem], None]) -> None:
    p = Problem()
    write(p)
    worst = p.solve()
    assert worst.relaxed
    assert worst.lower is None
    assert worst.upper is not None
    assert worst.verify()[0] is None


def test_names_of_a_proof_stand_for_one_thing_each() -> None:
    p = Problem()
    t, u = p.number(), p.number()
    x, v0 = p.point("t"), p.point("v1")
    p.at_most(x.square + v0.square, 1, name="G2")
    p.at_most(t - (x @ p.vector()), 0)
    p.at_most(u + 2 * t - v0.square, 0)
    p.at_most(p.vector().square, 1, name="G2")
    p.maximize(u + t)
    with pytest.raises(AssumptionViolated):
        p.solve()
    labels = [one.label for one in p.program().constraints]
    assert len({*labels}) == len(labels)
    assert {"G2", "G2 (2)"} < {*labels}
