r"""
Speed of the library, and growth of a round
===========================================

**Question.** How does the speed of this library compare with that of programs in NumPy, numba, JAX or PEPit, and how do
the time and the memory of a round grow with the clients and other sizes?

**Method.** fedtheory and the other programs, its peers, run in turn in one process on one thread, several times, so
that other load on the machine slows all of them. A ratio is computed within a repetition; the table shows its median
over the repetitions. JAX and PEPit are compared if they are installed. The workloads are:

- a round of pow-d on the quadratics of Power-of-Choice (K = 30 with m = 3, d = 9, and K = 100 with m = 10, d = 30) in
  dimension 5 with two local steps and the gap in every round, 20 replicates of 600 rounds. Peers: loops over rounds and
  replicates in Python with NumPy; NumPy batched over replicates, and JAX in double precision, both with the candidates
  of many rounds drawn in advance; and a loop in numba for this method alone.
- the first call of such a run, in a new process with an empty cache of compiled code, in processor time. Peer: the loop
  in numba.
- a round of pow-d on softmax regression: Synthetic(1, 1), 30 clients, m = 3, d = 6, 30 local steps on batches of 50.
- worst cases with their proofs in rational numbers. Peer: PEPit, without proofs.
- growth: processor time of a round on isotropic quadratics with m = 10, which is that of a run minus that of a run
  without rounds, the smallest of several. One size grows at a time. Memory is the peak that ``tracemalloc`` counts in
  addition to the arguments.

**Figure.** Left: ratios, medians over the repetitions between the lowest and the highest one. Middle: time of a round
against the number of clients. Right: against other sizes, with fitted exponents.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from _experiments import joined, part
from _performance import EVERYBODY, GROWING, Peers, Sizes, growth, peers
from _slides import DASHES, name_ends, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance
from fedtheory.statistics.limits import student_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Ratios of peers' times to ours, and growth of the time of a round."""

    peers: Peers = field(default_factory=Peers)
    """What is timed beside other programs."""
    growing: Sizes = field(default_factory=Sizes)
    """Sizes that grow."""


QUICK = Config(
    peers=Peers(
        num_clients=(30,), num_rounds=60, num_replicates=8, repetitions=2, first_calls=0, softmax_rounds=8,
        descent_steps=(3,),
    ),
    growing=Sizes(
        num_clients=(100, 1_000, 10_000), dims=(10, 30, 100), local_steps=(2, 10, 50), num_candidates=(30, 50, 90),
        num_rounds=(500, 1_000, 2_000), repetitions=1, everybody=5,
    ),
)  # fmt: skip
CURVES = {"rand": "random\nselection", "pow-d": "pow-d", "OCS, d candidates": "optimal sampling\nof d candidates",
          EVERYBODY: "optimal sampling\nof all clients"}  # fmt: skip
COLUMNS = {"ours_us": "ours [us]", "ratio": "peer / ours"}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Time everything and compare what the programs return."""
    return joined({"peers": peers(config.peers, progress), "growth": growth(config.growing, progress)})


def _curves(data: "Dataset") -> dict[tuple[str, str], "Dataset"]:
    """Rows of one growing size and strategy each."""
    keys = list(zip(data["axis"].values.tolist(), data["strategy"].values.tolist(), strict=True))
    return {key: data.isel(row=[i for i, one in enumerate(keys) if one == key]) for key in dict.fromkeys(keys)}


def _exponent(curve: "Dataset") -> tuple[float, float, float]:
    """Fitted exponent of the growth of the time, with its 95% limits."""
    from scipy.stats import linregress

    fit = linregress(np.log(curve["size"].values), np.log(curve["round_us"].values))
    return fit.slope, *student_interval(fit.slope, fit.stderr, curve.sizes["row"] - 2, 0.95)


def table(data: "Dataset") -> study.Table:
    """One row per workload and peer, and one per growing size."""
    rows = part(data, "peers").drop_vars("agreement").to_dataframe().rename(columns=COLUMNS).to_dict("records")
    for (axis, strategy), curve in _curves(part(data, "growth")).items():
        size, micros = curve["size"].values, curve["round_us"].values
        order, low, high = _exponent(curve)
        rows.append({
            "growing": GROWING[axis], "from": int(size[0]), "to": int(size[-1]), "strategy": strategy,
            "us per round": float(micros[0]), "at the largest": float(micros[-1]),
            "exponent": f"{order:z.2f} [{low:z.2f}, {high:z.2f}]", "memory [MB]": float(curve["memory_mb"][-1]),
        })  # fmt: skip
    every = dict.fromkeys(name for row in rows for name in row)
    caption = "Medians of interleaved repetitions on one thread. A peer with a ratio below 1 is faster."
    return study.Table([dict.fromkeys(every, "") | row for row in rows], "Time of the peer / time of ours", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare times of a round by clients and by program, and test that the programs do the same work."""
    own, curves = part(data, "peers"), _curves(part(data, "growth"))
    clients = {name: curve for (axis, name), curve in curves.items() if axis == "num_clients"}
    few, many = (int(clients["pow-d"]["size"][place]) for place in (0, -1))
    grown, ends, memory = {}, {}, 0.0
    for name, curve in clients.items():
        first, last = (float(curve["round_us"][place]) for place in (0, -1))
        grown[name], ends[name] = last / first, f"{first:.3g} to {float(f'{last:.3g}'):,g}"
        memory = max(memory, float((curve["memory_mb"] / curve["size"])[-1] / (curve["memory_mb"] / curve["size"])[0]))
    ratio = dict(zip(zip(own["workload"].values, own["peer"].values, strict=True), own["ratio"].values, strict=True))
    peers_of = {peer: one for (workload, peer), one in ratio.items() if workload == own["workload"].values[0]}
    loop, ahead, compiled = (peers_of[peer] for peer in ("NumPy, loop", "NumPy, rounds drawn ahead", "numba loop"))
    faster = [f"{peer} ({workload}: {one:.2f})" for (workload, peer), one in ratio.items() if one < 1]
    orders = {GROWING[axis]: _exponent(curve) for (axis, _), curve in curves.items() if axis != "num_clients"}
    words = [f"{order:z.2f} [{low:z.2f}, {high:z.2f}] with the {name}" for name, (order, low, high) in orders.items()]
    apart = float(own["agreement"].max())
    same = {
        "agree": study.Finding("All programs do the same work.", apart < 5, f"at most {apart:.2f} tolerances apart"),
        "memory": study.Finding(
            f"Memory grows at most {memory:.2f} times as much as the number of clients.", memory < 1.2
        ),
    }
    if many < 1_000_000:  # the few rounds of a quick run do not decide how long a round takes
        return same
    calls = own.isel(row=own["workload"].values == "pow-d, first call")
    seconds, ours = float(calls["ours_us"][0]) / 1e6, float(calls["ratio"][0])
    return {
        "clients": study.Finding(
            f"From {few:,} to {many:,} clients the microseconds of a round grow from {ends['pow-d']} with "
            f"Power-of-Choice, from {ends['rand']} with random selection, and from {ends[EVERYBODY]} with optimal "
            "sampling, which asks all clients.",
            max(grown["pow-d"], grown["rand"]) < grown[EVERYBODY] / 5,
        ),
        "round": study.Finding(
            f"A round of Power-of-Choice with 30 clients takes {float(own['ours_us'][0]):.2g} microseconds. A loop in "
            f"NumPy takes {loop:.0f} times as long, NumPy batched over replicates {ahead:.1f} times, and a loop in "
            f"numba that was written for this one method {compiled:.2f} times.",
            bool(compiled < 1 and loop > 10),
        ),
        "first": study.Finding(
            f"The first call takes {seconds:.1f} processor seconds, in which the library compiles a loop that "
            f"takes any strategy. The loop for this one method takes {ours:.2f} times that time.",
            ours < 1,
        ),
        "faster": study.Finding(
            f"Of {len(ratio)} comparisons the library is slower in {len(faster)}: {'; '.join(faster)}.",
            0 < len(faster) < len(ratio) / 2,
        ),
        "orders": study.Finding(
            f"The time of a round of Power-of-Choice grows with these exponents: {', '.join(words)}.",
            all(order < 1.3 for order, *_ in orders.values()),
        ),
    } | same


def _look(place: int) -> dict[str, Any]:
    return {"color": COLORS[place], "marker": MARKERS[place], "linestyle": DASHES[place]}


def figure(data: "Dataset") -> "Figure":
    """Draw ratios between the lowest and the highest one, and how a round's time grows."""
    import matplotlib.pyplot as plt

    own, curves = part(data, "peers"), _curves(part(data, "growth"))
    with appearance():
        drawn, (left, second, third) = plt.subplots(1, 3, figsize=(14, 4.6), width_ratios=(1.1, 1, 1))
        labels = list(dict.fromkeys(own["workload"].values.tolist()))
        places, rows = name_rows(left, labels), np.array([labels.index(one) for one in own["workload"].values])
        for number, kind in enumerate(dict.fromkeys(own["peer"].values.tolist())):
            chosen = own["peer"].values == kind
            middle, low, high = (own[name].values[chosen] for name in ("ratio", "lowest", "highest"))
            look: Any = _look(number) | {"linestyle": "none", "capsize": 2, "label": kind}
            is_shared = np.array([(rows == row).sum() > 1 for row in rows[chosen]])
            heights = places[rows[chosen]] + is_shared * (0.18 - 0.12 * number)
            left.errorbar(middle, heights, xerr=[middle - low, high - middle], **look)
        left.axvline(1.0, color="black", linewidth=0.8)
        left.set(xscale="log", xlabel="time of other programs / time of fedtheory", ylim=(-len(labels), 3.4))
        left.legend(fontsize=8, loc="upper left")
        many, others, longest = {}, {}, 1.0
        for place, (name, words) in enumerate(CURVES.items()):
            curve = curves["num_clients", name]
            second.plot(curve["size"], curve["round_us"], **_look(place))
            second.set_xlim(curve["size"][0], curve["size"][-1])
            many[words] = float(curve["round_us"][-1]), COLORS[place]
        second.set(xscale="log", yscale="log", xlabel="clients K", ylabel="time per round [µs]")
        for place, axis in enumerate(axis for axis, _ in curves if axis != "num_clients"):
            curve = curves[axis, "pow-d"]
            factor, times = (curve[name].values / curve[name].values[0] for name in ("size", "round_us"))
            third.plot(factor, times, **_look(place))
            others[f"{GROWING[axis]}: exponent {_exponent(curve)[0]:z.2f}"] = float(times[-1]), COLORS[place]
            longest = max(longest, factor[-1])
        third.plot([1, longest], [1, longest], ":", color="black", label="linear")
        third.set(xscale="log", yscale="log", xlim=(1, longest), ylim=(0.5, longest))
        third.set(xlabel="factor by which a size grows", ylabel="factor by which a round of pow-d slows down")
        third.legend(loc="upper left")
        for axes, ends in ((second, many), (third, others)):
            name_ends(axes, ends)
        return drawn


STUDY = study.Study("performance", Config(), QUICK, run, table, findings, {"performance": figure})

if __name__ == "__main__":
    study.main(STUDY)
