"""General sampling of clients (Fraboni, Vidal, Kameni, Lorenzi 2022)."""

from fedtheory.bounds.client_sampling.one_step import one_step as one_step
from fedtheory.bounds.client_sampling.paper import PAPER as PAPER
