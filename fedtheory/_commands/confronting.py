"""``worst``: the promise of a bound beside the proved worst case of its class."""

from collections.abc import Sequence
from pathlib import Path

from fedtheory._commands.arguments import given
from fedtheory._commands.refusals import one_of, refuse, writable
from fedtheory._commands.showing import write_pairs
from fedtheory._storage.files import deliver, json_bytes
from fedtheory._support.console import show_table
from fedtheory.verification import catalogue

__all__ = ["confront_worst"]


def confront_worst(name: str, rest: Sequence[str], target: Path | None, *, force: bool) -> int:
    """Show what a bound promises and what its class can reach; write the federation that attains it, if asked to."""
    from fedtheory.worst_case.promises import CONFRONTED, confront

    known = catalogue.known_bounds().items()
    bounds = {key: bound for key, bound in known if any(bound is way for way in CONFRONTED)}
    name = one_of(name, list(bounds), "a bound whose worst case is known")
    writable(target, "--instance", force=force)
    try:
        found = confront(bounds[name], **given(bounds[name], rest))
        instance = found.worst.instance().as_data() if target is not None else None
    except (ValueError, TypeError) as error:
        refuse(str(error))
    remark = [("remark", found.remark)] if found.remark else []
    write_pairs([("bound", name), ("source", str(bounds[name].statement)), *remark])
    show_table(found.rows())
    if target is not None:
        deliver(target, json_bytes(instance))
    return 0
