r"""
Error floors of Power-of-Choice
===============================

**Question.** Power-of-Choice converges to a model with a larger loss than the minimum (Cho, Wang and Joshi, 2020,
Figure 2). How high is this error floor, and how does it grow with the number d of candidates?

**Method.** Ranking by losses maximizes the mean loss of the selected clients over all selection frequencies that pow-d
can have. The server therefore descends on the convex function :math:`N(w) = E \frac1m \sum_{k \in S(w)} F_k(w)`. With
small steps it converges to the minimizer of N, so one convex program, solved with a duality gap, predicts the floor.
The prediction is compared with: long simulations from the optimum, with two fixed step sizes, averaged over the second
half of the rounds and over replicates; the *mean field*, which is the round with its exact expected coefficients; the
bias terms of Theorem 3.1, as printed and as corrected; and :math:`\Gamma(\tilde\rho/\rho_{diagonal} - 1)`, which
follows from convexity for small steps.

**Figure.** The floor, as a share of the objective gap Gamma, against the number of candidates: predicted, simulated,
and the bias terms of theorems. With d = m the simulation shows the variance of the selection instead of the floor,
and is not drawn; drawing without replacement is not exactly proportional to the weights, so the floor is not zero.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _repeated import span
from _skews_and_floors import BIASES, floors
from _slides import DASHES, name_ends

from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Error floors of Power-of-Choice against the number of candidates: predicted and simulated."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K, one column of panels each."""
    selected_share: float = 0.1
    """Share C of the clients that is selected in a round."""
    candidate_shares: tuple[float, ...] = (0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
    """Candidates d of pow-d, as shares of the clients."""
    step_sizes: tuple[float, ...] = (2e-4, 5e-5)
    """Fixed step sizes, longest first."""
    local_steps: int = 2
    """Local steps tau per round."""
    run_time: float = 3.0
    """Sum of all step sizes of a run; the slowest mode decays with the mean curvature, about 10."""
    num_replicates: int = 16
    """Replicates per strategy."""
    seed: int = 0
    """Entropy of instances and selections."""


QUICK = Config(
    num_clients=(10,), selected_share=0.2, candidate_shares=(0.2, 0.5, 1.0), step_sizes=(1e-3, 2.5e-4), run_time=4.0
)  # fmt: skip

NAMES = {BIASES[0]: "bound by convexity", BIASES[1]: "Theorem 3.1, corrected", BIASES[2]: "Theorem 3.1, printed"}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Predict, simulate and bound the floor for every number of candidates."""
    return floors(config, progress)


def table(data: "Dataset") -> study.Table:
    """One row per size and number of candidates."""
    rows = []
    shortest = float(data["step_size"][-1])
    for size, share in itertools.product(data["num_clients"].values, data["share"].values):
        here = data.sel(num_clients=size, share=share)
        floor, (mean, lower, upper) = float(here["floor"]), here["simulated"].sel(step_size=shortest).values
        rows.append(
            {
                "K": int(size),
                "m": int(here["selected"]),
                "d": int(here["candidates"]),
                "floor F - F*": floor,
                "duality gap": float(here["duality_gap"]),
                "floor / Gamma": floor / float(here["objective_gap"]),
                "simulated": mean,
                "+- (95%)": (upper - lower) / 2,
                "simulated / floor - 1": mean / floor - 1,
                "mean field / floor - 1": float(here["mean_field"]) / floor - 1,
                **{f"{form} / floor": float(here["bias"].sel(form=form)) / floor for form in BIASES},
            }
        )
    return study.Table(
        rows,
        title="Error floors of pow-d on the quadratics of Appendix F",
        caption=f"Simulated with steps of {shortest:g}; the mean field has steps of {float(data['step_size'][0]):g}.",
    )


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare the predicted floor with simulations, the mean field, and the bias terms."""
    few, biased = data.isel(share=0), data.isel(share=slice(1, None))
    apart = abs(biased["simulated"].sel(side="mean") / biased["floor"] - 1).max(["share", "num_clients"]).values
    field, gap = (float(one.max()) for one in (abs(biased["mean_field"] / biased["floor"] - 1),
                                               data["duality_gap"] / data["objective_gap"]))  # fmt: skip
    ratios, height = data["bias"] / data["floor"], (data["floor"] / data["objective_gap"]).values
    alone = few["simulated"].sel(side="mean")
    shrinks, shorter = alone[:, 0] / alone[:, -1], float(data["step_size"][0] / data["step_size"][-1])
    return {
        "floor": study.Finding(
            f"With more than m candidates Power-of-Choice ends within {100 * apart[-1]:.0f}% of the predicted floor.",
            bool(apart[-1] < 0.1),
        ),
        "bounds": study.Finding(
            f"The bias terms of the theorems lie {span(np.log10(ratios), 2)} orders of magnitude above the floor.",
            bool(ratios.min() > 1),
        ),
        "grows": study.Finding(
            f"The floor rises with the number of candidates, from {height.min():.1e} to {height.max():.2f} of the "
            "objective gap.",
            bool((np.diff(height) > 0).all()),
        ),
        "shorter steps": study.Finding(
            f"With {shorter:g} times shorter steps the largest distance of simulations from the floor falls from "
            f"{100 * apart[0]:.0f}% to {100 * apart[-1]:.0f}%.",
            bool(apart[-1] < apart[0]),
        ),
        "mean field": study.Finding(
            f"With more than m candidates the mean field ends within {100 * field:.1f}% of the floor.", field < 0.1
        ),
        "gap": study.Finding(f"The duality gap of each floor is at most {gap:.0e} of the objective gap.", gap < 1e-6),
        "variance": study.Finding(
            f"With d = m the simulated error is {span(alone[:, -1] / few['floor'], 0)} times the floor. With "
            f"{shorter:g} times shorter steps it is {span(shrinks)} times smaller.",
            bool(((shrinks > 2) & (alone[:, -1] > 2 * few["floor"])).all()),
        ),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw the floor against the candidates: predicted, simulated, and the bias terms of theorems."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, panels = plt.subplots(1, data.sizes["num_clients"], figsize=(11, 4.2), sharey=True, squeeze=False)
        for axes, size in zip(panels[0], data["num_clients"].values, strict=True):
            here = data.sel(num_clients=size)
            d, scale = here["candidates"].values, float(here["objective_gap"])
            axes.set(yscale="log", title=f"{size} clients, {int(here['selected'])} per round", xlabel="candidates d")
            axes.set_xlim(d[0], d[-1])
            ends = {}
            for form, dashes, color in zip(BIASES, DASHES[1:], COLORS[1:], strict=False):
                values = here["bias"].sel(form=form).values / scale
                axes.plot(d, values, linestyle=dashes, color=color)
                ends[NAMES[form]] = (float(values[-1]), color)
            mean, lower, upper = here["simulated"].isel(step_size=-1, share=slice(1, None)).values.T / scale
            axes.plot(d, here["floor"] / scale, color="black", linewidth=1.6)
            axes.errorbar(
                d[1:], mean, [mean - lower, upper - mean], color=COLORS[0], marker="o", fillstyle="none", capsize=3,
                linestyle="none", label="simulated, 95%", clip_on=False,
            )  # fmt: skip
            ends["predicted floor"] = (float(here["floor"].values[-1] / scale), "black")
            name_ends(axes, ends)
        panels[0, 0].set_ylabel(r"error floor $(F - F^*)\,/\,\Gamma$")
        panels[0, 0].legend(loc="lower right")
        return drawn


STUDY = study.Study("error_floor", Config(), QUICK, run, table, findings, {"error_floor": figure})

if __name__ == "__main__":
    study.main(STUDY)
