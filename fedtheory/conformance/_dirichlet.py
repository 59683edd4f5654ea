r"""Dirichlet shares: draws against their marginal laws, and underflow of gamma variables.

A share of C with concentration a has the law Beta(a, (C - 1) a). For small a one share is close to 1: by
``E sum p^2 = (a + 1)/(C a + 1)`` and ``sum p^2 <= max p``, ``P(max p <= 1/2) <= 2 (C - 1) a/(C a + 1)``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.conformance._checks import Failed, ask, children, generator, numbers
from fedtheory.statistics.evidence import against_law, rejects
from fedtheory.statistics.law import Law

_CELLS, _NUM_CLASSES, _SMALL = 16, 10, 1e-4
Made = Callable[[np.random.SeedSequence, float], Any]
NUM_RANDOM = 2


class SharesMade(NamedTuple):
    """The function under check: from a concentration, C, K and a Generator to shares of shape (K, C)."""

    function: Callable[..., Any]
    num_clients: int

    def shares(self, seeds: np.random.SeedSequence, concentration: float, num_clients: int) -> Array:
        """Call the function and validate the shares, which must be at least 0 and sum to 1."""
        given = {"concentration": concentration, "num_classes": _NUM_CLASSES, "num_clients": num_clients}
        answer = ask(self.function, *given.values(), generator(seeds), case=given)
        shares = numbers(answer, (num_clients, _NUM_CLASSES), given)
        if not (shares >= 0).all() or np.abs(shares.sum(axis=1) - 1).max() > 1e-9:
            raise Failed(f"shares of a client must be at least 0 with the sum 1, got {truncate(shares[0])}", **given)
        return shares


def shares_checks(made: SharesMade) -> dict[str, Made]:
    """Return the checks by name; the last two reject correct code with a probability of at most the given level."""
    return {
        "runs": lambda seeds, _: ask(made.function, 1.0, 2, 1, generator(seeds), case={"num_clients": 1}),
        "shape": lambda seeds, _: _shaped(made, seeds),
        "same generator": lambda seeds, _: _again(made, seeds),
        "new draws": lambda seeds, _: _new(made, seeds),
        "underflow": partial(_underflow, made),
        "shares": partial(_marginals, made),
    }


def _shaped(made: SharesMade, seeds: np.random.SeedSequence) -> None:
    for concentration in (_SMALL, 0.1, 100.0):
        made.shares(seeds, concentration, 3)


def _again(made: SharesMade, seeds: np.random.SeedSequence) -> None:
    one, two = (made.shares(seeds, 1.0, 3).tobytes() for _ in range(2))
    if one != two:
        raise Failed("generators in equal states must give equal shares, got different ones", num_clients=3)


def _new(made: SharesMade, seeds: np.random.SeedSequence) -> None:
    one, two = (made.shares(seed, 1.0, 3) for seed in children(seeds, 2))
    if np.array_equal(one, two):
        raise Failed("different generators must give different shares, got equal ones", num_clients=3)


def _underflow(made: SharesMade, seeds: np.random.SeedSequence, level: float) -> None:
    from scipy.stats import binom

    shares = made.shares(seeds, _SMALL, made.num_clients)
    allowed = 2 * (_NUM_CLASSES - 1) * _SMALL / (_NUM_CLASSES * _SMALL + 1)
    spread, equal = (shares.max(axis=1) <= 0.5).sum(), (np.ptp(shares, axis=1) == 0).sum()
    if binom.sf(spread - 1, len(shares), allowed) > level:
        return
    why = (
        f"; {equal} have equal shares of all classes, since gamma variables of such a small shape underflow (draw "
        "their logarithms, or break a stick)"
        if equal
        else ""
    )
    raise Failed(
        f"for the concentration {_SMALL:g} at most {100 * allowed:.2g}% of the clients may have no class with more "
        f"than half, got {spread} of {len(shares)}{why}",
        concentration=_SMALL,
    )


def _marginals(made: SharesMade, seeds: np.random.SeedSequence, level: float) -> None:
    from scipy.special import betainc

    for seed, concentration in zip(children(seeds, 2), (0.5, 20.0), strict=True):
        shares = made.shares(seed, concentration, made.num_clients)
        # The shares of a client are dependent, so that each client contributes one of them, in turn.
        one = shares[np.arange(len(shares)), np.arange(len(shares)) % _NUM_CLASSES]
        places = betainc(concentration, (_NUM_CLASSES - 1) * concentration, one)
        cells = np.minimum((_CELLS * places).astype(int), _CELLS - 1)
        if rejects(against_law(cells.tolist(), Law.uniform(range(_CELLS))), level / 2):
            raise Failed(
                f"a share must have the law Beta(a, (C - 1) a), got mean {one.mean():.3g} and standard deviation "
                f"{one.std():.3g} for a = {concentration:g}, C = {_NUM_CLASSES}",
                concentration=concentration,
            )
