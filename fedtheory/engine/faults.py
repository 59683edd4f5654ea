"""Error messages about rules: the strategy, the rule, the round, what must hold and what was given."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fedtheory.engine.contract import KERNELS, SLOTS
from fedtheory.methods.rules import METHOD_RULES
from fedtheory.selection.rules import RULES

__all__ = ["failures_named", "fault", "fault_of_clients", "fault_of_weights", "raised_by", "refused_rule"]


def refused_rule(name: str, rule: Any, error: Exception) -> TypeError:
    """Return the error for a function that cannot be compiled for its slot."""
    home = "methods.rules" if name in METHOD_RULES else "selection.rules"
    known, slot = getattr(rule, "__name__", repr(rule)), SLOTS[name]
    message = f"the rule {name} must follow fedtheory.{home}, got {known}: {reason(error)}; "
    return TypeError(f"{message}wanted {name}{slot}, writing {' and '.join(slot.writes)}")


def reason(error: Exception) -> str:
    """Return the first sentence of numba's error and the source line that it refers to."""
    text = str(error)
    place = re.search(r'File "([^"<]+)", line (\d+)', text)
    if "Cannot modify readonly" in text:
        said = "it writes into what it may only read"
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
        said = re.sub(r" for '\$.*", "", lines[0]).rstrip(":") if lines else type(error).__name__
    return f'{said} (File "{place[1]}", line {place[2]})' if place else said


def fault(job: Any, state: Any, *, is_short: bool) -> str:
    """Return the error message for the rule that stopped the loop, or for too few available clients."""
    if is_short:
        return (
            f"at least {job.rules.min_present} clients must be available in every round (shortfall='allow' selects "
            f"fewer), got fewer in round {int(state.report[1])}"
        )
    rule, round_index = tuple(SLOTS)[int(state.report[0])], int(state.report[1])
    if rule == "attend":
        num_present = np.count_nonzero(state.weights >= 0.0)
        wanted = f"return how many clients it left present, {num_present}, got {int(state.report[2])}"
    elif rule == "weigh":
        size = int(state.report[3])
        wanted = fault_of_weights(state.report[2], state.coefficients[:size], state.chosen)
    else:
        clients, returned = getattr(state, RULES[rule].writes[-1]), int(state.report[2])
        wanted = fault_of_clients(clients, returned, state.weights.size)
        # Repeated clients stop the loop only if the method keeps a state of each client.
        named = f"got {clients[:returned].tolist()}"
        wanted = wanted or f"choose different clients for a method that keeps a state of each, {named}"
    return f"the rule {rule} of {job.settings.strategy!r} must {wanted} in round {round_index}"


def fault_of_clients(written: Any, returned: int, num_clients: int) -> str:
    """Return what is wrong with the clients that a rule wrote; empty if they are valid."""
    if not 0 <= returned <= written.size:
        return f"return a number of clients in 0..{written.size}, got {returned}"
    named = written[:returned]
    strange = named[(named < 0) | (named >= num_clients)]
    wanted = f"name clients in 0..{num_clients - 1}, -1 standing where it writes nothing"
    return f"{wanted}, got {strange[0]}" if strange.size else ""


def fault_of_weights(extra: float, coefficients: Any, chosen: Any) -> str:
    """Return what is wrong with the coefficients of the selected clients; empty if they are valid."""
    if not 0 <= extra < np.inf:
        return f"return the number of additional floats sent, finite and at least 0, got {extra}"
    bad = np.flatnonzero(~np.isfinite(coefficients))
    wanted = "write a finite coefficient for each chosen client, nan standing where it writes nothing"
    return f"{wanted}, got {coefficients[bad[0]]} for client {chosen[bad[0]]}" if bad.size else ""


@contextmanager
def failures_named(job: Any, state: Any) -> Iterator[None]:
    """Add the rule, its strategy or method, and the round to any exception that a rule raises."""
    try:
        yield
    except Exception as error:
        rule, round_index = tuple(SLOTS)[int(state.report[0])], int(state.report[1])
        if rule in KERNELS:
            where = f"the kernel {rule}"
        else:
            where = f"the rule {rule} of {job.settings.method if rule in METHOD_RULES else repr(job.settings.strategy)}"
        message = raised_by(where, round_index, error)
        is_empty = any(words in str(error) for words in ("size 0", "empty sequence", "(0,)"))
        if message and is_empty and rule == "select" and job.rules.propose is None:
            message += " (no rule propose names candidates: give Rules propose= and max_candidates=)"
        if message:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from error
        error.add_note(f"raised by {where} in round {round_index}")
        raise


def raised_by(where: str, round_index: int, error: Exception) -> str:
    """Return an error message in one sentence; empty for types that only the author of the rule can explain."""
    text = " ".join(str(error).split())
    if isinstance(error, IndexError) and "out of bounds" in text:
        return f"{where} must stay within its arrays, got an index out of bounds in round {round_index}: {text}"
    if isinstance(error, ValueError | TypeError | LookupError | ArithmeticError):
        return f"{where} must not raise, got {type(error).__name__} in round {round_index}: {text}"
    return ""
