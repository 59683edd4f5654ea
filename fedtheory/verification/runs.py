"""Federated averaging on a small rational federation, followed along every path: expectations without sampling."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, final

from fedtheory.law import Law
from fedtheory.sampling.selections import Selection
from fedtheory.verification.rational import RationalQuadratics, Vector, combination, difference, norm2

__all__ = ["Noise", "RationalRun", "Snapshot", "expected", "mean_weights", "no_noise", "two_point_noise"]

Noise = tuple[tuple[Fraction, Vector], ...]
"""A gradient noise of mean zero: pairs (probability, value)."""


class Snapshot(NamedTuple):
    """One way in which a run can stand at a step.

    Attributes
    ----------
    probability
        Its probability.
    anchor
        The server's model at the start of the round.
    chosen
        The selected clients, copies included.
    coefficients
        Aggregation coefficient of each of them.
    local
        Model of each of them.
    average
        The virtual averaged model.
    """

    probability: Fraction
    anchor: Vector
    chosen: tuple[int, ...]
    coefficients: Vector
    local: tuple[Vector, ...]
    average: Vector


def mean_weights(chosen: tuple[int, ...]) -> Vector:
    """Coefficients 1/m of the plain mean."""
    return tuple(Fraction(1, len(chosen)) for _ in chosen)


def no_noise(dim: int) -> Noise:
    """Return the noise that is always zero."""
    return ((Fraction(1), (Fraction(0),) * dim),)


def two_point_noise(high: Vector, odds: Fraction = Fraction(1)) -> Noise:
    """Noise that is ``high`` with probability 1/(1 + odds), else ``-high/odds``; its variance is ``|high|^2/odds``.

    >>> two_point_noise((Fraction(3),), Fraction(2))
    ((Fraction(1, 3), (Fraction(3, 1),)), (Fraction(2, 3), (Fraction(-3, 2),)))
    """
    low = tuple(-entry / odds for entry in high)
    return ((1 / (1 + odds), high), (odds / (1 + odds), low))


def expected(snapshots: Iterable[Snapshot], value: Callable[[Snapshot], Any]) -> Any:
    """Average a function of how the run stands, over all the ways in which it can stand."""
    return sum(snapshot.probability * value(snapshot) for snapshot in snapshots)


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
    weigh: Callable[[tuple[int, ...]], Vector] = mean_weights
    aggregate: str = "models"

    def round_start(self, step: int) -> int:
        """Step at which the round of a step began, t_0."""
        return step - step % self.local_steps

    @property
    def sigma2(self) -> Fraction:
        """Variance of the gradient noise."""
        return sum((probability * norm2(value) for probability, value in self.noise), start=Fraction(0))

    @cached_property
    def snapshots(self) -> tuple[tuple[Snapshot, ...], ...]:
        """The law of the run at each step 0..T; at the start of a round the selection is drawn already."""
        return tuple(self._walk())

    def _walk(self) -> Iterator[tuple[Snapshot, ...]]:
        standing = tuple(self._selected({self.initial: Fraction(1)}))
        yield standing
        for step in range(1, self.num_steps + 1):
            standing = tuple(self._stepped(standing, self.step_size(step - 1)))
            if step % self.local_steps == 0:
                standing = tuple(self._selected(_law_of_averages(standing)))
            yield standing

    def _selected(self, models: dict[Vector, Fraction]) -> Iterator[Snapshot]:
        for model, probability in models.items():
            for chosen, chance in self.select(model).items():
                local = (model,) * len(chosen)
                yield Snapshot(probability * chance, model, chosen, self.weigh(chosen), local, model)

    def _stepped(self, standing: tuple[Snapshot, ...], step_size: Fraction) -> Iterator[Snapshot]:
        for probability, anchor, chosen, coefficients, local, _ in standing:
            gradients = [self.federation.gradient(k, w) for k, w in zip(chosen, local, strict=True)]
            for draws in product(self.noise, repeat=len(chosen)):
                chance, moved = probability, []
                for w, gradient, (likelihood, noise) in zip(local, gradients, draws, strict=True):
                    chance *= likelihood
                    moved.append(tuple(x - step_size * (g + n) for x, g, n in zip(w, gradient, noise, strict=True)))
                average = self._average(anchor, coefficients, moved)
                yield Snapshot(chance, anchor, chosen, coefficients, tuple(moved), average)

    def _average(self, anchor: Vector, coefficients: Vector, local: list[Vector]) -> Vector:
        if self.aggregate == "models" and local:
            return combination(coefficients, local)
        return combination((Fraction(1), *coefficients), (anchor, *(difference(w, anchor) for w in local)))


def _law_of_averages(standing: Iterable[Snapshot]) -> dict[Vector, Fraction]:
    models: dict[Vector, Fraction] = {}
    for snapshot in standing:
        models[snapshot.average] = models.get(snapshot.average, Fraction(0)) + snapshot.probability
    return models
