"""The two ways in which this library compiles: both cached and without the GIL, one in exact IEEE arithmetic."""

import hashlib
import io
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, final

import numba
from numba.core import environment, runtime
from numba.core.caching import FunctionCache, NullCache
from numba.core.types.misc import unliteral

from fedtheory.errors import CacheWarning

__all__ = ["compiled", "compiled_with_reordering", "in_python", "inlined", "is_compiled", "say_that_nothing_is_kept"]

Function = TypeVar("Function", bound=Callable[..., Any])

_ROOT = Path(__file__).resolve().parents[2]
_IMPORT = re.compile(r"^(?:from|import) (fedtheory[\w.]*)(?: import (\([^)]*|.*))?", re.MULTILINE)


def compiled(function: Function) -> Function:
    """Compile on first call and keep the machine code in numba's cache (typed, unlike ``numba.njit``)."""
    dispatcher: Function = _never_stale(numba.njit(nogil=True)(function))
    return dispatcher


def inlined(function: Function) -> Function:
    """Compile a small function into each of its callers, which spares the passing of arrays."""
    dispatcher: Function = _never_stale(numba.njit(nogil=True, inline="always")(function))
    return dispatcher


def compiled_with_reordering(function: Function) -> Function:
    """Compile as ``compiled`` does, but let sums be reordered and products fused, so that long sums run in parallel.

    Results still have the same bits on every run of one machine, as the function is always compiled into its callers:
    a copy of its own is optimized in another way, and which of the two is called would depend on what was compiled and
    what was kept. NaN, infinities and their comparisons keep their meaning. Splitting a constant into a large and a
    small part does not work here: the parts may be added first.
    """
    allowed = {"contract", "reassoc", "nsz", "arcp"}
    dispatcher: Function = _never_stale(numba.njit(nogil=True, fastmath=allowed, forceinline=True)(function))
    return dispatcher


@cache
def in_python(function: Any) -> Any:
    """Return a compiled function of this package in plain Python, together with the compiled functions that it calls.

    Both have the same bits, unless sums may be reordered. Little work is done before compiling would begin.
    """
    original = function.py_func if is_compiled(function) else function
    known = original.__globals__
    called = {name: in_python(known[name]) for name in original.__code__.co_names if is_compiled(known.get(name))}
    return FunctionType(original.__code__, {**known, **called}, original.__name__, original.__defaults__)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether numba compiles this function."""
    return bool(numba.extending.is_jitted(function))


def _never_stale(dispatcher: Any) -> Any:
    # numba's cache looks at the age of the function's own file only: after a change in a function that it calls from
    # another module it would run the old one, and after a mere checkout it compiles everything again. Here a cached
    # function belongs to the text of its file and of all files of this package that are imported from there, as they
    # were when it was made.
    if is_compiled(dispatcher):
        function = dispatcher.py_func
        dispatcher._cache = _LateCache(partial(_cache_of, function, _stamp(Path(function.__code__.co_filename))))
        dispatcher.get_call_template = partial(_for_any_value, dispatcher.get_call_template)
    return dispatcher


def _for_any_value(get_call_template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Look up a compiled function by the types of its arguments; numba compiles it again for each constant passed."""
    plain = {name: unliteral(kind) for name, kind in kws.items()}
    return get_call_template(tuple(unliteral(kind) for kind in args), plain)


def _cache_of(function: Callable[..., Any], stamp: str) -> Any:
    try:
        found = FunctionCache(function)
    except RuntimeError:  # neither beside the library nor at home there is a folder to write to
        say_that_nothing_is_kept()
        return NullCache()
    index = found._cache_file
    index._source_stamp = stamp
    index._load_index = _readable(index._load_index)
    _load_directly(found)
    found.save_overload = _at_most_a_warning(found.save_overload)
    return found


def _at_most_a_warning(save: Callable[..., None]) -> Callable[..., None]:
    # A folder may fill up, or be closed, after it was found.
    def save_if_possible(signature: Any, compiled_code: Any) -> None:
        try:
            save(signature, compiled_code)
        except OSError:
            say_that_nothing_is_kept()

    return save_if_possible


@cache
def say_that_nothing_is_kept() -> None:
    """Warn, once in a process."""
    text = (
        "compiled code cannot be kept, as no folder for it can be written: every process compiles anew "
        "(NUMBA_CACHE_DIR names a folder that can)"
    )
    warnings.warn(text, CacheWarning, stacklevel=2)


def _readable(load_index: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    # The index names classes of this package, and to read it is to import them: one that was renamed since, or that
    # only another process knows, must not end this one.
    def load() -> dict[Any, str]:
        try:
            return load_index()
        except Exception:  # whatever importing somebody's module raises
            return {}

    return load


@cache
def _stamp(file: Path) -> str:
    reached, waiting = {Path(__file__).resolve()}, {file.resolve()}
    while waiting:
        reached |= waiting
        waiting = {imported for path in waiting for imported in _imports(path)} - reached
    return hashlib.sha256("".join(sorted(_digest(path) for path in reached)).encode()).hexdigest()


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.as_posix().encode() + file.read_bytes()).hexdigest()


@cache
def _imports(file: Path) -> tuple[Path, ...]:
    """Files of this package that a file imports when it is itself imported."""
    found = []
    for source, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        home = _ROOT.joinpath(*source.split("."))
        # What is imported from a folder may be a file in it; what is imported from a file cannot.
        places = [home, *(home / name for name in re.findall(r"\w+", names))] if home.is_dir() else [home]
        for path in places:
            found += [kind for kind in (path.with_suffix(".py"), path / "__init__.py") if kind.is_file()]
    return tuple(found)


@final
class _LateCache:
    """Numba's cache of a function, made when it is first asked for anything.

    Each looks for a folder that it can write to, and of a hundred functions that are imported a run calls ten.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.made = cache(make)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made(), name)


def _load_directly(known: Any) -> None:
    """Let the cache of a compiled function load what it has without what only a compiler needs.

    Before it loads anything, numba installs all that it can compile, and for each function of its own that is part of
    the code, as the methods of random generators are, it imports the module of that function; one of them brings
    ``scipy.linalg``. That is half of the time of a first call, and a compiler asks for all this by itself. What runs
    needs numba's management of memory, and for each function an environment: its constants, and the globals of its
    module, which only object mode reads. A numba that is not made like this loads as it does by itself.
    """
    file = known._cache_file
    by_itself, read = known.load_overload, file._load_data

    def load_overload(signature: Any, context: Any) -> Any:
        try:
            runtime.rtsys.initialize(context)
            with known._guard_against_spurious_io_errors():
                return known._load_overload(signature, context)
        except AttributeError:
            file._load_data = read
            return by_itself(signature, context)

    known.load_overload = load_overload
    file._load_data = lambda name: _Reader(io.BytesIO(Path(file._data_path(name)).read_bytes())).load()


@final
class _Reader(pickle.Unpickler):
    # of files that numba wrote and would unpickle itself
    def find_class(self, module: str, name: str) -> Any:
        rebuild = environment._rebuild_env
        if (module, name) == (rebuild.__module__, rebuild.__name__):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of a function, of numba's own with the name of its module alone."""
    if module in sys.modules or not module.startswith("numba."):
        return environment._rebuild_env(module, constants, name)
    known = environment.lookup_environment(name)
    if known is None:
        known = environment.Environment({"__name__": module})
        known.consts[:] = constants
        known.env_name = name
        environment.Environment._memo[name] = known
    return known
