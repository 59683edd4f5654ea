"""What the public plots show of small examples, written down artist by artist.

``python -m tests.plotting.drawn`` writes ``drawn.txt``: after a change of a plot, look at the lines that differ.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedtheory import plotting
from tests.plotting.artists import told

FILE = Path(__file__).with_suffix(".txt")
X = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0])
NOT_EVERYWHERE = np.where(X > 16, X, np.inf)


def errors_under_bounds(axes: Axes) -> None:
    """All that a figure of bounds can have: a bound without a word to say, one late, an exact line, a floor."""
    plotting.log_log(axes, xlabel="steps [1]", ylabel="gap [1]")
    lower = np.where(X == 4, 0.0, np.where(X == 8, -1.0, 0.5 / X))
    bounds = {"first": 3 / X, "second": 5 / X, "late": NOT_EVERYWHERE, "never": np.full(X.size, np.inf)}
    exact = np.where(X == 2, np.nan, 1.1 / X)
    plotting.bound_versus_error(axes, X, (1 / X, lower, 2 / X), bounds, exact=exact, floor=0.001)


def errors_alone(axes: Axes) -> None:
    """Neither bounds nor anything exact, on straight axes."""
    unknown = np.full(X.size, np.nan)
    plotting.bound_versus_error(axes, X, (1 / X, -1 / X, 2 / X), {}, exact=unknown)


def measured_from_zero(axes: Axes) -> None:
    """A place that a logarithmic axis cannot show."""
    axes.set_xscale("log")
    plotting.measured(axes, X - 1, X, X - 2, X + 3, label="own", color="#123456", marker="s")


def one_theory(axes: Axes) -> None:
    """Theory as it looks unless its rank is said."""
    plotting.theory(axes, X, 7 / X, label="tightest")


def certified_on_straight_axes(axes: Axes) -> None:
    """Both sides, also where the lower one is 0."""
    plotting.certified(axes, [1, 2, 3], [0.0, 0.2, 0.3], [0.4, 0.5, 0.3], label="skew")


def certified_on_logarithmic_axes(axes: Axes) -> None:
    """The side that is 0 is left out."""
    axes.set_yscale("log")
    plotting.certified(axes, [1, 2, 3], [0.0, 0.2, 0.3], [0.4, 0.5, 0.3], label="skew", color="#654321", marker="v")


def _intervals() -> xr.Dataset:
    means = np.arange(2 * 3 * 10).reshape(2, 3, 10) + 1.0
    named = {"strategy": ["uniform", "pow-d"], "step size": [0.3, 0.1, 0.2], "num clients": [5, *range(10, 19)]}
    dims = tuple(named)
    return xr.Dataset({"mean": (dims, means), "lower": (dims, means - 0.5), "upper": (dims, means * 2)}, coords=named)


def means_by_default(axes: Axes) -> None:
    """Over the longest dimension of numbers, a line for each value of the longest of the others."""
    plotting.lines_with_bands(axes, _intervals(), "gap")


def means_as_asked(axes: Axes) -> None:
    """Places in disorder are sorted."""
    plotting.lines_with_bands(axes, _intervals(), "gap", x="step size", hue="strategy")


def means_in_one_line(axes: Axes) -> None:
    """No second dimension has more than one value."""
    plotting.lines_with_bands(axes, _intervals().isel({"step size": [1], "strategy": [0]}), "gap")


def means_in_more_lines_than_colors(axes: Axes) -> None:
    """Colors and markers begin again."""
    plotting.lines_with_bands(axes, _intervals(), "gap", x="step size", hue="num clients")


def who_is_selected(axes: Axes) -> None:
    """Clients in the order of their data, ties in that of their numbers, and one that is never selected."""
    frequencies = {"pow-d": [0.6, 0.0, 0.3, 0.1], "uniform": [0.25, 0.25, 0.25, 0.25]}
    plotting.selection_profile(axes, [0.2, 0.4, 0.2, 0.2], frequencies)


def steps_in_groups(axes: Axes) -> None:
    """Two steps up, one down, one that changes next to nothing, one that changes nothing."""
    levels = [2.0, 3.0, 50.0, 7.0, 7.001, 7.001]
    plotting.waterfall(axes, levels, ["a", "b", "c", "d", "e"], groups=["up", "up", "down", "still", "still"])


def steps_without_groups(axes: Axes) -> None:
    """Nothing is taken away, so nothing says what a cross is."""
    plotting.waterfall(axes, [2.0, 3.0, 50.0], ["a", "b"])


PLOTS: tuple[Callable[[Axes], None], ...] = (
    errors_under_bounds, errors_alone, measured_from_zero, one_theory, certified_on_straight_axes,
    certified_on_logarithmic_axes, means_by_default, means_as_asked, means_in_one_line,
    means_in_more_lines_than_colors, who_is_selected, steps_in_groups, steps_without_groups,
)  # fmt: skip


def lines(plot: Callable[[Axes], None]) -> list[str]:
    """Return what a plot shows in the house style."""
    with mpl.rc_context(), plotting.appearance():
        axes = Figure().add_subplot()
        plot(axes)
        return told(axes)


def legend_lines() -> list[str]:
    """Return what the legend below two panels shows, by default and in two columns."""
    found = []
    for options in ({}, {"num_columns": 2}):
        with plotting.appearance():
            figure = Figure()
            for axes, label in zip(figure.subplots(1, 2), ("second", "third"), strict=True):
                axes.plot([1, 2], label="first")
                axes.plot([2, 1], label=label)
            (legend,) = plotting.legend_below(figure, **options).legends
            labels = [text.get_text() for text in legend.get_texts()]
            placed = vars(legend)
            places = [placed[name] for name in ("_ncols", "_loc_real", "_outside_loc") if name in placed]
            found.append(f"{labels} {places} {legend.get_frame_on()}")
    return found


def house_lines() -> list[str]:
    """Return what the house style sets."""
    with mpl.rc_context():
        mpl.rcdefaults()
        before = dict(mpl.rcParams)
        with plotting.appearance():
            return [f"{name} {value!r}" for name, value in mpl.rcParams.items() if value != before[name]]


EXAMPLES: dict[str, Callable[[], list[str]]] = {plot.__name__: partial(lines, plot) for plot in PLOTS}
EXAMPLES |= {"legend": legend_lines, "house": house_lines}


def written() -> dict[str, list[str]]:
    """Return the lines that are written down."""
    found: dict[str, list[str]] = {}
    for part in FILE.read_text(encoding="utf-8").split("\n\n"):
        name, *rest = part.strip().splitlines()
        found[name] = rest
    return found


if __name__ == "__main__":
    texts = ("\n".join([name, *lines_of()]) for name, lines_of in EXAMPLES.items())
    FILE.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
