"""Section 3: the bound and the exact worst case on a map of two constants."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Any

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.referee.clock import Clock
from fedtheory.referee.review import Axis, Cell, Constants, Missing, Status, Tightness, named
from fedtheory.referee.subject import Subject
from fedtheory.theorem.step_sizes import largest_step_size

__all__ = ["mapped"]

_SHARE = 0.4
"""Share of the time that is left."""
_KAPPA = (2, 5, 10, 100)
_COUNTS = (1, 2, 3)
_VALUES = 4
"""Values of a constant that is neither kappa nor a count."""
_SHORTER = (Fraction(1), Fraction(99, 100), *(Fraction(1, 2**k) for k in range(1, 8)))
_STARTS = {"squared distance": ("distance2", "initial_distance2"), "potential": ("potential", "initial_potential"),
           "gap": ("gap", "initial_gap")}  # fmt: skip
"""Arguments that are the value of a left-hand side before the method starts."""


def mapped(subject: Subject, clock: Clock) -> Tightness | Missing:
    """Compare the bound with the worst case on a map; the cells that the time allows."""
    if subject.why_no_problem:
        return Missing(subject.why_no_problem)
    base = max(subject.points, key=lambda point: point.get("step_size", 0))
    axes = _axes(subject, base)
    definition, trivial = _trivial(subject)
    cells: list[Cell] = []
    places = [(i, j) for j in range(len(axes[1].values)) for i in range(len(axes[0].values))]
    with clock.limit(_SHARE):
        for place in places:
            clock.step(f"3 tightness: cell {len(cells) + 1} of {len(places)}")
            cells.append(_cell(subject, place, axes, base, trivial))
    missing = f"; {clock.ended} after {len(cells)} of {len(places)} cells" if clock.ended else ""
    if not cells:
        return Missing(f"{clock.ended} before the first cell")
    return Tightness(axes, tuple(cells), definition, _finding(cells) + missing)


def _axes(subject: Subject, base: Constants) -> tuple[Axis, Axis]:
    """Return kappa and tau where they exist; otherwise the first constants that vary."""
    found = []
    if {"mu", "L"} <= base.keys() and "mu" in subject.names:
        found.append(Axis("kappa", _KAPPA))
    counts = [name for name in ("local_steps", "num_rounds") if name in base]
    rest = [name for name in subject.names if name not in ("mu", "L", *counts)]
    for name in (*counts, *sorted(rest, key=lambda name: name == "step_size")):
        if not isinstance(base[name], list | tuple) and len(found) < 2:
            values = _COUNTS if name in counts else _quantiles({point[name] for point in subject.points})
            found.append(Axis(name, values))
    found += [Axis("", ("",))] * (2 - len(found))
    return found[0], found[1]


def _quantiles(values: set[Any]) -> tuple[Any, ...]:
    """Return a simple value of each quarter of the values."""
    known = sorted(values)
    cuts = [k * len(known) // _VALUES for k in range(_VALUES + 1)]
    quarters = (known[low:high] for low, high in pairwise(cuts))
    return tuple(min(some, key=lambda c: abs(c.numerator) + c.denominator) for some in quarters if some)


def _cell(subject: Subject, place: tuple[int, int], axes: tuple[Axis, Axis], base: Constants, trivial: Any) -> Cell:
    constants = dict(base)
    for axis, number in zip(axes, place, strict=True):
        if axis.name == "kappa":
            constants["mu"] = Fraction(constants["L"]) / axis.values[number]
        elif axis.name:
            constants[axis.name] = axis.values[number]
    if "num_steps" in base and "local_steps" in base:  # whole rounds
        constants["num_steps"] = max(base["num_steps"] // base["local_steps"], 1) * constants["local_steps"]
    fixed = {axis.name for axis in axes}
    fitting = next(_allowed(subject, constants, fixed), None)
    if fitting is None:
        return Cell(place, {}, None, None, None, None, "unknown", "no constants of the cell fulfill the hypotheses")
    try:
        found = subject.compared(fitting)
    except (AssumptionViolated, OracleError, ValueError) as error:
        return Cell(place, fitting, None, None, None, None, "unknown", str(error))
    value, lower, upper = Fraction(found.bound_value), found.worst_case.lower, found.worst_case.upper
    if lower is None or upper is None:
        return Cell(place, fitting, value, lower, upper, None, "unknown", "only one side of the worst case is proved")
    ratio, start = found.looseness if isfinite(found.looseness) else None, trivial(fitting) if trivial else None
    status: Status = "refuted" if lower > value else "attained" if value <= upper else "loose"
    if status == "loose" and start is not None and value >= start:
        status = "vacuous"
    return Cell(place, fitting, value, lower, upper, ratio, status, trivial=None if start is None else Fraction(start))


def _allowed(subject: Subject, constants: Constants, fixed: set[str]) -> Iterator[Constants]:
    """Yield constants that fulfill the hypotheses, with the longest step first unless the step is on an axis."""
    steps = [constants["step_size"]] if "step_size" in constants else []
    if steps and "step_size" not in fixed:
        others = {name: value for name, value in constants.items() if name != "step_size"}
        with suppress(AssumptionViolated, ValueError, TypeError):
            longest = largest_step_size(subject.bound, **others)
            steps = [Fraction(longest).limit_denominator(1000), *steps] if isfinite(longest) else steps
        steps = [share * step for step in steps for share in _SHORTER if share * step > 0]
    for step in steps or [None]:
        candidate = constants if step is None else {**constants, "step_size": step}
        if subject.fulfills(candidate):
            yield candidate


def _trivial(subject: Subject) -> tuple[str, Callable[[Constants], Any] | None]:
    """Return the definition of the trivial bound, and the bound as a function of the constants."""
    bound, quantity = subject.bound, subject.bound.left.quantity if subject.bound.left else ""
    start = next((name for name in _STARTS.get(quantity, ()) if name in bound.domains), None)
    if start is not None:
        return f"the trivial bound is {start}, the value of the left-hand side at the start", lambda c: c[start]
    distance = next((name for name in ("distance2", "initial_distance2") if name in bound.domains), None)
    if quantity == "gap" and distance and "L" in bound.domains:
        return (
            f"the trivial bound is L/2 {distance}, which smoothness gives at the start",
            lambda c: Fraction(c["L"]) / 2 * c[distance],
        )
    horizon = next((name for name in ("num_rounds", "num_steps") if name in bound.domains), None)

    def at_zero(constants: Constants) -> Any:
        try:
            value = bound(**{**constants, str(horizon): 0}, strict=False)[0]
        except ValueError:  # the horizons start at 1
            return None
        return value if isfinite(value) else None

    if horizon is not None:
        return f"the trivial bound is the value of the bound at {horizon}=0, if it has one", at_zero
    return "no trivial bound is known for this left-hand side, so that no cell is called vacuous", None


def _finding(cells: list[Cell]) -> str:
    """Return the finding of the map in one sentence."""
    known = [cell for cell in cells if cell.ratio is not None]
    if not known:
        return f"no worst case was computed on {len(cells)} cells"
    least, most = (side(known, key=lambda cell: cell.ratio or 0) for side in (min, max))
    counts = {word: sum(cell.status == word for cell in cells) for word in ("refuted", "attained", "vacuous")}
    said = ", ".join(f"{word} in {number}" for word, number in counts.items())
    shares = [cell.progress for cell in known if cell.progress is not None]
    promised = f"; it promises {min(shares):.3g} to {max(shares):.3g} of the true progress" if shares else ""
    return (
        f"the bound divided by the exact worst case lies between {least.ratio:.6g} (at {named(least.constants)}) and "
        f"{most.ratio:.6g} (at {named(most.constants)}){promised}; of {len(cells)} cells it is {said}"
    )
