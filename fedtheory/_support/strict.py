"""Strict compilation of users' functions: indices are checked, and floats are not truncated to integers.

Numba converts return values, and values that are written into an array, to the required type. A rule that returns 1.5
clients would return 1.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# (numba's intermediate code has no types here)

from functools import lru_cache
from types import CellType, FunctionType
from typing import Any

import numba
from numba import types
from numba.core import ir
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import NopythonTypeInference

from fedtheory._support.compiling import is_compiled, say_that_nothing_is_kept

__all__ = ["plain", "strict"]

_WHOLE = (types.Integer, types.Boolean)
# Attributes and methods of an array that return another view of it.
_VIEWS = ("T", "flat", "ravel", "reshape", "transpose", "view")


@lru_cache(maxsize=256)
def strict(dispatcher: Any) -> Any:
    """Compile a user's compiled function, and those that it calls by name, so that its mistakes raise errors.

    An index out of bounds raises IndexError, unless the author set ``boundscheck``. A float that is returned or written
    in place of an integer raises TypingError. Functions of this package do not change.
    """
    return _strict(dispatcher, ())


@lru_cache(maxsize=256)
def plain(function: Any) -> Any:
    """Return a numba-compiled function as a Python function that calls strict versions of compiled functions."""
    return strict(function).py_func if is_compiled(function) else _calling_strictly(function, ())


def _strict(dispatcher: Any, callers: tuple[Any, ...]) -> Any:
    function, options = dispatcher.py_func, dispatcher.targetoptions
    if str(function.__module__).startswith("fedtheory.") or dispatcher in callers:
        return dispatcher
    checks = options.get("boundscheck")
    options = {"pipeline_class": _Strict, **options, "boundscheck": True if checks is None else checks}
    checked = numba.jit(**options)(_calling_strictly(function, (*callers, dispatcher)))
    if not isinstance(dispatcher._cache, NullCache):
        # Numba's index does not record compilation options, so that the strict version needs another index.
        try:
            checked.enable_caching()
        except RuntimeError:
            say_that_nothing_is_kept()
            return checked
        cached, known = checked._cache, dispatcher._cache._cache_file
        name = f"{cached._impl.filename_base}-strict"
        cached._cache_file = IndexDataCacheFile(cached.cache_path, name, known._source_stamp)
    return checked


def _calling_strictly(function: Any, callers: tuple[Any, ...]) -> Any:
    """Return a copy of a function in which the names of compiled functions refer to their strict versions."""
    if not isinstance(function, FunctionType):
        return function
    code, known, cells = function.__code__, function.__globals__, function.__closure__

    def replaced(value: Any) -> Any:
        return _strict(value, callers) if is_compiled(value) else value

    named = {name: replaced(known[name]) for name in code.co_names if name in known}
    closure = None if cells is None else tuple(CellType(replaced(cell.cell_contents)) for cell in cells)
    copy = FunctionType(code, {**known, **named}, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__, copy.__module__, copy.__qualname__ = (
        function.__kwdefaults__, function.__module__, function.__qualname__,
    )  # fmt: skip
    return copy


@register_pass(mutates_CFG=False, analysis_only=True)
class _NothingTruncated(AnalysisPass):  # type: ignore[misc] # numba has no types
    _name = "fedtheory_nothing_truncated"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Raise TypingError if a float is implicitly converted to an integer."""
        for block in state.func_ir.blocks.values():
            for line in block.body:
                if isinstance(line, ir.Return):
                    _check_returned(state, line)
                elif isinstance(line, ir.SetItem | ir.StaticSetItem):
                    _check_written(state, line)
        return False


class _Strict(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(_NothingTruncated, NopythonTypeInference)
        steps.finalize()
        return [steps]


def _check_returned(state: Any, line: Any) -> None:
    value = state.func_ir.get_definition(line.value)
    if isinstance(state.return_type, types.Integer) and isinstance(value, ir.Expr) and value.op == "cast":
        kind = state.typemap[value.value.name]
        if not isinstance(kind, _WHOLE):
            message = f"it returns {kind} where a whole number is wanted"
            raise TypingError(message, loc=line.loc)


def _check_written(state: Any, line: Any) -> None:
    array, value = state.typemap[line.target.name], state.typemap[line.value.name]
    entry = value.dtype if isinstance(value, types.Array) else value
    if isinstance(array, types.Array | types.NumpyFlatType) and isinstance(array.dtype, _WHOLE):
        name = _argument(state.func_ir, line.target)
        if name and not isinstance(entry, _WHOLE):
            message = f"it writes {entry} into {name}, which holds {array.dtype}"
            raise TypingError(message, loc=line.loc)


def _argument(func_ir: Any, variable: Any) -> str:
    """Return the argument of which a variable is a view or a part; empty if there is none."""
    seen: set[str] = set()
    waiting = [variable]
    while waiting:
        one = waiting.pop()
        value: Any = None if one.name in seen else func_ir.get_definition(one)
        seen.add(one.name)
        if isinstance(value, ir.Arg):
            return str(value.name)
        op = value.op if isinstance(value, ir.Expr) else ""
        if op == "phi":
            waiting += [source for source in value.incoming_values if isinstance(source, ir.Var)]
        elif op == "call":
            waiting.append(value.func)
        elif op in ("getitem", "static_getitem", "cast") or (op == "getattr" and value.attr in _VIEWS):
            waiting.append(value.value)
    return ""
