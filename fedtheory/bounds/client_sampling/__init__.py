"""General sampling of clients (Fraboni, Vidal, Kameni, Lorenzi 2022)."""

from typing import TYPE_CHECKING

from fedtheory._support import lazy
from fedtheory.bounds.client_sampling.one_step import one_step as one_step
from fedtheory.bounds.client_sampling.paper import PAPER as PAPER

if not TYPE_CHECKING:  # a type checker would accept any name if it saw __getattr__
    __getattr__ = lazy.unknown_in(__name__)
