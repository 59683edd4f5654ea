"""``fedtheory study`` runs the studies that come with the library from any folder."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS


def test_all_studies_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study"]) == 0
    found = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert sorted(found) == sorted(script.stem for script in SCRIPTS)
    assert found["bound_versus_error"] == "Error and bounds of Power-of-Choice"


@pytest.mark.slow  # builds a wheel in an environment of its own
def test_the_wheel_holds_the_studies(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, cwd=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    held = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fedtheory/studies/")}
    assert held >= {script.name for script in SCRIPTS}
