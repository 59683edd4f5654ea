r"""
The time of a round depends on the selected clients, not on the number of clients
=================================================================================

**Memory that does not fit into a cache is the exception. The table says how much longer programs in NumPy, JAX or torch
take, and names those that are faster.**

**Question.** How does the speed of this library compare with that of programs in NumPy, numba, JAX or torch, what does
it cost in memory and at start-up, and how do time and memory grow with the clients and other sizes?

**Method.** fedtheory and the other programs, its peers, run in turn in one process on one thread, several times, so
that other load on the machine slows all of them. A ratio is computed within a repetition; the table shows its median
over the repetitions. The workloads, each in its own module, are:

- pow-d on the quadratics of Power-of-Choice (K = 30 with m = 3, d = 9, and K = 100 with m = 10, d = 30), dimension 5,
  two local steps, the gap recorded in every round; time per round and replicate. Every program runs 20 replicates of
  600 rounds. Peers: a first attempt, which loops over rounds and replicates in Python; NumPy batched over replicates
  and JAX (scan over rounds, vmap over replicates, double precision) if it is installed, both with the candidates of
  many rounds drawn in advance and all local steps as one affine map; a loop in numba that draws with NumPy's generator;
  and this library on two threads. The column floor is the time of the same draws, losses, steps and ranks in bare
  loops.
- pow-d on softmax regression: Synthetic(1, 1), 30 clients, 60 features, 10 classes, m = 3, d = 6, 30 local steps on
  batches of 50, the global loss in every round; time per round. Peers: NumPy, NumPy batched over the clients of a
  round, and, if they are installed, JAX (compiled, double precision, batches with replacement) and torch with autograd.
- optimal sampling probabilities of n log-normal norms with a budget of n / 10; time per call, including checks of the
  arguments. Peers: the closed form with NumPy's sort, without checks, and the solver Clarabel, three times and warm:
  its first call, which imports it, is not counted. For the longest, a sum and a copy in NumPy measure the memory time
  of reading twice and writing once.
- the validation losses of all 2^10 coalitions of ten softmax models (60 features, 10 classes) on 5,000 samples, which
  the exact Shapley values of a round need; time for all. Peers: NumPy with a matrix product per coalition, and NumPy
  with each client's logits computed once.
- a step of stochastic gradient descent on perceptrons, 784-200-10 with batches of 32 and 64-32-10 with batches of 10.
  The library uses its own kernels for both, so that results do not depend on the threads of BLAS. Peers: NumPy with
  BLAS and, if they are installed, JAX (compiled, double precision, batches with replacement) and torch with autograd.
- worst cases with their proofs in rational numbers: a round of 5 and of 20 local steps of all clients, 1,000 skewed
  steps in rounds of two, and ten rounds of five steps as one program. They are compared with a time limit for a call.
  If PEPit is installed, it solves a round of four clients and three steps, gradient descent, the proximal point method
  and Frank and Wolfe's steps, without proofs.
- growth: processor time of a round of pow-d and other strategies on isotropic quadratics, which is that of a run minus
  that of a run without rounds, the smallest of several. One size grows at a time. Memory is the peak that
  ``tracemalloc`` counts in addition to the arguments.

**Reading.** Left: ratios, medians over the repetitions between the lowest and the highest one. In the table a ratio
above the goal meets it. Goals were set on a machine with AVX-512; without it those of softmax regression are 0.7 of
that. Middle: time of a round against the number of clients. Right: against other sizes, with fitted exponents. A round
of Power-of-Choice takes 1.69 µs with 30 clients; other programs take 0.34 to 125 times as long. The machine was quiet,
but slow in Python: a run spends half of its time outside the compiled loop, and most limits in seconds are
missed. This library is slower than: numba loop (K = 30: 0.34); JAX, rounds drawn ahead (K = 30: 0.90); numba loop
(K = 100: 0.85); JAX, double precision (MLP 784-200-10, batch 32: 0.89); PEPit (worst case, Frank-Wolfe, N = 3: 0.52).

From 1,000 to 1,000,000 clients a round of random selection grows from 0.31 to 1.33 µs (exponent 0.23 [0.08, 0.37]), of
pow-d from 1.2 to 3.73 µs (exponent 0.17 [0.14, 0.19]), of optimal sampling that asks all from 99 to 70,900 µs
(exponent 0.97 [0.67, 1.27]). With the local steps, 2 to 200, it grows from 1.6 to 6.93 µs (exponent 0.33 [-0.09,
0.74]), with the dimension, 10 to 1,000, from 0.97 to 41.1 µs (exponent 0.83 [0.62, 1.04]), with the candidates, 30 to
500, from 0.97 to 14.9 µs (exponent 0.99 [0.85, 1.13]), with the rounds from 1.1 to 1.25 µs (exponent 0.06 [-0.26,
0.37]). Random selection and pow-d use only the clients that they evaluate or select. Their work does not depend on K,
and their time grows with K only because memory outside the caches is slower.

Times differ by tens of percent between machines, so speed is measured by this study and not tested. The tests check
that every program does the same work (mean gaps agree within standard errors, probabilities to 1e-12), that two threads
give bit-identical results, that a round evaluates only its candidates, and that memory is at most linear in K.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from _checks import Check, stated
from _experiments import joined, part
from _performance_growth import (
    Sizes,
    checks_of_growth,
    draw_clients,
    draw_others,
    growth,
    rows_of_growth,
    said_of_growth,
)  # fmt: skip
from _performance_peers import Peers, checks_of_peers, draw_peers, peers, rows_of_peers, slower, speed
from _slides import finding

from fedtheory import study
from fedtheory.plotting.style import appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Ratios of peers' times to ours, memory, and start-up."""

    peers: Peers = field(default_factory=Peers)
    """What is timed beside other programs."""
    growing: Sizes = field(default_factory=Sizes)
    """Sizes that grow."""


QUICK = Config(
    peers=Peers(
        num_clients=(30,),
        num_rounds=60,
        num_replicates=8,
        memory_rounds=400,
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
        common_lengths=1,
    ),
    growing=Sizes(
        num_clients=(100, 1_000, 10_000), dims=(10, 30, 100), local_steps=(2, 10, 50), num_candidates=(30, 50, 90),
        num_selected=(3, 10, 30), num_rounds=(500, 1_000, 2_000), num_replicates=(1, 2, 4), repetitions=1, everybody=5,
    ),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Time everything and compare what the programs return."""
    return joined({"peers": peers(config.peers, progress), "growth": growth(config.growing, progress)})


def table(data: "Dataset") -> study.Table:
    """One row per workload and peer, and one per growing size."""
    own = part(data, "peers")
    rows = [*rows_of_peers(own), *rows_of_growth(part(data, "growth"))]
    names = dict.fromkeys(name for row in rows for name in row)
    start = own.attrs
    return study.Table(
        [dict.fromkeys(names, "") | row for row in rows], "Time of the peer / time of ours",
        f"In this table ours is {slower(own)}. Medians of interleaved repetitions on one thread (two threads: at most "
        "the goal). Floor: the same draws and flops in bare loops / ours. A fresh process: --help "
        f"{start['help_s']:.2f} s, first fedavg with cached kernels {start['first_fedavg_s']:.2f} s, peak memory "
        f"{start['peak_memory_mb']:.0f} MB.",
    )  # fmt: skip


def checks(data: "Dataset") -> dict[str, Check]:
    """Test that the programs do the same work; how fast they do it is shown, not tested."""
    return checks_of_peers(part(data, "peers")) | checks_of_growth(part(data, "growth"))


def figure(data: "Dataset") -> "Figure":
    """Draw ratios between the lowest and the highest one, and how a round's time grows."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, (left, second, third) = plt.subplots(1, 3, figsize=(14, 4.4), width_ratios=(1.1, 1, 1))
        draw_peers(left, part(data, "peers"))
        draw_clients(second, part(data, "growth"))
        draw_others(third, part(data, "growth"))
        return finding(drawn, speed(part(data, "peers")))


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    from _performance_calls import CLOSE
    from _performance_softmax import WITHOUT_AVX512

    return [
        f"without it those of softmax regression are {WITHOUT_AVX512:g} of that",
        f"mean gaps agree within standard errors, probabilities to {CLOSE:g})",
        speed(part(data, "peers")),
        slower(part(data, "peers")),
        *said_of_growth(part(data, "growth")),
    ]


STUDY = study.Study("performance", Config(), QUICK, run, table, stated(checks), {"performance": figure})

if __name__ == "__main__":
    study.main(STUDY)
