"""A cached kernel must never run the old version of a function that it calls, nor be compiled again without need."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fedtheory
from fedtheory._compile import _imports

INNER = """
from fedtheory._compile import compiled
from fedtheory.numbers import NUMBER

@compiled
def inner(x):
    return x + {}
"""
CALLER = """
from fedtheory._compile import compiled
from fedtheory.inner import inner

@compiled
def outer(x):
    return inner(x)
"""


def answer(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    program = "from fedtheory.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, cwd=folder
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path):
    """A compiled function that calls one from another file, and a file that neither knows."""
    folder = tmp_path / "fedtheory"
    folder.mkdir()
    shutil.copy(Path(fedtheory.__file__).with_name("_compile.py"), folder)
    (folder / "outer.py").write_text(CALLER)
    (folder / "inner.py").write_text(INNER.format("NUMBER"))
    (folder / "numbers.py").write_text("NUMBER = 1\n")
    (folder / "stranger.py").write_text(INNER.format(1))
    (folder / "__init__.py").write_text("")
    assert answer(tmp_path) == "2 0"
    assert answer(tmp_path) == "2 1"  # the second process finds the kernel
    return folder


def test_editing_a_called_module_recompiles_its_callers(package):
    (package / "inner.py").write_text(INNER.format(10))
    assert answer(package.parent) == "11 0"


def test_editing_a_constant_that_a_called_function_reads_recompiles_its_callers(package):
    (package / "numbers.py").write_text("NUMBER = 3\n")
    assert answer(package.parent) == "4 0"


def test_an_edit_that_leaves_length_and_time_of_the_file_as_they_were_is_seen(package):
    before = (package / "numbers.py").stat()
    (package / "numbers.py").write_text("NUMBER = 3\n")
    os.utime(package / "numbers.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert answer(package.parent) == "4 0"


def test_a_checkout_and_an_edit_elsewhere_recompile_nothing(package):
    for file in package.iterdir():
        os.utime(file) if file.is_file() else None
    (package / "stranger.py").write_text(INNER.format(20))
    assert answer(package.parent) == "2 1"


@pytest.mark.parametrize(
    "statement",
    [
        "from fedtheory.sampling._newton import newton",
        "from fedtheory.sampling import _newton",
        "import fedtheory.sampling._newton",
        "from fedtheory.sampling import (\n    certificates,\n    _newton,\n)",
    ],
)
def test_imports_are_found_however_they_are_written(tmp_path, statement):
    (tmp_path / "kernel.py").write_text(f"import numpy\n{statement}\nx = 1\n")
    newton = Path(fedtheory.__file__).parent / "sampling" / "_newton.py"
    assert newton in _imports(tmp_path / "kernel.py")
    assert newton not in _imports(newton.with_name("optimal.py").with_name("inclusion.py"))
