"""The tables of the page "Which bound applies?": for each quantity the bounds on it, with the setting of each."""

from reference import linked

from fedtheory.formal import REFUTED
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.left_side import QUANTITIES, LeftSide
from fedtheory.theorem.setting import setting_of
from fedtheory.verification.catalogue import known_bounds

HEAD = """\
| Bound | Left side | Functions | Selection; aggregation | Gradients |
| --- | --- | --- | --- | --- |
"""
_CONVEXITY = ("strongly convex", "convex", "non-convex")
_HORIZONS = ("whole run", "one round")


def table() -> str:
    """Return a table for each quantity; whole runs come first, and fewer assumptions on functions last."""
    rows: dict[str, list[str]] = {quantity: [] for quantity in QUANTITIES}
    for name, bound in sorted(known_bounds().items(), key=lambda item: _place(item[1])):
        if name not in REFUTED and bound.left is not None:
            rows[bound.left.quantity].append(row(name, bound, bound.left))
    parts = (
        f"### {text[:1].upper()}{text[1:]}\n\n{HEAD}" + "\n".join(rows[quantity])
        for quantity, text in QUANTITIES.items()
        if rows[quantity]
    )
    return "\n\n".join(parts) + "\n"


def row(name: str, bound: Bound, left: LeftSide) -> str:
    """Return the line of a bound: what it bounds, and its setting."""
    setting = setting_of(bound)
    # A bar would end a cell of the table.
    formula = left.latex.replace(r"\|", r"\Vert ")
    words = left.description.removeprefix(f"{left.quantity} ").removeprefix("of ")
    gradients = setting.gradients + (", bounded" if setting.bounded_gradients else "")
    cells = (
        linked(name, bound),
        f"${formula}$<br>{words}",
        setting.convexity,
        f"{setting.selection}; {setting.aggregation}",
        gradients,
    )
    return f"| {' | '.join(cells)} |"


def _place(bound: Bound) -> tuple[int, int]:
    setting = setting_of(bound)
    return _HORIZONS.index(setting.horizon), _CONVEXITY.index(setting.convexity)
