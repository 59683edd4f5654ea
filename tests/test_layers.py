"""Rules for the source code, checked on its text.

Each rule is also tested with a small violation, since a check that cannot fail verifies nothing.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.environment import ROOT

FLOORS = {
    **dict.fromkeys(("_support", "errors"), 1),
    **dict.fromkeys(("_storage", "statistics"), 2),
    **dict.fromkeys(("arithmetic", "formal"), 2),
    "theorem": 3,
    **dict.fromkeys(("bounds", "federation", "plotting", "sampling", "study", "valuation", "worst_case"), 4),
    **dict.fromkeys(("datasets", "instances", "methods", "selection"), 5),
    "engine": 6,
    **dict.fromkeys(("exact", "sweeps"), 7),
    **dict.fromkeys(("claims", "verification"), 8),
    **dict.fromkeys(("conformance", "referee"), 9),
    **dict.fromkeys(("cli", "__main__", "__init__"), 10),
}
MOST_IMPORTS_IN_FUNCTIONS = 30
HEAVY = {"clarabel", "cvxpy", "dask", "matplotlib", "scipy", "sklearn", "sympy", "xarray"}
Modules = dict[str, str]


@cache
def modules(folder: str = "fedtheory") -> Modules:
    """Sources by dotted name, packages as ``name.__init__``."""
    files = sorted((ROOT / folder).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts): file.read_text(encoding="utf-8") for file in files}


def floor(module: str) -> int:
    """Floor of ``fedtheory.ROOM...``; a room without one is an error."""
    return FLOORS[[*module.split("."), "__init__"][1]]


def is_type_checking(node: ast.AST) -> bool:
    """Whether this is the branch that never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


@cache
def parsed(source: str) -> ast.Module:
    """Parse a source once for all rules, which only look at it."""
    return ast.parse(source)


@cache
def imports_of(source: str, module: str) -> tuple[tuple[int, str], ...]:
    """All imports of a source, found once for all rules."""
    return tuple(imported(parsed(source), module))


def imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of all imports, wherever they stand; ``from a import b`` gives a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and name_of(node.func).endswith("import_module"):
            names = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
            yield from ((node.lineno, str(name)) for name in names)


def name_of(function: ast.expr) -> str:
    """What is called, without where it comes from."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def package_of(name: str) -> str:
    """Return the package in which a dotted name lies; ``__init__`` stands for the root package."""
    return [*name.split("."), "__init__"][1]


def imports_between(sources: Modules) -> Iterator[tuple[str, str, str]]:
    """Yield (module, imported name, line of a report) of all imports from one package of the library into another."""
    for module, source in sources.items():
        for line, name in imports_of(source, module):
            if name.split(".")[0] == "fedtheory" and package_of(name) != package_of(module):
                yield module, name, f"{module}:{line} imports {name}"


def upward_imports(sources: Modules) -> list[str]:
    """List imports from a higher layer; the root package is above all others."""
    found = imports_between(sources)
    return [told for module, name, told in found if FLOORS.get(package_of(name), FLOORS["__init__"]) > floor(module)]


def mutual_imports(sources: Modules) -> list[str]:
    """List imports between two packages that import each other; one direction must be removed."""
    found = [(package_of(module), package_of(name), told) for module, name, told in imports_between(sources)]
    ways = {(one, other) for one, other, _ in found}
    return [told for one, other, told in found if (other, one) in ways]


def private_modules(sources: Modules) -> list[str]:
    """Name imports of a private module, or of a private name, of another package."""
    found = imports_between(sources)
    return [told for _, name, told in found if any(part.startswith("_") for part in name.split(".")[2:])]


def claims_on_claims(sources: Modules) -> list[str]:
    """List imports between modules of claims; code that several of them need belongs to a module with an underscore."""
    claims = {module: source for module, source in sources.items() if module.startswith("fedtheory.claims.")}
    return [
        f"{module}:{line} imports {name}"
        for module, source in claims.items()
        for line, name in ([] if module.endswith("__init__") else imports_of(source, module))
        if name.startswith("fedtheory.claims.") and not any(part.startswith("_") for part in name.split(".")[:-1])
    ]


def imports_in_functions(sources: Modules) -> list[str]:
    """Name import statements in functions that import modules of the library."""
    found = []
    for module, source in sources.items():
        functions = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.FunctionDef | ast.Lambda))
        for node in {node for function in functions for node in ast.walk(function)}:
            names = imported(ast.Module([node], []), module) if isinstance(node, ast.Import | ast.ImportFrom) else []
            own = [f"{module}:{line} imports {name}" for line, name in names if name.split(".")[0] == "fedtheory"]
            found += own[:1]
    return found


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if not is_type_checking(node) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from run_at_import(node)


def heavy_imports(sources: Modules) -> list[str]:
    """Name imports of slow libraries outside functions."""
    found = []
    for module, source in sources.items():
        for node in run_at_import(parsed(source)):
            names = imported(ast.Module([node], []), module) if isinstance(node, ast.Import | ast.ImportFrom) else []
            found += [f"{module}:{line} imports {name}" for line, name in names if name.split(".")[0] in HEAVY]
    return found


def paths_outside(text: str, folder: Path) -> list[str]:
    """Name paths of one machine, and relative ones that leave the project."""
    machine = re.findall(r"(?<![\w.:/~)\]}-])/(?:tmp|home|root|work|opt|Users)/[\w./-]*", text)
    relative = re.findall(r"(?<![\w./])(?:\.\./)+[\w./-]*", text)
    return machine + [path for path in relative if not (folder / path).resolve().is_relative_to(ROOT)]


def texts() -> Iterator[Path]:
    """Yield what people wrote, not what tools made of it."""
    made = {"_build", "gallery", "generated", "__pycache__"}
    suffixes = {".py", ".md", ".rst", ".toml", ".yml", ".yaml", ".css", ".html"}
    for folder in ("fedtheory", "studies", "tests", "docs", ".github", ".ci"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and (file.suffix in suffixes or folder == ".ci") and made.isdisjoint(file.parts):
                yield file
    yield from (ROOT / name for name in ("README.md", "pyproject.toml", ".pre-commit-config.yaml", ".readthedocs.yaml"))


@pytest.mark.parametrize("rule", [upward_imports, mutual_imports, claims_on_claims, private_modules, heavy_imports])
def test_the_library_keeps_the_rule(rule) -> None:
    assert rule(modules()) == []


def test_there_are_at_most_ten_layers() -> None:
    assert max(FLOORS.values()) <= 10


def test_few_imports_of_the_library_are_in_functions() -> None:
    assert len(imports_in_functions(modules())) <= MOST_IMPORTS_IN_FUNCTIONS


def test_nothing_points_outside_the_project() -> None:
    found = {
        str(file.relative_to(ROOT)): paths_outside(file.read_text(encoding="utf-8"), file.parent) for file in texts()
    }
    assert {file: paths for file, paths in found.items() if paths} == {}


@pytest.mark.parametrize(
    ("rule", "module", "statement"),
    [
        *(
            (upward_imports, "sampling.toy", statement)
            for statement in (
                "import fedtheory",
                "from fedtheory import __version__",
                "from fedtheory import exact",
                "import fedtheory.exact.skew as s",
                "from fedtheory.claims.power_of_choice.theorems import lemma",
                "from ..exact import skew",
                "def f():\n    from fedtheory.engine.simulation import fedavg",
                "if TYPE_CHECKING:\n    from fedtheory.selection import Full",
                "import importlib\nimportlib.import_module('fedtheory.engine._rounds')",
            )
        ),
        *(
            (private_modules, "verification.hunts", statement)
            for statement in (
                "from fedtheory.instances._checks import exact",
                "from fedtheory.instances import _checks",
                "import fedtheory.instances._checks as checks",
                "def f():\n    from fedtheory.instances.draws import _draw",
            )
        ),
        *(
            (heavy_imports, "exact.toy", statement)
            for statement in (
                "import cvxpy as cp",
                "from scipy import stats",
                "class A:\n    import sympy",
                "try:\n    import xarray\nfinally: pass",
            )
        ),
        (claims_on_claims, "claims.fedavg.convergence", "from fedtheory.claims.power_of_choice.theorems import gaps"),
    ],
)
def test_a_violation_is_seen(rule, module: str, statement: str) -> None:
    assert len(rule({f"fedtheory.{module}": statement})) == 1


@pytest.mark.parametrize(
    ("rule", "module", "statement"),
    [
        (upward_imports, "sampling.toy", "from fedtheory.valuation import shapley\nimport numpy\nx = 'exact'"),
        (upward_imports, "sampling.toy", "from fedtheory import theorem"),
        (private_modules, "claims.fedavg", "from fedtheory.claims._comparisons import step\nimport _thread"),
        (private_modules, "claims.fedavg", "from fedtheory._support import validate"),
        (claims_on_claims, "claims.fedavg", "from fedtheory.claims._checks import gaps\nimport fedtheory.instances"),
        (heavy_imports, "exact.toy", "if TYPE_CHECKING:\n    import xarray\ndef f():\n    import cvxpy"),
    ],
)
def test_what_is_allowed_is_not_reported(rule, module: str, statement: str) -> None:
    assert rule({f"fedtheory.{module}": statement}) == []


def test_two_rooms_that_look_at_each_other_are_seen() -> None:
    data = {"fedtheory.datasets.toy": "from fedtheory.federation.softmax import SoftmaxFederation"}
    assert mutual_imports({**data, "fedtheory.federation.toy": "from fedtheory._support.validate import Array"}) == []
    back = "def f():\n    from fedtheory import datasets"
    assert len(mutual_imports({**data, "fedtheory.federation.toy": back})) == 2


def test_imports_in_functions_are_counted_once_each() -> None:
    source = "class A:\n    def f(self):\n        def g():\n            from fedtheory import exact, bounds"
    other = "def f():\n    import numpy\n    from ..exact import skew"
    assert len(imports_in_functions({"fedtheory.claims.one": source, "fedtheory.claims.two": other})) == 2


def test_a_path_of_one_machine_and_a_way_out_are_seen() -> None:
    assert len(paths_outside("see /" + "home/ada/x.npz", ROOT)) == 1
    assert len(paths_outside("see ../" + "notes/design.md", ROOT)) == 1
    assert paths_outside("see ../README.md, https://example.org/" + "home/x and results/x", ROOT / "docs") == []


def test_importing_the_library_loads_nothing_slow() -> None:
    script = "import sys, fedtheory; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert set(done.stdout.split()) & (HEAVY | {"numba", "joblib", "rich", "tyro"}) == set()
    assert "fedtheory" in done.stdout.split()
