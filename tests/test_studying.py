"""``fedtheory study`` runs the studies that come with the library from any folder."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory.cli import studying
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS


def test_all_studies_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study"]) == 0
    found = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert sorted(found) == sorted(script.stem for script in SCRIPTS)
    assert found["bound_versus_error"] == "Error and bounds of Power-of-Choice"


def test_a_study_gets_the_words_after_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "studies" / "sums.py"
    script.parent.mkdir()
    script.write_text(SUMS)
    monkeypatch.setattr(studying, "_LIBRARY", tmp_path)  # as a wheel is installed: studies are inside
    assert main(["study", "sums", "--terms", "4", "--out", str(tmp_path / "out")]) == 0
    assert "70" in capsys.readouterr().out
    assert main(["study"]) == 0
    assert capsys.readouterr().out == "sums  What is the sum?\n"
    with pytest.raises(SystemExit) as stop:
        main(["study", "sums", "--quick", "--term", "4"])
    assert stop.value.code == 2


SUMS = '''
"""
What is the sum?
================
"""
from dataclasses import dataclass
from fedtheory.study import Study, Table, from_records

@dataclass(frozen=True)
class Config:
    """A sum.

    Attributes
    ----------
    terms
        How many.
    """

    terms: int = 3

def run(config, progress):
    return from_records([{"term": 7.0 * i} for i in range(1, config.terms + 1)])

def table(data):
    return Table([{"sum": float(data["term"].sum())}])

STUDY = Study("sums", Config(), Config(2), run, table, lambda data: {})
'''


@pytest.mark.slow  # builds a wheel in an environment of its own
def test_the_wheel_holds_the_studies(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, cwd=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    held = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fedtheory/studies/")}
    assert held >= {script.name for script in SCRIPTS}
