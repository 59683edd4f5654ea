"""A thumbnail of the gallery has the first panel of a figure, whole, and nothing of the others."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from fedtheory.plotting.style import appearance, legend_below
from tests.environment import ROOT


def shows(picture: np.ndarray, color: tuple[float, float, float]) -> bool:
    return bool((np.abs(picture[..., :3] - color).max(axis=-1) < 0.02).any())


@pytest.mark.slow
def test_a_thumbnail_has_one_panel(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_gallery")
    import matplotlib.pyplot as plt

    thumbnails = runpy.run_path(str(ROOT / "docs" / "thumbnails.py"))
    with appearance():
        figure, panels = plt.subplots(2, 2, figsize=(8, 6))
        for axes, color in zip(panels.flat, ("red", "lime", "blue", "magenta"), strict=True):
            axes.plot([0, 1], color=color, linewidth=5)
        panels[0, 0].set_title("first", color="cyan", weight="bold")
        panels[0, 0].set_ylabel("height", color="yellow", weight="bold")
        figure.axes[0].plot([], [], color="black", label="in the legend")
        legend_below(figure)
        # The picture is wider than the figure, on its left side by more than a panel.
        figure.suptitle("a finding " * 20, x=1, ha="right")
    figure.savefig(tmp_path / "whole.png", **thumbnails["SAVED"])
    plt.close(figure)
    thumbnails["cut_panel"](figure, tmp_path / "whole.png", tmp_path / "panel.png")
    whole, panel = (plt.imread(tmp_path / name) for name in ("whole.png", "panel.png"))
    assert all(shows(whole, color) for color in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 0)))
    assert [shows(panel, color) for color in ((1, 0, 0), (0, 1, 1), (1, 1, 0))] == [True] * 3
    assert [shows(panel, color) for color in ((0, 1, 0), (0, 0, 1), (1, 0, 1))] == [False] * 3
