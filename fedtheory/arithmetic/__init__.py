"""Arithmetic for bounds: functions of numbers, rationals, arrays and symbols, and floats with rounding-error bounds.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__, submod_attrs={"functions": ["geometric", "maximum", "mean", "short_of_one", "square_root", "total"]}
)

if TYPE_CHECKING:
    from fedtheory.arithmetic.functions import geometric as geometric
    from fedtheory.arithmetic.functions import maximum as maximum
    from fedtheory.arithmetic.functions import mean as mean
    from fedtheory.arithmetic.functions import short_of_one as short_of_one
    from fedtheory.arithmetic.functions import square_root as square_root
    from fedtheory.arithmetic.functions import total as total
