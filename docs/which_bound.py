"""The tables of the page "Which bound applies?": bounds by what they bound, with the setting of each."""

from reference import linked

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.formal import REFUTED
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.left_side import MODELS, QUANTITIES, TIMES, LeftSide
from fedtheory.theorem.setting import setting_of

HEAD = """\
| Bound | Left side | Functions; gradients | Selection; aggregation |
| --- | --- | --- | --- |
"""
# Each bound is one line; a table that is too wide scrolls.
_OPEN, _CLOSE = ":::{container} one-line", ":::"


def table() -> str:
    """Return a table for each quantity, model and time; bounds in it are comparable."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, bound in known_bounds().items():
        if name not in REFUTED and (left := bound.left) is not None:
            groups.setdefault((left.quantity, left.after, left.model), []).append(row(name, bound, left))
    words = (list(QUANTITIES), list(TIMES), list(MODELS))
    ranked = sorted(groups, key=lambda group: [known.index(word) for known, word in zip(words, group, strict=True)])
    tables = {group: f"{_OPEN}\n{HEAD}" + "\n".join(groups[group]) + f"\n{_CLOSE}\n" for group in ranked}
    return "\n".join(f"### {title(*group)}\n\n{rows}" for group, rows in tables.items())


def title(quantity: str, after: str, model: str) -> str:
    """Return what the bounds of a group bound, in words."""
    text = LeftSide(quantity, "", model=model, after=after).description
    return text[:1].upper() + text[1:]


def row(name: str, bound: Bound, left: LeftSide) -> str:
    """Return the line of a bound: its left-hand side, and its setting."""
    setting = setting_of(bound)
    # A bar would end a cell of the table.
    formula = f"${left.latex}$".replace(r"\|", r"\Vert ")
    over = f"over {' and '.join(left.over)}" if left.over else ""
    gradients = setting.gradients + (", bounded" if setting.bounded_gradients else "")
    cells = (
        linked(name, bound),
        ", ".join(filter(None, (formula, left.average, over))),
        f"{setting.convexity}; {gradients}",
        f"{setting.selection}; {setting.aggregation}",
    )
    return f"| {' | '.join(cells)} |"
