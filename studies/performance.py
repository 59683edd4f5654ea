r"""
How fast is it?
===============

**Question.** How many times faster than the programs one would otherwise write is a run of ``fedavg``, and what does it
cost in memory and at start-up?

**Method.** Reference workload: the quadratics of Power-of-Choice (K = 30 with m = 3, d = 9, and K = 100 with m = 10,
d = 30), dimension 5, two local steps, the gap recorded in every round. Ours and the peers run one after the other in
one process on one thread, again and again, so that a busy machine slows all of them; the ratio is taken within a
repetition and its median over the repetitions is shown. Peers: a NumPy loop over rounds, NumPy batched over replicates,
and JAX (scan over rounds, vmap over replicates, double precision) where it is installed. Times are per round and
replicate.

**Reading.** A ratio above the goal meets it. Goals were set on a machine with AVX-512; machines differ by tens of
percent, which is why speed is shown by this study and never tested. What is tested: every program draws from the same
law (their mean gaps agree) and two threads give the bits of one.
"""

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import study

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Ratios of peers' times to ours, memory, and start-up."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K; a tenth is selected out of three tenths of candidates."""
    num_rounds: int = 15_000
    """Rounds of our runs and of the memory measurement."""
    num_replicates: int = 20
    """Replicates of our runs and of the batched peers."""
    loop_rounds: int = 1_500
    """Rounds of the NumPy loop."""
    batched_rounds: int = 600
    """Rounds of the batched peers."""
    repetitions: int = 7
    """Interleaved repetitions."""
    seed: int = 0
    """Entropy of instances and selections."""


QUICK = Config(num_clients=(30,), num_rounds=400, num_replicates=8, loop_rounds=400, batched_rounds=400, repetitions=2)

GOALS = {
    (30, "NumPy loop"): 150.0,
    (30, "NumPy batched"): 7.0,
    (30, "JAX scan + vmap"): 10.0,
    (100, "NumPy loop"): 50.0,
    (100, "NumPy batched"): 3.0,
    (100, "JAX scan + vmap"): 12.0,
}
TWO_THREADS = "one thread / two threads"


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Time everything and compare what the programs return."""
    records = []
    for num_clients in config.num_clients:
        records += _workload(config, num_clients, progress)
    data = study.from_records(records)
    data.attrs |= _start_up(config)
    return data


def _workload(config: Config, num_clients: int, progress: study.Progress) -> list[dict[str, Any]]:
    import fedtheory as ft
    from fedtheory.selection.power_of_choice import PowerOfChoice

    fed = ft.datasets.power_of_choice_quadratics(num_clients, 5, config.seed)
    m, d = num_clients // 10, 3 * num_clients // 10

    def ours(threads: int = 1) -> Any:
        return ft.fedavg(
            fed, PowerOfChoice(m, d), num_rounds=config.num_rounds, local_steps=2, step_size=2e-5,
            num_replicates=config.num_replicates, num_threads=threads, rng=config.seed,
        )  # fmt: skip

    peers = _peers(config, fed, m, d)
    once, twice = ours(), ours(2)
    seconds: dict[str, list[float]] = {name: [] for name in ("ours", TWO_THREADS, *peers)}
    results: dict[str, Any] = {}
    per_run = config.num_rounds * config.num_replicates
    for repetition in progress(range(config.repetitions), f"K = {num_clients}"):
        seconds["ours"].append(_timed(ours)[0] / per_run)
        seconds[TWO_THREADS].append(_timed(lambda: ours(2))[0] / per_run)
        for name, (program, size) in peers.items():
            elapsed, results[name] = _timed(partial(program, repetition))
            seconds[name].append(elapsed / size)
    row = {"K": num_clients, "ours_ns": 1e9 * float(np.median(seconds["ours"]))}
    same_bits = once.gap.tobytes() == twice.gap.tobytes()
    timed = [{**row, **_ratio(seconds, name), "agreement": _agreement(once, results[name])} for name in peers]
    threads = _ratio({**seconds, "ours": seconds[TWO_THREADS], TWO_THREADS: seconds["ours"]}, TWO_THREADS)
    return [*timed, {**row, **threads, "agreement": 0.0 if same_bits else np.inf}]


def _peers(config: Config, fed: Any, m: int, d: int) -> dict[str, tuple[Callable[[int], Any], int]]:
    import _peers_quadratic as peers

    work = peers.Workload(
        np.array(fed.diagonals[:, 0]), np.array(fed.centers), np.array(fed.weights), fed.minimizer, m, d, 2, 2e-5
    )
    rounds, replicates = config.batched_rounds, config.num_replicates
    found: dict[str, tuple[Callable[[int], Any], int]] = {
        "NumPy loop": (
            lambda seed: peers.numpy_loop(work, config.loop_rounds, np.random.default_rng(seed)),
            config.loop_rounds,
        ),
        "NumPy batched": (
            lambda seed: peers.numpy_batched(work, rounds, replicates, np.random.default_rng(seed)),
            rounds * replicates,
        ),
    }
    if importlib.util.find_spec("jax"):
        found["JAX scan + vmap"] = (peers.jax_scan(work, rounds, replicates), rounds * replicates)
    return found


def _timed(program: Callable[[], Any]) -> tuple[float, Any]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        start = time.perf_counter()
        result = program()
        return time.perf_counter() - start, result


def _ratio(seconds: dict[str, list[float]], name: str) -> dict[str, Any]:
    ratios = np.array(seconds[name]) / np.array(seconds["ours"])
    median, low, high = (float(f(ratios)) for f in (np.median, np.min, np.max))
    return {"peer": name, "ratio": median, "lowest": low, "highest": high}


def _agreement(run: Any, gaps: Any) -> float:
    """Distance of two mean gaps at the last round of both, in standard errors of ours for as many replicates."""
    gaps = np.atleast_2d(gaps)
    last = min(gaps.shape[1], run.gap.shape[1]) - 1
    mine = run.gap[:, last]
    error = mine.std(ddof=1) * np.sqrt(1 / mine.size + 1 / len(gaps))
    return float(abs(mine.mean() - gaps[:, last].mean()) / error)


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


def _start_up(config: Config) -> dict[str, float]:
    program = _RUN.format(rounds=config.num_rounds, replicates=config.num_replicates)
    first, memory = map(float, _python("-c", program).split())
    _python("-m", "fedtheory", "--help")
    start = time.perf_counter()
    _python("-m", "fedtheory", "--help")
    return {"help_s": time.perf_counter() - start, "first_fedavg_s": first, "peak_memory_mb": memory}


def _python(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def table(data: "Dataset") -> study.Table:
    """One row per size and peer."""
    rows = []
    for i in range(data.sizes["row"]):
        here = {name: data[name].values[i] for name in data}
        goal = 1.7 if here["peer"] == TWO_THREADS else GOALS.get((int(here["K"]), str(here["peer"])), np.nan)
        rows.append(
            {
                "K": int(here["K"]),
                "ours [ns per round]": float(here["ours_ns"]),
                "peer": str(here["peer"]),
                "peer / ours": float(here["ratio"]),
                "lowest": float(here["lowest"]),
                "highest": float(here["highest"]),
                "goal": float(goal),
            }
        )
    return study.Table(
        rows,
        title="pow-d on quadratics, one thread",
        caption="Medians of interleaved repetitions. "
        f"A fresh process: --help {data.attrs['help_s']:.2f} s, first fedavg with cached kernels "
        f"{data.attrs['first_fedavg_s']:.2f} s, peak memory {data.attrs['peak_memory_mb']:.0f} MB.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test that the programs do the same work; how fast they do it is shown, not tested."""
    apart = data["agreement"].where(data["peer"] != TWO_THREADS, drop=True)
    threads = data["agreement"].where(data["peer"] == TWO_THREADS, drop=True)
    memory = data.attrs["peak_memory_mb"]
    return {
        "peers have the same mean gap": study.Check(
            float(apart.max()) < 5, f"at most {float(apart.max()):.2f} standard errors apart"
        ),
        "two threads give the bits of one": study.Check(bool((threads == 0).all()), "compared byte by byte"),
        "memory stays under 300 MB": study.Check(memory < 300, f"{memory:.0f} MB"),
    }


def ratio_figure(data: "Dataset") -> "Figure":
    """Ratios as bars over a logarithmic axis, with the goals."""
    import matplotlib.pyplot as plt

    from fedtheory.plotting.style import COLORS, appearance

    rows = table(data).rows
    labels = [f"{row['peer']}\nK = {row['K']}" for row in rows]
    places = np.arange(len(rows))[::-1]
    with appearance():
        figure, axes = plt.subplots(figsize=(7, 1 + 0.55 * len(rows)), layout="constrained")
        axes.barh(places, [row["peer / ours"] for row in rows], color=COLORS[0], label="measured (median)")
        axes.plot([row["goal"] for row in rows], places, "D", color="black", label="goal")
        for place, row in zip(places, rows, strict=True):
            axes.annotate(f" {row['peer / ours']:.3g}", (row["peer / ours"], place), va="center")
        axes.set_xscale("log")
        axes.set_xlim(1, 3 * max(row["peer / ours"] for row in rows))
        axes.set_yticks(places, labels)
        axes.set_xlabel("time of the peer / time of fedavg, one thread")
        axes.legend(loc="lower right")
        return figure


STUDY = study.Study(
    name="performance",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"ratios": ratio_figure},
)

if __name__ == "__main__":
    study.main(STUDY)
