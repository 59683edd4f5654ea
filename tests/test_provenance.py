"""Provenance of a result."""

import hashlib
import importlib.metadata

from fedtheory._storage.provenance import code_version, provenance
from tests.environment import ROOT


def test_versions_and_the_machine_are_said() -> None:
    found = provenance("xarray")
    assert found["fedtheory"] == code_version()
    assert found["xarray"] == importlib.metadata.version("xarray")
    assert {"python", "numpy", "scipy", "numba", "platform", "processor"} < set(found)


def test_a_version_in_the_making_is_told_by_the_names_and_the_bytes_of_its_sources():
    files = sorted((ROOT / "fedtheory").rglob("*.py"))
    read = b"".join(str(file.relative_to(ROOT / "fedtheory")).encode() + file.read_bytes() for file in files)
    assert code_version().endswith(f" ({hashlib.sha256(read).hexdigest()[:8]})")
