"""Differences of results on other processors: ``python -m tests.other_processors``.

Compiled loops, BLAS and NumPy are restricted to shorter vectors, or to no fused multiply-add: AVX2 as on Haswell, or
plain x86-64. For each result, the largest difference relative to the largest number is printed.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import fedtheory as ft

STRATEGIES = {
    "pow-d": ft.selection.PowerOfChoice(2, 6),
    "all": ft.selection.Full(),
    "OCS": ft.selection.Independent(3),
}
AVX2 = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+lzcnt,+movbe,+f16c,+cx16,+sse2,+sse"
# NumPy has its own names for them, which have changed, and warns of those that it does not know.
DISPATCHED: list[str] = importlib.import_module("numpy._core._multiarray_umath").__cpu_dispatch__
AVX512 = " ".join(name for name in DISPATCHED if name == "X86_V4" or "512" in name)
PROCESSORS = {
    "this one": {},
    "compiled loops of Haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": AVX2},
    "compiled loops of x86-64": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2,+sse"},
    "BLAS and NumPy of Haswell": {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": AVX512},
    "BLAS and NumPy of x86-64": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": " ".join(DISPATCHED),
    },
}
HASWELL = PROCESSORS["compiled loops of Haswell"] | PROCESSORS["BLAS and NumPy of Haswell"]
OLDEST = PROCESSORS["compiled loops of x86-64"] | PROCESSORS["BLAS and NumPy of x86-64"]


def results() -> dict[str, Any]:
    """Small runs of every family of losses and kind of strategy, and what exact solvers say."""
    quadratics = ft.datasets.power_of_choice_quadratics(num_clients=12, dim=5, rng=0)
    data = ft.datasets.synthetic(1, 1, num_clients=12, rng=0, min_samples=30)
    softmax, perceptron = ft.SoftmaxFederation(data, l2=0.01), ft.PerceptronFederation(data, (20,))
    found: dict[str, Any] = runs("quadratics", quadratics, None, 0.01, None)
    found |= runs("softmax", softmax, np.zeros(softmax.dim), 0.05, 10)
    found |= runs("perceptron", perceptron, perceptron.initial(0), 0.05, 10)
    found["softmax: minimizer"], found["softmax: minimum"] = softmax.minimizer, softmax.minimum
    found["softmax: objective gap"] = softmax.objective_gap
    found["quadratics: error floor of pow-d"] = ft.exact.error_floor(quadratics, STRATEGIES["pow-d"]).value
    found["OCS: probabilities"] = ft.sampling.optimal_probabilities(np.random.default_rng(0).lognormal(size=1000), 30)
    found["quadratics: exact expected gap"] = ft.exact.expected_gap(
        quadratics, ft.selection.Uniform(2), num_rounds=100, local_steps=5, step_size=0.01, initial=np.ones(5)
    )
    return {name: np.asarray(value, dtype=np.float64) for name, value in found.items()}


def runs(family: str, fed: Any, start: Any, step_size: float, batch_size: int | None) -> dict[str, Any]:
    """Losses, models and counts of runs of one family."""
    found: dict[str, Any] = {}
    for name, strategy in STRATEGIES.items():
        run = ft.fedavg(
            fed, strategy, num_rounds=100, local_steps=5, step_size=step_size, num_replicates=4, rng=0,
            initial=start, batch_size=batch_size, record=("loss", "models"),
        )  # fmt: skip
        found |= {f"{family}, {name}: {what}": getattr(run, what) for what in ("loss", "models", "counts")}
    return found


def differences(here: Any, there: Any) -> dict[str, float]:
    """Return the largest difference of each result, relative to its largest number."""
    return {name: float(np.abs(here[name] - there[name]).max() / np.abs(here[name]).max()) for name in here}


def main() -> None:
    """Print a table of differences as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, dict[str, Any]] = {}
        for processor, settings in PROCESSORS.items():
            file = Path(folder, f"{len(found)}.npz")
            cache = {"NUMBA_CACHE_DIR": str(Path(folder, str(len(found))))} if settings else {}
            command = [sys.executable, "-m", __spec__.name, str(file)]
            subprocess.run(command, env=os.environ | settings | cache, check=True)
            found[processor] = dict(np.load(file))
    here = found.pop("this one")
    print(json.dumps({processor: differences(here, there) for processor, there in found.items()}, indent=1))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        np.savez(sys.argv[1], **results())
    else:
        main()
