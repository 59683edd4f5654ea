"""Layout of the gallery: cards grouped by question, with findings; finding and figure first on the page of a study."""

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from stored_findings import sentences

if TYPE_CHECKING:
    import sphinx.application

GROUPS = {
    "How tight are the bounds?": ("published_rates", "bound_versus_error", "closing_the_gap"),
    "What do biased methods converge to?": (
        "error_floor",
        "selection_skew",
        "worst_federation",
        "one_federation_six_methods",
    ),
    "Does Power-of-Choice train faster?": (
        "power_of_choice_quadratic",
        "power_of_choice_synthetic",
        "power_of_choice_fmnist",
    ),
    "What does optimal client sampling gain?": ("optimal_sampling_convergence", "optimal_sampling_softmax"),
    "Does FedALIGN help the priority clients?": ("fedalign_quadratic", "fedalign_images"),
    "Does selection by Shapley values help?": ("greedyfed_tables", "shapley_approximation"),
    "How fast is the library?": ("performance",),
}
ORDER = [name for names in GROUPS.values() for name in names]
OTHER = "Other studies"
_OPEN = '.. raw:: html\n\n    <div class="sphx-glr-thumbnails">\n\n'
_CLOSE = ".. raw:: html\n\n    </div>\n\n"
_FIGURE = re.compile(r"^\.\. image-sg::.*\n(?:   .*\n)+", re.MULTILINE)
_CARD = '.. raw:: html\n\n    <div class="sphx-glr-thumbcontainer"'
_NAME_AND_TITLE = re.compile(r"(:doc:`/gallery/(\w+)`.*?thumbnail-title\">)(.*?)(?=</div>)", re.DOTALL)
_CODE = ".. GENERATED FROM PYTHON SOURCE LINES"


class ByQuestion:
    """Key that sorts studies by group; a study that is not listed comes last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = Path(file).stem
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def grouped(page: str) -> str:
    """Return the gallery's first page with a heading and a separate grid for each group."""
    for question, names in GROUPS.items():
        place = page.rindex(_CARD, 0, page.index(f":doc:`/gallery/{names[0]}`"))
        page = page[:place] + f"{_CLOSE}{question}\n{'-' * len(question)}\n\n{_OPEN}" + page[place:]
    return _NAME_AND_TITLE.sub(_with_finding, page)


def _with_finding(card: re.Match[str]) -> str:
    """Return a card with the first finding of its study in place of the title."""
    return card[1] + escape(next(iter(sentences(card[2]).values()), card[3]))


def figure_first(page: str, name: str) -> str:
    """Return the page of a study with a finding and the figure before the question, and the other findings below."""
    question, figure = page.find("**Question.**"), _FIGURE.search(page)
    if question < 0 or figure is None or figure.start() < question:
        return page
    code = page.index(_CODE, question)
    text, program = page[question:code], f"{page[code : figure.start()]}{page[figure.end() :]}"
    findings = f"**Findings.**\n\n.. findings:: {name} others\n\n"
    return f"{page[:question]}.. findings:: {name} first\n\n{figure[0]}\n{text}{findings}{program}"


def rewrite(app: "sphinx.application.Sphinx") -> None:
    """Rewrite the pages that the gallery wrote; the gallery keeps the pages of unchanged studies."""
    for file in Path(app.srcdir, "gallery").glob("*.rst"):
        text = file.read_text(encoding="utf-8")
        new = grouped(text) if file.stem == "index" else figure_first(text, file.stem)
        if new != text:
            file.write_text(new, encoding="utf-8")


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hook, after the gallery."""
    app.connect("builder-inited", rewrite, priority=900)
    return {"parallel_read_safe": True}
