"""A program on random numbers, and a state of the interior-point method that fulfills none of its equations yet."""

from typing import Any

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case import _interior
from fedtheory.worst_case._frames import Data, Frame, State, frame_of
from fedtheory.worst_case._interior import _Step

SIZES, NUM_ROWS, NUM_EQUALITIES = (2, 3), 6, 2
LOOSE = np.arange(NUM_ROWS) >= NUM_EQUALITIES


def program(rng: np.random.Generator) -> Data:
    """Rows at random: entries of two blocks, and two combinations of three function values."""
    grams, levels = rng.normal(size=(1 + NUM_ROWS, 9)), rng.normal(size=(1 + NUM_ROWS, 2))
    return Data(SIZES, grams, levels, rng.normal(size=(3, 2)), rng.normal(size=NUM_ROWS), LOOSE)


def somewhere(rng: np.random.Generator) -> State:
    """A state whose slacks and leftovers are positive, and not true; multipliers of equalities have both signs."""
    factors = [rng.normal(size=(size, size)) for size in SIZES]
    roots = [rng.normal(size=(size, size)) for size in SIZES]
    multipliers = np.where(LOOSE, rng.uniform(0.2, 3, size=NUM_ROWS), [-1.3, 0.7, *(0.0 for _ in range(4))])
    slacks = rng.uniform(0.2, 3, size=NUM_ROWS) * LOOSE
    return State(factors, rng.normal(size=2), slacks, multipliers, [root @ root.T for root in roots])


class World:
    """A program, a state, its frame, and matrices of the frame's coordinates in those of the program."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.data, self.state = program(self.rng), somewhere(self.rng)
        frame = frame_of(self.data, self.state)
        assert frame is not None
        self.frame: Frame = frame
        self.grams = [V @ V.T for V in self.state.factors]

    def changes(self, step: _Step) -> tuple[list[Array], list[Array]]:
        """Changes of the Gram matrices and of the leftovers."""
        backs = [np.linalg.inv(R) for R in self.frame.turns]
        grams = [R @ X @ R.T for R, X in zip(self.frame.turns, step.grams, strict=True)]
        return grams, [back.T @ Z @ back for back, Z in zip(backs, step.leftovers, strict=True)]

    def after(
        self, step: _Step, primal: float = 1.0, dual: float = 1.0
    ) -> tuple[list[Array], Array, list[Array], Array]:
        """Gram matrices, slacks, leftovers and multipliers after shares of a step."""
        on_grams, on_leftovers = self.changes(step)
        return (
            [G + primal * dG for G, dG in zip(self.grams, on_grams, strict=True)],
            self.state.slacks + primal * step.slacks,
            [S + dual * dS for S, dS in zip(self.state.leftovers, on_leftovers, strict=True)],
            self.state.multipliers + dual * step.multipliers,
        )

    def steps(self) -> Any:
        """A target, second-order products, and the step towards them."""
        squares = [self.rng.normal(size=(size, size)) for size in SIZES]
        products, scalars = [square + square.T for square in squares], self.rng.normal(size=NUM_ROWS)
        return products, scalars, _interior._towards(self.data, self.state, self.frame, 0.3, products, scalars)
