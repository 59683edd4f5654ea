r"""
Where does the proof of Theorem 3.1 lose?
=========================================

**Nearly everything in Lemma B.2, which replaces squared gradients by a bound on all of them.**

**Question.** The bound of Cho, Wang and Joshi (2020), Theorem 3.1, lies powers of ten above the error. Its proof in
Appendices B and C is a chain of two dozen inequalities from (27) to (67). Which of them give away how much?

**Method.** On quadratics of Appendix F every side of every inequality is a number. At each step the chain leads from
the exact :math:`\Delta_{t+1} = E|\bar w_{t+1} - w^*|^2` up to (64),
:math:`(1 - \eta_t\mu B)\Delta_t + \eta_t^2 C + \eta_t D`; what inequality j adds is its loss :math:`\ell_t^{(j)}`.
Unrolling (65) from :math:`\Delta_0` carries the losses along,

.. math:: \Lambda_{t+1}^{(j)} = (1 - \eta_t\mu B)\Lambda_t^{(j)} + \ell_t^{(j)},

so that the unrolled bound is exactly :math:`\Delta_T + \sum_j \Lambda_T^{(j)}`. Smoothness, the induction (66) and the
closed form (7) come on top. Expectations over cohorts are exact, since all of them are enumerated (so K is small). For
``rand`` the expectation over models is exact, too: all sides are quadratic in the model at the start of the round, and
a few points with its exact mean and covariance stand for its law. For ``pow-d``, whose selection depends on the model,
the models at the starts of rounds are those of simulated runs, and given these all is exact. There is no noise, so that
(40)-(42) lose nothing. G2 is proved, and the skews are the certified sides for which the theorem is true.

**Reading.** First figure, from top to bottom in the order of the proof: each bar leads from the bound before an
inequality to the bound after it, in powers of ten. Where much is lost already a bar is short; the table has each loss
by itself. Nearly all is lost in Lemma B.2, which is used twice, and there in two steps: squared gradients are replaced
by G2, which bounds them where the run starts and not where it goes (factors of 198 for ``rand`` and 85 for ``pow-d``),
and :math:`\eta_{t_0}` by :math:`2\eta_t`, with a share of the cohort counted in full (factor of 6.0). Of what comes
before, (33) costs most: for ``rand`` it alone makes the bound 296 times as large. (54) takes the cohort for independent
of the model that it made, which is false inside a round: its loss is negative, -18.3 and -0.4 times the error.

Second figure: the losses carried along up to step t, relative to :math:`\Delta_t`. For ``pow-d`` the loss by the
extreme skews is the only one that does not fall with the step size: in the end it is what remains of the bound.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below, log_log, log_places
from fedtheory.plotting.waterfalls import waterfall
from fedtheory.selection.laws import Moments

if TYPE_CHECKING:
    import _cohorts
    import _proof_of_theorem_31 as proof
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Losses of every inequality in the proof of Theorem 3.1, on quadratics where all sides are known."""

    num_clients: int = 12
    """Clients K; all cohorts are enumerated."""
    num_selected: int = 3
    """Clients per round m."""
    num_candidates: int = 6
    """Candidates d of pow-d."""
    num_rounds: int = 2_000
    """Communication rounds."""
    local_steps: int = 2
    """Local steps tau per round."""
    initial_scale: float = 10.0
    """Standard deviation of each coordinate of the starting model."""
    num_paths: int = 20
    """Simulated runs of pow-d that give the models at the starts of its rounds."""
    seed: int = 0
    """Entropy of instance, starting model and selections."""


QUICK = Config(num_clients=6, num_selected=2, num_candidates=4, num_rounds=120, num_paths=10)

_DRIFT, _SKEWS = "drift, Lemma B.2", "skews"
_CURVED, _AVERAGES, _FACTORS = "convexity and smoothness", "Jensen, AM-GM", "coefficients, induction"


FRAME = ("(67)  smoothness, F - F* by L/2 |w - w*|^2", "(66)  induction", "(7)  sum for the maximum")


def _kind(step: str) -> str:
    if step.startswith(("(37)", "(53)")):
        return _DRIFT
    if step.startswith(("(54)", "(55)")):
        return _SKEWS
    if any(word in step for word in ("convexity", "B.1", "smoothness")):
        return _CURVED
    return _FACTORS if "coefficient" in step or step in FRAME else _AVERAGES


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Follow both strategies and carry the losses of all inequalities along."""
    import _cohorts
    import xarray

    problem, start = np.random.SeedSequence(config.seed).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=config.num_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    etas = decaying_step_sizes(config.num_rounds * config.local_steps, mu=fed.strong_convexity, L=fed.smoothness)
    setting = _cohorts.Run(fed, config.num_selected, config.local_steps, etas, initial)
    rand = ft.selection.Proportional(config.num_selected)
    biased = ft.selection.PowerOfChoice(config.num_selected, config.num_candidates)
    paths = _cohorts.simulated_starts(setting, biased, config.num_paths, np.random.SeedSequence([config.seed, 1]))
    rounds = {
        "rand": (rand, _cohorts.exact_rounds(setting)),
        f"pow-d, d = {config.num_candidates}": (biased, _cohorts.rounds_from(setting, biased, paths)),
    }
    parts = [
        # the loop reports its progress by the step sizes, since the rounds themselves are made one after the other
        _followed(setting, strategy, (values for values, _ in zip(steps, progress(setting.rounds, name), strict=True)))
        for name, (strategy, steps) in rounds.items()
    ]
    return xarray.concat(parts, dim="strategy").assign_coords(strategy=list(rounds))


def _followed(problem: "_cohorts.Run", strategy: Any, rounds: Any) -> "Dataset":
    """Carry the losses from step to step, and compare every step with the library's one-step bound."""
    import _proof_of_theorem_31 as proof
    import xarray

    fed, known = problem.fed, _constants(problem, strategy)
    ledger = proof.carry(fed, known, problem.etas, rounds)
    shown = log_places(len(problem.etas) + 1, 120)
    return xarray.Dataset(
        {
            "carried": (("step", "inequality"), ledger.carried[shown]),
            "sampling": ("step", ledger.sampling[shown]),
            "distance2": ("step", ledger.distance2[shown]),
            **{name: ("step", values) for name, values in _unrolled(problem, known, shown).items()},
            "expected": ("step", _expected(problem, strategy, shown)),
            "smallest": ("inequality", ledger.smallest),
            "mismatch": ledger.mismatch,
            "skew": ("which", [known.rho_bar, known.rho_tilde]),
        },
        coords={
            "step": shown,
            "inequality": [f"{equation}  {reason}" for equation, reason in proof.INEQUALITIES],
            "which": ["rho_bar", "rho_tilde"],
        },
        attrs={"half_L": fed.smoothness / 2, "half_curvature": float(fed.weights @ fed.curvatures) / 2, "G2": known.G2},
    )


def _constants(problem: "_cohorts.Run", strategy: Any) -> "proof.Constants":
    import _proof_of_theorem_31 as proof

    skews = ft.exact.selection_skew(problem.fed, strategy, num_models=100)
    G2 = ft.federation.gradient_bound(problem.fed, problem.initial, problem.etas).G2
    return proof.Constants(problem.local_steps, problem.num_selected, G2, skews.rho_bar.lower, skews.rho_tilde.upper)


def _unrolled(problem: "_cohorts.Run", known: "proof.Constants", shown: Any) -> dict[str, Any]:
    """Bounds on the squared distance by (65) and (66), and on the gap by (7)."""
    import _proof_of_theorem_31 as proof

    fed, mu, L = problem.fed, problem.fed.strong_convexity, problem.fed.smoothness
    distances = [float(np.sum((problem.initial - fed.minimizer) ** 2))]
    for eta in problem.etas:
        distances.append(float(proof.one_step(fed, known, distances[-1], eta)))
    C = 32 * known.local_steps**2 * known.G2 + 6 * known.rho_bar * L * fed.objective_gap
    D = 2 * fed.objective_gap * (known.rho_tilde - known.rho_bar)
    gamma = 4 * L / mu
    psi = np.maximum(gamma * distances[0], 8 / (3 * known.rho_bar) * (C / mu**2 + D * (shown + gamma) / mu))
    closed = poc.decaying_steps_gap.printed(shown, initial_distance2=distances[0], **proof.constants(fed, known))
    return {"unrolled": np.array(distances)[shown], "induction": psi / (shown + gamma), "printed": closed}


def _expected(problem: "_cohorts.Run", strategy: Any, shown: Any) -> Any:
    """Exact gap by the moment recursion at the ends of rounds, NaN elsewhere: a second road for rand."""
    result, tau = np.full(len(shown), np.nan), problem.local_steps
    if isinstance(strategy.law(problem.fed.weights), Moments):
        gaps = ft.exact.expected_gap(
            problem.fed, strategy, len(problem.etas) // tau, tau, problem.etas, problem.initial
        )
        whole = shown % tau == 0
        result[whole] = gaps[shown[whole] // tau]
    return result


def _levels(here: "Dataset") -> Any:
    """Bounds on the gap at one step: the gap itself, and the bound after every inequality in the proof's order."""
    half_L = here.attrs["half_L"]
    distance2, carried = float(here["distance2"]), here["carried"].values
    # What sampling adds is no loss of the proof; it is part of the exact starting value of what follows.
    after = distance2 + float(here["sampling"]) + np.concatenate([[0.0], np.cumsum(carried)])
    ends = [half_L * float(here["induction"]), float(here["printed"])]
    return np.array([here.attrs["half_curvature"] * distance2, *(half_L * after), *ends])


def _steps(data: "Dataset") -> list[str]:
    return [FRAME[0], *map(str, data["inequality"].values), *FRAME[1:]]


def table(data: "Dataset") -> study.Table:
    """One row per inequality, in the order of the proof."""
    last = data.isel(step=-1)
    rows: list[dict[str, Any]] = [{"inequality": step} for step in _steps(data)]
    for name in data["strategy"].values:
        levels = _levels(last.sel(strategy=name))
        for row, before, after in zip(rows, levels[:-1], levels[1:], strict=True):
            row[f"{name}: bound after it / error"] = float(after / levels[0])
            row[f"{name}: loss by itself / error"] = float((after - before) / levels[0])
    errors = ", ".join(f"{name} {_levels(last.sel(strategy=name))[0]:.3g}" for name in data["strategy"].values)
    return study.Table(
        rows,
        title=f"From the error to the bound of Theorem 3.1 after {int(data['step'][-1])} local steps",
        caption=f"Error F - F*: {errors}. The negative loss is a false step: (54) takes the cohort for independent of "
        "the model that it made.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test that the chain is complete, and what the figures are taken to show."""
    total = data["distance2"] + data["sampling"] + data["carried"].sum("inequality")
    apart = float(abs(total / data["unrolled"] - 1).max())
    mismatch = float(data["mismatch"].max())
    rand = data.sel(strategy="rand")
    second = float(abs(data.attrs["half_curvature"] * rand["distance2"] / rand["expected"] - 1).max())
    sampled = float(abs(data["sampling"] / data["unrolled"]).max())
    smallest = data["smallest"].min("strategy")
    negative = [str(label) for label in smallest["inequality"].values[smallest.values < -1e-12]]
    ordered = bool((data["printed"] >= data.attrs["half_L"] * data["induction"] * (1 - 1e-9)).all()) and bool(
        (data["induction"] >= data["unrolled"] * (1 - 1e-9)).all()
    )
    false_step = [label for label in _steps(data) if label.startswith("(54)")]
    return {
        "the inequalities of every step add up to (64)": study.Check(mismatch < 1e-9, f"relative error {mismatch:.1e}"),
        "the losses carried along add up to the unrolled bound": study.Check(
            apart < 1e-9, f"relative error {apart:.1e}"
        ),
        "the law of rand is that of the moment recursion": study.Check(second < 1e-9, f"relative error {second:.1e}"),
        "sampled models shift the bound little": study.Check(sampled < 0.02, f"largest share {sampled:.1e}"),
        "no inequality but (54) is false": study.Check(negative == false_step, f"false somewhere: {negative}"),
        "unrolled, induction and closed form are ordered": study.Check(ordered, "at every step"),
    }


def waterfall_figure(data: "Dataset") -> "Figure":
    """From the error to the bound at the last step, one panel per strategy."""
    import matplotlib.pyplot as plt

    last, steps = data.isel(step=-1), _steps(data)
    names = data["strategy"].values
    with appearance():
        figure, panels = plt.subplots(1, len(names), figsize=(5.6 * len(names), 7.4), sharey=True)
        for axes, name in zip(panels, names, strict=True):
            levels = _levels(last.sel(strategy=name))
            waterfall(axes, levels, steps, groups=list(map(_kind, steps)))
            axes.set_xlim(left=np.log10(levels[0]) - 0.3)
            axes.axvline(np.log10(levels[0]), color="black", linestyle=":", label="error $F - F^*$")
            axes.set_xlabel(r"$\log_{10}$ of the bound on $\mathrm{E}F(w) - F^*$")
            rho_bar, rho_tilde = map(float, last.sel(strategy=name)["skew"])
            axes.set_title(rf"{name}: $\bar\rho = {rho_bar:.2g}$, $\tilde\rho = {rho_tilde:.3g}$")
        figure.suptitle(f"Theorem 3.1 after {int(data['step'][-1])} local steps", fontsize=11)
        return legend_below(figure, num_columns=4)


def over_time_figure(data: "Dataset") -> "Figure":
    """Losses carried along, by kind and relative to the exact squared distance."""
    import matplotlib.pyplot as plt

    later = data.isel(step=slice(1, None))
    with appearance():
        figure, panels = plt.subplots(1, data.sizes["strategy"], figsize=(11, 4), sharey=True)
        for axes, name in zip(panels, data["strategy"].values, strict=True):
            here = later.sel(strategy=name)
            for kind, color, marker in zip(dict.fromkeys(map(_kind, _steps(data))), COLORS, MARKERS, strict=False):
                chosen = [label for label in data["inequality"].values if _kind(label) == kind]
                share = here["carried"].sel(inequality=chosen).sum("inequality") / here["distance2"]
                axes.plot(here["step"], share, color=color, marker=marker, markevery=12, label=kind)
            log_log(axes, xlabel="local steps t", ylabel=r"loss carried to t / $\mathrm{E}\,|w - w^*|^2$")
            axes.set_title(name)
            axes.label_outer()
        return legend_below(figure, num_columns=5)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    last = data.isel(step=-1)
    by_strategy = [last.sel(strategy=name) for name in data["strategy"].values]
    by_start, by_sizes = zip(*map(_lemma_b2, by_strategy), strict=True)
    rand = _levels(by_strategy[0])
    rows = [row for row in table(data).rows if str(row["inequality"]).startswith("(54)")]
    false_step = [rows[0][f"{name}: loss by itself / error"] for name in data["strategy"].values]
    return [
        f"(factors of {by_start[0]:.0f} for ``rand`` and {by_start[1]:.0f} for ``pow-d``)",
        f"(factor of {by_sizes[0]:.1f})",
        f"it alone makes the bound {rand[2] / rand[1]:.0f} times as large",
        f"its loss is negative, {false_step[0]:.1f} and {false_step[1]:.1f} times the error",
    ]


def _lemma_b2(here: "Dataset") -> tuple[float, float]:
    """Factors by which G2, and then the step sizes, raise the side of (37) that they enter, but for its small start."""
    first = [str(name).startswith("(37)") for name in here["inequality"].values]
    jensen, cauchy, gradients, sizes = here["carried"].values[first]
    before = jensen + cauchy
    return float((before + gradients) / before), float((before + gradients + sizes) / (before + gradients))


STUDY = study.Study(
    name="proof_slack",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"waterfall": waterfall_figure, "over_time": over_time_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
