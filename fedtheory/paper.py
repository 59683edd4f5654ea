"""Papers, statements, and the functions that are bounds: a short way to ``fedtheory.theorem``, where they live."""

from fedtheory.theorem.assumptions import Hypothesis as Hypothesis  # noqa: PLC0414
from fedtheory.theorem.paper import *  # noqa: F403
