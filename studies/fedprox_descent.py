r"""
How much progress does FedProx's theorem promise?
=================================================

**For most proximal weights and few clients none; a sharper theorem, for any number of clients, promises some for every
large enough weight, and is not far from what is true.**

**Question.** Theorem 4 of Li et al. (2020) says how much a round of FedProx lowers the loss, at least. For which
weights of the proximal term and how many clients does it say something, and how much more is true?

**Method.** For convex clients and exact answers: the theorem as published, for several numbers of drawn clients; the
constants of :py:func:`fedtheory.bounds.fedprox.loss_change`, which hold for any number; and the certified least
progress of all clients.

**Reading.** Progress, in units of the squared gradient over L, against the weight of the proximal term, for gradients
of dissimilarity B = 1 and B = 2. As published, the theorem promises nothing below some weight, and for few clients
nothing at any weight: such curves have no part above zero. The derived constants promise the greatest progress at
:math:`L(2B+B^2)`, and what is certified is less than twice as much from there on.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import fedprox
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Progress of a round of FedProx: published, derived, certified."""

    weights: tuple[int, ...] = (4, 6, 8, 12, 16, 24, 32, 48)
    """Weights of the proximal term, in L."""
    dissimilarities: tuple[int, ...] = (1, 2)
    """B, a panel each."""
    num_selected: tuple[int, ...] = (10, 100, 1000)
    """Drawn clients K of the published form."""


QUICK = Config(weights=(4, 12, 32), num_selected=(10, 1000))


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Evaluate both forms, and certify."""
    import xarray

    certified, derived, published = [], [], []
    for B in progress(config.dissimilarities, "dissimilarities"):
        known = {"L": Fraction(1), "negative_curvature": Fraction(0), "gradient_dissimilarity": Fraction(B)}
        found = [ft.worst_case.fedprox(weight, **known) for weight in config.weights]
        certified.append([-float(one.upper or 0) for one in found])
        given = [
            {**known, "proximal_weight": Fraction(weight), "inexactness": Fraction(0)} for weight in config.weights
        ]
        derived.append([-float(fedprox.loss_change(Fraction(1), **one)) for one in given])
        published.append(
            [
                [-float(fedprox.loss_change.printed(Fraction(1), num_selected=K, **one)) for one in given]
                for K in config.num_selected
            ]
        )
    return xarray.Dataset(
        {
            "certified": (("B", "weight"), certified),
            "derived": (("B", "weight"), derived),
            "published": (("B", "K", "weight"), published),
        },
        coords={
            "B": list(config.dissimilarities),
            "weight": list(config.weights),
            "K": list(config.num_selected),
        },
    )


def table(data: "Dataset") -> study.Table:
    """One row per dissimilarity and weight."""
    rows = [
        {
            "B": int(B),
            "weight": int(weight),
            "certified": float(data["certified"].sel(B=B, weight=weight)),
            "derived": float(data["derived"].sel(B=B, weight=weight)),
            **{f"published, K = {K}": float(data["published"].sel(B=B, weight=weight, K=K)) for K in data["K"].values},
        }
        for B in data["B"].values
        for weight in data["weight"].values
    ]
    return study.Table(rows, title="Least progress of a round of FedProx, in |grad F(w)|^2 / L")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    # What is certified is proved to some seven digits.
    room = float((data["certified"] - data["derived"]).min())
    lead = float((data["derived"] - data["published"]).min())
    few = float(data["published"].isel(K=0).sel(B=2).max())
    best = float(data["derived"].sel(B=2).max())
    return {
        "no promise is above what is certified": study.Check(room >= -1e-7, f"least room {room:.3g}"),
        "derived constants are never worse": study.Check(lead > 0, f"least lead {lead:.3g}"),
        "few clients are promised nothing at B = 2": study.Check(few < 0, f"at most {few:.3g}"),
        "there is progress at B = 2": study.Check(best > 0, f"{best:.3g}"),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw a panel for each dissimilarity."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, panels = plt.subplots(1, data.sizes["B"], figsize=(1 + 4.5 * data.sizes["B"], 4.2), squeeze=False)
        weights = data["weight"].values
        for panel, B in zip(panels[0], data["B"].values, strict=True):
            here = data.sel(B=B)
            panel.axhline(0.0, color="black", linewidth=0.6)
            panel.plot(weights, here["certified"], "o", color="black", fillstyle="none", label="certified")
            panel.plot(weights, here["derived"], color=COLORS[0], label="derived, any number of clients")
            for rank, K in enumerate(data["K"].values):
                panel.plot(
                    weights, here["published"].sel(K=K), "--", color=COLORS[rank + 1], label=f"published, K = {K}"
                )
            top = float(here["certified"].max())
            panel.set(
                xlabel="weight of the proximal term, in L", xscale="log", ylim=(-top, 1.1 * top), title=f"B = {B}"
            )
            panel.set_xticks(weights, labels=[str(weight) for weight in weights])
            panel.minorticks_off()
        panels[0, 0].set_ylabel(r"progress, in $|\nabla F(w)|^2/L$")
        return legend_below(drawn, num_columns=3)


STUDY = study.Study("fedprox_descent", Config(), QUICK, run, table, checks, {"fedprox_descent": figure})

if __name__ == "__main__":
    study.main(STUDY)
