"""What every test run shares; a plugin, so that it is in force before any test, doctest or library is imported."""

import hashlib
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def kernel_cache(package: Path, cache: Path) -> Path:
    """Folder for compiled kernels that belongs to these very sources.

    Numba asks only whether the kernel's own file is older than the cache: a kernel that calls a function from another
    file would run its old code after an edit.
    """
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode())
        digest.update(file.read_bytes())
    return cache / f"numba-{digest.hexdigest()[:16]}"


# `pytest --cache-clear` empties this folder too.
os.environ.setdefault("NUMBA_CACHE_DIR", str(kernel_cache(ROOT / "fedtheory", ROOT / ".pytest_cache" / "d")))
os.environ.setdefault("MPLBACKEND", "Agg")
for _library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Choose how hard Hypothesis tries; ``--hypothesis-profile=thorough`` overrides the choice."""
    from hypothesis import HealthCheck, settings

    # A first example may have to wait for a compilation, which is no sign of a slow test.
    slow_is_fine = [HealthCheck.too_slow]
    settings.register_profile("local", deadline=None, max_examples=50, suppress_health_check=slow_is_fine)
    settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
    settings.register_profile("thorough", settings.get_profile("local"), max_examples=2000)
    settings.load_profile("ci" if os.environ.get("CI") else "local")
