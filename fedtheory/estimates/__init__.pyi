"""What fedtheory.estimates offers; written by ``python -m tests.stubs``."""

from fedtheory.estimates import mean_field as mean_field
from fedtheory.estimates import skews as skews
from fedtheory.estimates.mean_field import mean_field_gap as mean_field_gap
from fedtheory.estimates.skews import estimated_selection_skew as estimated_selection_skew
from fedtheory.estimates.skews import sampled_models as sampled_models
from fedtheory.estimates.skews import selection_skew_at as selection_skew_at
