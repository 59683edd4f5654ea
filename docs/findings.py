"""Findings of studies on pages: a directive for the pages of the gallery, and a role for all pages."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

if TYPE_CHECKING:
    import sphinx.application

_DOCS = Path(__file__).parent
# Results at full size, and those of studies that the build runs at their quick size.
_FOLDERS = (_DOCS / "full_size", _DOCS / "_build" / "studies")


def file_of(study: str) -> Path | None:
    """Return the file of the findings of a study, or None if there are no results."""
    files = (folder / study / "findings.json" for folder in _FOLDERS)
    return next((file for file in files if file.is_file()), None)


def sentences(study: str) -> dict[str, str]:
    """Return the sentences of the findings of a study by their names, the title first."""
    file = file_of(study)
    found = json.loads(file.read_text(encoding="utf-8")) if file else {}
    return {name: one["sentence"] for name, one in found.items()}


class Findings(SphinxDirective):
    """The ``first`` finding of a study in bold, or the ``others`` as a list; arguments are the study and this word."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return a paragraph, or a list."""
        study, which = self.arguments
        file, texts = file_of(study), list(sentences(study).values())
        if file:
            self.env.note_dependency(str(file))
        if which == "first":
            return [nodes.paragraph("", "", nodes.strong(text=text)) for text in texts[:1]]
        items = [nodes.list_item("", nodes.paragraph(text=text)) for text in texts[1:]]
        return [nodes.bullet_list("", *items)] if items else []


class Finding(SphinxRole):
    """The sentence of one finding; the content is the study and the name of the finding."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the sentence as text."""
        study, _, name = self.text.partition(" ")
        found = sentences(study)
        if name not in found:
            message = f"a finding must be one of {study}: {', '.join(found)}, got {name}"
            return [], [self.inliner.reporter.error(message, line=self.lineno)]
        self.env.note_dependency(str(file_of(study)))
        return [nodes.Text(found[name])], []


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Add the directive and the role."""
    app.add_directive("findings", Findings)
    app.add_role("finding", Finding())
    return {"parallel_read_safe": True}
