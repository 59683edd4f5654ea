"""One digest of what determines a result: functions by their sources, arguments by value, and versions.

Two results are considered equal only if their digests are equal. Digests may therefore differ although the results do
not, for example after any edit of a file, but must differ if the results do. What cannot be digested has no identity
and raises `UnidentifiedError`, unless the user gives a version that stands for it.

A function or class is its name, the text of its module, and the texts of all modules of the user that are imported from
there, with the versions of the libraries that these import. Values of the variables of these modules that a function
may read also count, since a program may set them. Files and the environment do not count.
"""

import abc
import argparse
import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import itertools
import json
import platform
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Generic, NamedTuple, Protocol

import numpy as np

from fedtheory._storage import STARTED
from fedtheory._storage.provenance import code_version, processor

_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_LIBRARIES = ("numpy", "scipy", "numba")
_ATOMS = (type(None), bool, int, float, complex, str, bytes, Fraction, range)
_CONTAINERS = (tuple, list, dict, set, frozenset)
# Base classes without state, and classes whose objects have attributes only.
_PLAIN = (object, abc.ABC, Generic, Protocol)
_NAMESPACES = (argparse.Namespace, types.SimpleNamespace)
# Calls of text, which may import any module, and imports of modules that are named by text.
_UNSEEN_NAMES = {"eval", "exec", "__import__", "import_module", "run_path", "run_module"}
_UNSEEN_ATTRIBUTES = {"import_module", "run_path", "run_module"}


class UnidentifiedError(TypeError):
    """A value that cannot be digested, described in one sentence."""


def identities(values: Iterable[Any], version: str = "") -> list[str]:
    """Return the SHA-256 of each value with the versions of fedtheory, Python and the libraries that it computes with.

    What cannot be digested is refused unless ``version``, a text of the user, stands for it: objects whose state cannot
    be read, nested functions and classes, those of a notebook, and modules that were edited after the start or import
    others named by text.
    """
    versions = [code_version(), platform.python_version(), *map(importlib.metadata.version, _LIBRARIES), processor()]
    description = _Description(is_strict=not version)
    try:
        return [_digest([versions, version, description.of(value)]) for value in values]
    except RecursionError as error:
        message = "a value that contains itself, or is nested deeply, cannot be identified"
        raise UnidentifiedError(message) from error


def source_digest(function: Any) -> str:
    """Return the SHA-256 of the file of a function, of the user modules that are imported from there, and of fedtheory.

    The name of the module is not included, since a script may be run, or imported under another name.
    """
    home = function.__module__
    digests = {"" if name == home else name: one.digest for name, one in _sources(home)[0].items()}
    return _digest([code_version(), digests])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class _Description:
    """Descriptions of values as JSON data; of the module of each function and class once, or never."""

    def __init__(self, *, is_strict: bool, has_modules: bool = True) -> None:
        self.is_strict, self.has_modules = is_strict, has_modules
        self.modules: dict[str, Any] = {}

    def of(self, value: Any) -> Any:
        """Describe any value; values that differ have different descriptions."""
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind in _ATOMS or isinstance(value, PurePath):
            return [name, repr(value)]
        if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind not in "OV":
            content = np.ascontiguousarray(value).tobytes()
            return [name, value.dtype.str, value.shape, hashlib.sha256(content).hexdigest()]
        if kind in _CONTAINERS:
            return [name, self.parts(value)]
        return self.object(value, name)

    def object(self, value: Any, name: str) -> Any:
        """Describe a function, a class, or an object with attributes."""
        kind = type(value)
        if kind is functools.partial:
            return [name, self.parts((value.func, value.args, value.keywords))]
        if isinstance(value, types.MethodType):
            return [value.__name__, self.of(value.__self__)]
        if isinstance(value, Enum):
            return [value.name, self.of(kind)]
        if _is_named(value):
            return self.named(value)
        if kind in _NAMESPACES or all(map(_is_plain, kind.__mro__)):
            content = [self.parts(base(value)) for base in kind.__mro__ if base in _CONTAINERS]
            return [self.of(kind), content, self.of(_attributes(value))]
        return self.unread(name, f"an object of {name}", "its state cannot be read")

    def parts(self, value: Any) -> list[Any]:
        found = [self.of(part) for part in (value.items() if isinstance(value, dict) else value)]
        return sorted(found, key=json.dumps) if isinstance(value, set | frozenset) else found

    def named(self, value: Any) -> Any:
        """Describe a function or class by its name and its module."""
        home, name = str(getattr(value, "__module__", "")), str(value.__qualname__)
        if _found(home, name) is not value:
            self.unread(name, name, f"it is not at the top level of {home or 'a module'}")
        return [home, name, self.module(home) if self.has_modules else None]

    def module(self, name: str) -> Any:
        """Describe a module by the texts of it and its imports, and by the variables of these modules."""
        if name not in self.modules:
            sources, libraries = _sources(name)
            for module, source in sources.items():
                if source.problem:
                    self.unread(module, module, source.problem)
            names = set[str]().union(*(source.names for source in sources.values()))
            texts = {module: [source.digest, _variables(module, names)] for module, source in sources.items()}
            self.modules[name] = [texts, libraries]
        return self.modules[name]

    def unread(self, name: str, what: str, why: str) -> Any:
        """Describe something that the user's version stands for."""
        if self.is_strict:
            message = f"{what} cannot be identified, since {why}: give version=, a text that changes when it does"
            raise UnidentifiedError(message)
        return ["unread", name]


def _is_named(value: Any) -> bool:
    """Whether a value is a function or a class."""
    try:
        return isinstance(value.__qualname__, str)
    except Exception:  # __getattr__ of a user's class may raise anything
        return False


def _is_plain(base: type) -> bool:
    """Whether a base class keeps all of an object's state in its attributes or in the content of a container."""
    if base in _PLAIN or base in _CONTAINERS:
        return True
    file = _file(base.__module__)
    return (_is_own(base.__module__) or not _version(base.__module__)) and (file is None or file.suffix == ".py")


def _attributes(value: Any) -> Any:
    """Return the attributes of an object; cached properties of fedtheory follow from the others."""
    found, kind = object.__getstate__(value), type(value)
    if not isinstance(found, dict) or not _is_own(kind.__module__):
        return found
    cached = functools.cached_property
    return {
        name: one for name, one in found.items() if not isinstance(inspect.getattr_static(kind, name, None), cached)
    }


def _variables(module: str, names: set[str]) -> dict[str, Any]:
    """Describe variables of a module as far as they can be read, and modules, functions and classes by their names."""
    description = _Description(is_strict=False, has_modules=False)
    found: dict[str, Any] = {}
    known = vars(sys.modules[module]) if module in sys.modules else {}
    for name in known.keys() & names:
        value = known[name]
        try:
            found[name] = value.__name__ if isinstance(value, types.ModuleType) else description.of(value)
        except RecursionError:
            found[name] = ["unread"]
    return found


class _Source(NamedTuple):
    """A module of the user: its digest, the modules that it imports, the names in its functions, and what is wrong."""

    digest: str
    imports: Iterable[str] = ()
    names: Iterable[str] = ()
    problem: str = ""


def _sources(root: str) -> tuple[dict[str, _Source], dict[str, str]]:
    """Return the modules of the user that a module imports, and the versions of the libraries that these import."""
    sources: dict[str, _Source] = {}
    libraries: dict[str, str] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if version := _version(name):
            libraries[name.partition(".")[0]] = version
        elif name not in sources:
            sources[name] = _source(name)
            waiting += [one for one in sources[name].imports if one in sys.modules or _file(one) is not None]
    return sources, libraries


def _source(name: str) -> _Source:
    """Read a module of the user."""
    file = _file(name)
    if file is None:
        is_namespace = hasattr(sys.modules.get(name), "__path__")
        return _Source("", problem="" if is_namespace else "it has no file, as in a notebook")
    try:
        content, edited = file.read_bytes(), file.stat().st_mtime
        tree = ast.parse(content if file.suffix == ".py" else b"")
    except (OSError, SyntaxError, ValueError) as error:
        return _Source("", problem=f"its file cannot be read ({type(error).__name__})")
    unseen = next(filter(None, map(_unseen, ast.walk(tree))), "")
    problem = f"it calls {unseen}, which may use anything" if unseen else ""
    if edited > STARTED:
        problem = "it was edited after this process started"
    package = name if file.name == "__init__.py" else getattr(sys.modules.get(name), "__package__", None)
    imports = {*_imports(tree, name.rpartition(".")[0] if package is None else package)}
    return _Source(hashlib.sha256(content).hexdigest(), imports, {*_names(tree)}, problem)


def _unseen(node: ast.AST) -> str:
    """Return the name in a node of a syntax tree that may use anything, if there is one."""
    if isinstance(node, ast.Name) and node.id in _UNSEEN_NAMES:
        return node.id
    return node.attr if isinstance(node, ast.Attribute) and node.attr in _UNSEEN_ATTRIBUTES else ""


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names and attributes in all functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.Name | ast.Attribute):
                    yield node.id if isinstance(node, ast.Name) else node.attr


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the names of the modules that a source may import anywhere, and of the packages that contain them."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = importlib.util.resolve_name("." * node.level + source, package)
            names = [f"{source}.{alias.name}" for alias in node.names]  # a module, or something in the module
        for name in names:
            yield from itertools.accumulate(name.split("."), "{}.{}".format)


def _version(module: str) -> str:
    """Return the version of the library of a module; empty for modules of the user, as in editable installations."""
    top = module.partition(".")[0]
    if _is_own(top):
        return code_version()
    file = _file(top)
    if top in sys.stdlib_module_names and (file is None or file.is_relative_to(_STANDARD)):
        return platform.python_version()
    is_installed = file is not None and not {"site-packages", "dist-packages"}.isdisjoint(file.parts)
    return _distribution_version(top) if is_installed else ""


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == "fedtheory"


@lru_cache(maxsize=256)
def _distribution_version(top: str) -> str:
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, ())
        return importlib.metadata.version(names[0]) if names else ""


def _file(module: str) -> Path | None:
    """Return the file of a module, or None if it has none, as in a notebook."""
    if module in sys.modules:
        name = getattr(sys.modules[module], "__file__", None)
    else:
        try:
            specification = importlib.util.find_spec(module)
        except Exception:  # importing a parent package may raise anything
            return None
        name = specification.origin if specification is not None and specification.has_location else None
    return None if name is None else Path(name).resolve()


def _found(module: str, name: str) -> Any:
    """Return an attribute of a module, or None if it is missing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
