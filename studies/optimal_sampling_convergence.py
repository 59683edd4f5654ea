r"""
What does optimal client sampling gain, per round and per bit?
==============================================================

**Per round it allows steps nearly as long as full participation does; per bit it wins until its own noise stops it.**

**Question.** Chen, Horvath and Richtarik (2022) let every client compute an update and decide by its norm who sends it.
How close does that come to full participation, what does it cost in bits, and do the theorems foresee the gain?

**Method.** Two problems whose constants are all known: strongly convex quadratics, and the non-convex wells
:math:`f_i(x)=\sum_ja_j\phi(x_j)+\langle b_i,x\rangle` with :math:`\phi(t)=t^2/(1+t^2)`. Few clients matter: shares of
the data and distances between the clients' optima are log-normal. Each problem is solved by DSGD (one local step) and
by FedAvg. With the same step size, the longest that the theorems allow to uniform sampling
(:math:`\gamma = m/n`), run full participation, independent uniform sampling, OCS (optimal probabilities) and AOCS
(approximated by sums). Full participation and OCS also run with the longest steps that the theorems allow to them; for
OCS that is set by the smallest :math:`\gamma^k` of its first run, less a tenth, and checked on the new run.

Bits are 64 for each number sent to the server: the updates, and the norms and sums that (A)OCS needs to find its
probabilities. The improvement factor :math:`\alpha^k`, a ratio of expectations, is estimated from all replicates, with
fresh gradient noise, and gives :math:`\gamma^k = m/(\alpha^k(n-m)+m)`.

**Reading.** First figure: error against rounds above, against bits below. With equal steps all strategies start alike;
uniform sampling stops first, at the error that its own noise makes, then OCS, then full participation. AOCS *is* OCS as
soon as m - 1 rescalings are allowed (Theorem A of the documentation), so the rounds need no line of it; the bits show
what its rescalings send, which weighs the less the larger the model. With longer steps OCS needs fewer rounds than
uniform sampling and still ends below it. The steps decide about the bits, too: to a given error one needs about
:math:`1/\gamma` rounds with the longest steps, which is n updates of full and of uniform participation alike, but
:math:`m/\gamma = \alpha(n-m)+m` of OCS. Down to the error at which it stops; below that, only full participation goes.

Second figure: the theorems against the runs, Theorem 13 or 17 unrolled over the rounds, with the measured
:math:`\gamma^k` for OCS, and exact expectations where the sampling does not look at the updates. For wells Theorems 15
and 18 bound the squared gradient, averaged over the rounds so far. They order the strategies as the runs do.
FedAvg pays for its drift with steps an eighth as long, and with half the rate in the bound. Third figure:
:math:`\alpha^k`. Far from the optimum all clients pull alike, up to their shares of the data; near it the few that
disagree are left.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import study
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below, log_log

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Full, uniform, optimal and approximately optimal client sampling: error per round and per bit, with bounds."""

    num_clients: int = 20
    """Clients n."""
    expected_size: int = 4
    """Expected number m of clients that send."""
    dim: int = 200
    """Parameters of the model, which decide how much the norms weigh beside the updates."""
    num_rounds: int = 1_000
    """Communication rounds."""
    local_steps: int = 4
    """Local steps R of FedAvg; DSGD takes one."""
    gradient_noise: float = 0.1
    """Variance sigma^2 of the gradient noise."""
    dispersion: float = 1.0
    """Standard deviation of the logarithms of data shares and of distances between the clients' optima."""
    max_iterations: int = 4
    """Rescalings allowed to AOCS."""
    num_recorded: int = 120
    """Rounds whose errors and bounds are kept, evenly spread on a logarithmic axis; all are looked at."""
    num_places: int = 25
    """Rounds at which the improvement factor is estimated."""
    num_replicates: int = 20
    """Replicates per strategy; the bands are 95% intervals over them."""
    seed: int = 0
    """Entropy of instances, noise and coins."""


QUICK = Config(num_clients=15, expected_size=3, dim=60, num_rounds=200, local_steps=2, num_places=8)

PROBLEMS = ("quadratics", "wells")
METHODS = ("DSGD", "FedAvg")
STRATEGIES = ("full", "full, longest steps", "uniform", "OCS", "AOCS", "OCS, longest steps")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run every strategy with every method on every problem."""
    import _sampling_runs as runs
    import xarray

    pairs = list(itertools.product(PROBLEMS, METHODS))
    answers = [runs.answer(config, problem, method, STRATEGIES) for problem, method in progress(pairs, "runs")]
    data = xarray.concat(answers, dim="setting")
    return data.assign_coords(setting=[f"{problem}, {method}" for problem, method in pairs])


def table(data: "Dataset") -> study.Table:
    """One row per setting and strategy."""
    rows: list[dict[str, Any]] = []
    for setting in map(str, data["setting"].values):
        reached = data["reached_bits"].sel(setting=setting)
        for name in STRATEGIES:
            here, bits = data.sel(setting=setting, strategy=name), float(reached.sel(strategy=name))
            mean, lower, upper = here["third"].isel(part=-1).values
            last = here.isel(round=-1)
            rows.append({
                "problem, method": setting,
                "strategy": name,
                "step size": float(here["step"]),
                "final gap": float(mean),
                "+- (95%)": float(upper - lower) / 2,
                "rounds": float(here["reached_rounds"]),
                "Mbit": bits / 1e6,
                "bits / uniform": bits / float(reached.sel(strategy="uniform")),
                "bits / full, longest": bits / float(reached.sel(strategy="full, longest steps")),
                "alpha": float(here["alpha"].mean()),
                "bound / measured": float(last["bound"] / last["bounded"].sel(side="mean")),
            })  # fmt: skip
    caption = (
        "Final gap: average over the last third of the rounds. Rounds and Mbit: until the mean gap is twice that of "
        "uniform sampling. Bound / measured: at the end, gap of quadratics and averaged squared gradient of wells."
    )
    return study.Table(rows, title="Error, rounds and bits of client sampling", caption=caption)


def _increasing(*values: Any) -> study.Check:
    """Whether each is larger than the one before, place by place."""
    words = (" < ".join(f"{value:.3g}" for value in column) for column in np.transpose(values))
    return study.Check(bool((np.diff(values, axis=0) > 0).all()), "; ".join(words))


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figures are taken to show."""
    exact = data["exact_third"].values
    mean, lower, upper = (data["third"].sel(side=side).values for side in ("mean", "lower", "upper"))
    # Half a band is about two standard errors, so this is five.
    deviation = float(np.nanmax(abs(mean - exact) / (1.25 * (upper - lower))))
    ratios = data["bound"] / data["bounded"].sel(side="upper")
    tightest = min(float(ratios.min()), float(data["nearest"].min()))
    alpha = data["alpha"].sel(strategy=["OCS", "AOCS", "OCS, longest steps"])
    curves = data["gap"].sel(side="mean")
    recorded = abs(curves.sel(strategy="AOCS") / curves.sel(strategy="OCS") - 1)
    same = max(float(recorded.max()), float(data["from_ocs"].sel(strategy="AOCS").max()))
    ends = data["third"].sel(side="mean").isel(part=-1)
    full, ocs, uniform = (ends.sel(strategy=name).values for name in ("full", "OCS", "uniform"))
    slack = float((data["gamma"].min("place") / data["needed_gamma"]).sel(strategy="OCS, longest steps").min())
    return {
        "full and uniform agree with their exact expectation": study.Check(
            deviation < 1, f"largest distance {deviation:.2f} times five standard errors"
        ),
        "the bounds lie above the measurements": study.Check(tightest >= 1, f"smallest ratio {tightest:.3g}"),
        "the improvement factor lies in [0, 1]": study.Check(
            float(alpha.min()) >= 0 and float(alpha.max()) <= 1, f"{float(alpha.min()):.3f} to {float(alpha.max()):.3f}"
        ),
        "AOCS is OCS, round by round": study.Check(same < 1e-6, f"largest relative difference {same:.2g}"),
        "with equal steps OCS ends between full and uniform": _increasing(full, ocs, uniform),
        "the longest steps of OCS are ones that the theorem admits": study.Check(
            slack >= 1, f"smallest gamma / needed gamma {slack:.3f}"
        ),
        **_savings(data),
    }


def _savings(data: "Dataset") -> dict[str, study.Check]:
    """Test that OCS saves rounds and bits when all take the longest steps that the theorems allow."""

    def most(what: str, name: str, others: tuple[str, ...]) -> study.Check:
        best = data[what].sel(strategy=list(others)).min("strategy")
        ratios = (data[what].sel(strategy=name) / best).values
        return study.Check(bool(ratios.max() < 1), "ratios " + ", ".join(f"{ratio:.2f}" for ratio in ratios))

    longest = ("uniform", "full, longest steps")
    return {
        "with the longest steps OCS needs fewer bits than uniform and full": most(
            "reached_bits", "OCS, longest steps", longest
        ),
        "with the longest steps OCS needs fewer rounds than uniform": most(
            "reached_rounds", "OCS, longest steps", ("uniform",)
        ),
    }


def _looks() -> dict[str, dict[str, str]]:

    looks = zip(STRATEGIES, COLORS, MARKERS, strict=False)
    return {name: {"color": color, "marker": marker} for name, color, marker in looks}


def convergence_figure(data: "Dataset") -> "Figure":
    """Error against rounds, and against bits."""
    import matplotlib.pyplot as plt

    looks, settings = _looks(), data["setting"].values
    shown = data.isel(round=slice(1, None))
    with appearance():
        figure, panels = plt.subplots(2, len(settings), figsize=(3.4 * len(settings), 7), sharey="col", squeeze=False)
        for column, setting in enumerate(settings):
            for row, axes in enumerate(panels[:, column]):
                log_log(axes, xlabel="communication round" if row == 0 else "Mbit sent to the server", ylabel="")
                for name in STRATEGIES:
                    here = shown.sel(setting=setting, strategy=name)
                    x = shown["round"].values if row == 0 else here["bits"].values / 1e6
                    if row == 1 or name != "AOCS":
                        measured(axes, x, *here["gap"].values, label=name, **looks[name])
            panels[0, column].set_title(str(setting))
        for axes in panels[:, 0]:
            axes.set_ylabel("$F(w) - F^*$")
        return legend_below(figure, num_columns=6)


def theory_figure(data: "Dataset") -> "Figure":
    """Draw what the theorems bound, their bounds, and exact expectations."""
    import matplotlib.pyplot as plt

    looks, settings = _looks(), data["setting"].values
    shown = data.isel(round=slice(1, None))
    with appearance():
        figure, panels = plt.subplots(1, len(settings), figsize=(3.4 * len(settings), 4.2), squeeze=False)
        for axes, setting in zip(panels[0], map(str, settings), strict=True):
            what = "$F(w) - F^*$" if setting.startswith("quadratics") else "average squared gradient"
            log_log(axes, xlabel="communication round", ylabel=what)
            for name in ("full", "uniform", "OCS"):
                here = shown.sel(setting=setting, strategy=name)
                measured(axes, shown["round"], *here["bounded"].values, label=name, **looks[name])
                axes.plot(shown["round"], here["bound"], color=looks[name]["color"], linestyle=(0, (5, 1.5)))
                axes.plot(shown["round"], here["exact"], color="black", linestyle=(0, (1, 2)), linewidth=1.2)
            axes.set_title(setting)
        panels[0, 0].plot([], [], color="#666666", linestyle=(0, (5, 1.5)), label="theorem")
        panels[0, 0].plot([], [], color="black", linestyle=(0, (1, 2)), label="exact expectation")
        return legend_below(figure, num_columns=5)


def improvement_figure(data: "Dataset") -> "Figure":
    """Improvement factor over the rounds."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, axes = plt.subplots(figsize=(6.5, 4.5))
        for setting, color, marker in zip(data["setting"].values, COLORS, MARKERS, strict=False):
            for name, dashes in (("OCS", "-"), ("OCS, longest steps", "--")):
                alpha = data["alpha"].sel(setting=setting, strategy=name)
                label = str(setting) + (", longest steps" if dashes == "--" else "")
                axes.plot(data["place"] + 1, alpha, color=color, marker=marker, linestyle=dashes, label=label)
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
        axes.set_xlabel("communication round")
        axes.set_ylabel("improvement factor (uniform sampling: 1)")
        return legend_below(figure, num_columns=2)


STUDY = study.Study(
    name="optimal_sampling_convergence",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"convergence": convergence_figure, "theory": theory_figure, "improvement": improvement_figure},
)

if __name__ == "__main__":
    study.main(STUDY)
