"""What a strategy says of itself: that the engine can run it, how often it takes clients, and how it weighs them."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.conformance._interface import Cases, Subject
from fedtheory.conformance._selecting import Case, played
from fedtheory.conformance._selection_laws import RandomCheck, grown
from fedtheory.conformance._timeouts import Broken
from fedtheory.engine.play import Played
from fedtheory.engine.simulation import fedavg
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, KnowsItsLaw, Moments, Ranked, Scheduled
from fedtheory.statistics.evidence import against_mean, mixed, rejects

__all__ = ["checks", "contract"]

_FIRST = 125
"""Rounds that only show how large coefficients get."""

_CASES = ("plain", "some tied", "zero weight")


def contract(subject: Subject, known: Cases) -> dict[str, Callable[[], None]]:
    """Return the check that the engine can run the strategy, by name."""
    return {"contract": partial(_contract, subject, known["plain"])}


def _contract(subject: Subject, case: Case) -> None:
    """Run the compiled rules in the engine, which says in a sentence what a rule does wrong."""
    centers = np.sqrt(2 * case.losses)[:, None]
    fed = QuadraticFederation(np.ones(case.num_clients), centers, case.weights)

    def run(num_threads: int) -> Array:
        arguments: dict[str, Any] = {"num_rounds": 3, "step_size": 0.5, "num_replicates": 3, "rng": 1}
        return fedavg(fed, subject.strategy, **arguments, num_threads=num_threads, record=("models",)).models

    # What is compiled before takes its time.
    one, two = (subject.watch.call(run, threads, case=case.given, times=10.0) for threads in (1, 2))
    if one.tobytes() != two.tobytes():
        raise Broken("a run must have the same bits whatever the number of threads, got others", **case.given)


def checks(subject: Subject, known: Cases, num_draws: int) -> dict[str, RandomCheck]:
    """Return the random checks by name, of what the strategy declares."""
    some = [known[name] for name in _CASES if name in known]
    made: dict[str, RandomCheck] = {}
    if callable(getattr(subject.strategy, "inclusion_probabilities", None)):
        made["declared inclusion"] = partial(_inclusion, subject, some, num_draws)
    if callable(getattr(subject.strategy, "law", None)):
        made["declared moments"] = partial(_moments, subject, some, num_draws)
    return made


def _inclusion(subject: Subject, some: list[Case], num_draws: int, seeds: np.random.SeedSequence, level: float) -> None:
    ask = subject.strategy.inclusion_probabilities
    for case in some:
        expected = _asked(subject, ask, case, case.weights.copy(), case.losses.copy())
        if expected is None:
            continue
        p = _numbers("inclusion_probabilities", expected, case)

        def copies(play: Played, size: int = case.num_clients) -> Array:
            return np.bincount(play.chosen, minlength=size).astype(np.float64)

        found = _sampled(
            _Rounds(subject, case, copies),
            p,
            np.full(p.size, subject.most_copies(p)),
            num_draws,
            seeds,
            level / len(some),
        )
        if found is not None:
            k, mean, count = found
            sentence = f"declares that client {k} is taken {p[k]:.4g} times a round, and takes it {mean:.4g} times"
            raise Broken(f"{sentence} on average of {count} rounds", **case.given)


def _moments(subject: Subject, some: list[Case], num_draws: int, seeds: np.random.SeedSequence, level: float) -> None:
    """Compare means of coefficients, of their products, and of the square of their sum, with what the law says.

    No coefficient is taken to be more than twice the largest of 125 rounds that are drawn before.
    """
    for case in some:
        law = _asked(subject, partial(_first_law, subject.strategy), case, case.weights.copy())
        if law is None:
            continue
        names, expected = _expected(law, case)
        rounds = _Rounds(subject, case, partial(_statistics, case.num_clients, len(names)))
        seen = rounds.drawn(np.random.default_rng(seeds.spawn(1)[0]), _FIRST)
        upper = np.maximum(_largest(seen, case.num_clients), expected)
        found = _sampled(rounds, expected, upper, num_draws, seeds, level / len(some))
        if found is not None:
            i, mean, count = found
            raise Broken(
                f"declares a {names[i]} of {expected[i]:.4g}, and {count} rounds have {mean:.4g}", **case.given
            )


def _first_law(strategy: KnowsItsLaw, weights: Array) -> Moments | Fixed | Ranked | None:
    law = strategy.law(weights)
    return law.over(1)[0] if isinstance(law, Scheduled) else law


def _statistics(num_clients: int, size: int, play: Played) -> Array:
    """Coefficients, their products, and the square of their sum; the first ones of these, as many as are wanted."""
    omega = np.bincount(play.chosen, weights=play.coefficients, minlength=num_clients)
    products = np.outer(omega, omega)[np.triu_indices(num_clients)]
    found: Array = np.concatenate([omega, products, [omega.sum() ** 2]])[:size]
    return found


def _largest(seen: Array, num_clients: int) -> Array:
    """Twice the largest coefficient, four times the largest product and square."""
    upper = np.full(seen.shape[1], 2 * seen[:, :num_clients].max())
    if upper.size > num_clients:
        upper[num_clients:-1] = 4 * seen[:, num_clients:-1].max()
        upper[-1] = 4 * seen[:, -1].max()
    return upper


def _expected(law: Moments | Fixed | Ranked, case: Case) -> tuple[list[str], Array]:
    """Return what is declared: means, and second moments where they are known, in words and numbers."""
    clients = range(case.num_clients)
    names = [f"mean coefficient of client {k}" for k in clients]
    if isinstance(law, Ranked):
        return names, _numbers("law", law.frequencies(case.losses.copy()), case)
    mean = _numbers("law", law.mean, case)
    if not isinstance(law, Moments):
        return names, mean
    products = law.alpha * np.outer(mean, mean) + np.diag(np.asarray(law.delta))
    rows, columns = np.triu_indices(mean.size)
    names += [f"mean product of coefficients {k} and {j}" for k, j in zip(rows, columns, strict=True)]
    names += ["mean square of the sum of coefficients"]
    return names, np.concatenate([mean, products[rows, columns], [products.sum()]])


def _asked(subject: Subject, method: Callable[..., Any], case: Case, *arguments: Any) -> Any:
    """Ask for a declaration; None where the strategy has none, a TypeError, or refuses the case, a ValueError."""
    try:
        return subject.watch.call(method, *arguments, case=case.given)
    except Broken as broken:
        if isinstance(broken.__cause__, TypeError | ValueError):
            return None
        raise


def _numbers(name: str, value: Any, case: Case) -> Array:
    given: Array = np.asarray(value, dtype=np.float64)
    if given.shape != (case.num_clients,) or not np.isfinite(given).all() or (given < 0).any():
        raise Broken(
            f"{name} must be {case.num_clients} finite numbers, at least 0, got {given.tolist()}", **case.given
        )
    return given


class _Rounds(NamedTuple):
    """First rounds of a strategy, and what is measured of each."""

    subject: Subject
    case: Case
    measure: Callable[[Played], Array]

    def drawn(self, rng: np.random.Generator, size: int) -> Array:
        """Measure some rounds, shape (size, statistics)."""
        play = played(self.subject.strategy, self.subject.watch, self.case)
        return np.array([self.measure(play(rng)) for _ in range(size)])


def _sampled(
    rounds: _Rounds, expected: Array, upper: Array, num_draws: int, seeds: np.random.SeedSequence, level: float
) -> tuple[int, float, int] | None:
    """Compare means with what is expected: None, or which one differs most clearly, its mean, and after how many."""
    rng = np.random.default_rng(seeds.spawn(1)[0])
    seen = np.empty((0, expected.size))
    for size in grown(num_draws):
        seen = np.concatenate([seen, rounds.drawn(rng, size)])
        beyond = np.flatnonzero((seen.max(axis=0) > upper) | (expected > upper * (1 + 1e-9)))
        columns = zip(np.minimum(seen, upper).T, np.minimum(expected, upper), upper, strict=True)
        evidence = np.array([against_mean(x, mean, 0.0, limit) for x, mean, limit in columns])
        if beyond.size or rejects(mixed(list(evidence)), level):
            worst = int(beyond[0] if beyond.size else evidence.max(axis=1).argmax())
            return worst, float(seen[:, worst].mean()), len(seen)
    return None
