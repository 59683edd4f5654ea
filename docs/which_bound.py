"""The table of the page "Which bound applies?": bounds by the settings that their hypotheses describe."""

from fedtheory.formal import REFUTED
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.setting import Setting, setting_of
from fedtheory.verification.catalogue import known_bounds

HEAD = """| Functions | Selection | Aggregation | Gradients | Whole runs | One step or round |
| --- | --- | --- | --- | --- | --- |
"""
_CONVEXITY = ("strongly convex", "convex", "non-convex")


def table() -> str:
    """One row for each setting; rows with fewer assumptions on functions come last."""
    rows: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, bound in known_bounds().items():
        if name not in REFUTED:
            setting = setting_of(bound)
            cells = rows.setdefault(_row(setting), {"whole run": [], "one round": []})
            cells[setting.horizon].append(_linked(name, bound))
    ordered = sorted(rows, key=lambda row: (_CONVEXITY.index(row[0]), *row[1:]))
    lines = (f"| {' | '.join((*row, *('<br>'.join(named) for named in rows[row].values())))} |" for row in ordered)
    return HEAD + "\n".join(lines) + "\n"


def _row(setting: Setting) -> tuple[str, ...]:
    gradients = setting.gradients + (", bounded" if setting.bounded_gradients else "")
    return setting.convexity, setting.selection.replace(", ", "; "), setting.aggregation.replace(", ", "; "), gradients


def _linked(name: str, bound: Bound) -> str:
    return f"{{py:func}}`{name} <{bound.__module__}.{bound.__name__}>`"
