r"""Sequential tests of a law, by test martingales and Ville's inequality.

A test martingale is a process ``E_0 = 1, E_1, E_2, ... >= 0`` with ``E[E_n | the past] <= E_(n-1)`` under the
hypothesis: the capital of a bettor against it at fair odds. By Ville's inequality a test that rejects as soon as the
capital reaches ``1/alpha`` is wrong with probability at most alpha, even if it is stopped at any time. A mean of test
martingales is one as well. The functions return ``log E_n`` for all n; ``rejects`` compares its maximum with alpha.

Sources: Ville (1939), "Etude critique de la notion de collectif"; Ramdas, Gruenwald, Vovk, Shafer (2023),
"Game-theoretic statistics and safe anytime-valid inference"; Waudby-Smith, Ramdas (2024), "Estimating means of bounded
random variables by betting".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.statistics.law import Law

__all__ = ["against_equality", "against_law", "against_mean", "rejects"]

_TRUST = (1.0, 8.0, 64.0, 512.0, 4096.0)
"""Numbers of imaginary draws from the hypothesis: small numbers make bold bets, large ones detect small deviations. A
factor of 8 between neighbors loses little compared with the best choice."""

_STAKES = np.array([sign * 2.0**-power for sign in (1, -1) for power in range(1, 11)])
"""Shares of the largest stake that cannot ruin; halves, since twice the best stake gains about nothing."""


def rejects(log_evidence: npt.ArrayLike, level: float) -> bool:
    """Whether the evidence ever reaches ``1/level``, which has probability at most ``level`` under the hypothesis.

    Parameters
    ----------
    log_evidence
        Logarithm of the capital after each draw, any shape.
    level
        Probability of a false alarm, in (0, 1).

    Examples
    --------
    >>> rejects([0.0, 3.1, -1.0], 0.05), rejects([0.0, 2.9, -1.0], 0.05)  # log 20 = 2.996
    (True, False)
    """
    reached = validate.extended("log_evidence", log_evidence)
    allowed = validate.positive("level", validate.fraction("level", level))
    return bool(reached.size and reached.max() >= -math.log(allowed))


def mixed(log_evidences: Sequence[Array]) -> Array:
    """Logarithm of the mean of test martingales, which is the test martingale of a gambler who splits the capital."""
    logs = validate.extended("log_evidences", log_evidences)
    if logs.ndim == 0 or len(logs) == 0:
        message = f"log_evidences must be a sequence of test martingales, got shape {logs.shape}"
        raise ValueError(message)
    top = np.maximum(logs.max(axis=0), -1e300)
    certain = np.isposinf(top)
    with np.errstate(invalid="ignore"):
        mean: Array = top + np.log(np.exp(logs - top).mean(axis=0))
    return np.where(certain, np.inf, mean)


def against_law(draws: Sequence[Any], law: Law[Any]) -> Array:
    r"""Evidence against the hypothesis that n draws come from a finite law, after each draw; shape (n,).

    The next outcome x is predicted with probability ``q_n(x) = (c p(x) + n_x) / (c + n)``, where ``n_x`` of n draws so
    far were x, and the capital is multiplied by ``q_n(x) / p(x)``, whose mean under the hypothesis is at most 1. An
    impossible outcome makes it infinite at once. The result is the mean over c = 1, 8, 64, 512, 4096.

    Parameters
    ----------
    draws
        Outcomes in the order of drawing. Draws may be dependent if each has the law given the earlier ones.

    Examples
    --------
    >>> coin = Law.uniform(["heads", "tails"])
    >>> [rejects(against_law(draws * 60, coin), 1e-6) for draws in (["heads"], ["heads", "tails"])]
    [True, False]
    """
    numbers = {outcome: i for i, outcome in enumerate(validate.instance("law", law, Law, "a Law"))}
    draws = _outcomes("draws", draws)
    codes = np.array([numbers.get(draw, -1) for draw in draws], dtype=np.int64)
    known = np.array([float(p) for p in law.values()])[codes]
    before, so_far = _earlier(codes), np.arange(codes.size)
    logs = [np.cumsum(np.log((c * known + before) / ((c + so_far) * known))) for c in _TRUST]
    impossible = np.cumsum(codes < 0) > 0
    return np.where(impossible, np.inf, mixed(logs))


def against_equality(first: Sequence[Any], second: Sequence[Any]) -> Array:
    r"""Evidence, shape (n,), against the hypothesis that two samples, drawn in n pairs, have the same law.

    Bet on the order of each pair, since both orders are equally likely under the hypothesis. With scores ``a(x) = c +
    (number of times that x was first so far)``, and b for second places, the capital is multiplied by ``2 a(x) b(y) /
    (a(x) b(y) + a(y) b(x))``, whose mean over the two orders is 1. The result is the mean over c as in ``against_law``.

    Parameters
    ----------
    first, second
        Hashable outcomes, equally many; the two outcomes of a pair are drawn independently.

    Examples
    --------
    >>> rejects(against_equality([0, 1] * 50, [1, 0] * 50), 1e-6)
    False
    >>> rejects(against_equality([0] * 60, [1] * 60), 1e-6)
    True
    """
    first, second = _outcomes("first", first), _outcomes("second", second)
    if len(first) != len(second):
        message = f"samples must be drawn in pairs, got {len(first)} and {len(second)} outcomes"
        raise ValueError(message)
    numbers: dict[Any, int] = {}
    x, y = (
        np.array([numbers.setdefault(draw, len(numbers)) for draw in draws], dtype=np.int64)
        for draws in (first, second)
    )
    of_first, of_second = _counts(x, len(numbers)), _counts(y, len(numbers))
    rows = np.arange(x.size)
    logs = []
    for c in _TRUST:
        right = (c + of_first[rows, x]) * (c + of_second[rows, y])
        wrong = (c + of_first[rows, y]) * (c + of_second[rows, x])
        logs.append(np.cumsum(np.log(2 * right / (right + wrong))))
    return mixed(logs)


def against_mean(samples: npt.ArrayLike, mean: npt.ArrayLike, lower: float, upper: float) -> Array:
    r"""Evidence against a given (conditional) mean of bounded samples, of the shape of the samples.

    The capital is multiplied by ``1 + s (x - mean)``, which has mean 1 under the hypothesis and is nonnegative for
    stakes s between ``-1/(upper - mean)`` and ``1/(mean - lower)``. The result is the mean over stakes of both signs,
    from half of the largest down to 1/1024 of it.

    Parameters
    ----------
    samples
        Samples, shape (n, ...), in [lower, upper]; each entry of a row has a separate capital.
    mean
        The hypothesis: one number in [lower, upper], or an array that broadcasts against the samples, each entry fixed
        before its sample is drawn.
    lower, upper
        Limits of all possible samples.

    Examples
    --------
    >>> x = np.tile([0.0, 1.0], 200)
    >>> rejects(against_mean(x, 0.5, 0.0, 1.0), 1e-6), rejects(against_mean(x, 0.2, 0.0, 1.0), 1e-6)
    (False, True)
    """
    x = validate.array("samples", samples)
    given = validate.array("mean", mean)
    fits = all(size in (1, full) for size, full in zip(given.shape[::-1], x.shape[::-1], strict=False))
    if given.ndim > x.ndim or not fits:
        message = f"mean must fit samples of shape {x.shape}, got shape {given.shape}"
        raise ValueError(message)
    mu = np.broadcast_to(given, x.shape)
    lower, upper = validate.double("lower", lower), validate.double("upper", upper)
    for name, values in (("samples", x), ("mean", mu)):
        if values.size and not (lower <= values.min() and values.max() <= upper):
            message = f"{name} must be in [{lower}, {upper}], got numbers in [{values.min()}, {values.max()}]"
            raise ValueError(message)
    # A mean at the end of the range determines the law: every sample must be there.
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(mu > lower, (x - mu) / (mu - lower), np.where(x > mu, np.inf, 0.0))
        down = np.where(mu < upper, (x - mu) / (upper - mu), np.where(x < mu, -np.inf, 0.0))
    logs = [np.cumsum(np.log1p(stake * (up if stake > 0 else down)), axis=0) for stake in _STAKES]
    return mixed(logs)


def _outcomes(name: str, draws: Any) -> list[Any]:
    outcomes = validate.sequence(name, draws, "a sequence of outcomes")
    for outcome in outcomes:
        validate.instance(name, outcome, Hashable, "a sequence of hashable outcomes")
    return outcomes


def _earlier(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how often each entry occurred before."""
    order = np.argsort(codes, kind="stable")
    _, starts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    before = np.empty(codes.size, dtype=np.int64)
    before[order] = np.arange(codes.size) - np.repeat(starts, sizes)
    return before


def _counts(codes: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Return how often each outcome occurred before each draw, shape (n, size)."""
    shown = np.zeros((codes.size, size), dtype=np.int64)
    shown[np.arange(codes.size)[1:], codes[:-1]] = 1
    return np.cumsum(shown, axis=0)
