"""GreedyFed's tables on FashionMNIST: stored runs, and entries with those of the paper, in tables and text."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _experiments import kept
from _greedyfed_runs import (
    BASES,
    DRAWN,
    ENTRIES,
    EVERY,
    FASHION,
    FIRST,
    MAIN,
    SETTINGS,
    SINGLE,
    accuracy_curve,
    deal_images,
    entries,
    refuse_unknown,
)
from _repeated import mean_and_limits, paired, with_limits
from _slides import intervals, name_rows

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from xarray import Dataset

KINDS = ("all classes alike", "one class", "other")
RIVALS = ("UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice")


def planned(config: Any) -> list[tuple[str, str, int]]:
    """Return the planned runs: variant, setting and seed; variants are chosen in the settings that have all of them."""
    refuse_unknown(config, settings=SETTINGS, choices=SETTINGS, variants=EVERY)
    return [
        (variant, setting, k)
        for k in range(config.num_seeds)
        for setting in config.settings
        for variant in (EVERY if setting in config.choices else dict.fromkeys((*MAIN, *config.variants)))
    ]


def tables(config: Any, progress: study.Progress) -> "Dataset":
    """Count draws, partition the images, and train the missing runs."""
    import xarray

    from fedtheory.datasets.class_shares import underflowing_shares

    jobs = planned(config)
    variants = [name for name in EVERY if any(name == job[0] for job in jobs)]
    rounds = np.arange(0, config.fashion.num_rounds + 1, config.fashion.record_every)
    # Missing runs are NaN.
    found = np.full((len(config.settings), len(variants), config.num_seeds, rounds.size), np.nan)
    curves: dict[tuple[str, str, int], Any] = {}
    for variant, setting, k in progress(jobs, "runs of the tables"):
        # Central training has neither stragglers nor noise.
        job = variant, SETTINGS[setting].base if variant == "Centralized" else setting, config.seed + k
        if job not in curves:
            how = {"common": config.fashion, "setting": job[1], "variant": variant}
            curves[job] = kept(config.runs, f"{variant}/{job[1]}", accuracy_curve, job[2], **how)["accuracy"]
        found[config.settings.index(setting), variants.index(variant), k] = curves[job]
    draws = underflowing_shares(np.random.default_rng([config.seed, 3]), 1e-4, config.num_draws, 10)
    alike, single = draws.max(axis=1) == draws.min(axis=1), draws.max(axis=1) > 0.999
    dealt = [deal_images(config.fashion, SETTINGS[base], config.seed).clients for base in BASES]
    shares = [ft.datasets.heterogeneity(clients).label_distributions for clients in dealt]
    return xarray.Dataset(
        {
            "accuracy": (("setting", "variant", "seed", "round"), found),
            "draws": ("kind", [int(alike.sum()), int(single.sum()), int((~alike & ~single).sum())]),
            "shares": (("base", "client", "class"), np.array(shares)),
        },
        coords={
            "setting": list(config.settings), "variant": variants, "round": rounds, "kind": list(KINDS),
            "base": list(BASES),
        },
        attrs={"published": int(config.fashion.data == ("fashion-mnist",))},
    )  # fmt: skip


def best(entry: Any, algorithm: str) -> str:
    """Variant of the largest mean among those that were run, all with the same seeds."""
    own = [str(name) for name in entry["variant"].values if str(name).partition(", ")[0] == algorithm]
    own = [name for name in own if entry.sel(variant=name).notnull().any()]
    for other in own[1:]:
        paired(entry.sel(variant=own[0]), entry.sel(variant=other))
    return max(own, key=lambda name: float(entry.sel(variant=name).mean()))


def lead(entry: Any, rival: str, *, choosing: bool = False) -> Any:
    """Accuracy of GreedyFed minus that of another algorithm by seed, for the first or the best variants of both."""
    first = {name.partition(", ")[0]: name for name in FIRST}
    names = [best(entry, name) if choosing else first[name] for name in ("GreedyFed", rival)]
    return paired(*(entry.sel(variant=name) for name in names))


def rows_of_fashion(data: "Dataset") -> list[dict[str, Any]]:
    """One row per entry, kind of clients and algorithm: the best variant, and the paper's."""
    rows = []
    for (name, base), entry in entries(data).items():
        for algorithm in dict.fromkeys(str(variant).partition(", ")[0] for variant in data["variant"].values):
            variant, published = best(entry, algorithm), FASHION[name, algorithm]
            samples, fedavg = (entry.sel(variant=one).dropna("seed").values for one in (variant, MAIN[0]))
            off = float(samples.mean()) - published.mean
            rows.append({
                "part": "FashionMNIST", "entry": name, "clients": base if base in BASES else "",
                "algorithm": algorithm, "best variant": variant.partition(", ")[2], "seeds": samples.size,
                "mean [%]": float(samples.mean()),
                "std": float(samples.std(ddof=1)) if samples.size > 1 else float("nan"),
                "less FedAvg": with_limits(paired(samples, fedavg), signed=True) if samples.size > 1 else "",
                "paper [%]": published.mean, "its std": published.deviation, "less the paper's": off,
                "within its std": "yes" if abs(off) <= published.deviation else "no",
            })  # fmt: skip
    return rows


def checks_of_fashion(data: "Dataset") -> dict[str, Check]:
    """Test that all runs trained, and that draws underflow with the frequency that the law predicts."""
    first, last = data["accuracy"].isel(round=0).mean(), data["accuracy"].isel(round=-1).mean("seed")
    # A missing run has no numbers; a run has all of them, with all seeds.
    ran = np.isfinite(data["accuracy"].values)
    whole = ran.all(axis=(2, 3))
    least, everything = float(last.min()), bool((whole == ran.any(axis=(2, 3))).all() and whole.any(axis=1).all())
    counts = data["draws"].values
    wanted, observed = ft.datasets.underflow_probability(1e-4, 10), counts[0] / counts.sum()
    # Hoeffding: a correct sampler deviates more with probability at most 1e-9.
    off = np.sqrt(np.log(2e9) / (2 * counts.sum()))
    one_class = float((data["shares"].sel(base=SINGLE).max("class") == 1).mean())
    return {
        "every algorithm learns": Check(least > float(first) + 10, f"least mean accuracy {least:.1f} %"),
        "every run has all seeds and did not diverge": Check(
            everything, "all accuracies are numbers" if everything else "some are not"
        ),
        "draws have equal class shares as often as the law says": Check(
            abs(observed - wanted) <= off, f"{observed:.4f} of {counts.sum()}, the law says {wanted:.4f}"
        ),
        "without the underflow clients have one class": Check(
            one_class > 0.9, f"{100 * one_class:.1f} % of the clients do"
        ),
    }


def draw_shares(axes: Any, data: "Dataset") -> None:
    """Draw a bar of class shares for each client."""
    shares = data["shares"].sel(base=DRAWN).values[:30]
    shares = shares[np.lexsort((shares.argmax(axis=1), -shares.max(axis=1)))]
    places, below = np.arange(len(shares)), np.zeros(len(shares))
    for share in shares.T:
        axes.bar(places, share, bottom=below, width=0.9, color="0.85", edgecolor="black", linewidth=0.6)
        below = below + share
    axes.grid(visible=False)
    axes.set(
        xlabel=f"{len(shares)} clients as drawn, one block per class",
        ylabel="share of the client's images",
        xlim=(-0.5, len(shares) - 0.5),
        xticks=[],
        ylim=(0, 1),
    )


def draw_leads(axes: Any, data: "Dataset") -> dict[str, float]:
    """Draw leads over FedAvg in the entries of the base case; return those after all rounds by kind of clients."""
    found = entries(data)
    names = list(dict.fromkeys(name for name, base in found if base in BASES))
    words = [
        name.replace("alpha = 0.0001", r"$\alpha = 10^{-4}$").replace("sigma", r"noise $\sigma$") for name in names
    ]
    words = [word.replace("T =", "rounds T =").replace("x =", "stragglers x =") for word in words]
    places = name_rows(axes, words)
    axes.axvline(0, color="black", linewidth=0.8)
    for shift, number, label in ((-0.12, 0, "one class each"), (0.12, 1, "as drawn")):
        here = [i for i, name in enumerate(names) if (name, BASES[number]) in found]
        leads = [lead(found[names[i], BASES[number]], "FedAvg") for i in here]
        intervals(axes, leads, places[here] + shift, label=label, color=COLORS[number], marker=MARKERS[number])
    if data.attrs["published"]:
        papers = [FASHION[name, "GreedyFed"].mean - FASHION[name, "FedAvg"].mean for name in names]
        axes.plot(papers, places, "x", color="black", label="paper")
    axes.set_xlabel("lead over FedAvg on FashionMNIST [points]")
    axes.set_ylim(top=2.6)
    axes.legend(fontsize=8, loc="upper left", title="mean, 95%", title_fontsize=8)
    last = {base: entry for (name, base), entry in found.items() if name == "alpha = 0.0001"}
    return {base: float(lead(entry, "FedAvg").mean()) for base, entry in last.items()}


def said_of_fashion(data: "Dataset") -> list[str]:
    """Sentences about Tables I to IV; the paper's numbers are those of its tables."""
    end, seeds, last = data["accuracy"].isel(round=-1).mean("seed"), data.sizes["seed"], int(data["round"][-1])

    def compared(entry: str, base: str = "") -> str:
        setting = f"{base}, {entry}" if base else entry
        fedavg, greedy = (float(end.sel(setting=setting, variant=name)) for name in MAIN)
        paper = [f"{FASHION[entry, name].mean:.1f} %" for name in ("FedAvg", "GreedyFed")]
        return f"FedAvg {fedavg:.1f} % and GreedyFed {greedy:.1f} % with {entry} (paper {' and '.join(paper)})"

    (fedavg, greedy), (drawn, greedy_drawn) = (
        [float(end.sel(setting=base, variant=name)) for name in MAIN] for base in BASES
    )
    early = [f"{last * share:.0f}" for _, suffix, share in ENTRIES.values() if not suffix and share < 1]
    papers = [FASHION["alpha = 0.0001", name].mean for name in ("FedAvg", "GreedyFed")]
    samples = [lead(entries(data)["alpha = 0.0001", base], "FedAvg") for base in BASES]
    leads = [with_limits(one, signed=True) for one in samples]
    behind, ahead = (samples[0] < 0).sum(), (samples[1] > 0).sum()
    pairs = {
        kind: [f"{compared(f'{kind} = {low}', base)}; {compared(f'{kind} = {high}', base)}" for base in BASES]
        for kind, low, high in (("x", 0.5, 0.9), ("sigma", 0.05, 0.1))
    }
    return [
        (
            f"After {last} rounds, means of {seeds} seeds: with one class each FedAvg has {fedavg:.1f} % and GreedyFed "
            f"{greedy:.1f} %, as drawn {drawn:.1f} % and {greedy_drawn:.1f} %, where the paper has {papers[0]} % and "
            f"{papers[1]} %"
        ),
        (
            f"GreedyFed's lead over FedAvg, paired by seed, is {leads[1]} points as drawn and {leads[0]} with one "
            f"class each; the paper's means are {papers[1] - papers[0]:+.1f} apart"
        ),
        (
            f"With clients that have one class each, GreedyFed ends behind FedAvg with {behind} of {seeds} seeds; with "
            f"the clients as drawn it ends ahead with {ahead}"
        ),
        f"as Table I; the rounds {', '.join(early[:-1])} and {early[-1]} of its runs",
        f"{compared('alpha = 0.1')}; {compared('alpha = 100')}",
        f"with stragglers and clients as drawn {pairs['x'][1]}",
        f"with one class each {pairs['x'][0]}",
        f"with noise and clients as drawn {pairs['sigma'][1]}",
        f"with noise and one class each {pairs['sigma'][0]}",
        *_said_of_all(data),
    ]


def _said_of_all(data: "Dataset") -> list[str]:
    """Sentences about all entries of the base case, with the same seeds on both sides of every comparison."""
    found = {base: [entry for (_, own), entry in entries(data).items() if own == base] for base in BASES}
    size = len(found[DRAWN])

    def ahead(base: str, rivals: tuple[str, ...] = RIVALS, *, choosing: bool = False) -> int:
        # Two means can be exactly equal.
        return sum(all(lead(one, rival, choosing=choosing).mean() > 1e-9 for rival in rivals) for one in found[base])

    def off(base: str, *, choosing: bool) -> str:
        offs, spreads = [], []
        for (name, own), entry in entries(data).items():
            for first in FIRST if own == base else ():
                algorithm = first.partition(", ")[0]
                if algorithm != "Centralized":
                    variant, published = best(entry, algorithm) if choosing else first, FASHION[name, algorithm]
                    offs.append(abs(float(entry.sel(variant=variant).mean()) - published.mean))
                    spreads.append(published.deviation)
        within = sum(one <= spread for one, spread in zip(offs, spreads, strict=True))
        return f"{np.mean(offs):.1f} points, {within} of {len(offs)} within its spread"

    names = [name for name, base in entries(data) if base == DRAWN]
    papers = [all(FASHION[name, "GreedyFed"].mean > FASHION[name, one].mean for one in RIVALS) for name in names]
    over_ucb = [mean_and_limits(lead(entry, "UCB")) for entry in found[DRAWN]]
    to_ucb = lead(entries(data)["alpha = 0.0001", DRAWN], "UCB")
    level = sum(low <= 0 <= high for _, low, high in over_ucb)
    worth = {
        name: max(float((base.sel(variant=best(base, name)) - base.sel(variant=own)).mean())
                  for base in found[DRAWN])
        for name, own in zip(("GreedyFed", "UCB", "FedProx"), (FIRST[0], FIRST[1], FIRST[4]), strict=True)
    }  # fmt: skip
    return [
        (
            "With clients as drawn GreedyFed's mean accuracy is above those of four of its five rivals in "
            f"{ahead(DRAWN, RIVALS[1:])} of the {size} entries of the base case, and above all five in {ahead(DRAWN)}; "
            f"with one class each above all five in {ahead(SINGLE)}; the paper has it ahead in {sum(papers)}"
        ),
        (
            f"UCB is level: in {level} of the {size} entries the 95% interval of the lead over it holds 0, after "
            f"{int(data['round'][-1])} rounds it is {with_limits(to_ucb, signed=True)} points"
        ),
        (
            "With the best variant of each algorithm, chosen on the test images, GreedyFed is above all five in "
            f"{ahead(DRAWN, choosing=True)} of the {size}"
        ),
        (
            f"as drawn they differ from the paper's by {off(DRAWN, choosing=False)}, and with the best variants by "
            f"{off(DRAWN, choosing=True)}; with one class each by {off(SINGLE, choosing=False)}"
        ),
        (
            f"the best of five averagings is worth at most {worth['GreedyFed']:.1f} points to GreedyFed, the best of "
            f"four weights {worth['FedProx']:.1f} to FedProx, the best of two explorations {worth['UCB']:.1f} to UCB"
        ),
    ]
