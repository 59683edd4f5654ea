"""The gallery's notebooks include their imports and run outside of the project; its order covers every study."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT

NOTEBOOKS = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))


def notebook_of(script: Path) -> dict[str, Any]:
    """A notebook as the gallery makes it: the page, then the code."""
    text, code = script.read_text(encoding="utf-8").split('"""\n', 2)[1:]
    cells = [("markdown", text), ("code", code)]
    bare = [{"cell_type": kind, "metadata": {}, "source": [source]} for kind, source in cells]
    return NOTEBOOKS["runnable"]({"cells": bare, "metadata": {}}, script)


def as_script(notebook: dict[str, Any], folder: Path) -> str:
    """Write the files that cells write, and return the other cells' code."""
    code = []
    for source in ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"):
        if source.startswith("%%writefile "):
            first, rest = source.split("\n", 1)
            (folder / first.split()[1]).write_text(rest, encoding="utf-8")
        elif "IPython" not in source:
            code.append(source)
    return "\n".join(code)


@pytest.mark.slow
def test_a_notebook_runs_away_from_the_project(tmp_path: Path) -> None:
    script = ROOT / "studies" / "error_floor.py"
    (tmp_path / "cells.py").write_text(as_script(notebook_of(script), tmp_path), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    subprocess.run([sys.executable, "cells.py"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert list(tmp_path.glob("results/error_floor/*.png"))
    assert json.loads((tmp_path / "results/error_floor/metadata.json").read_text())["study"] == "error_floor"
