"""Random federations: the share in which a selection rule has a smaller error than random selection."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset

# Logarithms of the least and the most heterogeneity, and the counted events.
LEAST, MOST = -3.0, 1.0
COUNTED = ("rounds", "floats")


@dataclass(frozen=True)
class Setting:
    """Settings of the results."""

    num_clients: int
    dim: int
    num_selected: int
    candidates: tuple[int, ...]
    predicted: tuple[int, ...]
    num_rounds: int
    step_share: float
    num_replicates: int
    block_size: int


def strategies(setting: Setting) -> dict[str, Any]:
    """Return the selection rules that are simulated; the last numbers of candidates also with stale losses."""
    m = setting.num_selected
    return {
        "uniform": ft.selection.Uniform(m),
        **{f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d) for d in setting.candidates},
        **{f"rpow-d, d = {d}": ft.selection.PowerOfChoice(m, d, loss="last") for d in setting.candidates[-1:]},
        "full": ft.selection.Full(),
    }


def federation(setting: Setting, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Draw a federation and its start; return both with the logarithm of its heterogeneity."""
    size = (setting.num_clients, setting.dim)
    weights = rng.dirichlet(np.full(setting.num_clients, 3.0))
    fed = ft.QuadraticFederation(
        np.exp(rng.uniform(0, 1.2) * rng.normal(size=setting.num_clients)),
        rng.normal(size=size),
        weights,
        normalize=True,
    )
    heterogeneity = rng.uniform(LEAST, MOST)
    direction = rng.normal(size=setting.dim)
    gap = float(fed.loss(fed.minimizer + direction)) - fed.minimum
    reach = np.sqrt(fed.objective_gap / 10**heterogeneity / gap)
    return fed, fed.minimizer + reach * direction, heterogeneity


def block(block: int, tau: int, seed: int, *, setting: Setting) -> "Dataset":
    """Compare on some federations, which are the same for every tau."""
    import xarray

    rng = np.random.default_rng([seed, block])
    found = [
        _compared(setting, tau, *federation(setting, rng), seed=[seed, block, i]) for i in range(setting.block_size)
    ]
    columns = {name: np.stack([one[name] for one in found]) for name in found[0]}
    horizon, strategy = horizons(setting), list(strategies(setting))
    dims = {
        "heterogeneity": (),
        "ratio": ("strategy",),
        "floor": ("d", "horizon"),
        "ahead": ("counted", "strategy", "horizon"),
        "field": ("counted", "d", "horizon"),
    }
    return xarray.Dataset(
        {name: (("federation", *dims[name]), values) for name, values in columns.items()},
        coords={"horizon": horizon, "strategy": strategy, "d": list(setting.predicted), "counted": list(COUNTED)},
    )


def horizons(setting: Setting) -> list[int]:
    """Return the rounds of comparison, powers of the square root of two."""
    return sorted({round(2 ** (i / 2)) for i in range(2 * int(np.log2(setting.num_rounds)) + 1)})


def _compared(
    setting: Setting, tau: int, fed: Any, initial: Any, heterogeneity: float, seed: list[int]
) -> dict[str, Any]:
    at, m = horizons(setting), setting.num_selected
    step = setting.step_share / float(fed.smoothness)
    rand = ft.exact.expected_gap(fed, ft.selection.Proportional(m), setting.num_rounds, tau, step, initial)
    paid = 2 * m * setting.dim * np.array(at)
    ahead, ratio = [], []
    for strategy in strategies(setting).values():
        run = ft.fedavg(
            fed, strategy, num_rounds=setting.num_rounds, local_steps=tau, step_size=step, initial=initial,
            num_replicates=setting.num_replicates, rng=np.random.SeedSequence(seed), num_threads=1,
            record=("gap", "uplink", "broadcasts"),
        )  # fmt: skip
        gaps, cost = (
            run.gap.mean(axis=0),
            run.uplink.mean(axis=0) + setting.dim * run.records["broadcasts"].mean(axis=0),
        )
        ahead.append(_ahead(gaps, cost, rand, at, paid))
        ratio.append(gaps[-1] / rand[-1])
    foretold = _foretold(setting, tau, fed, initial, rand)
    return {"heterogeneity": heterogeneity, "ratio": ratio, "ahead": np.stack(ahead, axis=1), **foretold}


def _foretold(setting: Setting, tau: int, fed: Any, initial: Any, rand: Any) -> dict[str, Any]:
    """Return whether the mean field has the smaller error, and whether random selection is below the floor."""
    at, m, step = horizons(setting), setting.num_selected, setting.step_share / float(fed.smoothness)
    paid, fields, floors = 2 * m * setting.dim * np.array(at), [], []
    for d in setting.predicted:
        strategy = ft.selection.PowerOfChoice(m, d)
        gaps = ft.exact.mean_field_gap(fed, strategy, setting.num_rounds, tau, step, initial)
        cost = (m * setting.dim + d + d * setting.dim) * np.arange(setting.num_rounds + 1)
        fields.append(_ahead(gaps, cost, rand, at, paid))
        floors.append(rand[at] < ft.exact.error_floor(fed, strategy, tolerance=1e-6).value)
    return {"floor": floors, "field": np.stack(fields, axis=1)}


def _ahead(gaps: Any, cost: Any, rand: Any, at: list[int], paid: Any) -> Any:
    """Return the horizons at which errors are below those of random selection, at equal rounds and at equal cost."""
    affordable = np.searchsorted(cost, paid, side="right") - 1
    return np.stack([gaps[at] < rand[at], gaps[affordable] < rand[at]])


NUM_BINS, EARLY = 16, 8


def counted(data: "Dataset") -> "Dataset":
    """Count federations, and those in which each rule has the smaller error, in bins of heterogeneity."""
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
    """One row per number of local steps and selection rule."""
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


def checks_of_counts(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    total = data["federations"]
    most = f"pow-d, d = {int(data['d'][-1])}"
    shares = data["ahead"].sel(strategy=most) / total
    here = shares.sel(counted="rounds")
    early, late = here.isel(bin=slice(0, 4)).sel(horizon=8).mean(), here.isel(bin=slice(-4, None), horizon=-1).mean()
    rounds, floats = (float(shares.sel(counted=name).mean()) for name in COUNTED)
    beyond = data["floor"].sum(["bin"]) / total.sum()
    agreement = float(data["agreement"])
    return {
        "with little heterogeneity it is ahead early": Check(float(early) > 0.9, f"in {float(early):.3f}"),
        "with much it is behind in the end": Check(float(late) < 0.1, f"ahead in {float(late):.3f}"),
        "what is sent counts against it": Check(floats < rounds, f"ahead in {floats:.3f} after {rounds:.3f}"),
        "the mean field predicts who is ahead": Check(agreement > 0.85, f"agrees in {agreement:.3f}"),
        "more candidates, higher floor": Check(
            bool((beyond.diff("d") >= 0).all()), f"smallest difference {float(beyond.diff('d').min()):.3f}"
        ),
    }


def share(counts: Any, total: Any) -> Any:
    """Share of the federations of a bin with the exact 95% limits of Clopper and Pearson, shape (3, bins)."""
    from scipy.stats import beta

    low, high = beta.ppf(0.025, counts, total - counts + 1), beta.ppf(0.975, counts + 1, total - counts)
    return np.stack([counts / np.maximum(total, 1), np.where(counts == 0, 0, low), np.where(counts == total, 1, high)])


def said_of_counts(data: "Dataset") -> list[str]:
    """Sentences about random federations."""
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
