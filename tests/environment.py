"""Plugin with the common environment of all tests, which is active before any library is imported."""

import gc
import hashlib
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


# All processes of a run share their kernels. Numba looks at the file of a kernel only, and does not ask whether it was
# compiled with checked bounds: a folder is named by a digest of all sources and by this. `pytest --cache-clear` empties
# these folders too.
_sources = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((ROOT / "fedtheory").rglob("*.py"))))
_KERNELS = f"{_sources.hexdigest()[:12]}{'-checked' if os.environ.get('NUMBA_BOUNDSCHECK', '0') != '0' else ''}"
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "d" / "kernels" / _KERNELS))
os.environ.setdefault("MPLBACKEND", "Agg")
for _library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# Beside any relative tolerance pytest lets differences of 1e-12 pass, which of numbers as small is everything.
_Approximate: Any = type(pytest.approx(1.0))
_Approximate.DEFAULT_ABSOLUTE_TOLERANCE = 0.0


PLAIN_PYTHON = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


takes_minutes_as_plain_python = pytest.mark.skipif(PLAIN_PYTHON, reason="takes minutes as plain Python")


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Cases of a slow test of which .ci/run takes the first of so many; the others are ``long``."""
    return [pytest.param(case, marks=pytest.mark.long if place % every else ()) for place, case in enumerate(cases)]


def sized(compiled: int, plain: int) -> int:
    """Size of a test: smaller where kernels run as plain Python, far more slowly, to show where they go wrong."""
    return plain if PLAIN_PYTHON else compiled


# Of two workers each begins with one half of the tests. If both halves began with what compiles, both would compile the
# same kernels at the same time: the first has all of these, and the other is busy with exact arithmetic and with texts
# until it comes to tests that need many kernels, which are compiled by then.
_COMPILE = (
    "fedtheory/",
    *(f"tests/{folder}/" for folder in ("engine", "federation", "methods", "selection", "sampling", "valuation")),
    *(f"tests/{folder}/" for folder in ("conformance", "exact", "claims")),
)
_NEED_MANY = ("stud", "full_size", "sweeps/", "_files", "_interrupted", "_performance", "_readme", "_slips", "_fmnist")
# One of the slow tests takes minutes; begun last, it would leave the other worker with nothing to do.
_LONGEST = "tests/test_adding.py"


def _place(item: pytest.Item) -> int:
    file, _, _ = item.nodeid.partition("::")
    if file == _LONGEST:
        return -1
    return 0 if file.startswith(_COMPILE) else 2 if any(word in file for word in _NEED_MANY) else 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest and those that compile kernels, and end with the studies; otherwise keep the order."""
    items.sort(key=_place)


def pytest_collection_finish() -> None:
    """Look for cycles again, but not among what is there by now, and seldom: compiling makes much that stays."""
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    gc.enable()


def pytest_runtest_teardown() -> None:
    """Close the figures of a test: those of many would fill the memory, and matplotlib warns of it."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose how hard Hypothesis tries (``--hypothesis-profile=thorough`` overrides that), and what may overflow."""
    gc.disable()  # what is collected stays: looking for cycles in it took a quarter of the time
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job ignores Ctrl-C, which tests press
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if PLAIN_PYTHON:  # where compiled numbers become infinite in silence, and the loop sees it, NumPy's scalars warn
        config.addinivalue_line(
            "filterwarnings", "ignore:(overflow|invalid value) encountered in scalar:RuntimeWarning"
        )
    from hypothesis import HealthCheck, settings

    # A first example may have to wait for a compilation, which is no sign of a slow test.
    slow_is_fine = [HealthCheck.too_slow]
    settings.register_profile("local", deadline=None, max_examples=50, suppress_health_check=slow_is_fine)
    settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
    settings.register_profile("thorough", settings.get_profile("local"), max_examples=2000)
    settings.load_profile("ci" if os.environ.get("CI") else "local")
