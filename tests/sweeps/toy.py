"""Functions and a study for sweeps, which workers import from here."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

import fedtheory as ft
from fedtheory import study


def noisy(d, tau, seed):
    """Scalars, a path whose length is that of an axis, and a spot that fails."""
    rng = np.random.default_rng(seed)
    if (d, tau) == (5, 2):
        raise RuntimeError("a bad\nspot")
    return {
        "gap": d * tau + rng.normal(),
        "path": rng.normal(size=tau),
        "product": np.linalg.norm(rng.normal(size=(50, 50)), 2),
    }


def slow(d):
    """Something that takes a while, so that it can be interrupted."""
    time.sleep(0.03)
    return d * 1.5


class Ran:
    """Configurations that ran: in a class, since the variables of a module identify its functions."""

    configurations: ClassVar[list[int]] = []


def doubled(d):
    """A number, a word and a row."""
    Ran.configurations.append(d)
    return {"double": 2.0 * d, "word": "ab" * d, "row": np.arange(3) + d}


def fails_at_two(d):
    """A number, but for one configuration."""
    Ran.configurations.append(d)
    return 1 / (d - 2)


def given(d, result):
    """A result that the grid gives."""
    return dict(result)


def sized(d, one=None, seed=0):
    """A number that depends on most of its arguments."""
    return float(d) + seed


def trained(d, seed):
    """Two runs whose last bits hang on the order of sums: softmax by batches, and quadratics with noise."""
    data = ft.datasets.synthetic(1, 1, num_clients=8, rng=0, num_features=20)
    settings = {"num_rounds": 9, "local_steps": 3, "step_size": 0.05, "rng": seed, "record": ("loss", "models")}
    softmax = ft.fedavg(ft.SoftmaxFederation(data), ft.selection.PowerOfChoice(2, d), batch_size=10, **settings)
    quadratics = ft.datasets.power_of_choice_quadratics(num_clients=8, dim=3, rng=0)
    noisy = ft.fedavg(quadratics, ft.selection.Independent(d), gradient_noise=1.0, **settings)
    return {
        f"{name}_{what}": getattr(run, what)[0]
        for name, run in (("softmax", softmax), ("noisy", noisy))
        for what in ("loss", "models", "counts")
    }


def trained_here():
    """Digest of a small sweep of runs in this process."""
    return ft.sweep(trained, {"d": [2, 5]}, seeds=2, backend="sequential").digest


def threads(d):
    """Most threads that a library for linear algebra has."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return max(pool["num_threads"] for pool in threadpool_info())


def dies_once(d, marker):
    """A worker that is killed from outside, once."""
    if d == 3 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return d * 1.5


@dataclass(frozen=True)
class Config:
    """How far does a walk go?"""

    num_steps: int = 1000
    drift: float = 0.0
    seed: int = 0


def run(config, progress):
    """Return the walk at its end, and on the way."""
    import xarray

    steps = np.random.default_rng(config.seed).normal(config.drift, size=config.num_steps)
    way = np.cumsum(steps)[[0, -1]]
    return xarray.Dataset({"end": way[-1], "way": ("when", way)}, coords={"when": ["early", "late"]})


def table(data):
    """Return one row."""
    return study.Table([{"end": float(data["end"])}])


def findings(data):
    """One that holds, and one that depends."""
    return {
        "number": study.Finding("It is a number.", bool(np.isfinite(data["end"]))),
        "up": study.Finding("It went up.", bool(data["end"] > 0), f"{float(data['end']):.3f}"),
    }


STUDY = study.Study("walk", Config(), Config(num_steps=10), run, table, findings)
