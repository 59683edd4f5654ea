"""What is wrong with a rule, in one sentence: the strategy, the rule, the round, what is wanted and what is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fedtheory.engine.contract import PLUGGED, SLOTS
from fedtheory.methods.rules import METHOD_RULES
from fedtheory.selection.rules import RULES

__all__ = ["failures_named", "fault"]


def fault(strategy: str, space: Any, present: Any) -> str:
    """Say what the rule did after which the loop stopped."""
    rule, round_index = _where(space)
    if rule == "attend":
        wanted = f"return how many clients it left present, {np.count_nonzero(present)}, got {_returned(space)}"
    elif rule == "weigh":
        wanted = _wanted_of_weights(space)
    else:
        wanted = _wanted_of_clients(getattr(space, RULES[rule].writes[-1]), _returned(space), space.counts.size)
    return f"the rule {rule} of {strategy} must {wanted} in round {round_index}"


def _wanted_of_clients(written: Any, returned: int, num_clients: int) -> str:
    if not 0 <= returned <= written.size:
        return f"return a number of clients in 0..{written.size}, got {returned}"
    named = written[:returned]
    strange = named[(named < 0) | (named >= num_clients)]
    return f"name clients in 0..{num_clients - 1}, -1 standing where it writes nothing, got {strange[0]}"


def _wanted_of_weights(space: Any) -> str:
    extra, size = space.report[2], int(space.report[3])
    if not 0 <= extra < np.inf:
        return f"return how many floats go up besides, finite and at least 0, got {extra}"
    at = int(np.argmin(np.isfinite(space.coefficients[:size])))
    return (
        f"write a finite coefficient for each chosen client, nan standing where it writes nothing, got "
        f"{space.coefficients[at]} for client {space.chosen[at]}"
    )


def _where(space: Any) -> tuple[str, int]:
    return tuple(SLOTS)[int(space.report[0])], int(space.report[1])


def _returned(space: Any) -> int:
    return int(space.report[2])


@contextmanager
def failures_named(strategy: str, method: str, space: Any) -> Iterator[None]:
    """Say which rule of which strategy or method failed in which round, whatever it raised."""
    try:
        yield
    except Exception as error:
        rule, round_index = _where(space)
        if rule not in PLUGGED:
            raise
        where = f"the rule {rule} of {method if rule in METHOD_RULES else strategy}"
        if isinstance(error, IndexError):
            message = f"{where} must stay within its arrays, got an index out of bounds in round {round_index}: {error}"
            raise ValueError(message) from error
        error.add_note(f"raised by {where} in round {round_index}")
        raise
