"""Arbitrary participation of clients (Wang, Ji 2022)."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.participation.distance import fixed_step_distance as fixed_step_distance
from fedtheory.bounds.participation.paper import PAPER as PAPER

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
