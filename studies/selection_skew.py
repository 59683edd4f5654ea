r"""
Selection skews of Power-of-Choice
==================================

**Question.** In Figure 3 Cho, Wang and Joshi (2020) estimate two skews for growing numbers d of candidates:
:math:`\bar\rho`, which multiplies the speed of pow-d, and :math:`\tilde\rho/\bar\rho`, which determines its bias. Do
they grow with d?

**Method.** On the quadratics of Appendix F the skew at any two models is a number. Every extreme is an interval with
two certified sides. For :math:`\bar\rho = \inf_{w,w'} \rho(S(w), w')` the lower side is a bound over all rankings of
the clients, and the upper side is found by a search. :math:`\tilde\rho = \sup_w \rho(S(w), w^*)` is exact. For the
diagonal skew :math:`\inf_w \rho(S(w), w)` the lower side comes from cutting planes and the upper side from a search.
They are compared with an estimator as the paper describes it, from simulated selections at a sample of models (the
paper takes a grid), and with the exact extremes on the same sample.

**Figure.** For the first size: :math:`\bar\rho`, the ratio :math:`\tilde\rho/\bar\rho`, and the diagonal skew, which
the corrected theorem uses. The infimum in :math:`\bar\rho` is over both models w and w', and w' can be a model at which
the clients selected at w are nearly optimal. The diamonds are a minimum over the models of one run, each compared with
itself. A run visits pairs (w, w') close to the diagonal, so this minimum is no bound over all models, which the theorem
requires.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import span
from _skews_and_floors import SKEWS, outward, skews

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


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare certified skews with 1, with each other, with the estimator, and with the minimum along a run."""
    dims = ("skew", "num_clients", "share")
    (bar, tilde, diagonal), (upper_bar, upper_tilde, _) = (
        data["bounds"].sel(side=side).transpose(*dims).values for side in ("lower", "upper")
    )
    value, error = (data["estimate"].sel(number=name).transpose(*dims).values for name in data["number"].values)
    sampled, along = data["on_sample"].transpose(*dims).values, data["along"].values
    d, m, K = data["candidates"].values, data["selected"].values[:, None], data["num_clients"].values[:, None]
    biased, many = d > m, d >= 2 * m
    above, apart = (value - 2 * error)[0] > upper_bar, float(abs(value - sampled).max())
    outside = min((sampled[0] / bar).min(), (sampled[2] / diagonal).min())
    places = {"m": d == m, "2m": d == 2 * m, "K/2": d == K // 2, "K": d == K}
    minima = [f"{span(along[at])} with d = {name}" for name, at in places.items() if at.any()]
    return {
        "rho_bar": study.Finding(
            "The certified upper limit of rho_bar falls with the number of candidates: it is "
            f"{span(upper_bar[:, 0], 4)} with d = m and {span(upper_bar[:, -1], 2)} with d = K.",
            bool((np.diff(upper_bar) < 0).all() and (upper_bar[biased] < 1).all()),
        ),
        "diagonal": study.Finding(
            "The diagonal skew exceeds 1 with d > m, and its lower limit rises with d: it is "
            f"{span(diagonal[:, 1], 2)} with the second d and {span(diagonal[:, -1], 2)} with d = K.",
            bool((diagonal[biased] > 1).all() and (np.diff(diagonal) > 0).all()),
        ),
        "along a run": study.Finding(
            "A minimum over the models of one run, each compared with itself, exceeds 1 with d > m and grows, as in "
            f"the picture of the paper: it is {', '.join(minima)}.",
            bool((np.diff(along) > 0).all() and (along[biased] > 1).all()),
        ),
        "estimator": study.Finding(
            f"With d of at least 2m the estimated rho_bar lies above the certified interval by more than two standard "
            f"errors in {int(above[many].sum())} of {int(many.sum())} cases.",
            bool(above[many].all()),
        ),
        "ratio": study.Finding(
            f"With d of at least 2m, rho_tilde / rho_bar is at least {span((tilde / upper_bar)[many])}, and estimated "
            f"as {span((value[1] / value[0])[many])}.",
            bool((value[1] / value[0] < tilde / upper_bar)[many].all()),
        ),
        "noise": study.Finding(
            # Extremes of the estimator are also extremes of noise: of some hundred pairs, a few deviate by four errors.
            f"The estimates are the exact extremes on the same sample up to noise, and differ by at most {apart:.2f}.",
            bool((abs(value - sampled) <= 5 * error + 1e-9).all()),
        ),
        "certified": study.Finding(
            "No model of the sample has a skew below the lower limits, and rho_tilde is exact.",
            bool(outside >= 1 - 1e-9 and np.allclose(tilde, upper_tilde, rtol=1e-9)),
            f"smallest ratio {outside:.4f}",
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
        return legend_below(drawn, num_columns=3)


STUDY = study.Study("selection_skew", Config(), QUICK, run, table, findings, {"selection_skew": figure})

if __name__ == "__main__":
    study.main(STUDY)
