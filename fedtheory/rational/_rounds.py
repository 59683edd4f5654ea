"""What a run in rational arithmetic is, how it can stand at a step, and what is expected of it there.

A round begins with the choice of those who take part, goes on with their local steps, and ends with the server's next
model. What differs between algorithms is the beginning and the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, final

from fedtheory.rational._noises import Noise
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, difference, inner, norm2
from fedtheory.statistics.law import Law

__all__ = ["Beginning", "Cohort", "Run", "Snapshot"]


class Cohort(NamedTuple):
    """Who takes part in a round, and how their models are aggregated.

    Attributes
    ----------
    chosen
        The clients, copies included.
    coefficients
        Aggregation coefficient of each of them.
    kept
        That of the server's own model.
    """

    chosen: tuple[int, ...]
    coefficients: Vector
    kept: Fraction = Fraction(0)


@final
@dataclass(frozen=True, eq=False)
class Snapshot:
    """One way in which a run can stand at a step; two ways are two, even where they look alike.

    Attributes
    ----------
    anchor
        The server's model at the start of the round.
    chosen, coefficients
        Who takes part, copies included, with the aggregation coefficients.
    local
        Model of each of them.
    average
        The virtual averaged model.
    """

    anchor: Vector
    chosen: tuple[int, ...]
    coefficients: Vector
    local: tuple[Vector, ...]
    average: Vector

    def mean(self, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """Mean of a function of client and local model over the active copies, weighted as they are aggregated."""
        return inner(self.coefficients, list(map(value, self.chosen, self.local)))

    def spread(self, center: Vector) -> Fraction:
        """Mean squared distance of the active copies' models from a center."""
        return self.mean(lambda _, w: norm2(difference(w, center)))

    @property
    def drift(self) -> Fraction:
        """Mean squared distance of the active copies' models from their average."""
        return self.spread(self.average)

    @property
    def displacement(self) -> Fraction:
        """Mean squared distance of the active copies' models from the round's starting model."""
        return self.spread(self.anchor)


@final
@dataclass(frozen=True, eq=False)
class Beginning:
    """One way in which a round can begin.

    Attributes
    ----------
    anchor
        The server's model.
    cohort
        Who takes part.
    snapshots
        How the run stands after 0, 1, ... local steps of the round, given this beginning.
    """

    anchor: Vector
    cohort: Cohort
    snapshots: tuple[Law[Snapshot], ...]


class Run(Protocol):
    """Some rounds on a rational federation."""

    @property
    def federation(self) -> RationalQuadratics:
        """The clients."""

    @property
    def local_steps(self) -> int:
        """Steps per round, tau."""

    @property
    def num_steps(self) -> int:
        """Number of local steps T; the last round may be cut short."""

    @property
    def step_size(self) -> Callable[[int], Fraction]:
        """eta_t as a function of t."""

    @property
    def initial(self) -> Vector:
        """The server's model at the start."""

    @property
    def noise(self) -> Noise:
        """Gradient noise, drawn afresh for each copy and step."""

    @property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """How every round can begin, and the one that would come after the last."""

    @property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T; at the start of a round it is known already who takes part."""

    def begin(self, number: int, model: Vector) -> Law[Cohort]:
        """Law of who takes part in a round, given the server's model."""

    def end(self, at: Snapshot) -> Law[Vector]:
        """Law of the server's next model, given how the round stands after its last step."""


def distance2(run: Run, step: int) -> Fraction:
    """Return ``E |w_t - w*|^2`` of the averaged model.

    >>> from fedtheory.rational._alignment import two_parabolas
    >>> distance2(two_parabolas((Fraction(1),)), 1)
    Fraction(1, 64)
    """
    best = run.federation.minimizer
    return Fraction(run.snapshots[step].mean(lambda at: norm2(difference(at.average, best))))


def gap(run: Run, step: int) -> Fraction:
    """Return ``E F(w_t) - F*`` of the averaged model.

    >>> from fedtheory.rational._alignment import two_parabolas
    >>> gap(two_parabolas((Fraction(1),)), 1)
    Fraction(1, 128)
    """
    return Fraction(run.snapshots[step].mean(lambda at: run.federation.gap(at.average)))


def elapsed(run: Run, step: int) -> Fraction:
    """Sum of the step sizes that the round has used before a step.

    Steps of 2/8 and 2/9, of which the second round of two local steps begins with the third, 2/10.

    >>> from fedtheory.rational._alignment import two_parabolas
    >>> run = two_parabolas((Fraction(1), Fraction(1)), local_steps=2)
    >>> elapsed(run, 1), elapsed(run, 2), elapsed(run, 3)
    (Fraction(1, 4), Fraction(0, 1), Fraction(1, 5))
    """
    return sum((run.step_size(i) for i in range(step - step % run.local_steps, step)), start=Fraction(0))
