"""Why GreedyFed ends behind: its lead on digits after single changes, and greedy selection on quadratics."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from _greedyfed_fashion import MAIN, SETTINGS, SINGLE, Dealt, Run, Setting, accuracies, deal, train
from _repeated import mean_and_limits, paired, span, with_limits

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

CHANGES = (
    "step_size=0.01", "step_size=0.02", "num_clients=20", "num_clients=120", "num_selected=6", "averaging=0",
    "averaging=0.5", "averaging=0.9", "concentration=0.1",
)  # fmt: skip
BASE, SPREADS = "base", ("effective clients", "effective classes")


def leads(config: Any, progress: study.Progress) -> "Dataset":
    """Train GreedyFed and FedAvg after every change, for every seed."""
    import xarray

    common = config.digits
    changes = [changed(common, change) for change in (BASE, *config.changes)]
    jobs = [(change, config.seed + k) for change in changes for k in range(config.digits_seeds)]
    curves, found = zip(*(_pair(*change, seed) for change, seed in progress(jobs, "leads on digits")), strict=True)
    shape = len(changes), config.digits_seeds, 2, -1
    names = ("change", "seed", "algorithm")
    return xarray.Dataset(
        {
            "accuracy": ((*names, "round"), np.array(curves).reshape(shape)),
            "found": ((*names, "number"), np.array(found).reshape(shape)),
        },
        coords={
            "change": [BASE, *config.changes], "algorithm": ["GreedyFed", "FedAvg"], "number": list(SPREADS),
            "round": np.arange(0, common.num_rounds + 1, common.record_every),
        },
    )  # fmt: skip


def changed(common: Run, change: str) -> tuple[Run, Setting, str]:
    """Return runs, setting and GreedyFed's variant after a change such as ``num_clients=20``."""
    name, _, value = change.partition("=")
    if change == BASE:
        return common, SETTINGS[SINGLE], MAIN[1]
    if name == "averaging":
        return common, SETTINGS[SINGLE], f"GreedyFed, {value}"
    if name == "concentration":
        return common, Setting(concentration=float(value)), MAIN[1]
    kinds = {"step_size": float, "num_clients": int, "num_selected": int}
    if name not in kinds:
        message = f"changes must be of {', '.join(kinds)}, averaging, concentration, got {change}"
        raise ValueError(message)
    return replace(common, **{name: kinds[name](value)}), SETTINGS[SINGLE], MAIN[1]


def _pair(common: Run, how: Setting, variant: str, seed: int) -> tuple[Any, Any]:
    """Accuracies of both algorithms, and their effective clients and classes."""
    dealt = deal(common.data, common.num_server, common.num_clients, how.concentration, seed)
    runs = [train(common, dealt, how, name, seed) for name in (variant, MAIN[0])]
    return [accuracies(one) for one in runs], [spread(one.counts[0], dealt) for one in runs]


def spread(counts: Any, dealt: Dealt) -> tuple[float, float]:
    """Effective clients, and effective classes of their samples."""
    shares = counts / counts.sum()
    labels = [np.bincount(dealt.clients.client(k)[1], minlength=dealt.clients.num_classes) for k in range(counts.size)]
    trained = counts @ np.array(labels)
    present = trained[trained > 0] / trained.sum()
    return float(1 / (shares**2).sum()), float(np.exp(-(present * np.log(present)).sum()))


def lead_on_digits(data: "Dataset") -> Any:
    """GreedyFed's accuracy minus FedAvg's, shape (change, seed, round)."""
    return (data["accuracy"].sel(algorithm="GreedyFed") - data["accuracy"].sel(algorithm="FedAvg")).values


def rows_of_leads(data: "Dataset") -> list[dict[str, Any]]:
    """One row per change: the largest mean lead, the round until which there is one, and the final lead."""
    rows, rounds = [], data["round"].values
    for place, (name, lead) in enumerate(zip(data["change"].values, lead_on_digits(data), strict=True)):
        mean, top = lead.mean(axis=0), int(lead.mean(axis=0).argmax())
        behind = np.flatnonzero(mean[top:] <= 0)
        found = data["found"].values[place].mean(axis=0)
        rows.append(
            {
                "part": "one change on digits", "entry": str(name), "clients": SINGLE, "algorithm": "GreedyFed",
                "seeds": lead.shape[0], "less FedAvg": with_limits(lead[:, -1], signed=True),
                "largest lead": float(mean[top]), "at round": int(rounds[top]),
                "behind from round": int(rounds[top + behind[0]]) if behind.size else "never",
            }
            | dict(zip(SPREADS, map(float, found[0]), strict=True))
            | {f"{number}, FedAvg": float(value) for number, value in zip(SPREADS, found[1], strict=True)}
        )  # fmt: skip
    return rows


def laws_of_leads(data: "Dataset") -> dict[str, study.Finding]:
    """Test that greedy selection leads at some time, and trains on fewer clients."""
    top = lead_on_digits(data).mean(axis=1).max(axis=1)
    clients = data["found"].sel(number=SPREADS[0]).mean("seed")
    ratio = (clients.sel(algorithm="GreedyFed") / clients.sel(algorithm="FedAvg")).values
    return {
        "early": study.Finding(
            f"On digits GreedyFed is ahead of FedAvg at some time after every change, by up to {top.max():.0f} points.",
            bool((top > 0).all()),
        ),
        "fewer clients": study.Finding(
            f"On digits GreedyFed trains on {span(ratio, 2)} times as many effective clients as FedAvg.",
            bool((ratio < 1).all()),
        ),
    }


def findings_of_leads(data: "Dataset") -> dict[str, study.Finding]:
    """Compare leads at the end, and name what makes them worse or better."""
    rows = {row["entry"]: row for row in rows_of_leads(data)}
    end = {name: lead[:, -1] for name, lead in zip(rows, lead_on_digits(data), strict=True)}
    ends, rounds = {name: mean_and_limits(one) for name, one in end.items()}, int(data["round"][-1])
    clients, classes = (span([row[number] for row in rows.values()], 0) for number in SPREADS)
    slow, base = (rows[name]["behind from round"] for name in ("step_size=0.01", BASE))
    worse = {name: paired(end[BASE], end[name]) for name in ("averaging=0", "averaging=0.5", "concentration=0.1")}
    words = {name: with_limits(one, 0) for name, one in worse.items()}
    limits = {name: mean_and_limits(one) for name, one in worse.items()}
    return {
        "behind": study.Finding(
            "On digits GreedyFed ends significantly behind FedAvg after every change, by "
            f"{span([-one[0] for one in ends.values()])} points.",
            all(one[2] < 0 for one in ends.values()),
        ),
        "overtaken": study.Finding(
            f"On digits GreedyFed is overtaken after {base} of {rounds} rounds, and with a fifth of the step size "
            f"after {slow}.",
            "never" not in (base, slow) and base < slow,
        ),
        "effective": study.Finding(
            f"On digits GreedyFed trains on {clients} effective clients, which hold {classes} effective classes.",
            all(row[SPREADS[1]] < row[f"{SPREADS[1]}, FedAvg"] for row in rows.values()),
        ),
        "forgetting": study.Finding(
            f"On digits with averaging 0 and 0.5 GreedyFed ends {-ends['averaging=0'][0]:.0f} and "
            f"{-ends['averaging=0.5'][0]:.0f} points behind instead of {-ends[BASE][0]:.0f}, a paired difference of "
            f"{words['averaging=0']} and {words['averaging=0.5']}.",
            all(limits[name][1] > 0 for name in ("averaging=0", "averaging=0.5")),
        ),
        "less skew": study.Finding(
            f"On digits with less label skew it ends {with_limits(-worse['concentration=0.1'], 0)} points better.",
            bool(limits["concentration=0.1"][2] < 0),
        ),
    }


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
    pairs = np.array([[_two_clients(own, seed, p, w) for w in starts] for p in progress(own.weights, "pairs")])
    found = [_federation(own, seed, index) for index in progress(range(own.num_federations), "quadratics")]
    return xarray.Dataset(
        {
            "pair_gap": (("p1", "start", "replicate"), pairs[..., 0]),
            "first": (("p1", "start", "replicate"), pairs[..., 1]),
            "late": (("federation", "strategy", "number"), np.array(found)),
        },
        coords={"p1": list(own.weights), "start": starts, "strategy": list(STRATEGIES), "number": list(FOUND)},
    )


def _two_clients(config: Quadratics, seed: int, p: float, start: float) -> Any:
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


def findings_of_quadratics(data: "Dataset") -> dict[str, study.Finding]:
    """Test the law of two clients, that latest values keep the selection constant, and the resulting models."""
    share, late = agreement(data), data["late"].values
    latest, greedy = (late[:, STRATEGIES.index(f"GreedyFed, {kind}")] for kind in ("latest", "mean"))
    still, apart = latest[:, 4] == 0, np.abs(latest[:, 1] / latest[:, 2] - 1)
    off = float(np.median(np.abs(greedy[:, 1] / greedy[:, 2] - 1)))
    mean, last, *_, uniform = rows_of_quadratics(data)
    times = [one["bias"] / uniform["bias"] for one in (mean, last)]
    return {
        "bias": study.Finding(
            f"On quadratics greedy selection has a bias {times[0]:.0f} times that of uniform selection with mean "
            f"values, and {times[1]:.0f} times with latest ones.",
            min(times) > 1,
        ),
        "cohorts": study.Finding(
            f"On quadratics by mean values the cohort changes in {mean[FOUND[-1]]:.0%} of the rounds, but there are "
            f"{mean['effective clients']:.1f} effective clients.",
            mean["effective clients"] < uniform["effective clients"],
        ),
        "two clients": study.Finding(
            "On quadratics all runs with two clients end where the law says.", share == 1.0, f"{share:.1%} of them"
        ),
        "latest": study.Finding(
            f"On quadratics by latest values the cohort stays the same in {int(still.sum())} of {len(still)} "
            f"federations, and its pulls predict the bias to {apart[still].max(initial=0):.0e}.",
            bool(still.any() and apart[still].max() < 1e-3),
        ),
        "frequencies": study.Finding(
            f"On quadratics the frequencies of selection by mean values predict the bias to {100 * off:.0f}% (median).",
            off < 0.2,
        ),
    }
