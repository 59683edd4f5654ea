"""Which bounds apply to a run, with their values, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, final, overload

import numpy as np
import numpy.typing as npt

from fedtheory import bounds
from fedtheory._support import validate
from fedtheory._support.discover import members
from fedtheory._support.summary import html_table, short_text
from fedtheory._support.validate import Array
from fedtheory._support.wording import suggest, truncate
from fedtheory.engine.heterogeneity import own_steps
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.estimated_skews import estimated_selection_skew, sampled_models
from fedtheory.exact.runs import OPTIONS, UnknownConstant, described, made_with, refusal, wanted
from fedtheory.federation.prioritized import federation_given
from fedtheory.federation.protocol import Federation
from fedtheory.formal import REFUTED
from fedtheory.selection.rules import Strategy, checked_strategy
from fedtheory.theorem.bound import Bound, is_bound
from fedtheory.theorem.left_side import COMPARABLE, MODELS, TIMES

__all__ = ["Applicability", "ApplicableBounds", "applicable", "bounds_over_rounds"]

_ORDER = ("applies", "applies with estimates", "needs constants", "does not apply")
# Constants that can be estimated at some models, and the largest number of models.
_ESTIMATED = ("G2", "rho_bar", "rho_diagonal", "rho_tilde", "zeta2")
_MOST_MODELS = 100


@final
@dataclass(frozen=True)
class Applicability:
    """Whether a bound applies to a run: ``applies``, ``needs constants`` or ``does not apply``.

    If it applies, ``value`` is the value of the bound at the end of the run. Otherwise ``missing`` are the names of the
    unknown constants, which must be given, and ``reason`` says why they are unknown or which hypothesis is violated. If
    some arguments are ``estimated``, the verdict is ``applies with estimates``, and the value is not a proved bound.
    """

    name: str
    bound: Bound
    verdict: Literal["applies", "applies with estimates", "needs constants", "does not apply"]
    value: float | None
    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    reason: str
    estimated: tuple[str, ...] = ()

    @property
    def result(self) -> str:
        """The value, the missing constants, or the reason, as text."""
        if self.value is not None:
            return f"{self.value:.4g}" + (f" (estimated: {', '.join(self.estimated)})" if self.estimated else "")
        return ", ".join(self.missing) or self.reason


@final
class ApplicableBounds(Sequence[Applicability]):
    """All bounds with their verdicts for one run: those that apply first, grouped by what they bound, by value."""

    def __init__(self, rows: Sequence[Applicability]) -> None:
        self._rows = tuple(sorted(rows, key=_place))

    @overload
    def __getitem__(self, index: int) -> Applicability: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Applicability]: ...
    def __getitem__(self, index: int | slice) -> Applicability | Sequence[Applicability]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Applicability]:
        return iter(self._rows)

    def __repr__(self) -> str:
        shown = [row for row in self if row.verdict != "does not apply"]
        width = max((len(row.name) for row in shown), default=0)
        lines = []
        for title, rows in groupby(shown, key=_title):
            lines += [title, *(short_text(f"  {row.name:{width}}  {row.result}") for row in rows)]
        if len(shown) < len(self):
            lines.append(f"{len(self) - len(shown)} others do not apply: each has a reason")
        if any(row.missing and set(row.missing) <= set(_ESTIMATED) for row in self):
            lines.append("estimate=True estimates the constants that are missing")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def table(rows: Iterable[Applicability]) -> str:
            head = ("bounds", "bound", "source", "verdict", "value, missing constants or reason")
            cells = ((_title(row), row.name, row.bound.statement, row.verdict, row.result) for row in rows)
            return html_table(head, cells)

        others = [row for row in self if row.verdict == "does not apply"]
        shown = table(row for row in self if row.verdict != "does not apply")
        summary = f"<summary>{len(others)} others do not apply: each has a reason</summary>"
        return shown + (f"<details>{summary}{table(others)}</details>" if others else "")


def _title(row: Applicability) -> str:
    """Return the title of the group of a row: what is bounded, and what it can be compared with."""
    if row.value is None:
        return row.verdict
    left = row.bound.left
    if left is None:
        return "left-hand side not declared"
    subject = f"{left.quantity} of {MODELS[left.model]} {TIMES[left.after]}".replace(" of no model", "")
    subject = f"with estimates, {subject}" if row.estimated else subject
    return f"{subject}: compare with {left.measured}" if left.measured else subject


def _place(row: Applicability) -> tuple[int, bool, str, float, str]:
    is_recorded = row.bound.left is not None and bool(row.bound.left.measured)
    value = np.inf if row.value is None else row.value
    return _ORDER.index(row.verdict), not is_recorded, _title(row), value, row.name


def applicable(
    fed: Federation | Trajectory,
    strategy: Strategy | None = None,
    *,
    num_rounds: int | None = None,
    step_size: npt.ArrayLike | Schedule | None = None,
    estimate: bool | npt.ArrayLike = False,
    **settings: Any,
) -> ApplicableBounds:
    """Check all bounds of the library on a run and evaluate those that apply.

    The table groups bounds by their left-hand sides, ``row.bound.left``. Values of different groups cannot be compared
    with each other.

    Parameters
    ----------
    fed, strategy, num_rounds, step_size
        As in ``for_run``; a trajectory in place of ``fed`` contains all of them.
    estimate
        Whether skews, G2 and zeta2 that are unknown for this family of losses are estimated: at the models that the
        run recorded, at models around the minimizer if there are none, or at these models, shape (P, v). The infimum of
        a skew is overestimated, and suprema are underestimated, so that values with estimates are no bounds.
    settings
        Other options of ``fedavg``, and constants of bounds that the user knows, such as ``G2=``. Each constant is
        passed to all bounds that take it.

    Examples
    --------
    >>> from fedtheory import QuadraticFederation
    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> rows = applicable(fed, Full(), num_rounds=50, step_size=0.2, initial=[3.0])
    >>> [(row.name, float(f"{row.value:.3g}")) for row in rows if row.verdict == "applies"][:2]
    [('fedavg.fixed_step_distance', 1.83e-09), ('average_drift.fixed_step_distance', 1.83e-09)]
    """
    if isinstance(fed, Trajectory):
        given = made_with(fed, strategy, num_rounds=num_rounds, step_size=step_size)
        if estimate is True and "models" in fed.records:
            estimate = fed.models
        return applicable(**{**given, "estimate": estimate, **settings})
    known = {name.removeprefix(f"{bounds.__name__}."): bound for name, bound in members(bounds, is_bound)}
    constants = {name for bound in known.values() for name in bound.domains}
    unknown = next((name for name in settings if name not in OPTIONS and name not in constants), None)
    if unknown is not None:
        close = suggest(unknown, [*OPTIONS, *constants])
        message = f"settings must be options of fedavg or constants of a bound, got {unknown}{close}"
        raise TypeError(message)
    if strategy is not None:
        checked_strategy(strategy)
    federation = federation_given(fed)
    if step_size is not None and num_rounds is not None:
        rounds = validate.count("num_rounds", num_rounds, 0)
        largest, _ = own_steps(settings.get("local_steps", 1), federation.num_clients, rounds)
        step_sizes(step_size, rounds, largest)
    run = {"num_rounds": num_rounds, "step_size": step_size, **settings}
    shared: dict[str, Any] = {}
    if estimate is not False:
        points = sampled_models(federation) if estimate is True else _models("estimate", estimate, federation.dim)
        shared["estimates"] = _estimates(federation, strategy, points)
    with np.errstate(over="ignore"):
        return ApplicableBounds(
            [_applicability(_short(name), bound, federation, strategy, run, shared) for name, bound in known.items()]
        )


def bounds_over_rounds(run: Trajectory, quantity: str = "gap", **constants: Any) -> dict[Bound, Array]:
    """Values of all bounds on a quantity of the last model for ``run.rounds``, shape (n,), smallest last value first.

    Parameters
    ----------
    run
        A run of ``fedavg``.
    quantity
        ``gap``, to be compared with ``run.gap``, or ``squared distance``, to be compared with the squared distance of
        ``run.models`` from the minimizer.
    constants
        Constants of bounds that the user knows, as in ``applicable``.

    Examples
    --------
    >>> from fedtheory import QuadraticFederation, fedavg
    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> run = fedavg(fed, Full(), num_rounds=2, step_size=0.5, initial=[3.0], record=("models",))
    >>> bound, values = next(iter(bounds_over_rounds(run, "squared distance").items()))
    >>> print(bound.__name__, values.round(4))
    fixed_step_distance [9.     2.25   0.5625]
    """
    validate.choice("quantity", quantity, tuple(COMPARABLE))
    rows = [
        row
        for row in applicable(run, **constants)
        if row.value is not None and row.bound.left is not None
        if row.bound.left.quantity == quantity and row.bound.left.is_of_last_model
    ]
    num_rounds = max(int(made_with(run)["num_rounds"]), 1)
    return {row.bound: _over_rounds(row, run.rounds, num_rounds) for row in rows}


def _over_rounds(row: Applicability, rounds: npt.NDArray[np.int64], num_rounds: int) -> Array:
    """Return the values of a bound with the horizon of each round in place of that of the run."""
    (name,) = {"num_steps", "num_rounds"} & set(row.arguments)
    horizons = row.arguments[name] * rounds // num_rounds
    return np.asarray([float(row.bound(**{**row.arguments, name: int(horizon)})) for horizon in horizons])


def _short(name: str) -> str:
    paper, *_, function = name.split(".")
    return f"{paper}.{function}"


def _applicability(
    name: str,
    bound: Bound,
    fed: Federation,
    strategy: Strategy | None,
    settings: Mapping[str, Any],
    shared: dict[str, Any],
) -> Applicability:
    if name in REFUTED:
        return Applicability(name, bound, "does not apply", None, {}, (), "it is false as stated")
    own = {key: value for key, value in settings.items() if key in OPTIONS or key in bound.domains}
    run = described(bound, fed, strategy, own, shared)
    try:
        refused = refusal(run)
    except (TypeError, ValueError) as error:
        refused = str(error)
    if refused is not None:
        return Applicability(name, bound, "does not apply", None, {}, (), f"{bound.short_name} {refused}")
    arguments, estimated, missing, reasons = {}, [], [], []
    for each in wanted(run):
        try:
            arguments[each] = run.argument(each)
        except (TypeError, ValueError) as error:
            if run.is_readable(each) and not isinstance(error, UnknownConstant):
                return Applicability(name, bound, "does not apply", None, arguments, (), str(error))
            if each in shared.get("estimates", {}):
                arguments[each] = shared["estimates"][each]
                estimated.append(each)
                continue
            missing.append(each)
            reasons.append(str(error))
    if missing:
        return Applicability(name, bound, "needs constants", None, arguments, tuple(missing), "; ".join(reasons))
    try:
        value = float(bound(**arguments))
    except AssumptionViolated as error:
        return Applicability(name, bound, "does not apply", None, arguments, (), str(error))
    verdict: Any = "applies with estimates" if estimated else "applies"
    return Applicability(name, bound, verdict, value, arguments, (), "", tuple(estimated))


def _models(name: str, given: npt.ArrayLike, dim: int) -> Array:
    """Return the models that are finite, shape (n, v), of an array of shape (..., v) with two dimensions or more."""
    known = validate.extended(name, given, gaps=True)
    if known.ndim < 2 or known.shape[-1] != dim:
        message = f"{name} must be True, False or models of shape (..., {dim}), got {truncate(given)}"
        raise ValueError(message)
    models: Array = known.reshape(-1, dim)
    finite = np.isfinite(models).all(axis=1)
    if not finite.any():
        message = f"{name} must contain a finite model, got none among {len(models)}"
        raise ValueError(message)
    return models[finite]


def _estimates(fed: Federation, strategy: Strategy | None, models: Array) -> dict[str, float]:
    """Estimate constants at some models, shape (n, v)."""
    points = np.unique(models, axis=0)
    points = points[np.unique(np.linspace(0, len(points) - 1, _MOST_MODELS).astype(int))]
    found = {
        "G2": max(float(np.square(fed.gradients(point)).sum(axis=-1).max()) for point in points),
        "zeta2": float(fed.weights @ np.square(fed.gradients(fed.minimizer)).sum(axis=-1)),
    }
    if strategy is None:
        return found
    try:
        skew = estimated_selection_skew(fed, strategy, points, num_draws=1000)
    except ValueError:  # losses of mini-batches, or coefficients that depend on the updates
        return found
    return found | {name: one.value for name, one in skew._asdict().items()}
