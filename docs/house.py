"""What these pages need beyond ready-made extensions: verdicts, and studies at their small size."""

import shutil
import types
from importlib.util import find_spec
from pathlib import Path

import sphinx.application


def quick_size(_: object, script: dict[str, str]) -> list[str]:
    """Return the command line under which the gallery runs a study: small, and away from the user's results."""
    # The gallery runs a study in the study's own folder, and prints where the results are.
    return ["--quick", "--force", "--output", f"../docs/_build/studies/{Path(script['src_file']).stem}"]


def write_verdicts(app: sphinx.application.Sphinx) -> None:
    """Verify the claims of every paper that has a theory page, and write one table for each."""
    from fedtheory.verification import known_claims, markdown_table, rows, verdicts_of

    folder = Path(app.srcdir) / "theory"
    (folder / "generated").mkdir(exist_ok=True)
    for page in sorted(folder.glob("[!i]*.md")):
        prefix = page.stem.replace("_", "-") + ":"
        claims = [claim for key, claim in known_claims().items() if key.startswith(prefix)]
        if claims:
            table = markdown_table(rows(verdicts_of(claims)), prefix)
            (folder / "generated" / page.name).write_text(table, encoding="utf-8")


def write_contracts(app: sphinx.application.Sphinx) -> None:
    """Write the tables of what the round loop calls and records."""
    from fedtheory.engine._tables import tables

    folder = Path(app.srcdir) / "api" / "tables"
    folder.mkdir(exist_ok=True)
    for name, table in tables().items():
        (folder / f"{name}.md").write_text(table, encoding="utf-8")


def copy_mathjax(app: sphinx.application.Sphinx) -> None:
    """Copy the one file of MathJax that needs no other: all of TeX's packages, and glyphs as outlines."""
    # Not an extension of ours: as one, the package would copy all its 24 MB.
    [package] = find_spec("sphinx-mathjax-offline").submodule_search_locations
    (app.outdir / "_static").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(
        Path(package, "static", "mathjax", "tex-svg-full.js"), app.outdir / "_static" / app.config.mathjax_path
    )


def is_type_alias(*event: object) -> bool | None:
    """Leave out aliases such as ``tuple[float, ...]``, which autodoc takes for classes with a signature."""
    value = event[3]
    return True if isinstance(value, types.GenericAlias) else None


def setup(app: sphinx.application.Sphinx) -> None:
    """Connect the hooks."""
    app.connect("builder-inited", write_verdicts)
    app.connect("builder-inited", write_contracts)
    app.connect("builder-inited", copy_mathjax)
    app.connect("autodoc-skip-member", is_type_alias)
