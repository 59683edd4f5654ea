"""In how many random federations each way of selecting is ahead, in bins of heterogeneity."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _random_federations import COUNTED, LEAST, MOST

from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

NUM_BINS, EARLY = 16, 8


def counted(data: "Dataset") -> "Dataset":
    """Count federations, and in how many of them each is ahead, in bins of heterogeneity."""
    import xarray

    flat = data.stack(one=("block", "federation")).drop_vars(["one", "block", "federation"])
    edges = np.linspace(LEAST, MOST, NUM_BINS + 1)
    place = np.clip(np.digitize(flat["heterogeneity"].isel(tau=0).values, edges) - 1, 0, NUM_BINS - 1)
    counts = [
        flat[["ahead", "field", "floor"]].isel(one=np.flatnonzero(place == i)).sum("one") for i in range(NUM_BINS)
    ]
    agree = (
        flat["ahead"].sel(strategy=[f"pow-d, d = {d}" for d in flat["d"].values]).values == flat["field"].values
    ).mean()
    worst = flat["ratio"].max("one").rename("worst_ratio")
    where = flat["ratio"].argmax("one").rename("worst_federation")
    middle = flat["ratio"].median("one").rename("median_ratio")
    return xarray.concat(counts, dim="bin").assign(
        bin=(edges[:-1] + edges[1:]) / 2, federations=("bin", np.bincount(place, minlength=NUM_BINS)),
        agreement=float(agree), worst_ratio=worst, worst_federation=where, median_ratio=middle,
    )  # fmt: skip


def rows_of_counts(data: "Dataset") -> list[dict[str, Any]]:
    """One row per number of local steps and way of selecting."""
    rows, total, last = [], float(data["federations"].sum()), int(data["horizon"][-1])
    for tau in data["tau"].values:
        for name in data["strategy"].values:
            here = data.sel(tau=tau, strategy=name)
            share = here["ahead"].sum("bin") / total
            rows.append(
                {
                    "selection": str(name),
                    "tau": int(tau),
                    "ahead after 8 rounds [%]": 100 * float(share.sel(counted="rounds", horizon=8)),
                    f"after {last} [%]": 100 * float(share.sel(counted="rounds", horizon=last)),
                    "at equal floats, 8 [%]": 100 * float(share.sel(counted="floats", horizon=8)),
                    f"at equal floats, {last} [%]": 100 * float(share.sel(counted="floats", horizon=last)),
                    "median error / rand's": float(here["median_ratio"]),
                    "worst": float(here["worst_ratio"]),
                    "worst federation": int(here["worst_federation"]),
                }
            )
    return rows


def checks_of_counts(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    total = data["federations"]
    most = f"pow-d, d = {int(data['d'][-1])}"
    shares = data["ahead"].sel(strategy=most) / total
    here = shares.sel(counted="rounds")
    early, late = here.isel(bin=slice(0, 4)).sel(horizon=8).mean(), here.isel(bin=slice(-4, None), horizon=-1).mean()
    rounds, floats = (float(shares.sel(counted=name).mean()) for name in COUNTED)
    beyond = data["floor"].sum(["bin"]) / total.sum()
    agreement = float(data["agreement"])
    return {
        "with little heterogeneity it is ahead early": study.Check(float(early) > 0.9, f"in {float(early):.3f}"),
        "with much it is behind in the end": study.Check(float(late) < 0.1, f"ahead in {float(late):.3f}"),
        "what is sent counts against it": study.Check(floats < rounds, f"ahead in {floats:.3f} after {rounds:.3f}"),
        "the mean field tells who is ahead": study.Check(agreement > 0.85, f"agrees in {agreement:.3f}"),
        "more candidates, higher floor": study.Check(
            bool((beyond.diff("d") >= 0).all()), f"smallest difference {float(beyond.diff('d').min()):.3f}"
        ),
    }


def share(counts: Any, total: Any) -> Any:
    """Share of the federations of a bin with the exact 95% limits of Clopper and Pearson, shape (3, bins)."""
    from scipy.stats import beta

    low, high = beta.ppf(0.025, counts, total - counts + 1), beta.ppf(0.975, counts + 1, total - counts)
    return np.stack([counts / np.maximum(total, 1), np.where(counts == 0, 0, low), np.where(counts == total, 1, high)])


def said_of_counts(data: "Dataset") -> list[str]:
    """In how many federations Power-of-Choice is ahead."""
    here = data.sel(counted="rounds", tau=[4, 8]).isel(horizon=-1)
    ahead = (here["field"].sel(d=4), here["ahead"].sel(strategy="pow-d, d = 4"))
    field, runs = ((100 * counts.sum("bin") / data["federations"].sum()).values for counts in ahead)
    last = int(data["horizon"][-1])
    most = int(data["d"].values[-1])
    chosen = data.isel(tau=0).sel(counted="rounds")
    shares = [
        100 * float(chosen["ahead"].sel(strategy=f"pow-d, d = {most}", horizon=t).sum() / data["federations"].sum())
        for t in (EARLY, last)
    ]
    sent = data["ahead"].isel(tau=0).sel(counted="floats", strategy=f"pow-d, d = {most}", horizon=last).sum()
    return [
        (
            f"after {last} rounds of four and eight local steps it has pow-d ahead in {field[0]:.0f}% and "
            f"{field[1]:.0f}% of the federations, the simulation in {runs[0]:.0f}% and {runs[1]:.0f}%"
        ),
        (
            f"with one local step and all clients as candidates pow-d is ahead in {shares[0]:.0f}% after {EARLY} "
            f"rounds, in {shares[1]:.0f}% after {last}, and in {100 * float(sent / data['federations'].sum()):.0f}% at "
            "equal floats"
        ),
    ]
