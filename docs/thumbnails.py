"""Thumbnails of the gallery: one panel of a study's first figure, since a whole figure cannot be read so small."""

from pathlib import Path
from typing import Any

import sphinx.application

_PREFIX = "panel_"


def scraper(block: Any, variables: dict[str, Any], configuration: dict[str, Any]) -> str:
    """Keep a picture of the first panel beside the figures, then let the gallery take the figures."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    if numbers := plt.get_fignums():
        folder = Path(configuration["src_dir"], "gallery", "images")
        _save_panel(plt.figure(numbers[0]), folder / f"{_PREFIX}{Path(variables['src_file']).stem}.png", configuration)
    shown: str = matplotlib_scraper(block, variables, configuration)
    return shown


def _save_panel(figure: Any, picture: Path, configuration: dict[str, Any]) -> None:
    figure.draw_without_rendering()  # which makes room for labels
    axes = next(one for one in figure.axes if one.axison and one.has_data())
    box = axes.get_tightbbox().transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
    width, height = configuration["thumbnail_size"]
    figure.savefig(picture, bbox_inches=box, dpi=min(width / box.width, height / box.height))


def replace(app: sphinx.application.Sphinx) -> None:
    """Put the panels in the places of the thumbnails that the gallery made of whole figures."""
    from sphinx_gallery.utils import scale_image

    folder = Path(app.srcdir, "gallery", "images")
    for panel in folder.glob(f"{_PREFIX}*.png"):
        name = panel.stem.removeprefix(_PREFIX)
        scale_image(
            panel, folder / "thumb" / f"sphx_glr_{name}_thumb.png", *app.config.sphinx_gallery_conf["thumbnail_size"]
        )


def setup(app: sphinx.application.Sphinx) -> dict[str, bool]:
    """Come after the gallery."""
    app.connect("builder-inited", replace, priority=900)
    return {"parallel_read_safe": True}
