"""Local work with all of its stochastic gradients on record, which a law of models alone forgets."""

from functools import partial
from typing import NamedTuple

from fedtheory.rational._averaging import RationalRun
from fedtheory.rational.vectors import Vector, added, difference, scaled
from fedtheory.statistics.law import Law

__all__: list[str] = []


class LocalPath(NamedTuple):
    """What one copy of a client did in a round.

    Attributes
    ----------
    models
        Its models after 0, 1, ... steps.
    gradients
        The stochastic gradients that it followed from each to the next.
    """

    models: tuple[Vector, ...]
    gradients: tuple[Vector, ...]


def first_round(run: RationalRun) -> Law[tuple[LocalPath, ...]]:
    """Return the law of what all active copies do in the first round of a run.

    The client at -1 makes two steps of 1/4 from 2, against gradients 3 and 9/4: 2 - 3/4 = 5/4, and 5/4 - 9/16 = 11/16.

    >>> from fractions import Fraction
    >>> from fedtheory.rational._noises import no_noise
    >>> from fedtheory.rational.quadratics import opposite_clients
    >>> run = RationalRun(
    ...     opposite_clients(), lambda _: Law.certain((1,)), 2, lambda _: Fraction(1, 4), (Fraction(2),), 2, no_noise(1)
    ... )
    >>> [[work]] = first_round(run)
    >>> work.models == ((2,), (Fraction(5, 4),), (Fraction(11, 16),)), work.gradients == ((3,), (Fraction(9, 4),))
    (True, True)
    """

    def work(client: int) -> Law[LocalPath]:
        law = Law.certain(LocalPath((run.initial,), ()))
        for step in range(run.local_steps):
            law = law.then(partial(_one_more, run, client, step))
        return law

    return run.select(run.initial).then(lambda chosen: Law.product(*map(work, chosen)))


def _one_more(run: RationalRun, client: int, step: int, before: LocalPath) -> Law[LocalPath]:
    w = before.models[-1]
    exact = run.federation.gradient(client, w)

    def after(noise: Vector) -> LocalPath:
        gradient = added(exact, noise)
        model = difference(w, scaled(run.step_size(step), gradient))
        return LocalPath((*before.models, model), (*before.gradients, gradient))

    return run.noise.map(after)
