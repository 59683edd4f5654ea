"""The bounds on compressed communication against certified worst cases."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import error_feedback
from fedtheory.claims._confronted import confronted, tenths
from fedtheory.claims.error_feedback._runs import draw_constants
from fedtheory.rational.draws import whole


def _round(rng: np.random.Generator) -> dict[str, Any]:
    return draw_constants(rng).known | {"potential": tenths(rng, 1, 90)}


def _steps(rng: np.random.Generator) -> dict[str, Any]:
    known = draw_constants(rng).known
    longest = 2 / ((1 + known["compression_error"]) * known["L"])
    eta = longest * Fraction(whole(rng, 1, 20), 20)
    return known | {"initial_gap": tenths(rng, 1, 90), "num_rounds": whole(rng, 1, 2), "step_size": eta}


ef_round = confronted(
    "error-feedback:ef-round-worst-case",
    "No function and no compressor exceed the rate of error feedback",
    error_feedback.ef_round,
    _round,
    looseness=1.01,
)
ef21_round = confronted(
    "error-feedback:ef21-round-worst-case",
    "No function and no compressor exceed the rate of EF21",
    error_feedback.ef21_round,
    _round,
    looseness=1.01,
)
cgd_gap = confronted(
    "error-feedback:cgd-gap-worst-case",
    "No function and no compressor exceed the rate of compressed gradient descent",
    error_feedback.cgd_gap,
    _steps,
    looseness=1.01,
)
