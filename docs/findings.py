"""Findings of studies on pages: a directive for the pages of the gallery, and a role for all pages."""

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole
from stored_findings import file_of, sentences

if TYPE_CHECKING:
    import sphinx.application


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
