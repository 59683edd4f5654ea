"""Scaffnew against its certified worst cases over all coins."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import proxskip
from fedtheory.claims._confronted import confronted, curvatures, step_size, tenths
from fedtheory.rational.draws import pick, whole


def _steps(rng: np.random.Generator, longest: int = 1) -> dict[str, Any]:
    known = curvatures(rng)
    return known | {
        "step_size": step_size(rng, longest / known["L"]),
        "probability": Fraction(whole(rng, 1, 8), 8),
        "num_steps": whole(rng, 1, 2),
        "initial_distance2": tenths(rng, 1, 90),
        "control_error2": pick(rng, [Fraction(0), tenths(rng, 1, 90)]),
    }


def _any_steps(rng: np.random.Generator) -> dict[str, Any]:
    return _steps(rng, 3)


theorem = confronted(
    "proxskip:theorem-worst-case",
    "No federation exceeds the rate of Scaffnew with steps up to 1/L",
    proxskip.fixed_step_potential,
    _steps,
    looseness=1.05,
    thorough=20,
)
refined = confronted(
    "proxskip:refined-worst-case",
    "No federation exceeds the rate of Scaffnew with any step size, and some comes close to it",
    proxskip.refined_fixed_step_potential,
    _any_steps,
    looseness=1.01,
    thorough=20,
)
