"""Ways to the optimal sampling probabilities, each compared with the optimum in exact rational arithmetic."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.errors import OracleError

if TYPE_CHECKING:
    from xarray import Dataset

CLOSED, FOUR, PRECISE, BARE = (
    "closed form",
    "AOCS, 4 rescalings",
    "Clarabel, tolerances 1e-12",
    "Clarabel, norms of 1e-6",
)


class _Answer(NamedTuple):
    """How good an answer is: relative excess of its objective, residual of the conditions, largest error of p."""

    gap: float
    residual: float
    deviation: float


def _solved(norms: Any, m: float, *, solver: str, scale: float = 1.0, **settings: Any) -> Any:
    return ft.sampling.solver_probabilities(scale * norms, m, solver, normalize=scale == 1.0, **settings)[0]


def ways(config: Any, progress: study.Progress) -> "Dataset":
    """Compare every way with the optimum on log-normal norms of each spread."""
    import xarray

    from fedtheory.sampling.reference import CLARABEL

    laws: dict[str, Callable[[Any, float], Any]] = {
        CLOSED: ft.sampling.optimal_probabilities,
        **{
            f"AOCS, {j} rescaling{'s' * (j > 1)}": partial(ft.sampling.approximate_probabilities, max_iterations=j)
            for j in (1, 2, 4)
        },
        PRECISE: partial(_solved, solver="CLARABEL", **CLARABEL),
        "Clarabel, default": partial(_solved, solver="CLARABEL"),
        BARE: partial(_solved, solver="CLARABEL", scale=1e-6),
        "SCS, default": partial(_solved, solver="SCS"),
    }
    m, answers, excesses = config.judged_size, [], []
    _, *seeds = np.random.SeedSequence(config.seed).spawn(len(config.spreads) + 1)
    for spread, seed in zip(config.spreads, seeds, strict=True):
        drawn = np.random.default_rng(seed).lognormal(0.0, spread, (config.judged_instances, config.judged_clients))
        for t in progress(drawn, f"probabilities, spread {spread:g}"):
            answers.append([_judged(law, t, m) for law in laws.values()])
        excesses.append([_excesses(t, m, config.max_rescalings) for t in drawn])
    shape = len(config.spreads), config.judged_instances, len(laws), -1
    return xarray.Dataset(
        {
            "answer": (("spread", "instance", "way", "measure"), np.reshape(answers, shape)),
            "excess": (("spread", "instance", "rescaling"), np.array(excesses)),
        },
        coords={
            "spread": list(config.spreads), "way": list(laws), "measure": list(_Answer._fields),
            "rescaling": np.arange(config.max_rescalings + 1),
        },
        attrs={"expected_size": m},
    )  # fmt: skip


def _judged(law: Callable[[Any, float], Any], norms: Any, m: float) -> _Answer:
    """Judge an answer, made feasible, against the exact optimum; NaN where there is none."""
    exact = np.array(ft.sampling.rational_probabilities(norms, m), dtype=np.float64)
    best = (norms**2 / exact).sum()
    try:
        p = np.clip(law(norms, m), 1e-12, 1.0)
    except OracleError:
        return _Answer(np.nan, np.nan, np.nan)
    p *= min(1.0, m / p.sum())
    found = ft.sampling.certificate(norms, p, m)
    return _Answer((norms**2 / p).sum() / best - 1, found.residual, np.abs(p - exact).max())


def _excesses(norms: Any, m: float, most: int) -> list[float]:
    """Variance above the optimal one after 0, 1, ... rescalings, in units of the uniform variance."""
    uniform = ft.sampling.variance(norms, np.full(norms.size, m / norms.size))
    best = ft.sampling.variance(norms, ft.sampling.optimal_probabilities(norms, m))
    return [(ft.sampling.variance(norms, p) - best) / uniform for p in ft.sampling.approximation_path(norms, m, most)]


def checks_of_ways(data: "Dataset") -> dict[str, study.Check]:
    """Test that the closed form is the optimum, and that rescalings come to it."""
    own = np.abs(data["answer"].sel(way=CLOSED).values).max()
    gap, steps = float(data["answer"].sel(measure="gap").min()), np.diff(data["excess"].values, axis=-1)
    enough = int(np.ceil(data.attrs["expected_size"])) - 1
    left = np.abs(data["excess"].sel(rescaling=slice(enough, None))).max().item()
    worst = float(np.nan_to_num(data["answer"].sel(way=BARE, measure="deviation").values, nan=1.0).max())
    return {
        "the closed form is exact to rounding": study.Check(own < 1e-13, f"worst of all measures {own:.1e}"),
        "no method beats it": study.Check(gap > -1e-14, f"smallest gap {gap:.1e}"),
        "every rescaling lowers the variance": study.Check(bool((steps <= 1e-15).all()), f"largest {steps.max():.1e}"),
        f"{enough} rescalings are enough": study.Check(left < 1e-14, f"largest excess {left:.1e}"),
        "a solver without normalization is wrong or fails": study.Check(worst > 0.05, f"error of p {worst:.2g}"),
    }
