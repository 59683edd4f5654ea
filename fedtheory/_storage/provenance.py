"""Versions and machine, on which the bits of a result may depend in addition to its inputs."""

import hashlib
import os
import platform
from functools import lru_cache
from pathlib import Path

# Entries of /proc/cpuinfo that determine the instructions which compilers choose.
_MODEL = ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part")
# Settings of Numba that replace the processor.
_SETTINGS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


def release() -> str:
    """Return the version of fedtheory."""
    # The import is slow, and only needed when something is stored.
    from importlib.metadata import version

    return version("fedtheory")


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version of fedtheory with a digest of its sources, which identifies development versions."""
    root, found = Path(__file__).resolve().parents[1], hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        found.update(file.relative_to(root).as_posix().encode())
        found.update(file.read_bytes())
    return f"{release()} ({found.hexdigest()[:8]})"


@lru_cache(maxsize=1)
def processor() -> str:
    """Return the model of the processor, and the instructions that NumPy and linear algebra use on it."""
    import numpy as np
    from threadpoolctl import threadpool_info

    vectors = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    kernels = sorted({pool["architecture"] for pool in threadpool_info() if "architecture" in pool})
    settings = [os.environ[name] for name in _SETTINGS if name in os.environ]
    return " ".join([platform.machine(), _model(), *vectors, *kernels, *settings])


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:  # no Linux
        return platform.processor()
    entries = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return " ".join(entries[name] for name in _MODEL if name in entries)


def provenance(*libraries: str) -> dict[str, str]:
    """Return versions of fedtheory, Python, NumPy, SciPy, Numba and more libraries, and the machine."""
    from importlib.metadata import version

    return {
        "fedtheory": code_version(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "numba", *libraries)},
        "platform": platform.platform(),
        "processor": processor(),
    }
