r"""
Is independent sampling the best way to sample clients?
=======================================================

**For the worst direction of the updates it is; when they agree, a sampling of fixed size has less variance.**

**Question.** Chen, Horvath and Richtarik (2022) sample clients independently, because independent sampling "minimizes
the left-hand side" of their Lemma 1, the variance of :math:`\sum_{i \in S} (w_i/p_i) U_i`. Does it?

**Method.** It minimizes the *right-hand side*, a bound that knows the norms of the updates only. For the left-hand side
we look at hand-made instances, in exact rational arithmetic, and at random ones, always with the probabilities that
are optimal for independent sampling. The correlated samplings keep these probabilities and change the law of pairs:

* *systematic*: the probabilities are laid on a line one after the other, and a comb with teeth at distance 1 falls on
  it; always m clients;
* *best for these updates*: the law with the least variance of all, found by linear programming over the probabilities
  of all sets; nobody could use it, since it needs all inner products of the updates, but nothing can be below it.

Updates share a direction to a varying degree: :math:`U_i = c\,e + \sqrt{1-c^2}\,u_i` with random unit vectors
:math:`u_i`; to the left of 0, every other client pulls the opposite way.

**Reading.** First figure: variance over that of independent sampling. Below one correlation helps: when updates agree,
as gradients far from the optimum do, a sampling of fixed size beats the independent one and may have no variance left
at all, even though its bound is larger. When the updates oppose each other the same sampling tends to be worse. Second
figure: the signs of the updates of one instance are flipped in all ways. For every sampling the *mean* over the signs
is exactly the independent variance, so that none is better for all directions: for given norms independent sampling is
minimax, and that, not Lemma 1, is what makes it optimal.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below
from fedtheory.sampling.correlated import JointLaw
from fedtheory.sampling.probability_matrices import estimator_variance, smallest_uniform_v, variance_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Correlated samplings of clients whose variance is below that of independent sampling."""

    num_clients: int = 8
    """Clients n of the random instances."""
    expected_size: int = 3
    """Expected number m of sampled clients."""
    dim: int = 20
    """Parameters of the model."""
    num_alignments: int = 17
    """Degrees of agreement between the updates, from opposed to equal."""
    num_instances: int = 60
    """Random instances for each of them."""
    seed: int = 0
    """Entropy of the instances."""


QUICK = Config(num_clients=6, expected_size=2, num_alignments=5, num_instances=8)

SAMPLINGS = ("systematic", "best for these updates")
FIXTURES = ("two equal updates, m = 1", "two opposite updates, m = 1", "three parallel updates, m = 1", "equal, m = 2")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Compare variances on the fixtures, on random instances, and under all changes of sign."""
    import xarray

    alignments = np.linspace(-1, 1, config.num_alignments)
    ratios = [
        [_instance_ratios(config, float(alignment), index) for index in range(config.num_instances)]
        for alignment in progress(alignments, "alignments")
    ]
    return xarray.Dataset(
        {
            "fixture_variance": (("fixture", "law"), [_fixture(name) for name in FIXTURES]),
            "ratio": (("alignment", "instance", "sampling"), ratios),
            "sign_ratio": (("sampling", "pattern"), _sign_ratios(config)),
        },
        coords={
            "fixture": list(FIXTURES),
            "law": ["correlated", "independent", "bound of correlated", "bound of independent"],
            "alignment": alignments,
            "sampling": list(SAMPLINGS),
        },
    )


def _fixture(name: str) -> list[float]:
    """Variances of a correlated and of the optimal independent sampling, and their bounds, by exact arithmetic."""
    one, half = Fraction(1), Fraction(1, 2)
    vectors, p, together = {
        FIXTURES[0]: ([half, half], [half, half], _exactly_one([half, half])),
        FIXTURES[1]: ([half, -half], [half, half], _exactly_one([half, half])),
        FIXTURES[2]: (
            [half, one / 6, one / 3],
            [half, one / 6, one / 3],
            _exactly_one([half, one / 6, one / 3]),
        ),
        FIXTURES[3]: ([one / 3] * 3, [2 * one / 3] * 3, _pairs_of_three()),
    }[name]
    norms = [abs(x) for x in vectors]
    correlated = estimator_variance(np.array(together, dtype=object), np.array(vectors, dtype=object)[:, None])
    v = smallest_uniform_v(np.array(together, dtype=np.float64))
    bound = variance_bound(list(map(float, norms)), list(map(float, p)), [v] * len(p))
    independent = float(ft.sampling.variance(norms, p))
    return [float(correlated), independent, bound, independent]


def _exactly_one(p: list[Fraction]) -> list[list[Fraction]]:
    return [[p[i] if i == j else Fraction(0) for j in range(len(p))] for i in range(len(p))]


def _pairs_of_three() -> list[list[Fraction]]:
    return [[Fraction(2, 3) if i == j else Fraction(1, 3) for j in range(3)] for i in range(3)]


def _updates(config: Config, alignment: float, index: int) -> Any:
    """Weighted updates, shape (n, v), with a common direction or with two opposite ones."""
    rng = np.random.default_rng([config.seed, index])
    n, v = config.num_clients, config.dim
    weights = rng.lognormal(0, 0.5, n)
    own, common = rng.normal(size=(n, v)), rng.normal(size=v)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    common /= np.linalg.norm(common)
    sides = np.where(np.arange(n) % 2, 1.0, np.sign(alignment) or 1.0)
    return (
        weights[:, None] / weights.sum() * (abs(alignment) * sides[:, None] * common + np.sqrt(1 - alignment**2) * own)
    )


def _instance_ratios(config: Config, alignment: float, index: int) -> list[float]:

    updates = _updates(config, alignment, index)
    matrices, independent = _laws(config, updates)
    return [estimator_variance(matrix, updates) / independent for matrix in matrices]


def _laws(config: Config, updates: Any) -> tuple[list[Any], float]:
    """Probability matrices of the correlated samplings, and the ft.sampling.variance of the optimal independent one."""
    norms = np.linalg.norm(updates, axis=1)
    p = ft.sampling.optimal_probabilities(norms, config.expected_size)
    return [_systematic(p).matrix, _best(p, updates).matrix], float(ft.sampling.variance(norms, p))


def _systematic(p: Any) -> Any:

    ends = np.cumsum(p)
    # The comb's offset u draws client i when a tooth u, u + 1, ... lies in [ends[i] - p[i], ends[i]).
    cuts = np.unique(np.concatenate([[0.0, 1.0], np.round(ends % 1, 14)]))
    middles = (cuts[1:] + cuts[:-1]) / 2
    members = np.floor(ends[None, :] - middles[:, None]) > np.floor(ends[None, :] - p - middles[:, None])
    return JointLaw(members, np.diff(cuts) / np.diff(cuts).sum())


def _best(p: Any, updates: Any) -> Any:
    """Law of least variance among all with these probabilities."""
    from scipy.optimize import linprog

    n = len(p)
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    errors = (members / p) @ updates - updates.sum(axis=0)
    constraints = np.vstack([members.T, np.ones(2**n)])
    found = linprog(np.sum(errors**2, axis=1), A_eq=constraints, b_eq=np.append(p, 1.0), method="highs")
    if not found.success:
        message = f"the linear program of the best sampling must be solved, got: {found.message}"
        raise ValueError(message)
    chances = np.maximum(found.x, 0.0)
    return JointLaw(members[chances > 0], chances[chances > 0] / chances.sum())


def _sign_ratios(config: Config) -> Any:
    """Variance over that of independent sampling for all signs of one instance, shape (samplings, patterns)."""
    updates = _updates(config, 0.9, 0)
    matrices, independent = _laws(config, updates)
    products = updates @ updates.T
    patterns = np.array(list(itertools.product([1.0, -1.0], repeat=config.num_clients - 1)))
    # Flipping all signs at once changes nothing, so the first client keeps its own.
    signs = np.hstack([np.ones((len(patterns), 1)), patterns])
    ratios = []
    for matrix in matrices:
        p = np.diagonal(matrix)
        relative = (matrix / np.outer(p, p) - 1) * products
        ratios.append(np.sort(np.einsum("si,ij,sj->s", signs, relative, signs)) / independent)
    return ratios


def table(data: "Dataset") -> study.Table:
    """One row per fixture, and one per sampling and kind of random instance."""
    rows: list[dict[str, Any]] = []
    for name in data["fixture"].values:
        values = {str(law): float(data["fixture_variance"].sel(fixture=name, law=law)) for law in data["law"].values}
        rows.append({"instance": str(name), "sampling": "fixed size", **values, "beats independent": ""})
    kinds = {"opposed": data["alignment"] < -0.4, "random directions": abs(data["alignment"]) <= 0.4}
    kinds["agreeing"] = data["alignment"] > 0.4
    for kind, name in itertools.product(kinds, SAMPLINGS):
        ratios = data["ratio"].sel(sampling=name).where(kinds[kind], drop=True).values
        row = {"instance": f"random, {kind}", "sampling": name, "correlated": float(ratios.mean()), "independent": 1.0}
        share = f"{np.mean(ratios < 1 - 1e-9):.0%}"
        rows.append({**row, **dict.fromkeys(map(str, data["law"].values[2:]), ""), "beats independent": share})
    caption = "Fixtures: exact variances, and the bounds of Lemma 1. Random instances: mean ratios of variances."
    return study.Table(rows, title="Variance of correlated and of optimal independent sampling", caption=caption)


def _in_words(values: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figures are taken to show."""
    fixtures = data["fixture_variance"]
    # By hand: exactly one of two equal updates is no error at all; of two opposite ones it is 1.
    known = np.array([[0, 1 / 2], [1, 1 / 2], [0, 11 / 18], [0, 1 / 6]])
    found = fixtures.isel(law=slice(0, 2)).values
    systematic, best = (data["ratio"].sel(sampling=name) for name in SAMPLINGS)
    means = data["sign_ratio"].mean("pattern").values
    bounds = fixtures.isel(law=2).values - fixtures.isel(law=3).values
    equal, opposed = systematic.isel(alignment=-1), systematic.isel(alignment=0)
    return {
        "the fixtures have the variances computed by hand": study.Check(
            bool(np.allclose(found, known, atol=1e-15)), _in_words(found.ravel())
        ),
        "a correlated sampling has a larger bound and may have less variance": study.Check(
            bool((bounds > 0).all() and (found[:, 0] < found[:, 1]).sum() == 3), f"larger by {_in_words(bounds)}"
        ),
        "the mean over all signs is the independent variance": study.Check(
            bool(np.allclose(means, 1, rtol=1e-7)), _in_words(means)
        ),
        "systematic sampling of equal updates has no variance": study.Check(
            float(equal.max()) < 1e-7, f"largest ratio {float(equal.max()):.2g}"
        ),
        "systematic sampling of opposed updates can be worse": study.Check(
            float(opposed.max()) > 1, f"largest ratio {float(opposed.max()):.2f}"
        ),
        "the best law is never above independent and systematic sampling": study.Check(
            bool(float(best.max()) <= 1 + 1e-7 and float((best - systematic).max()) <= 1e-7), f"{float(best.max()):.3f}"
        ),
    }


def alignment_figure(data: "Dataset") -> "Figure":
    """Ratio of variances against agreement of the updates."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, axes = plt.subplots(figsize=(7, 4.5))
        for name, color, marker in zip(SAMPLINGS, COLORS, MARKERS, strict=False):
            ratios = data["ratio"].sel(sampling=name)
            low, middle, high = (ratios.quantile(q, "instance").values for q in (0.1, 0.5, 0.9))
            measured(
                axes, data["alignment"], middle, low, high, label=f"{name} (median, 80%)", color=color, marker=marker
            )
        axes.axhline(1, color="black", linestyle=(0, (5, 1.5)), label="independent")
        axes.set_xlabel("agreement c of the updates (negative: every other one opposed)")
        axes.set_ylabel("variance / independent variance")
        axes.set_ylim(bottom=0)
        return legend_below(figure, num_columns=3)


def sign_figure(data: "Dataset") -> "Figure":
    """Ratios under all changes of sign, sorted, with their mean."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, axes = plt.subplots(figsize=(7, 4.5))
        for name, color in zip(SAMPLINGS, COLORS, strict=False):
            ratios = data["sign_ratio"].sel(sampling=name).values
            axes.step(np.linspace(0, 1, ratios.size), ratios, where="mid", color=color, label=name)
        axes.axhline(1, color="black", linestyle=(0, (5, 1.5)), label="independent, and the mean of each")
        axes.set_xlabel("share of the sign patterns")
        axes.set_ylabel("variance / independent variance")
        axes.set_ylim(bottom=0)
        return legend_below(figure, num_columns=3)


STUDY = study.Study(
    name="sampling_lower_variance",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"alignment": alignment_figure, "signs": sign_figure},
)

if __name__ == "__main__":
    study.main(STUDY)
