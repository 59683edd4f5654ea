"""GreedyFed and its rivals on digits: entries of its tables, and GreedyFed's lead after single changes."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _greedyfed_runs import (
    ENTRIES,
    FIRST,
    MAIN,
    MNIST,
    SETTINGS,
    SINGLE,
    Dealt,
    Run,
    Setting,
    accuracies,
    deal,
    entries,
    refuse_unknown,
    train,
)
from _repeated import mean_and_limits, paired, span, with_limits

from fedtheory import study
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from xarray import Dataset

CHANGES = (
    "step_size=0.01", "step_size=0.02", "num_clients=20", "num_clients=120", "num_selected=6", "averaging=0",
    "averaging=0.5", "averaging=0.9", "concentration=0.1",
)  # fmt: skip
TIMES = ("T = 150", "T = 250", "T = 350", "alpha = 0.0001")
BASE, FOUND = "base", ("effective clients", "effective classes")


def digits(config: Any, progress: study.Progress) -> "Dataset":
    """Train the first variant of all algorithms in all settings."""
    import xarray

    refuse_unknown(config, digits_settings=SETTINGS)
    jobs = [(s, k, v) for s in config.digits_settings for k in range(config.digits_seeds) for v in FIRST]
    found = [_curve(config.digits, SETTINGS[s], v, config.seed + k) for s, k, v in progress(jobs, "tables on digits")]
    shape = len(config.digits_settings), config.digits_seeds, len(FIRST), -1
    return xarray.Dataset(
        {"accuracy": (("setting", "seed", "variant", "round"), np.array(found).reshape(shape))},
        coords={
            "setting": list(config.digits_settings), "variant": list(FIRST),
            "round": np.arange(0, config.digits.num_rounds + 1, config.digits.record_every),
        },
    )  # fmt: skip


def _dealt(common: Run, how: Setting, seed: int) -> Dealt:
    return deal(common.data, common.num_server, common.num_clients, how.concentration, seed)


def _curve(common: Run, how: Setting, variant: str, seed: int) -> Any:
    return accuracies(train(common, _dealt(common, how, seed), how, variant, seed))


def leads(config: Any, progress: study.Progress) -> "Dataset":
    """Train GreedyFed and FedAvg after every change, for every seed."""
    import xarray

    common = replace(config.digits, num_rounds=config.lead_rounds)
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
            "change": [BASE, *config.changes], "algorithm": ["GreedyFed", "FedAvg"], "number": list(FOUND),
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
    dealt = _dealt(common, how, seed)
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


def rows_of_digits(data: "Dataset") -> list[dict[str, Any]]:
    """One row per entry and algorithm; the paper's number is that for MNIST."""
    rows, rounds = [], int(data["round"][-1])
    for (name, _), entry in entries(data).items():
        share = ENTRIES[name][2]
        for variant in map(str, data["variant"].values):
            algorithm = variant.partition(", ")[0]
            samples, several = entry.sel(variant=variant).values, entry.sizes["seed"] > 1
            rows.append({
                "part": "digits", "entry": f"T = {share * rounds:g}" if share < 1 else name, "clients": SINGLE,
                "algorithm": algorithm, "seeds": samples.size, "mean [%]": float(samples.mean()),
                "std": float(samples.std(ddof=1)) if several else float("nan"),
                "less FedAvg": with_limits(paired(samples, entry.sel(variant=MAIN[0])), signed=True) if several else "",
                "paper [%]": MNIST[name, algorithm],
            })  # fmt: skip
    return rows


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
            | dict(zip(FOUND, map(float, found[0]), strict=True))
            | {f"{number}, FedAvg": float(value) for number, value in zip(FOUND, found[1], strict=True)}
        )  # fmt: skip
    return rows


def checks_of_digits(data: "Dataset") -> dict[str, Check]:
    """Test that all runs trained; the rows compare the algorithms."""
    last = data["accuracy"].isel(round=-1, setting=0).mean("seed")
    least = float(last.min() - data["accuracy"].isel(round=0).mean())
    everything = bool(np.isfinite(data["accuracy"].values).all())
    return {
        "every algorithm learns digits": Check(least > 15, f"at least {least:.1f} points gained"),
        "no run on digits diverged": Check(everything, "all accuracies are numbers" if everything else "some are not"),
    }


def checks_of_leads(data: "Dataset") -> dict[str, Check]:
    """Test that there is an early lead, and that greedy selection uses few clients."""
    top = lead_on_digits(data).mean(axis=1).max(axis=1)
    clients = data["found"].sel(number=FOUND[0]).mean("seed")
    ratio = (clients.sel(algorithm="GreedyFed") / clients.sel(algorithm="FedAvg")).values
    return {
        "GreedyFed is ahead at some time": Check(bool((top > 0).all()), f"largest leads {top.round(1)}"),
        "GreedyFed trains on fewer clients": Check(bool((ratio < 1).all()), f"shares {ratio.round(2)}"),
    }


def said_of_digits(data: "Dataset") -> list[str]:
    """Sentences about the tables on digits."""
    rows = [row for row in rows_of_digits(data) if row["algorithm"] == "GreedyFed"]
    last = data["accuracy"].isel(round=-1)
    names = (SINGLE, f"{SINGLE}, sigma = 0.1")
    ends = [[last.sel(setting=name, variant=one) for one in (MAIN[1], MAIN[0])] for name in names]
    base, noisy = (with_limits(paired(*pair), signed=True) for pair in ends)
    found = [
        student_mean(paired(entry.sel(variant=MAIN[1]), entry.sel(variant=MAIN[0]))) for entry in entries(data).values()
    ]
    behind, ahead = sum(high < 0 for _, high in found), sum(low > 0 for low, _ in found)
    papers = sum(MNIST[name, "GreedyFed"] > MNIST[name, "FedAvg"] for name in ENTRIES)
    lead = [f"{MNIST[name, 'GreedyFed'] - MNIST[name, 'FedAvg']:.1f}" for name in TIMES]
    (greedy, fedavg), (noisy_greedy, noisy_fedavg) = ([float(one.mean()) for one in pair] for pair in ends)
    return [
        (
            f"In the base case GreedyFed ends at {greedy:.1f} %, FedAvg at {fedavg:.1f} %, a difference of {base} "
            f"points; of the {len(rows)} entries GreedyFed is certainly behind FedAvg in {behind} and certainly ahead "
            f"in {ahead}, where the paper has it ahead in {papers}"
        ),
        f"on digits GreedyFed ends {base} points from FedAvg in the base case",
        f"it is {', '.join(lead[:-1])} and {lead[-1]} points after 150, 250, 350 and 400 rounds",
        f"With the larger noise it is {noisy_greedy:.1f} % against {noisy_fedavg:.1f} %, {noisy} points",
    ]


def said_of_leads(data: "Dataset") -> list[str]:
    """Sentences about leads after single changes of the setting."""
    rows = {row["entry"]: row for row in rows_of_leads(data)}
    end = {name: lead[:, -1] for name, lead in zip(rows, lead_on_digits(data), strict=True)}
    slow, rounds = rows["step_size=0.01"], int(data["round"][-1])
    most = max(row["largest lead"] for row in rows.values())
    clients, classes = (span([row[number] for row in rows.values()], 0) for number in FOUND)

    def worse(name: str, sign: float = 1) -> str:
        return with_limits(sign * paired(end[BASE], end[name]), 0)

    last, half, base = (-mean_and_limits(end[name])[0] for name in ("averaging=0", "averaging=0.5", BASE))
    return [
        (
            f"GreedyFed is ahead by up to {most:.0f} points, is overtaken (at step size 0.01 after "
            f"{slow['behind from round']} of {rounds} rounds)"
        ),
        f"with five times that step after {rows[BASE]['behind from round']}",
        f"it trains on {clients} effective clients, which hold {classes} effective classes",
        (
            f"with averaging 0 and 0.5 it ends {last:.0f} and {half:.0f} points behind instead of {base:.0f}, a paired "
            f"difference of {worse('averaging=0')} and {worse('averaging=0.5')}"
        ),
        f"less label skew makes it better by {worse('concentration=0.1', -1)}",
    ]
