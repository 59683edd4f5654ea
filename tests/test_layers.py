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


def upward_imports(sources: Modules) -> list[str]:
    """Name imports from a higher floor; the root package is the roof."""
    found = []
    for module, source in sources.items():
        own_floor = floor(module)
        for line, name in imports_of(source, module):
            room = [*name.split("."), "__init__"][1]
            target = name if room in FLOORS else "fedtheory"
            up = floor(target) > own_floor
            if name.split(".")[0] == "fedtheory" and up:
                found.append(f"{module}:{line} imports {name}")
    return found


def mutual_imports(sources: Modules) -> list[str]:
    """Name imports between two rooms that look at each other: one of the two ways has to go."""
    found: dict[tuple[str, str], list[str]] = {}
    for module, source in sources.items():
        own_room = [*module.split("."), "__init__"][1]
        for line, name in imports_of(source, module):
            room = [*name.split("."), "__init__"][1]
            if name.split(".")[0] == "fedtheory" and room != own_room:
                found.setdefault((own_room, room), []).append(f"{module}:{line} imports {name}")
    return [sight for (one, other), sights in found.items() if (other, one) in found for sight in sights]


def claims_on_claims(sources: Modules) -> list[str]:
    """Name imports between claims: what several of them need stands in a module of its own, with an underscore."""
    found = []
    for module, source in sources.items():
        for line, name in imports_of(source, module):
            both = all(one.startswith("fedtheory.claims.") for one in (module, name)) and not module.endswith(
                "__init__"
            )
            if both and not any(part.startswith("_") for part in name.split(".")[:-1]):
                found.append(f"{module}:{line} imports {name}")
    return found


def private_modules(sources: Modules) -> list[str]:
    """Name imports of a private module, or of a private name, of another package."""
    found = []
    for module, source in sources.items():
        own_room = [*module.split("."), "__init__"][1]
        for line, name in imports_of(source, module):
            root, *parts = name.split(".")
            elsewhere = root == "fedtheory" and parts and parts[0] != own_room
            if elsewhere and any(part.startswith("_") for part in parts[1:]):
                found.append(f"{module}:{line} imports {name}")
    return found


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
    "statement",
    [
        "import fedtheory",
        "from fedtheory import __version__",
        "from fedtheory import exact",
        "import fedtheory.exact.skew as s",
        "from fedtheory.claims.power_of_choice.theorems import lemma",
        "from ..exact import skew",
        "def f():\n    from fedtheory.engine.simulation import fedavg",
        "if TYPE_CHECKING:\n    from fedtheory.selection import Full",
        "import importlib\nimportlib.import_module('fedtheory.engine._rounds')",
    ],
)
def test_an_import_from_above_is_seen(statement: str) -> None:
    assert len(upward_imports({"fedtheory.sampling.toy": statement})) == 1


@pytest.mark.parametrize(
    "statement",
    ["from fedtheory.valuation import shapley", "from fedtheory import theorem", "import numpy", "x = 'exact'"],
)
def test_an_import_from_the_same_floor_or_below_is_fine(statement: str) -> None:
    assert upward_imports({"fedtheory.sampling.toy": statement}) == []


def test_two_rooms_that_look_at_each_other_are_seen() -> None:
    data = {"fedtheory.datasets.toy": "from fedtheory.federation.softmax import SoftmaxFederation"}
    assert mutual_imports({**data, "fedtheory.federation.toy": "from fedtheory._support.validate import Array"}) == []
    back = "def f():\n    from fedtheory import datasets"
    assert mutual_imports({**data, "fedtheory.federation.toy": back}) == [
        "fedtheory.datasets.toy:1 imports fedtheory.federation.softmax.SoftmaxFederation",
        "fedtheory.federation.toy:2 imports fedtheory.datasets",
    ]


def test_a_claim_that_borrows_from_another_claim_is_seen() -> None:
    source = "from fedtheory.claims.power_of_choice.theorems import gaps"
    assert len(claims_on_claims({"fedtheory.claims.fedavg.convergence": source})) == 1
    fine = "from fedtheory.claims._checks import gaps\nfrom fedtheory.instances import gap"
    assert claims_on_claims({"fedtheory.claims.fedavg.convergence": fine}) == []


@pytest.mark.parametrize(
    "statement",
    [
        "from fedtheory.instances._checks import exact",
        "from fedtheory.instances import _checks",
        "import fedtheory.instances._checks as checks",
        "def f():\n    from fedtheory.instances.draws import _draw",
    ],
)
def test_a_private_module_of_another_package_is_seen(statement: str) -> None:
    assert len(private_modules({"fedtheory.verification.hunts": statement})) == 1


def test_a_private_module_of_the_same_package_and_the_private_packages_are_fine() -> None:
    fine = "from fedtheory.claims._comparisons import step\nfrom fedtheory._support import validate\nimport _thread"
    assert private_modules({"fedtheory.claims.fedavg": fine}) == []


def test_imports_in_functions_are_counted_once_each() -> None:
    source = "class A:\n    def f(self):\n        def g():\n            from fedtheory import exact, bounds"
    other = "def f():\n    import numpy\n    from ..exact import skew"
    assert len(imports_in_functions({"fedtheory.claims.one": source, "fedtheory.claims.two": other})) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "import cvxpy as cp",
        "from scipy import stats",
        "class A:\n    import sympy",
        "try:\n    import xarray\nfinally: pass",
    ],
)
def test_a_slow_library_at_the_top_is_seen(statement: str) -> None:
    assert len(heavy_imports({"fedtheory.exact.toy": statement})) == 1


def test_a_slow_library_in_a_function_or_for_types_only_is_fine() -> None:
    source = "if TYPE_CHECKING:\n    import xarray\ndef f():\n    import cvxpy"
    assert heavy_imports({"fedtheory.exact.toy": source}) == []


def test_a_path_of_one_machine_and_a_way_out_are_seen() -> None:
    assert len(paths_outside("see /" + "home/ada/x.npz", ROOT)) == 1
    assert len(paths_outside("see ../" + "notes/design.md", ROOT)) == 1
    assert paths_outside("see ../README.md, https://example.org/" + "home/x and results/x", ROOT / "docs") == []


def test_importing_the_library_loads_nothing_slow() -> None:
    script = "import sys, fedtheory; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert set(done.stdout.split()) & (HEAVY | {"numba", "joblib", "rich", "tyro"}) == set()
    assert "fedtheory" in done.stdout.split()
