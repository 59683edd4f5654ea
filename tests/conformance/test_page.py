"""The example of the documentation is a test file that pytest names, passes and skips as the page states."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.test_readme import blocks, read


@pytest.mark.slow
def test_pytest_makes_a_test_of_every_check_of_the_example(tmp_path: Path) -> None:
    [example] = [
        block.text for block in blocks(read("docs/api/conformance.md")) if "test_my_selection.py" in block.text
    ]
    (tmp_path / "test_my_selection.py").write_text(example, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-rs",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        ".",
    ]
    done = subprocess.run(
        [*command, "test_my_selection.py", ], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"]},
    )  # fmt: skip
    assert "test_highest_losses[extreme losses] PASSED" in done.stdout, done.stdout + done.stderr
    assert "test_probabilities[saturated clients] PASSED" in done.stdout
    assert "ties go to the first" in done.stdout
    assert done.stdout.strip().splitlines()[-1].strip("= ").startswith("30 passed, 1 skipped")
