"""One run of each study at its quick size, shared by all tests, also in other processes."""

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedtheory import study
from fedtheory.study._results import Result
from tests.environment import ROOT

SCRIPTS = sorted((ROOT / "studies").glob("[!_]*.py"))


def loaded(name: str) -> study.Study:
    """Run a script as a module and return its study; what stands beside it can be imported in every test."""
    module_name = f"studies.{name}"
    specification = importlib.util.spec_from_file_location(module_name, ROOT / "studies" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # A dataclass looks its module up while it is being made.
    sys.modules[module_name] = module
    specification.loader.exec_module(module)
    found: study.Study = module.STUDY
    return found


def stored_data(found: study.Study) -> Any:
    """Data of the full size, as the gallery shows them."""
    return study.load(ROOT / "docs" / "full_size" / found.name).data


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Folder of this test run: every worker has one of its own inside."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def quick_result(found: study.Study, factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Results of the quick size as they were stored, and their folder; do not write into it."""
    folder = shared_folder(factory) / f"quick-{found.name}"
    made_once(folder, lambda place: study.produce(found, found.quick, place))
    return study.load(folder), folder


def made_once(folder: Path, make: Callable[[Path], object]) -> None:
    """Let one process make a folder while the others wait for it; when it fails, the next one tries."""
    lock = folder.with_name(f"{folder.name}.lock")
    while not folder.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            time.sleep(0.05)
            continue
        try:
            if not folder.exists():
                unfinished = folder.with_name(f"{folder.name}.unfinished")
                make(unfinished)
                unfinished.rename(folder)
        finally:
            lock.rmdir()
