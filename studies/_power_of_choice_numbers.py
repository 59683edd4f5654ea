"""Numbers of Power-of-Choice's runs on images of clothes, and what the pages say of them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _power_of_choice_images import strategies
from _repeated import with_limits

if TYPE_CHECKING:
    from xarray import Dataset

BASE = "as published"
SAME = "the same clients"
TENTH = "a tenth of the step"
SHORT = "a sixth of the step, one pass"
CODE = "the code's partition"
RERUN = "as a public rerun"
WIDE = "batches of 128"
LONG = "100 local steps"
TURNS = "groups take turns"
CROWD = "500 clients"
# Tables 1 and 2: rounds to 60%, final accuracy in percent; strategies in the order of ``strategies``.
PUBLISHED = {
    0.3: ((172, 71.21), (234, 64.87), (89, 76.47), (80, 76.63), (98, 76.56), (121, 73.28)),
    2.0: ((135, 63.50), (136, 66.03), (82, 73.81), (89, 73.36), (99, 72.52), (131, 70.64)),
}
# Rounds to 60%, and mean accuracy of the last 40 of 400 rounds, of rand with three clients and pow-d with d = 6 at
# concentration 0.3, in the logs of github.com/peng-ju/Power-of-Choice (dnn/logs, fmnist_fig5b and fmnist_fig4b).
RERUN_LOGS = (86, 69.69), (48, 70.48)


def partitions_run(data: "Dataset") -> "Dataset":
    """Partitions on which a strategy was run to the end in a setting."""
    return data.isel(seed=np.flatnonzero(data["accuracy"].notnull().all("round")))


def first_at_target(data: "Dataset", name: str = "accuracy", rounds: str = "round") -> Any:
    """First recorded round at the target, NaN if there is none."""
    there = data[name] >= data.attrs["target"]
    return data[rounds].isel({rounds: there.argmax(rounds)}).where(there.any(rounds))


def early_accuracy(data: "Dataset") -> Any:
    """Accuracy of the first rounds, averaged over their second half."""
    return data["early"].where(data["early_round"] > data["early_round"].max() / 2, drop=True).mean("early_round")


def there_to_stay(data: "Dataset") -> Any:
    """First recorded round from which on accuracy is at the target, NaN if the last one is below."""
    below, num = data["accuracy"] < data.attrs["target"], data.sizes["round"]
    after = num - below.isel(round=slice(None, None, -1)).argmax("round")
    return data["round"].isel(round=after.clip(max=num - 1)).where(after < num)


def last_accuracy(data: "Dataset", name: str = "accuracy") -> Any:
    """Accuracy averaged over the last tenth of the rounds."""
    return data[name].where(data["round"] > 0.9 * data["round"].max(), drop=True).mean("round")


def in_words(values: Any, digits: int) -> str:
    """Mean, with limits where there are several seeds; how many there are if some are missing."""
    samples = np.asarray(values)
    if not np.isfinite(samples).all():
        return f"reached {np.isfinite(samples).sum()} times of {samples.size}"
    return with_limits(samples, digits) if samples.size > 1 else f"{samples[0]:.{digits}f}"


def of_the_paper(data: "Dataset", concentration: float, strategy: str) -> tuple[float, float] | None:
    """Return rounds and accuracy in the paper's tables, if its question was asked."""
    names = list(strategies(10, 3, 6, 50, 15))
    rows = dict(zip(names, PUBLISHED.get(concentration, ()), strict=False))
    return rows.get(strategy) if data.attrs["published"] else None


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures; the paper's are those of its tables."""
    return [
        *_said_of_the_base(data),
        *_said_of_the_other_rows(data),
        *_said_of_other_figures(data),
        *_said_of_short_training(data),
        *_said_of_other_settings(data),
        *_said_of_first_rounds(data),
    ]


def _said_of_the_base(data: "Dataset") -> list[str]:
    """Numbers about the setting as published, over partitions."""
    rand, pow_d = PUBLISHED[0.3][1:3]
    here = data.sel(setting=BASE, concentration=0.3)
    late = here["accuracy"].where(data["round"] > 0.9 * data["round"].max(), drop=True).isel(seed=0)
    jumps = late.std("round").values
    final, last = last_accuracy(here), here["accuracy"].isel(round=-1)
    reached = first_at_target(here)
    accuracy, rounds, ends = (
        [in_words(values.isel(strategy=k), digits) for k in (0, 1)]
        for values, digits in ((final, 1), (reached, 0), (last, 1))
    )
    stay = [in_words(one, 0) for one in there_to_stay(here).transpose("strategy", ...).values]
    lead = with_limits(final.isel(strategy=1) - final.isel(strategy=0), signed=True)
    nearly, num = PUBLISHED[2.0], data.sizes["seed"]
    return [
        f"with intervals are of {num} partitions",
        (
            f"by {jumps[0]:.1f} points (standard deviation over the last tenth of the rounds of the first partition) "
            f"for random selection and {jumps[1]:.1f} for"
        ),
        f"comes back, {accuracy[1]}% where the paper has {pow_d[1]}%",
        f"does not: {accuracy[0]}%, where it has {rand[1]}%",
        f"The lead is {lead} points, paired, and not {pow_d[1] - rand[1]:.1f}",
        (
            f"Rounds to {data.attrs['target']:g}% do not come back for either, {rounds[0]} and {rounds[1]} where the "
            f"paper has {rand[0]} and {pow_d[0]}"
        ),
        f"from which on accuracy stays at {data.attrs['target']:g}%, it takes {stay[0]} and {stay[1]} rounds",
        f"*The last model* in the place of a mean over the last tenth of the rounds has {ends[0]}% and {ends[1]}%",
        (
            "at concentration 2, where clients are nearly alike, ten clients per round end at "
            f"{nearly[0][1]:.2f}% and three at {nearly[1][1]}%, and both below what ten reach at concentration"
            f" 0.3, {PUBLISHED[0.3][0][1]}%"
        ),
        (
            f"on {num} partitions {rounds[0]} and {rounds[1]} rounds to 60% with random selection and pow-d "
            f"(paper {rand[0]} and {pow_d[0]}), accuracies {accuracy[0]}% and {accuracy[1]}% (paper "
            f"{rand[1]}% and {pow_d[1]}%), a lead of {lead} points (paper {pow_d[1] - rand[1]:.1f})"
        ),
    ]


def _said_of_the_other_rows(data: "Dataset") -> list[str]:
    """Numbers of the tables' other strategies and of concentration 2."""
    here, target = data.sel(setting=BASE), f"{data.attrs['target']:g}%"
    final, reached = last_accuracy(here), first_at_target(here)
    ten, *others = list(strategies(10, 3, 6, 50, 15))[: len(PUBLISHED[2.0])]
    names = [str(name) for name in data["strategy"].values if name in others]

    def rows(concentration: float, chosen: list[str]) -> str:
        words = []
        for name in chosen:
            at, published = {"concentration": concentration, "strategy": name}, of_the_paper(data, concentration, name)
            ran = final.sel(at).notnull().values
            assert published is not None
            label = "random selection " if name.startswith("rand") else f"{name.partition(',')[0]} "
            words.append(
                f"{'' if name == ten else label}{in_words(reached.sel(at)[ran], 0)} and "
                f"{in_words(final.sel(at)[ran], 1)}% "
                f"({published[0]} and {published[1]:.2f}%)"
            )
        return "; ".join(words)

    rand, pow_d = (final.sel(concentration=2.0, strategy=name) for name in names[:2])
    return [
        f"to {target} and accuracies, in brackets the paper's: {rows(0.3, names[2:])}",
        f"at concentration 2: {rows(2.0, names)}",
        f"random selection of ten clients has {rows(0.3, [ten])}",
        f"random selection of ten clients has {rows(2.0, [ten])} at concentration 2",
        f"a lead of {_points(pow_d - rand)} points at concentration 2",
    ]


def _said_of_other_figures(data: "Dataset") -> list[str]:
    """Numbers of Figures 5, 8 and 11 to 15: one thing that differs, on the first partition."""
    final, names = last_accuracy(data.isel(seed=0)), [str(name) for name in data["strategy"].values]
    wide = [name for name in names if "m = 10" in name]
    few = [name for name in names if name not in wide]
    [more] = [name for name in few[2:] if name.startswith("pow-d")]
    main, others = few[:2], [name for name in few[2:] if name != more]

    def ends(setting: str, chosen: list[str]) -> str:
        words = []
        for alpha in (0.3, 2.0):
            *before, last = (
                f"{value:.1f}%" for value in final.sel(setting=setting, concentration=alpha, strategy=chosen)
            )
            words.append(f"{', '.join(before)} and {last}")
        return f"{words[0]} at concentration 0.3 and {words[1]} at 2"

    asked = {
        ("with ten clients a round", "Figure 11"): (BASE, wide),
        ("with batches of 128", "Figures 12 and 13"): (WIDE, main + others),
        ("with 100 local steps", "Figures 14 and 15"): (LONG, main + others),
        ("where groups take turns", "Figure 8"): (TURNS, main + others),
        ("with ten of 500 clients a round", "the question of Figures 9 and 10"): (CROWD, wide),
    }
    told = {
        words: f"random selection and pow-d end at {ends(setting, chosen[:2])}, cpow-d, rpow-d and afl at "
        f"{ends(setting, chosen[2:])}"
        for words, (setting, chosen) in asked.items()
    }
    each = [final.sel(setting=setting, strategy=chosen).values for setting, chosen in asked.values()]
    leads = np.concatenate([one - one[:, :1] for one in each])
    candidates = f"{main[1].partition('= ')[2]} and {more.partition('= ')[2]}"
    return [
        *(f"{where} ({figures}) {text}" for (where, figures), text in told.items()),
        *(
            f"{where}{', where the paper has 15,' if 'of 500' in where else ''} {text}"
            for (where, _), text in told.items()
        ),
        (
            f"pow-d's lead is {leads[:, 1].min():+.1f} to {leads[:, 1].max():+.1f} points, where the paper reads 5 to "
            f"15 off its figures, and nobody's is above {leads.max():.1f}"
        ),
        f"with {candidates} candidates (Figure 5) pow-d ends at {ends(BASE, [main[1], more])}",
    ]


def _said_of_short_training(data: "Dataset") -> list[str]:
    """Numbers where little is learned in all rounds: a shorter step, one pass, and a public rerun."""
    main, target, num = data.isel(strategy=[0, 1]), f"{data.attrs['target']:g}%", data.sizes["seed"]
    final, reached, alike = last_accuracy(main), first_at_target(main), PUBLISHED[2.0][1:3]

    def both(setting: str, concentration: float = 0.3) -> str:
        at = {"setting": setting, "concentration": concentration, "seed": data["seed"][0]}
        rounds, ends = reached.sel(at).values, final.sel(at).values
        return f"{rounds[0]:.0f} and {rounds[1]:.0f} rounds, {ends[0]:.1f}% and {ends[1]:.1f}%"

    def leads(concentration: float) -> list[str]:
        found = final.sel(concentration=concentration)
        apart = found.isel(strategy=1) - found.isel(strategy=0)
        return [_points(apart.sel(setting=setting)) for setting in (BASE, TENTH, SHORT)]

    short = final.sel(setting=SHORT, concentration=0.3).transpose("strategy", "seed")
    hit = reached.sel(setting=SHORT, concentration=0.3).transpose("strategy", "seed").values
    ours = (
        f"{both(SHORT)} on the first partition; on all {num} random selection ends at {in_words(short[0], 1)}%, "
        f"Power-of-Choice at {in_words(short[1], 1)}%"
    )
    return [
        (
            f"{ours}, and comes to {target} in {in_words(hit[1], 0)} rounds, random selection on "
            f"{np.isfinite(hit[0]).sum()} of them"
        ),
        (
            f"at concentration 2 it has {both(SHORT, 2.0)}, where the paper has {alike[0][0]} and {alike[1][0]}, "
            f"{alike[0][1]}% and {alike[1][1]}%"
        ),
        f"At concentration 2 a tenth of the step has {both(TENTH, 2.0)}",
        f"*A tenth of the step, one pass* is too short: {both(f'{TENTH}, one pass')}",
        "{} points as published, {} with a tenth of the step, {} with a sixth and one pass".format(*leads(0.3)),
        "{}, {} and {} points at concentration 2, the last two on one partition".format(*leads(2.0)),
        (
            f"reach {target} after {RERUN_LOGS[0][0]} and {RERUN_LOGS[1][0]} rounds and end at {RERUN_LOGS[0][1]:.1f}% "
            f"and {RERUN_LOGS[1][1]:.1f}%, where we have {both(RERUN)}"
        ),
        f"with a sixth of the step and one pass {ours}",
    ]


def _said_of_other_settings(data: "Dataset") -> list[str]:
    """Numbers about shorter steps and units that go on being dropped, on the first partition."""
    here = data.sel(concentration=0.3, setting=[BASE, TENTH]).isel(seed=0)
    rand, pow_d = PUBLISHED[0.3][1:3]
    (base, slow), (base_rounds, slow_rounds) = last_accuracy(here).values, first_at_target(here).values
    (base_drops, slow_drops) = last_accuracy(here, "accuracy_dropping").values
    stay = there_to_stay(here).sel(setting=TENTH).values
    lost = base - base_drops, slow - slow_drops
    ratios = base_rounds[0] / base_rounds[1], slow_rounds[0] / slow_rounds[1]
    return [
        f"nearly Power-of-Choice's rounds, {slow_rounds[1]:.0f}, but then {slow[1]:.1f}%",
        f"on the first partition with a tenth of the step {stay[0]:.0f} and {stay[1]:.0f}",
        f"random selection needs {slow_rounds[0]:.0f} rounds and ends at {slow[0]:.1f}%",
        (
            f"takes {min(ratios):.1f} times the rounds of Power-of-Choice at either step, where the paper has "
            f"{rand[0] / pow_d[0]:.1f} times"
        ),
        (
            f"worse by {lost[0][0]:.1f} and {lost[0][1]:.1f} points at the published step and by "
            f"{lost[1][0]:.1f} and {lost[1][1]:.1f} points at a tenth"
        ),
        (
            f"lowers random selection to {base_drops[0]:.1f}% and {slow_drops[0]:.1f}%, on both sides of the paper's, "
            f"and takes Power-of-Choice down as far, to {base_drops[1]:.1f}% and {slow_drops[1]:.1f}%"
        ),
        (
            f"with a tenth of the step {slow_rounds[0]:.0f} and {slow_rounds[1]:.0f} rounds, {slow[0]:.1f}% "
            f"and {slow[1]:.1f}%"
        ),
    ]


def _said_of_first_rounds(data: "Dataset") -> list[str]:
    """Compare the first rounds after one change, paired by partition, with those as published."""
    last, target = int(data["early_round"][-1]), f"{data.attrs['target']:g}%"
    soon, reached = early_accuracy(data), first_at_target(data, "early", "early_round")
    # Nothing pairs another partition with those of the seeds.
    changes = (soon - soon.sel(variant=BASE)).isel(strategy=0).drop_sel(variant=[BASE, CODE])
    num_ran = changes.notnull().sum("seed")
    several, single = (
        ", ".join(f"{_points(changes.sel(variant=name))} with *{name}*" for name in changes["variant"].values[there])
        for there in (num_ran.values > 1, num_ran.values == 1)
    )
    leads = soon.isel(strategy=1) - soon.isel(strategy=0)
    base, passes, same = (reached.sel(variant=name).T.values for name in (BASE, "one pass", SAME))
    code = soon.sel(variant=CODE).isel(strategy=0), reached.sel(variant=CODE).isel(strategy=0)
    whole = data.sel(setting=SAME, concentration=0.3).isel(seed=0, strategy=[0, 1])
    (rand, pow_d), hit = last_accuracy(whole).values, first_at_target(whole).values
    return [
        (
            f"In the first {last} rounds random selection's accuracy, averaged over the second half of them, changes "
            f"by {several} (points, paired by partition), and on the first partition alone by {single}"
        ),
        (
            f"Power-of-Choice leads there by {_points(leads.sel(variant=BASE))} points as published, "
            f"{_points(leads.sel(variant='one pass'))} with one pass, {_points(leads.sel(variant=SAME))} with the same "
            f"clients and, on one partition, {_points(leads.sel(variant='gray values in [0, 1]'))} with gray values in "
            "[0, 1]"
        ),
        (
            f"to {target} random selection takes {in_words(passes[0], 0)} rounds with one pass and Power-of-Choice "
            f"{in_words(passes[1], 0)}, a difference of {_points(passes[0] - passes[1])}, where as published it is "
            f"{_points(base[0] - base[1])}"
        ),
        (
            f"random selection comes to {target} on {np.isfinite(same[0]).sum()} of {len(same[0])} partitions and "
            f"Power-of-Choice after {in_words(same[1], 0)} rounds"
        ),
        f"*{CODE}*, with 3 starts, {in_words(code[1], 0)} rounds and {in_words(code[0], 1)}%",
        (
            f"ends at {rand:.1f}% on the first partition, without having come to {target}, and Power-of-Choice at "
            f"{pow_d:.1f}%, with {target} after {hit[1]:.0f} rounds"
        ),
    ]


def _points(differences: Any) -> str:
    """Mean difference of the partitions that were run, with limits if there are several."""
    samples = np.asarray(differences)
    samples = samples[np.isfinite(samples)]
    return with_limits(samples, signed=True) if samples.size > 1 else f"{samples[0]:+.1f}"
