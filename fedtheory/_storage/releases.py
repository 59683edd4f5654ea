"""Which fedtheory computes: its version, and the sources that it is made of."""

import hashlib
from functools import lru_cache
from pathlib import Path

__all__ = ["made_by", "release"]


def release() -> str:
    """Return the version of fedtheory."""
    # Slow to import, and asked by those only who keep something.
    from importlib.metadata import version

    return version("fedtheory")


@lru_cache(maxsize=1)
def made_by() -> str:
    """Version of fedtheory with the beginning of a digest of its sources, which tells versions in the making apart."""
    root, found = Path(__file__).resolve().parents[1], hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        found.update(file.relative_to(root).as_posix().encode())
        found.update(file.read_bytes())
    return f"{release()} ({found.hexdigest()[:8]})"
