"""Smallest constants that satisfy a theorem's hypotheses along a run."""

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.noise import variance_of
from fedtheory.instances.runs import Beginning, RationalRun, Run, Snapshot
from fedtheory.instances.vectors import Vector, inner, norm2
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law

__all__: list[str] = []


def constants_of(run: Run) -> dict[str, Any]:
    """Return the constants of a run's federation and noise under the argument names of the bounds."""
    fed = run.federation
    return {
        "mu": fed.strong_convexity,
        "L": fed.smoothness,
        "sigma2": variance_of(run.noise),
        "objective_gap": fed.objective_gap,
    }


def initial_distance2(run: Run) -> Fraction:
    """Squared distance of the first model from the minimizer."""
    return norm2(run.initial - run.federation.minimizer)


class Skews(NamedTuple):
    """Extreme selection skews over the models that a run visits, the minimizer and infinity."""

    rho_bar: Fraction
    rho_tilde: Fraction
    rho_diagonal: Fraction


def skew(run: RationalRun, law: Law[Selection], w: Vector) -> Fraction | None:
    """Return the selection skew of a law at a model (Power-of-Choice, eqs. (5), (76)); None if it is 0/0.

    Clients (w - 1)^2/2 and (w + 1)^2/2 at w = 2: excess losses 1/2 and 9/2, mean 5/2.
    For a selection of the second client the skew is 9/5.

    >>> from fedtheory.instances.federations import opposite_clients
    >>> from fedtheory.instances.noise import no_noise
    >>> from fedtheory.instances.vectors import vector
    >>> second = Law.certain((1,))
    >>> run = RationalRun(opposite_clients(), lambda _: second, 1, lambda _: Fraction(1, 4), vector(2), 1, no_noise(1))
    >>> skew(run, second, run.initial)
    Fraction(9, 5)
    """
    return _skew(_expected_coefficients(run, law), run.federation.weights, run.federation.excesses(w))


def _skew(coefficients: Vector, weights: Vector, excesses: Vector) -> Fraction | None:
    total = inner(weights, excesses)
    return inner(coefficients, excesses) / total if total else None


def _expected_coefficients(run: RationalRun, law: Law[Selection]) -> Vector:
    def coefficient(client: int, chosen: Selection) -> Fraction:
        return sum((q for q, k in zip(run.weigh(chosen), chosen, strict=True) if k == client), start=Fraction(0))

    return Vector(law.mean(partial(coefficient, k)) for k in range(run.federation.num_clients))


def observed_skews(run: RationalRun) -> Skews:
    """Extremes of the skew over the round starts and averaged models of a run, the minimizer and infinity.

    At infinity the skew of a selection is in [mu/L, L/mu], so that the infima are at most L/mu. If all clients have the
    same minimizer, the skew there is 0/0, and rho_tilde is the larger of the two infima.

    """
    fed = run.federation
    cap = fed.smoothness / fed.strong_convexity
    excesses = {w: fed.excesses(w) for w in _visited(run, starts_only=False) | {fed.minimizer}}
    selected = {
        w: _expected_coefficients(run, run.select(w)) for w in _visited(run, starts_only=True) | {fed.minimizer}
    }
    distinct = set(selected.values())

    def skews(pairs: Iterable[tuple[Vector, Vector]]) -> list[Fraction]:
        found = (_skew(coefficients, fed.weights, excesses[w]) for coefficients, w in pairs)
        return [rho for rho in found if rho is not None]

    everywhere = min([cap, *skews(itertools.product(distinct, excesses))])
    diagonal = min([cap, *skews((coefficients, w) for w, coefficients in selected.items())])
    at_minimizer = skews((coefficients, fed.minimizer) for coefficients in distinct)
    return Skews(everywhere, max(at_minimizer, default=diagonal), diagonal)


def _visited(run: RationalRun, *, starts_only: bool) -> set[Vector]:
    steps = range(0, max(run.num_steps, 1), run.local_steps if starts_only else 1)
    return {snapshot.average for step in steps for snapshot in run.snapshots[step]}


def active_gradient_bound(run: Run, first: int, last: int) -> Fraction:
    """Return the smallest G2 with ``E sum_k q_k |g_k|^2 <= G2`` over the active copies at the steps first..last - 1.

    The q_k are the aggregation coefficients, 1/m for the mean.
    """
    fed = run.federation

    def squares(at: Snapshot) -> Fraction:
        return at.mean(lambda k, w: norm2(fed.gradient(k, w)))

    return Fraction(max(run.snapshots[step].mean(squares) for step in range(first, last)) + variance_of(run.noise))


def observed_gradient_bound(run: Run, first: int = 0, last: int | None = None) -> Fraction:
    """Return the smallest G2 for the repaired convergence proofs at the steps first, ..., last - 1 of a run.

    It bounds ``E sum_k q_k |g_k|^2`` over the active copies (q_k = 1/m for the mean) at each of these steps, and ``E
    |grad F_k(u)|^2`` for every client at the starting model u of each of their rounds.
    """
    fed, end = run.federation, max(run.num_steps if last is None else last, 1)
    starts = (
        beginnings.mean(partial(_starting_gradient, fed, k))
        for beginnings in run.rounds[first // run.local_steps : -(-end // run.local_steps)]
        for k in range(fed.num_clients)
    )
    return Fraction(max(active_gradient_bound(run, first - first % run.local_steps, end), *starts))


def _starting_gradient(fed: RationalQuadratics, client: int, beginning: Beginning) -> Fraction:
    return norm2(fed.gradient(client, beginning.anchor))


def client_gradient_bound(run: Run, fixed: tuple[Vector, ...] = ()) -> Fraction:
    """Return the smallest G2 with ``E |g_k|^2 <= G2`` for every active client given its round's beginning.

    It also bounds the gradients of all clients at the given fixed models.

    >>> from dataclasses import replace
    >>> from fedtheory.instances.noise import two_point_noise
    >>> from fedtheory.instances.runs import two_parabolas
    >>> from fedtheory.instances.vectors import vector
    >>> run = replace(two_parabolas(vector(9)), initial=vector(3), noise=two_point_noise(vector("1/2")))
    >>> client_gradient_bound(run)
    Fraction(37, 4)
    """
    elsewhere = (norm2(gradient) for w in fixed for gradient in run.federation.gradients(w))
    return Fraction(max(itertools.chain(elsewhere, _squared_gradients(run)))) + variance_of(run.noise)


def _squared_gradients(run: Run) -> Iterator[Fraction]:
    for beginning in itertools.chain.from_iterable(run.rounds):
        for snapshot in beginning.snapshots[:-1]:
            for place, k in enumerate(beginning.cohort.chosen):
                yield snapshot.mean(partial(_gradient_at, run.federation, k, place))


def _gradient_at(fed: RationalQuadratics, client: int, place: int, at: Snapshot) -> Fraction:
    return norm2(fed.gradient(client, at.local[place]))
