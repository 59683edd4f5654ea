"""Random federations on which selection rules are compared, and worst federations of two clients."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory._support.validate import Array

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


def findings_of_counts(data: "Dataset") -> dict[str, study.Finding]:
    """Compare the rules with random selection by rounds, by floats, by floors, and by the mean field."""
    total, d, last = data["federations"].values, int(data["d"].values[-1]), int(data["horizon"].values[-1])
    ahead = data["ahead"].sel(strategy=f"pow-d, d = {d}").transpose("counted", "tau", "bin", "horizon").values
    early = data["horizon"].values.tolist().index(EARLY)
    shares = ahead[:, 0].sum(axis=1) / total.sum()
    similar = (ahead[0, :, :4, early] / total[:4]).mean()
    different = (ahead[0, :, -4:, -1] / total[-4:]).mean()
    floor = data["floor"].transpose("tau", "d", "bin", "horizon").values[0]
    below = floor.sum(axis=1) / total.sum()
    off = float(abs(ahead[0, 0, :, -1] - (total - floor[-1, :, -1]))[total > 0].max() / total.max())
    few = int(data["d"].values[0])
    cells = [f"{100 * one:.0f}% with d = {d}" for one, d in zip(below[:, -1], data["d"].values, strict=True)]
    field = data["field"].sel(counted="rounds", d=few).isel(horizon=-1).sum("bin").values / total.sum()
    runs = (
        data["ahead"].sel(counted="rounds", strategy=f"pow-d, d = {few}").isel(horizon=-1).sum("bin").values
        / total.sum()
    )
    agreement, pairs = float(data["agreement"]), list(zip(data["tau"].values, field, runs, strict=True))
    words = ", ".join(f"{100 * own:.0f}% and {100 * other:.0f}% with tau = {tau}" for tau, own, other in pairs)
    return {
        "early and late": study.Finding(
            "With all clients as candidates Power-of-Choice has a smaller error than random selection in "
            f"{100 * shares[0, early]:.0f}% of the federations after {EARLY} rounds, and in "
            f"{100 * shares[0, -1]:.0f}% after {last}.",
            bool(shares[0, early] > 0.8 and shares[0, -1] < 0.5),
        ),
        "floats": study.Finding(
            f"At an equal number of floats sent to and from the server it is ahead in {100 * shares[1, -1]:.0f}%, "
            f"when random selection has taken {last} rounds.",
            bool(shares[1, -1] < shares[0, -1]),
        ),
        "heterogeneity": study.Finding(
            f"In the quarter of the federations with the least heterogeneity it is ahead in {100 * similar:.0f}% "
            f"after {EARLY} rounds; in the quarter with the most, in {100 * different:.0f}% after {last}.",
            bool(similar > 0.9 and different < 0.1),
        ),
        "floor": study.Finding(
            f"After {last} rounds Power-of-Choice is ahead as often as random selection is above its error floor, up "
            f"to {100 * off:.1f}% in each bin.",
            off < 0.1,
        ),
        "candidates": study.Finding(
            f"More candidates have a higher floor: after {last} rounds random selection is below it in "
            f"{' and '.join(cells)}.",
            bool((np.diff(below, axis=0) >= 0).all() and below[-1, -1] > below[0, -1]),
        ),
        "mean field": study.Finding(
            f"The mean field agrees with the simulation about which rule is ahead in {100 * agreement:.0f}% of all "
            "comparisons.",
            agreement > 0.85,
        ),
        "long rounds": study.Finding(
            f"With d = {few}, after {last} rounds, the mean field and the simulation have Power-of-Choice ahead in "
            f"{words}.",
            bool(field[-1] > runs[-1]),
        ),
    }


def share(counts: Any, total: Any) -> Any:
    """Share of the federations of a bin with the exact 95% limits of Clopper and Pearson, shape (3, bins)."""
    from scipy.stats import beta

    low, high = beta.ppf(0.025, counts, total - counts + 1), beta.ppf(0.975, counts + 1, total - counts)
    return np.stack([counts / np.maximum(total, 1), np.where(counts == 0, 0, low), np.where(counts == total, 1, high)])


@dataclass(frozen=True)
class Picture:
    """Settings of the training of worst federations and of their drawing."""

    num_points: int = 40
    """Grid points in each direction of a picture."""
    local_steps: int = 2
    """Local steps tau per round."""
    step_size: float = 0.5
    """Step size, as L = 1."""


_CLASS: dict[str, Any] = {"mu": Fraction(1, 10), "L": 1, "distance2": 1, "objective_gap": Fraction(1, 2)}
_ONE: dict[str, Any] = {"sampling": "distinct", "num_clients": 2, "num_selected": 1}


def pictures(config: Picture, progress: study.Progress) -> "Dataset":
    """Find the worst federations, train them, and evaluate the clients' losses on a plane."""
    import xarray

    tau, eta = config.local_steps, Fraction(config.step_size)
    found = {
        "all clients": ft.worst_case.fedavg(tau, eta, **_CLASS, num_clients=2, num_rounds=2),
        "one at random": ft.worst_case.fedavg(tau, eta, **_CLASS, **_ONE, num_rounds=2),
        "the larger loss": ft.worst_case.power_of_choice(2, 2, 1, tau, eta, **_CLASS, num_rounds=2),
    }
    records = [_drawn(config, worst, _LAWS[name]) for name, worst in progress(found.items(), "federations")]
    dims = {
        "losses": ("client", "y", "x"),
        "minimizers": ("client", "axis"),
        "paths": ("outcome", "round", "axis"),
        "ticks": ("x",),
        "enclosure": ("side",),
        "attained": (),
        "held": (),
    }
    return xarray.Dataset(
        {name: (("strategy", *own), np.array([record[name] for record in records])) for name, own in dims.items()},
        coords={"strategy": list(found), "side": ["lower", "upper"]},
    )


def _larger(losses: "Array") -> "Array":
    """Select the first client with the largest loss, up to the precision of an instance."""
    return np.eye(2)[[int(np.argmax(losses > losses.max() - 1e-4))]]


_LAWS: dict[str, Callable[["Array"], "Array"]] = {
    "all clients": lambda _: np.array([[0.5, 0.5]]),
    "one at random": lambda _: np.eye(2),
    "the larger loss": _larger,
}
"""Coefficients of the clients' updates in each outcome of a round, from the losses at its start."""


def _drawn(config: Picture, worst: Any, law: Callable[["Array"], "Array"]) -> dict[str, Any]:
    instance = worst.instance()
    minimizers = np.array([client.points[np.argmin(client.values)] for client in instance.clients])
    paths = _paths(instance, law, config)
    together = np.concatenate([minimizers, paths.reshape(-1, instance.dim)])
    _, lengths, rows = np.linalg.svd(together, full_matrices=False)
    plane = rows[:2]
    ticks = np.linspace(-1.25, 1.25, config.num_points) * np.abs(together @ plane.T).max()
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1) @ plane
    return {
        "losses": [np.apply_along_axis(client.loss, -1, points) for client in instance.clients],
        "minimizers": minimizers @ plane.T,
        "paths": paths @ plane.T,
        "ticks": ticks,
        "enclosure": [float(end) for end in worst.enclosure],
        # All outcomes of a round are equally likely, and w* is the origin.
        "attained": float((paths[:, -1] ** 2).sum(axis=-1).mean()),
        "held": float((lengths[:2] ** 2).sum() / (lengths**2).sum()),
    }


def _paths(instance: Any, law: Callable[["Array"], "Array"], config: Picture) -> "Array":
    """Follow the server through two rounds with at most two outcomes each; a single outcome is followed four times."""
    eta = float(Fraction(config.step_size))

    def after(w: "Array", choice: int) -> "Array":
        outcomes = law(np.array([client.loss(w) for client in instance.clients]))
        updates = []
        for client in instance.clients:
            y = w
            for _ in range(config.local_steps):
                y = y - eta * client.gradient(y)
            updates.append(y - w)
        found: Array = w + outcomes[min(choice, len(outcomes) - 1)] @ np.array(updates)
        return found

    paths = []
    for first in (0, 1):
        for second in (0, 1):
            middle = after(instance["start"], first)
            paths.append([instance["start"], middle, after(middle, second)])
    return np.array(paths)


def rows_of_pictures(data: "Dataset") -> list[dict[str, Any]]:
    """One row per selection rule: the largest E |w_2 - w*|^2 after two rounds from |w_0 - w*|^2 = 1."""
    return [
        {"selection": str(name), "worst case, at least": float(low), "at most": float(high), "trained": float(trained)}
        for name, (low, high), trained in zip(
            data["strategy"].values, data["enclosure"].values, data["attained"].values, strict=True
        )
    ]


def findings_of_pictures(data: "Dataset") -> dict[str, study.Finding]:
    """Test that training attains the proved values, and compare the selection rules."""
    everyone, chance, larger = data["attained"].values
    missing, held = np.abs(data["attained"] / data["enclosure"].sel(side="lower") - 1).max(), float(data["held"].min())
    away = (data["paths"].sel(strategy="the larger loss").values ** 2).sum(axis=-1)
    return {
        "worst": study.Finding(
            f"In the worst federations of two clients the expected squared distance goes from 1 to {everyone:.2f} if "
            f"both take part, to {chance:.2f} if one is drawn, and to {larger:.2f} if the larger loss is selected.",
            bool(everyone < 1 < chance < larger),
        ),
        "away": study.Finding(
            "In the last one the client with the larger loss moves the server away from the optimum in both rounds.",
            bool((np.diff(away, axis=-1) > 0).all()),
        ),
        "attained": study.Finding(
            "Training on the worst federations attains the proved worst cases.",
            float(missing) < 1e-4,
            f"up to {float(missing):.1e}",
        ),
        "plane": study.Finding(
            f"The planes of the pictures hold at least {100 * held:.0f}% of the federations.", held > 0.6
        ),
    }


TITLES = {"one at random": "random selection", "the larger loss": "selection of the larger loss"}


def draw_picture(axes: Any, data: "Dataset", name: str) -> None:
    """Draw level sets of the clients, their minimizers, and the server's models."""
    here = data.sel(strategy=name)
    ticks, looks = here["ticks"].values, zip(COLORS, ("solid", "dashed"), ("x", "+"), ("1", "2"), strict=False)
    for losses, minimizer, (color, dashes, marker, number) in zip(
        here["losses"].values, here["minimizers"].values, looks, strict=False
    ):
        levels = losses.min() + np.geomspace(0.02, 1, 7) * np.ptp(losses)
        axes.contour(ticks, ticks, losses, levels=levels, colors=color, linewidths=0.8, linestyles=dashes)
        axes.plot(*minimizer, marker, color=color, markersize=9, markeredgewidth=2)
        axes.annotate(f"$w_{number}^*$", minimizer, xytext=(6, 6), textcoords="offset points", color=color)
    for path in here["paths"].values:
        axes.plot(*path.T, "-o", color="black", markersize=3, linewidth=1)
    start = here["paths"].values[0, 0]
    axes.plot(*start, "s", color="black")
    axes.annotate("start", start, xytext=(-34, 6), textcoords="offset points")
    axes.plot(0, 0, "*", color="black", markersize=11)
    axes.annotate("$w^*$", (0, 0), xytext=(-18, -14), textcoords="offset points")
    axes.set(
        aspect="equal", title=f"worst federation, {TITLES[name]}", xlabel="first coordinate", ylabel="second coordinate"
    )
    axes.grid(visible=False)
