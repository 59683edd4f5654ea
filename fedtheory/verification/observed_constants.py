"""Smallest constants for which a theorem's hypotheses hold along a run: they give the sharpest form of its bound."""

from fractions import Fraction
from functools import partial
from typing import NamedTuple

from fedtheory.verification.rational import RationalQuadratics, Vector, norm2
from fedtheory.verification.runs import RationalRun, Snapshot, expected
from fedtheory.verification.selections import Law, average_over

__all__ = ["Skews", "observed_gradient_bound", "observed_skews", "skew"]


class Skews(NamedTuple):
    """Extreme selection skews over the models that a run visits, the minimizer and infinity."""

    rho_bar: Fraction
    rho_tilde: Fraction
    rho_diagonal: Fraction


def skew(run: RationalRun, law: Law, w: Vector) -> Fraction | None:
    """Return the selection skew of a law at a model (Power-of-Choice, eqs. (5), (76)); None where it is 0/0."""
    total = run.federation.total_excess(w)
    if not total:
        return None
    return _selected_excess(run, law, w) / total


def _selected_excess(run: RationalRun, law: Law, w: Vector) -> Fraction:
    fed = run.federation

    def excess(chosen: tuple[int, ...]) -> Fraction:
        terms = zip(run.weigh(chosen), chosen, strict=True)
        return sum((coefficient * fed.excess(k, w) for coefficient, k in terms), start=Fraction(0))

    return Fraction(average_over(law, excess))


def observed_skews(run: RationalRun) -> Skews:
    """Extremes of the skew over the round starts and averaged models of a run, the minimizer and infinity.

    At infinity the skew of a selection lies in [mu/L, L/mu], so that the infima are capped there by L/mu. Where all
    clients have the same minimizer the skew there is 0/0; rho_tilde is then the larger of the two infima.
    """
    fed = run.federation
    starts = _visited(run, starts_only=True) | {fed.minimizer}
    models = _visited(run, starts_only=False) | {fed.minimizer}
    laws = {w: run.select(w) for w in starts}
    cap = fed.smoothness / fed.strong_convexity
    distinct = set(laws.values())
    everywhere = [cap, *(rho for law in distinct for w in models if (rho := skew(run, law, w)) is not None)]
    diagonal = [cap, *(rho for w, law in laws.items() if (rho := skew(run, law, w)) is not None)]
    at_minimizer = [rho for law in distinct if (rho := skew(run, law, fed.minimizer)) is not None]
    return Skews(min(everywhere), max(at_minimizer, default=min(diagonal)), min(diagonal))


def _visited(run: RationalRun, *, starts_only: bool) -> set[Vector]:
    steps = range(0, max(run.num_steps, 1), run.local_steps if starts_only else 1)
    return {snapshot.average for step in steps for snapshot in run.snapshots[step]}


def observed_gradient_bound(run: RationalRun, first: int = 0, last: int | None = None) -> Fraction:
    """Return the smallest G2 that the repaired convergence proofs need for the steps first, ..., last - 1 of a run.

    It bounds ``E sum_k q_k |g_k|^2`` over the active copies (q_k = 1/m for the mean) at each of these steps, and
    ``E |grad F_k(u)|^2`` for every client at the starting model u of each of their rounds. A bound over all models is
    larger.
    """
    fed = run.federation
    steps = range(run.round_start(first), max(run.num_steps if last is None else last, 1))
    active = [expected(run.snapshots[step], lambda at: _active_gradients(fed, at)) + run.sigma2 for step in steps]
    starts = [
        expected(run.snapshots[step], partial(_starting_gradient, fed, k))
        for step in steps
        if run.round_start(step) == step
        for k in range(fed.num_clients)
    ]
    return Fraction(max(*active, *starts))


def _starting_gradient(fed: RationalQuadratics, client: int, at: Snapshot) -> Fraction:
    return norm2(fed.gradient(client, at.anchor))


def _active_gradients(fed: RationalQuadratics, at: Snapshot) -> Fraction:
    terms = zip(at.coefficients, at.chosen, at.local, strict=True)
    return sum((q * norm2(fed.gradient(k, w)) for q, k, w in terms), start=Fraction(0))
