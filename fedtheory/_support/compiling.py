"""Compilation of functions: cached and without the GIL, in exact IEEE arithmetic or with reordered sums."""

import hashlib
import io
import pickle
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, final

import numba
from numba.core import environment, event, runtime
from numba.core.caching import FunctionCache, NullCache
from numba.core.types.misc import unliteral

from fedtheory._support.progress import announced
from fedtheory.errors import CacheWarning

__all__ = [
    "announced_compilation",
    "compiled",
    "compiled_with_reordering",
    "in_python",
    "inlined",
    "is_compiled",
    "say_that_nothing_is_kept",
]

Function = TypeVar("Function", bound=Callable[..., Any])

_ROOT = Path(__file__).resolve().parents[2]
_IMPORT = re.compile(r"^(?:from|import) (fedtheory[\w.]*)(?: import (\([^)]*|.*))?", re.MULTILINE)


def compiled(function: Function) -> Function:
    """Compile on first call and keep the machine code in numba's cache (typed, unlike ``numba.njit``)."""
    dispatcher: Function = _never_stale(numba.njit(nogil=True)(function))
    return dispatcher


def inlined(function: Function) -> Function:
    """Compile a small function into each of its callers, which avoids passing arrays."""
    dispatcher: Function = _never_stale(numba.njit(nogil=True, inline="always")(function))
    return dispatcher


def compiled_with_reordering(function: Function) -> Function:
    """Compile like ``compiled``, but allow reordered sums and fused products, so that long sums are vectorized.

    Results are bit-identical in every run on one machine, since the function is always compiled into its callers. A
    separate copy would be optimized differently, and which of the two is called would depend on the order of
    compilation and on the cache. NaN, infinities and their comparisons keep their meaning. Splitting a constant into a
    large and a small part does not work here, because the parts may be added first.
    """
    allowed = {"contract", "reassoc", "nsz", "arcp"}
    dispatcher: Function = _never_stale(numba.njit(nogil=True, fastmath=allowed, forceinline=True)(function))
    return dispatcher


@cache
def in_python(function: Any) -> Any:
    """Return a compiled function of this package, and the compiled functions that it calls, as Python functions.

    Both give identical bits unless sums may be reordered. For small problems this is faster than compilation.
    """
    original = function.py_func if is_compiled(function) else function
    known = original.__globals__
    called = {name: in_python(known[name]) for name in original.__code__.co_names if is_compiled(known.get(name))}
    return FunctionType(original.__code__, {**known, **called}, original.__name__, original.__defaults__)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether numba compiles this function."""
    return bool(numba.extending.is_jitted(function))


def _never_stale(dispatcher: Any) -> Any:
    # numba's cache only considers the age of the function's file: after a change in a called function of another module
    # it would run the old code, and after a checkout it would compile everything again. Here a cached function depends
    # on the text of its file, and of all files of this package that are imported from there, at its creation.
    if is_compiled(dispatcher):
        function = dispatcher.py_func
        dispatcher._cache = _LateCache(partial(_cache_of, function, _stamp(Path(function.__code__.co_filename))))
        dispatcher.get_call_template = partial(_for_any_value, dispatcher.get_call_template)
        dispatcher._compile_for_args = partial(_announcing, dispatcher._compile_for_args)
    return dispatcher


def _announcing(compile_for_args: Callable[..., Any], *args: Any, **kws: Any) -> Any:
    """Compile for a call from Python, or load what was compiled before."""
    with announced_compilation("fedtheory compiles a function, once on this machine"):
        return compile_for_args(*args, **kws)


@contextmanager
def announced_compilation(text: str) -> Iterator[None]:
    """Write a line to standard error if this thread compiles something and then needs longer than some seconds."""
    with ExitStack() as stack:
        first = _FirstCompilation(lambda: stack.enter_context(announced(text)))
        with event.install_listener("numba:compile", first):
            yield


@final
class _FirstCompilation(event.Listener):  # type: ignore[misc]
    def __init__(self, begin: Callable[[], None]) -> None:
        self.begin, self.thread = cache(begin), threading.get_ident()

    def on_start(self, _: Any) -> None:
        if threading.get_ident() == self.thread:
            self.begin()

    def on_end(self, _: Any) -> None:
        """Do nothing, since more may follow."""


def _for_any_value(get_call_template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Look up a compiled function by the types of its arguments; numba compiles it again for each constant passed."""
    plain = {name: unliteral(kind) for name, kind in kws.items()}
    return get_call_template(tuple(unliteral(kind) for kind in args), plain)


def _cache_of(function: Callable[..., Any], stamp: str) -> Any:
    try:
        found = FunctionCache(function)
    except RuntimeError:  # neither the library's folder nor the home folder is writable
        say_that_nothing_is_kept()
        return NullCache()
    index = found._cache_file
    index._source_stamp = stamp
    index._load_index = _readable(index._load_index)
    _load_directly(found)
    found.save_overload = _at_most_a_warning(found.save_overload)
    return found


def _at_most_a_warning(save: Callable[..., None]) -> Callable[..., None]:
    # A folder may become full or read-only later.
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
        "compiled code cannot be cached, since no cache folder can be written: every process compiles again "
        "(NUMBA_CACHE_DIR names another folder)"
    )
    warnings.warn(text, CacheWarning, stacklevel=2)


def _readable(load_index: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    # Reading the index imports classes of this package that it names. A renamed class, or one that only another process
    # has, must not end this process.
    def load() -> dict[Any, str]:
        try:
            return load_index()
        except Exception:  # importing a user's module may raise anything
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
    """Return the files of this package that a file imports at import time."""
    found = []
    for source, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        home = _ROOT.joinpath(*source.split("."))
        # An import from a folder may be a file in it; an import from a file cannot.
        places = [home, *(home / name for name in re.findall(r"\w+", names))] if home.is_dir() else [home]
        for path in places:
            found += [kind for kind in (path.with_suffix(".py"), path / "__init__.py") if kind.is_file()]
    return tuple(found)


@final
class _LateCache:
    """Numba's cache of a function, created at its first use.

    Each cache searches for a writable folder, and a run calls only about ten of a hundred imported functions.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.made = cache(make)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made(), name)


def _load_directly(known: Any) -> None:
    """Let the cache of a compiled function load code without the parts that only the compiler needs.

    Before loading, numba installs everything that it can compile, and imports the modules of its functions in the code,
    such as methods of random generators; one of these imports ``scipy.linalg``. This takes half of the time of a first
    call. The compiled code needs only numba's memory management and, for each function, an environment with its
    constants and the globals of its module, which only object mode reads. With a different numba the default loading is
    used.
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
    """Return the environment of a function; for numba's own functions it has only the name of the module."""
    if module in sys.modules or not module.startswith("numba."):
        return environment._rebuild_env(module, constants, name)
    known = environment.lookup_environment(name)
    if known is None:
        known = environment.Environment({"__name__": module})
        known.consts[:] = constants
        known.env_name = name
        environment.Environment._memo[name] = known
    return known
