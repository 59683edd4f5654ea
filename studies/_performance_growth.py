"""Time and memory of a round as the number of clients, the dimension, and other sizes grow, one at a time."""

import tracemalloc
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _slides import DASHES, name_ends
from _timing import timed

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS
from fedtheory.statistics.limits import student_interval

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy

MEGABYTE = 1e6


@dataclass(frozen=True)
class Sizes:
    """Sizes that grow one at a time, while the others keep their first values."""

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
    repetitions: int = 5
    """Times that each is timed; the smallest counts."""
    everybody: int = 20
    """Rounds of the strategy that evaluates all clients."""


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


def growth(config: Sizes, progress: study.Progress) -> "Dataset":
    """Time every size in turn, and measure memory once."""
    cases = [
        {"axis": axis, "size": size, "strategy": strategy}
        for axis in GROWING
        for strategy in (_strategies(1, 1) if axis == "num_clients" else ("pow-d",))
        for size in getattr(config, axis)
    ]
    seconds = np.full((len(cases), 2), np.inf)
    memory = [_measured(config, case) for case in progress(cases, "memory of growing sizes")]
    for _ in progress(range(config.repetitions), "growing sizes"):
        for i, case in enumerate(cases):
            seconds[i] = np.minimum(seconds[i], _timed(config, case))
    return study.from_records(
        [
            case | {"round_us": 1e6 * _of_a_round(config, case, *found), "set_up_s": found[1]} | measured
            for case, found, measured in zip(cases, seconds, memory, strict=True)
        ]
    )


def _task(config: Sizes, case: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the arguments of the federation, and of a run on it."""
    sizes = _sizes(config, case)
    rng, num_clients, dim = np.random.default_rng(0), sizes["num_clients"], sizes["dims"]
    weights = rng.uniform(1, 2, (num_clients,))
    arrays = rng.uniform(1, 5, (num_clients,)), rng.standard_normal((num_clients, dim)), weights / weights.sum()
    return arrays, _arguments(config, case)


def _sizes(config: Sizes, case: dict[str, Any]) -> dict[str, int]:
    sizes = {axis: getattr(config, axis)[0] for axis in GROWING} | {case["axis"]: case["size"]}
    if case["axis"] == "num_clients":  # many rounds, so that the setup of a million clients is short in comparison
        sizes["num_rounds"] = config.num_rounds[-1]
    return sizes


def _arguments(config: Sizes, case: dict[str, Any]) -> dict[str, Any]:
    sizes, m, d = _sizes(config, case), 10, 30
    if case["axis"] in ("num_candidates", "num_selected"):
        m, d = (m, case["size"]) if case["axis"] == "num_candidates" else (case["size"], d)
    return {
        "strategy": _strategies(m, d)[case["strategy"]],
        "num_rounds": config.everybody if case["strategy"] == EVERYBODY else sizes["num_rounds"],
        "local_steps": sizes["local_steps"], "num_replicates": sizes["num_replicates"], "step_size": 0.01,
        "num_threads": 1, "rng": 0,
    }  # fmt: skip


def _run(arrays: Any, arguments: dict[str, Any], **changed: Any) -> Any:
    arguments = arguments | changed
    return ft.fedavg(
        ft.QuadraticFederation(*arrays),
        record=("loss", "broadcasts"),
        record_every=max(arguments["num_rounds"], 1),
        **arguments,
    )


def _timed(config: Sizes, case: dict[str, Any]) -> tuple[float, float]:
    """Seconds of a run and of its setup, after memory was allocated once."""
    arrays, arguments = _task(config, case)
    _run(arrays, arguments, num_rounds=0)
    set_up = timed(lambda: _run(arrays, arguments, num_rounds=0), process_time)[0]
    return timed(lambda: _run(arrays, arguments), process_time)[0], set_up


def _of_a_round(config: Sizes, case: dict[str, Any], whole: float, set_up: float) -> float:
    """Seconds per round and replicate, from the smallest times of run and setup, not the smallest difference."""
    arguments = _arguments(config, case)
    rounds = int(arguments["num_rounds"] * arguments["num_replicates"])
    # On a busy machine the setup alone may take longer than the run, whose time is then an upper limit.
    return (whole - set_up if whole > set_up else whole) / rounds


def _measured(config: Sizes, case: dict[str, Any]) -> dict[str, float]:
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
    from scipy.stats import linregress

    fit = linregress(np.log(sizes), np.log(values))
    return fit.slope, *student_interval(fit.slope, fit.stderr, len(sizes) - 2, 0.95)


def rows_of_growth(data: "Dataset") -> list[dict[str, Any]]:
    """One row per growing size and strategy; the exponent is of a power law fitted to the time of a round."""
    rows = []
    for (axis, strategy), curve in curves(data).items():
        sizes = curve["size"].values
        order, low, high = exponent(sizes, curve["round_us"].values)
        rows.append({
            "growing": GROWING[axis], "from": int(sizes[0]), "to": int(sizes[-1]), "strategy": strategy,
            "us per round": float(curve["round_us"][0]), "at the largest": float(curve["round_us"][-1]),
            "exponent": f"{order:.2f} [{low:.2f}, {high:.2f}]", "memory [MB]": float(curve["memory_mb"][-1]),
        })  # fmt: skip
    return rows


def checks_of_growth(data: "Dataset") -> dict[str, Check]:
    """Test the numbers that are not times: evaluated clients and memory."""
    clients = {strategy: curve for (axis, strategy), curve in curves(data).items() if axis == "num_clients"}
    asked = max(float(curve["models_down"].max()) for name, curve in clients.items() if name != EVERYBODY)
    every = clients[EVERYBODY]
    grown = max(
        float(curve["memory_mb"][-1] / curve["memory_mb"][0] / (curve["size"][-1] / curve["size"][0]))
        for curve in clients.values()
    )
    return {
        "a round touches at most d clients": Check(asked <= 30, f"at most {asked:.1f} models down per round"),
        "optimal sampling as published evaluates all clients": Check(
            bool((every["models_down"] == every["size"]).all()), f"{every['models_down'].values} models down"
        ),
        "memory is at most linear in K": Check(grown < 1.2, f"it grows {grown:.2f} times as much as K"),
    }


def draw_clients(axes: Any, data: "Dataset") -> None:
    """Draw the time of a round against the number of clients."""
    found = {name: curve for (axis, name), curve in curves(data).items() if axis == "num_clients"}
    shown = [name for name in ("rand", "pow-d", "OCS, d candidates", EVERYBODY) if name in found]
    for place, name in enumerate(shown):
        look: Any = {"color": COLORS[place], "marker": MARKERS[place], "linestyle": DASHES[place]}
        axes.plot(found[name]["size"], found[name]["round_us"], **look)
    sizes = found[shown[0]]["size"].values
    axes.set(xscale="log", yscale="log", xlabel="clients K", ylabel="time per round [µs]", xlim=(sizes[0], sizes[-1]))
    names = {EVERYBODY: "optimal sampling\nof all clients", "OCS, d candidates": "optimal sampling\nof d candidates"}
    ends = {names.get(name, name): (float(found[name]["round_us"][-1]), COLORS[i]) for i, name in enumerate(shown)}
    name_ends(axes, ends)


def draw_others(axes: Any, data: "Dataset") -> None:
    """Draw the time of a round relative to that at the smallest size, against the factor by which a size grows."""
    found = {axis: curve for (axis, _), curve in curves(data).items() if axis != "num_clients"}
    longest, most, ends = 1.0, 1.0, {}
    for place, (axis, curve) in enumerate(found.items()):
        factor, time = (curve[name].values / curve[name].values[0] for name in ("size", "round_us"))
        axes.plot(factor, time, color=COLORS[place], marker=MARKERS[place], linestyle=DASHES[place])
        order, _, _ = exponent(curve["size"].values, curve["round_us"].values)
        size = GROWING[axis].rpartition(" ")[0] or GROWING[axis]
        ends[f"{size}: exponent {order:z.2f}"] = float(time[-1]), COLORS[place]
        longest, most = max(longest, factor[-1]), max(most, time[-1])
    axes.plot([1, longest], [1, longest], ":", color="black")
    axes.text(9, 12, "linear ", ha="right", fontsize=9)
    axes.set(xscale="log", yscale="log", xlim=(1, longest), ylim=(0.5, 2 * max(most, 10)))
    axes.set(xlabel="factor by which a size grows", ylabel="factor by which a round of pow-d slows down")
    name_ends(axes, ends)


def said_of_growth(data: "Dataset") -> list[str]:
    """Numbers of growth."""
    found = curves(data)

    def grows(axis: str, name: str = "pow-d", unit: str = " µs") -> str:
        curve = found[axis, name]
        times, (order, low, high) = curve["round_us"].values, exponent(curve["size"].values, curve["round_us"].values)
        ends = f"{times[0]:.2g} to {float(f'{times[-1]:.3g}'):,g}{unit}"
        return f"from {ends} (exponent {order:z.2f} [{low:z.2f}, {high:z.2f}])"

    few, many = (int(found["num_clients", "rand"]["size"][i]) for i in (0, -1))
    return [
        (
            f"From {few:,} to {many:,} clients a round of random selection grows {grows('num_clients', 'rand')}, of "
            f"pow-d {grows('num_clients')}, of optimal sampling that asks all {grows('num_clients', EVERYBODY)}"
        ),
        f"With the local steps, {span_of(found['local_steps', 'pow-d'])}, it grows {grows('local_steps')}",
        f"with the dimension, {span_of(found['dims', 'pow-d'])}, {grows('dims')}",
        f"with the candidates, {span_of(found['num_candidates', 'pow-d'])}, {grows('num_candidates')}",
        f"with the rounds {grows('num_rounds')}",
    ]


def span_of(curve: "Dataset") -> str:
    """Smallest and largest size as words."""
    return f"{int(curve['size'][0]):,} to {int(curve['size'][-1]):,}"
