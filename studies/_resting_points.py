"""Where averaging comes to rest with all clients, and where steps of single drawn clients settle."""

from dataclasses import dataclass
from fractions import Fraction as Q
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import sgd
from fedtheory.instances import vector

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class Resting:
    """Step sizes and lengths of runs that come to rest."""

    halvings: int = 10
    """Step sizes 1/2, 1/4, ..., so many."""
    equal: tuple[int, int] = (3, 3)
    """Local steps of two clients."""
    unequal: tuple[int, int] = (1, 5)
    """Other ones."""
    simulated: int = 4
    """The longest step sizes, which are simulated, too."""
    steps: tuple[int, ...] = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48)
    """Step sizes of one drawn client, in sixteenths of 1/L."""
    zeta2: tuple[int, ...] = (0, 1, 4)
    """Heterogeneity of drawn clients, in L^2 times the squared distance."""
    settling: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5)
    """Step sizes of runs of drawn clients."""
    run_time: float = 400.0
    """Sum of the step sizes of such a run."""
    num_replicates: int = 40
    """Their replicates."""


MU, L = Q(1, 10), Q(1)


@lru_cache
def _plane() -> Any:
    """Two clients in the plane with full Hessians."""
    hessians = (vector(1, 0), vector(0, "1/4")), (vector("1/2", "1/4"), vector("1/4", 1))
    return ft.instances.StationaryPoints(hessians, (vector(0, 0), vector(1, 2)), vector("1/3", "2/3"))


def resting(own: Resting, progress: study.Progress) -> "Dataset":
    """Compute all stationary points of two clients in the plane, and simulate some."""
    e1, e2 = _plane().bias(own.equal[0])
    records = []
    for number in progress(list(range(own.halvings)), "stationary points"):
        eta, simulated = Q(1, 2 ** (number + 1)), number < own.simulated
        records.append({
            "step_size": float(eta),
            "averaging": _off(_plane().averaging(eta, own.equal)),
            "expansion": _size([float(eta * a + eta**2 * b) for a, b in zip(e1, e2, strict=True)]),
            "extrapolated": _off(_plane().romberg(eta, own.equal[0])) if 2 * eta < 1 else np.nan,
            "second order": _size([float(2 * eta**2 * b) for b in e2]),
            "averaging, unequal": _off(_plane().averaging(eta, own.unequal)),
            "normalized": _off(_plane().normalized(eta, own.unequal)),
            "first order": _size([float(eta * a) for a in _plane().normalized_bias(own.unequal)]),
            "inconsistent": _off(_plane().inconsistent_minimizer(own.unequal)),
            "averaging, simulated": _simulated(eta, own.equal, None) if simulated else np.nan,
            "normalized, simulated": _simulated(eta, own.unequal, ft.methods.FedNova()) if simulated else np.nan,
            "scaffold, simulated": _simulated(eta, own.equal, ft.methods.Scaffold()) if simulated else np.nan,
        })  # fmt: skip
    return study.from_records(records)


def _size(vector: Any) -> float:
    return float(np.linalg.norm(np.array(vector, dtype=float)))


def _off(point: Any) -> float:
    return _size([x - best for x, best in zip(point, _plane().minimizer, strict=True)])


def _simulated(eta: Q, local_steps: tuple[int, int], method: Any) -> float:
    """Distance from the minimizer after so many rounds that nothing moves any more."""
    fed = ft.QuadraticFederation(
        np.array(_plane().hessians, dtype=float), np.array(_plane().centers, dtype=float), [1 / 3, 2 / 3]
    )
    run = ft.fedavg(fed, ft.selection.Full(), num_rounds=int(400 / eta), local_steps=list(local_steps), method=method,
                    step_size=float(eta), record=("models",), record_every=int(400 / eta))  # fmt: skip
    return _size(run.models[0, -1] - fed.minimizer)


def drawn(own: Resting, progress: study.Progress, seed: int) -> "Dataset":
    """Certify the worst steps of one drawn client, and let runs of two federations settle."""
    import xarray

    worst, promised = [], []
    for number in progress(own.steps, "steps of a drawn client"):
        known: dict[str, Any] = {"mu": MU, "L": L, "distance2": Q(1), "step_size": Q(number, 16) / L, "num_selected": 1}
        given = [known | {"zeta2": Q(zeta2) if zeta2 else Q(1, 10**6)} for zeta2 in own.zeta2]
        sides = [ft.worst_case.heterogeneous_round(1, **one, sampling="independent").enclosure for one in given]
        worst.append([tuple(map(float, pair)) for pair in sides])
        promised.append([float(sgd.drawn_step(**one)) for one in given])
    settled = [[_settled(own, fed, eta, seed) for fed in _two()] for eta in progress(own.settling, "drawn clients")]
    return xarray.Dataset(
        {
            "worst": (("step", "zeta2", "side"), worst),
            "promised": (("step", "zeta2"), promised),
            "settled": (("step_size", "federation"), settled),
        },
        coords={
            "step": np.array(own.steps) / 16, "zeta2": list(own.zeta2), "side": ["lower", "upper"],
            "step_size": list(own.settling), "federation": ["curvatures mu", "curvatures mu and L"],
        },
    )  # fmt: skip


def _two() -> "list[ft.QuadraticFederation]":
    """Two clients whose gradients at the minimizer 0 are 1 and -1, with equal and with unequal curvatures."""
    equal = ft.QuadraticFederation([0.1, 0.1], [[10.0], [-10.0]], [0.5, 0.5])
    return [equal, ft.QuadraticFederation([0.1, 1.0], [[10.0], [-1.0]], [0.5, 0.5])]


def _settled(own: Resting, fed: "ft.QuadraticFederation", step_size: float, seed: int) -> float:
    """Mean squared distance from w*, in zeta2 = 1, over the second half of a run that starts there."""
    steps = round(own.run_time / step_size)
    found = ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=steps, step_size=step_size, initial=fed.minimizer,
        num_replicates=own.num_replicates, rng=seed, record=("models",), record_every=max(1, steps // 2000),
    )  # fmt: skip
    away = ((found.models - fed.minimizer) ** 2).sum(axis=-1)
    return float(away[:, away.shape[1] // 2 :].mean())


def floor(step_size: Any, curvature: float) -> Any:
    """Return the floor of zeta2 = 1 where the last factor has this curvature."""
    return step_size / (0.1 * (2 - step_size * curvature))
