"""Results of the experiments of FedALIGN: final accuracies, checks, and sentences."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _fedalign_runs import ALIGNED, ALONE, ARMS, DIGITS, EVERYBODY, STRATEGIES
from _repeated import mean_and_limits, paired, span, with_limits

if TYPE_CHECKING:
    from xarray import Dataset


def at_the_end(here: "Dataset", *, averaged: bool = False) -> Any:
    """Accuracy after the last round, or the mean over the last tenth of the rounds if accuracies fluctuate."""
    if averaged:
        return here["accuracy"].where(here["round"] > 0.9 * here["round"].max(), drop=True).mean("round")
    return here["accuracy"].isel(round=-1)


def gain(final: Any, over: str = ALONE) -> Any:
    """Differences between FedALIGN and another strategy, on the same instances."""
    return paired(final.sel(strategy=ALIGNED), final.sel(strategy=over))


def clearly_behind(final: Any) -> str:
    """Count the intervals of the gains over both rivals that are below zero."""
    upper = [
        mean_and_limits(gain(final.sel(scenario=name), over))[2]
        for name in final["scenario"]
        for over in (ALONE, EVERYBODY)
    ]
    return f"{sum(end < 0 for end in upper)} of {len(upper)}"


def words(final: Any, over: str = ALONE) -> str:
    """Mean gain with its interval."""
    return with_limits(gain(final, over), 3, signed=True)


def checks_of_fashion(data: "Dataset") -> dict[str, Check]:
    """Test that all strategies learn, and which clients are included."""
    gained = float((at_the_end(data, averaged=True) - data["accuracy"].isel(round=0)).mean("instance").min())
    included = data["included"].mean("instance")
    some, everybody = (included.sel(strategy=name) for name in (ALIGNED, EVERYBODY))
    losses, accuracies = (
        float(some.sel(scenario=[f"{first} priority, {what}" for first in (2, 6)]).sum())
        for what in ("loss", "accuracy")
    )
    return {
        "everything learns": Check(gained > 0.1, f"at least {gained:.2f} gained"),
        "FedALIGN leaves some out": Check(bool((some < everybody).all()), f"{some.values.round(1).tolist()}"),
        "of losses fewer are near than of accuracies": Check(losses < accuracies, f"{losses:.1f} and {accuracies:.1f}"),
    }


def checks_of_shards(data: "Dataset") -> dict[str, Check]:
    """Test training losses, and for which clients FedALIGN's model is accurate."""
    last = data.isel(round=-1).mean("instance", skipna=True)
    few_priority = [scenario.name for scenario in DIGITS if scenario.num_priority <= 4]
    alone, aligned, everybody = (last["loss"].sel(strategy=name) for name in STRATEGIES)
    worst = float((aligned / everybody).sel(scenario=few_priority).max())
    lead = float((alone / np.minimum(aligned, everybody)).max())
    own = last["own_classes"].sel(model="FedALIGN")
    served = float(own.sel(who="included") - own.sel(who="not included"))
    few = last["num_included"].sel(scenario="2 priority")
    share = float(few.sel(strategy=ALIGNED) / few.sel(strategy=EVERYBODY))
    return {
        "with few priority clients FedALIGN's training loss is below that of all clients": Check(
            worst < 1, f"largest ratio {worst:.3g}"
        ),
        "the priority clients alone have the lowest training loss": Check(lead < 1, f"largest ratio {lead:.3g}"),
        "FedALIGN serves those that it includes better than the others": Check(served > 0, f"difference {served:.3g}"),
        "few clients match two priority clients": Check(share < 0.4, f"share {share:.2f}"),
    }


def checks_of_arms(data: "Dataset") -> dict[str, Check]:
    """Test the effects of large features and of matched losses."""
    dims = ["instance", "shards", "priority"]
    base = data["accuracy"].sel(who=ALONE).mean(dims)
    unstable, stable = float(base.sel(arm="three updates")), float(base.sel(arm="stable"))
    included = data["included"].sel(who=ALIGNED)
    by_arm = included.mean(dims)
    others = data.attrs["num_clients"] - data["priority"]
    return {
        "three updates with large features cost the priority clients alone accuracy": Check(
            unstable < stable, f"{unstable:.3f} against {stable:.3f}"
        ),
        "of large losses fewer are near than of accuracies": Check(
            bool(by_arm.sel(arm="loss") < by_arm.sel(arm="accuracy")), f"{by_arm.values.round(1).tolist()}"
        ),
        "FedALIGN includes some others and not all": Check(
            bool((included > 0).any()) and bool((included.mean("instance") < others).all()),
            f"{float(included.mean()):.1f} on average",
        ),
    }


def checks_of_noisy(data: "Dataset") -> dict[str, Check]:
    """Test the cost of noisy helpers, and which clients are included."""
    last_level = data.isel(level=-1)
    worse = mean_and_limits(_against_alone(last_level, EVERYBODY, "loss"))
    aligned = [str(name) for name in data["strategy"].values[1:-1]]
    final = last_level["last_loss"].mean("instance")
    ratio = float((final.sel(strategy=aligned) / final.sel(strategy=EVERYBODY)).max())
    clean, noisiest = (data["included"].sel(strategy=aligned).isel(client=k).mean("instance") for k in (0, -1))
    spread = float(abs(data["loss_before"] - data["loss_before"].sel(strategy=ALONE)).max())
    return {
        "including all clients costs training loss at high noise": Check(worse[0] > 0, f"{worse.round(3)}"),
        "FedALIGN ends with a lower loss than all clients at high noise": Check(
            ratio < 1, f"largest ratio {ratio:.3g}"
        ),
        "the clean client is included more often than the noisiest": Check(
            bool((clean > noisiest).all()), f"{float(clean.min()):.2f} against {float(noisiest.max()):.2f}"
        ),
        "the warm-up is the same for all": Check(spread < 1e-9, f"largest difference {spread:.3g}"),
    }


def _against_alone(level: "Dataset", strategy: str, name: str) -> Any:
    return paired(level[name].sel(strategy=strategy), level[name].sel(strategy=ALONE))


def said_of_fashion(data: "Dataset") -> list[str]:
    """Sentences about Figures 1, 4, 5 and 6 on FashionMNIST."""
    final, num = at_the_end(data, averaged=True), data.sizes["instance"]
    two, losses, three, six, _, proximal, eighteen, partial, nine = (final.sel(scenario=s) for s in data["scenario"])
    included = data["included"].sel(strategy=ALIGNED).mean("instance").values
    return [
        (
            f"on FMNIST, {num} instances, {words(two, EVERYBODY)} against all clients, and against the priority "
            f"clients alone {words(two)} with accuracies matched, {words(losses)} with losses"
        ),
        f"{words(three)} with three updates",
        f"{included[0]:.1f} others match in accuracy and {included[1]:.1f} in loss",
        (
            f"on FMNIST, {num} instances, {words(proximal, EVERYBODY)} against all clients, {words(proximal)} against "
            "the priority clients alone"
        ),
        (
            f"on FMNIST, {num} instances, {words(partial)} against the priority clients alone, "
            f"{words(partial, EVERYBODY)} against all clients"
        ),
        (
            f"of FMNIST, 6 priority clients, {words(six)} against the priority clients alone and "
            f"{words(six, EVERYBODY)} against all clients ({num} instances)"
        ),
        (
            f"On FMNIST {words(nine)} and {words(nine, EVERYBODY)} with 9 priority clients and 3 local steps, "
            f"{words(eighteen)} and {words(eighteen, EVERYBODY)} with 18"
        ),
        "the panels of 9 and 18 priority clients",
    ]


def said_of_shards(data: "Dataset") -> list[str]:
    """Sentences about Figures 3 to 6 on digits."""
    final, num = at_the_end(data), data.sizes["instance"]
    six, eighteen, nine = (
        with_limits(-gain(final.sel(scenario=name)), 3) for name in ("6 priority", "18 priority", "9 priority, E = 3")
    )
    partial, proximal = (words(final.sel(scenario=name)) for name in ("18 priority, partial", "4 priority, FedProx"))
    common, local = (data["own_classes"].sel(model=model) for model in ("FedALIGN", "local"))
    there = [100 * float(one.sel(who="included").mean()) for one in (common, local)]
    absent = [100 * float(one.sel(who="not included").mean()) for one in (common, local)]
    minus = with_limits(paired(common.sel(who="included"), local.sel(who="included")), 3, signed=True)
    return [
        (
            f"for included clients {there[0]:.1f}% against {there[1]:.1f}% on own classes, {minus}, for the others "
            f"{absent[0]:.0f}% against {absent[1]:.0f}% ({num} instances)"
        ),
        f"{proximal} against the priority clients alone ({num} instances)",
        f"{partial} against the priority clients alone ({num} instances)",
        (
            f"with 6 and 18 priority clients {six} and {eighteen} below them alone, with 9 and 3 local steps "
            f"{nine} ({num} instances)"
        ),
    ]


def said_of_arms(data: "Dataset") -> list[str]:
    """Sentences about Figure 1 on digits."""
    final = data["accuracy"].sel(shards=2, priority=2).rename(who="strategy")
    one, losses, three = (words(final.sel(arm=arm)) for arm in ("accuracy", "loss", "three updates"))
    cost = with_limits(paired(gain(final.sel(arm="accuracy")), gain(final.sel(arm="loss"))), 3)
    return [
        (
            f"{data.sizes['instance']} instances: {three} over 2 priority clients alone with accuracies matched and "
            f"three updates a round, {one} with one; with losses matched, as in the theory, no gain: {losses}"
        ),
        f"losses in the place of accuracies cost {cost}",
    ]


def said_of_noisy(data: "Dataset") -> list[str]:
    """Sentences about Figure 2."""
    mean = data["loss"].mean("instance")
    below = 100 * (1 - mean / mean.sel(strategy=ALONE))
    low, *noisy = map(str, data["level"].values)
    matched = [str(name) for name in data["strategy"].values if str(name).startswith("FedALIGN")]
    [accurate] = [str(name) for name in data["strategy"].values if str(name).startswith("accuracy")]
    gained = with_limits(_against_alone(data.sel(level=low), accurate, "accuracy"), 3, signed=True)
    clean, rest = (span(below.sel(level=level, strategy=matched), 0) for level in (low, noisy))
    worse = [f"{float(-below.sel(strategy=EVERYBODY, level=level)):.0f}%" for level in noisy]
    return [
        f"loss after the warm-up {clean}% (low noise) and {rest}% (medium, high) below",
        (
            f"accuracy gains {gained} at low noise with accuracies matched, and else nothing that "
            f"{data.sizes['instance']} instances show"
        ),
        f"by {worse[0]} at medium and {worse[1]} at high noise",
    ]


def rows_of_all(parts: "dict[str, Dataset]") -> list[dict[str, Any]]:
    """One row per scenario, for tables."""

    def row(data: str, scenario: str, final: Any, included: Any) -> dict[str, Any]:
        rivals = [name for name in (ALONE, EVERYBODY) if name in final["strategy"]]
        means = {
            name: float(final.sel(strategy=name).mean()) if name in final["strategy"] else "" for name in STRATEGIES
        }
        found = {f"FedALIGN - {name}": words(final, name) if name in rivals else "" for name in (ALONE, EVERYBODY)}
        return {"data": data, "scenario": scenario, **means, "others included": float(included), **found}

    rows = []
    for label, name, averaged in (("images", "fashion", True), ("digits, losses matched", "shards", False)):
        here = parts[name]
        final = at_the_end(here, averaged=averaged)
        included = here["included" if averaged else "num_included"].sel(strategy=ALIGNED).mean("instance")
        rows += [row(label, str(s), final.sel(scenario=s), included.sel(scenario=s)) for s in here["scenario"].values]
    arms, noisy = parts["arms"], parts["noisy"]
    for shards in arms["shards"].values:
        for first in arms["priority"].values:
            for arm in ARMS:
                here = arms.sel(shards=shards, priority=first, arm=arm)
                label = f"{first} priority, {shards} shards, {arm}"
                included = here["included"].sel(who=ALIGNED).mean()
                rows.append(row("digits with noise", label, here["accuracy"].rename(who="strategy"), included))
    for level in map(str, noisy["level"].values):
        for name in map(str, noisy["strategy"].values[1:-1]):
            here = noisy.sel(level=level, strategy=[ALONE, name, EVERYBODY]).assign_coords(strategy=list(STRATEGIES))
            included = here["included"].sel(strategy=ALIGNED).sum("client").mean()
            rows.append(row("Synthetic(1, 1)", f"{level} noise, {name}", here["accuracy"], included))
    return rows
