"""Hunts on toy claims, of numbers used as they are and of whole ones, and the moves that they are made of."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.paper import Paper, Statement
from fedtheory.verification._moves import changed, drifted
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, at_most, equal_to, not_applicable
from fedtheory.verification.hunts import hunting
from fedtheory.verification.tapes import Read, written

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0")
READS = [Read(0.31, 7), Read(0.123456, 0), Read(0.77, 3), Read(0.05, 1), Read(0.9, 0), Read(0.52, 40), Read(0.999, 5)]


def skewed_clients(rng: np.random.Generator) -> Finding:
    """Rare, of clients with several numbers each, and sometimes not applicable."""
    clients = [[int(rng.integers(-9, 10)), int(rng.integers(1, 6))] for _ in range(1 + int(rng.integers(0, 5)))]
    if sum(weight for _, weight in clients) % 5 == 4:
        return not_applicable("weights")
    mean = Fraction(sum(x * weight for x, weight in clients), sum(weight for _, weight in clients))
    return at_most(mean, Fraction(17, 2), instance={"clients": clients})


def near_a_point(rng: np.random.Generator) -> Finding:
    """Numbers used as they are; it breaks in a ball of radius 1/50 about a point."""
    count = 2 + int(rng.integers(0, 2))
    x = rng.random(count)
    near = 1 - float(((x - 0.37) ** 2).sum())
    return at_most(near, 1 - 1 / 2500, instance={"x": x.tolist()})


def attained(rng: np.random.Generator) -> Finding:
    """Attained often, and never broken."""
    return at_most(min(int(rng.integers(0, 30)) + float(rng.random()), 20.0), 20.0, instance={})


def nearly_equal(rng: np.random.Generator) -> Finding:
    """Two sides that cancel, with a slack."""
    x = float(rng.random())
    return equal_to(1e-3 * x * (1 - x) + 1.0, 1.0, scale=2.0, rtol=2e-3, instance={"x": x})


CLAIMS = [
    Claim(f"toy:{check.__name__.replace('_', '-')}", "a toy", STATEMENT, kind, check)
    for check, kind in (
        (skewed_clients, "inequality"),
        (near_a_point, "inequality"),
        (attained, "inequality"),
        (nearly_equal, "identity"),
    )
]


def path(claim: Claim) -> list[Any]:
    """Return the states that three hunts go through, the last one from a tape."""
    states = [
        state
        for seed, start in ((1, ()), (2, ()), (3, (0.7, 0.2, 0.9)))
        for state in hunting(claim, rng=seed, evaluations=250, start=start)
    ]
    return [[state.num_instances, float(state.worst.measured), *state.tape] for state in states]


def moved() -> list[Any]:
    """Return tapes that one move away from another."""
    rng = np.random.default_rng(5)
    drifts = [drifted(READS, reach, rng) for reach in (0.3, 1e-3, 0.9) for _ in range(30)]
    return [written(READS), drifts, *[changed(READS[: 1 + size % 7], rng) for size in range(300)]]


def examples() -> dict[str, Callable[[], Any]]:
    """Return what is drawn by name."""
    return {f"hunts, {claim.key}": partial(path, claim) for claim in CLAIMS} | {"moves of hunts": moved}
