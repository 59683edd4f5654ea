r"""
How fast is it?
===============

**The table has the ratio of each workload to the program one would otherwise write, beside the goal that was set for
it.**

**Question.** How many times faster than the programs one would otherwise write is this library, and what does it cost
in memory and at start-up?

**Method.** Ours and the peers run one after the other in one process on one thread, again and again, so that a busy
machine slows all of them; the ratio is taken within a repetition and its median over the repetitions is shown.
Workloads, each in a module beside this one:

- pow-d on the quadratics of Power-of-Choice (K = 30 with m = 3, d = 9, and K = 100 with m = 10, d = 30), dimension 5,
  two local steps, the gap recorded in every round; time per round and replicate. Peers: a NumPy loop over rounds, NumPy
  batched over replicates, JAX (scan over rounds, vmap over replicates, double precision) where it is installed, and
  ours on two threads.
- pow-d on softmax regression: Synthetic(1, 1), 30 clients, 60 features, 10 classes, m = 3, d = 6, 30 local steps on
  batches of 50, the global loss in every round; time per round. Peers: NumPy, NumPy batched over the clients of a
  round, and, where they are installed, JAX (compiled, double precision, batches with replacement) and torch with
  autograd.
- optimal sampling probabilities of n log-normal norms with a budget of n / 10; time per call, checks of the arguments
  included. Peers: the closed form with NumPy's sort, without checks, and the solver Clarabel, three times
  and warm: its first call, which imports it, is not counted. For the longest, a sum and a copy in NumPy tell what the
  memory takes for reading twice and writing once.
- the validation losses of all 2^10 coalitions of ten softmax models (60 features, 10 classes) on 5,000 samples, which
  exact Shapley values of a round need; time for all. Peers: NumPy with a matrix product per coalition, and NumPy with
  each client's logits computed once.
- a step of stochastic gradient descent on perceptrons, 784-200-10 with batches of 32 and 64-32-10 with batches of 10.
  Ours takes its own kernels for both, so that results do not depend on the threads of BLAS. Peers: NumPy with BLAS and,
  where they are installed, JAX (compiled, double precision, batches with replacement) and torch with autograd.
- worst cases with their proofs in rationals: a round of 5 and of 20 local steps of all clients, 1,000 skewed steps in
  rounds of two; and ten rounds of five steps written down as one program. In the place of a peer stands the time that a
  call may take. Where PEPit is installed, it solves a round of four clients and three steps, without proofs.
- ten worst cases of PEPit's own gallery, ours with their proofs and theirs by Clarabel, one by one and their median.
  Where PEPit is not installed the rows say so.

**Reading.** A ratio above the goal meets it. Goals were set on a machine with AVX-512; without it those of softmax
regression are 0.7 of that. Machines differ by tens of percent, which is why speed is shown by this study and never
tested. What is tested: every program does the same work (mean gaps agree within standard errors, probabilities to
1e-12), and two threads give the bits of one.
"""

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Ratios of peers' times to ours, memory, and start-up."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K of the quadratics; a tenth is selected out of three tenths of candidates."""
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
    seed: int = 0
    """Entropy of instances and selections."""


QUICK = Config(
    num_clients=(30,),
    num_rounds=400,
    num_replicates=8,
    loop_rounds=400,
    batched_rounds=400,
    repetitions=2,
    softmax_rounds=8,
    sampling_sizes=(100, 1_000),
    solved_size=100,
    sampling_repetitions=3,
    players=4,
    validation_samples=200,
    perceptron_steps=5,
    long_round=6,
    worst_case_steps=20,
    assembled_rounds=2,
)


def workloads() -> tuple[Any, ...]:
    """Return the modules that hold a workload each: its ``records`` and its ``GOALS``."""
    import _performance_common
    import _performance_perceptron
    import _performance_quadratic
    import _performance_sampling
    import _performance_softmax
    import _performance_valuation
    import _performance_worst_cases

    return (
        _performance_quadratic, _performance_softmax, _performance_sampling, _performance_valuation,
        _performance_perceptron, _performance_worst_cases, _performance_common,
    )  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Time everything and compare what the programs return."""
    rows = [
        row | {"goal": workload.GOALS.get((row["workload"], row["peer"]), np.nan)}
        for workload in workloads()
        for row in workload.records(config, progress)
    ]
    data = study.from_records(rows)
    data.attrs |= _start_up(config)
    return data


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
    """One row per workload and peer."""
    rows = []
    for i in range(data.sizes["row"]):
        here = {str(name): data[name].values[i] for name in data}
        rows.append(
            {
                "workload": str(here["workload"]),
                "ours [us]": float(here["ours_us"]),
                "peer": str(here["peer"]),
                "peer / ours": _or_nothing(here["ratio"]),
                "lowest": _or_nothing(here["lowest"]),
                "highest": _or_nothing(here["highest"]),
                "goal": _or_nothing(here["goal"]),
            }
        )
    return study.Table(
        rows,
        title="Time of the peer / time of ours",
        caption="Medians of interleaved repetitions on one thread (two threads: at most the goal). "
        f"A fresh process: --help {data.attrs['help_s']:.2f} s, first fedavg with cached kernels "
        f"{data.attrs['first_fedavg_s']:.2f} s, peak memory {data.attrs['peak_memory_mb']:.0f} MB.",
    )


def _or_nothing(number: float) -> float | str:
    return "" if np.isnan(number) else float(number)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test that the programs do the same work; how fast they do it is shown, not tested."""
    apart, memory = float(data["agreement"].max()), data.attrs["peak_memory_mb"]
    return {
        "programs agree": study.Check(apart < 5, f"at most {apart:.2f} tolerances apart"),
        "memory stays under 300 MB": study.Check(memory < 300, f"{memory:.0f} MB"),
    }


def ratio_figure(data: "Dataset") -> "Figure":
    """Ratios as bars over a logarithmic axis, with the goals."""
    import matplotlib.pyplot as plt

    rows = [row for row in table(data).rows if row["peer"] != "two threads" and row["peer / ours"] != ""]
    labels = [f"{row['peer']}, {row['workload']}" for row in rows]
    places = np.arange(len(rows))[::-1]
    with appearance():
        figure, axes = plt.subplots(figsize=(8, 1.2 + 0.4 * len(rows)), layout="constrained")
        axes.barh(places, [row["peer / ours"] for row in rows], color=COLORS[0], label="measured (median)")
        axes.plot([row["goal"] or np.nan for row in rows], places, "D", color="black", label="goal")
        beside = axes.get_yaxis_transform()  # shares of the width, places of the bars
        for place, row in zip(places, rows, strict=True):
            axes.text(1.02, place, f"{row['peer / ours']:.3g}", transform=beside, va="center", weight="bold")
        axes.set_xscale("log")
        axes.set_xlim(0.8, 3 * max(row["peer / ours"] for row in rows))
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_yticks(places, labels)
        axes.set_xlabel("time of the peer / time of ours, one thread")
        axes.legend(loc="upper right")
        return figure


def said(_: "Dataset") -> list[str]:
    """Numbers of the page, which are those that the programs are held to."""
    from _performance_sampling import CLOSE
    from _performance_softmax import WITHOUT_AVX512

    return [
        f"without it those of softmax regression are {WITHOUT_AVX512:g} of that",
        f"mean gaps agree within standard errors, probabilities to {CLOSE:g})",
    ]


STUDY = study.Study(
    name="performance",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"ratios": ratio_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
