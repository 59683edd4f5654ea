r"""
Error and bounds of Power-of-Choice
===================================

**Question.** Theorem 3.1 of Cho, Wang and Joshi (2020) and Theorem A.1, for a fixed step size, bound the expected gap
:math:`F(w_T) - F^*` of federated averaging with biased client selection. How many orders of magnitude lie between the
bound and the error? How much smaller are tighter forms of the bound?

**Method.** The instance is that of Appendix F: quadratic clients with known constants. L, mu, Gamma and the distance to
the optimum are exact. The gradient bound G2 is proved for a region that no iterate leaves. Each skew is replaced by the
conservative end of its interval. Five strategies run with both kinds of step sizes, :math:`1/(\mu(t + 4L/\mu))` and
fixed. The mean gap over replicates is compared with four bounds: the *printed* and the *corrected* closed form, the
*one-step inequality* (repaired, and unrolled over the steps), and the *round lemma* (the inequality of a whole round,
which needs no bound on gradients, unrolled over the rounds).

**Figure.** Error and bounds of pow-d with decaying step sizes. The labels state how far each bound ends above the
error.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _power_of_choice_bounds import BOUNDS, SIDES, answer
from _repeated import span
from _slides import name_ends

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance, log_log

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Measured error against the bounds of Power-of-Choice, on quadratics where every constant is known."""

    num_clients: int = 30
    """Clients K."""
    num_selected: int = 3
    """Clients per round m."""
    num_candidates: tuple[int, ...] = (6, 9, 30)
    """Candidates d of pow-d; the figure shows the second number."""
    num_rounds: int = 15_000
    """Communication rounds; adapow-d halves its candidates every third of them."""
    local_steps: int = 2
    """Local steps tau per round."""
    fixed_step_size: float = 1e-3
    """The fixed step size, at most 1/(4 L)."""
    gradient_noise: float = 0.0
    """Variance of the gradient noise; the paper's quadratics have none."""
    initial_scale: float = 10.0
    """Standard deviation of each coordinate of the starting model."""
    num_replicates: int = 100
    """Replicates per strategy."""
    seed: int = 0
    """Entropy of instance, starting model and selections."""


QUICK = Config(num_clients=8, num_selected=2, num_candidates=(4, 8), num_rounds=300, num_replicates=20)

NAMES = {
    "printed": "Theorem 3.1 as printed",
    "corrected": "Theorem 3.1, corrected",
    "recursion": "one-step inequality, unrolled",
    "round lemma": "round lemma, unrolled",
}
DASHES = {"printed": ":", "corrected": "-.", "recursion": "--", "round lemma": (0, (6, 1))}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Simulate every strategy with both kinds of step sizes, and evaluate the bounds along the runs."""
    m = config.num_selected
    strategies: dict[str, Any] = {
        "rand": ft.selection.Proportional(m),
        **{f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d) for d in config.num_candidates},
        "adapow-d": ft.selection.PowerOfChoice(m, ft.selection.HalvingCandidates(every=-(-config.num_rounds // 3))),
    }
    return answer(config, strategies, progress)


def _above(data: "Dataset") -> Any:
    """Orders of magnitude of each bound above the mean error after all steps."""
    last: Any = data.isel(step=-1)
    return np.log10(last["bound"]) - np.log10(last["error"].sel(side="mean"))


def _shown(data: Any) -> Any:
    """Select the strategy and the step sizes of the figure."""
    return data.isel(strategy=min(2, data.sizes["strategy"] - 1), regime=0)


def table(data: "Dataset") -> study.Table:
    """One row per strategy and kind of step sizes, at the last step."""
    rows: list[dict[str, Any]] = []
    for regime, name in itertools.product(map(str, data["regime"].values), map(str, data["strategy"].values)):
        here = {"strategy": name, "regime": regime}
        mean, lower, upper = map(float, data["error"].isel(step=-1).sel(here))
        row = {"steps": regime, "strategy": name, "error": mean, "+-": f"{(upper - lower) / 2:.1g}"}
        powers = zip(("lemma", "one step", "corrected", "printed"), _above(data).sel(here).values, strict=True)
        rows.append(row | {form: f"{power:.1f}" for form, power in powers})
    title = f"Error F - F* after {int(data['step'][-1]):,} local steps, with 95% limits"
    return study.Table(rows, title, "Lemma to printed: orders of magnitude of the bounds above the error.")


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare bounds with errors and with each other, and the simulation with its exact expectation."""
    above, d = _above(data), str(_shown(data)["strategy"].values).partition("d = ")[2]
    forms = dict(zip(BOUNDS, (data["bound"].sel(form=form) for form in BOUNDS), strict=True))
    power, shown = ({form: one.sel(form=form) for form in BOUNDS} for one in (above, _shown(above)))
    ratios = [float((data["bound"] / data["error"].sel(side="upper")).min())]
    ratios += [float((forms[more] / forms[less]).min()) for less, more in itertools.pairwise(BOUNDS)]
    gains = [power[more] - power[less] for less, more in itertools.pairwise(BOUNDS)]
    rand, printed = data["strategy"] == "rand", 10 ** gains[2].sel(regime="decaying")
    drift = data["dominating"].sel(regime="decaying").values.tolist()
    mean, lower, upper = (data["error"].sel(strategy="rand", side=side) for side in SIDES)
    exact = data["exact"].sel(strategy="rand")
    # Half a band is about two standard errors; five of them leave room for the many correlated steps.
    off = float((abs(mean - exact) / (1.25 * (upper - lower) + 1e-9 * exact)).max())
    return {
        "figure": study.Finding(
            f"Power-of-Choice with d = {d} candidates out of K = {data.attrs['num_clients']} clients: the printed "
            f"theorem ends {float(shown['printed']):.1f} orders of magnitude above the error, the round lemma "
            f"{float(shown['round lemma']):.1f} orders.",
            bool(shown["printed"] > shown["round lemma"] > 0),
        ),
        "ends": study.Finding(
            f"Over {data.sizes['strategy']} strategies and two kinds of step sizes, the printed theorem ends "
            f"{span(power['printed'])} orders of magnitude above the error, the round lemma of this library "
            f"{span(power['round lemma'])} orders.",
            bool(power["printed"].min() > power["round lemma"].max()),
        ),
        "bounds hold": study.Finding(
            f"At every step all bounds lie above the error: the smallest ratio is {ratios[0]:.2f}.", ratios[0] >= 1
        ),
        "order": study.Finding(
            "At every step the round lemma gives the smallest bound, followed by the one-step inequality, the "
            "corrected theorem, and the printed theorem.",
            min(ratios[1:]) >= 1 - 1e-9,
            f"smallest ratios {np.round(ratios[1:], 4)}",
        ),
        "printed": study.Finding(
            f"With decaying step sizes the printed theorem ends at {span(printed)} times the corrected one.",
            bool(printed.min() >= 1 and printed.max() > 2),
        ),
        "drift": study.Finding(
            "With decaying step sizes the largest term of the corrected theorem is the drift 32 tau^2 G2.",
            set(drift) == {"drift"},
            f"largest terms: {', '.join(drift)}",
        ),
        "unrolling": study.Finding(
            f"The one-step inequality ends {span(gains[1])} orders of magnitude below the corrected theorem.",
            bool(gains[1].min() > 1),
        ),
        "round lemma": study.Finding(
            f"The round lemma ends another {span(gains[0][rand])} orders of magnitude lower for random selection, and "
            f"{span(gains[0][~rand])} orders for biased selection.",
            bool(gains[0].min() > 0),
        ),
        "exact": study.Finding(
            "The simulated error of random selection agrees with its exact expectation.",
            off < 1,
            f"largest distance {off:.2f} times five standard errors",
        ),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw error and bounds of one strategy; the labels state the distance of each bound from the error."""
    import matplotlib.pyplot as plt

    here, above = _shown(data).isel(step=slice(1, None)), _shown(_above(data))
    steps, (mean, lower, upper) = here["step"].values, here["error"].values
    with appearance():
        drawn, axes = plt.subplots(figsize=(8, 4.4))
        log_log(axes, xlabel="local steps T", ylabel=r"$F(w_T) - F^*$")
        axes.plot(steps, mean, color="black", linewidth=2.2)
        axes.fill_between(steps, lower, upper, color="0.75")
        name = str(here["strategy"].values)
        ends = {f"measured error of\n{name}, with 95% limits": (float(mean[-1]), "black")}
        for color, form in zip(COLORS, reversed(BOUNDS), strict=False):
            bound, power = here["bound"].sel(form=form).values, float(above.sel(form=form))
            axes.plot(steps, bound, color=color, linestyle=DASHES[form])
            ends[f"{NAMES[form]}\n$10^{{{power:.1f}}}$ times the error"] = float(bound[-1]), color
        axes.set_xlim(steps[0], steps[-1])
        name_ends(axes, ends)
        axes.spines[["top", "right"]].set_visible(False)
        return drawn


STUDY = study.Study("bound_versus_error", Config(), QUICK, run, table, findings, {"bound_versus_error": figure})

if __name__ == "__main__":
    study.main(STUDY)
