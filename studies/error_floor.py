r"""
Where does Power-of-Choice settle?
==================================

**At the minimum of one convex function, which can be computed: simulations end there, and the theorems' bias terms lie
far above.**

**Question.** Power-of-Choice converges to a model with a larger loss than the minimum (Cho, Wang and Joshi, 2020,
Figure 2). How high is this error floor, and how does it grow with the number d of candidates?

**Method.** Ranking by the losses maximizes the mean loss of the selected clients over all selection frequencies that
pow-d can have. So what the server descends is the convex function :math:`N(w) = E \frac1m \sum_{k \in S(w)} F_k(w)`,
and with small steps it settles at the minimizer of N: one convex program, solved with a duality gap, predicts the
floor. Against it stand

* long simulations from the optimum, with two fixed step sizes, averaged over the second half of the rounds and over
  replicates,
* the *mean field*: the round with its exact expected coefficients in place of a random cohort, without noise,
* the bias term of Theorem 3.1, as printed and as corrected, and the bias
  :math:`\Gamma(\tilde\rho/\rho_{diagonal} - 1)` that convexity alone gives for small steps.

**Reading.** Upper row: the floor, as a share of the objective gap Gamma, against d. Simulations and mean field lie on
the prediction, and the bias terms 0.65 to 5.19 powers of ten above. Lower row: ratios to the prediction, which approach
one as the steps get shorter. With d = m the floor is tiny but not zero, since drawing without replacement is not
exactly proportional to the weights; there the simulation shows the variance of the selection instead, which is
proportional to the step size, and is left out of the lower row.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import span

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.bound import theory
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below
from fedtheory.statistics import student_mean

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

BIASES = ("small-step bias", "corrected bias", "printed bias")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Predict, simulate and bound the floor for every number of candidates."""
    import xarray

    sizes = [_size(config, size, progress) for size in config.num_clients]
    data = xarray.concat(sizes, dim="num_clients", join="exact")
    return data.assign_coords(num_clients=list(config.num_clients))


def _size(config: Config, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=config.seed)
    m = max(1, round(config.selected_share * num_clients))
    counts = [max(m, round(share * num_clients)) for share in config.candidate_shares]
    least_ratios = ft.exact.subset_minima(fed)
    floors, gaps, mean_fields, bands, biases = [], [], [], [], []
    for d in progress(counts, f"K = {num_clients}"):
        strategy = ft.selection.PowerOfChoice(m, d)
        floor = ft.exact.error_floor(fed, strategy)
        floors.append(floor.value)
        gaps.append(floor.gap)
        mean_fields.append(_mean_field(config, fed, strategy))
        bands.append([_settled(config, fed, strategy, eta) for eta in config.step_sizes])
        biases.append(_biases(fed, strategy, least_ratios))
    return xarray.Dataset(
        {
            "floor": ("share", floors),
            "duality_gap": ("share", gaps),
            "mean_field": ("share", mean_fields),
            "simulated": (("share", "step_size", "side"), bands),
            "bias": (("share", "form"), biases),
            "candidates": ("share", counts),
            "selected": m,
            "objective_gap": fed.objective_gap,
        },
        coords={
            "share": list(config.candidate_shares),
            "step_size": list(config.step_sizes),
            "side": ["mean", "lower", "upper"],
            "form": list(BIASES),
        },
    )


def _settled(config: Config, fed: Any, strategy: Any, step_size: float) -> tuple[float, float, float]:
    """Mean gap over the second half of a run from the optimum, with its 95% limits over replicates."""
    num_rounds = round(config.run_time / (step_size * config.local_steps))
    every = max(1, num_rounds // 1000)
    found = ft.fedavg(
        fed, strategy, num_rounds=num_rounds, local_steps=config.local_steps, step_size=step_size, record_every=every,
        initial=fed.minimizer, num_replicates=config.num_replicates, rng=np.random.SeedSequence([config.seed, 1]),
    )  # fmt: skip
    settled = found.gap[:, found.gap.shape[1] // 2 :].mean(axis=1)
    lower, upper = student_mean(settled)
    return float(settled.mean()), float(lower), float(upper)


def _mean_field(config: Config, fed: Any, strategy: Any) -> float:
    """Return the mean of the last quarter of the mean-field recursion with the longest step."""
    step_size = config.step_sizes[0]
    num_rounds = round(config.run_time / (step_size * config.local_steps))
    gaps = ft.exact.mean_field_gap(fed, strategy, num_rounds, config.local_steps, step_size, fed.minimizer)
    return float(gaps[-num_rounds // 4 :].mean())


def _biases(fed: Any, strategy: Any, least_ratios: Any) -> tuple[float, float, float]:
    """Return the small-step bias, and the limits of the corrected and the printed Theorem 3.1 for many steps."""
    skews = ft.exact.selection_skew(fed, strategy, num_models=100, least_ratios=least_ratios)
    gap, kappa = fed.objective_gap, fed.smoothness / fed.strong_convexity
    tilde, diagonal, bar = skews.rho_tilde.upper, skews.rho_diagonal.lower, skews.rho_bar.lower
    # The corrected theorem takes skews up to 79, which is far above what occurs here.
    corrected = 8 * kappa * gap * (tilde - diagonal) / (8 + 3 * diagonal)
    printed = 8 / 3 * kappa * gap * (tilde / bar - 1) if bar > 0 else float("inf")
    return gap * (tilde / diagonal - 1), corrected, printed


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


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    biased = data.isel(share=slice(1, None))
    apart = abs(biased["simulated"].sel(side="mean") / biased["floor"] - 1).max(["share", "num_clients"])
    longest, shortest = float(apart[0]), float(apart[-1])
    field = float(abs(biased["mean_field"] / biased["floor"] - 1).max())
    certified = float((data["duality_gap"] / data["objective_gap"]).max())
    tightest = float((data["bias"] / data["floor"]).min())
    steps = np.diff(data["floor"].values, axis=data["floor"].dims.index("share"))
    return {
        "the simulated error is the floor": study.Check(shortest < 0.1, f"apart by at most {shortest:.3f}"),
        "shorter steps come nearer": study.Check(shortest < longest, f"{shortest:.3f} after {longest:.3f}"),
        "the mean field settles at the floor": study.Check(field < 0.1, f"apart by at most {field:.3f}"),
        "the duality gap is closed": study.Check(certified < 1e-6, f"at most {certified:.1e} objective gaps"),
        "no bias term is below the floor": study.Check(tightest >= 1, f"smallest ratio {tightest:.2f}"),
        "more candidates, higher floor": study.Check(bool((steps > 0).all()), f"smallest step {steps.min():.2g}"),
    }


def floor_figure(data: "Dataset") -> "Figure":
    """One column per size: the floor, and ratios to the prediction."""
    import matplotlib.pyplot as plt

    columns = data.sizes["num_clients"]
    with appearance():
        figure, panels = plt.subplots(
            2, columns, figsize=(1 + 4.6 * columns, 7), sharex="col", sharey="row", squeeze=False,
            gridspec_kw={"height_ratios": [3, 2]},
        )  # fmt: skip
        for column, size in enumerate(data["num_clients"].values):
            here = data.sel(num_clients=size)
            d, floor, scale = here["candidates"].values, here["floor"].values, float(here["objective_gap"])
            top, bottom = panels[:, column]
            for rank, form in enumerate(BIASES):
                theory(top, d, here["bias"].sel(form=form).values / scale, label=form, rank=rank)
            # Simulated errors are above their limit for short steps, which is what the terms of bias bound: below.
            _limits(top, here, np.full(d.size, scale))
            _limits(bottom, here.isel(share=slice(1, None)), floor[1:])
            _simulated(bottom, here.isel(share=slice(1, None)), floor[1:])
            top.set_yscale("log")
            top.set_title(f"K = {size} clients, m = {int(here['selected'])} selected")
            bottom.set_xlabel("candidates d")
        panels[0, 0].set_ylabel(r"$(F - F^*)\,/\,\Gamma$")
        panels[1, 0].set_ylabel("ratio to the predicted floor")
        return legend_below(figure, num_columns=min(4, 2 * columns))


def _limits(axes: Any, here: "Dataset", unit: Any) -> None:

    d = here["candidates"].values
    axes.plot(d, here["floor"] / unit, color="black", linewidth=1.2, label="predicted floor")
    axes.plot(d, here["mean_field"] / unit, "x", color="black", markersize=7, label="mean field")


def _simulated(axes: Any, here: "Dataset", unit: Any) -> None:

    d = here["candidates"].values
    for step_size, color, marker in zip(here["step_size"].values, COLORS[5::-5], MARKERS, strict=False):
        mean, lower, upper = here["simulated"].sel(step_size=step_size).values.T / unit
        axes.errorbar(
            d, mean, [mean - lower, upper - mean], color=color, marker=marker, fillstyle="none", linestyle="none",
            capsize=2, label=f"simulated, steps of {step_size:g}",
        )  # fmt: skip


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    return [f"the bias terms {span(np.log10(data['bias'] / data['floor']), 2)} powers of ten above"]


STUDY = study.Study(
    name="error_floor",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"error_floor": floor_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
