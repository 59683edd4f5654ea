r"""
Threshold and error of FedALIGN on quadratics
=============================================

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

**Figure.** Left and middle: errors in the pooled and the private world with 95% bands, and the floors (dotted). Right:
final errors divided by that of the priority clients alone.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _aligned_quadratics import ANNEALED, BOUNDS, WORLDS, errors_by_threshold
from _repeated import span
from _slides import curves, name_rows

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
QUICK = Config(num_rounds=120, num_replicates=60, thresholds=(0.0, 0.5, 2.0, float("inf")))


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


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare errors with those of the priority clients alone, and bounds with errors and with each other."""
    recursion, corrected, printed = (data["bound"].sel(form=form).values for form in BOUNDS)
    mean, lower, upper = data["error"].transpose("side", "world", "threshold", "step").values
    names, steps = [str(name) for name in data["threshold"].values[1:]], data["step"].values
    fixed = np.array([name != ANNEALED for name in names])
    large = np.array([name != ANNEALED and float(name) >= 1 for name in names])
    # Shape (world, threshold, step); at most and at least what the limits of both allow.
    ratio, most, least = (one[:, 1:] / other[:, :1] for one, other in ((mean, mean), (upper, lower), (lower, upper)))
    early, (pooled, private) = 1 - ratio.min(axis=-1), ratio[..., -1]
    small = [
        f"{end:.2f} with {name}" for name, end, is_small in zip(names, pooled, fixed & ~large, strict=True) if is_small
    ]
    late = int(steps[(ratio[1, fixed] < 1).any(axis=0)].max(initial=0))
    before = data.isel(threshold=slice(0, -1), step=-1)
    theta, rho = before["theta"].sel(limit="lower"), before["rho"].sel(limit="upper")
    settled = data.where(data["settled"] & (data["floor"] > 1e-12))
    off = float(abs(settled["noise_free"] / settled["floor"] - 1).max())
    spread = corrected[..., -1] / corrected[:, :1, -1]
    ratios = [float(one.min()) for one in (recursion / upper, corrected / recursion, printed / upper)]
    return {
        "early and late": study.Finding(
            f"Every threshold lowers the error at first, by {span(100 * early, 0)}%. In the end thresholds of at "
            f"least 1 multiply it by {span(pooled[large])} if the others' smallest losses are F*, and every fixed "
            f"threshold by {span(private[fixed])} if they are 0.",
            bool((most.min(axis=-1) < 1).all() and (least[0, large, -1] > 1).all() and (least[1, fixed, -1] > 1).all()),
        ),
        "small": study.Finding(
            "In the pooled world small thresholds end near the error of the priority clients alone, at "
            f"{' and '.join(small)} times it.",
            bool((pooled[fixed & ~large] < 1.5).all()),
        ),
        "private": study.Finding(
            f"In the private world every fixed threshold has the larger error after step {late}.",
            0 < late < steps[-1] / 2,
        ),
        "annealed": study.Finding(
            f"The decreasing threshold ends at {pooled[-1]:.2f} (pooled) and {private[-1]:.2f} (private) times the "
            "error of the priority clients alone, no higher than the limits allow.",
            bool((least[:, -1, -1] < 1).all()),
        ),
        "theta and rho": study.Finding(
            "A larger fixed threshold has a smaller theta and a larger rho, up to the confidence limits.",
            bool(theta.diff("threshold").max() <= 1e-3 and rho.diff("threshold").min() >= -1e-3),
        ),
        "bounds": study.Finding(
            "The corrected bounds do not show the gain: they are smallest for the priority clients alone, and at "
            f"most {100 * (spread.max() - 1):.1f}% larger with a threshold.",
            bool(spread.min() >= 1 and spread.max() < 1.1),
        ),
        "floors": study.Finding(f"Settled runs without noise end within {100 * off:.1f}% of their floor.", off < 0.05),
        "above": study.Finding(
            f"At every step the unrolled recursion is at least {ratios[0]:.1f} times the error, and the corrected "
            f"form at least {ratios[1]:.1f} times the recursion.",
            ratios[0] >= 1 and ratios[1] >= 1 - 1e-9,
        ),
        "printed": study.Finding(
            f"At every step the printed form is at least {ratios[2]:.0f} times the error.", ratios[2] >= 1
        ),
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
        return drawn


def _small(data: "Dataset") -> str:
    return str(data["threshold"].values[data.sizes["threshold"] // 3])


STUDY = study.Study("fedalign_quadratic", Config(), QUICK, run, table, findings, {"fedalign_quadratic": figure})

if __name__ == "__main__":
    study.main(STUDY)
