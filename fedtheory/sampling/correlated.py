"""Correlated samplings of clients, as lists of sets."""

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, Mask

__all__ = ["JointLaw"]


@final
@dataclass(frozen=True, eq=False)
class JointLaw:
    """Sampling given by a list of sets with their probabilities.

    Parameters
    ----------
    members
        The sets, one per row, shape (sets, n), booleans.
    probabilities
        Probabilities of the sets, shape (sets,), with sum 1.

    Examples
    --------
    Either both clients are drawn or none, each with probability 1/2:

    >>> JointLaw([[True, True], [False, False]], [0.5, 0.5]).matrix
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    members: Mask
    probabilities: Array

    def __post_init__(self) -> None:
        members = np.array(validate.unmasked("members", self.members))
        if members.dtype != np.bool_ or members.ndim != 2:
            message = f"members must be booleans of shape (sets, n), got {members.dtype} of shape {members.shape}"
            raise TypeError(message)
        law = validate.probability_vector("probabilities", self.probabilities, size=members.shape[0])
        for name, value in (("members", members), ("probabilities", law)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def matrix(self) -> Array:
        """Probability matrix, entry (i, j) the probability that i and j are both drawn, shape (n, n)."""
        drawn = self.members.astype(np.float64)
        together: Array = (drawn * self.probabilities[:, None]).T @ drawn
        return together
