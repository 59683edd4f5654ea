"""Greedy selection by Shapley values on quadratics: the law of two clients, and the bias of many."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

STRATEGIES = ("GreedyFed, mean", "GreedyFed, latest", "UCB", "S-FedAvg", "uniform")
FOUND = ("gap", "bias", "predicted bias", "effective clients", "rounds that change the cohort")


@dataclass(frozen=True)
class Quadratics:
    """Pairs of clients, and larger federations."""

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


def quadratics(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate pairs of clients from every start, and the larger federations."""
    import xarray

    own, seed = config.quadratics, config.seed
    starts = np.linspace(-1.0, 1.0, own.num_starts)
    pairs = np.array([[_pair(own, seed, p, w) for w in starts] for p in progress(own.weights, "pairs")])
    found = [_federation(own, seed, index) for index in progress(range(own.num_federations), "quadratics")]
    return xarray.Dataset(
        {
            "pair_gap": (("p1", "start", "replicate"), pairs[..., 0]),
            "first": (("p1", "start", "replicate"), pairs[..., 1]),
            "late": (("federation", "strategy", "number"), np.array(found)),
        },
        coords={"p1": list(own.weights), "start": starts, "strategy": list(STRATEGIES), "number": list(FOUND)},
    )


def _pair(config: Quadratics, seed: int, p: float, start: float) -> Any:
    """Last gap and first client, for every replicate: curvature 1, and one step of size 1 to the local minimizer."""
    fed = ft.QuadraticFederation([1.0, 1.0], [[p - 1], [p]], [p, 1 - p])
    found = ft.fedavg(
        fed, ft.selection.GreedyShapley(1, valuation="exact"), num_rounds=config.pair_rounds, step_size=1.0,
        initial=[start], num_replicates=config.num_replicates, rng=seed, record=("gap", "selected"),
    )  # fmt: skip
    return np.stack([found.gap[:, -1], found.recorded("selected")[:, 0, 0]], axis=-1)


def law(p: Any, start: Any, first: Any) -> Any:
    """Return the final gap of two clients at distance 1, by the closed form."""
    worse = (first == 0) & (start**2 < 2 * (1 - p) ** 2 - p**2)
    return np.where(worse, p**2, (1 - p) ** 2) / 2


def _federation(config: Quadratics, seed: int, index: int) -> Any:
    """Numbers of all strategies."""
    fed = ft.datasets.power_of_choice_quadratics(config.num_clients, 5, seed + index)
    eta, m = 0.1 / fed.smoothness, config.num_selected
    own = ft.selection
    strategies = (
        own.GreedyShapley(m, valuation="exact"), own.GreedyShapley(m, averaging=0.0, valuation="exact"),
        own.UpperConfidenceShapley(m, valuation="exact"), own.SoftmaxShapley(m, valuation="exact"),
        own.SizeWeighted(own.Uniform(m)),
    )  # fmt: skip
    runs = [
        ft.fedavg(
            fed, one, num_rounds=config.num_rounds, local_steps=config.local_steps, step_size=eta, rng=seed,
            initial=np.full(fed.dim, 5.0), record=("gap", "selected", "models"),
        )
        for one in strategies
    ]  # fmt: skip
    return [_late(fed, one, eta, config.local_steps) for one in runs]


def _late(fed: Any, run: Any, eta: float, steps: int) -> list[float]:
    """Numbers of ``FOUND`` in the second half of a run."""
    half = run.gap.shape[1] // 2
    cohorts = np.sort(run.recorded("selected")[0, half:-1].astype(int), axis=1)
    counts = np.bincount(cohorts.ravel(), minlength=fed.num_clients) / cohorts.size
    changes = float((cohorts[1:] != cohorts[:-1]).any(axis=1).mean())
    bias = float(fed.excess(run.models[0, half:-1].mean(axis=0)))
    predicted = float(fed.excess(place_of_no_pull(fed, cohorts, eta, steps)))
    return [float(run.gap[0, half:].mean()), bias, predicted, float(1 / (counts**2).sum()), changes]


def place_of_no_pull(fed: Any, cohorts: Any, eta: float, steps: int) -> Any:
    """Model at which the weighted sum of the cohorts' updates q_k (1 - (1 - eta h_k)^tau) (c_k - w) is zero."""
    h = np.broadcast_to(fed.curvatures.reshape(fed.num_clients, -1), fed.centers.shape)
    shares = np.zeros(fed.num_clients)
    for cohort in cohorts:
        shares[cohort] += fed.weights[cohort] / fed.weights[cohort].sum()
    pull = shares[:, None] * (1 - (1 - eta * h) ** steps)
    return (pull * fed.centers).sum(axis=0) / pull.sum(axis=0)


def agreement(data: "Dataset") -> float:
    """Share of runs with two clients that end at the predicted gap."""
    predicted = law(data["p1"].values[:, None, None], data["start"].values[None, :, None], data["first"].values)
    return float(np.mean(np.abs(data["pair_gap"].values - predicted) < 1e-9))


def rows_of_quadratics(data: "Dataset") -> list[dict[str, Any]]:
    """One row per strategy: means over the second halves of the runs and the federations."""
    means = data["late"].mean("federation").values
    return [
        {"part": "quadratics", "algorithm": name, "seeds": data.sizes["federation"]}
        | dict(zip(FOUND, map(float, numbers), strict=True))
        for name, numbers in zip(STRATEGIES, means, strict=True)
    ]


def checks_of_quadratics(data: "Dataset") -> dict[str, Check]:
    """Test the law of two clients, that latest values keep the selection constant, and the resulting models."""
    share = agreement(data)
    latest = data["late"].values[:, STRATEGIES.index("GreedyFed, latest")]
    greedy = data["late"].values[:, STRATEGIES.index("GreedyFed, mean")]
    still, apart = latest[:, 4] == 0, np.abs(latest[:, 1] / latest[:, 2] - 1)
    worst = float(apart[still].max()) if still.any() else np.inf
    off = float(np.median(np.abs(greedy[:, 1] / greedy[:, 2] - 1)))
    return {
        "two clients end where the law says": Check(share == 1.0, f"{share:.1%} of the runs"),
        "who is locked in by latest values decides the end": Check(worst < 1e-3, f"off by {worst:.1e} at most"),
        "frequencies predict the bias": Check(off < 0.2, f"off by {off:.1%} (median)"),
    }


def said_of_quadratics(data: "Dataset") -> list[str]:
    """Sentences about the bias."""
    mean, latest, *_, uniform = rows_of_quadratics(data)
    times = [f"{one['bias'] / uniform['bias']:.0f}" for one in (mean, latest)]
    off = float(np.median(np.abs(np.divide(*(data["late"].values[:, 0, [1, 2]].T)) - 1)))
    return [
        (
            f"by mean values the cohort changes in {mean[FOUND[-1]]:.0%} of the rounds, but there are "
            f"{mean['effective clients']:.1f} effective clients"
        ),
        f"a bias {times[0]} times that of uniform selection with mean values and {times[1]} times with latest ones",
        f"How often clients were chosen predicts the bias by mean values to {off:.0%}",
    ]
