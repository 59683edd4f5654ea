"""Hypotheses of theorems: a short way to ``fedtheory.theorem``, where they live."""

from fedtheory.theorem.assumptions import *  # noqa: F403
