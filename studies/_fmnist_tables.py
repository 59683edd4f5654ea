"""Numbers of Power-of-Choice's runs on FashionMNIST, with those of its Tables 1 and 2, as tables and sentences."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _fmnist_runs import BASE, CODE, CROWD, LONG, SHORT, TENTH, TURNS, WIDE
from _repeated import with_limits

if TYPE_CHECKING:
    from xarray import Dataset

# Rounds to 60%, final accuracy in percent; strategies in the order of ``strategies``.
PUBLISHED = {
    0.3: ((172, 71.21), (234, 64.87), (89, 76.47), (80, 76.63), (98, 76.56), (121, 73.28)),
    2.0: ((135, 63.50), (136, 66.03), (82, 73.81), (89, 73.36), (99, 72.52), (131, 70.64)),
}


class Runs:
    """The runs of a data set, by setting, concentration and strategy."""

    def __init__(self, data: "Dataset") -> None:
        self.rounds, self.target = data["round"].values, float(data.attrs["target"])
        self.settings = list(dict.fromkeys(map(str, data["setting"].values)))
        self.strategies = list(dict.fromkeys(map(str, data["strategy"].values)))
        self.many = max(int(name.rpartition(" ")[2]) for name in self.strategies if name.startswith("rand"))
        self.early = int(self.rounds[np.isfinite(data["accuracy"].values).sum(axis=1).min() - 1])
        keys = zip(*(data[name].values.tolist() for name in ("setting", "concentration", "strategy")), strict=True)
        self._found: dict[tuple[Any, ...], dict[int, Any]] = {}
        for key, seed, accuracy in zip(keys, data["seed"].values.tolist(), data["accuracy"].values, strict=True):
            self._found.setdefault(key, {})[seed] = accuracy

    @property
    def keys(self) -> list[tuple[str, float, str]]:
        """Return the settings, concentrations and strategies of all runs."""
        return [(str(setting), float(alpha), str(name)) for setting, alpha, name in self._found]

    def chosen(self, setting: str, concentration: float, name: str, *, whole: bool = True) -> dict[int, Any]:
        """Return accuracies by the seed of the partition: of complete runs, or of the first rounds of all runs."""
        found = self._found[setting, concentration, name]
        if whole:
            return {seed: found[seed] for seed in sorted(found) if np.isfinite(found[seed]).all()}
        return {seed: found[seed][self.rounds <= self.early] for seed in sorted(found)}

    def of(self, setting: str, concentration: float, name: str, *, whole: bool = True, first: bool = False) -> Any:
        """Accuracies by partition, shape (partitions, rounds), of all partitions or of the first one."""
        found = list(self.chosen(setting, concentration, name, whole=whole).values())
        return np.array(found[:1] if first else found)

    def differences(self, first: tuple[str, float, str], second: tuple[str, float, str], *, whole: bool = True) -> Any:
        """Return differences in accuracy at the end, or in the first rounds, on the same partitions."""
        both = [self.chosen(*key, whole=whole) for key in (first, second)]
        if list(both[0]) != list(both[1]):
            message = (
                f"a comparison must be of the same partitions on both sides, got {list(both[0])} and {list(both[1])}"
            )
            raise ValueError(message)
        of = self.last if whole else self.soon
        return of(np.array(list(both[0].values()))) - of(np.array(list(both[1].values())))

    def reached(self, accuracies: Any) -> Any:
        """Return the first recorded round at the target for each partition, NaN if there is none."""
        there = accuracies >= self.target
        return np.where(there.any(axis=1), self.rounds[there.argmax(axis=1)], np.nan)

    def last(self, accuracies: Any) -> Any:
        """Accuracy over the last tenth of the rounds by partition."""
        return accuracies[:, self.rounds > 0.9 * self.rounds[-1]].mean(axis=1)

    def soon(self, accuracies: Any) -> Any:
        """Accuracy over the second half of the first rounds by partition."""
        rounds = self.rounds[: accuracies.shape[1]]
        return accuracies[:, rounds > rounds[-1] / 2].mean(axis=1)


def shown(values: Any, digits: int) -> str:
    """Format the mean, with limits if there are several partitions, and their number if some are missing."""
    if not np.isfinite(values).all():
        return f"reached {np.isfinite(values).sum()} times of {values.size}"
    return with_limits(values, digits) if values.size > 1 else f"{values[0]:.{digits}f}"


def lead(runs: Runs, setting: str, concentration: float) -> Any:
    """Return the final accuracy of pow-d minus that of random selection, on the same partitions."""
    rand, pow_d = _main(runs)
    return runs.differences((setting, concentration, pow_d), (setting, concentration, rand))


def leads(runs: Runs, concentration: float) -> dict[str, Any]:
    """Return the leads of pow-d by setting, of complete runs; with many clients if there is no run with few."""
    found, (rand, pow_d) = {}, _main(runs)
    wide = [name for name in runs.strategies if "m = " in name and name != rand][:2]
    for setting in runs.settings:
        for first, second in ((rand, pow_d), wide):
            keys = (setting, concentration, second), (setting, concentration, first)
            if setting not in found and all(key in runs.keys and runs.chosen(*key) for key in keys):
                found[setting] = runs.differences(*keys)
    return found


def ends(runs: Runs, concentration: float) -> dict[str, Any]:
    """Accuracies at the end as published, in the order of Table 1."""
    names = [name for name in _in_order(runs) if (BASE, concentration, name) in runs.keys]
    return {name: runs.last(runs.of(BASE, concentration, name)) for name in names[: len(PUBLISHED[0.3])]}


def _main(runs: Runs) -> list[str]:
    """Random selection and pow-d with few clients."""
    return _in_order(runs)[1:3]


def _number(name: str) -> int:
    return int(name.rpartition(" ")[2])


def _in_order(runs: Runs) -> list[str]:
    """Strategies in the order of Tables 1 and 2, then pow-d with more candidates."""
    rand = sorted((name for name in runs.strategies if name.startswith("rand")), key=_number, reverse=True)
    pow_d, *more = sorted((name for name in runs.strategies if name.startswith("pow-d, d")), key=_number)
    kinds = ("cpow-d, d", "rpow-d, d", "afl by reports")
    others = [name for kind in kinds for name in runs.strategies if name.startswith(kind) and "m = " not in name]
    return [*rand, pow_d, *others, *more]


def rows_of_fashion(data: "Dataset") -> list[dict[str, Any]]:
    """One row per setting, concentration and strategy, with the paper's numbers."""
    runs, rows = Runs(data), []
    order = list(_in_order(runs))
    for setting, concentration, name in sorted(runs.keys, key=lambda key: (runs.settings.index(key[0]), key[1])):
        here = runs.of(setting, concentration, name)
        whole = bool(len(here))
        here = here if whole else runs.of(setting, concentration, name, whole=False)
        paper: Any = ("", "")
        if whole and setting == BASE and data.attrs["published"]:
            published = dict(zip(order, PUBLISHED.get(concentration, ()), strict=False))
            paper = published.get(name, paper)
        rivals, final = _main(runs), runs.last(here) if whole else runs.soon(here)
        leads = lead(runs, setting, concentration) if whole and name == rivals[1] else np.array([])
        rows.append({
            "setting": setting if whole else f"{setting}, to round {runs.early}", "concentration": concentration,
            "strategy": name, "partitions": len(here), "rounds to the target": shown(runs.reached(here), 0),
            "paper: rounds": paper[0], "accuracy [%]": shown(final, 1), "paper: accuracy": paper[1],
            "lead over rand, m = few": shown(leads, 1) if leads.size else "", "floats up": "", "models down": "",
        })  # fmt: skip
    return rows


def checks_of_fashion(data: "Dataset") -> dict[str, Check]:
    """Test that all runs learn and, for complete runs, that losses decrease and that dropout costs accuracy."""
    runs, accuracy = Runs(data), data["accuracy"].values
    whole = np.isfinite(accuracy).all(axis=1)
    late = runs.last(accuracy[whole])
    gained = float((late - accuracy[whole, 0]).min())
    # The loss of a client that is never drawn may increase.
    drawn = np.array(["same clients" not in str(name) for name in data["setting"].values])
    ratios, dropping = data["loss_ratio"].values, data["dropping"].values
    fallen, lost = float(ratios[whole & drawn].max()), float((late - dropping[whole]).mean())
    return {
        "every run learns": Check(gained > 5, f"at least {gained:.1f} points gained"),
        "every loss falls where all clients can be drawn": Check(fallen < 1, f"largest ratio {fallen:.2f}"),
        "units that are dropped cost accuracy": Check(lost > 0, f"{lost:.1f} points on average"),
    }


def said_of_fashion(data: "Dataset") -> list[str]:
    """Sentences about Figures 5 to 15 and Tables 1 and 2; the paper's numbers are those of its tables."""
    runs = Runs(data)
    return [*_said_of_tables(runs), *_said_of_figures(runs), *_said_of_changes(runs)]


def _said_of_tables(runs: Runs) -> list[str]:
    names = _in_order(runs)
    ten, rand, pow_d, *others = names[: len(PUBLISHED[0.3])]
    tables = {alpha: dict(zip(names, rows, strict=False)) for alpha, rows in PUBLISHED.items()}

    def row(alpha: float, name: str, *, first: bool = False) -> str:
        here, (rounds, accuracy) = runs.of(BASE, alpha, name, first=first), tables[alpha][name]
        return f"{shown(runs.reached(here), 0)} and {shown(runs.last(here), 1)}% ({rounds} and {accuracy:.2f}%)"

    def both(setting: str, alpha: float = 0.3) -> str:
        pairs = [runs.of(setting, alpha, name, first=True) for name in (rand, pow_d)]
        (one, two), (end, last) = ([float(of(pair)[0]) for pair in pairs] for of in (runs.reached, runs.last))
        return f"{one:.0f} and {two:.0f} rounds, {end:.1f}% and {last:.1f}%"

    def label(name: str) -> str:
        return "random selection" if name == rand else name.partition(",")[0]

    base = [runs.of(BASE, 0.3, name) for name in (rand, pow_d)]
    rounds, ends = ([shown(of(one), digits) for one in base] for of, digits in ((runs.reached, 0), (runs.last, 1)))
    short = [shown(runs.last(runs.of(SHORT, 0.3, name)), 1) for name in (rand, pow_d)]
    (paper_rand, end_rand), (paper_pow, end_pow) = (tables[0.3][name] for name in (rand, pow_d))
    (far_rand, far_end), (far_pow, last_end) = (tables[2.0][name] for name in (rand, pow_d))
    num = len(base[0])
    return [
        (
            f"on {num} partitions {rounds[0]} and {rounds[1]} rounds to 60% with random selection and pow-d (paper "
            f"{paper_rand} and {paper_pow}), accuracies {ends[0]}% and {ends[1]}% (paper {end_rand}% and {end_pow}%), "
            f"a lead of {with_limits(lead(runs, BASE, 0.3), signed=True)} points (paper {end_pow - end_rand:.1f})"
        ),
        f"with a tenth of the step {both(TENTH)}",
        (
            f"with a sixth of the step and one pass {both(SHORT)} on the first partition; on all {num} random "
            f"selection ends at {short[0]}%, Power-of-Choice at {short[1]}%"
        ),
        f"to {runs.target:g}% and accuracies, in brackets the paper's: "
        + "; ".join(f"{label(name)} {row(0.3, name)}" for name in others),
        "at concentration 2: " + "; ".join(f"{label(name)} {row(2.0, name)}" for name in (rand, pow_d, *others)),
        f"random selection of ten clients has {row(0.3, ten, first=True)}",
        f"random selection of ten clients has {row(2.0, ten, first=True)} at concentration 2",
        f"At concentration 2 a tenth of the step has {both(TENTH, 2.0)}",
        (
            f"at concentration 2 it has {both(SHORT, 2.0)}, where the paper has {far_rand} and {far_pow}, {far_end}% "
            f"and {last_end}%"
        ),
    ]


def _said_of_figures(runs: Runs) -> list[str]:
    *few, more = _in_order(runs)[1:]
    wide = [name for name in runs.strategies if "m = 10" in name]

    def ends(setting: str, names: list[str]) -> str:
        words = []
        for alpha in (0.3, 2.0):
            *before, last = (f"{float(runs.last(runs.of(setting, alpha, n, first=True))[0]):.1f}%" for n in names)
            words.append(f"{', '.join(before)} and {last}")
        return f"{words[0]} at concentration 0.3 and {words[1]} at 2"

    asked = {
        "with ten clients a round": (BASE, wide), "with batches of 128": (WIDE, few),
        "with 100 local steps": (LONG, few), "where groups take turns": (TURNS, few),
        "with ten of 500 clients a round, where the paper has 15,": (CROWD, wide),
    }  # fmt: skip
    candidates = f"{few[1].partition('= ')[2]} and {more.partition('= ')[2]}"
    return [
        *(
            f"{where} random selection and pow-d end at {ends(setting, names[:2])}, cpow-d, rpow-d and afl at "
            f"{ends(setting, names[2:])}"
            for where, (setting, names) in asked.items()
        ),
        f"with {candidates} candidates (Figure 5) pow-d ends at {ends(BASE, [few[1], more])}",
    ]


def _said_of_changes(runs: Runs) -> list[str]:
    """Compare the first rounds of random selection after one change with the published setting, paired by partition."""
    rand, words = _main(runs)[0], []
    base = (BASE, 0.3, rand)
    for setting in runs.settings:
        key = (setting, 0.3, rand)
        # The code's partition is a different one, so that differences cannot be paired.
        if (
            setting in (BASE, CODE)
            or key not in runs.keys
            or runs.chosen(*key, whole=False).keys() != runs.chosen(*base).keys()
        ):
            continue
        words.append(f"{with_limits(runs.differences(key, base, whole=False), signed=True)} with *{setting}*")
    leads = [with_limits(lead(runs, name, 0.3), signed=True) for name in (BASE, TENTH, SHORT)]
    return [
        f"In the first {runs.early} rounds random selection's accuracy changes by {', '.join(words)}",
        f"{leads[0]} points as published, {leads[1]} with a tenth of the step, {leads[2]} with a sixth and one pass",
    ]
