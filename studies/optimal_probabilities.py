r"""
Which way to the optimal sampling probabilities?
================================================

**The closed form, which is exact to rounding; the published iteration is Newton's method and ends in fewer steps than
clients are sampled.**

**Question.** Optimal Client Sampling (Chen, Horváth and Richtárik, 2022) samples client i with the probability
:math:`p_i` that minimizes :math:`\sum_i t_i^2/p_i` for norms :math:`t_i = w_i\|U_i\|` under :math:`\sum_i p_i \le m`.
The minimizer has a closed form; the paper also offers an approximation by rescalings (AOCS), and any convex solver can
be asked. How far from the optimum is each, and what does it cost?

**Method.** Log-normal norms of two spreads. The optimum is computed in exact rational arithmetic. Every answer is first
made feasible (clipped to [0, 1] and, if its sum exceeds m, scaled down), so that no method gains from overspending, and
compared with the optimum. Clarabel also gets norms of size 1e-6 as they are, without dividing by the largest. Times are
the shortest of interleaved runs on one thread: ours include checks of arguments, the solvers' the modeling by cvxpy.

**Reading.** First figure: probability against norm. Small clients share the budget in proportion to their norms, large
ones are always sampled; AOCS starts below and climbs to the optimum, a few clients saturating at each rescaling.
Second figure: the variance that AOCS leaves after each rescaling (linear below rounding), and the times.

**Findings.** The closed form is exact to rounding. AOCS is Newton's method: ceil(m) - 1 rescalings always suffice, and
the four of the published code leave a relative gap below 1e-9 even for norms that spread over five decades. Solvers are
witnesses rather than judges: the objective is flat, so that even with tolerances 1e-12 Clarabel's probabilities are off
by 0.017 when norms spread widely, and norms that are not normalized lead it to a wrong answer without any error.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.errors import OracleError
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below, log_log
from fedtheory.sampling.reference import CLARABEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

Law = Callable[[Any, float], Any]


@dataclass(frozen=True)
class Config:
    """Optimal sampling probabilities: closed form, AOCS and convex solvers, by objective, conditions and time."""

    spreads: tuple[float, ...] = (1.0, 3.0)
    """Standard deviations of the logarithms of the norms."""
    num_clients: int = 30
    """Clients of the instances on which accuracy is compared."""
    expected_size: float = 12.0
    """Expected number m of sampled clients of these."""
    num_instances: int = 25
    """Instances per spread."""
    max_rescalings: int = 12
    """Rescalings of AOCS shown in the figure."""
    sizes: tuple[int, ...] = (100, 1_000, 10_000, 100_000, 1_000_000)
    """Numbers of clients for the timing, with m a tenth of them."""
    largest_solved: int = 10_000
    """Largest number of clients given to a solver."""
    num_repeats: int = 15
    """Interleaved repetitions of each timing."""
    seed: int = 0
    """Entropy of the norms."""


QUICK = Config(num_instances=4, sizes=(100, 1_000), largest_solved=100, num_repeats=3)

CLOSED, SORTED = "closed form", "NumPy sort"
RESCALINGS = (1, 2, 4)
TRUSTED = 1e-8
SHOWN = {"optimal": "-", "AOCS, one rescaling": "--", "AOCS, no rescaling": "-.", "uniform m/n": ":"}


class _Answer(NamedTuple):
    """How good an answer is: relative excess of its objective, residual of the conditions, largest error of p."""

    gap: float
    residual: float
    deviation: float


def sort_probabilities(norms: Any, m: float) -> Any:
    """Evaluate the closed form by sorting, as it is usually written in NumPy."""
    t = np.sort(norms)
    sums = np.cumsum(t)
    rooms = m + np.arange(1, t.size + 1) - t.size
    last = np.flatnonzero((rooms > 0) & (rooms * t <= sums))[-1]
    return np.minimum(1.0, rooms[last] / sums[last] * norms)


def _solved(norms: Any, m: float, *, solver: str, scale: float = 1.0, **settings: Any) -> Any:

    return ft.sampling.solver_probabilities(scale * norms, m, solver, normalize=scale == 1.0, **settings)[0]


def _laws() -> dict[str, Law]:

    return {
        CLOSED: ft.sampling.optimal_probabilities,
        SORTED: sort_probabilities,
        **{
            f"AOCS, {j} rescaling{'s' * (j > 1)}": partial(ft.sampling.approximate_probabilities, max_iterations=j)
            for j in RESCALINGS
        },
        "Clarabel, tolerances 1e-12": partial(_solved, solver="CLARABEL", **CLARABEL),
        "Clarabel, default": partial(_solved, solver="CLARABEL"),
        "Clarabel, norms of 1e-6 as they are": partial(_solved, solver="CLARABEL", scale=1e-6),
        "SCS, default": partial(_solved, solver="SCS"),
    }


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Compare accuracy on random instances, and time on larger ones."""
    import xarray
    from threadpoolctl import threadpool_limits

    laws = _laws()
    shape = len(config.spreads), config.num_instances
    rngs = [np.random.default_rng(seed) for seed in np.random.SeedSequence(config.seed).spawn(shape[0] + 1)]
    answers, excesses, shown = [], [], []
    for spread, rng in zip(config.spreads, rngs[1:], strict=True):
        drawn = rng.lognormal(0.0, spread, (config.num_instances, config.num_clients))
        for t in progress(drawn, f"accuracy, spread {spread:g}"):
            answers.append([_judged(law, t, config.expected_size) for law in laws.values()])
        excesses.append([_excesses(t, config) for t in drawn])
        shown.append(_picture(np.sort(drawn[0]), config))
    with threadpool_limits(limits=1):
        seconds = [_timed(laws, n, rngs[0], config) for n in progress(config.sizes, "time")]
    return xarray.Dataset(
        {
            "answer": (("spread", "instance", "way", "measure"), np.reshape(answers, (*shape, len(laws), -1))),
            "excess": (("spread", "instance", "rescaling"), np.array(excesses)),
            "picture": (("spread", "law", "client"), np.array(shown)),
            "seconds": (("size", "way"), np.array(seconds)),
        },
        coords={
            "spread": list(config.spreads),
            "way": list(laws),
            "measure": list(_Answer._fields),
            "rescaling": np.arange(config.max_rescalings + 1),
            "law": ["norm", *SHOWN],
            "size": list(config.sizes),
        },
        attrs={"expected_size": config.expected_size},
    )


def _judged(law: Law, norms: Any, m: float) -> _Answer:
    """Judge an answer against the exact optimum; NaN where there is none."""
    exact = np.array(ft.sampling.rational_probabilities(norms, m), dtype=np.float64)
    best = (norms**2 / exact).sum()
    try:
        p = np.clip(law(norms, m), 1e-12, 1.0)
    except OracleError:
        return _Answer(np.nan, np.nan, np.nan)
    p *= min(1.0, m / p.sum())
    found = ft.sampling.certificate(norms, p, m)
    return _Answer((norms**2 / p).sum() / best - 1, found.residual, np.abs(p - exact).max())


def _excesses(norms: Any, config: Config) -> list[float]:
    """Variance above the optimal one after 0, 1, ... rescalings, in units of the uniform variance."""
    m = config.expected_size
    uniform = ft.sampling.variance(norms, np.full(norms.size, m / norms.size))
    best = ft.sampling.variance(norms, ft.sampling.optimal_probabilities(norms, m))
    return [
        (ft.sampling.variance(norms, p) - best) / uniform
        for p in ft.sampling.approximation_path(norms, m, config.max_rescalings)
    ]


def _picture(norms: Any, config: Config) -> Any:

    m = config.expected_size
    early = ft.sampling.approximation_path(norms, m, 1)
    return np.stack(
        [norms, ft.sampling.optimal_probabilities(norms, m), *early[::-1], np.full(norms.size, m / norms.size)]
    )


def _timed(laws: dict[str, Law], num_clients: int, rng: np.random.Generator, config: Config) -> list[float]:
    """Shortest seconds per call of each law, over interleaved runs; NaN where a solver would take too long or fails."""
    norms, m = rng.lognormal(0.0, 1.0, num_clients), num_clients / 10
    samples: dict[str, list[float]] = {name: [] for name in laws}
    for _ in range(config.num_repeats):
        for name, law in laws.items():
            slow = name.startswith(("Clarabel", "SCS"))
            if slow and (num_clients > config.largest_solved or len(samples[name]) == 3 or sum(samples[name]) > 1):
                continue
            number = 1 if slow else max(1, 100_000 // num_clients)
            try:
                samples[name].append(_seconds(law, norms, m, number))
            except OracleError:
                laws = {other: laws[other] for other in laws if other != name}
    return [float(np.nanmin(taken)) if taken else np.nan for taken in samples.values()]


def _seconds(law: Law, norms: Any, m: float, number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        law(norms, m)
    return (time.perf_counter() - start) / number


def _measure(data: "Dataset", name: str, measure: str) -> Any:
    return data["answer"].sel(way=name, measure=measure).values


def table(data: "Dataset") -> study.Table:
    """One row per method."""
    rows = []
    for name in map(str, data["way"].values):
        gaps = _measure(data, name, "gap")
        row: dict[str, Any] = {
            "method": name,
            "no answer": f"{int(np.isnan(gaps).sum())} of {gaps.size}",
            **{
                f"largest gap, spread {x:g}": float(np.nanmax(g))
                for x, g in zip(data["spread"].values, gaps, strict=True)
            },
            "largest residual": float(np.nanmax(_measure(data, name, "residual"))),
            "largest error of p": float(np.nanmax(_measure(data, name, "deviation"))),
            "gap below 1e-8": f"{int((gaps < TRUSTED).sum())} of {gaps.size}",
        }
        for size in data["size"].values:
            seconds = data["seconds"].sel(size=size)
            ratio = float(seconds.sel(way=name) / seconds.sel(way=CLOSED))
            own = f"{1e6 * float(seconds.sel(way=name)):.3g} us"
            row[f"time, n = {size:g}"] = own if name == CLOSED else "" if np.isnan(ratio) else f"{ratio:.3g} x"
        rows.append(row)
    return study.Table(
        rows,
        title="Ways to the optimal sampling probabilities",
        caption="Gap: (objective - optimum) / optimum of the answer made feasible, against the exact rational optimum; "
        "residual: worst violation of the optimality conditions, duality gap included; times relative to the closed "
        "form, one thread.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the study is taken to show."""
    own = np.abs(data["answer"].sel(way=CLOSED).values).max()
    gaps = data["answer"].sel(measure="gap")
    steps = np.diff(data["excess"].values, axis=-1)
    enough = int(np.ceil(data.attrs["expected_size"])) - 1
    left = np.abs(data["excess"].sel(rescaling=slice(enough, None))).max().item()
    worst = float(np.nan_to_num(_measure(data, "Clarabel, norms of 1e-6 as they are", "deviation"), nan=1.0).max())
    return {
        "the closed form is exact to rounding": study.Check(own < 1e-13, f"worst of all measures {own:.1e}"),
        "no method beats it": study.Check(float(gaps.min()) > -1e-14, f"smallest gap {float(gaps.min()):.1e}"),
        "every rescaling lowers the variance": study.Check(bool((steps <= 1e-15).all()), f"largest {steps.max():.1e}"),
        f"{enough} rescalings are enough": study.Check(left < 1e-14, f"largest excess {left:.1e}"),
        "a solver without normalization is wrong or fails": study.Check(worst > 0.05, f"error of p {worst:.2g}"),
    }


def probabilities_figure(data: "Dataset") -> "Figure":
    """Probability against norm, one panel per spread."""
    import matplotlib.pyplot as plt

    columns = data.sizes["spread"]
    with appearance():
        figure, panels = plt.subplots(1, columns, figsize=(1 + 4 * columns, 4.4), sharey=True, squeeze=False)
        for axes, spread in zip(panels[0], data["spread"].values, strict=True):
            here = data["picture"].sel(spread=spread)
            for (law, dashes), color, marker in zip(SHOWN.items(), COLORS, MARKERS, strict=False):
                # All clients once; the other laws mark some of them, so that they do not hide each other.
                look = {"markevery": 1, "markersize": 6} if dashes == "-" else {"markevery": (1, 3), "markersize": 4}
                norms, p = here.sel(law="norm"), here.sel(law=law)
                axes.plot(norms, p, dashes, color=color, marker=marker, label=law, **look)
            log_log(axes, xlabel="norm of the weighted update, $t_i$", ylabel="")
            axes.set_title(f"log-normal norms, spread {spread:g}")
        panels[0, 0].set_ylabel("inclusion probability $p_i$")
        return legend_below(figure, num_columns=4)


def cost_figure(data: "Dataset") -> "Figure":
    """Variance above the optimum per rescaling, and time against the number of clients."""
    import matplotlib.pyplot as plt

    with appearance():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
        for spread, color, marker in zip(data["spread"].values, COLORS, MARKERS, strict=False):
            excess, x = data["excess"].sel(spread=spread).values, data["rescaling"].values
            label = f"AOCS, spread {spread:g}: median and range"
            left.fill_between(x, excess.min(axis=0), excess.max(axis=0), color=color, alpha=0.2, linewidth=0)
            left.plot(x, np.median(excess, axis=0), "--", color=color, marker=marker, mfc="white", label=label)
        left.set_yscale("symlog", linthresh=1e-15)  # below rounding linear, so that an exact zero is drawn as one
        left.set_yticks([0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1])
        left.set_xlabel("rescalings of AOCS")
        left.set_ylabel("variance above the optimum\n/ variance of uniform sampling")
        shown = [CLOSED, "AOCS, 4 rescalings", SORTED, "Clarabel, tolerances 1e-12", "SCS, default"]
        for name, color, marker in zip(shown, COLORS[2:], MARKERS[2:], strict=True):
            right.plot(data["size"], data["seconds"].sel(way=name), color=color, marker=marker, label=name)
        log_log(right, xlabel="number of clients n (m = n/10)", ylabel="seconds per call, one thread")
        return legend_below(figure, num_columns=3)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    answer = data["answer"].max("instance")
    four = float(answer.sel(way="AOCS, 4 rescalings", measure="gap").max())
    off = float(answer.sel(way="Clarabel, tolerances 1e-12", measure="deviation").max())
    below = f"{10.0 ** np.ceil(np.log10(four)):.0e}".replace("e-0", "e-")
    return [
        "ceil(m) - 1 rescalings",
        f"a relative gap below {below}",
        f"four rescalings leave less than {below}",
        f"with tolerances 1e-12 Clarabel's probabilities are off by {off:.3f} when norms spread widely",
    ]


STUDY = study.Study(
    name="optimal_probabilities",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"probabilities": probabilities_figure, "accuracy_and_time": cost_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
