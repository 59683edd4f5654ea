"""Functions that keep the digits of what they are given: a short way to ``fedtheory.theorem``, where they live."""

from fedtheory.theorem.arithmetic import *  # noqa: F403
