"""Random federations, and ways of selecting compared with random selection on each of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset

# Logarithms of the least and the most heterogeneity, and what is counted.
LEAST, MOST = -3.0, 1.0
COUNTED = ("rounds", "floats")


@dataclass(frozen=True)
class Setting:
    """What the results depend on."""

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
    """Ways of selecting that are simulated; the last numbers of candidates also with last known losses."""
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
    """Compare on some federations, the same for every tau."""
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
    """Return the rounds after which they are compared, powers of the root of two."""
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
    """Say where the mean field is ahead, and where random selection is below the floor."""
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
    """Say at which horizons errors are below those of random selection: at equal rounds, and at equal cost."""
    affordable = np.searchsorted(cost, paid, side="right") - 1
    return np.stack([gaps[at] < rand[at], gaps[affordable] < rand[at]])
