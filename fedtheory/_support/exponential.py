"""An exponential that can be vectorized; numba calls that of the C library for one number at a time."""

# mypy: allow-untyped-defs, allow-untyped-calls

from math import factorial, log

import numpy as np

from fedtheory._support.jit import compiled_with_reordering

_LN2, _LOG2E = log(2.0), 1 / log(2.0)
_TAYLOR = tuple(1 / factorial(i) for i in range(14))


@compiled_with_reordering
def power(x):
    """exp(x) for x <= 700, and exp(-708) below -708; the error is that of rounding x, and 1e-16 of the result."""
    x = max(x, -708.0)
    whole = np.floor(x * _LOG2E + 0.5)
    r = x - whole * _LN2
    p = _TAYLOR[13] * r + _TAYLOR[12]
    p = (p * r + _TAYLOR[11]) * r + _TAYLOR[10]
    p = (p * r + _TAYLOR[9]) * r + _TAYLOR[8]
    p = (p * r + _TAYLOR[7]) * r + _TAYLOR[6]
    p = (p * r + _TAYLOR[5]) * r + _TAYLOR[4]
    p = (p * r + _TAYLOR[3]) * r + _TAYLOR[2]
    p = (p * r + 1.0) * r + 1.0
    # 2^whole by its bits
    return p * np.int64((np.int64(np.int32(whole)) + 1023) << 52).view(np.float64)
