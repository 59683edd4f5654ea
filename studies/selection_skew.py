r"""
The selection skew of Power-of-Choice falls with the number of candidates
=========================================================================

**The skew rho_bar is below one and falls with the number of candidates, where the paper has it grow. The skew at equal
models grows.**

**Question.** In Figure 3 Cho, Wang and Joshi (2020) estimate two skews for growing numbers d of candidates:
:math:`\bar\rho`, which multiplies the speed of pow-d, and :math:`\tilde\rho/\bar\rho`, which determines its bias. Do
they grow with d?

**Method.** On the quadratics of Appendix F the skew at any two models is a number. Every extreme is an interval with
two certified sides. For :math:`\bar\rho = \inf_{w,w'} \rho(S(w), w')` the lower side is a bound over all rankings of
the clients, and the upper side is found by a search. :math:`\tilde\rho = \sup_w \rho(S(w), w^*)` is exact. For the
diagonal skew :math:`\inf_w \rho(S(w), w)` the lower side comes from cutting planes and the upper side from a search.
They are compared with an estimator as the paper describes it, from simulated selections at a sample of models (the
paper takes a grid), and with the exact extremes on the same sample.

**Reading.** The figure is for K = 30, the table for both sizes. Left: :math:`\bar\rho`. Here it is 1 for random
selection, and for pow-d with d > m it lies *below* 1 and falls, from 0.9985 with d = m to 0.050 (K = 30) and at most
0.14 (K = 100) with d = K. By definition the infimum is over both models w and w', and w' can be a model at which the
clients selected at w are nearly optimal. With d > m the estimator lies above the upper side, except for K = 100 with 14
candidates, where it equals it. Middle: as a consequence :math:`\tilde\rho/\bar\rho` is larger than estimated. Right:
the diagonal skew, which the corrected theorem uses, exceeds 1 with d > m and grows: from 1.1 to between 1.4 and 1.6.

**Where this differs from the paper.** Figure 3 reports :math:`\bar\rho > 1`, growing with d. Both are true of the
diagonal skew. A minimum over the models of one run, each compared with itself, gives the paper's picture (diamonds): it
is 1.00 with d = m, 1.3 with d = 2m, 1.5 with d = K/2 and 1.7 to 1.8 with d = K. A run only visits pairs (w, w') close
to the diagonal, so its minimum is no bound over all models, which the theorem requires.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check, stated
from _skews_and_floors import SKEWS, outward, skews
from _slides import finding

from fedtheory import study
from fedtheory.plotting.intervals import certified
from fedtheory.plotting.style import COLORS, appearance, label_of, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Selection skews of Power-of-Choice against the number of candidates: Figure 3 of the paper, certified."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K, one column of panels each."""
    selected_share: float = 0.1
    """Share C of the clients that is selected in a round."""
    candidate_shares: tuple[float, ...] = (0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)
    """Candidates d of pow-d, as shares of the clients."""
    num_models: int = 500
    """Models that each search evaluates."""
    estimator_models: int = 20
    """Models in the sample of the estimator."""
    estimator_draws: int = 1_000
    """Simulated selections at each model; the paper uses 10,000."""
    num_rounds: int = 15_000
    """Rounds of the run along which the skew is evaluated, with two local steps of size 2e-5 as in the paper."""
    seed: int = 0
    """Entropy of instances, searches, samples and runs."""


QUICK = Config(
    num_clients=(10,), selected_share=0.2, candidate_shares=(0.2, 0.5, 1.0), num_models=60, estimator_models=6,
    estimator_draws=200,
)  # fmt: skip

ESTIMATED = "estimated on a sample, 2 standard errors"


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Bound, estimate and sample the skews for every number of candidates."""
    return skews(config, progress)


def table(data: "Dataset") -> study.Table:
    """One row per size and number of candidates."""
    rows = []
    for size, share in itertools.product(data["num_clients"].values, data["share"].values):
        here = data.sel(num_clients=size, share=share)
        bounds, estimate, sampled = here["bounds"], here["estimate"], here["on_sample"]
        bar, tilde, diagonal = (bounds.sel(skew=name).values for name in SKEWS)
        value, error = estimate.sel(skew="rho_bar").values
        row: dict[str, Any] = {"K": int(size), "m": int(here["selected"]), "d": int(here["candidates"])}
        row |= {"rho_bar": outward(bar), "width": float(np.diff(bar)[0]), "rho_tilde": float(tilde[1])}
        row["rho_tilde / rho_bar"] = outward(tilde / bar[::-1]) if bar[0] > 0 else f"at least {tilde[0] / bar[1]:.3g}"
        row |= {"diagonal skew": outward(diagonal), "its width": float(np.diff(diagonal)[0])}
        row["least along a run"] = float(here["along"])
        row["estimated rho_bar"] = f"{value:.3f} +- {2 * error:.3f}"
        row["its bias by sample / noise"] = (
            f"{float(sampled.sel(skew='rho_bar')) - bar[1]:+.3f} / {value - float(sampled.sel(skew='rho_bar')):+.3f}"
        )
        rows.append(row)
    caption = (
        "Intervals are certified on both sides. The estimator takes extremes over sampled models; its bias by the "
    )
    caption += "sample is counted from the upper side. Random selection has skew 1 everywhere."
    return study.Table(rows, "Selection skews of pow-d on the quadratics of Appendix F", caption)


def checks(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    lower, upper = (data["bounds"].sel(side=side) for side in ("lower", "upper"))
    fewest, more = {"share": 0}, {"share": slice(1, None)}

    def at_most(smaller: Any, larger: Any) -> Check:
        ratio = float((smaller / larger).max())
        return Check(ratio <= 1 + 1e-9, f"largest ratio {ratio:.4g}")

    bar, diagonal = ({"skew": name} for name in ("rho_bar", "rho_diagonal"))
    rising, along = lower.sel(diagonal).values, data["along"].values
    sampled, estimate = data["on_sample"], data["estimate"].sel(number="value")
    # The estimator's extremes are also extremes of noise: of a few hundred pairs, some deviate by four errors.
    noise = 5 * data["estimate"].sel(number="standard_error")
    return {
        "rho_bar is below 1 and falls with d": at_most(
            upper.sel(bar).isel(more), lower.sel(bar).isel(fewest).clip(max=1)
        ),
        "the lower side of the diagonal skew rises with d": at_most(rising[..., :-1], rising[..., 1:]),
        "the diagonal skew exceeds 1 for d > m": at_most(1.0, rising[..., 1:]),
        "rho_tilde is known exactly": at_most(*(side.sel(skew="rho_tilde") for side in (upper, lower))),
        "no sampled model leaves an interval": at_most(
            lower.sel(skew=["rho_bar", "rho_diagonal"]), sampled.sel(skew=["rho_bar", "rho_diagonal"])
        ),
        "along a run the skew grows with d": at_most(along[..., :-1], along[..., 1:]),
        "the estimator is the sample's skew up to noise": Check(
            bool((abs(estimate - sampled) <= noise + 1e-9).all()), f"{float(abs(estimate - sampled).max()):.3f} apart"
        ),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw for the first size rho_bar, rho_tilde / rho_bar and the diagonal skew: certified, estimated, along a run."""
    import matplotlib.pyplot as plt

    here = data.isel(num_clients=0)
    bar, tilde, diagonal = (here.sel(skew=name) for name in SKEWS)
    sides = [one["bounds"].transpose("side", "share").values for one in (bar, tilde, diagonal)]
    values = [one["estimate"].transpose("number", "share").values for one in (bar, tilde, diagonal)]
    ratio, spread = values[1][0] / values[0][0], np.hypot(*(error / value for value, error in values[:2]))
    names = [label_of(name) for name in SKEWS]
    shown: dict[str, Any] = {
        f"skew {names[0]}": (sides[0], values[0]),
        f"ratio {names[1]} / {names[0]}": (sides[1] / sides[0][::-1], (ratio, ratio * spread)),
        f"diagonal skew {names[2]}": (sides[2], values[2]),
    }
    with appearance():
        drawn, panels = plt.subplots(1, 3, figsize=(12, 4))
        d = here["candidates"].values
        for axes, (title, (both, (value, error))) in zip(panels, shown.items(), strict=True):
            certified(axes, d, *both, label="certified interval")
            axes.errorbar(
                d, value, 2 * error, color=COLORS[1], marker="s", linestyle="none", capsize=2, label=ESTIMATED
            )
            axes.axhline(1.0, color="black", linestyle=":", linewidth=1)
            axes.text(1.02, 1.0, "random\nselection", transform=axes.get_yaxis_transform(), fontsize=8, va="center")
            axes.set(xlabel="candidates d", title=title)
        panels[0].plot(d, here["along"], color=COLORS[3], marker="D", linestyle="-.", label="minimum along one run")
        panels[1].set_yscale("log")
        panels[1].set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        least = float(bar["bounds"].sel(side="upper").min())
        sentence = (
            "The skew over all pairs of models falls from 1 to {:.2f} with more candidates; at equal models it grows"
        )
        return legend_below(finding(drawn, sentence.format(least)), num_columns=3)


def said(data: "Dataset") -> list[str]:
    """Sentences of the page, and of the page about all figures."""
    d, m, K = data["candidates"].values, data["selected"].values, data["num_clients"].values
    bar, along = data["bounds"].sel(skew="rho_bar", side="upper").values, data["along"].values
    low, high = (data["bounds"].sel(skew="rho_diagonal", side=side).values for side in ("lower", "upper"))
    double, half = (f"{np.mean([along[i][d[i] == at[i]] for i in (0, 1)]):.1f}" for at in (2 * m, K // 2))
    ends = f"{along[:, -1].min():.1f} to {along[:, -1].max():.1f}"
    first = f"from {bar[:, 0].min():.4f} with d = m to {bar[0, -1]:.3f} (K = 30)"
    return [
        "it is 1 for random selection, and for pow-d with d > m it lies *below* 1",
        f"{first} and at most {bar[1, -1]:.2f} (K = 100)",
        f"K = 100 with {d[1, 1]:g} candidates",
        "exceeds 1 with d > m",
        f"from {low[:, 1].min():.1f} to between {low[:, -1].min():.1f} and {high[:, -1].max():.1f}",
        f"it is {along[:, 0].mean():.2f} with d = m, {double} with d = 2m, {half} with d = K/2 and {ends} with d = K",
        "below 1 and falls with d, between certified limits; the *diagonal* skew exceeds 1 and grows",
        f"comes from a minimum over the models of one run: {double} with d = 2m, {ends} with d = K",
    ]


STUDY = study.Study("selection_skew", Config(), QUICK, run, table, stated(checks), {"selection_skew": figure})

if __name__ == "__main__":
    study.main(STUDY)
