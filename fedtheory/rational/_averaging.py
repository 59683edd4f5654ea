"""Federated averaging on a small rational federation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedtheory._support import validate
from fedtheory._support.wording import short
from fedtheory.rational._following import follow, snapshots
from fedtheory.rational._noises import Noise, variance_of
from fedtheory.rational._rounds import Beginning, Cohort, Snapshot
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law


def mean_weights(chosen: Selection) -> Vector:
    """Coefficients 1/m of the plain mean.

    >>> mean_weights((3, 3, 5, 7))
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 4))
    """
    return (Fraction(1, len(chosen)),) * len(chosen)


def constant_law(law: Law[Selection]) -> Callable[[Vector], Law[Selection]]:
    """Select by the same law at every model.

    >>> constant_law(Law.certain((0,)))((Fraction(5),))
    Law({(0,): 1})
    """
    return lambda _: law


@final
@dataclass(frozen=True)
class RationalRun:
    """Federated averaging (Power-of-Choice, eqs. (2), (3)) whose every path is followed with its probability.

    Attributes
    ----------
    federation
        The clients.
    select
        The law of the selection at a server's model.
    local_steps
        Steps per round, tau.
    step_size
        eta_t as a function of t.
    initial
        The server's model at the start.
    num_steps
        Number of local steps T; the last round may be cut short.
    noise
        Gradient noise, drawn afresh for each copy and step.
    weigh
        Aggregation coefficients of a selection; the mean unless said otherwise.
    aggregate
        ``models``: the sum of coefficient times local model; ``deltas``: the server's model plus the sum of coefficient
        times local change. They differ when the coefficients do not sum to 1.
    """

    federation: RationalQuadratics
    select: Callable[[Vector], Law[Selection]]
    local_steps: int
    step_size: Callable[[int], Fraction]
    initial: Vector
    num_steps: int
    noise: Noise
    weigh: Callable[[Selection], Vector] = mean_weights
    aggregate: str = "models"

    def __post_init__(self) -> None:
        validate.count("local_steps", self.local_steps)
        validate.size("num_steps", self.num_steps, low=0)
        initial: Any = self.initial
        if not isinstance(initial, tuple) or len(initial) != self.federation.dim:
            message = f"initial must be a vector of {self.federation.dim} rationals, got {short(initial)}"
            raise ValueError(message)

    @property
    def sigma2(self) -> Fraction:
        """Variance of the gradient noise."""
        return variance_of(self.noise)

    def begin(self, number: int, model: Vector) -> Law[Cohort]:  # noqa: ARG002 - every round selects in the same way
        """Law of who takes part in a round, given the server's model."""
        return self.select(model).map(self._cohort)

    def _cohort(self, chosen: Selection) -> Cohort:
        coefficients = self.weigh(chosen)
        stays = self.aggregate == "deltas" or not chosen
        return Cohort(chosen, coefficients, 1 - sum(coefficients, start=Fraction(0)) if stays else Fraction(0))

    def end(self, at: Snapshot) -> Law[Vector]:
        """Return the law of the server's next model, the average."""
        return Law.certain(at.average)

    @cached_property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """How every round can begin, and the one that would come after the last."""
        return follow(self)

    @cached_property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T; at the start of a round the selection is drawn already."""
        return snapshots(self.rounds, self.local_steps, self.num_steps)
