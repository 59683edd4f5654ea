"""Worst-case problems of the bounds on compressed communication with one client."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import pick, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []


def _with_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    method = worst_case.error_feedback if bound.__name__ == "ef_round" else worst_case.ef21
    return method(1, **given)


def _without_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    known = {"gap" if name == "initial_gap" else name: value for name, value in given.items()}
    return worst_case.compressed_gradients(**known)


def _draw(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants and a step size, below or above the best one, at which the rate is rational."""
    s = Fraction(whole(rng, 1, 9), 10)
    L = Fraction(whole(rng, 5, 30), 10)
    mu = L * Fraction(whole(rng, 1, 9), 10)
    least = (1 - s) * (L - mu) / (L + mu)
    low = Fraction(int(64 * (float(least) + math.sqrt(float(least) ** 2 + 4 * float(s))) / 2) + 1, 64)
    z = low + (Fraction(5, 4) - low) * Fraction(whole(rng, 0, 16), 16)
    t = z - s / z
    options = [(t + 1 - s) / ((1 + s) * L)]
    if t < 1 - s:
        options.append((1 - s - t) / ((1 + s) * mu))
    return {"mu": mu, "L": L, "compression_error": s, "step_size": pick(rng, options)}


def _draw_round(rng: np.random.Generator) -> dict[str, Any]:
    return _draw(rng) | {"potential": tenths(rng, 1, 90)}


def _draw_gap(rng: np.random.Generator) -> dict[str, Any]:
    known = _draw(rng)
    longest = 2 / ((1 + known["compression_error"]) * known["L"])
    eta = longest * Fraction(whole(rng, 1, 20), 20)
    return known | {"initial_gap": tenths(rng, 1, 90), "num_rounds": whole(rng, 1, 2), "step_size": eta}


ROUND = WorstCaseProblem(_with_memory, _draw_round)
GAP = WorstCaseProblem(_without_memory, _draw_gap)
