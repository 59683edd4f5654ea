"""Finite laws, intervals, confidence limits of means, and sequential tests.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

if TYPE_CHECKING:
    from fedtheory.statistics.evidence import against_equality as against_equality
    from fedtheory.statistics.evidence import against_law as against_law
    from fedtheory.statistics.evidence import against_mean as against_mean
    from fedtheory.statistics.evidence import rejects as rejects
    from fedtheory.statistics.interval import Interval as Interval
    from fedtheory.statistics.law import Law as Law
    from fedtheory.statistics.limits import bounded_mean as bounded_mean
    from fedtheory.statistics.limits import student_mean as student_mean
else:  # a type checker would accept any name if it saw __getattr__
    __getattr__, __dir__, __all__ = lazy.attach(
        __name__,
        submod_attrs={
            "evidence": ["against_equality", "against_law", "against_mean", "rejects"],
            "interval": ["Interval"],
            "law": ["Law"],
            "limits": ["bounded_mean", "student_mean"],
        },
    )
