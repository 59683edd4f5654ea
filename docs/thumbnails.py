"""Thumbnails of the gallery: the first panel of a study's first figure, which is readable at a small size."""

from pathlib import Path
from typing import Any

import sphinx.application

_PREFIX = "panel_"
# Pictures include labels and titles outside the figure, and a margin in inches.
SAVED: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.1}


def scraper(block: Any, variables: dict[str, Any], configuration: dict[str, Any]) -> str:
    """Save the figures as the gallery does, and cut out the first panel of the first figure."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    figures = [plt.figure(number) for number in plt.get_fignums()]
    shown: str = matplotlib_scraper(block, variables, configuration, **SAVED)
    if figures:
        name = Path(variables["src_file"]).stem
        folder = Path(configuration["src_dir"], "gallery", "images")
        cut_panel(figures[0], folder / f"sphx_glr_{name}_001.png", folder / f"{_PREFIX}{name}.png")
    return shown


def cut_panel(figure: Any, picture: Path, panel: Path) -> None:
    """Save the first panel of a figure, with title and labels, as a picture."""
    from matplotlib.transforms import BboxTransformFrom
    from PIL import Image

    axes = next(one for one in figure.axes if one.axison and one.has_data())
    saved = figure.get_tightbbox().padded(SAVED["pad_inches"])
    to_shares = BboxTransformFrom(saved.transformed(figure.dpi_scale_trans))
    box = axes.get_tightbbox().transformed(to_shares)
    with Image.open(picture) as whole:
        left, right = box.x0 * whole.width - 4, box.x1 * whole.width + 4
        top, bottom = (1 - box.y1) * whole.height - 4, (1 - box.y0) * whole.height + 4
        whole.crop((max(left, 0), max(top, 0), min(right, whole.width), min(bottom, whole.height))).save(panel)


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
