"""One digest of everything that determines a result: values, functions with everything that they use, and versions.

Two results are considered equal only if their digests are equal. Digests may therefore differ although the results do
not, for example after an unrelated edit in the file of a function, but must differ if the results do. An object that
cannot be digested has no identity and raises `UnidentifiedError`.

The digest of a function covers its code with names and constants, its defaults and closure, the globals that it uses,
and the attributes that it reads from modules, recursively. It covers the text of its module and of all user modules
that are imported from there, and the versions of the libraries that it calls. It does not cover files, the
environment, the time, the random state of libraries, or attributes that are looked up by text.
"""

import ast
import dis
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import pickle
import platform
import struct
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage.provenance import code_version, processor

__all__ = ["UnidentifiedError", "identities", "identity", "source_digest"]

_OWN = "fedtheory"
# Classes whose instances have no state.
_WITHOUT_STATE = {"abc", "collections.abc", "enum", "typing", "typing_extensions"}
_CONTAINERS = (object, dict, list, tuple, set, frozenset, int, float, complex, str, bytes, np.ndarray)
_LIBRARIES = ("numpy", "scipy", "numba")
# A function that calls one of these can use anything.
_UNSEEN = (eval, exec, compile, globals, __import__, importlib.import_module)
# Created by Python for each class, without effect on its behavior.
_NOT_OF_A_CLASS = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__slotnames__",
    "__dataclass_fields__", "__dataclass_params__", "_abc_impl", "__abstractmethods__", "__orig_bases__",
    "__parameters__", "__slots__",
}  # fmt: skip
_NUMBERS: dict[Any, Callable[[Any], Any]] = {
    int: int.__int__, float: float.__float__, complex: complex.__complex__, bytes: bytes.__bytes__,
}  # fmt: skip
_ATOMS = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented))
_DESCRIPTORS = (
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)  # fmt: skip


class UnidentifiedError(TypeError):
    """An object that cannot be digested, described in one sentence."""


def identity(*values: Any, here: bool = True) -> str:
    """Return the SHA-256 of values and of the versions of fedtheory, Python and the libraries that it computes with.

    Parameters
    ----------
    values
        Numbers, text, arrays, containers, dataclasses and other objects, functions, classes.
    here
        Whether to include texts of modules, files of installed libraries and the processor count. Without them, workers
        on other machines compute the same identity.

    Raises
    ------
    UnidentifiedError
        For objects without a readable value, such as open files, generators and locks, and for functions that call
        ``eval`` or similar functions.

    >>> identity(1, np.array([0.5])) == identity(1, np.array([0.5])), identity(1) == identity(1.0)
    (True, False)
    >>> identity(lambda x: np.argmin(x)) == identity(lambda x: np.argmax(x))
    False
    """
    versions = (code_version(), platform.python_version(), *map(_version, _LIBRARIES))
    [digest] = identities([(versions, processor() if here else "", values)], here=here)
    return digest


def identities(values: Iterable[Any], *, here: bool = True) -> list[str]:
    """Return the SHA-256 of each value separately, including only the versions that it depends on."""
    found = []
    for value in values:
        digest = _Digest(here=here)
        try:
            digest.value(value)
        except RecursionError as error:
            message = "what is nested that deeply cannot be identified"
            raise UnidentifiedError(message) from error
        found.append(digest.hexdigest)
    return found


class _Digest:
    """A digest under construction.

    A visited object is represented by its number, so that cycles terminate and shared objects differ from
    copies.
    """

    def __init__(self, *, here: bool) -> None:
        self.here, self.hash = here, hashlib.sha256()
        self.numbers: dict[int, int] = {}
        self.modules: set[str] = set()
        self.kept: list[Any] = []  # kept alive, so that no other object gets its address

    @property
    def hexdigest(self) -> str:
        return self.hash.hexdigest()

    def add(self, *parts: str | bytes) -> None:
        for part in parts:
            content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self.hash.update(b"%d:" % len(content))
            self.hash.update(content)

    def value(self, value: Any) -> None:
        """Add an arbitrary value."""
        kind = type(value)
        if kind in _ATOMS:
            self.add(kind.__name__, value if isinstance(value, str | bytes) else repr(value))
        elif kind in (float, complex):
            self.add(kind.__name__, struct.pack(">dd", value.real, value.imag))
        elif isinstance(value, np.generic) and kind.__module__ == "numpy" and value.dtype.kind != "V":
            self.add("scalar", value.dtype.str, value.tobytes())
        elif kind is tuple:
            self.add("tuple", str(len(value)))
            self.each(value)
        elif kind in (set, frozenset):
            self.unordered(kind.__name__, value)
        elif kind is np.ndarray and not self.here:  # for a remote worker, arrays of compiled functions are copies
            self.array(value)
        elif not self.is_known(value):
            self.object(value)

    def each(self, values: Iterable[Any]) -> None:
        for value in values:
            self.value(value)

    def is_known(self, value: Any) -> bool:
        """Add the number of a visited object; otherwise assign one."""
        number = self.numbers.get(id(value))
        if number is not None:
            self.add("again", str(number))
            return True
        self.numbers[id(value)] = len(self.numbers)
        self.kept.append(value)
        return False

    def unordered(self, kind: str, values: Iterable[Any]) -> None:
        parts = []
        for value in values:
            part = _Digest(here=self.here)
            part.value(value)
            parts.append(part.hexdigest)
        self.add(kind, *sorted(parts))

    def array(self, values: np.ndarray[Any, Any]) -> None:
        self.add("array", repr(values.dtype.descr if values.dtype.names else values.dtype.str), repr(values.shape))
        if values.dtype.hasobject:
            self.each(values.ravel().tolist())
        else:
            self.hash.update(np.ascontiguousarray(values).view(np.uint8).data if values.size else b"")

    def mapping(self, kind: str, found: Mapping[Any, Any]) -> None:
        self.add(kind, str(len(found)))
        for key, value in found.items():
            self.value(key)
            self.value(value)

    def object(self, value: Any) -> None:
        """Add an object that can be part of a cycle."""
        if self.is_of_a_library(value):
            return
        if type(value) is np.ndarray:
            self.array(value)
        elif type(value) is list:
            self.add("list", str(len(value)))
            self.each(value)
        elif type(value) in (dict, types.MappingProxyType):
            self.mapping("dict", value)
        elif isinstance(value, types.ModuleType):
            self.module(value.__name__)
        elif isinstance(value, type):
            self.type(value)
        elif isinstance(value, types.CodeType):
            self.code(value)
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif not self.callable(value):
            self.instance(value)

    def callable(self, value: Any) -> bool:
        """Add a wrapper of functions, and return whether the value is one."""
        if isinstance(value, types.MethodType | types.BuiltinFunctionType) and value.__self__ is not None:
            self.method(value)
        elif isinstance(value, types.CellType):
            self.add("cell")
            self.each([value.cell_contents] if _is_filled(value) else [])
        elif isinstance(value, functools.partial) and type(value) is functools.partial:
            self.add("partial")
            self.each((value.func, value.args, value.keywords))
        elif isinstance(value, functools._lru_cache_wrapper):
            self.add("cached")
            self.each((value.__wrapped__, value.cache_parameters()))
        elif isinstance(value, staticmethod | classmethod):
            self.add(type(value).__name__)
            self.value(value.__func__)
        elif type(value) is property:
            self.add("property")
            self.each((value.fget, value.fset, value.fdel))
        elif _is_cached_property(value):
            self.add("cached property")
            self.value(value.func)
        elif isinstance(value, _DESCRIPTORS):
            self.add("descriptor", value.__objclass__.__qualname__, value.__name__)
        elif _is_dispatcher(value):
            self.add("compiled", type(value).__qualname__, repr(getattr(value, "locals", {})))
            self.each((value.py_func, value.targetoptions))
        else:
            return False
        return True

    def method(self, method: Any) -> None:
        """Add a function and the object to which it is bound, or only the name of a function of a library's module."""
        module = str(type(method.__self__).__module__)
        self.add("method", method.__name__)
        if _version(module) and _found(module, method.__name__) is method:  # as numpy.random.normal
            self.module(module)
        else:
            self.each((getattr(method, "__func__", None), method.__self__))

    def module(self, name: str) -> None:
        """Add the version of a library, or the texts of the user modules that are reached from a module."""
        self.add("module", name, _version(name))
        if self.here and name not in self.modules:
            self.modules.add(name)
            self.add(_files(name) if _version(name) else repr(sorted(_sources(name).items())))

    def type(self, kind: Any) -> None:
        self.add("class", kind.__qualname__)
        self.module(str(kind.__module__))
        self.value(type(kind))
        self.each(kind.__bases__)
        # Sorted, since a class that was sent to another process has its attributes in another order.
        own = {name: value for name, value in sorted(vars(kind).items()) if name not in _NOT_OF_A_CLASS}
        self.mapping("attributes", {n: v for n, v in own.items() if not isinstance(v, types.MemberDescriptorType)})

    def is_of_a_library(self, value: Any) -> bool:
        """Add the name of a function or class of a library, and return whether it is one."""
        try:
            module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        except Exception:  # __getattr__ of a user's class may raise anything
            return False
        if not isinstance(module, str) or not isinstance(name, str) or not _version(module):
            return False
        if any(value is one for one in _UNSEEN):
            message = f"a function that calls {name} cannot be identified, since it may use anything"
            raise UnidentifiedError(message)
        if _found(module, name) is not value:
            return False
        self.add("library", name)
        self.module(module)
        return True

    def function(self, function: Any) -> None:
        self.add("function", function.__qualname__)
        self.module(str(function.__module__))
        self.value(function.__code__)
        self.each((function.__defaults__, function.__kwdefaults__, function.__closure__))
        self.mapping("attributes", vars(function))
        known, names = function.__globals__, sorted(_names(function.__code__))
        if _version(str(known.get("__name__", ""))):  # made by a library, whose version determines what it uses
            return
        builtin = known.get("__builtins__", {})
        builtin = vars(builtin) if isinstance(builtin, types.ModuleType) else builtin
        for name in sorted(_read(function.__code__, "GLOBAL", "LOAD_NAME")):
            if name in known or name in builtin:
                self.add("global", name)
                self.reference(known[name] if name in known else builtin[name], names)
        for cell in filter(_is_filled, function.__closure__ or ()):
            self.attributes(cell.cell_contents, names, set())
        for name in sorted(_read(function.__code__, "IMPORT_NAME")):
            for module in dict.fromkeys((name, ".".join(filter(None, (known.get("__package__"), name))))):
                self.reference(_imported_now(module), names)

    def reference(self, value: Any, names: list[str]) -> None:
        self.value(value)
        self.attributes(value, names, set())

    def attributes(self, value: Any, names: list[str], seen: set[int]) -> None:
        """Add the attributes of a module that a function may read: those with one of the names in the function."""
        if not isinstance(value, types.ModuleType) or id(value) in seen:
            return
        for name in names:
            found = _attribute(value, name)
            if found is not None:
                self.add("attribute", name)
                self.value(found)
                self.attributes(found, names, seen | {id(value)})

    def code(self, code: types.CodeType) -> None:
        """Add the operations of a function, without its location."""
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self.add("code", code.co_name, code.co_code, getattr(code, "co_exceptiontable", b""))
        self.each((counts, code.co_consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))

    def instance(self, value: Any) -> None:
        """Add the class of an object and its state: all attributes or, for a library's class, its pickled form."""
        kind = type(value)
        self.add("instance")
        self.value(kind)
        if not _version(str(kind.__module__)) or str(kind.__module__).partition(".")[0] == _OWN:
            self.state(value)
            return
        found = _reduced(value)
        if isinstance(found, str):
            self.singleton(value, found)
        else:
            self.each(list(part) if isinstance(part, Iterator) else part for part in found)

    def singleton(self, value: Any, name: str) -> None:
        """Add an object that is pickled by name only."""
        module = pickle.whichmodule(value, name)  # type: ignore[attr-defined]
        if _found(module, name) is not value:
            message = f"an object of {_class_name(value)} cannot be identified, since its module does not have it"
            raise UnidentifiedError(message)
        self.add("global", name)
        self.module(module)

    def state(self, value: Any) -> None:
        kind = type(value)
        for base in _CONTAINERS[1:]:
            if isinstance(value, base):
                self.content(base, value)
        own, slots = dict(getattr(value, "__dict__", {})), dict(_slots(value))
        if _version(str(kind.__module__)):  # of fedtheory, whose other attributes follow from the rest
            own = {name: found for name, found in own.items() if not _is_cached_property(_static(kind, name))}
        self.mapping("state", slots | own)
        # The content of a compiled base class is not among the attributes.
        if any(_may_hold_more(base) for base in kind.__mro__):
            self.each(list(part) if isinstance(part, Iterator) else part for part in _reduced(value)[1:])

    def content(self, base: Any, value: Any) -> None:
        if base is np.ndarray:
            self.array(np.asarray(value))
        elif base is dict:
            self.mapping("dict", dict(dict.items(value)))
        elif base in (set, frozenset):
            self.unordered("set", base.__iter__(value))
        elif base in (list, tuple):
            self.value(tuple(base.__iter__(value)))
        elif base is str:
            self.value(str.__str__(value))
        else:
            self.value(_NUMBERS[base](value))


def _may_hold_more(base: Any) -> bool:
    module = str(base.__module__)
    return (
        base not in _CONTAINERS and module not in _WITHOUT_STATE and module.partition(".")[0] != _OWN
        and bool(_version(module))
    )  # fmt: skip


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _static(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _is_cached_property(value: Any) -> bool:
    return type(value).__name__ == "cached_property" and callable(getattr(value, "func", None))


def _is_dispatcher(value: Any) -> bool:
    return type(value).__module__.startswith("numba.") and hasattr(value, "py_func") and hasattr(value, "targetoptions")


def _slots(value: Any) -> Iterator[tuple[str, Any]]:
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(value)
                except AttributeError:
                    continue


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _reduced(value: Any) -> Any:
    """Return the pickled form of an object."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return value.__reduce_ex__(4)
    except Exception as error:  # pickling may raise anything
        message = f"an object of {_class_name(value)} cannot be identified, since its state cannot be read"
        raise UnidentifiedError(message) from error


def _names(code: types.CodeType) -> set[str]:
    """Return all names in a function and its nested functions: of globals, attributes and modules."""
    within = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return {*code.co_names}.union(*map(_names, within))


def _read(code: types.CodeType, *kinds: str) -> set[str]:
    """Return the names in instructions of these kinds, in a function and its nested functions."""
    own = {str(one.argval) for one in dis.get_instructions(code) if any(kind in one.opname for kind in kinds)}
    within = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return own.union(*(_read(one, *kinds) for one in within))


def _imported_now(module: str) -> Any:
    """Import a module that a function imports when it runs; None if that fails."""
    try:
        return importlib.import_module(module)
    except Exception:  # a module may raise anything
        return None


def _attribute(module: types.ModuleType, name: str) -> Any:
    """Return an attribute of a module, including one that is loaded when it is read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module, name, None)
    except Exception:  # a module may raise anything
        return None


@lru_cache(maxsize=1024)
def _version(module: str) -> str:
    """Return the version of the library of a module; empty for user modules, which have none."""
    top = module.partition(".")[0]
    if top == _OWN:
        return code_version()
    file = _file(top)
    if top in sys.stdlib_module_names and (file is None or file.is_relative_to(_standard())):
        return platform.python_version()
    found = _distribution(top)
    return "" if found is None else found.version


def _standard() -> Path:
    return Path(sysconfig.get_path("stdlib")).resolve()


@lru_cache(maxsize=256)
def _distribution(top: str) -> importlib.metadata.Distribution | None:
    """Return the installed distribution of a package; None for editable installations."""
    file = _file(top)
    if file is None or not {"site-packages", "dist-packages"} & set(file.parts):
        return None
    try:
        return importlib.metadata.distribution(top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, ())
        return importlib.metadata.distribution(names[0]) if names else None


@lru_cache(maxsize=1024)
def _files(module: str) -> str:
    """Digest of the file list of a distribution with the files' digests, since versions may be rebuilt."""
    found = _distribution(module.partition(".")[0])
    return "" if found is None else hashlib.sha256((found.read_text("RECORD") or "").encode()).hexdigest()


def _file(module: str) -> Path | None:
    """Return the file of a module, or None if it has none, as in a notebook."""
    loaded = sys.modules.get(module)
    name = getattr(loaded, "__file__", None)
    if loaded is None:
        try:
            specification = importlib.util.find_spec(module)
        except Exception:  # importing a parent package may raise anything
            return None
        name = specification.origin if specification is not None and specification.has_location else None
    return None if name is None else Path(name).resolve()


def _sources(module: str) -> dict[str, str]:
    """Return digests of the file of a user module and of all user modules that are imported from there."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or _version(name):
            continue
        file = _file(name)
        try:
            content = b"" if file is None else file.read_bytes()
        except OSError:
            content = b""
        found[name] = hashlib.sha256(content).hexdigest()
        if file is not None and file.suffix == ".py":
            waiting += _imported(name, content, is_package=file.name == "__init__.py")
    return found


def _imported(module: str, content: bytes, *, is_package: bool) -> list[str]:
    """Return the names of the modules that a source may import anywhere."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return []
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) - node.level + is_package] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            found += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    parents = {".".join(name.split(".")[:i]) for name in found for i in range(1, name.count(".") + 1)}
    return [name for name in (*found, *sorted(parents)) if name and _exists(name)]


def _exists(module: str) -> bool:
    return module in sys.modules or _file(module) is not None


def _found(module: str, name: str) -> Any:
    """Return an attribute of a module, or None if it is missing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def source_digest(function: Any) -> str:
    """Return the SHA-256 of the file of a function, of the user modules that are imported from there, and of fedtheory.

    The name of the module is not included, since a script may be run, or imported under another name.
    """
    function = getattr(function, "func", function)  # of a partial one
    module = getattr(function, "__module__", None) or type(function).__module__
    texts = sorted(_sources(str(module)).values())
    return hashlib.sha256("\n".join([code_version(), *texts]).encode()).hexdigest()
