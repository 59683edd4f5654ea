"""Step sizes of the theorems, as exact rationals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from fedtheory.theorem.draws import whole

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.instances.federations import RationalQuadratics

StepSizes = Callable[["RationalQuadratics", int], Callable[[int], Fraction]]
"""Function that returns the step sizes eta_t of a run, given the federation and an integer: the number of clients per
round (Power-of-Choice) or of local steps per round (FedALIGN)."""


def short_steps(rng: np.random.Generator) -> StepSizes:
    """Draw step sizes in any order, each at most ``1 / (4 L)``."""
    sizes = [Fraction(whole(rng, 1, 4), 4) for _ in range(8)]
    return lambda fed, _: lambda step: sizes[step % len(sizes)] / (4 * fed.smoothness)


def fixed_step(rng: np.random.Generator) -> StepSizes:
    """Draw one step size up to ``1 / (4 L)`` for all steps."""
    size = Fraction(whole(rng, 1, 4), 4)
    return lambda fed, _: lambda _: size / (4 * fed.smoothness)


def decaying(fed: RationalQuadratics, _: int = 1) -> Callable[[int], Fraction]:
    """Return the step sizes ``1 / (mu (t + gamma))`` with ``gamma = 4 L / mu`` (Power-of-Choice, Theorem 3.1)."""
    return lambda step: 1 / (fed.strong_convexity * step + 4 * fed.smoothness)


def weighted_steps(fed: RationalQuadratics, num_selected: int) -> Callable[[int], Fraction]:
    """Return the steps ``m / (mu (t + gamma))`` with ``gamma = 4 m (1 + m) L / mu`` (Power-of-Choice, Appendix E)."""
    m = num_selected
    return lambda step: m / (fed.strong_convexity * step + 4 * m * (1 + m) * fed.smoothness)


Delay = Callable[["RationalQuadratics", int], Fraction]
"""gamma of the step sizes, from the federation and the local steps per round."""


def delay(fed: RationalQuadratics, local_steps: int) -> Fraction:
    """Return ``gamma = max(8 L/mu, E)`` (FedALIGN, Theorem 1)."""
    return max(8 * fed.smoothness / fed.strong_convexity, Fraction(local_steps))


def delayed(gamma_of: Delay = delay) -> StepSizes:
    """Return the step sizes ``2/(mu (t + gamma))`` for a function that returns gamma."""

    def step_sizes(fed: RationalQuadratics, local_steps: int) -> Callable[[int], Fraction]:
        gamma = gamma_of(fed, local_steps)
        return lambda step: 2 / (fed.strong_convexity * (step + gamma))

    return step_sizes
