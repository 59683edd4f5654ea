"""Whether a rule draws from another generator than its own, which makes runs irreproducible.

What a rule names is read off its bytecode. What a function of another package draws from NumPy's global generator, as
``rvs`` of SciPy's laws does, is seen by the state of that generator; only rules in plain Python can call one.
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
# Instructions between the loading of a function and its call.
_NEUTRAL = ("CACHE", "PRECALL", "PUSH_NULL", "NOP")


def foreign_draw(function: Callable[..., Any]) -> str:
    """Name the first generator that a function uses without being handed it; empty if none is found.

    Functions that it names are looked at, too, except those of other packages.

    >>> foreign_draw(lambda rng: np.random.rand()), foreign_draw(lambda rng: rng.random())
    ('np.random.rand', '')
    """
    return next(_drawn(function, _package(_function(function)[0]), set()), "")


def _function(value: Any) -> tuple[Any, Any]:
    """Return the function in Python that a callable stands for, and the object that it is bound to; or None."""
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
    except ValueError:  # not filled yet
        return None


def _named(
    code: CodeType, known: dict[str, Any], cells: dict[str, Any], local: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the names of generators that are not handed over; of everything else no name, and the value."""
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
    # An attribute of an object may be a property, which is not to be run.
    return getattr(value, name, None) if isinstance(value, ModuleType) else inspect.getattr_static(value, name, None)


def global_state() -> Any:
    """Return what changes when NumPy's global generator draws: of a Mersenne twister its last word and position.

    To read them takes 0.3 microseconds. ``numpy.random.get_state`` takes 50, six times what a rule takes.
    """
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined] # NumPy's stubs leave it out
    if isinstance(generator, np.random.MT19937):
        word, position = _last_words(generator)
        return word, position
    return str(generator.state)


@lru_cache(maxsize=1)
def _last_words(generator: np.random.MT19937) -> Any:
    # 624 words of 32 bits, and the position among them.
    return (ctypes.c_uint32 * 2).from_address(generator.ctypes.state_address + 623 * 4)
