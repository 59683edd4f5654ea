r"""
Who are the one-class clients of GreedyFed's tables?
====================================================

**GreedyFed ends above FedAvg with clients as they were drawn, half of which have all classes alike by an underflow;
with clients of one class each it ends below.**

**Question.** The base case of GreedyFed's Tables I to IV is the label skew :math:`\alpha = 10^{-4}`, at which each
client should have one class. There, on FashionMNIST, the paper has GreedyFed ahead of FedAvg, 85.2 % against 82.8 %.
Are these clients what they are said to be, and who is ahead if they are?

**Method.** The authors' public code draws a client's class shares from a Dirichlet law, as ten gamma variables that are
normalized. In double precision a gamma variable of shape :math:`10^{-4}` falls below the smallest normal number,
:math:`2^{-1022}`, with probability :math:`2^{-1022 \alpha}/\Gamma(1 + \alpha)` = 0.93. If all ten do, with probability
0.493, all shares are 0.1. *As drawn* are clients with that underflow, *one class* clients without it. All else is the
paper's: N = 300, M = 3, T = 400, a perceptron 784-50-25-10, E = 5 epochs of B = 5 mini-batches, step size 0.01,
momentum 0.5, half of the test images for validation and half for the test. By default all seven algorithms are run with
five seeds, all but FedAvg and GreedyFed with one where there are stragglers or noise, and all their variants with
clients as drawn. ``--tables`` runs all FashionMNIST columns of Tables I to IV, with the best of five averagings, four
weights of FedProx and two explorations of UCB, as the paper reports them, and says what choosing the best is worth.
Each run is kept in the folder of ``--runs``, so that the same command goes on after a stop::

    python studies/greedyfed_fashion.py --tables --output results/fashion-tables

and ``--hidden 200`` takes the other perceptron. FashionMNIST has to be on the machine
(``apt-get install dataset-fashion-mnist``); ``--data`` takes four IDX files instead.

**Reading.** Left: the classes of clients as drawn. Half of them have one class, the others have all ten alike. Middle
and right: test accuracies of each seed, and their means. The diamonds are the paper's. After 400 rounds, means of 5
seeds: with one class each FedAvg has 58.2 % and GreedyFed 39.7 %, as drawn 79.7 % and 84.5 %, where the paper has 82.84
% and 85.18 %. GreedyFed's lead over FedAvg, paired by seed, is +4.8 [-2.3, +11.9] points as drawn and -18.5 [-29.7,
-7.4] with one class each; the paper's means are +2.3 apart. The second figure has all entries of the tables, hollow the
paper's: on the right what the paper calls one class, on the left what has one.

*As drawn the paper comes back.* Accuracies of all algorithms in all entries of the base case: as drawn they differ from
the paper's by 3.0 points, 30 of 48 within its spread; with one class each by 28.6 points, 2 of 48 within its spread; in
8 of the 8 entries that are of the base case GreedyFed is ahead of its five rivals with clients as drawn, in 0 with one
class each; the paper has it ahead in 8. Without choosing the best variants it would be 6: UCB is level, GreedyFed's
lead over it is +0.0 [-0.7, +0.7] points after 400 rounds, paired by seed.

*Other skews*, Table I: FedAvg 76.5 % and GreedyFed 79.3 % with alpha = 0.1 (paper 72.7 % and 79.2 %); FedAvg 85.3 % and
GreedyFed 84.2 % with alpha = 100 (paper 85.4 % and 84.8 %). *Stragglers*, Table III, five seeds: with stragglers and
clients as drawn FedAvg 80.0 % and GreedyFed 84.0 % with x = 0.5 (paper 78.9 % and 84.7 %); FedAvg 79.5 % and GreedyFed
83.6 % with x = 0.9 (paper 76.2 % and 84.2 %); with one class each FedAvg 59.9 % and GreedyFed 45.8 % with x = 0.5
(paper 78.9 % and 84.7 %); FedAvg 59.3 % and GreedyFed 41.8 % with x = 0.9 (paper 76.2 % and 84.2 %). *Noise*, Table IV:
with noise and clients as drawn FedAvg 72.3 % and GreedyFed 80.3 % with sigma = 0.05 (paper 74.8 % and 81.2 %); FedAvg
60.7 % and GreedyFed 75.7 % with sigma = 0.1 (paper 62.2 % and 77.2 %); with noise and one class each FedAvg 46.5 % and
GreedyFed 39.8 % with sigma = 0.05 (paper 74.8 % and 81.2 %); FedAvg 31.7 % and GreedyFed 34.3 % with sigma = 0.1 (paper
62.2 % and 77.2 %).

*The best of several*, as the paper reports, chosen on the test images: as drawn the best of five averagings is worth
0.3 points to GreedyFed, the best of four weights 0.1 to FedProx, the best of two explorations 0.0 to UCB. All but
FedAvg and GreedyFed have one seed with stragglers and noise.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _fashion_published import ENTRIES, FASHION
from _fashion_runs import BASES, SETTINGS, VARIANTS, Run, accuracy_curve, deal_images
from _repeated import with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.datasets.class_shares import underflowing_shares
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


EVERY = tuple(", ".join(filter(None, (name, one))) for name, own in VARIANTS.items() for one in own)
FIRST = tuple(", ".join(filter(None, (name, next(iter(own))))) for name, own in VARIANTS.items())
MAIN = ("FedAvg", "GreedyFed, mean")
TITLES = {"one class": "one class each", "as drawn": "as drawn"}


@dataclass(frozen=True)
class Config:
    """Test accuracies of GreedyFed and its rivals on FashionMNIST, with one-class clients and with the underflow."""

    data: tuple[str, ...] = ("fashion-mnist",)
    """Images: fashion-mnist, digits, or four IDX files (images and labels to train on, and to test)."""
    tables: bool = False
    """Run all that Tables I to IV have, five seeds, whatever settings, variants, choices and once say."""
    settings: tuple[str, ...] = tuple(SETTINGS)
    """Which settings to run."""
    variants: tuple[str, ...] = FIRST
    """Which algorithms to run, each with its parameter if it has one."""
    choices: tuple[str, ...] = ("as drawn",)
    """Settings in which all variants of all algorithms are run, to see what choosing the best is worth."""
    once: tuple[str, ...] = tuple(name for name in SETTINGS if SETTINGS[name][0] != name)
    """Settings in which all but FedAvg and GreedyFed are run with the first seed alone."""
    num_server: int = 10_000
    """Images of the server, half for validation and half for the test."""
    num_clients: int = 300
    """Clients N."""
    num_selected: int = 3
    """Clients per round M."""
    num_rounds: int = 400
    """Rounds T."""
    num_epochs: int = 5
    """Local epochs E."""
    num_batches: int = 5
    """Mini-batches per epoch B."""
    step_size: float = 0.01
    """Local step size."""
    hidden: tuple[int, ...] = (50, 25)
    """Hidden layers."""
    min_samples: int = 31
    """Fewest samples of a client."""
    num_seeds: int = 5
    """Seeds: each has its own partition, initial model and selections."""
    record_every: int = 50
    """Rounds between two tests."""
    num_draws: int = 30_000
    """Draws of class shares that are counted."""
    runs: str | None = "results/greedyfed_fashion-runs"
    """Folder that keeps each run, so that what was stopped goes on; None keeps none."""
    seed: int = 0
    """First seed."""


QUICK = Config(
    data=("digits",), settings=BASES, variants=MAIN, choices=(), num_server=600, num_clients=12, num_rounds=24,
    num_seeds=2, record_every=3, hidden=(16,), step_size=0.1, min_samples=5, num_draws=2_000, runs=None,
)  # fmt: skip
KINDS = ("all classes alike", "one class", "other")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Count draws, deal the images, and train what is missing."""
    settings, variants, choices, once = config.settings, config.variants, config.choices, config.once
    num_seeds = config.num_seeds
    if config.tables:
        settings, variants, choices, once, num_seeds = tuple(SETTINGS), EVERY, (), (), max(5, num_seeds)
    _refuse_unknown((*settings, *choices, *once), variants)
    asked = {setting: dict.fromkeys((*variants, *EVERY) if setting in choices else variants) for setting in settings}
    variants = tuple(dict.fromkeys(variant for own in asked.values() for variant in own))
    common = Run(**{name: getattr(config, name) for name in Run.__dataclass_fields__ if name in vars(config)})
    curves: dict[tuple[str, str, int], Any] = {}
    jobs = [
        (v, s, k) for k in range(num_seeds) for s in settings for v in asked[s] if k == 0 or v in MAIN or s not in once
    ]
    for variant, setting, k in progress(jobs, "runs"):
        # Who trains on everything has neither stragglers nor noise.
        alike = SETTINGS[setting][0] if variant == "Centralized" else setting
        if (variant, alike, k) in curves:
            curves[variant, setting, k] = curves[variant, alike, k]
            continue
        grid: dict[str, list[Any]] = {"common": [common], "setting": [alike], "variant": [variant]}
        kept = None if config.runs is None else f"{config.runs}/{variant}/{alike}/{config.seed + k}"
        one = ft.sweep(accuracy_curve, grid, seeds=[config.seed + k], backend="sequential", out=kept)
        if one.failures:
            message = f"{variant} with {setting} must run, got {one.failures[0].error}"
            raise ValueError(message)
        curves[variant, setting, k] = curves[variant, alike, k] = one.data["accuracy"].squeeze(drop=True)
    return _labelled(config, common, settings, variants, num_seeds, curves)


def _refuse_unknown(settings: tuple[str, ...], variants: tuple[str, ...]) -> None:
    for name, words, wanted in (("settings", settings, list(SETTINGS)), ("variants", variants, EVERY)):
        unknown = [word for word in words if word not in wanted]
        if unknown:
            message = f"{name} must be among {'; '.join(wanted)}, got {unknown[0]}"
            raise ValueError(message)


def _labelled(
    config: Config, common: Run, settings: Any, variants: Any, num_seeds: int, curves: dict[tuple[str, str, int], Any]
) -> "Dataset":
    import xarray

    rounds = np.arange(0, config.num_rounds + 1, config.record_every)
    # What was not run is not a number.
    nothing = np.full(rounds.size, np.nan)
    found = np.array([[[curves.get((v, s, k), nothing) for k in range(num_seeds)] for v in variants] for s in settings])
    draws = underflowing_shares(np.random.default_rng([config.seed, 3]), 1e-4, config.num_draws, 10)
    alike, single = draws.max(axis=1) == draws.min(axis=1), draws.max(axis=1) > 0.999
    shares = []
    for base in BASES:
        clients = deal_images(common, base, 1e-4, config.seed).clients
        shares.append(ft.datasets.heterogeneity(clients).label_distributions)
    return xarray.Dataset(
        {
            "accuracy": (("setting", "variant", "seed", "round"), found),
            "draws": ("kind", [int(alike.sum()), int(single.sum()), int((~alike & ~single).sum())]),
            "shares": (("base", "client", "class"), np.array(shares)),
        },
        coords={
            "setting": list(settings),
            "variant": list(variants),
            "round": rounds,
            "kind": list(KINDS),
            "base": list(BASES),
        },
        attrs={"data": " ".join(config.data)},
    )


def _entries(data: "Dataset") -> list[tuple[str, str, str, Any]]:
    """Table, name of the entry, base, and accuracies (variant, seed)."""
    found = []
    for name, (title, suffix, share) in ENTRIES.items():
        settings = [suffix] if suffix in SETTINGS else [f"{base}, {suffix}" if suffix else base for base in BASES]
        for setting in settings:
            if setting in data["setting"]:
                last = int(np.searchsorted(data["round"], share * float(data["round"][-1]) - 1e-9))
                base = "" if suffix in SETTINGS else SETTINGS[setting][0]
                found.append((title, name, base, data["accuracy"].sel(setting=setting).isel(round=last)))
    return found


def table(data: "Dataset") -> study.Table:
    """One row per entry, kind of clients and algorithm: the best variant, and the paper's."""
    rows = []
    for title, name, base, entry in _entries(data):
        for algorithm in dict.fromkeys(str(variant).partition(", ")[0] for variant in data["variant"].values):
            own = [str(v) for v in data["variant"].values if str(v).partition(", ")[0] == algorithm]
            own = [variant for variant in own if entry.sel(variant=variant).notnull().any()]
            if not own:
                continue
            means = {variant: float(entry.sel(variant=variant).mean()) for variant in own}
            best = max(own, key=lambda variant: means[variant])
            published, samples = FASHION[name, algorithm], entry.sel(variant=best).dropna("seed").values
            difference = means[best] - published.mean
            rows.append({
                "table": title, "entry": name, "clients": base, "algorithm": algorithm,
                "best variant": best.partition(", ")[2], "of": len(own), "seeds": samples.size, "mean [%]": means[best],
                "std": float(samples.std(ddof=1)) if samples.size > 1 else float("nan"),
                "the best is worth": means[best] - means[own[0]],
                "paper [%]": published.mean, "its std": published.deviation, "difference": difference,
                "within its std": "yes" if abs(difference) <= published.deviation else "no",
            })  # fmt: skip
    caption = "What the best variant is worth is its mean less that of the first one, on the same test images."
    return study.Table(rows, title="Test accuracy", caption=caption)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test that everything trained, and that draws underflow as often as the law says."""
    first, last = data["accuracy"].isel(round=0).mean(), data["accuracy"].isel(round=-1).mean("seed")
    ran = np.isfinite(data["accuracy"].values)
    # What was not run has no number at all; with every seed something was, in every setting.
    whole = ran.all(axis=-1)
    least, everything = float(last.min()), bool((whole == ran.any(axis=-1)).all() and whole.any(axis=1).all())
    counts = data["draws"].values
    wanted, observed = ft.datasets.underflow_probability(1e-4, 10), counts[0] / counts.sum()
    # Hoeffding: a right sampler is farther away with probability 1e-9.
    off = np.sqrt(np.log(2e9) / (2 * counts.sum()))
    single = data["shares"].sel(base="one class").max("class")
    one_class = float((single == 1).mean())
    return {
        "every algorithm learns": study.Check(least > float(first) + 10, f"least mean accuracy {least:.1f} %"),
        "no run diverged": study.Check(everything, "all accuracies are numbers" if everything else "some are not"),
        "draws have all classes alike as often as the law says": study.Check(
            abs(observed - wanted) <= off, f"{observed:.4f} of {counts.sum()}, the law says {wanted:.4f}"
        ),
        "without the underflow clients have one class": study.Check(
            one_class > 0.9, f"{100 * one_class:.1f} % of the clients do"
        ),
    }


def underflow_figure(data: "Dataset") -> "Figure":
    """Draw what the draws look like, and who of two is ahead with one class each, and as drawn."""
    import matplotlib.pyplot as plt

    data = data.sel(variant=[name for name in MAIN if name in data["variant"]] or data["variant"].values)
    with appearance():
        figure, (left, *others) = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", width_ratios=(1.15, 1, 1))
        _draw_shares(left, data["shares"].sel(base="as drawn").values[:30])
        counts = data["draws"].values
        left.set_title(f"clients as drawn: {100 * counts[0] / counts.sum():.0f} % have all classes alike", fontsize=9)
        for axes, base in zip(others, BASES, strict=True):
            axes.set_title(TITLES[base], fontsize=9)
            if base in data["setting"]:
                best = data["accuracy"].sel(setting=base).isel(round=-1).mean("seed").idxmax("variant").item()
                axes.set_title(f"{TITLES[base]}: {str(best).partition(', ')[0]} ends ahead", fontsize=9)
                _draw_curves(
                    axes, data.sel(setting=base), papers=base == "as drawn" and data.attrs["data"] == "fashion-mnist"
                )
            axes.set_xlabel("rounds")
            axes.set_ylim(0, 100)
        others[0].set_ylabel("test accuracy [%]")
        return legend_below(figure, num_columns=4)


def _draw_shares(axes: Any, shares: Any) -> None:
    from matplotlib import colormaps

    # Clients of one class first, by class.
    shares = shares[np.lexsort((shares.argmax(axis=1), -shares.max(axis=1)))]
    places, below = np.arange(len(shares)), np.zeros(len(shares))
    colors = colormaps["tab10"](np.arange(10))
    for label, part in enumerate(shares.T):
        axes.bar(places, part, bottom=below, width=0.9, color=colors[label % 10])
        below = below + part
    axes.grid(visible=False)
    axes.set_xlabel(f"{len(shares)} clients, sorted")
    axes.set_ylabel("share of each class (a color)")
    axes.set_xticks([])
    axes.set_ylim(0, 1)


def _draw_curves(axes: Any, data: "Dataset", *, papers: bool) -> None:
    for place, variant in enumerate(data["variant"].values):
        name = str(variant).partition(", ")[0]
        curves, rounds = data["accuracy"].sel(variant=variant), data["round"].values
        for one in curves.values:
            axes.plot(rounds, one, color=COLORS[place % len(COLORS)], linewidth=0.6, alpha=0.6)
        axes.plot(
            rounds, curves.mean("seed"), color=COLORS[place % len(COLORS)], marker=MARKERS[place % len(MARKERS)],
            markersize=4, label=str(variant).replace(", mean", ""),
        )  # fmt: skip
        if papers:
            entries = {"T = 150": 150, "T = 250": 250, "T = 350": 350, "alpha = 0.0001": 400}
            means, errors = zip(*(FASHION[entry, name] for entry in entries), strict=True)
            axes.errorbar(
                list(entries.values()), means, yerr=errors, fmt="D", color=COLORS[place % len(COLORS)],
                markerfacecolor="none", capsize=2, linewidth=0.8, label=f"{name}, paper",
            )  # fmt: skip


def tables_figure(data: "Dataset") -> "Figure":
    """Draw every entry of Tables I to IV on a line: filled what is measured, hollow what the paper has."""
    import matplotlib.pyplot as plt

    rows = table(data).rows
    entries = list(dict.fromkeys(row["entry"] for row in rows))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    with appearance():
        figure, panels = plt.subplots(1, 2, figsize=(9, 1.5 + 0.55 * len(entries)), sharex=True, sharey=True)
        for axes, base in zip(panels, BASES, strict=True):
            for place, algorithm in enumerate(algorithms):
                here = [row for row in rows if row["algorithm"] == algorithm and row["clients"] in (base, "")]
                heights = [-entries.index(row["entry"]) + 0.3 - 0.1 * place for row in here]
                look: dict[str, Any] = {"color": COLORS[place], "marker": MARKERS[place], "linestyle": "none"}
                axes.plot([row["mean [%]"] for row in here], heights, label=algorithm, markersize=5, **look)
                axes.plot([row["paper [%]"] for row in here], heights, markerfacecolor="none", markersize=5, **look)
            axes.set_title(TITLES[base])
            axes.set_xlabel("test accuracy [%]")
        panels[0].plot([], [], "o", color="black", markerfacecolor="none", label="hollow: the paper")
        panels[0].set_yticks([-place for place in range(len(entries))], entries)
        return legend_below(figure, num_columns=4)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures."""
    end, seeds = data["accuracy"].isel(round=-1).mean("seed"), data.sizes["seed"]

    def both(setting: str) -> tuple[float, float]:
        fedavg, greedy = end.sel(setting=setting, variant=list(MAIN)).values
        return float(fedavg), float(greedy)

    def paper(entry: str) -> tuple[float, float]:
        return FASHION[entry, "FedAvg"].mean, FASHION[entry, "GreedyFed"].mean

    def compared(entry: str, base: str = "") -> str:
        one, (fedavg, greedy) = both(f"{base}, {entry}" if base else entry), paper(entry)
        paper_has = f"paper {fedavg:.1f} % and {greedy:.1f} %"
        return f"FedAvg {one[0]:.1f} % and GreedyFed {one[1]:.1f} % with {entry} ({paper_has})"

    (fedavg, greedy), (drawn, greedy_drawn) = map(both, BASES)
    papers = paper("alpha = 0.0001")
    last = int(data["round"][-1])
    early = [f"{last * share:.0f}" for _, suffix, share in ENTRIES.values() if not suffix and share < 1]
    single, as_drawn = BASES
    leads = data["accuracy"].isel(round=-1).sel(variant=list(MAIN)).diff("variant").squeeze("variant")
    lead, drawn_lead = (with_limits(leads.sel(setting=base), signed=True) for base in BASES)
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
            f"GreedyFed's lead over FedAvg, paired by seed, is {drawn_lead} points as drawn and {lead} with one class "
            f"each; the paper's means are {papers[1] - papers[0]:+.1f} apart"
        ),
        f"as Table I; the rounds {', '.join(early[:-1])} and {early[-1]} of its runs",
        f"{compared('alpha = 0.1')}; {compared('alpha = 100')}",
        f"with stragglers and clients as drawn {pairs['x'][1]}",
        f"with one class each {pairs['x'][0]}",
        f"with noise and clients as drawn {pairs['sigma'][1]}",
        f"with noise and one class each {pairs['sigma'][0]}",
        *_said_of_all(data, single, as_drawn),
    ]


def _said_of_all(data: "Dataset", single: str, as_drawn: str) -> list[str]:
    """Numbers over all entries of the base case, and what choosing the best variant is worth."""
    rows = table(data).rows
    entries = list(dict.fromkeys(row["entry"] for row in rows if row["clients"] == as_drawn))
    rivals = ("UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice")

    def ahead(mean: Any) -> int:
        return sum(mean(entry, "GreedyFed") > max(mean(entry, name) for name in rivals) for entry in entries)

    def measured(base: str, among: Any = rows) -> Any:
        found = {(row["entry"], row["algorithm"]): row["mean [%]"] for row in among if row["clients"] == base}
        return lambda entry, name: found[entry, name]

    def off(base: str) -> str:
        here = [row for row in rows if row["clients"] == base and row["algorithm"] != "Centralized"]
        within = sum(row["within its std"] == "yes" for row in here)
        return (
            f"{np.mean([abs(row['difference']) for row in here]):.1f} points, {within} of {len(here)} within its spread"
        )

    unchosen = ahead(measured(as_drawn, table(data.sel(variant=list(FIRST))).rows))
    last = data["accuracy"].isel(round=-1).sel(setting=as_drawn)
    greedy, ucb = (last.sel(variant=name).values for name in ("GreedyFed, mean", "UCB, 0.01"))
    worth = {
        row["algorithm"]: row["the best is worth"]
        for row in rows
        if (row["entry"], row["clients"]) == ("alpha = 0.0001", as_drawn)
    }
    return [
        (
            f"in {ahead(measured(as_drawn))} of the {len(entries)} entries that are of the base case GreedyFed is "
            f"ahead of its five rivals with clients as drawn, in {ahead(measured(single))} with one class each; the "
            f"paper has it ahead in {ahead(lambda entry, name: FASHION[entry, name].mean)}"
        ),
        (
            f"Without choosing the best variants it would be {unchosen}: UCB is level, GreedyFed's lead over it is "
            f"{with_limits(greedy - ucb, signed=True)} points after {int(data['round'][-1])} rounds, paired by seed"
        ),
        f"as drawn they differ from the paper's by {off(as_drawn)}; with one class each by {off(single)}",
        (
            f"the best of five averagings is worth {worth['GreedyFed']:.1f} points to GreedyFed, the best of four "
            f"weights {worth['FedProx']:.1f} to FedProx, the best of two explorations {worth['UCB']:.1f} to UCB"
        ),
    ]


STUDY = study.Study(
    name="greedyfed_fashion",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"underflow": underflow_figure, "tables": tables_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
