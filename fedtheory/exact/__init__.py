"""Exact and estimated quantities of a run without simulation.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from fedtheory._support import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "aligned_runs": ["inclusions"],
        "applicability": ["Applicability", "ApplicableBounds", "applicable", "bounds_over_rounds"],
        "constant_steps": ["average_drift"],
        "estimated_skews": ["estimated_selection_skew", "sampled_models"],
        "floor": ["ErrorFloor", "error_floor"],
        "mean_field": ["mean_field_gap"],
        "moments": ["expected_gap"],
        "participation": ["participation_imbalance"],
        "runs": ["for_run"],
        "selection_skews": ["selection_skew"],
        "skew_intervals": ["SelectionSkew"],
        "skews": ["skew", "skew_extremes"],
        "subsets": ["subset_minima"],
    },
)

if TYPE_CHECKING:
    from fedtheory.exact.aligned_runs import inclusions as inclusions
    from fedtheory.exact.applicability import Applicability as Applicability
    from fedtheory.exact.applicability import ApplicableBounds as ApplicableBounds
    from fedtheory.exact.applicability import applicable as applicable
    from fedtheory.exact.applicability import bounds_over_rounds as bounds_over_rounds
    from fedtheory.exact.constant_steps import average_drift as average_drift
    from fedtheory.exact.estimated_skews import estimated_selection_skew as estimated_selection_skew
    from fedtheory.exact.estimated_skews import sampled_models as sampled_models
    from fedtheory.exact.floor import ErrorFloor as ErrorFloor
    from fedtheory.exact.floor import error_floor as error_floor
    from fedtheory.exact.mean_field import mean_field_gap as mean_field_gap
    from fedtheory.exact.moments import expected_gap as expected_gap
    from fedtheory.exact.participation import participation_imbalance as participation_imbalance
    from fedtheory.exact.runs import for_run as for_run
    from fedtheory.exact.selection_skews import selection_skew as selection_skew
    from fedtheory.exact.skew_intervals import SelectionSkew as SelectionSkew
    from fedtheory.exact.skews import skew as skew
    from fedtheory.exact.skews import skew_extremes as skew_extremes
    from fedtheory.exact.subsets import subset_minima as subset_minima
