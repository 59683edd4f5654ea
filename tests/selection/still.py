"""Many rounds of one run whose server hardly moves, so that all rounds have the same losses and updates."""

from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory.selection import Rules

_SHORT = 2.0**-200  # a step of the server that is lost beside any other number


class Given(NamedTuple):
    """A strategy whose rules are known: those of another one with something wrong in them, say."""

    made: Rules

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        return self.made


class Cohorts(NamedTuple):
    """Who was chosen in each round, shape (count, m), then -1, and the coefficients of their updates, then NaN."""

    chosen: Any
    coefficients: Any


def cohorts(rules: Rules, count: int, weights: Any, losses: Any = 0.0, updates: Any = None, seed: int = 0) -> Cohorts:
    """Let the round loop draw; clients report these losses, or return these updates, shape (K, v): one of both."""
    size = len(weights)
    # At the model 0 the loss of a parabola around 0 is its minimum; a whole step goes from 0 to the center.
    centers = np.zeros((size, 1)) if updates is None else updates
    fed = ft.QuadraticFederation(np.ones(size), centers, weights, minima=losses)
    run = ft.fedavg(
        fed, Given(rules), num_rounds=count, step_size=1.0, server_step_size=_SHORT, initial=np.zeros(fed.dim),
        rng=seed, record=("selected", "coefficients"),
    )  # fmt: skip
    return Cohorts(run.recorded("selected")[0, :-1], run.recorded("coefficients")[0, :-1])
