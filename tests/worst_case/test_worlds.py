"""No program of the language proves less than what the same lines reach on real functions."""

from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.worst_case import Problem
from tests.environment import thinned
from tests.worst_case.worlds import World

CLASSES: list[dict[str, Any]] = [{"mu": Q(1, 10), "L": Q(1)}, {"mu": Q(1, 3), "L": Q(2)}]


class Limited:
    """A problem whose conditions are what a world measured, or a little above 0, so that its class just holds it."""

    def __init__(self, world: World) -> None:
        self.problem, self.measured = Problem(), world.measured

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)

    def limit(self, form: Any, name: str) -> None:
        self.problem.at_most(form, self.measured[name] or Q(1, 1000), name=name)


def drawn(rng: np.random.Generator, *some: Any) -> Any:
    return some[int(rng.integers(len(some)))]


def step_of(rng: np.random.Generator) -> Q:
    return drawn(rng, Q(1, 100), Q(1, 4), Q(2, 3), Q(1), Q(3, 2))


def iterated(p: Any, rng: np.random.Generator) -> None:
    """Some steps of some methods on one to three functions."""
    functions = [p.function(**drawn(rng, *CLASSES)) for _ in range(int(rng.integers(1, 4)))]
    whole = p.mean(functions) if len(functions) > 1 else functions[0]
    best = whole.minimizer()
    x = before = p.point("start")
    p.limit((x - best).square, "distance2")
    if len(functions) > 1:
        at_best = p.mean([f.gradient(best).square for f in functions])
        p.limit(*((at_best, "zeta2") if rng.random() < 0.5 else (whole.objective_gap(), "objective_gap")))
    visited = [x]
    for _ in range(int(rng.integers(1, 4))):
        eta, f = step_of(rng), drawn(rng, *functions)
        kind = rng.integers(6)
        if kind == 0:
            after = x - eta * drawn(rng, whole, f).gradient(x)
        elif kind == 1:
            after = x - eta * whole.gradient(x) + drawn(rng, Q(1, 4), Q(2, 3)) * (x - before)
        elif kind == 2:
            after = f.proximal(x, eta)
        elif kind == 3:
            after = x - eta * drawn(rng, whole, f).inexact_gradient(x, relative=Q(1, 3))
        elif kind == 4:
            after = x - p.compressed(eta * whole.gradient(x), drawn(rng, Q(1, 4), Q(4, 9)))
        else:
            after = p.mean([x - eta * f.gradient(x - Q(1, 2) * f.gradient(x)) for f in functions])
        before, x = x, after
        visited.append(x)
    what = rng.integers(4)
    if what == 0:
        p.maximize((x - best).square)
    elif what == 1:
        p.maximize(whole.value(x) - whole.value(best))
    elif what == 2:
        p.maximize(*((point - best).square for point in visited[1:]))
    else:
        p.maximize(whole.gradient(x).square)


def federated(p: Any, rng: np.random.Generator) -> None:
    """One or two rounds of three clients that keep something, send something, or are sampled."""
    clients = p.clients(3, **drawn(rng, *CLASSES))
    best = clients.minimizer()
    w = p.point("start")
    p.limit((w - best).square, "distance2")
    if rng.random() < 0.5:
        p.limit(clients.gradient(best).square, "zeta2")
    else:
        p.limit(clients.objective_gap(), "objective_gap")
    kept, eta = clients.gradient(w), step_of(rng)
    local_steps = (
        lambda y: y - eta * clients.gradient(y),
        lambda y: y - eta * (clients.gradient(y) - kept + clients.mean(kept)),
        lambda y: y - p.compressed(eta * clients.gradient(y), Q(1, 4)),
        lambda y: clients.proximal(y, eta),
        lambda y: y - eta * clients.inexact_gradient(y, relative=Q(1, 5)),
    )
    for _ in range(int(rng.integers(1, 3))):
        y, local_step = w, drawn(rng, *local_steps)
        for _ in range(int(rng.integers(1, 3))):
            y = local_step(y)
        kept, w = clients.gradient(w), clients.mean(y)
    what = rng.integers(4)
    if what == 0:
        p.maximize((w - best).square)
    elif what == 1:
        p.maximize(clients.value(w) - clients.value(best))
    elif what == 2:
        p.maximize(clients.sample(int(rng.integers(1, 3)), drawn(rng, "distinct", "independent")).square(y - best))
    else:
        p.maximize((y - best).square)


def noisy(p: Any, rng: np.random.Generator) -> None:
    """A round of two clients whose steps have noise, of both or of one."""
    clients = p.clients(2, **drawn(rng, *CLASSES))
    best = clients.minimizer()
    y, eta = p.point("start"), step_of(rng)
    p.limit((y - best).square, "distance2")
    p.limit(clients.gradient(best).square, "zeta2")
    for _ in range(int(rng.integers(1, 3))):
        y = y - eta * clients.stochastic_gradient(y, variance=Q(1), name="sigma2")
    num_selected = int(rng.integers(1, 3))
    p.maximize((y - best).square if rng.random() < 0.3 else clients.sample(num_selected, "distinct").square(y - best))


def compressing(p: Any, rng: np.random.Generator) -> None:
    """Steps along compressed gradients of a function, whose parabolas reach the worst gap where all entries shrink."""
    f, eta, eps = p.function(**drawn(rng, *CLASSES)), step_of(rng), drawn(rng, Q(1, 4), Q(4, 9))
    best, x = f.minimizer(), p.point("start")
    p.limit(f.value(x) - f.value(best), "gap")
    for _ in range(int(rng.integers(1, 3))):
        x = x - eta * p.compressed(f.gradient(x), eps)
    p.maximize(f.value(x) - f.value(best))


PROGRAMS = ((iterated, 1), (federated, 3), (noisy, 2), (compressing, 1))


def examine(number: int, seed: int, num_worlds: int = 15, programs: Any = PROGRAMS) -> float:
    """Compare what is proved of programs with worlds that each are run in; return how near one comes in the mean.

    An upper bound is a lemma: with any other constants it is the sum of these with the multipliers that were found.
    """
    near = 0.0
    for place in range(number):
        write, num_clients = programs[place % len(programs)]

        def run_in(p: Any, place: int = place, write: Any = write) -> Any:
            write(p, np.random.default_rng([seed, place]))
            return p

        worlds = (
            run_in(World(np.random.default_rng([seed, place, world]), num_clients, noisy=write is noisy))
            for world in range(num_worlds)
        )
        worst = run_in(Limited(first := next(worlds))).solve()
        assert worst.upper >= first.reached, (write.__name__, place)
        lemma = worst.multipliers
        ratios = []
        for world in worlds:
            promise = sum(lemma[name] * world.measured.get(name, 0) for name in lemma)
            assert promise >= world.reached, (write.__name__, place)
            ratios.append(float(world.reached / promise) if promise else 0.0)
        near += max(ratios)
    return near / number


def test_what_is_proved_of_random_programs_is_not_below_what_real_functions_reach() -> None:
    # Nearer to 1, and a mistake would be seen the better.
    assert examine(24, seed=0) > 0.6


@pytest.mark.parametrize("share", [Q(1, 2), Q(9, 10)])
def test_a_compressor_that_errs_less_than_it_is_declared_is_seen(share: Q, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Problem.compressed
    monkeypatch.setattr(Problem, "compressed", lambda p, vector, eps: declared(p, vector, share * eps))
    with pytest.raises(AssertionError, match="compressing"):
        examine(4, seed=0, programs=[(compressing, 1)])


@pytest.mark.slow
@pytest.mark.parametrize("number", thinned([100, 300], 2))
def test_what_is_proved_of_many_random_programs_is_not_below_what_real_functions_reach(number: int) -> None:
    assert examine(number, seed=1) > 0.6
