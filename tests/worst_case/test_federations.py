"""Clients, noise, states and comparisons in user-defined problems."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.worst_case import Problem
from fedtheory.worst_case.worst_cases import WorstCase
from tests.worst_case.gallery.examples import begun

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1}
STEP, NOISE = Q(1, 4), Q(1, 5)
KEPT = (1 - STEP * CLASS["mu"]) ** 2
"""What a step leaves of the squared distance at most, of steps up to 2/(mu + L)."""


def holds(worst: WorstCase, known: Q | float) -> bool:
    """Whether a value that is known to some digits is in a narrow enclosure."""
    lower, upper = worst.enclosure
    slack = 0 if isinstance(known, Q) else 1e-7 * known
    return lower - slack <= known <= upper + slack and worst.relative_width < 1e-6


@pytest.mark.parametrize("num_steps", [1, 2, 3])
def test_every_noisy_step_contracts_and_adds_its_noise(num_steps: int) -> None:
    """``D -> KEPT D + step^2 sigma^2``, which a parabola of curvature mu attains."""
    p = Problem()
    f = p.function(**CLASS)
    best, known = f.minimizer(p.origin), Q(1)
    x = begun(p, best)
    for _ in range(num_steps):
        x = x - STEP * f.stochastic_gradient(x, variance=NOISE, name="sigma2")
        known = KEPT * known + STEP**2 * NOISE
    p.maximize((x - best).square)
    worst = p.solve()
    assert holds(worst, known)
    by = sum(KEPT**s for s in range(num_steps)) * STEP**2
    assert worst.multipliers["sigma2"] == pytest.approx(by, rel=1e-4)


@pytest.mark.parametrize(("num_clients", "num_selected"), [(5, 1), (5, 3), (5, 5)])
def test_noises_of_the_clients_of_a_sample_are_averaged(num_clients: int, num_selected: int) -> None:
    p = Problem()
    clients = p.clients(num_clients, **CLASS)
    best = clients.minimizer(p.origin, objective_gap=0)
    y = clients.step(begun(p, best), STEP, variance=NOISE)
    p.maximize(clients.sample(num_selected).square(y - best))
    assert holds(p.solve(), KEPT + STEP**2 * NOISE / num_selected)


@pytest.mark.parametrize("how", ["distinct", "independent"])
def test_one_of_three_clients_that_disagree_at_the_minimizer_is_a_stochastic_gradient(how: str) -> None:
    """The known value of three functions, one by one."""
    p = Problem()
    clients = p.clients(3, **CLASS)
    best = clients.minimizer()
    clients.heterogeneity(zeta2=1)
    x = begun(p, best)
    p.maximize(clients.sample(1, how).square(x - clients.gradient(x) - best))
    assert p.solve().value == pytest.approx(2.39192705, abs=1e-7)


def test_minimizers_that_are_told_to_be_one_are_one() -> None:
    p = Problem()
    functions = [p.function(**CLASS) for _ in range(3)]
    whole = p.mean(functions)
    best = whole.minimizer(objective_gap=0)
    assert all(f.minimizer() is best for f in functions)
    x = begun(p, best)
    p.maximize((x - STEP * whole.gradient(x) - best).square)
    assert holds(p.solve(), KEPT)


def control_variates(p: Problem, clients: list[Any], mean: Callable[[list[Any]], Any], w: Any) -> Any:
    """Two rounds of two steps; each client keeps its gradient at the round's start and takes it off its steps."""
    for _ in range(2):
        kept = [client.gradient(w) for client in clients]
        models, shift = [w for _ in clients], mean(kept)
        for _ in range(2):
            slopes = [client.gradient(y) for client, y in zip(clients, models, strict=True)]
            moves = [slope - own + shift for slope, own in zip(slopes, kept, strict=True)]
            models = [y - STEP * move for y, move in zip(models, moves, strict=True)]
        w = mean(models)
    return w


def test_what_clients_keep_between_their_rounds_is_as_bad_for_representatives_as_client_by_client() -> None:
    p = Problem()
    group = p.clients(2, **CLASS)
    best = group.minimizer(p.origin, objective_gap=Q(1, 2))
    p.maximize((control_variates(p, [group], lambda one: group.mean(one[0]), begun(p, best)) - best).square)
    lower, upper = p.solve().enclosure
    q = Problem()
    each = [q.function(**CLASS) for _ in range(2)]
    there = q.mean(each).minimizer(q.origin, objective_gap=Q(1, 2))
    q.maximize((control_variates(q, each, q.mean, begun(q, there)) - there).square)
    low, high = q.solve().enclosure
    assert max(lower, low) <= min(upper, high)
    assert max(upper - lower, high - low) <= upper / 10**6


def test_a_share_of_a_constant_counts_as_that_share_of_it() -> None:
    p = Problem()
    x = p.point()
    p.at_most(x.square, 4, "distance2", share=Q(3, 2))
    p.maximize(2 * x.square)
    worst = p.solve()
    assert holds(worst, Q(12))
    assert worst.multipliers["distance2"] == pytest.approx(3, rel=1e-6)


def test_compressed_differences_have_the_potential_of_diana() -> None:
    """At w* with exact memories nothing moves; a message of a memory that is off by h is random by omega |h|^2."""
    p = Problem()
    c = p.clients(4, **CLASS)
    best, off = c.minimizer(), c.deviation()
    p.at_most(off.square, 1, name="memory")
    sent = p.unbiased(off, 2)
    after = best - STEP * c.mean(sent)
    p.maximize((after - best).square + (off - Q(1, 3) * sent).square)
    # STEP^2 2/4 of the mean, and (1 - 1/3)^2 + 2/9 of the memory.
    lower, upper = p.solve().enclosure
    assert lower <= STEP**2 / 2 + Q(4, 9) + Q(2, 9) <= upper


def test_inexact_gradients_of_clients_differ_as_their_gradients_do() -> None:
    """A step of 1 on clients whose gradients at w* sum to zero moves each by its own, a tenth longer or shorter."""
    p = Problem()
    clients = p.clients(2, **CLASS)
    best = clients.minimizer(p.origin)
    clients.heterogeneity(zeta2=1)
    moved = clients.inexact_gradient(best, relative=Q(1, 10))
    p.maximize((moved - clients.mean(moved)).square)
    assert holds(p.solve(), Q(11, 10) ** 2)
