"""What is estimated about a run: by Monte Carlo, or by an approximation that is no bound of either sign."""

from fedtheory.estimates.mean_field import mean_field_gap as mean_field_gap
from fedtheory.estimates.skews import estimated_selection_skew as estimated_selection_skew
from fedtheory.estimates.skews import sampled_models as sampled_models
from fedtheory.estimates.skews import selection_skew_at as selection_skew_at
