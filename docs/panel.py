"""The one picture of the README and the first page: ``python -m docs.panel`` draws it from the stored results."""

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl

ROOT = Path(__file__).parent
PICTURE = ROOT / "_static" / "bound_versus_error.png"
LINES = {
    "printed": "Theorem 3.1 as printed",
    "corrected": "with its proof mended",
    "recursion": "one step of its proof, repeated",
    "round lemma": "this library's lemma on a whole round",
}


def draw(picture: Path = PICTURE) -> dict[str, float]:
    """Draw error and bounds of pow-d with d = 9, and return how many powers of ten lie between at the end."""
    import xarray as xr

    from fedtheory import plotting

    mpl.use("agg")
    import matplotlib.pyplot as plt

    data = xr.load_dataset(ROOT / "full_size" / "bound_versus_error" / "data.nc", engine="scipy")
    data = data.sel(strategy="pow-d, d = 9", regime="decaying").isel(step=slice(1, None))
    steps, last = data["step"].values, float(data["error"].sel(side="mean")[-1])
    above = {}
    with plotting.appearance():
        figure, axes = plt.subplots(figsize=(8, 4.2))
        for color, (form, words) in zip(plotting.COLORS, LINES.items(), strict=False):
            bound = data["bound"].sel(form=form).values
            above[form] = math.log10(float(bound[-1]) / last)
            axes.plot(steps, bound, color=color)
            # The two lowest end close to each other.
            shift = {"recursion": 11, "round lemma": -11}.get(form, 0)
            _label(axes, f"{words}\n$10^{{{above[form]:.1f}}}$ times the error", steps[-1], bound[-1], color, shift)
        axes.plot(steps, data["error"].sel(side="mean"), color="black", lw=2)
        axes.fill_between(steps, *(data["error"].sel(side=side) for side in ("lower", "upper")), color="0.7")
        _label(axes, "measured error, with its\n95% confidence limits", steps[-1], last, "black")
        axes.set(xscale="log", yscale="log", xlim=(steps[0], steps[-1]), xlabel="local steps")
        axes.set_ylabel(r"$F(w_T) - F^*$")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(picture, dpi=150, metadata={"Software": None})
        plt.close(figure)
    return above


def _label(axes: Any, words: str, step: float, value: float, color: str, shift: int = 0) -> None:
    axes.annotate(words, (step, value), (8, shift), textcoords="offset points", color=color, va="center", fontsize=8)


if __name__ == "__main__":
    print(draw())
