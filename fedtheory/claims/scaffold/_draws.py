"""What claims about control variates draw: clients, a step size, and where models and control variates begin."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.scaffold import Controlled
from fedtheory.rational.vectors import combination

__all__ = ["Start", "draw_start", "in_these_words"]


class Start(NamedTuple):
    """A federation, a step size with local steps, and a state whose c is the mean of the c_k."""

    fed: RationalQuadratics
    step_size: Fraction
    local_steps: int
    state: Controlled

    @property
    def run(self) -> dict[str, Any]:
        """Step size and local steps by name."""
        return {"step_size": self.step_size, "local_steps": self.local_steps}

    @property
    def constants(self) -> dict[str, Any]:
        """What bounds ask for: the run, mu and L."""
        return self.run | {"mu": self.fed.strong_convexity, "L": self.fed.smoothness}

    @property
    def weight(self) -> Fraction:
        """``(eta tau)^2``."""
        return (self.step_size * self.local_steps) ** 2


def draw_start(rng: np.random.Generator, *, short: bool = False) -> Start:
    """Draw a start; the step size is stable, ``eta (L + mu) < 2``, or short, ``eta tau L <= 1``."""
    fed, tau = draw_federation(rng), whole(rng, 1, 4)
    longest = 1 / (tau * fed.smoothness) if short else 2 / (fed.smoothness + fed.strong_convexity)
    share = pick(
        rng, [Fraction(1) if short else Fraction(99, 100), *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))]
    )
    clients = tuple(draw_model(rng, fed.dim) for _ in range(fed.num_clients))
    state = Controlled(draw_model(rng, fed.dim), combination(fed.weights, clients), clients)
    return Start(fed, share * longest, tau, state)


def in_these_words(start: Start) -> dict[str, Any]:
    """Name the numbers of a start."""
    return {
        **federation_in_words(start.fed),
        "step_size": str(start.step_size),
        "local_steps": start.local_steps,
        "model": in_words(start.state.model),
        "control variates": ", ".join(map(in_words, start.state.clients)),
    }
