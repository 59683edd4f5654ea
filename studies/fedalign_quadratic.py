r"""
What does FedALIGN's threshold buy, and what does it cost?
==========================================================

**A small threshold averages noise away and costs a small floor, a large one stops at a multiple of the error; the
bounds show neither.**

**Question.** FedALIGN (Ravi and Shomorony, 2023) lets non-priority clients join a round if their loss is within
:math:`\epsilon` of the priority clients' mean loss. Theorem 1 describes a trade-off: more inclusion lowers
:math:`\theta_T`, which multiplies the heterogeneity term, and raises the bias :math:`\rho_T`. How do the error, the
bound and both terms depend on :math:`\epsilon`, and when is a matching loss a sign of a matching objective?

**Method.** Quadratic clients: 10 with priority, spread about their common minimizer :math:`w^*`, and 20 others,
the j-th one centered at a distance from :math:`w^*` that grows with j, so that alignment is known. Gradients are noisy:
more clients average the noise better. Step sizes are those of the theorem. Two worlds differ in one number only:

* *pooled*: the others' smallest losses equal F*, as when their data resemble the pooled data of the priority clients.
  Then :math:`F_k(w^*) - F(w^*) = \Gamma_k`: matching losses mean small gaps.
* *private*: the others' smallest losses are 0, like those of each priority client. Then a client with
  :math:`\Gamma_k = 0` is *below* F by :math:`\Gamma`, and the best matches are those with :math:`\Gamma_k = \Gamma`.

For each threshold, also 0 (only priority clients), infinity (all clients) and one annealed to zero at half time, we
measure the error, recover who was included from the recorded models, evaluate :math:`\theta_T` and :math:`\rho_T` with
confidence limits, the bounds with their upper ends, and the *floor*: where the inclusion pattern settles, the limit is
the minimizer of the included clients' weighted objective, computed exactly.

Noise, distances and the schedule were chosen, after a few trials, so that both sides of the trade-off show: in a trial
of the private world with noise variance 20 and distances up to 5 no fixed threshold was ahead at the horizons looked
at, and annealing from 16 instead of 2 ends 3% higher.

**Reading.** In the pooled world a small threshold (0.5) lowers the early error by up to 41%, because more clients
average the noise, and costs a small floor. Large thresholds stop at 2.5 to 10.8 times the error of the priority clients
alone; the floor is not monotone in the threshold, since the biases of different clients cancel. In the private world
small thresholds prefer misaligned clients, and past step 220 every fixed threshold loses (under noise more clients
match now and then than without, so that the error can stay above the floor). Annealing takes the early gain and ends
where the priority clients alone end, not below: with step sizes :math:`2/(\mu(t+\gamma))` the last steps average anew
what came before. theta falls and rho rises with the threshold on these instances, as the paper says (in general one
more client may lower both). The bounds show nothing of the gain: their drift :math:`8(E-1)^2G^2` does not depend on the
threshold and makes up nearly all of them, and printed and corrected form nearly coincide.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _aligned_quadratics import measurements, prepared
from _repeated import span

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

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
    """Thresholds, rising; 0 is federated averaging on the priority clients and inf on all clients."""
    annealed_from: float = 2.0
    """First threshold of the schedule that falls to 0 at half time."""
    num_rounds: int = 400
    """Communication rounds."""
    local_steps: int = 5
    """Local steps E per round."""
    num_replicates: int = 100
    """Replicates per threshold and world."""
    seed: int = 0
    """Entropy of instance and noise."""


QUICK = Config(num_rounds=120, num_replicates=24, thresholds=(0.0, 0.5, 2.0, float("inf")))

WORLDS = ("pooled", "private")
BOUNDS = ("recursion", "corrected", "printed")
ANNEALED = "annealed"
# The corrected form and the printed one may be as good as equal: one is wide, the other dotted on top of it.
LOOKS: dict[str, dict[str, Any]] = {
    "recursion": {"color": "#D55E00", "linestyle": "--"},
    "corrected": {"color": "#009E73", "linewidth": 4, "alpha": 0.5},
    "printed": {"color": "#CC79A7", "linestyle": ":", "linewidth": 2},
}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run every threshold in both worlds, replay who was included, and evaluate the bounds after every round."""
    strategies = _thresholds(config)
    settings = {world: prepared(config, pooled=world == "pooled") for world in WORLDS}
    cases = [(world, name) for world in WORLDS for name in strategies]
    found = {
        (world, name): measurements(settings[world], strategies[name]) for world, name in progress(cases, "thresholds")
    }
    return _assembled(config, list(strategies), [[found[world, name] for name in strategies] for world in WORLDS])


def _thresholds(config: Config) -> dict[str, Any]:

    named: dict[str, Any] = {f"{eps:g}": eps for eps in config.thresholds}
    return {**named, ANNEALED: ft.selection.AnnealedThreshold(config.annealed_from, end=0.5)}


def _assembled(config: Config, names: list[str], records: list[list[dict[str, Any]]]) -> "Dataset":
    import xarray

    dims = {
        "error": ("side", "step"),
        "theta": ("limit", "step"),
        "rho": ("limit", "step"),
        "bound": ("form", "step"),
        "num_included": ("step",),
        "noise_free": (),
        "floor": (),
        "settled": (),
    }
    return xarray.Dataset(
        {
            name: (("world", "threshold", *own), [[record[name] for record in row] for row in records])
            for name, own in dims.items()
        },
        coords={
            "world": list(WORLDS),
            "threshold": names,
            "side": ["mean", "lower", "upper"],
            "limit": ["lower", "upper"],
            "form": list(BOUNDS),
            "step": config.local_steps * np.arange(1, config.num_rounds + 1),
        },
    )


def table(data: "Dataset") -> study.Table:
    """One row per world and threshold."""
    early = int(data.sizes["step"] // 10)
    rows = []
    for world in WORLDS:
        for name in data["threshold"].values:
            here = data.sel(world=world, threshold=name)
            mean, lower, upper = here["error"].isel(step=-1).values
            rows.append(
                {
                    "world": world,
                    "threshold": str(name),
                    "others included": float(here["num_included"].mean()),
                    f"error at T = {int(data['step'][early])}": float(here["error"].isel(side=0, step=early)),
                    f"error at T = {int(data['step'][-1])}": float(mean),
                    "+- (95%)": float(upper - lower) / 2,
                    "floor": float(here["floor"]) if here["settled"] else float("nan"),
                    "theta_T": float(here["theta"].isel(step=-1).mean("limit")),
                    "rho_T": float(here["rho"].isel(step=-1).mean("limit")),
                    **{form: float(here["bound"].sel(form=form)[-1]) for form in BOUNDS},
                }
            )
    caption = "floor: error at the limit if the inclusion pattern of the noise-free run settled, else nan."
    return study.Table(rows, title="FedALIGN against its threshold", caption=caption)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figures are taken to show."""
    recursion, corrected, printed = (data["bound"].sel(form=form) for form in BOUNDS)
    upper = data["error"].sel(side="upper")

    def at_least(larger: Any, smaller: Any) -> study.Check:
        ratio = float((larger / smaller).min())
        return study.Check(ratio >= 1 - 1e-9, f"smallest ratio {ratio:.4g}")

    fixed = data.isel(threshold=slice(0, -1), step=-1)
    # A step up in the threshold may undo at most what the confidence limits leave open.
    theta_rise = float((fixed["theta"][..., 0].diff("threshold")).max())
    rho_fall = float((-fixed["rho"][..., 1].diff("threshold")).max())
    settled = data.where(data["settled"] & (data["floor"] > 1e-12))
    off = float((settled["noise_free"] / settled["floor"] - 1).__abs__().max())
    pooled = data["error"].sel(world="pooled")
    early = int(data.sizes["step"] // 10)
    small = _shown(data)[1]
    gain = float(pooled.sel(threshold=small, side="upper")[early] / pooled.sel(threshold="0", side="lower")[early])
    end = data["error"].isel(step=-1)
    above = float((end.sel(threshold=ANNEALED, side="lower") / end.sel(threshold="0", side="upper")).max())
    below = float((end.sel(threshold=ANNEALED, side="upper") / end.sel(threshold="inf", side="lower")).max())
    nobody = data.sel(threshold="0", step=data["step"][-1])
    return {
        "the error stays below the unrolled recursion": at_least(recursion, upper),
        "unrolling never loses against the corrected form": at_least(corrected, recursion),
        "the error stays below the printed form": at_least(printed, upper),
        "theta falls with the threshold": study.Check(theta_rise <= 1e-3, f"largest rise {theta_rise:.3g}"),
        "rho rises with the threshold": study.Check(rho_fall <= 1e-3, f"largest fall {rho_fall:.3g}"),
        "without inclusion rho is 0": study.Check(float(abs(nobody["rho"]).max()) == 0.0, "at threshold 0"),
        "settled noise-free runs end at their floor": study.Check(off < 0.05, f"largest relative distance {off:.3g}"),
        "a small threshold is better early on": study.Check(gain < 1, f"upper over lower limit {gain:.3g}"),
        "annealing ends no higher than priority alone": study.Check(above < 1, f"lower over upper limit {above:.3g}"),
        "annealing ends lower than everybody": study.Check(below < 1, f"upper over lower limit {below:.3g}"),
    }


def _shown(data: "Dataset") -> list[str]:
    names = [str(name) for name in data["threshold"].values]
    middle = names[len(names) // 3]
    return ["0", middle, "inf", ANNEALED]


def time_figure(data: "Dataset") -> "Figure":
    """Error, theta_T and rho_T over time, one row per world."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, panels = plt.subplots(2, 3, figsize=(10.5, 6.2), sharex=True)
        for row, world in enumerate(WORLDS):
            error, theta, rho = panels[row]
            for i, name in enumerate(_shown(data)):
                here = data.sel(world=world, threshold=name)
                look: dict[str, Any] = {"label": f"threshold {name}", "color": COLORS[i], "marker": MARKERS[i]}
                error.set_yscale("log")
                error.set_xscale("log")
                measured(error, here["step"], *here["error"].values, **look)
                if here["settled"] and here["floor"] > 1e-12:
                    error.axhline(float(here["floor"]), color=COLORS[i], linestyle=":", linewidth=1)
                for axes, values in ((theta, here["theta"].values), (rho, here["rho"].values)):
                    measured(axes, here["step"], values.mean(axis=0), *values, **look)
            error.set_ylabel(f"{world} world\n$F(w) - F^*$")
            theta.set_ylabel(r"$\theta_T$")
            rho.set_ylabel(r"$\rho_T$")
            theta.set_ylim(0, 1)
        for axes, title in zip(panels[0], ("error; dotted: floor", "heterogeneity factor", "bias term"), strict=True):
            axes.set_title(title)
        for axes in panels[1]:
            axes.set_xlabel("local steps T")
        return legend_below(figure, num_columns=4)


def threshold_figure(data: "Dataset") -> "Figure":
    """Draw the final error with floor and bounds, and theta_T and rho_T, against the threshold."""
    import matplotlib.pyplot as plt

    names = [str(name) for name in data["threshold"].values]
    places = np.arange(len(names))
    with appearance():
        figure, panels = plt.subplots(2, 3, figsize=(10.5, 6.2), sharex=True)
        for row, world in enumerate(WORLDS):
            last = data.sel(world=world).isel(step=-1)
            error, terms, included = panels[row]
            mean, lower, upper = last["error"].transpose("side", "threshold").values
            error.errorbar(places, mean, [mean - lower, upper - mean], fmt="o", color=COLORS[0], label="error, 95%")
            floors = np.where(last["settled"], last["floor"], np.nan)
            error.plot(places, np.where(floors > 1e-12, floors, np.nan), "_", color="#000000", ms=14, label="floor")
            for form, dashes in LOOKS.items():
                error.plot(places, last["bound"].sel(form=form), label=f"{form} bound", **dashes)
            error.set_yscale("log")
            curves = (
                (terms, last["theta"].mean("limit"), {"marker": "s", "color": COLORS[1], "label": r"$\theta_T$"}),
                (terms, last["rho"].mean("limit"), {"marker": "^", "color": COLORS[2], "label": r"$\rho_T$"}),
                (included, data.sel(world=world)["num_included"].mean("step"), {"marker": "D", "color": COLORS[6]}),
            )
            for axes, values, look in curves:
                axes.plot(places[:-1], values[:-1], **look)
                axes.plot(places[-1:], values[-1:], marker=look["marker"], color=look["color"])
            error.set_ylabel(f"{world} world\ngap at the last step")
            included.set_ylabel("others included")
        titles = ("error, floor and bounds", "terms of Theorem 1", "inclusion")
        for axes, title in zip(panels[0], titles, strict=True):
            axes.set_title(title)
        for axes in panels[1]:
            axes.set_xticks(places, names, rotation=45)
            axes.set_xlabel("threshold")
        return legend_below(figure, num_columns=7)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    means = data["error"].sel(side="mean")
    ratios = means / means.sel(threshold="0")
    fixed = [str(name) for name in data["threshold"].values[1:] if name != ANNEALED]
    ahead = (ratios.sel(world="private", threshold=fixed) < 1).any("threshold")
    early = float(ratios.sel(world="pooled", threshold="0.5").min())
    large = ratios.sel(world="pooled", threshold=["1", "2", "4", "inf"]).isel(step=-1)
    return [
        f"a small threshold (0.5) lowers the early error by up to {100 * (1 - early):.0f}%",
        f"Large thresholds stop at {span(large)} times the error of the priority clients",
        f"past step {int(data['step'].values[ahead.values].max())} every fixed threshold loses",
    ]


STUDY = study.Study(
    name="fedalign_quadratic",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"fedalign_quadratic": time_figure, "fedalign_thresholds": threshold_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
