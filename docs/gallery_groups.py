"""Layout of the gallery: studies grouped by question on its first page, and the figure first on the page of a study."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sphinx.application

GROUPS = {
    "How tight are the bounds?": ("bound_versus_error", "closing_the_gap", "tight_rates"),
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
    return page


def figure_first(page: str) -> str:
    """Return the page of a study with its figure before the question."""
    question, figure = page.find("**Question.**"), _FIGURE.search(page)
    if question < 0 or figure is None or figure.start() < question:
        return page
    return f"{page[:question]}{figure[0]}\n{page[question : figure.start()]}{page[figure.end() :]}"


def rewrite(app: "sphinx.application.Sphinx") -> None:
    """Rewrite the pages that the gallery wrote; the gallery keeps the pages of unchanged studies."""
    for file in Path(app.srcdir, "gallery").glob("*.rst"):
        text = file.read_text(encoding="utf-8")
        new = grouped(text) if file.stem == "index" else figure_first(text)
        if new != text:
            file.write_text(new, encoding="utf-8")


def setup(app: "sphinx.application.Sphinx") -> dict[str, bool]:
    """Connect the hook, after the gallery."""
    app.connect("builder-inited", rewrite, priority=900)
    return {"parallel_read_safe": True}
