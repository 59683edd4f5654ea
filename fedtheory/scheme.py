"""Pairs of a selection law and aggregation weights: a short way to ``fedtheory.theorem``, where they live."""

from fedtheory.theorem.scheme import *  # noqa: F403
