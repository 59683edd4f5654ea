"""The compiled files of the Coq development."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fedtheory.formal import FOLDER
from tests.formal.test_formal import FILES


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files, which coqc has accepted; all tests of a process share it."""
    folder = tmp_path_factory.mktemp("coq")
    for file in [*FILES, "_CoqProject"]:
        shutil.copyfile(FOLDER / file, folder / file)
    for command in (["coq_makefile", "-f", "_CoqProject", "-o", "Makefile"], ["make", "-j2"]):
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
    return folder
