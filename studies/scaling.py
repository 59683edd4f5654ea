r"""
How do time and memory grow?
============================

**A round costs what it touches, whatever the number of clients; only the memory that no cache holds makes it slower.**

**Question.** With how many clients K can one still simulate on one machine, and what does a round cost as K, the
dimension v, the local steps tau, the candidates d, the selected m, the rounds and the replicates grow?

**Method.** Diagonal or isotropic quadratics with standard normal centers, unequal weights, one thread. One size grows
at a time, the others stay where the configuration puts them. Time is the processor's: per round and replicate that of a
run less that of a run without rounds, the smallest of several that take turns over all sizes.
Setting up is the construction of the federation and a run without rounds. Memory is the peak of what both allocate
besides the arrays that they are given, counted by ``tracemalloc``. Power laws are fitted by least squares in
double-logarithmic scale; intervals are Student's, of level 95%, and say how well a power law fits, not how noisy the
clock is.

**Reading.** Left to right, top to bottom: time against K for every strategy, set-up and memory against K, then time
against the other sizes, for pow-d. An exponent of zero is a round whose cost does not depend on the size.

**What to expect.** A round touches the clients that it asks or selects: its work does not depend on K, and the time
grows with K only because memory that no cache holds is slower. Optimal sampling as published asks everybody, so that
its round is linear in K; with candidates it is not. Time is linear in v, d, the rounds and the replicates once these
are large, and hardly grows with tau for isotropic quadratics. The numbers are of two virtual processors of the kind
EPYC, of which other programs may have used one.
"""

import tracemalloc
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from _fitted_order import fitted_order
from _timing import timed

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below, log_log

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy

MEGABYTE = 1e6


@dataclass(frozen=True)
class Config:
    """Growth of time and memory with one size at a time."""

    num_clients: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    """Clients K."""
    dims: tuple[int, ...] = (10, 30, 100, 300, 1000)
    """Dimensions v."""
    local_steps: tuple[int, ...] = (2, 6, 20, 60, 200)
    """Local steps tau of a round."""
    num_candidates: tuple[int, ...] = (30, 60, 120, 250, 500)
    """Candidates d of pow-d."""
    num_selected: tuple[int, ...] = (2, 5, 10, 20, 30)
    """Selected clients m."""
    num_rounds: tuple[int, ...] = (10_000, 30_000, 100_000, 300_000)
    """Rounds."""
    num_replicates: tuple[int, ...] = (1, 3, 10, 30)
    """Replicates."""
    curvature: str = "isotropic"
    """Curvatures, ``isotropic`` or ``diagonal``."""
    repetitions: int = 5
    """Times that each is timed; the smallest counts."""
    everybody: int = 20
    """Rounds of the strategy that asks everybody."""
    seed: int = 0
    """Entropy of federations and selections."""


QUICK = Config(
    num_clients=(100, 1_000, 10_000), dims=(10, 30, 100), local_steps=(2, 10, 50), num_candidates=(30, 50, 90),
    num_selected=(3, 10, 30), num_rounds=(500, 1_000, 2_000), num_replicates=(1, 2, 4), repetitions=1, everybody=5,
)  # fmt: skip

GROWING = {
    "num_clients": "clients K",
    "dims": "dimension v",
    "local_steps": "local steps tau",
    "num_candidates": "candidates d",
    "num_selected": "selected m",
    "num_rounds": "rounds",
    "num_replicates": "replicates",
}
EVERYBODY = "OCS"


def _strategies(m: int, d: int) -> "dict[str, Strategy]":
    choice, coins = ft.selection.PowerOfChoice, ft.selection.Independent
    return {
        "pow-d": choice(m, d),
        "rand": ft.selection.Proportional(m),
        "uniform": ft.selection.Uniform(m),
        "rpow-d": choice(m, d, loss="last"),
        "independent, uniform": coins(m, "uniform"),
        "OCS, d candidates": coins(m, num_candidates=d),
        "AOCS, d candidates": coins(m, "approximate", num_candidates=d),
        EVERYBODY: coins(m),
    }


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Time every size in turn, and measure memory once."""
    cases = [
        {"axis": axis, "size": size, "strategy": strategy}
        for axis in GROWING
        for strategy in (_strategies(1, 1) if axis == "num_clients" else ("pow-d",))
        for size in getattr(config, axis)
    ]
    seconds = np.full((len(cases), 2), np.inf)
    memory = [_measured(config, case) for case in progress(cases, "memory")]
    for _ in progress(range(config.repetitions), "repetitions"):
        for i, case in enumerate(cases):
            seconds[i] = np.minimum(seconds[i], _timed(config, case))
    return study.from_records(
        [
            case | {"round_us": 1e6 * _of_a_round(config, case, *found), "set_up_s": found[1]} | measured
            for case, found, measured in zip(cases, seconds, memory, strict=True)
        ]
    )


def _task(config: Config, case: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the arguments of the federation, and of a run on it."""
    sizes = _sizes(config, case)
    rng, num_clients, dim = np.random.default_rng(config.seed), sizes["num_clients"], sizes["dims"]
    weights = rng.uniform(1, 2, (num_clients,))
    shape: tuple[int, ...] = (num_clients,) if config.curvature == "isotropic" else (num_clients, dim)
    arrays = rng.uniform(1, 5, shape), rng.standard_normal((num_clients, dim)), weights / weights.sum()
    return arrays, _arguments(config, case)


def _sizes(config: Config, case: dict[str, Any]) -> dict[str, int]:
    sizes = {axis: getattr(config, axis)[0] for axis in GROWING} | {case["axis"]: case["size"]}
    if case["axis"] == "num_clients":  # many rounds, beside which setting up a million clients is short
        sizes["num_rounds"] = config.num_rounds[-1]
    return sizes


def _arguments(config: Config, case: dict[str, Any]) -> dict[str, Any]:
    sizes, m, d = _sizes(config, case), 10, 30
    if case["axis"] in ("num_candidates", "num_selected"):
        m, d = (m, case["size"]) if case["axis"] == "num_candidates" else (case["size"], d)
    return {
        "strategy": _strategies(m, d)[case["strategy"]],
        "num_rounds": config.everybody if case["strategy"] == EVERYBODY else sizes["num_rounds"],
        "local_steps": sizes["local_steps"], "num_replicates": sizes["num_replicates"], "step_size": 0.01,
        "num_threads": 1, "rng": config.seed,
    }  # fmt: skip


def _run(arrays: Any, arguments: dict[str, Any], **changed: Any) -> Any:
    arguments = arguments | changed
    return ft.fedavg(
        ft.QuadraticFederation(*arrays),
        record=("loss", "broadcasts"),
        record_every=max(arguments["num_rounds"], 1),
        **arguments,
    )


def _timed(config: Config, case: dict[str, Any]) -> tuple[float, float]:
    """Seconds of a run, and of setting it up once the system has found the memory."""
    arrays, arguments = _task(config, case)
    _run(arrays, arguments, num_rounds=0)
    set_up = timed(lambda: _run(arrays, arguments, num_rounds=0), process_time)[0]
    return timed(lambda: _run(arrays, arguments), process_time)[0], set_up


def _of_a_round(config: Config, case: dict[str, Any], whole: float, set_up: float) -> float:
    """Seconds of a round of a replicate, from the smallest times of both: those of a difference would be too small."""
    arguments = _arguments(config, case)
    rounds = int(arguments["num_rounds"] * arguments["num_replicates"])
    # On a busy machine setting up alone may take longer than all; then the round takes at most this.
    return (whole - set_up if whole > set_up else whole) / rounds


def _measured(config: Config, case: dict[str, Any]) -> dict[str, float]:
    """Peak memory in megabytes, and models sent down per round; the kernels are compiled before."""
    arrays, arguments = _task(config, case)
    _run(arrays, arguments, num_rounds=0)
    rounds = min(arguments["num_rounds"], 1_000)
    tracemalloc.start()
    try:
        found = _run(arrays, arguments, num_rounds=rounds, num_replicates=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {"memory_mb": peak / MEGABYTE, "models_down": float(found.recorded("broadcasts")[0, -1]) / rounds}


def curves(data: "Dataset") -> dict[tuple[str, str], Any]:
    """Rows of one axis and strategy each, sorted by size."""
    axes, strategies = data["axis"].values, data["strategy"].values
    keys = dict.fromkeys(zip(axes.tolist(), strategies.tolist(), strict=True))
    return {key: data.isel(row=np.flatnonzero((axes == key[0]) & (strategies == key[1]))) for key in keys}


def exponent(sizes: Any, values: Any) -> tuple[float, float, float]:
    """Fitted exponent of growth, and its interval of level 95%."""
    fit = fitted_order(np.asarray(sizes, dtype=np.float64), values)
    limits = fit.limits(0.95)
    return -fit.order, -limits.upper, -limits.lower


def table(data: "Dataset") -> study.Table:
    """One row per growing size and strategy."""
    rows = []
    for (axis, strategy), curve in curves(data).items():
        sizes = curve["size"].values
        time, memory = (exponent(sizes, curve[name].values) for name in ("round_us", "memory_mb"))
        rows.append(
            {
                "growing": GROWING[axis], "from": int(sizes[0]), "to": int(sizes[-1]), "strategy": strategy,
                "us per round": float(curve["round_us"][0]), "at the largest": float(curve["round_us"][-1]),
                "exponent": time[0], "low": time[1], "high": time[2],
                "set-up [s]": float(curve["set_up_s"][-1]), "memory [MB]": float(curve["memory_mb"][-1]),
                "its exponent": memory[0],
            }
        )  # fmt: skip
    return study.Table(
        rows,
        title="Growth of time and memory",
        caption="Time per round and replicate, the exponent of a power law fitted to it with its 95% interval (low, "
        "high), set-up and peak memory at the largest size, without the arrays given, and the exponent of memory.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what does not depend on the clock: who is asked, and what memory is taken."""
    clients = {strategy: curve for (axis, strategy), curve in curves(data).items() if axis == "num_clients"}
    asked = max(float(curve["models_down"].max()) for name, curve in clients.items() if name != EVERYBODY)
    every = clients[EVERYBODY]
    grown = max(
        float(curve["memory_mb"][-1] / curve["memory_mb"][0] / (curve["size"][-1] / curve["size"][0]))
        for curve in clients.values()
    )
    return {
        "a round touches at most d clients": study.Check(asked <= 30, f"at most {asked:.1f} models down per round"),
        "optimal sampling as published asks everybody": study.Check(
            bool((every["models_down"] == every["size"]).all()), f"{every['models_down'].values} models down"
        ),
        "memory is at most linear in K": study.Check(grown < 1.2, f"it grows {grown:.2f} times as much as K"),
    }


def growth_figure(data: "Dataset") -> "Figure":
    """Time, set-up and memory against K, and time against every other size."""
    import matplotlib.pyplot as plt

    found = curves(data)
    clients = {strategy: curve for (axis, strategy), curve in found.items() if axis == "num_clients"}
    panels = [("num_clients", name) for name in ("round_us", "set_up_s", "memory_mb")]
    panels += [(axis, "round_us") for axis in GROWING if axis != "num_clients"]
    labels = {"round_us": "µs per round and replicate", "set_up_s": "set-up [s]", "memory_mb": "peak memory [MB]"}
    with appearance():
        figure, grid = plt.subplots(3, 3, figsize=(9.5, 9), layout="constrained")
        for axes, (axis, quantity) in zip(grid.flat, panels, strict=True):
            log_log(axes, xlabel=GROWING[axis].replace("tau", r"$\tau$"), ylabel=labels[quantity])
            chosen = clients if axis == "num_clients" else {"pow-d": found[axis, "pow-d"]}
            for place, (name, curve) in enumerate(chosen.items()):
                look = {
                    "color": COLORS[place % 7],
                    "marker": MARKERS[place % 7],
                    "linestyle": "-" if place < 7 else ":",
                }
                axes.plot(curve["size"], curve[quantity], label=name, **look)
            if axis != "num_clients":
                axes.set_xticks(curve["size"].values, [f"{size:g}" for size in curve["size"].values])
                axes.set_xticks([], minor=True)
                slope, low, high = exponent(found[axis, "pow-d"]["size"], found[axis, "pow-d"][quantity].values)
                axes.set_title(f"exponent {slope:.2f} [{low:.2f}, {high:.2f}]")
        return legend_below(figure, num_columns=4)


STUDY = study.Study(
    name="scaling",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"growth": growth_figure},
)

if __name__ == "__main__":
    study.main(STUDY)
