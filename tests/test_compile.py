"""A cached kernel must never run the old version of a function that it calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import fedtheory

INNER = "from fedtheory._compile import compiled\n\n@compiled\ndef inner(x):\n    return x + {}\n"
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


def test_editing_a_called_module_recompiles_its_callers(tmp_path):
    package = tmp_path / "fedtheory"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(Path(fedtheory.__file__).with_name("_compile.py"), package)
    (package / "outer.py").write_text(CALLER)
    (package / "inner.py").write_text(INNER.format(1))
    assert answer(tmp_path) == "2 0"
    assert answer(tmp_path) == "2 1"  # the second process finds the kernel
    (package / "inner.py").write_text(INNER.format(10))
    assert answer(tmp_path) == "11 0"
