"""The contract as the documentation shows it: Markdown tables of slots, arguments and recordings."""

from collections.abc import Iterable

from fedtheory.engine.contract import ARGUMENTS, KERNELS, RECORDS
from fedtheory.methods.rules import METHOD_RULES
from fedtheory.selection.rules import RULES, Slot

__all__ = ["tables"]


def tables() -> dict[str, str]:
    """Return the tables by name: ``rules``, ``methods``, ``kernels``, ``arguments`` and ``records``."""
    arguments = ((f"`{name}`", one.kind, _shape(one.shape), one.says) for name, one in ARGUMENTS.items())
    records = ((f"`{name}`", _shape(("R", "n", *one.shape)), one.says) for name, one in RECORDS.items())
    return {
        "rules": _slots(RULES),
        "methods": _slots(METHOD_RULES),
        "kernels": _slots(KERNELS),
        "arguments": _table(("argument", "type", "shape", "meaning"), arguments),
        "records": _table(("record", "shape", "meaning"), records),
    }


def _slots(slots: dict[str, Slot]) -> str:
    rows = (
        (f"`{name}{slot}`", ", ".join(f"`{one}`" for one in slot.writes), f"{slot.says}")
        for name, slot in slots.items()
    )
    return _table(("function", "writes", "what it does"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _shape(shape: tuple[str, ...]) -> str:
    return f"({', '.join(shape)}{',' if len(shape) == 1 else ''})" if shape else ""
