"""Self-contained notebooks of the gallery: they include the helper modules that a study imports."""

import ast
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sphinx.application


def helpers(script: Path) -> list[Path]:
    """Return the helper modules that a study imports, in the order of their dependencies."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for file in (script.parent / f"{name}.py" for name in names):
            if file.is_file():
                found += [one for one in [*helpers(file), file] if one not in found]
    return found


def runnable(notebook: dict[str, Any], script: Path) -> dict[str, Any]:
    """Return a notebook that writes the helper modules, runs the study at its quick size, and shows the figures."""
    name = script.stem
    written = [_cell(f"%%writefile {file.name}\n{file.read_text(encoding='utf-8')}") for file in helpers(script)]
    shown = f"""from IPython.display import Image, display

for figure in STUDY.figures:
    display(Image(f"results/{name}/{{figure}}.png"))"""
    run = f'study.main(STUDY, ["--quick", "--force", "--out", "results/{name}"])'
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        cell["source"] = ["".join(cell["source"]).replace("study.main(STUDY)", run)]
    first = notebook["cells"].index(cells[0])
    return {**notebook, "cells": [*notebook["cells"][:first], *written, *notebook["cells"][first:], _cell(shown)]}


def _cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [source]}


def complete(app: "sphinx.application.Sphinx") -> None:
    """Complete the notebooks and the archives that the gallery offers."""
    for file in sorted(Path(app.srcdir, "gallery").glob("*.ipynb")):
        script = Path(app.srcdir).parent / "studies" / f"{file.stem}.py"
        notebook = json.loads(file.read_text(encoding="utf-8"))
        # The gallery does not rewrite unchanged notebooks, which are complete already.
        if not any("study.main(STUDY, " in "".join(cell["source"]) for cell in notebook["cells"]):
            file.write_text(json.dumps(runnable(notebook, script), indent=1), encoding="utf-8")
        with zipfile.ZipFile(file.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for part in (script, file, *helpers(script)):
                archive.write(part, part.name)


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hook, after the gallery."""
    app.connect("builder-inited", complete, priority=900)
    return {"parallel_read_safe": True}
