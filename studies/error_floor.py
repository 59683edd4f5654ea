r"""
The error floor of Power-of-Choice is the minimum of one convex function
========================================================================

**The floor can be computed by a convex program. Simulations end at it, and the bias terms of the theorems are far
above.**

**Question.** Power-of-Choice converges to a model with a larger loss than the minimum (Cho, Wang and Joshi, 2020,
Figure 2). How high is this error floor, and how does it grow with the number d of candidates?

**Method.** Ranking by losses maximizes the mean loss of the selected clients over all selection frequencies that pow-d
can have. The server therefore descends on the convex function :math:`N(w) = E \frac1m \sum_{k \in S(w)} F_k(w)`. With
small steps it converges to the minimizer of N, so one convex program, solved with a duality gap, predicts the floor.
The prediction is compared with: long simulations from the optimum, with two fixed step sizes, averaged over the second
half of the rounds and over replicates; the *mean field*, which is the round with its exact expected coefficients; the
bias terms of Theorem 3.1, as printed and as corrected; and :math:`\Gamma(\tilde\rho/\rho_{diagonal} - 1)`, which
follows from convexity for small steps.

**Reading.** The figure shows the floor, as a share of the objective gap Gamma, against d. Simulations and mean field
agree with the prediction, and the bias terms 0.65 to 5.19 orders of magnitude above. The ratios in the table approach
one for shorter steps. With d = m the floor is tiny but not zero, since drawing without replacement is not exactly
proportional to the weights. There the simulation shows the variance of the selection instead, which is proportional to
the step size.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _checks import Check, stated
from _repeated import span
from _skews_and_floors import BIASES, floors
from _slides import DASHES, finding, name_ends

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


def checks(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    biased = data.isel(share=slice(1, None))
    apart = abs(biased["simulated"].sel(side="mean") / biased["floor"] - 1).max(["share", "num_clients"])
    longest, shortest = float(apart[0]), float(apart[-1])
    field = float(abs(biased["mean_field"] / biased["floor"] - 1).max())
    certified = float((data["duality_gap"] / data["objective_gap"]).max())
    tightest = float((data["bias"] / data["floor"]).min())
    steps = np.diff(data["floor"].values, axis=data["floor"].dims.index("share"))
    return {
        "the simulated error is the floor": Check(shortest < 0.1, f"apart by at most {shortest:.3f}"),
        "shorter steps come nearer": Check(shortest < longest, f"{shortest:.3f} after {longest:.3f}"),
        "the mean field settles at the floor": Check(field < 0.1, f"apart by at most {field:.3f}"),
        "the duality gap is closed": Check(certified < 1e-6, f"at most {certified:.1e} objective gaps"),
        "no bias term is below the floor": Check(tightest >= 1, f"smallest ratio {tightest:.2f}"),
        "more candidates, higher floor": Check(bool((steps > 0).all()), f"smallest step {steps.min():.2g}"),
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
        off = float(abs(data["simulated"].isel(share=slice(1, None), step_size=-1, side=0) / data["floor"] - 1).max())
        low, high = (float(pick(np.log10(data["bias"] / data["floor"]))) for pick in (np.min, np.max))
        sentence = (
            "Runs end within {:.0f}% of the predicted floor, {:.1f} to {:.1f} orders of magnitude below the bounds"
        )
        return finding(drawn, sentence.format(100 * off, low, high))


def said(data: "Dataset") -> list[str]:
    """Sentences of the page."""
    return [f"the bias terms {span(np.log10(data['bias'] / data['floor']), 2)} orders of magnitude above"]


STUDY = study.Study(
    name="error_floor",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    findings=stated(checks),
    figures={"error_floor": figure},
)

if __name__ == "__main__":
    study.main(STUDY)
