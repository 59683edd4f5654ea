"""Rounds of federated averaging in rational arithmetic, followed along every path: expectations without sampling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from fedtheory.rational._rounds import Beginning, Cohort, Run, Snapshot
from fedtheory.rational.vectors import Vector, combination
from fedtheory.statistics.law import Law

__all__: list[str] = []


def follow(run: Run) -> tuple[Law[Beginning], ...]:
    """Return, for every round and for the one that would come after the last, how it can begin.

    >>> from fedtheory.rational._alignment import two_parabolas
    >>> [first, after] = follow(two_parabolas((Fraction(1),)))
    >>> [beginning.anchor for beginning in after]
    [(Fraction(1, 8),)]
    """
    models, rounds = Law.certain(run.initial), []
    for number in range(run.num_steps // run.local_steps + 1):
        beginnings = models.then(partial(_beginnings, run, number))
        rounds.append(beginnings)
        if (number + 1) * run.local_steps <= run.num_steps:
            models = beginnings.then(lambda beginning: beginning.snapshots[-1]).then(run.end)
    return tuple(rounds)


def _beginnings(run: Run, number: int, model: Vector) -> Law[Beginning]:
    first = number * run.local_steps
    sizes = [run.step_size(step) for step in range(first, min(first + run.local_steps, run.num_steps))]
    cohorts = run.begin(number, model)
    clients = {k for cohort in cohorts for k in cohort.chosen}
    # Given the round's start, copies work independently of each other: no path of one depends on that of another.
    paths = {k: list(_local_models(run, k, model, sizes)) for k in clients}

    def beginning(cohort: Cohort) -> Beginning:
        start = Snapshot(model, cohort.chosen, cohort.coefficients, (model,) * len(cohort.chosen), model)
        after = (Law.product(*(paths[k][step] for k in cohort.chosen)) for step in range(len(sizes)))
        snapshots = (local.map(partial(_snapshot, model, cohort)) for local in after)
        return Beginning(model, cohort, (Law.certain(start), *snapshots))

    return cohorts.map(beginning)


def _local_models(run: Run, client: int, model: Vector, sizes: list[Fraction]) -> Iterator[Law[Vector]]:
    """Yield the law of a copy's model after 1, 2, ... local steps from the server's model."""
    law = Law.certain(model)
    for size in sizes:
        law = law.then(partial(_stepped, run, client, size))
        yield law


def _stepped(run: Run, client: int, size: Fraction, w: Vector) -> Law[Vector]:
    gradient = run.federation.gradient(client, w)
    return run.noise.map(lambda noise: tuple(x - size * (g + n) for x, g, n in zip(w, gradient, noise, strict=True)))


def _snapshot(anchor: Vector, cohort: Cohort, local: tuple[Vector, ...]) -> Snapshot:
    chosen, coefficients, kept = cohort
    average = combination((kept, *coefficients), (anchor, *local)) if kept else combination(coefficients, local)
    return Snapshot(anchor, chosen, coefficients, local, average)


def snapshots(rounds: tuple[Law[Beginning], ...], local_steps: int, num_steps: int) -> tuple[Law[Snapshot], ...]:
    """Return the law of a run at each step 0..T from its rounds.

    Both clients step by 1/4, towards 0 and 1, and then by 2/9: half of 0 and half of 1/4 + 2/9 * 3/4 = 5/12.

    >>> from fedtheory.rational._alignment import two_parabolas
    >>> run = two_parabolas((Fraction(1),), local_steps=2)
    >>> [[at.average for at in law] for law in snapshots(follow(run), local_steps=2, num_steps=2)]
    [[(Fraction(0, 1),)], [(Fraction(1, 8),)], [(Fraction(5, 24),)]]
    """

    def at_step(step: int) -> Law[Snapshot]:
        number, inside = divmod(step, local_steps)
        return rounds[number].then(lambda beginning: beginning.snapshots[inside])

    return tuple(at_step(step) for step in range(num_steps + 1))
