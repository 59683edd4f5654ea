"""Correlated samplings of clients with the probabilities that are optimal for independent sampling."""

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

SAMPLINGS = ("systematic", "best for these updates")
FIXTURES = ("two equal updates, m = 1", "two opposite updates, m = 1", "three parallel updates, m = 1", "equal, m = 2")


def laws(config: Any, progress: study.Progress) -> "Dataset":
    """Compare variances on the fixtures, on random instances, and under all changes of sign."""
    import xarray

    alignments = np.linspace(-1, 1, config.num_alignments)
    ratios = [
        [_instance_ratios(config, float(alignment), index) for index in range(config.drawn_instances)]
        for alignment in progress(alignments, "alignments")
    ]
    return xarray.Dataset(
        {
            "fixture_variance": (("fixture", "law"), [_fixture(name) for name in FIXTURES]),
            "ratio": (("alignment", "instance", "sampling"), ratios),
            "sign_ratio": (("sampling", "pattern"), sign_ratios(config)),
        },
        coords={
            "fixture": list(FIXTURES), "alignment": alignments, "sampling": list(SAMPLINGS),
            "law": ["correlated", "independent", "bound of correlated", "bound of independent"],
        },
    )  # fmt: skip


def _fixture(name: str) -> list[float]:
    """Variances of a correlated and of the optimal independent sampling, and their bounds, by exact arithmetic."""
    one, half = Fraction(1), Fraction(1, 2)
    thirds = [half, one / 6, one / 3]
    pairs = [[Fraction(2, 3) if i == j else Fraction(1, 3) for j in range(3)] for i in range(3)]
    vectors, p, together = {
        FIXTURES[0]: ([half, half], [half, half], _exactly_one([half, half])),
        FIXTURES[1]: ([half, -half], [half, half], _exactly_one([half, half])),
        FIXTURES[2]: (thirds, thirds, _exactly_one(thirds)),
        FIXTURES[3]: ([one / 3] * 3, [2 * one / 3] * 3, pairs),
    }[name]
    norms = [abs(x) for x in vectors]
    correlated = ft.sampling.estimator_variance(
        np.array(together, dtype=object), np.array(vectors, dtype=object)[:, None]
    )
    v = ft.sampling.smallest_uniform_v(np.array(together, dtype=np.float64))
    bound = ft.sampling.variance_bound(list(map(float, norms)), list(map(float, p)), [v] * len(p))
    independent = float(ft.sampling.variance(norms, p))
    return [float(correlated), independent, bound, independent]


def _exactly_one(p: list[Fraction]) -> list[list[Fraction]]:
    return [[p[i] if i == j else Fraction(0) for j in range(len(p))] for i in range(len(p))]


def updates(config: Any, alignment: float, index: int) -> Any:
    """Weighted updates, shape (n, v), with a common direction or with two opposite ones."""
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
    """Return the law of a comb with teeth at distance 1 that falls on the probabilities laid one after the other."""
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
    # Flipping all signs at once changes nothing, so the first client keeps its own.
    signs = np.hstack([np.ones((len(patterns), 1)), patterns])
    ratios = []
    for matrix in matrices:
        p = np.diagonal(matrix)
        relative = (matrix / np.outer(p, p) - 1) * products
        ratios.append(np.sort(np.einsum("si,ij,sj->s", signs, relative, signs)) / independent)
    return ratios


def checks_of_laws(data: "Dataset") -> dict[str, study.Check]:
    """Test the fixtures, the mean over all signs, and the two correlated samplings."""
    fixtures = data["fixture_variance"]
    # By hand: exactly one of two equal updates is no error at all; of two opposite ones it is 1.
    known = np.array([[0, 1 / 2], [1, 1 / 2], [0, 11 / 18], [0, 1 / 6]])
    found = fixtures.isel(law=slice(0, 2)).values
    comb, least = (data["ratio"].sel(sampling=name) for name in SAMPLINGS)
    means, bounds = data["sign_ratio"].mean("pattern").values, fixtures[:, 2].values - fixtures[:, 3].values
    equal, opposed = float(comb.isel(alignment=-1).max()), float(comb.isel(alignment=0).max())
    return {
        "the fixtures have the variances computed by hand": study.Check(
            bool(np.allclose(found, known, atol=1e-15)), f"{found.ravel().round(4)}"
        ),
        "a correlated sampling has a larger bound and may have less variance": study.Check(
            bool((bounds > 0).all() and (found[:, 0] < found[:, 1]).sum() == 3), f"larger by {bounds.round(4)}"
        ),
        "the mean over all signs is the independent variance": study.Check(
            bool(np.allclose(means, 1, rtol=1e-7)), f"{means}"
        ),
        "systematic sampling of equal updates has no variance": study.Check(equal < 1e-7, f"largest ratio {equal:.2g}"),
        "systematic sampling of opposed updates can be worse": study.Check(opposed > 1, f"largest ratio {opposed:.2f}"),
        "the best law is never above independent and systematic sampling": study.Check(
            bool(float(least.max()) <= 1 + 1e-7 and float((least - comb).max()) <= 1e-7), f"{float(least.max()):.3f}"
        ),
    }
