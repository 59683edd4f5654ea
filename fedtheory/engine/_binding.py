"""Functions of the round loop's slots: a family's kernels and a strategy's rules, compiled or in plain Python."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

from numba import njit, objmode, types
from numba.core.errors import NumbaError

from fedtheory._support.compiling import is_compiled
from fedtheory._support.strict import strict
from fedtheory.engine._blocks import block_type
from fedtheory.engine._plain import call_plainly
from fedtheory.engine._randomness import foreign_draw
from fedtheory.engine._rounds import run_rounds
from fedtheory.engine._slots import address_of, signature_of
from fedtheory.engine.contract import KERNELS, PLUGGED, SLOTS, Family
from fedtheory.methods.rules import METHOD_RULES, MethodRules
from fedtheory.selection.rules import Rules

__all__ = ["Bound", "bound", "reason", "running"]


@dataclass(frozen=True, eq=False)
class Bound:
    """Functions of a run by slot, and the addresses of the compiled ones.

    Addresses are valid as long as ``functions`` exists. ``problem`` is the type of the family's block. If numba is
    switched off, it is None and functions take the place of addresses.
    """

    addresses: Mapping[str, Any]
    functions: tuple[Any, ...]
    plain: Mapping[str, Callable[..., Any]]
    problem: Any = None


def bound(
    family: Family, rules: Rules, method: MethodRules | None = None, others: Iterable[Family | None] = ()
) -> Bound:
    """Fill the slots; the address of a missing rule is 0. The kernels can read the arrays of other families, too."""
    homes = {**dict.fromkeys(SLOTS, rules), **dict.fromkeys(KERNELS, family), **dict.fromkeys(METHOD_RULES, method)}
    functions = {name: getattr(homes[name], name, None) for name in SLOTS}
    for name, function in functions.items():
        _refuse_foreign_draws(name, function)
    if not is_compiled(run_rounds):  # numba is switched off: everything is plain Python
        return Bound({name: _called_strictly(name, function) or 0 for name, function in functions.items()}, (), {})
    problem, *found = (block_type(each.arrays) for each in (family, *others) if each is not None)
    for other in found:
        if other != problem:
            message = f"validation and test samples must be laid out as those of fed, {problem}, got {other}"
            raise TypeError(message)
    filled = {name: _filled(name, function, problem) for name, function in functions.items()}
    plain = {name: rule for name, rule in functions.items() if name in PLUGGED and rule and not is_compiled(rule)}
    return Bound({name: place for name, (_, place) in filled.items()}, tuple(filled.values()), plain, problem)


def _refuse_foreign_draws(name: str, function: Any) -> None:
    """Raise TypeError for a user's function that uses another generator or the global one."""
    if function is None or _is_ours(function):
        return
    source = foreign_draw(function)
    if source:
        kind, known = "kernel" if name in KERNELS else "rule", getattr(function, "__name__", repr(function))
        message = f"the {kind} {name} must draw from its rng only, got {known}, which uses {source}"
        raise TypeError(message)


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("fedtheory.")


def _called_strictly(name: str, function: Any) -> Any:
    if name not in PLUGGED or function is None or _is_ours(function):
        return function

    def call(*arguments: Any) -> Any:
        return call_plainly(PLUGGED[name], function, arguments)

    return call


def _filled(name: str, function: Any, problem: Any) -> tuple[Any, int]:
    """Return the function to call in a slot, and its address."""
    if function is None:
        return None, 0
    slot = SLOTS[name]
    signature = signature_of(slot, problem)
    if name not in KERNELS and is_compiled(function):
        called = strict(function)
    elif name not in KERNELS:
        called = bridge(name)
        # Numba passes a tuple as separate arguments: StarArgTuple gives the calling convention of the slot.
        signature = signature.return_type(types.StarArgTuple(signature.args))
    else:
        called = function
    try:
        return called, address_of(called, signature)
    except (NumbaError, TypeError, AttributeError) as error:
        kind, home = ("kernel", "engine.contract") if name in KERNELS else ("rule", "selection.rules")
        home = "methods.rules" if name in METHOD_RULES else home
        known = getattr(function, "__name__", repr(function))
        message = f"the {kind} {name} must follow fedtheory.{home}, got {known}: {reason(error, function)}; "
        raise TypeError(f"{message}wanted {name}{slot}, writing {' and '.join(slot.writes)}") from error


def reason(error: Exception, function: Any) -> str:
    """Return the first sentence of numba's error and the source line that it refers to."""
    text = str(error)
    code = getattr(function, "py_func", function).__code__
    place = re.search(r'File "([^"<]+)", line (\d+)', text)
    file, line = place.groups() if place else (code.co_filename, code.co_firstlineno)
    if "Cannot modify readonly" in text:
        said = "it writes into what it may only read"
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
        said = re.sub(r" for '\$.*", "", lines[0]).rstrip(":") if lines else type(error).__name__
    return f'{said} (File "{file}", line {line})'


# mypy: allow-untyped-decorators


# One value per thread: a rule may itself run a simulation.
_RULES: ContextVar[Mapping[str, Callable[..., Any]]] = ContextVar("rules")


@contextmanager
def running(rules: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Make the bridges call these rules in this thread."""
    before = _RULES.set(rules)
    try:
        yield
    finally:
        _RULES.reset(before)


@cache
def bridge(name: str) -> Any:
    """Compile a function that calls the rule of a slot in the interpreter, which takes microseconds.

    The rule is looked up at every call instead of compiled in, because the memory of machine code is never freed and a
    program may make a new rule for every run.
    """
    if PLUGGED[name].returns == "void":

        @njit
        def call(*arguments: Any) -> None:
            with objmode():
                _handed(name, arguments)

        return call
    kind = types.int64 if PLUGGED[name].returns == "int64" else types.float64

    @njit
    def call_for_number(*arguments: Any) -> Any:
        with objmode(answer=kind):
            answer = _handed(name, arguments)
        return answer  # noqa: RET504 # numba takes results out of the block by name

    return call_for_number


def _handed(name: str, arguments: tuple[Any, ...]) -> Any:
    return call_plainly(PLUGGED[name], _RULES.get()[name], arguments)
