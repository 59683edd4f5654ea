"""Interleaved timing of our programs and others, on one thread."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["has_avx512", "interleaved", "timed", "within"]

Programs = Mapping[str, tuple[Callable[[], Any], int]]


def has_avx512() -> bool:
    """Whether this processor has vectors of eight doubles."""
    import llvmlite.binding

    return bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))


def timed(program: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Return the seconds of one call with one thread in every library, by the given clock, and its result."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        start = clock()
        result = program()
        return clock() - start, result


def interleaved(
    workload: str, ours: Callable[[], Any], size: int, peers: Programs, repetitions: Any
) -> list[dict[str, Any]]:
    """Time ours and every peer in turn; each program has the number of units of work per call.

    Returns a record per peer: time of ours per unit, and the median, smallest and largest ratio within a repetition.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ("ours", *peers)}
    for _ in repetitions:
        seconds["ours"].append(timed(ours)[0] / size)
        for name, (program, units) in peers.items():
            seconds[name].append(timed(program)[0] / units)
    return [
        _record(workload, name, seconds["ours"], np.array(seconds[name]) / np.array(seconds["ours"])) for name in peers
    ]


def within(workload: str, ours: Callable[[], Any], limit: float, repetitions: Any) -> dict[str, Any]:
    """Compare our time with a limit in seconds per call."""
    seconds = [timed(ours)[0] for _ in repetitions]
    return _record(workload, f"limit of {limit:g} s", seconds, limit / np.array(seconds))


def _record(workload: str, peer: str, ours: Sequence[float], ratios: Any) -> dict[str, Any]:
    summary = {"ratio": np.median(ratios), "lowest": ratios.min(), "highest": ratios.max()}
    return {"workload": workload, "peer": peer, "ours_us": 1e6 * float(np.median(ours))} | {
        key: float(value) for key, value in summary.items()
    }
