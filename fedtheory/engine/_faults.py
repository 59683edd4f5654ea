"""Error messages about rules: the strategy, the rule, the round, what was expected and what was given."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from fedtheory._support.compiling import is_compiled
from fedtheory._support.strict import plain
from fedtheory.engine._plain import RuleFault
from fedtheory.engine.contract import KERNELS, SLOTS
from fedtheory.methods.rules import METHOD_RULES
from fedtheory.selection.rules import RULES, Rules

__all__ = ["failures_named", "fault", "raised_by"]


def fault(strategy: str, state: Any) -> str:
    """Return the error message for the rule that stopped the loop."""
    rule, round_index = _where(state)
    if rule == "attend":
        wanted = f"return how many clients it left present, {np.count_nonzero(state.present)}, got {_returned(state)}"
    elif rule == "weigh":
        size = int(state.report[3])
        wanted = fault_of_weights(state.report[2], state.coefficients[:size], state.chosen)
    else:
        clients = getattr(state, RULES[rule].writes[-1])
        wanted = fault_of_clients(clients, _returned(state), state.counts.size)
        # Repeated clients stop the loop only if the method keeps a state of each client.
        named = f"got {clients[: _returned(state)].tolist()}"
        wanted = wanted or f"choose different clients for a method that keeps a state of each, {named}"
    return f"the rule {rule} of {strategy} must {wanted} in round {round_index}"


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


def _where(state: Any) -> tuple[str, int]:
    return tuple(SLOTS)[int(state.report[0])], int(state.report[1])


def _returned(state: Any) -> int:
    return int(state.report[2])


@contextmanager
def failures_named(job: Any, state: Any) -> Iterator[None]:
    """Add the rule, its strategy or method, and the round to any exception that a rule raises."""
    try:
        yield
    except Exception as error:
        rule, round_index = _where(state)
        if rule in KERNELS:
            where = f"the kernel {rule}"
        else:
            where = f"the rule {rule} of {job.method if rule in METHOD_RULES else job.name}"
        message = raised_by(where, round_index, error)
        if rule == "select" and isinstance(error, IndexError | ValueError) and _needs_candidates(job.rules, state):
            message = (
                f"{where} finds no candidates and no losses, since there is no rule propose, which asks for them: "
                f"give Rules propose= and max_candidates= if it reads them ({error}, in round {round_index})"
            )
        if message:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from error
        error.add_note(f"raised by {where} in round {round_index}")
        raise


def raised_by(where: str, round_index: int, error: Exception) -> str:
    """Return an error message in one sentence; empty for types that only the author of the rule can explain."""
    if isinstance(error, RuleFault):
        return f"{where} {error} in round {round_index}"
    if isinstance(error, IndexError) and "out of bounds" in str(error):
        return f"{where} must stay within its arrays, got an index out of bounds in round {round_index}: {error}"
    if isinstance(error, ValueError | TypeError | LookupError | ArithmeticError):
        text = " ".join(str(error).split())
        return f"{where} must not raise, got {type(error).__name__} in round {round_index}: {text}"
    return ""


def _needs_candidates(rules: Rules, state: Any) -> bool:
    """Whether ``select``, called again, raises an error without candidates and none if all clients are candidates."""
    if rules.propose is not None:
        return False
    rule = plain(rules.select) if is_compiled(rules.select) else rules.select
    table, weights = state.table.view(), state.weights.view()
    table.flags.writeable = weights.flags.writeable = False  # read-only, as in the loop

    def raises(number: int) -> bool:
        # The same memory and random numbers in both calls, so that only the candidates differ.
        known = (_where(state)[1], table, state.memory.copy(), weights, np.arange(number), np.ones(number))
        try:
            with np.errstate(all="ignore"):
                rule(*known, deepcopy(state.selection_rng), np.full(rules.max_selected, -1))
        except Exception:
            return True
        return False

    return raises(0) and not raises(weights.size)
