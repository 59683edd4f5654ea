"""Independent and correlated samplings of clients."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Protocol, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.statistics.law import Law

__all__ = ["JointLaw"]

Mask = npt.NDArray[np.bool_]
MOST_ENUMERATED = 20


class Sampling(Protocol):
    """A random set of clients."""

    @property
    def matrix(self) -> Array:
        """Probability matrix, entry (i, j) the probability that i and j are both drawn, shape (n, n)."""

    def draw(self, rng: RNGLike) -> Mask:
        """Return one random set, as a mask of shape (n,)."""


class Outcome(NamedTuple):
    """A set of clients, as a mask of shape (n,), and its probability."""

    members: Mask
    probability: float


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

    @classmethod
    def of(cls, law: Law[Any], num_clients: int) -> "JointLaw":
        """Return the sampling with a given law of sets, or of tuples, of clients.

        >>> JointLaw.of(Law.uniform([(0, 1), ()]), 2).cohorts
        Law({frozenset({0, 1}): 0.5, frozenset(): 0.5})
        """
        validate.instance("law", law, Law, "a Law of sets of clients")
        for cohort in law:
            validate.instance("law", cohort, Collection, "a Law of sets of clients")
        members = np.array([[i in cohort for i in range(validate.size("num_clients", num_clients))] for cohort in law])
        return cls(members, np.array([float(probability) for probability in law.values()]))

    @property
    def cohorts(self) -> Law[frozenset[int]]:
        """The law of the set of clients."""
        return Law((frozenset(np.flatnonzero(drawn).tolist()), probability) for drawn, probability in self.outcomes())

    @property
    def matrix(self) -> Array:
        """Probability matrix, shape (n, n)."""
        drawn = self.members.astype(np.float64)
        together: Array = (drawn * self.probabilities[:, None]).T @ drawn
        return together

    def outcomes(self) -> Iterator[Outcome]:
        """Return the sets with their probabilities."""
        return map(Outcome, self.members, self.probabilities.tolist())

    def draw(self, rng: RNGLike) -> Mask:
        """Return one random set, as a mask of shape (n,)."""
        row = np.searchsorted(np.cumsum(self.probabilities), validate.generator(rng).random(), side="right")
        drawn: Mask = self.members[min(int(row), len(self.members) - 1)].copy()
        return drawn


@final
@dataclass(frozen=True, eq=False)
class ExactlyOne:
    """Sampling of one client per round, client i with probability p_i.

    >>> ExactlyOne([0.25, 0.75]).matrix
    array([[0.25, 0.  ],
           [0.  , 0.75]])
    """

    probabilities: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", validate.probability_vector("probabilities", self.probabilities))

    @property
    def matrix(self) -> Array:
        """Probability matrix, shape (n, n)."""
        return np.diag(self.probabilities)

    @property
    def law(self) -> JointLaw:
        """The same sampling as a list of sets."""
        return JointLaw(np.eye(len(self.probabilities), dtype=bool), self.probabilities)

    def draw(self, rng: RNGLike) -> Mask:
        """Return one random set, as a mask of shape (n,)."""
        return self.law.draw(rng)


@final
@dataclass(frozen=True)
class NiceSampling:
    """Uniform sampling of m of n clients without replacement (m-nice sampling).

    >>> NiceSampling(3, 2).matrix * 3
    array([[2., 1., 1.],
           [1., 2., 1.],
           [1., 1., 2.]])
    """

    num_clients: int
    num_selected: int

    def __post_init__(self) -> None:
        n = validate.count("num_clients", self.num_clients)
        validate.count("num_selected", self.num_selected, high=n)

    @property
    def matrix(self) -> Array:
        """Probability matrix, shape (n, n)."""
        n, m = self.num_clients, self.num_selected
        together = np.full((n, n), m * (m - 1) / (n * (n - 1)) if n > 1 else 1.0)
        np.fill_diagonal(together, m / n)
        return together

    @property
    def law(self) -> JointLaw:
        """The same sampling as a list of all sets of m clients (at most 20 clients)."""
        _enumerable(self.num_clients)
        chosen = list(combinations(range(self.num_clients), self.num_selected))
        members = np.zeros((len(chosen), self.num_clients), dtype=bool)
        members[np.arange(len(chosen))[:, None], np.asarray(chosen)] = True
        return JointLaw(members, np.full(len(chosen), 1 / len(chosen)))

    def draw(self, rng: RNGLike) -> Mask:
        """Return one random set, as a mask of shape (n,)."""
        drawn = np.zeros(self.num_clients, dtype=bool)
        drawn[validate.generator(rng).permutation(self.num_clients)[: self.num_selected]] = True
        return drawn


@final
@dataclass(frozen=True, eq=False)
class IndependentSampling:
    """Independent sampling of each client i with probability p_i.

    >>> IndependentSampling([0.5, 1.0]).matrix
    array([[0.5, 0.5],
           [0.5, 1. ]])
    """

    probabilities: Array

    def __post_init__(self) -> None:
        p = validate.array("probabilities", self.probabilities, ndim=1)
        for probability in p.tolist():
            validate.fraction("probabilities", probability)
        object.__setattr__(self, "probabilities", p)

    @property
    def matrix(self) -> Array:
        """Probability matrix, shape (n, n)."""
        together = np.outer(self.probabilities, self.probabilities)
        np.fill_diagonal(together, self.probabilities)
        return together

    @property
    def law(self) -> JointLaw:
        """The same sampling as a list of all subsets (at most 20 clients)."""
        n = len(self.probabilities)
        _enumerable(n)
        members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
        return JointLaw(members, np.where(members, self.probabilities, 1 - self.probabilities).prod(axis=1))

    def draw(self, rng: RNGLike) -> Mask:
        """Return one random set, as a mask of shape (n,)."""
        drawn: Mask = validate.generator(rng).random(len(self.probabilities)) < self.probabilities
        return drawn


def _enumerable(num_clients: int) -> None:
    if num_clients > MOST_ENUMERATED:
        message = f"a law can be listed for at most {MOST_ENUMERATED} clients, got {num_clients}"
        raise ValueError(message)
