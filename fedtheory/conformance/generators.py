r"""Checks of generators of Synthetic(alpha, beta).

    entries of W_k and b_k ~ N(u_k, 1),   y = argmax(W_k x + b_k),
    B_k ~ N(0, beta),   entries of v_k ~ N(B_k, 1),   x ~ N(v_k, diag(j^-1.2)).

The observable quantities have exact laws. Differences of two samples of a client are N(0, 2 j^-1.2). Means of a
client's features, ``m_kj ~ N(B_k, 1 + j^-1.2/n_k)``, have contrasts without B_k and an average with B_k. Divided by
their standard deviations and mapped by the normal distribution function, all are uniform, and their cells among 16 are
draws from a finite law. The first labels of different clients are uniform and independent, since the rows of W_k and
b_k have the same law. The labels of one client are those of a linear function. The data do not depend on alpha, since
u_k adds the same number to all logits.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import truncate
from fedtheory.conformance._checks import FALSE_ALARMS, Check, Failed, Kit, ask, children, excused, generator, seeded
from fedtheory.conformance._dirichlet import NUM_RANDOM, SharesMade, shares_checks
from fedtheory.statistics.evidence import against_law, rejects
from fedtheory.statistics.law import Law

__all__ = ["check_generator"]


ALPHA = 0.5


class Client(NamedTuple):
    """Features, shape (n, f), and labels, shape (n,)."""

    features: Array
    labels: Any


class Generator(NamedTuple):
    """The function under check."""

    function: Callable[..., Any]
    num_clients: int

    def clients(self, seeds: np.random.SeedSequence, beta: float, num_clients: int) -> list[Client]:
        """Call the function and validate the clients: finite features, and integer labels from 0."""
        given = {"alpha": ALPHA, "beta": beta, "num_clients": num_clients}
        arguments = (ALPHA, beta, num_clients, generator(seeds))
        answer = ask(self.function, *arguments, case=given)
        try:
            pairs = [(np.asarray(x, dtype=np.float64), np.asarray(y)) for x, y in answer]
        except (TypeError, ValueError) as error:
            raise Failed(f"must return pairs of features and labels, got {truncate(type(answer))}", **given) from error
        if len(pairs) != num_clients:
            raise Failed(f"must return {num_clients} clients, got {len(pairs)}", **given)
        for x, y in pairs:
            if x.ndim != 2 or y.shape != x.shape[:1] or x.shape[1] != pairs[0][0].shape[1] or not y.size:
                sentence = "features and labels must have shapes (n, f) and (n,), n > 0 and equal f"
                raise Failed(f"{sentence}, got {x.shape} and {y.shape}", **given)
            if y.dtype.kind not in "iu" or y.min() < 0 or not np.isfinite(x).all():
                wrong = "features that are not finite" if y.dtype.kind in "iu" and y.min() >= 0 else truncate(y[:4])
                raise Failed(f"features must be finite, and labels integers from 0, got {wrong}", **given)
        return [Client(x, y.astype(np.int64)) for x, y in pairs]


_CELLS = 16
_MOST = 20_000
_BETA = 4.0
"""At 0 and 1 both conventions agree; at 4 the standard deviations, 4 or 2, differ clearly."""

Work = Callable[[np.random.SeedSequence, float], None]


@Kit
def check_generator(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    law: Literal["synthetic", "dirichlet"] = "synthetic",
    dispersion: Literal["std", "variance"] = "std",
    num_clients: int = 100,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    r"""Check a generator ``(alpha, beta, num_clients, rng) -> [(features, labels), ...]`` of Synthetic(alpha, beta).

    With ``law="dirichlet"`` check a generator of class shares from a symmetric Dirichlet law,
    ``(concentration, num_classes, num_clients, rng) -> shares``, with shares of shape (num_clients, num_classes).

    Correct code is rejected with probability at most 1e-6 per call.

    Parameters
    ----------
    function
        Maps alpha, beta, K and a ``numpy.random.Generator`` to K pairs of features, shape (n_k, f), and labels,
        integers from 0 of shape (n_k,).
    rng
        Seed or SeedSequence.
    law
        ``synthetic`` or ``dirichlet``.
    dispersion
        For Synthetic: ``std`` if alpha and beta are standard deviations, ``variance`` if they are variances.
    num_clients
        Number of clients, at least 50; the random checks use all of them.
    exceptions
        Names of checks to skip, each with the reason.

    Notes
    -----
    The checks are ``runs``, ``shape``, ``same generator``, ``new draws``, ``feature noise``, ``feature centers``,
    ``feature means`` (which detects the wrong convention for beta), ``no spread`` (beta = 0), ``labels`` (uniform over
    clients), and ``linear labels``. For Dirichlet shares the last six are replaced by ``shares`` and ``underflow`` (at
    the concentration 1e-4, where gamma variables underflow in double precision and all shares become equal).

    Examples
    --------
    >>> def shares(concentration, num_classes, num_clients, rng):
    ...     return rng.dirichlet([concentration] * num_classes, num_clients)
    >>> check_generator(shares, law="dirichlet").holds
    True
    """
    seeds = validate.seed_sequence(rng)
    validate.function("function", function, "the parameters of its law, K and rng")
    reading = validate.choice("dispersion", dispersion, ("std", "variance"))
    size = validate.size("num_clients", num_clients, 50)
    if validate.choice("law", law, ("synthetic", "dirichlet")) == "dirichlet":
        works, num_random = shares_checks(SharesMade(function, size)), NUM_RANDOM
    else:
        works, num_random = _synthetic_checks(Generator(function, size), reading)
    return excused(seeded(works, seeds, FALSE_ALARMS / num_random), exceptions)


def _synthetic_checks(made: Generator, reading: str) -> tuple[dict[str, Work], int]:
    """Return the checks by name, and how many of them are random."""
    works: dict[str, Work] = {
        "runs": lambda seeds, _: ask(made.function, 1.0, 1.0, 2, generator(seeds), case={"num_clients": 2}),
        "shape": lambda seeds, _: _shaped(made, seeds),
        "same generator": lambda seeds, _: _again(made, seeds),
        "new draws": lambda seeds, _: _new(made, seeds),
    }
    random: dict[str, Work] = {
        "feature noise": partial(_noise, made),
        "feature centers": partial(_centers, made),
        "feature means": partial(_means, reading, made),
        "no spread": partial(_no_spread, made),
        "labels": partial(_labels, made),
    }
    return works | random | {"linear labels": partial(_linear, made)}, len(random)


def _shaped(made: Generator, seeds: np.random.SeedSequence) -> None:
    made.clients(seeds, _BETA, 3)


def _again(made: Generator, seeds: np.random.SeedSequence) -> None:
    one, two = ([part.tobytes() for client in made.clients(seeds, _BETA, 3) for part in client] for _ in range(2))
    if one != two:
        raise Failed("generators in equal states must give equal clients, got different ones", num_clients=3)


def _new(made: Generator, seeds: np.random.SeedSequence) -> None:
    one, two = (made.clients(seed, _BETA, 3)[0].features for seed in children(seeds, 2))
    if np.array_equal(one[:1], two[:1]):
        raise Failed("different generators must give different clients, got equal features", num_clients=3)


def _scales(clients: list[Client]) -> Array:
    scales: Array = np.arange(1, clients[0].features.shape[1] + 1) ** -0.6
    return scales


def _noise(made: Generator, seeds: np.random.SeedSequence, level: float) -> None:
    clients = made.clients(seeds, _BETA, made.num_clients)
    pairs, scales = [x[:-1:2] - x[1::2] for x, _ in clients], _scales(clients)
    each = max(1, _MOST // (scales.size * len(clients)))
    normal = np.concatenate([pair[:each] for pair in pairs]) / (np.sqrt(2) * scales)
    _compare(normal.ravel(), level, "noise of feature j must be N(0, j^-1.2)")


def _centers(made: Generator, seeds: np.random.SeedSequence, level: float) -> None:
    clients = made.clients(seeds, _BETA, made.num_clients)
    noise2 = _scales(clients) ** 2
    even = noise2.size // 2 * 2
    normal = []
    for x, _ in clients:
        spread2 = 1 + noise2[:even] / len(x)
        center = x.mean(axis=0)[:even]
        normal.append((center[::2] - center[1::2]) / np.sqrt(spread2[::2] + spread2[1::2]))
    _compare(np.concatenate(normal), level, "the centers of a client's features must have spread N(0, 1)")


def _averages(clients: list[Client], spread: float) -> tuple[Array, Array]:
    """Return each client's mean over all features, and its standard deviation for a given spread of the B_k."""
    noise2 = _scales(clients) ** 2
    means = np.array([x.mean() for x, _ in clients])
    variances = [spread**2 + (1 + noise2 / len(x)).sum() / noise2.size**2 for x, _ in clients]
    return means, np.sqrt(variances)


def _means(reading: str, made: Generator, seeds: np.random.SeedSequence, level: float) -> None:
    clients = made.clients(seeds, _BETA, made.num_clients)
    words = {"std": "standard deviation", "variance": "variance"}
    spreads = {"std": _BETA, "variance": np.sqrt(_BETA)}
    other = "variance" if reading == "std" else "std"
    means, mine = _averages(clients, spreads[reading])
    _, theirs = _averages(clients, spreads[other])
    # The likelihood ratio is itself a test martingale.
    ratio = np.cumsum(np.log(mine / theirs) + (means / mine) ** 2 / 2 - (means / theirs) ** 2 / 2)
    if rejects(ratio, level / 2):
        sentence = f"beta must be the {words[reading]} of feature means, got data of {len(clients)} clients that fit "
        raise Failed(f"{sentence}better with beta as {words[other]}", beta=_BETA)
    _compare(means / mine, level / 2, f"the B_k must be normal with the {words[reading]} beta = {_BETA:g}")


def _no_spread(made: Generator, seeds: np.random.SeedSequence, level: float) -> None:
    means, deviations = _averages(made.clients(seeds, 0.0, made.num_clients), 0.0)
    _compare(means / deviations, level, "with beta = 0 the B_k must be 0")


def _compare(normal: Array, level: float, sentence: str) -> None:
    """Compare numbers that should be standard normal with their law, by cells of equal probability."""
    from scipy.special import ndtr

    cells = np.minimum((_CELLS * ndtr(normal[:_MOST])).astype(int), _CELLS - 1)
    if rejects(against_law(cells.tolist(), Law.uniform(range(_CELLS))), level):
        raise Failed(
            f"{sentence}, got standard deviation {normal.std():.4g} instead of 1 over {cells.size} numbers", beta=_BETA
        )


def _labels(made: Generator, seeds: np.random.SeedSequence, level: float) -> None:
    clients = made.clients(seeds, _BETA, made.num_clients)
    num_classes = 1 + max(int(y.max()) for _, y in clients)
    if min(int(y.min()) for _, y in clients) > 0:
        raise Failed("labels must be 0, 1, ..., got no 0", num_clients=made.num_clients)
    first = [int(y[0]) for _, y in clients]
    if rejects(against_law(first, Law.uniform(range(num_classes))), level):
        counts = np.bincount(first, minlength=num_classes).tolist()
        raise Failed(
            f"first labels of the clients must be uniform, since their models have one law, got {counts}", beta=_BETA
        )


def _linear(made: Generator, seeds: np.random.SeedSequence, level: float) -> None:  # noqa: ARG001 (this check is deterministic)
    """Separate the two most frequent labels of the client with the most samples by a linear program."""
    from scipy.optimize import linprog

    clients = made.clients(seeds, _BETA, made.num_clients)
    x, y = max(clients, key=lambda client: len(client.labels))
    common = np.argsort(np.bincount(y))[::-1][:2]
    kept = np.flatnonzero(np.isin(y, common))[:400]
    signs = np.where(y[kept] == common[0], 1.0, -1.0)[:, None]
    # Largest margin t with signs (x w + b) <= -t and |w|, |b| <= 1; 0 unless the labels are separable.
    sides = signs * np.column_stack([x[kept], np.ones(kept.size)])
    size = sides.shape[1]
    constraints = np.column_stack([sides, np.ones(kept.size)])
    bounds = [*[(-1.0, 1.0)] * size, (0.0, None)]
    margin = -linprog([*[0.0] * size, -1.0], A_ub=constraints, b_ub=np.zeros(kept.size), bounds=bounds).fun
    if margin < 1e-6:
        sentence = f"labels must be maxima of linear functions, got inseparable labels {common.tolist()}"
        raise Failed(f"{sentence} of a client with {len(y)} samples", beta=_BETA)
