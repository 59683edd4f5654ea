"""Domains of symbols: a short way to ``fedtheory.theorem``, where they live."""

from fedtheory.theorem.domains import *  # noqa: F403
