"""Thumbnails of the gallery: the first panel of a study's first figure, at a size with readable text."""

from pathlib import Path
from typing import Any

import sphinx.application

_PREFIX = "panel_"
# The gallery shows a thumbnail about 300 pixels wide, where text of a figure of this size in inches is readable.
_SIZE = (4.8, 3.3)


def scraper(block: Any, variables: dict[str, Any], configuration: dict[str, Any]) -> str:
    """Save the figures as the gallery does, and then the first panel of the first figure."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    figures = [plt.figure(number) for number in plt.get_fignums()]
    shown: str = matplotlib_scraper(block, variables, configuration, bbox_inches="tight", pad_inches=0.1)
    if figures:
        name = Path(variables["src_file"]).stem
        draw_panel(figures[0], Path(configuration["src_dir"], "gallery", "images", f"{_PREFIX}{name}.png"))
    return shown


def draw_panel(figure: Any, picture: Path) -> None:
    """Draw the first panel of a figure that has data; the other panels are removed from the figure."""
    panel = next(axes for axes in figure.axes if axes.axison and axes.has_data())
    for other in [*figure.axes, *figure.texts, *figure.legends]:
        if other is not panel:
            other.remove()
    figure.suptitle("")
    panel.set_subplotspec(figure.add_gridspec()[0])
    figure.set_size_inches(*_SIZE)
    figure.savefig(picture, dpi=145, bbox_inches="tight", pad_inches=0.05)


def replace(app: sphinx.application.Sphinx) -> None:
    """Replace the thumbnails of whole figures by the panels."""
    from sphinx_gallery.utils import scale_image

    folder, size = Path(app.srcdir, "gallery", "images"), app.config.sphinx_gallery_conf["thumbnail_size"]
    for panel in folder.glob(f"{_PREFIX}*.png"):
        name = panel.stem.removeprefix(_PREFIX)
        scale_image(panel, folder / "thumb" / f"sphx_glr_{name}_thumb.png", *size)


def setup(app: sphinx.application.Sphinx) -> dict[str, bool]:
    """Connect the hook, after the gallery."""
    app.connect("builder-inited", replace, priority=900)
    return {"parallel_read_safe": True}
