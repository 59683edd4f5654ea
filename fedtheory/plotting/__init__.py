"""Plots of errors, bounds and certified intervals."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.plotting.bound import bound_versus_error as bound_versus_error
from fedtheory.plotting.bound import measured as measured
from fedtheory.plotting.bound import theory as theory
from fedtheory.plotting.intervals import certified as certified
from fedtheory.plotting.style import COLORS as COLORS
from fedtheory.plotting.style import MARKERS as MARKERS
from fedtheory.plotting.style import appearance as appearance
from fedtheory.plotting.style import label_of as label_of
from fedtheory.plotting.style import legend_below as legend_below
from fedtheory.plotting.style import log_log as log_log
from fedtheory.plotting.style import log_places as log_places

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
