r"""
A small FedALIGN threshold averages out noise, and a large one multiplies the final error
=========================================================================================

**A small threshold lowers the early error at the price of a small floor. The bounds show neither effect.**

**Question.** In FedALIGN (Ravi and Shomorony, 2023) non-priority clients join a round if their loss is within
:math:`\epsilon` of the priority clients' mean loss. Theorem 1 describes a trade-off: more inclusion lowers
:math:`\theta_T`, which multiplies the heterogeneity term, and raises the bias :math:`\rho_T`. How do the error and both
terms depend on :math:`\epsilon`?

**Method.** There are 10 quadratic priority clients, spread about their common minimizer :math:`w^*`, and 20 other
quadratic clients. The center of the j-th one is at a distance from :math:`w^*` that grows with j, so alignment is
known. Gradients are noisy, and the step sizes are those of the theorem. Two cases differ in one number. In the *pooled
world* the others' smallest losses equal F*, so matching losses imply small gaps. In the *private world* the others'
smallest losses are 0, like those of each priority client, so the best matches are those with :math:`\Gamma_k = \Gamma`.
Thresholds go from 0 (only priority clients) to infinity (all clients); one decreases to zero at half time. We measure
the error, recover the included clients, and evaluate :math:`\theta_T`, :math:`\rho_T`, the bounds with their upper
ends, and the *floor*: once the inclusion pattern no longer changes, the minimizer of the included clients' weighted
objective.

**Reading.** Left and middle: errors in the pooled and the private world with 95% bands, and the floors (dotted). Right:
final errors divided by that of the priority clients alone. In the pooled world a small threshold (0.5) lowers the early
error by up to 41%, because more clients average the noise, and causes a small floor. Large thresholds stop at 2.5 to
10.8 times the error of the priority clients alone. In the private world small thresholds prefer misaligned clients, and
past step 220 every fixed threshold loses. The decreasing threshold has the early gain and ends at the error of the
priority clients alone. On these instances theta falls and rho rises with the threshold. The bounds do not show the
gain: their drift :math:`8(E-1)^2G^2` does not depend on the threshold and is nearly their whole value.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _aligned_quadratics import ANNEALED, BOUNDS, WORLDS, errors_by_threshold
from _checks import Check, stated
from _repeated import span
from _slides import curves, finding, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Error, bound, theta_T and rho_T of FedALIGN against its threshold, on quadratics of known alignment."""

    num_priority: int = 10
    """Priority clients."""
    num_others: int = 20
    """Non-priority clients, from aligned to misaligned."""
    dim: int = 10
    """Model parameters v."""
    spread: float = 0.6
    """Standard deviation of each coordinate of the priority clients' centers."""
    farthest: float = 3.0
    """Distance of the most misaligned client's center from the minimizer."""
    gradient_noise: float = 100.0
    """Variance of the gradient noise."""
    thresholds: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, float("inf"))
    """Increasing thresholds; 0 is federated averaging over the priority clients, and inf over all clients."""
    annealed_from: float = 2.0
    """First threshold of the schedule that decreases to 0 at half time."""
    num_rounds: int = 400
    """Communication rounds."""
    local_steps: int = 5
    """Local steps E per round."""
    num_replicates: int = 100
    """Replicates per threshold and world."""
    seed: int = 0
    """Entropy of instance and noise."""


LOSSES = {"pooled": "others' smallest losses: $F^*$", "private": "others' smallest losses: 0"}
QUICK = Config(num_rounds=120, num_replicates=24, thresholds=(0.0, 0.5, 2.0, float("inf")))


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run every threshold in both worlds, find the included clients, and evaluate the bounds after every round."""
    return errors_by_threshold(config, progress)


def table(data: "Dataset") -> study.Table:
    """One row per world and threshold."""
    early, rows = int(data.sizes["step"] // 10), []
    for world, name in itertools.product(WORLDS, map(str, data["threshold"].values)):
        here = data.sel(world=world, threshold=name)
        mean, lower, upper = here["error"].isel(step=-1).values
        rows.append({
            "world": world, "threshold": name, "others included": float(here["num_included"].mean()),
            f"error at T = {int(data['step'][early])}": float(here["error"].isel(side=0, step=early)),
            f"error at T = {int(data['step'][-1])}": float(mean), "+- (95%)": float(upper - lower) / 2,
            "floor": float(here["floor"]) if here["settled"] else float("nan"),
            "theta_T": float(here["theta"].isel(step=-1).mean("limit")),
            "rho_T": float(here["rho"].isel(step=-1).mean("limit")),
            **{form: float(here["bound"].sel(form=form)[-1]) for form in BOUNDS},
        })  # fmt: skip
    caption = "floor: error at the limit if the inclusion pattern of the noise-free run settled, else nan."
    return study.Table(rows, "FedALIGN against its threshold", caption)


def checks(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    recursion, corrected, printed = (data["bound"].sel(form=form) for form in BOUNDS)
    upper = data["error"].sel(side="upper")

    def at_least(larger: Any, smaller: Any) -> Check:
        ratio = float((larger / smaller).min())
        return Check(ratio >= 1 - 1e-9, f"smallest ratio {ratio:.4g}")

    fixed = data.isel(threshold=slice(0, -1), step=-1)
    # A larger threshold may increase the error by at most what the confidence limits allow.
    theta_rise = float((fixed["theta"][..., 0].diff("threshold")).max())
    rho_fall = float((-fixed["rho"][..., 1].diff("threshold")).max())
    settled = data.where(data["settled"] & (data["floor"] > 1e-12))
    off = float((settled["noise_free"] / settled["floor"] - 1).__abs__().max())
    early = data["error"].sel(world="pooled").isel(step=data.sizes["step"] // 10)
    gain = float(early.sel(threshold=_small(data), side="upper") / early.sel(threshold="0", side="lower"))
    end = data["error"].isel(step=-1)
    above = float((end.sel(threshold=ANNEALED, side="lower") / end.sel(threshold="0", side="upper")).max())
    return {
        "the error stays below the unrolled recursion": at_least(recursion, upper),
        "unrolling never loses against the corrected form": at_least(corrected, recursion),
        "the error stays below the printed form": at_least(printed, upper),
        "theta falls with the threshold": Check(theta_rise <= 1e-3, f"largest rise {theta_rise:.3g}"),
        "rho rises with the threshold": Check(rho_fall <= 1e-3, f"largest fall {rho_fall:.3g}"),
        "settled noise-free runs end at their floor": Check(off < 0.05, f"largest relative distance {off:.3g}"),
        "a small threshold is better early on": Check(gain < 1, f"upper over lower limit {gain:.3g}"),
        "annealing ends no higher than priority alone": Check(above < 1, f"lower over upper limit {above:.3g}"),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw errors over time in both worlds, and final errors divided by that of the priority clients alone."""
    import matplotlib.pyplot as plt

    names = [str(name) for name in data["threshold"].values]
    shown = {"0": "priority only", _small(data): f"threshold {_small(data)}", "inf": "all clients", ANNEALED: ANNEALED}
    with appearance():
        drawn, panels = plt.subplots(1, 3, figsize=(12.5, 4), width_ratios=(1, 1, 0.9))
        for axes, world in zip(panels, WORLDS, strict=False):
            axes.set(xscale="log", yscale="log", xlabel="local steps T", title=LOSSES[world], ylim=(3e-3, 5))
            here = data.sel(world=world)
            for floor in (here.sel(threshold=name) for name in shown):
                if floor["settled"] and floor["floor"] > axes.get_ylim()[0]:
                    axes.axhline(float(floor["floor"]), color="0.5", linestyle=":", linewidth=1)
                    axes.text(6, 0.96 * float(floor["floor"]), "floor", color="0.4", fontsize=9, va="top")
            bands = {words: here["error"].sel(threshold=name).values for name, words in shown.items()}
            curves(axes, data["step"].values, bands)
        panels[0].set_ylabel("$F(w) - F^*$")
        last = data["error"].isel(step=-1)
        places = name_rows(panels[2], [shown.get(name, f"threshold {name}") for name in names[1:]])
        for row, world in enumerate(WORLDS):
            mean, lower, upper = last.sel(world=world).transpose("side", "threshold").values
            look: Any = {"color": COLORS[row], "marker": MARKERS[row], "label": LOSSES[world]}
            error = np.array([mean - lower, upper - mean])[:, 1:] / mean[0]
            panels[2].errorbar(mean[1:] / mean[0], places - 0.15 * row, xerr=error, linestyle="none", capsize=3, **look)
        panels[2].axvline(1, color="black", linewidth=0.8)
        panels[2].set(xscale="log", xlabel="final error / that of priority clients only", xlim=(0.7, 20))
        panels[2].set_ylim(top=2)
        panels[2].legend(loc="upper right", fontsize=8)
        sentence = "A small threshold lowers the early error by {:.0f}%; large ones multiply the final error by {}"
        return finding(drawn, sentence.format(*_gain(data)))


def _small(data: "Dataset") -> str:
    return str(data["threshold"].values[data.sizes["threshold"] // 3])


def _gain(data: "Dataset") -> tuple[float, str]:
    """Decrease of the error by a small threshold in percent, and final errors of large ones, in the pooled world."""
    means = data["error"].sel(side="mean", world="pooled")
    ratios = means / means.sel(threshold="0")
    fixed = [name for name in map(str, data["threshold"].values) if name != ANNEALED and float(name) > 0.5]
    return 100 * (1 - float(ratios.sel(threshold=_small(data)).min())), span(ratios.sel(threshold=fixed).isel(step=-1))


def said(data: "Dataset") -> list[str]:
    """Sentences of the page."""
    means, (early, large) = data["error"].sel(side="mean", world="private"), _gain(data)
    fixed = [name for name in map(str, data["threshold"].values[1:]) if name != ANNEALED]
    ahead = (means.sel(threshold=fixed) < means.sel(threshold="0")).any("threshold")
    return [
        f"a small threshold ({_small(data)}) lowers the early error by up to {early:.0f}%",
        f"Large thresholds stop at {large} times the error of the priority clients",
        f"past step {int(data['step'].values[ahead.values].max())} every fixed threshold loses",
    ]


STUDY = study.Study("fedalign_quadratic", Config(), QUICK, run, table, stated(checks), {"fedalign_quadratic": figure})

if __name__ == "__main__":
    study.main(STUDY)
