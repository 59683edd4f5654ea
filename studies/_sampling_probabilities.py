"""Optimal sampling probabilities compared with the exact optimum, and correlated samplings with these probabilities."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _checks import Check

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
    """Quality of an answer: relative excess of its objective, residual of the conditions, largest error of p."""

    gap: float
    residual: float
    deviation: float


def _solved(norms: Any, m: float, *, solver: str, scale: float = 1.0, **settings: Any) -> Any:
    return ft.sampling.solver_probabilities(scale * norms, m, solver, normalize=scale == 1.0, **settings)[0]


def ways(config: Any, progress: study.Progress) -> "Dataset":
    """Compare every algorithm with the optimum on log-normal norms of each spread."""
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


def checks_of_ways(data: "Dataset") -> dict[str, Check]:
    """Test that the closed form is the optimum, and that rescalings converge to it."""
    own = np.abs(data["answer"].sel(way=CLOSED).values).max()
    gap, steps = float(data["answer"].sel(measure="gap").min()), np.diff(data["excess"].values, axis=-1)
    enough = int(np.ceil(data.attrs["expected_size"])) - 1
    left = np.abs(data["excess"].sel(rescaling=slice(enough, None))).max().item()
    worst = float(np.nan_to_num(data["answer"].sel(way=BARE, measure="deviation").values, nan=1.0).max())
    return {
        "the closed form is exact to rounding": Check(own < 1e-13, f"worst of all measures {own:.1e}"),
        "no method beats it": Check(gap > -1e-14, f"smallest gap {gap:.1e}"),
        "every rescaling lowers the variance": Check(bool((steps <= 1e-15).all()), f"largest {steps.max():.1e}"),
        f"{enough} rescalings are enough": Check(left < 1e-14, f"largest excess {left:.1e}"),
        "a solver without normalization is wrong or fails": Check(worst > 0.05, f"error of p {worst:.2g}"),
    }


SAMPLINGS = ("systematic", "best for these updates")


def laws(config: Any, progress: study.Progress) -> "Dataset":
    """Compare variances on random instances, and under all changes of sign."""
    import xarray

    alignments = np.linspace(-1, 1, config.num_alignments)
    ratios = [
        [_instance_ratios(config, float(alignment), index) for index in range(config.drawn_instances)]
        for alignment in progress(alignments, "alignments")
    ]
    return xarray.Dataset(
        {
            "ratio": (("alignment", "instance", "sampling"), ratios),
            "sign_ratio": (("sampling", "pattern"), sign_ratios(config)),
        },
        coords={"alignment": alignments, "sampling": list(SAMPLINGS)},
    )


def updates(config: Any, alignment: float, index: int) -> Any:
    """Weighted updates, shape (n, v), with a common direction or with two opposite directions."""
    rng = np.random.default_rng([config.seed, index])
    n, v = config.drawn_clients, config.drawn_dim
    weights = rng.lognormal(0, 0.5, n)
    own, common = rng.normal(size=(n, v)), rng.normal(size=v)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    common /= np.linalg.norm(common)
    sides = np.where(np.arange(n) % 2, 1.0, np.sign(alignment) or 1.0)
    shared = abs(alignment) * sides[:, None] * common + np.sqrt(1 - alignment**2) * own
    return weights[:, None] / weights.sum() * shared


def _instance_ratios(config: Any, alignment: float, index: int) -> list[float]:
    drawn = updates(config, alignment, index)
    matrices, independent = matrices_of(config, drawn)
    return [ft.sampling.estimator_variance(matrix, drawn) / independent for matrix in matrices]


def matrices_of(config: Any, drawn: Any) -> tuple[list[Any], float]:
    """Probability matrices of the correlated samplings, and the variance of the optimal independent one."""
    norms = np.linalg.norm(drawn, axis=1)
    p = ft.sampling.optimal_probabilities(norms, config.drawn_size)
    return [systematic(p).matrix, best(p, drawn).matrix], float(ft.sampling.variance(norms, p))


def systematic(p: Any) -> Any:
    """Return the law of systematic sampling: a comb with teeth at distance 1 on the concatenated probabilities."""
    ends = np.cumsum(p)
    # The comb's offset u draws client i when a tooth u, u + 1, ... lies in [ends[i] - p[i], ends[i]).
    cuts = np.unique(np.concatenate([[0.0, 1.0], np.round(ends % 1, 14)]))
    middles = (cuts[1:] + cuts[:-1]) / 2
    members = np.floor(ends[None, :] - middles[:, None]) > np.floor(ends[None, :] - p - middles[:, None])
    return ft.sampling.JointLaw(members, np.diff(cuts) / np.diff(cuts).sum())


def best(p: Any, drawn: Any) -> Any:
    """Return the law of least variance among all with these probabilities."""
    from scipy.optimize import linprog

    n = len(p)
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    errors = (members / p) @ drawn - drawn.sum(axis=0)
    constraints = np.vstack([members.T, np.ones(2**n)])
    found = linprog(np.sum(errors**2, axis=1), A_eq=constraints, b_eq=np.append(p, 1.0), method="highs")
    if not found.success:
        message = f"the linear program of the best sampling must be solved, got: {found.message}"
        raise ValueError(message)
    chances = np.maximum(found.x, 0.0)
    return ft.sampling.JointLaw(members[chances > 0], chances[chances > 0] / chances.sum())


def sign_ratios(config: Any) -> Any:
    """Variance over that of independent sampling for all signs of one instance, shape (samplings, patterns)."""
    drawn = updates(config, 0.9, 0)
    matrices, independent = matrices_of(config, drawn)
    products = drawn @ drawn.T
    patterns = np.array(list(itertools.product([1.0, -1.0], repeat=config.drawn_clients - 1)))
    # Flipping all signs at once has no effect, so the sign of the first client is fixed.
    signs = np.hstack([np.ones((len(patterns), 1)), patterns])
    ratios = []
    for matrix in matrices:
        p = np.diagonal(matrix)
        relative = (matrix / np.outer(p, p) - 1) * products
        ratios.append(np.sort(np.einsum("si,ij,sj->s", signs, relative, signs)) / independent)
    return ratios


def checks_of_laws(data: "Dataset") -> dict[str, Check]:
    """Test the mean over all signs, and the two correlated samplings."""
    comb, least = (data["ratio"].sel(sampling=name) for name in SAMPLINGS)
    means = data["sign_ratio"].mean("pattern").values
    equal, opposed = float(comb.isel(alignment=-1).max()), float(comb.isel(alignment=0).max())
    return {
        "the mean over all signs is the independent variance": Check(
            bool(np.allclose(means, 1, rtol=1e-7)), f"{means}"
        ),
        "systematic sampling of equal updates has no variance": Check(equal < 1e-7, f"largest ratio {equal:.2g}"),
        "systematic sampling of opposed updates can be worse": Check(opposed > 1, f"largest ratio {opposed:.2f}"),
        "the best law is never above independent and systematic sampling": Check(
            bool(float(least.max()) <= 1 + 1e-7 and float((least - comb).max()) <= 1e-7), f"{float(least.max()):.3f}"
        ),
    }
