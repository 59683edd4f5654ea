"""Hooks of the build: verdicts, generated tables, MathJax, and arguments of the studies."""

import re
import shutil
import types
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import study_tables
from contract_tables import tables
from docutils import nodes
from false_elsewhere import ENTRIES
from pictures import MADE, draw_errata
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    import sphinx.application

_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_NAME = re.compile(r'(<span class="pre">)([^<]*)')
_TITLE = re.compile(r"(<h1>)(fedtheory\.[\w.]+)")


class Proof(SphinxDirective):
    """A proof that is folded until the reader opens it; its argument is the line to click on."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the content between the tags of a ``details`` element."""
        title = escape(self.arguments[0] if self.arguments else "Proof")
        return [
            nodes.raw("", f'<details class="proof"><summary>{title}</summary>', format="html"),
            *self.parse_content_to_nodes(),
            nodes.raw("", "</details>", format="html"),
        ]


def stored_or_quick(_: object, script: dict[str, str]) -> list[str]:
    """Return the command line of a study in the gallery: stored results at full size, otherwise the quick size."""
    # The gallery runs a study in the study's folder.
    name = Path(script["src_file"]).stem
    if (Path(__file__).parent / "full_size" / name).is_dir():
        return ["--show", f"../docs/full_size/{name}", "--out", f"../docs/_build/studies/{name}"]
    return ["--quick", "--force", "--out", f"../docs/_build/studies/{name}"]


def write_verdicts(app: "sphinx.application.Sphinx") -> None:
    """Write the verdicts on all claims, a table for each theory page, and the picture of the errata."""
    from verdicts import verdicts

    from fedtheory.verification import markdown_table

    folder = Path(app.srcdir) / "theory"
    (folder / "generated").mkdir(exist_ok=True)
    found = list(verdicts().values())
    for page in sorted(folder.glob("[!i]*.md")):
        prefix = page.stem.replace("_", "-") + ":"
        mine = [row for row in found if row["key"].startswith(prefix)]
        if mine:
            (folder / "generated" / page.name).write_text(markdown_table(mine, prefix), encoding="utf-8")
    (Path(app.srcdir) / MADE).mkdir(parents=True, exist_ok=True)
    draw_errata([row for row in found if row["key"] not in ENTRIES], Path(app.srcdir) / MADE / "errata.png")


def write_theory(app: "sphinx.application.Sphinx") -> None:
    """Write the tables that pages include; each is made by a module of this folder."""
    study_tables.draw(Path(app.srcdir) / MADE)
    names = (
        "false_in_print_examples",
        "false_in_print",
        "false_elsewhere",
        "which_bound",
        "claims_table",
        "sources",
        "looseness",
        "from_paper_to_kernel",
        "flower",
        "machine_checked",
    )
    for name, table in ({name: import_module(name).table() for name in names} | study_tables.tables()).items():
        (Path(app.srcdir) / "theory" / "generated" / f"{name}.md").write_text(table, encoding="utf-8")


def write_contracts(app: "sphinx.application.Sphinx") -> None:
    """Write the tables of the round loop's functions and recordings."""
    folder = Path(app.srcdir) / "api" / "tables"
    folder.mkdir(exist_ok=True)
    for name, table in tables().items():
        (folder / f"{name}.md").write_text(table, encoding="utf-8")


def copy_mathjax(app: "sphinx.application.Sphinx") -> None:
    """Copy the self-contained file of MathJax, with all packages and glyphs as outlines."""
    # As an extension, the package would copy all its 24 MB.
    [package] = find_spec("sphinx-mathjax-offline").submodule_search_locations
    (app.outdir / "_static").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(
        Path(package, "static", "mathjax", "tex-svg-full.js"), app.outdir / "_static" / app.config.mathjax_path
    )


def is_type_alias(*event: object) -> bool | None:
    """Skip aliases such as ``tuple[float, ...]``, which autodoc treats as classes."""
    value = event[3]
    return True if isinstance(value, types.GenericAlias) else None


def break_names(app: "sphinx.application.Sphinx", page: str, template: str, context: dict[str, Any], tree: Any) -> None:  # noqa: ARG001
    """Allow line breaks after underscores, dots and colons of names in table cells and titles."""
    if "body" in context:
        context["body"] = _CELL.sub(lambda cell: _NAME.sub(_breakable, cell[0]), context["body"])
        context["body"] = _TITLE.sub(_breakable, context["body"], count=1)


def _breakable(name: re.Match[str]) -> str:
    return name[1] + re.sub(r"([_.:])(?=\w)", r"\1<wbr>", name[2])


# Pages that are read one after the other.
_READ_IN_ORDER = {"tutorial", "comparison", "own_theorem"}


def link_neighbors(_: Any, page: str, __: str, context: dict[str, Any], ___: Any) -> None:
    """Show links to the previous and the next page below the pages that are read in order."""
    context["theme_show_prev_next"] = page in _READ_IN_ORDER or page.startswith("howto/")


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hooks."""
    app.add_directive("proof", Proof)
    app.connect("builder-inited", write_verdicts)
    app.connect("builder-inited", write_theory)
    app.connect("builder-inited", write_contracts)
    app.connect("builder-inited", copy_mathjax)
    app.connect("autodoc-skip-member", is_type_alias)
    app.connect("html-page-context", break_names)
    app.connect("html-page-context", link_neighbors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
