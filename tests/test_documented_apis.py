"""The library and its studies use documented means only: no private part of a library, no byte code, no frames."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT

STUDIES = sorted((ROOT / "studies").glob("*.py"))
FILES = [*sorted((ROOT / "fedtheory").rglob("*.py")), *STUDIES]
OWN = {"fedtheory", *(path.stem for path in STUDIES)}
MODULES = ("numba.core", "numba.np", "numba.experimental", "llvmlite", "ctypes", "dis", "atexit")
NAMES = {
    "intrinsic", "_getframe", "currentframe", "__code__", "__globals__", "__closure__", "from_address", "exec", "eval",
    "globals",
}  # fmt: skip


def violations(text: str) -> Iterator[str]:
    """Yield a line for each use of something that is not documented."""
    tree = ast.parse(text)
    foreign = {name: module for node in ast.walk(tree) for name, module in bound_by_import(node) if not is_own(module)}
    libraries = {name for name, module in foreign.items() if module.partition(".")[0] not in sys.stdlib_module_names}
    for node in ast.walk(tree):
        for what in (*imports(node), *names(node), *reads(node, set(foreign)), *writes(node, libraries)):
            yield f"{getattr(node, 'lineno', 0)}: {what}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "signal.signal" and not restores_signals(tree):
            yield f"{node.lineno}: a signal handler that outlives a call"


def imports(node: ast.AST) -> Iterator[str]:
    """Yield undocumented modules, and private parts of other libraries, that a statement imports."""
    for _, module in bound_by_import(node):
        if any(module == name or module.startswith(f"{name}.") for name in MODULES):
            yield f"import of {module}"
        if module.rpartition(".")[-1] in NAMES:
            yield f"import of {module}"
        if not is_own(module) and any(map(is_private, module.split("."))):
            yield f"import of the private {module}"


def names(node: ast.AST) -> Iterator[str]:
    """Yield a name or an attribute that no file may use."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    if name in NAMES or (name.startswith("co_") and isinstance(node, ast.Attribute)):
        yield f"use of {name}"


def reads(node: ast.AST, foreign: set[str]) -> Iterator[str]:
    """Yield a private attribute of another library, also one that is named by a text."""
    if isinstance(node, ast.Attribute) and is_private(node.attr) and root(node.value) in foreign:
        yield ast.unparse(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr"):
        name = node.args[1]
        if isinstance(name, ast.Constant) and is_private(str(name.value)) and root(node.args[0]) not in ("self", "cls"):
            yield ast.unparse(node)


def writes(node: ast.AST, foreign: set[str]) -> Iterator[str]:
    """Yield an assignment to an attribute of an object of another library."""
    targets = [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else getattr(node, "targets", [])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        targets = [ast.Attribute(node.args[0], "an attribute")]
    for target in targets:
        if isinstance(target, ast.Attribute) and root(target) in foreign:
            yield f"assignment to {ast.unparse(target)}"


def bound_by_import(node: ast.AST) -> list[tuple[str, str]]:
    """Return the names that a statement binds, each with what it imports."""
    if isinstance(node, ast.Import):
        return [((one.asname or one.name).partition(".")[0], one.name) for one in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [(one.asname or one.name, f"{node.module}.{one.name}") for one in node.names]
    return []


def case(path: Path) -> Any:
    """Return a file as a case of the test."""
    name = str(path.relative_to(ROOT))
    # A strategy of Flower makes messages, which need the identity of a task; only its attributes can be set.
    wrong = pytest.mark.xfail(strict=True, reason="Flower has no function that sets the identity of a task")
    return pytest.param(path, id=name, marks=wrong if path.name == "flower_strategies.py" else ())


def is_own(module: str) -> bool:
    return module.partition(".")[0] in OWN


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def root(node: ast.AST) -> str:
    """Return the name with which an expression begins."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def restores_signals(tree: ast.Module) -> bool:
    """Whether a file sets signal handlers again when a block ends."""
    ends = (statement for node in ast.walk(tree) if isinstance(node, ast.Try) for statement in node.finalbody)
    return any("signal.signal" in ast.unparse(statement) for statement in ends)


@pytest.mark.parametrize("path", [*map(case, FILES)])
def test_a_file_uses_documented_means_only(path: Path) -> None:
    assert list(violations(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from numba.core import types",
        "import llvmlite.ir",
        "import ctypes",
        "import atexit",
        "from numba.extending import intrinsic",
        "import sys\nsys._getframe(1)",
        "def f(g):\n    return g.__code__.co_names",
        "def f():\n    return globals()",
        "eval('1')",
        "import numba\nnumba.config.THREADING_LAYER = 'omp'",
        "import numba\nsetattr(numba.config, 'CACHE_DIR', '')",
        "import scipy.sparse as sp\nsp._matrix",
        "import numpy as np\nnp.random.default_rng()._bit_generator",
        "def f(x):\n    return getattr(x, '_private')",
        "from joblib._parallel_backends import LokyBackend",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)",
    ],
)
def test_what_is_not_documented_is_found(text: str) -> None:
    assert list(violations(text))


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nnp.random.default_rng(0)",
        "from numba import njit, types",
        "from fedtheory._support import validate\nvalidate.count",
        "class A:\n    def f(self):\n        self._cache = 1\n        return getattr(self, '_cache')",
        "from __future__ import annotations",
    ],
)
def test_what_is_documented_is_not_refused(text: str) -> None:
    assert list(violations(text)) == []


if __name__ == "__main__":  # the places that are left
    for file in FILES:
        for line in violations(file.read_text(encoding="utf-8")):
            sys.stdout.write(f"{file.relative_to(ROOT)}:{line}\n")
