"""Consistent constants for bounds, as exact rationals: a Hypothesis strategy."""

from typing import Any

import numpy as np
from hypothesis.strategies import SearchStrategy

from fedtheory._support.wording import truncate
from fedtheory.conformance.drawing import seeds
from fedtheory.instances.constants import draw_constants
from fedtheory.theorem.bound import Bound, is_bound

__all__ = ["constants_of"]


def constants_of(bound: Bound) -> SearchStrategy[dict[str, Any]]:
    """Nonzero arguments of a bound, by name, that satisfy its hypotheses and those of all bounds of its paper.

    Hypothesis shrinks their seed. ValueError if constants for an argument of the bound are not implemented.

    ``@given(constants=constants_of(poc.one_step))`` above ``def test_it(constants): poc.one_step(**constants)``.

    >>> from hypothesis import find
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> poc.one_step(**find(constants_of(poc.one_step), lambda constants: constants["sigma2"] > 1)) > 0
    True
    """
    if not is_bound(bound):
        message = f"bound must be a function of fedtheory.bounds or one with states, got {truncate(bound)}"
        raise TypeError(message)
    draw_constants(bound, np.random.default_rng(0))
    return seeds().map(lambda seed: draw_constants(bound, np.random.default_rng(seed)))
