"""Checks of aggregation: unbiased estimators of a weighted mean, and exact aggregation rules."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.conformance import _checks
from fedtheory.conformance._checks import Check, Failed, Kit, ask, children, excused, generator, numbers, seeded
from fedtheory.conformance._selection_laws import grown
from fedtheory.statistics.evidence import against_mean, mixed, rejects

__all__ = ["check_aggregation"]

Work = Callable[[np.random.SeedSequence, float], Any]
Rule = Callable[..., Any]

_FAR = 1e6
"""Distance of outliers; the other clients' vectors have norms of about 1."""


class Updates(NamedTuple):
    """Vectors, shape (n, v), weights, shape (n,), and losses of the same shape if the function needs them."""

    vectors: Array
    weights: Array
    losses: Array | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Arguments by name, for calls and messages."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    @property
    def copies(self) -> list[Array]:
        """Copies of the arguments."""
        return [value.copy() for value in self.given.values()]

    @property
    def size(self) -> float:
        """``sum_i w_i |v_i|``, the unit of estimates."""
        return float(self.weights @ np.linalg.norm(self.vectors, axis=1))


@Kit
def check_aggregation(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    like: Rule | None = None,
    exact: bool = False,
    losses: bool = False,
    outliers: int = 0,
    min_clients: int = 1,
    rtol: float = 1e-9,
    variance: Callable[..., Any] | None = None,
    largest: float = 8.0,
    num_draws: int = 4000,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    r"""Check a function ``(rng, vectors, weights) -> estimate`` of the weighted mean ``sum_i w_i v_i``.

    Correct code is rejected with probability at most 1e-6 per call, provided that no estimate is longer than
    ``largest`` times ``sum_i w_i |v_i|``, since samples do not determine the mean of an unbounded quantity. A longer
    estimate fails.

    Parameters
    ----------
    function
        Maps a ``numpy.random.Generator``, vectors of shape (n, v) and weights of shape (n,) to an estimate of shape
        (v,).
    rng
        Seed or SeedSequence.
    like
        The estimated quantity, a function ``(vectors, weights) -> vector``; None for the weighted mean.
    exact
        Whether every estimate must equal this quantity; otherwise only its mean must.
    losses
        Whether ``function`` and ``like`` take the positive losses of the clients, shape (n,), after the weights, as in
        q-FedAvg.
    outliers
        Number of clients that must be harmless whatever they send; 0 for no such claim.
    min_clients
        Smallest number of clients for the rule.
    rtol
        Rounding error allowed in an exact estimate, relative to ``sum_i w_i |v_i|``.
    variance
        Claimed variance, a function ``(vectors, weights) -> E |estimate - mean|^2``; None for no claim.
    largest
        Limit of the length of an estimate in units of ``sum_i w_i |v_i|``; ``1/p`` for the smallest inclusion
        probability p. Smaller limits make the checks sharper. With the default, a variance of half the claim may pass.
    num_draws
        Largest number of draws for each case of a random check.
    exceptions
        Names of checks to skip, each with the reason.

    Notes
    -----
    The checks are ``runs``, ``shape``, ``bounded``, ``inputs``, ``own answers``, ``same generator``, ``other
    randomness``, ``one client``, ``zero vectors``, ``unbiased``, and ``variance`` if it is claimed. With
    ``exact=True``, ``exact`` and ``relabeling`` (clients in reverse order) replace ``bounded`` and ``unbiased``. With
    ``outliers`` there is also ``outliers``: of 4 f + 3 clients, f send the same distant vector and report many more
    examples than the others, or equally many. Each coordinate of the estimate must then be within the range of the
    other clients.

    Examples
    --------
    A plain mean in place of a weighted one:

    >>> [failure.check for failure in check_aggregation(lambda rng, vectors, weights: vectors.mean(0)).failures]
    ['zero vectors', 'unbiased']
    """
    seeds, is_exact = validate.seed_sequence(rng), validate.boolean("exact", exact)
    for name, rule in (("like", like), ("variance", variance)):
        if rule is not None:
            validate.function(name, rule, "vectors and weights")
    sampled = _Sampled(
        validate.function("function", function, "rng, vectors and weights"),
        validate.double("largest", validate.positive("largest", largest)),
        validate.size("num_draws", num_draws, 2),
        _weighted_mean if like is None else like,
        validate.double("rtol", validate.positive("rtol", rtol)),
    )
    has_losses = validate.boolean("losses", losses)
    least, far = validate.size("min_clients", min_clients), validate.size("outliers", outliers, 0)
    if has_losses and far:
        message = f"outliers must be 0 with losses=True, got {far}"
        raise ValueError(message)
    drawn = np.random.default_rng(_checks.seeds_of(seeds, "vectors"))
    some = [_filled(updates, least, drawn) for updates in _cases(drawn)]
    if has_losses:
        some = [updates._replace(losses=drawn.uniform(0.5, 3.0, len(updates.weights)).round(2)) for updates in some]
    alone = [Updates(np.array([[3.0]]), np.ones(1)), Updates(np.array([[1.0, -2.0]]), np.ones(1))]
    size = max(3, least)
    nothing = [Updates(np.zeros((size, 2)), np.full(size, 1 / size))]
    # A weight of 0 makes a vector irrelevant only in a weighted mean.
    one = np.eye(max(2, least))[:2]
    nothing += [Updates(4.0 * one[1][:, None], one[0])] if like is None else []
    if has_losses:
        alone, nothing = (
            [one._replace(losses=np.full(len(one.weights), 2.0)) for one in of] for of in (alone, nothing)
        )
    mean = partial(_exact, sampled) if is_exact else partial(_unbiased, sampled)
    estimate = partial(sampled.estimate, some[0])
    works: dict[str, Work] = {
        "runs": lambda seeds, _: sampled.raw(some[0], generator(seeds)),
        "shape": lambda seeds, _: _drawn(sampled, some, seeds, 5),
        "bounded": lambda seeds, _: _bounded(sampled, some, seeds),
        "inputs": lambda seeds, _: _inputs(sampled, some, seeds),
        "own answers": lambda seeds, _: _own_answers(sampled, some[0], seeds),
        "same generator": lambda seeds, _: _checks.same_generator(estimate, seeds, some[0].given),
        "other randomness": lambda seeds, _: _checks.other_randomness(estimate, seeds, some[0].given),
        "one client": partial(mean, alone),
        "zero vectors": lambda seeds, _: _zero(sampled, nothing, seeds),
        "relabeling": lambda seeds, _: _relabeled(sampled, some, seeds),
        "exact" if is_exact else "unbiased": partial(mean, some),
        "outliers": lambda seeds, _: _outlying(sampled, far, seeds),
        "variance": partial(_variance, sampled, some, _weighted_mean if variance is None else variance),
    }
    left_out = {
        "bounded": is_exact,
        "one client": least > 1,
        "relabeling": not is_exact,
        "outliers": not far,
        "variance": variance is None,
    }
    made = {name: work for name, work in works.items() if not left_out.get(name, False)}
    return excused(seeded(made, seeds, _checks.FALSE_ALARMS / 3), exceptions)


def _cases(rng: np.random.Generator) -> list[Updates]:
    """Return vectors of equal and unequal norms, with signs, equal and unequal weights, and a weight of zero."""
    fifth = np.full(5, 0.2)
    return [
        Updates(np.array([[5.0], [10.0], [15.0], [20.0], [25.0]]), fifth),
        Updates(np.ones((4, 1)), np.array([0.4, 0.3, 0.2, 0.1])),
        Updates(np.array([[1.0], [-1.0], [8.0], [2.0]]), np.array([0.4, 0.3, 0.1, 0.2])),
        Updates(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [1.0, 1.0]]), np.array([0.5, 0.25, 0.25, 0.0])),
        Updates(rng.normal(size=(5, 3)).round(2), np.array([0.1, 0.15, 0.2, 0.25, 0.3])),
    ]


def _weighted_mean(vectors: Array, weights: Array) -> Array:
    """Return the mean of the vectors, weighted by examples."""
    mean: Array = weights @ vectors
    return mean


def _filled(updates: Updates, least: int, rng: np.random.Generator) -> Updates:
    """Add clients up to the smallest number for the rule."""
    (n, v), more = updates.vectors.shape, max(least - len(updates.weights), 0)
    vectors = np.concatenate([updates.vectors, rng.normal(size=(more, v)).round(2)])
    return Updates(vectors, np.concatenate([updates.weights * n, np.ones(more)]) / (n + more))


class _Sampled(NamedTuple):
    """The function under check, the size of its samples, and the quantity that it should estimate."""

    function: Callable[..., Any]
    largest: float
    num_draws: int
    like: Rule = _weighted_mean
    rtol: float = 1e-9

    def mean(self, updates: Updates) -> Array:
        """Return the quantity that an estimate should equal, on average or always."""
        copies = updates.copies if self.like is not _weighted_mean else updates.copies[:2]
        return np.asarray(self.like(*copies), dtype=np.float64)

    def raw(self, updates: Updates, rng: np.random.Generator) -> Any:
        """Call the function without validation of the answer."""
        return ask(self.function, rng, *updates.copies, case=updates.given)

    def estimate(self, updates: Updates, rng: np.random.Generator) -> Array:
        """Call the function; the estimate must have the shape of a vector and be finite."""
        return numbers(self.raw(updates, rng), updates.vectors.shape[1:], updates.given)

    def limit(self, updates: Updates) -> float:
        """Return the largest allowed length of an estimate, with tolerance for rounding."""
        return self.largest * updates.size * (1 + 1e-9)

    def samples(self, updates: Updates, rng: np.random.Generator, size: int) -> Array:
        """Draw estimates, shape (size, v), none of which may be too long."""
        drawn = np.array([self.estimate(updates, rng) for _ in range(size)])
        longest, limit = np.linalg.norm(drawn, axis=1).max(), self.limit(updates)
        if longest > limit:
            sentence = (
                f"the length of an estimate must be at most {self.largest:g} sum w |v| = {limit:.4g}, got {longest:.4g}"
            )
            raise Failed(f"{sentence}; for smaller probabilities, give a larger largest=", **updates.given)
        return drawn


def _drawn(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence, count: int) -> None:
    for updates in some:
        for seed in children(seeds, count):
            sampled.estimate(updates, generator(seed))


def _bounded(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence) -> None:
    for updates in some:
        sampled.samples(updates, generator(seeds), 50)


def _inputs(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence) -> None:
    for updates in some:
        for seed in children(seeds, 5):
            _checks.leaves_inputs(sampled.function, {"rng": generator(seed), **updates.given}, updates.given)


def _own_answers(sampled: _Sampled, updates: Updates, seeds: np.random.SeedSequence) -> None:
    """Check that answers do not share memory."""
    answers = [sampled.raw(updates, generator(seed)) for seed in children(seeds, 4)]
    for place, one in enumerate(answers):
        if isinstance(one, np.ndarray) and any(np.shares_memory(one, other) for other in answers[:place]):
            raise Failed("answers must be new arrays, got the same memory twice", **updates.given)


def _zero(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence) -> None:
    for updates in some:
        for seed in children(seeds, 20):
            estimate = sampled.estimate(updates, generator(seed))
            if estimate.any():
                raise Failed(f"the estimate of a zero sum must be 0, got {estimate.tolist()}", **updates.given)


def _unbiased(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence, level: float) -> None:
    for updates, seed in zip(some, seeds.spawn(len(some)), strict=True):
        limit, rng = sampled.limit(updates), generator(seed)
        mean = sampled.mean(updates)
        drawn = np.empty((0, mean.size))
        for size in grown(sampled.num_draws):
            drawn = np.concatenate([drawn, sampled.samples(updates, rng, size)])
            clean = mean + _rounded(drawn - mean, updates.size)
            evidence = against_mean(clean, mean, -limit, limit)
            if rejects(mixed(list(evidence.T)), level / len(some)):
                found = f"{drawn.mean(axis=0).round(6).tolist()} over {len(drawn)} draws"
                raise Failed(f"the mean must be {mean.round(6).tolist()}, got {found}", **updates.given)


def _exact(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence, level: float) -> None:  # noqa: ARG001
    """Compare each estimate rather than their mean, so that no level is needed."""
    for updates in some:
        mean = sampled.mean(updates)
        for seed in children(seeds, 5):
            estimate = sampled.estimate(updates, generator(seed))
            if _differ(estimate, mean, sampled.rtol * updates.size):
                raise Failed(
                    f"the estimate must be {mean.round(6).tolist()}, got {estimate.round(6).tolist()}", **updates.given
                )


def _relabeled(sampled: _Sampled, some: list[Updates], seeds: np.random.SeedSequence) -> None:
    for updates in some:
        backward = Updates(*(value[::-1].copy() for value in updates.given.values()))
        one, two = (sampled.estimate(order, generator(seeds)) for order in (updates, backward))
        if _differ(one, two, sampled.rtol * updates.size):
            found = f"{one.round(6).tolist()} and, in reverse order, {two.round(6).tolist()}"
            raise Failed(f"the order of the clients must not change the estimate, got {found}", **updates.given)


def _outlying(sampled: _Sampled, outliers: int, seeds: np.random.SeedSequence) -> None:
    """Let some clients, first and last, send the same distant vector with few examples or nine tenths of them."""
    n, rng = 4 * outliers + 3, generator(seeds)
    vectors = rng.normal(size=(n, 3)).round(2)
    for outside in (np.arange(outliers), np.arange(n - outliers, n)):
        inside = np.setdiff1d(np.arange(n), outside)
        low, high = vectors[inside].min(axis=0), vectors[inside].max(axis=0)
        for share in (outliers / n, 0.9):
            weights = np.full(n, (1 - share) / inside.size)
            weights[outside] = share / outliers
            for far in (-_FAR, _FAR):
                sent = vectors.copy()
                sent[outside] = far
                estimate = sampled.estimate(Updates(sent, weights), generator(seeds))
                slack = sampled.rtol * float(np.linalg.norm(vectors[inside], axis=1).max())
                if ((estimate < low - slack) | (estimate > high + slack)).any():
                    kept = f"between {low.tolist()} and {high.tolist()}"
                    sentence = f"{outliers} of {n} clients must be harmless, with the estimate {kept}"
                    raise Failed(f"{sentence}, got {estimate.round(6).tolist()}", vectors=sent, weights=weights)


def _differ(one: Array, two: Array, slack: float) -> bool:
    return bool(np.abs(one - two).max() > slack)


def _variance(
    sampled: _Sampled, some: list[Updates], claimed: Callable[..., Any], seeds: np.random.SeedSequence, level: float
) -> None:
    for updates, seed in zip(some, seeds.spawn(len(some)), strict=True):
        claim = float(ask(claimed, *updates.copies, case=updates.given))
        # As a difference of moments, a variance of 0 may be slightly negative.
        expected = float(_rounded(claim, updates.size**2))
        limit, rng = (sampled.limit(updates) + updates.size) ** 2, generator(seed)
        if not 0 <= expected <= limit:
            raise Failed(f"a claimed variance must be in [0, {limit:.4g}], got {expected:.6g}", **updates.given)
        squares = np.empty(0)
        for size in grown(sampled.num_draws):
            errors = _rounded(sampled.samples(updates, rng, size) - sampled.mean(updates), updates.size)
            squares = np.concatenate([squares, (errors**2).sum(axis=1)])
            if rejects(against_mean(squares, expected, 0.0, limit), level / len(some)):
                sentence = f"the variance must be {expected:.6g}, as claimed, got {squares.mean():.6g}"
                raise Failed(f"{sentence} over {len(squares)} draws", **updates.given)


def _rounded(values: Any, unit: float) -> Any:
    """Replace values that differ from 0 only by rounding by 0; no draw and no mean is otherwise that small."""
    return np.where(np.abs(values) < 1e-12 * unit, 0.0, values)
