r"""
How much faster is Power-of-Choice on the paper's quadratics, and where does it end?
====================================================================================

**Up to twice as fast at first, and its final gap is that of random selection hundreds of times, and
more.**

**Question.** Cho, Wang and Joshi (2020) find on quadratics (their Figures 2 and 7) that pow-d, which trains the m of d
candidate clients with the largest losses, converges faster than random selection and ends on a floor, and that
adapow-d, which lets d fall to m, is as fast and has no floor. How large is the gain on their instance, and what does it
cost?

**Method.** Appendix F: :math:`F_k(w) = \tfrac12 h_k |w|^2 - e_k^\top w + \dots` with :math:`h_k \sim U(1, 20)` in
dimension 5, data shares from a power law, K = 30 and 100 clients of which a tenth is selected, two local steps of size
:math:`2\cdot10^{-5}`. The paper leaves :math:`e_k`, the starting model and the number of rounds open: here the first
two are Gaussian, and runs are four times as long as adapow-d takes from d = K to d = m, for it halves d every 5,000
rounds. A threshold is a fraction of the initial gap; the speed-up is the ratio of the rounds that random selection and
a strategy need to get below it, averaged geometrically over replicates and then over independently drawn instances,
with a 95% Student-t interval over the instances. The final gap is the mean over the last twentieth of the rounds.

**Reading.** First figure, upper row: the loss F, as in Figure 2; the dotted line is its minimum. Lower row: the gap
:math:`F - F^*`, where the error floors show. The second figure follows adapow-d down, as Figure 2c: at each dotted line
d halves, and the gap falls to the floor of the new d. The third is the selection profile of Figure 7: random selection
follows the data shares, pow-d does not.

The final gaps of pow-d are 239 to 16,132 times that of random selection, the more candidates the higher. That of
adapow-d is 1.02 [0.935, 1.12] times as large as that of random selection for K = 30 and 0.846 [0.725, 0.989] times for
K = 100: the paper is right that it has no floor, once d has come down to m. What is left with d = m, which is not
exactly unbiased, is below the noise of the selection, and that is a little smaller without replacement. On the way,
though, adapow-d waits on the floors of d = K, K/2, K/4, ...: from round 6,675 (K = 30) or 9,450 (K = 100) on,
until some thousand rounds after d has come down to m, its gap is larger than that of random selection.

The mean speed-ups lie between 1.2 and 1.9: 1.3 to 1.4 with d = 2m, 1.8 to 1.9 with d = 10m. The paper claims no number
for quadratics (its factor 3 is about Synthetic(1, 1)), and there is a reason why it could not be 3: far from the
optimum the losses rank clients by curvature, so that the contraction per step can grow by at most :math:`\max_k h_k /
\sum_k p_k h_k`, which is 1.9 on average when :math:`h_k \sim U(1, 20)`. The smaller the threshold, the smaller the
gain, and what lies below its floor pow-d never reaches.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import _power_of_choice_pictures as pictures
import numpy as np
from _repeated import fresh, mean_and_limits, span

import fedtheory as ft
from fedtheory import study
from fedtheory.selection.power_of_choice import HalvingCandidates

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy


@dataclass(frozen=True)
class Config:
    """Power-of-Choice on random quadratics: Figures 2 and 7 of the paper, with speed-ups and final gaps."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K, one column of panels each."""
    selected_share: float = 0.1
    """Share C of the clients that is selected in a round."""
    candidates_per_selected: tuple[int, ...] = (2, 3, 5, 10)
    """Candidates d of pow-d, as multiples of the number m of selected clients."""
    num_rounds: int = 60_000
    """Communication rounds."""
    halve_every: int = 5_000
    """Rounds after which adapow-d halves d, from K down to m."""
    local_steps: int = 2
    """Local steps tau per round."""
    step_size: float = 2e-5
    """Fixed step size."""
    initial_scale: float = 10.0
    """Standard deviation of each coordinate of the starting model."""
    thresholds: tuple[float, ...] = (0.5, 0.1, 0.01)
    """Fractions of the initial gap to reach."""
    num_instances: int = 8
    """Independently drawn federations; the figures show the first."""
    num_replicates: int = 20
    """Replicates per federation and strategy."""
    seed: int = 0
    """Entropy of instances, starting models and selections."""


QUICK = Config(
    num_clients=(30,),
    candidates_per_selected=(2, 10),
    num_rounds=6_000,
    halve_every=500,
    step_size=2e-4,
    num_instances=3,
    num_replicates=4,
)


RAND, ADAPTIVE = "rand", "adapow-d"


class _Curves(NamedTuple):
    """One strategy on one instance: rounds to each threshold per replicate, final gap, curves, shares of selections."""

    hits: Any
    final_gap: float
    band: Any
    shares: Any


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every instance."""
    import xarray

    sizes = []
    for size in config.num_clients:
        jobs = progress(range(config.num_instances), f"K = {size}")
        sizes.append(_assemble(config, size, [_instance(config, size, index) for index in jobs]))
    data = xarray.concat(sizes, dim="num_clients", join="outer")
    return data.assign_coords(num_clients=list(config.num_clients))


def _strategies(config: Config, num_clients: int) -> "dict[str, Strategy]":

    m = max(1, round(config.selected_share * num_clients))
    by_size = {
        f"pow-d, d = {c}m": ft.selection.PowerOfChoice(m, min(c * m, num_clients))
        for c in config.candidates_per_selected
    }
    halving = HalvingCandidates(every=config.halve_every)
    return {RAND: ft.selection.Proportional(m), **by_size, ADAPTIVE: ft.selection.PowerOfChoice(m, halving)}


def _instance(config: Config, num_clients: int, index: int) -> dict[str, Any]:

    problem, start, selection = np.random.SeedSequence([config.seed, num_clients, index]).spawn(3)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    curves = {
        name: _simulate(config, fed, strategy, initial, selection)
        for name, strategy in _strategies(config, num_clients).items()
    }
    ceiling = fed.smoothness / fed.mean_curvature[0, 0]
    return {"curves": curves, "minimum": fed.minimum, "weights": fed.weights, "ceiling": ceiling}


def _simulate(config: Config, fed: Any, strategy: "Strategy", initial: Any, selection: Any) -> _Curves:

    trajectory = ft.fedavg(
        fed,
        strategy,
        num_rounds=config.num_rounds,
        local_steps=config.local_steps,
        step_size=config.step_size,
        initial=initial,
        num_replicates=config.num_replicates,
        rng=fresh(selection),
    )
    gap = trajectory.gap
    below = gap[:, None, :] <= np.asarray(config.thresholds)[:, None] * gap[0, 0]
    hits = np.where(below.any(axis=-1), below.argmax(axis=-1), np.nan)
    shares = trajectory.counts.sum(axis=0) / trajectory.counts.sum()
    return _Curves(hits, float(gap[:, -(config.num_rounds // 20) :].mean()), np.stack(trajectory.band("gap")), shares)


def _assemble(config: Config, num_clients: int, instances: list[dict[str, Any]]) -> "Dataset":
    import xarray

    names = list(instances[0]["curves"])
    early, late = (np.linspace(0, end, 201).astype(int) for end in (config.num_rounds // 4, config.num_rounds))
    shown = np.union1d(early, late)
    first = instances[0]["curves"]
    # (instance, strategy, replicate, threshold)
    hits = np.array([[instance["curves"][name].hits for name in names] for instance in instances])
    log_hits = np.log(np.maximum(hits, 1)).mean(axis=2)
    return xarray.Dataset(
        {
            "band": (("strategy", "side", "round"), [first[name].band[:, shown] for name in names]),
            "share": (("strategy", "client"), [first[name].shares for name in names]),
            "weight": ("client", instances[0]["weights"]),
            "minimum": instances[0]["minimum"],
            "ceiling": ("instance", [instance["ceiling"] for instance in instances]),
            "rounds": (("instance", "strategy", "threshold"), np.exp(log_hits)),
            "speedup": (("instance", "strategy", "threshold"), np.exp(log_hits[:, :1] - log_hits)),
            "final_gap": (
                ("instance", "strategy"),
                [[instance["curves"][name].final_gap for name in names] for instance in instances],
            ),
        },
        coords={
            "strategy": names,
            "side": ["mean", "lower", "upper"],
            "round": shown,
            "client": np.arange(num_clients),
            "threshold": list(config.thresholds),
        },
        attrs=_attributes(config, num_clients),
    )


def _attributes(config: Config, num_clients: int) -> dict[str, Any]:
    m = max(1, round(config.selected_share * num_clients))
    selections = config.num_rounds * config.num_replicates * m
    return {"selections": selections, "halve_every": config.halve_every, "selected_share": config.selected_share}


def _speedup_cell(speedups: Any) -> str:
    """Geometric mean over instances with its limits, if all replicates of all instances arrived."""
    arrived = int(np.isfinite(speedups).sum())
    if arrived < len(speedups):
        return f"reached in {arrived} of {len(speedups)}"
    return _geometric(speedups)


def _geometric(ratios: Any) -> str:
    mean, lower, upper = np.exp(mean_and_limits(np.log(ratios)))
    return f"{mean:.3g} [{lower:.3g}, {upper:.3g}]"


def _ends(data: "Dataset", name: str) -> Any:
    """Divide the final gaps by those of random selection, one number per instance."""
    return (data["final_gap"].sel(strategy=name) / data["final_gap"].sel(strategy=RAND)).values


def table(data: "Dataset") -> study.Table:
    """One row per size and strategy."""
    rows = []
    for size in data["num_clients"].values:
        here = data.sel(num_clients=size)
        for name in data["strategy"].values:
            row: dict[str, Any] = {"K": int(size), "strategy": str(name)}
            row["final gap F - F*"] = float(here["final_gap"].sel(strategy=name).mean())
            row["times that of rand"] = _geometric(_ends(here, name))
            for threshold in data["threshold"].values:
                cell = here["speedup"].sel(strategy=name, threshold=threshold).values
                row[f"speed-up to {threshold:.0%} of the gap"] = _speedup_cell(cell)
            rows.append(row)
    ceiling = float(data["ceiling"].mean())
    return study.Table(
        rows,
        title="Power-of-Choice on the quadratics of Appendix F",
        caption="Speed-up: rounds of rand / rounds of the strategy, geometric mean over instances [95% interval]; "
        "final gap: mean over instances and the last twentieth of the rounds. Far from the optimum no selection gains "
        f"more than max h / mean h, here {ceiling:.2f} on average.",
    )


def _increasing(*values: Any) -> study.Check:
    """Whether each is larger than the one before, place by place."""
    words = (" < ".join(f"{value:.3g}" for value in column) for column in np.transpose(values))
    return study.Check(bool((np.diff(values, axis=0) > 0).all()), "; ".join(words))


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figures are taken to show."""
    largest, smallest = (data["strategy"].values[index] for index in (-2, 1))
    early: Any = data["speedup"].isel(threshold=0).drop_sel(strategy=RAND)
    floors = data["final_gap"].mean("instance")
    follows, departs = (_deviation(data, name) for name in ("rand", largest))
    detail = f"{float(early.min()):.2f} to {float(early.max()):.2f}"
    ends = [floors.sel(strategy=name).values for name in (smallest, largest)]
    ratios = [_ends(data.sel(num_clients=size), ADAPTIVE) for size in data["num_clients"]]
    adaptive = [float(np.exp(np.log(ratio).mean())) for ratio in ratios]
    ceiling = float(data["ceiling"].mean())
    mean_gain = float(np.exp(np.log(early.values).mean(axis=early.dims.index("instance")).max()))
    return {
        "pow-d reaches the first threshold sooner than rand": study.Check(
            float(early.min()) > 1, f"speed-ups {detail}"
        ),
        "far from the optimum the speed-up stays below max h / mean h": study.Check(
            mean_gain < ceiling, f"largest {mean_gain:.2f} against {ceiling:.2f}"
        ),
        "more candidates end on a higher floor": _increasing(*ends),
        "adapow-d ends where rand does once d is m": study.Check(
            0.5 < min(adaptive) <= max(adaptive) < 2, f"ratios {np.round(adaptive, 3)}"
        ),
        "rand follows the data shares": study.Check(follows < 5, f"{follows:.1f} standard errors"),
        "pow-d does not follow the data shares": study.Check(departs > 20, f"{departs:.1f} standard errors"),
    }


def _deviation(data: "Dataset", name: str) -> float:
    """Largest distance between selected share and data share, in standard errors of multinomial draws."""
    here = data.isel(num_clients=0)
    weight = here["weight"].dropna("client")
    error = np.sqrt(weight * (1 - weight) / data.attrs["selections"])
    return float((abs(here["share"].sel(strategy=name) - weight) / error).max())


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures."""
    names = [str(name) for name in data["strategy"].values if name != RAND]
    few, many = (data.sel(num_clients=size) for size in data["num_clients"].values)
    ends = [float(np.exp(np.log(_ends(here, name)).mean())) for here in (few, many) for name in names[:-1]]
    first, second = (_geometric(_ends(here, names[-1])) for here in (few, many))
    # Where all instances have arrived, as in the table.
    logs: Any = np.log(data["speedup"])
    gains = np.exp(logs.mean("instance", skipna=False))
    both, two, ten = (span(gains.sel(strategy=name)) for name in (names, names[0], names[-2]))
    waits = [int(here["round"].values[_behind(here, names[-1])][0]) for here in (few, many)]
    return [
        f"The final gaps of pow-d are {min(ends):,.0f} to {max(ends):,.0f} times that of random selection",
        f"{first} times as large as that of random selection for K = 30 and {second} times for K = 100",
        f"from round {waits[0]:,} (K = 30) or {waits[1]:,} (K = 100) on",
        f"The mean speed-ups lie between {both.replace(' to ', ' and ')}: {two} with d = 2m, {ten} with d = 10m",
        "its factor 3 is about Synthetic(1, 1)",
        "it could not be 3",
        f"which is {float(data['ceiling'].mean()):.1f} on average",
        f"mean speed-ups of {both}",
        f"the final gap is {first} times that of random selection for K = 30, {second} times for K = 100",
    ]


def _behind(here: "Dataset", name: str) -> Any:
    losses = here["band"].sel(side="mean")
    return (losses.sel(strategy=name) > losses.sel(strategy=RAND)).values


STUDY = study.Study(
    name="power_of_choice_quadratic",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"convergence": pictures.convergence, "adapow_d": pictures.adaptive, "selection_profile": pictures.profile},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
