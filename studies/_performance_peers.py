"""Times of our programs compared with alternatives, and of a fresh process."""

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check
from _slides import name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from xarray import Dataset


@dataclass(frozen=True)
class Peers:
    """Sizes of the comparisons with other programs."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K of the quadratics; a tenth is selected out of three tenths of candidates."""
    num_rounds: int = 600
    """Rounds of every program."""
    num_replicates: int = 20
    """Replicates of every program."""
    memory_rounds: int = 15_000
    """Rounds of the run whose memory is measured."""
    repetitions: int = 7
    """Interleaved repetitions."""
    softmax_rounds: int = 100
    """Rounds of a run of softmax regression."""
    sampling_sizes: tuple[int, ...] = (100, 10_000, 1_000_000)
    """Numbers of norms."""
    solved_size: int = 10_000
    """Number of norms that is also given to the solver."""
    sampling_repetitions: int = 25
    """Interleaved repetitions of the sampling workload."""
    players: int = 10
    """Clients whose coalitions are valued."""
    validation_samples: int = 5_000
    """Samples on which they are valued."""
    perceptron_steps: int = 300
    """Steps of a perceptron."""
    long_round: int = 20
    """Local steps of the long round whose worst case is computed."""
    worst_case_steps: int = 1_000
    """Local steps of the horizon whose worst case is computed, in rounds of two."""
    assembled_rounds: int = 10
    """Rounds of five local steps that are written down as one program."""
    common_lengths: int = 4
    """Lengths at which a method is solved here and in PEPit, at most."""
    seed: int = 0
    """Entropy of instances and selections."""


COLUMNS = {
    "workload": "workload", "ours_us": "ours [us]", "peer": "peer", "ratio": "peer / ours", "lowest": "lowest",
    "highest": "highest", "goal": "goal", "floor": "floor",
}  # fmt: skip


def workloads() -> tuple[Any, ...]:
    """Return the modules that hold a workload each: its ``records`` and its ``GOALS``."""
    import _performance_calls as calls
    import _performance_perceptron as perceptron
    import _performance_quadratic as quadratic
    import _performance_softmax as softmax

    return quadratic, softmax, perceptron, calls


def peers(config: Peers, progress: study.Progress) -> "Dataset":
    """Time all programs and compare their results."""
    rows = [
        {"floor": np.nan} | row | {"goal": workload.GOALS.get((row["workload"], row["peer"]), np.nan)}
        for workload in workloads()
        for row in workload.records(config, progress)
    ]
    return study.from_records(rows).assign_attrs(_start_up(config))


_RUN = """
import time
import fedtheory as ft
from fedtheory.selection.power_of_choice import PowerOfChoice
fed = ft.datasets.power_of_choice_quadratics(30, 5, 0)
start = time.perf_counter()
ft.fedavg(fed, PowerOfChoice(3, 9), num_rounds=10, step_size=2e-5)
first = time.perf_counter() - start
ft.fedavg(fed, PowerOfChoice(3, 9), num_rounds={rounds}, step_size=2e-5, num_replicates={replicates})
status = open("/proc/self/status").read()
print(first, int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def _start_up(config: Peers) -> dict[str, float]:
    program = _RUN.format(rounds=config.memory_rounds, replicates=config.num_replicates)
    first, memory = map(float, _python("-c", program).split())
    _python("-m", "fedtheory", "--help")
    start = time.perf_counter()
    _python("-m", "fedtheory", "--help")
    return {"help_s": time.perf_counter() - start, "first_fedavg_s": first, "peak_memory_mb": memory}


def _python(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def rows_of_peers(data: "Dataset") -> list[dict[str, Any]]:
    """One row per workload and peer."""
    rows = []
    for row in zip(*(data[name].values for name in COLUMNS), strict=True):
        cells = (str(one) if isinstance(one, str) else "" if np.isnan(one) else float(one) for one in row)
        rows.append(dict(zip(COLUMNS.values(), cells, strict=True)))
    return rows


def checks_of_peers(data: "Dataset") -> dict[str, Check]:
    """Test that the programs do the same work."""
    apart, memory = float(data["agreement"].max()), data.attrs["peak_memory_mb"]
    return {
        "programs agree": Check(apart < 5, f"at most {apart:.2f} tolerances apart"),
        "memory stays under 300 MB": Check(memory < 300, f"{memory:.0f} MB"),
    }


def _shown(data: "Dataset") -> list[dict[str, Any]]:
    """Rows about other programs, in the order of the figure."""
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in zip(*(data[name].values for name in COLUMNS), strict=True))
    return [
        row
        for row in rows
        if not np.isnan(row["goal"]) and row["peer"] != "two threads" and not row["peer"].startswith("limit")
    ]


WORKLOADS = {
    "K = 30": "pow-d, 30 clients", "K = 100": "pow-d, 100 clients", "softmax": "softmax regression",
    "n = 100": "optimal sampling, n = 100", "n = 10000": "n = 10,000", "n = 1000000": "n = 1,000,000",
    "Shapley": "all coalitions of 10", "MLP 784-200-10, batch 32": "perceptron 784-200-10",
    "MLP 64-32-10, batch 10": "perceptron 64-32-10",
}  # fmt: skip


def draw_peers(axes: Any, data: "Dataset") -> None:
    """Draw the ratios of all programs between the lowest and the highest one, a row for each workload."""
    rows = _shown(data)
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    places = dict(zip(workloads, name_rows(axes, [WORKLOADS.get(one, one) for one in workloads]), strict=True))
    for number, kind in enumerate(("NumPy", "JAX", "torch", "Clarabel", "numba", "first attempt", "PEPit")):
        own = [row for row in rows if row["peer"].startswith(kind)]
        middle, lowest, highest = (np.array([row[name] for row in own]) for name in ("ratio", "lowest", "highest"))
        heights, spread = (
            [places[row["workload"]] + 0.3 - 0.1 * number for row in own],
            [middle - lowest, highest - middle],
        )
        look: Any = {"color": COLORS[number], "marker": MARKERS[number], "label": kind}
        axes.errorbar(middle, heights, xerr=spread, linestyle="none", capsize=2, **look)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="time of other programs / time of fedtheory", ylim=(-len(places) + 0.4, 0.8))
    axes.legend(fontsize=8, loc="lower right")


def speed(data: "Dataset") -> str:
    """Describe the time of a round, and how much longer other programs take."""
    quadratic = [row for row in _shown(data) if row["workload"].startswith("K = ")]
    ratios = [row["ratio"] for row in quadratic]
    return (
        f"A round of Power-of-Choice takes {quadratic[0]['ours_us']:.2f} µs with 30 clients; other programs take "
        f"{min(ratios):.2g} to {max(ratios):.0f} times as long"
    )


def slower(data: "Dataset") -> str:
    """Name the programs that are faster than ours, with their ratios."""
    faster = [f"{row['peer']} ({row['workload']}: {row['ratio']:.2f})" for row in _shown(data) if row["ratio"] < 1]
    return f"slower than: {'; '.join(faster) or 'none of these programs'}"
