"""An addition is one file: with the examples of the documentation in a copy of the tree, all tests pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import UserProvidedCacheLocator

from tests.environment import ROOT

# The copy has what tests read.
TREE = (
    *("fedtheory", "studies", "tests", "docs", ".ci", ".github", "README.md", "CONTRIBUTING.md", "pyproject.toml"),
    *(".pre-commit-config.yaml", ".readthedocs.yaml"),
)
# Tests that go through what is found by scanning; of the others none knows what is new.
SCANNING = (
    *(f"tests/bounds/test_{name}.py" for name in ("digits", "domains", "doors", "glossary", "hand_computations")),
    *("tests/bounds/test_hypotheses.py", "tests/bounds/test_transcriptions.py"),
    *(f"tests/conformance/test_{name}.py" for name in ("bounds", "drawing", "own_strategies")),
    *(f"tests/claims/test_{name}.py" for name in ("claims", "false_in_print", "looseness", "numbered_statements")),
    *("tests/claims/test_rediscoveries.py", "tests/exact/test_random_runs.py", "tests/worst_case/test_looseness.py"),
    *(f"tests/selection/test_{name}.py" for name in ("contract", "strategies")),
    *(f"tests/verification/test_{name}.py" for name in ("catalogue", "claim", "verdicts")),
    *(f"tests/test_{name}.py" for name in ("assumptions", "command_line")),
    *(f"tests/test_{name}.py" for name in ("documented", "full_size", "layers", "notebooks", "paper")),
    *(f"tests/test_{name}.py" for name in ("streams", "studies", "studying", "findings")),
)
# Of parametrized tests, and of files where what is new has tests of its name, the others say what they said before.
BY_NAME = ("[", "selection/test_strategies", "test_full_size", "runs_away_from_the_project")
CHOICE = """
def pytest_collection_modifyitems(items):
    new, by_name = {names}, {by_name}
    items[:] = [
        item for item in items
        if any(name in item.nodeid for name in new) or not any(part in item.nodeid for part in by_name)
    ]
"""
ALWAYS = ("test_documented", "test_layers")


def examples() -> dict[str, str]:
    """Return the examples of the page, by the paths that their first lines name."""
    names = ("contributing", *(f"howto/own_{thing}" for thing in ("strategy", "loss", "study")))
    text = "\n".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in names)
    return dict(re.findall(r"^```python\n# (\S+/\S+\.py)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))


def names_in(path: str, text: str) -> set[str]:
    """Return what tests of a new thing may be called after: its file, its classes and bounds, the keys of claims."""
    named = r"^class (\w+)|^@states\(.*?^def (\w+)|\"(\w+:[\w.-]+)\""
    found = re.findall(named, text, re.MULTILINE | re.DOTALL)
    return {Path(path).stem, *(name for groups in found for name in groups if name)}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the examples in it."""
    folder = tmp_path_factory.mktemp("copy")
    for name in TREE:
        source, made = ROOT / name, shutil.ignore_patterns("__pycache__", "_build", "gallery", "generated")
        shutil.copytree(source, folder / name, ignore=made) if source.is_dir() else shutil.copy(source, folder / name)
    for path, text in examples().items():
        (folder / path).write_text(text, encoding="utf-8")
    lend_kernels(folder)
    return folder


def lend_kernels(copy: Path) -> None:
    """Give the copy what is compiled already: its sources are the same, and numba names folders by where they are."""
    for package in {path.parent for path in (ROOT / "fedtheory").rglob("*.py")}:
        here, there = (
            UserProvidedCacheLocator.get_suitable_cache_subpath(str(root / package.relative_to(ROOT) / "a.py"))
            for root in (ROOT, copy)
        )
        compiled = Path(os.environ["NUMBA_CACHE_DIR"], here)
        if compiled.is_dir():
            shutil.copytree(compiled, copy / "kernels" / there)


def asked(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python over the copy."""
    places = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(copy / "kernels")}
    known = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=copy, env=known, capture_output=True, text=True, check=False)


def test_each_kind_of_thing_has_an_example() -> None:
    kinds = (
        "fedtheory/bounds",
        "fedtheory/claims",
        "fedtheory/selection",
        "fedtheory/federation",
        "fedtheory/worst_case/function_classes",
    )
    assert {str(Path(path).parent) for path in examples()} == {*kinds, "studies"}


@pytest.mark.slow
@pytest.mark.long  # it runs some hundred other tests in a copy of the project
def test_with_the_examples_in_a_copy_no_test_fails_and_what_is_missing_is_named(copy: Path) -> None:
    names = set(ALWAYS).union(*(names_in(path, text) for path, text in examples().items()))
    (copy / "choice.py").write_text(CHOICE.format(names=sorted(names), by_name=BY_NAME), encoding="utf-8")
    new = [path for path in examples() if path.startswith("fedtheory")]
    # A random one of all bounds is seldom the new one.
    seldom = "tests/exact/test_random_runs.py::test_random_runs_that_are_accepted_keep_their_promises"
    options = ["-q", "-rs", "--tb=short", "--no-showlocals", "-p", "choice", "-p", "no:cacheprovider"]
    options += ["--deselect", seldom]
    done = asked(copy, "pytest", *options, *new, *SCANNING)
    assert done.returncode == 0, done.stdout[-20_000:]
    told = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    # No test asks more of a loss or a claim than its own doctest or its verdict.
    wanted = ("contraction_gap__derived", "SmallestLoss", "step_size_and")
    assert [name for name in wanted if not any(name in line for line in told)] == []


@pytest.mark.slow  # with the copy of the test above
def test_the_examples_are_written_as_the_house_is(copy: Path) -> None:
    pytest.importorskip("ruff")
    for arguments in (("format", "--check"), ("check",)):
        done = asked(copy, "ruff", *arguments, *examples())
        assert done.returncode == 0, done.stdout + done.stderr
