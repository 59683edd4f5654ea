"""Detection of rules that draw from a generator other than their own, which makes runs irreproducible.

The names that a rule uses are found in its bytecode. Functions of other packages may draw from NumPy's global
generator, like ``rvs`` of SciPy's distributions. Such draws are detected by a change of the generator's state. Only
rules in plain Python can call such functions.
"""

import ctypes
import dis
import inspect
import random
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fedtheory._support.compiling import is_compiled

__all__ = ["foreign_draw", "global_state"]

_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
# Instructions that may be between the loading of a function and its call.
_NEUTRAL = ("CACHE", "PRECALL", "PUSH_NULL", "NOP")


def foreign_draw(function: Callable[..., Any]) -> str:
    """Return the name of the first generator that a function uses and that is not an argument; empty if none is found.

    Functions that it calls are searched, too, except those of other packages.

    >>> foreign_draw(lambda rng: np.random.rand()), foreign_draw(lambda rng: rng.random())
    ('np.random.rand', '')
    """
    return next(_drawn(function, _package(_function(function)[0]), set()), "")


def _function(value: Any) -> tuple[Any, Any]:
    """Return the Python function behind a callable, and the object to which it is bound; None if there is none."""
    own = None
    while not isinstance(value, FunctionType):
        if isinstance(value, MethodType):
            own, value = value.__self__, value.__func__
        elif isinstance(value, partial):
            value = value.func
        elif is_compiled(value):
            value = value.py_func
        else:
            own, value = value, inspect.getattr_static(type(value), "__call__", None)
            if not isinstance(value, FunctionType):
                return None, None
    return value, own


def _package(function: Any) -> str:
    return "" if function is None else str(function.__module__).partition(".")[0]


def _drawn(value: Any, package: str, seen: set[Any]) -> Iterator[str]:
    function, own = _function(value)
    if function is None or function.__code__ in seen:
        return
    code = function.__code__
    seen.add(code)
    if _package(function) != package and code.co_filename.startswith(_LIBRARIES):
        return
    closure = zip(code.co_freevars, function.__closure__ or (), strict=True)
    cells = {name: _content(cell) for name, cell in closure}
    local = {} if own is None else {code.co_varnames[0]: own}
    for text, named in _named(code, function.__globals__, cells, local):
        if text:
            yield text
        else:
            yield from _drawn(named, package, seen)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return None


def _named(
    code: CodeType, known: dict[str, Any], cells: dict[str, Any], local: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the name of each generator that is not an argument, and an empty name with the value of anything else."""
    value, text = None, ""
    for step in dis.get_instructions(code):
        kind, name = step.opname, step.argval
        if kind in _NEUTRAL:
            continue
        if kind == "CALL" and value is np.random.default_rng and step.arg == 0:
            yield f"{text}() without a seed", value
        if kind == "STORE_FAST":
            local = {**local, name: value}
        if kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            value, text = _part(value, name), f"{text}.{name}"
        else:
            value, text = _loaded(kind, name, known, cells, local), str(name)
        owner = getattr(value, "__self__", None) if inspect.isroutine(value) else value
        if isinstance(owner, _GENERATORS):
            yield text, value
        elif value is not None:
            yield "", value
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named(inner, known, {**cells, **local}, {})


def _loaded(kind: str, name: Any, known: dict[str, Any], cells: dict[str, Any], local: dict[str, Any]) -> Any:
    if kind in ("LOAD_GLOBAL", "LOAD_NAME"):
        return known.get(name)
    if kind == "LOAD_DEREF":
        return cells.get(name)
    if "LOAD_FAST" in kind:  # newer Pythons store or load two names at once
        return local.get(name[-1] if isinstance(name, tuple) else name)
    if kind == "IMPORT_NAME":
        return sys.modules.get(name)
    return None


def _part(value: Any, name: str) -> Any:
    # An attribute of an object may be a property, which must not be evaluated.
    return getattr(value, name, None) if isinstance(value, ModuleType) else inspect.getattr_static(value, name, None)


def global_state() -> Any:
    """Return a value that changes when NumPy's global generator draws.

    For a Mersenne twister it is the last word and the position. Reading them takes 0.3 microseconds.
    ``numpy.random.get_state`` takes 50, six times as long as a rule.
    """
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined] # NumPy's stubs leave it out
    if isinstance(generator, np.random.MT19937):
        word, position = _last_words(generator)
        return word, position
    return str(generator.state)


@lru_cache(maxsize=1)
def _last_words(generator: np.random.MT19937) -> Any:
    # The state is 624 words of 32 bits and the position.
    return (ctypes.c_uint32 * 2).from_address(generator.ctypes.state_address + 623 * 4)
