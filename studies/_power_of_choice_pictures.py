"""Figures of the study of Power-of-Choice on quadratics."""

from typing import TYPE_CHECKING, Any

from fedtheory.plotting.bound import measured
from fedtheory.plotting.profile import selection_profile
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


def convergence(data: "Dataset") -> "Figure":
    """Figure 2 (a) and (b) of the paper: loss, and below it the gap."""
    import matplotlib.pyplot as plt

    columns = data.sizes["num_clients"]
    begin = data.sel(round=slice(0, int(data["round"].max()) // 4))
    with appearance():
        figure, panels = plt.subplots(
            2, columns, figsize=(1.5 + 4 * columns, 7), sharex=True, sharey="row", squeeze=False
        )
        for column, size in enumerate(data["num_clients"].values):
            here = begin.sel(num_clients=size)
            minimum = float(here["minimum"])
            for row, (axes, shift) in enumerate(zip(panels[:, column], (minimum, 0.0), strict=True)):
                _curves(axes, here, [str(name) for name in data["strategy"].values], shift)
                if row == 0:
                    axes.axhline(minimum, color="black", linestyle=":", label="$F^*$")
                    axes.set_title(f"K = {size} clients")
            panels[1, column].set_xlabel("communication round")
        panels[0, 0].set_ylabel("global loss $F(w)$")
        panels[1, 0].set_ylabel("$F(w) - F^*$")
        return legend_below(figure, num_columns=4)


def _curves(axes: Any, here: "Dataset", names: list[str], shift: float) -> None:
    """Draw the gaps of some strategies, plus a number, each in its own color whatever the others are."""
    axes.set_yscale("log")
    looks = dict(zip(map(str, here["strategy"].values), zip(COLORS, MARKERS, strict=False), strict=False))
    for name in names:
        color, marker = looks[name]
        band = here["band"].sel(strategy=name).values + shift
        measured(axes, here["round"], *band, label=name, color=color, marker=marker)


def adaptive(data: "Dataset") -> "Figure":
    """Figure 2 (c) of the paper, further: adapow-d between random selection and the largest d."""
    import matplotlib.pyplot as plt

    columns = data.sizes["num_clients"]
    names = [str(data["strategy"].values[index]) for index in (0, -2, -1)]
    with appearance():
        figure, panels = plt.subplots(1, columns, figsize=(1.5 + 4 * columns, 4), sharey=True, squeeze=False)
        for axes, size in zip(panels[0], data["num_clients"].values, strict=True):
            _curves(axes, data.sel(num_clients=size), names, 0.0)
            m = max(1, round(data.attrs["selected_share"] * size))
            halvings = 0
            while size // 2**halvings > m:
                halvings += 1
                axes.axvline(halvings * data.attrs["halve_every"], color="#888888", linewidth=0.8, linestyle=":")
            axes.set_title(f"K = {size} clients")
            axes.set_xlabel("communication round")
        panels[0, 0].set_ylabel("$F(w) - F^*$")
        # Below their smallest mean the bands are only walls down to limits that are not positive.
        panels[0, 0].set_ylim(bottom=float(data["band"].sel(side="mean").min()) / 3)
        return legend_below(figure, num_columns=3)


def profile(data: "Dataset") -> "Figure":
    """Figure 7 of the paper: who is selected how often, for the first size."""
    import matplotlib.pyplot as plt

    here = data.isel(num_clients=0).dropna("client")
    names = [str(data["strategy"].values[index]) for index in (0, 1, -2)]
    selected = {name: here["share"].sel(strategy=name).values for name in names}
    with appearance():
        figure, axes = plt.subplots(figsize=(8, 4))
        selection_profile(axes, here["weight"].values, selected)
        axes.set_xlabel("client, in descending order of its data share")
        axes.set_ylabel("share of data or of selections")
        return legend_below(figure, num_columns=4)
