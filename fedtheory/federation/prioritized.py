"""Federations with priority clients, whose objective is that of these clients (FedALIGN)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.validate import Array, Mask
from fedtheory._support.wording import truncate
from fedtheory.federation.protocol import Federation

__all__ = ["Prioritized", "prioritize"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Prioritized:
    """Federation with priority clients, made by ``prioritize``; all other clients have objective weight zero.

    ``federation`` has the objective ``F = sum_{k in P} p_k F_k`` of the priority clients P; smoothness and strong
    convexity hold for all clients. ``priority`` is true for priority clients, and ``shares`` are ``p_k = D_k / sum_{i
    in P} D_i`` of all clients, shape (K,); they sum to 1 over the priority clients only.
    """

    federation: Federation
    priority: Mask
    shares: Array

    @property
    def objective_gap(self) -> float:
        """Objective gap of the priority clients, ``Gamma = F* - sum_{k in P} p_k F_k*``."""
        return self.federation.objective_gap

    @cached_property
    def client_gaps(self) -> Array:
        """``Gamma_k = F_k(w*) - F_k*`` of all clients at the minimizer of F, at least 0, shape (K,)."""
        gaps = self.federation.losses(self.federation.minimizer) - self.federation.local_minima
        clipped: Array = np.maximum(gaps, 0.0)
        clipped.setflags(write=False)
        return clipped

    def __repr__(self) -> str:
        clients, first = self.federation.num_clients, int(self.priority.sum())
        return f"Prioritized({type(self.federation).__name__}, num_clients={clients}, num_priority={first})"


def prioritize(fed: Any, priority: npt.ArrayLike) -> Prioritized:
    """Return a federation with the objective of its priority clients (FedALIGN, eq. (5)).

    The weights of ``fed``, a dataclass with a field ``weights``, are proportional to the sizes D_k of the clients'
    data. ``priority`` is true for priority clients, shape (K,), at least one; their weights must be positive.

    Clients at 0, 2 and 7 with a quarter, a quarter and half of the data; the first two are priority clients.

    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> fed = QuadraticFederation([1.0, 1.0, 1.0], [[0.0], [2.0], [7.0]], [0.25, 0.25, 0.5])
    >>> aligned = prioritize(fed, [True, True, False])
    >>> aligned.shares, aligned.federation.weights, aligned.client_gaps
    (array([0.5, 0.5, 1. ]), array([0.5, 0.5, 0. ]), array([ 0.5,  0.5, 18. ]))
    """
    _check(fed)
    mask = validate.mask("priority", priority, (fed.num_clients,))
    if not mask.any():
        message = "priority must name at least one priority client, got none"
        raise ValueError(message)
    weights = validate.array("weights", fed.weights)
    idle = np.flatnonzero(mask & (weights <= 0))
    if idle.size:
        message = f"priority clients must have positive weight, got {weights[idle[0]]} for client {idle[0]}"
        raise ValueError(message)
    shares = weights / weights[mask].sum()
    shares.setflags(write=False)
    mask.setflags(write=False)
    return Prioritized(dataclasses.replace(fed, weights=np.where(mask, shares, 0.0)), mask, shares)


def _check(fed: Any) -> None:
    if isinstance(fed, type) or not dataclasses.is_dataclass(fed) or not hasattr(fed, "num_clients"):
        known = f"the class {fed.__name__}" if isinstance(fed, type) else truncate(fed)
        message = f"fed must be a federation that is a dataclass with a field weights, got {known}"
        raise TypeError(message)


_NEEDED = ("num_clients", "dim", "weights")


def unwrapped(fed: Any) -> Any:
    """Return the argument or, if it is a prioritized federation, its federation of all clients."""
    return fed.federation if isinstance(fed, Prioritized) else fed


def federation_given(fed: Any) -> Federation:
    """Return a federation; for a prioritized one, its federation of all clients. TypeError for anything else."""
    fed = unwrapped(fed)
    if isinstance(fed, type) or not all(hasattr(fed, attribute) for attribute in _NEEDED):
        got = f"the class {fed.__name__}" if isinstance(fed, type) else truncate(fed)
        message = f"fed must be a federation, with {', '.join(_NEEDED)}, got {got}"
        raise TypeError(message)
    return fed  # type: ignore[no-any-return]
