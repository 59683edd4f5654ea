r"""
What does greedy selection by Shapley values converge to?
=========================================================

**To where the pulls of a few clients cancel, a bias that is tens of times that of uniform selection.**

**Question.** GreedyFed has no convergence theorem. On quadratic objectives every value is exact, and so is the gap of
the objective: does greedy selection reach the minimum, and if not, on which clients does it lock in, and how far away?

**Method.** Values are exact Shapley values of the objective F itself: no validation data could be better.

*Two clients*, one per round, whose local work ends at their minimizers :math:`c_1, c_2`. Let the minimizer of F be 0
and :math:`p_1 > p_2`, so that :math:`c_1 = -p_2 d`, :math:`c_2 = p_1 d` and :math:`F(w) - F^* = w^2/2`. A lone client's
value is the drop of F. Where the model stands at :math:`c_k`, another round of client k is worth 0, so that its mean
value is a sum divided by a growing count, and it is left only if the other mean is larger. Going from :math:`c_1` to
:math:`c_2` costs :math:`\Delta = (c_2^2 - c_1^2)/2`, and coming back gains it: the sum of client 2 falls until it is
not positive, and that of client 1 grows. Hence **client 1 is locked in, and the gap stays at** :math:`p_2^2 d^2/2`,
but for one case: client 1 has the first turn and :math:`w_0^2 < 2 c_1^2 - c_2^2 = (2 p_2^2 - p_1^2)\, d^2`, which
needs :math:`p_1 < 2 - \sqrt 2`. There both turns do harm, that of client 1 most, since it leaves a start near the
minimum: **client 2, the worse one, is locked in**, with the gap :math:`p_1^2 d^2/2`.

*Many clients*: the quadratics of Power-of-Choice, M per round, in the second half of a long run. With short steps the
model moves about the place where the mean pull of the chosen clients vanishes, which is a linear equation in how often
and with whom each client was chosen; its gap is the bias of the selection.

**Reading.** First figure: gaps after many rounds against the start, for both orders of the turns, and the law. Table
and second figure: greedy selection by the *latest* value (averaging 0) locks in on M clients for good, and ends where
their pulls cancel. With the *mean* of all values it never does: a sum that stays is divided by a growing count, so that
others come back, but it is as if there were 4.5 clients. The gap of the mean model (dotted) is the bias, 29 times that
of uniform selection with the mean and 139 times with the latest value. Uniform selection in turn moves about more, so
that its gap at any one time is no smaller: the bias shows when steps get shorter, or models are averaged.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import selection, study
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Where greedy selection by Shapley values ends on quadratics."""

    weights: tuple[float, ...] = (0.52, 0.56, 0.7)
    """Weights p_1 of the better of two clients."""
    num_starts: int = 41
    """Starts on both sides of the minimum."""
    pair_rounds: int = 400
    """Rounds with two clients."""
    num_replicates: int = 8
    """Replicates for each start, which draw the order of the turns."""
    num_clients: int = 30
    """Clients of the larger federation."""
    num_selected: int = 3
    """Clients per round M."""
    num_rounds: int = 4_000
    """Rounds of the larger federation."""
    local_steps: int = 5
    """Local steps."""
    num_federations: int = 8
    """Federations, and replicates of each."""
    seed: int = 0
    """Entropy."""


QUICK = Config(num_starts=9, pair_rounds=100, num_replicates=4, num_clients=8, num_rounds=300, num_federations=2)

STRATEGIES = ("GreedyFed, mean", "GreedyFed, latest", "UCB", "S-FedAvg", "uniform")
FOUND = ("gap", "bias", "predicted bias", "effective clients", "rounds that change the cohort")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Follow pairs of clients from every start, and the larger federations."""
    import xarray

    starts = np.linspace(-1.0, 1.0, config.num_starts)
    pairs = np.array([[_pair(config, p, w) for w in starts] for p in progress(config.weights, "pairs")])
    curves, found = zip(
        *(_federation(config, index) for index in progress(range(config.num_federations), "federations")), strict=True
    )
    kept = np.unique(np.geomspace(1, config.num_rounds + 1, 120).astype(int)) - 1
    return xarray.Dataset(
        {
            "pair_gap": (("p1", "start", "replicate"), pairs[..., 0]),
            "first": (("p1", "start", "replicate"), pairs[..., 1]),
            "gap": (("federation", "strategy", "round"), np.array(curves)[..., kept]),
            "late": (("federation", "strategy", "number"), np.array(found)),
        },
        coords={
            "p1": list(config.weights), "start": starts, "strategy": list(STRATEGIES), "round": kept,
            "number": list(FOUND),
        },
    )  # fmt: skip


def _pair(config: Config, p: float, start: float) -> Any:
    """Last gap and first client, for every replicate: curvature 1, and one step of size 1 to the local minimizer."""
    fed = ft.QuadraticFederation([1.0, 1.0], [[p - 1], [p]], [p, 1 - p])
    found = ft.fedavg(
        fed, selection.GreedyShapley(1, valuation="exact"), num_rounds=config.pair_rounds, step_size=1.0,
        initial=[start], num_replicates=config.num_replicates, rng=config.seed, record=("gap", "selected"),
    )  # fmt: skip
    return np.stack([found.gap[:, -1], found.recorded("selected")[:, 0, 0]], axis=-1)


def law(p: Any, start: Any, first: Any) -> Any:
    """Gap that two clients at distance 1 end with, by the closed form."""
    worse = (first == 0) & (start**2 < 2 * (1 - p) ** 2 - p**2)
    return np.where(worse, p**2, (1 - p) ** 2) / 2


def _federation(config: Config, index: int) -> tuple[Any, Any]:
    """Gaps of all strategies, and what the second half of each run shows."""
    fed = ft.datasets.power_of_choice_quadratics(config.num_clients, 5, config.seed + index)
    eta, m = 0.1 / fed.smoothness, config.num_selected
    strategies = (
        selection.GreedyShapley(m, valuation="exact"), selection.GreedyShapley(m, averaging=0.0, valuation="exact"),
        selection.UpperConfidenceShapley(m, valuation="exact"),
        selection.SoftmaxShapley(m, valuation="exact"), selection.SizeWeighted(selection.Uniform(m)),
    )  # fmt: skip
    runs = [
        ft.fedavg(
            fed, one, num_rounds=config.num_rounds, local_steps=config.local_steps, step_size=eta, rng=config.seed,
            initial=np.full(fed.dim, 5.0), record=("gap", "selected", "models"),
        )
        for one in strategies
    ]  # fmt: skip
    return [one.gap[0] for one in runs], [_late(fed, one, eta, config.local_steps) for one in runs]


def _late(fed: Any, run: Any, eta: float, steps: int) -> list[float]:
    """Numbers of ``FOUND`` in the second half of a run."""
    half = run.gap.shape[1] // 2
    cohorts = np.sort(run.recorded("selected")[0, half:-1].astype(int), axis=1)
    counts = np.bincount(cohorts.ravel(), minlength=fed.num_clients) / cohorts.size
    changes = float((cohorts[1:] != cohorts[:-1]).any(axis=1).mean())
    bias = float(fed.excess(run.models[0, half:-1].mean(axis=0)))
    predicted = float(fed.excess(_place_of_no_pull(fed, cohorts, eta, steps)))
    return [float(run.gap[0, half:].mean()), bias, predicted, float(1 / (counts**2).sum()), changes]


def _place_of_no_pull(fed: Any, cohorts: Any, eta: float, steps: int) -> Any:
    """Model at which the mean of the cohorts' updates q_k (1 - (1 - eta h_k)^tau) (c_k - w) is zero."""
    h = np.broadcast_to(fed.curvatures.reshape(fed.num_clients, -1), fed.centers.shape)
    shares = np.zeros(fed.num_clients)
    for cohort in cohorts:
        shares[cohort] += fed.weights[cohort] / fed.weights[cohort].sum()
    pull = shares[:, None] * (1 - (1 - eta * h) ** steps)
    return (pull * fed.centers).sum(axis=0) / pull.sum(axis=0)


def _agreement(data: "Dataset") -> float:
    """Share of runs with two clients that end where the law says."""
    predicted = law(data["p1"].values[:, None, None], data["start"].values[None, :, None], data["first"].values)
    return float(np.mean(np.abs(data["pair_gap"].values - predicted) < 1e-9))


def table(data: "Dataset") -> study.Table:
    """Show what the second halves of the runs had on average over the federations."""
    means = data["late"].mean("federation").values
    rows = [
        {"strategy": name} | dict(zip(FOUND, map(float, numbers), strict=True))
        for name, numbers in zip(STRATEGIES, means, strict=True)
    ]
    caption = f"Two clients: {_agreement(data):.1%} of the runs end where the law says."
    return study.Table(rows, title="Second half of the runs", caption=caption)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test the law of two clients, that latest values lock in, and where models are then."""
    share = _agreement(data)
    latest = data["late"].values[:, STRATEGIES.index("GreedyFed, latest")]
    greedy = data["late"].values[:, STRATEGIES.index("GreedyFed, mean")]
    still, apart = latest[:, 4] == 0, np.abs(latest[:, 1] / latest[:, 2] - 1)
    worst = float(apart[still].max()) if still.any() else np.inf
    off = float(np.median(np.abs(greedy[:, 1] / greedy[:, 2] - 1)))
    return {
        "two clients end where the law says": study.Check(share == 1.0, f"{share:.1%} of the runs"),
        "who is locked in by latest values decides the end": study.Check(worst < 1e-3, f"off by {worst:.1e} at most"),
        "frequencies predict the bias": study.Check(off < 0.2, f"off by {off:.1%} (median)"),
    }


def pair_figure(data: "Dataset") -> "Figure":
    """Last gap against the start: a panel for each weight, a color for each first client."""
    import matplotlib.pyplot as plt

    fine = np.linspace(-1, 1, 801)
    with appearance():
        figure, panels = plt.subplots(
            1, data.sizes["p1"], figsize=(3.2 * data.sizes["p1"], 3), layout="constrained", sharey=True, squeeze=False
        )
        for axes, p, gaps, firsts in zip(
            panels[0], data["p1"].values, data["pair_gap"].values, data["first"].values, strict=True
        ):
            for first in (0, 1):
                label = f"client {first + 1} has the first turn"
                axes.plot(fine, law(p, fine, np.full(fine.shape, first)), color=COLORS[first], label=f"law, {label}")
                start = np.broadcast_to(data["start"].values[:, None], gaps.shape)[firsts == first]
                axes.plot(
                    start,
                    gaps[firsts == first],
                    "o" if first == 0 else "x",
                    color=COLORS[first],
                    markersize=4,
                    label=label,
                )
            axes.set_title(f"$p_1$ = {p:g}")
            axes.set_xlabel("start $w_0$")
        panels[0, 0].set_ylabel("gap at the end")
        return legend_below(figure, num_columns=2)


def gap_figure(data: "Dataset") -> "Figure":
    """Gap against rounds, geometric mean over federations; dotted, the gap of the mean model."""
    import matplotlib.pyplot as plt

    half, last = float(data["round"][-1]) / 2, float(data["round"][-1])
    with appearance():
        figure, axes = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
        for place, name in enumerate(STRATEGIES):
            mean = np.exp(np.log(np.maximum(data["gap"].values[:, place], 1e-300)).mean(axis=0))
            look: Any = {"color": COLORS[place], "marker": MARKERS[place], "markersize": 4}
            every = (3 * place, 15)  # so that markers do not hide each other
            axes.plot(data["round"].values + 1, mean, label=name, linewidth=1.2, markevery=every, **look)
            bias = float(np.exp(np.log(data["late"].values[:, place, 1]).mean()))
            axes.plot([half, last], [bias, bias], linestyle=":", linewidth=2.5, **look)
        axes.plot([], [], color="black", linestyle=":", linewidth=2.5, label="mean model, second half")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("rounds + 1")
        axes.set_ylabel("gap (geometric mean)")
        return legend_below(figure, num_columns=3)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    mean, latest, *_, uniform = table(data).rows
    return [
        "by the *latest* value (averaging 0) locks in",
        f"as if there were {mean['effective clients']:.1f} clients",
        (
            f"is the bias, {mean['bias'] / uniform['bias']:.0f} times that of uniform selection with the mean and "
            f"{latest['bias'] / uniform['bias']:.0f} times with the latest value"
        ),
    ]


STUDY = study.Study(
    name="greedyfed_quadratic",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"two_clients": pair_figure, "gap_against_rounds": gap_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
