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


def rewrite_unseen(file: Path, text: str) -> None:
    """Write a text of the same length and leave the time of the file as it was."""
    before = file.stat()
    file.write_text(text)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_kernel_is_compiled_again_when_a_text_that_it_is_made_of_changes_and_only_then(tmp_path):
    package = tmp_path / "fedtheory"
    package.mkdir()
    shutil.copy(Path(fedtheory.__file__).with_name("_compile.py"), package)
    (package / "outer.py").write_text(CALLER)
    (package / "inner.py").write_text(INNER.format("NUMBER"))
    (package / "numbers.py").write_text("NUMBER = 1\n")
    (package / "stranger.py").write_text(INNER.format(1))
    (package / "__init__.py").write_text("")
    assert answer(tmp_path) == "2 0"
    # A constant in a file without kernels, which a function reads that the kernel calls.
    rewrite_unseen(package / "numbers.py", "NUMBER = 3\n")
    assert answer(tmp_path) == "4 0"
    (package / "inner.py").write_text(INNER.format(10))
    assert answer(tmp_path) == "11 0"
    # A checkout, and an edit elsewhere.
    for file in package.glob("*.py"):
        os.utime(file)
    (package / "stranger.py").write_text(INNER.format(20))
    assert answer(tmp_path) == "11 1"


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
