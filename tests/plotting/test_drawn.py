"""Every public plot shows what it showed: labels, colors, dashes, markers, limits, and the order of what is drawn."""

import matplotlib as mpl
import pytest

from fedtheory import plotting
from tests.plotting import drawn

mpl.use("Agg")
WRITTEN = drawn.written()


@pytest.mark.parametrize("name", drawn.EXAMPLES)
def test_a_plot_shows_what_is_written_down(name: str) -> None:
    """Where it does not, and is meant to: ``python -m tests.plotting.drawn``."""
    assert drawn.EXAMPLES[name]() == WRITTEN[name]


def test_every_public_plot_has_an_example() -> None:
    text = drawn.FILE.with_suffix(".py").read_text(encoding="utf-8")
    public = {name for name in dir(plotting) if callable(getattr(plotting, name))} - {"label_of", "log_places"}
    assert {name for name in public if f"plotting.{name}(" not in text} == set()
