"""Checks of client selection: returned values, permutations of the clients, and the selection law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.conformance import _selection_laws, _selections
from fedtheory.conformance._checks import FALSE_ALARMS, Check, Failed, Kit, ask, excused, seeded
from fedtheory.conformance._joint_laws import joint_law
from fedtheory.conformance._selection_laws import RandomCheck, grown
from fedtheory.conformance._selections import Case, Cases, Subject, played, subject_of
from fedtheory.engine.play import Played
from fedtheory.engine.simulation import fedavg
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, KnowsItsLaw, Moments, Ranked, Scheduled
from fedtheory.selection.rules import Strategy, rules_of
from fedtheory.statistics.evidence import against_mean, mixed, rejects
from fedtheory.statistics.law import Law

__all__ = ["check_strategy"]


@Kit
def check_strategy(
    strategy: Strategy | Callable[..., Any],
    like: Strategy | None = None,
    rng: validate.RNGLike = 0,
    *,
    num_selected: int | None = None,
    num_clients: int | None = None,
    weights: npt.ArrayLike | None = None,
    exceptions: Mapping[str, str] | None = None,
    num_draws: int = 2000,
) -> list[Check]:
    r"""Check a client selection: a strategy of fedtheory or a function ``(rng, weights, losses) -> client numbers``.

    Correct code is rejected with probability at most 1e-6 per call: random checks are sequential tests
    (``fedtheory.statistics.evidence``) that share this probability, whatever the number of draws at which they stop.
    Errors of ``strategy`` are failures and do not raise.

    Parameters
    ----------
    strategy
        A strategy, or a function of a ``numpy.random.Generator``, weights and losses, shape (K,) each, that returns the
        numbers of the selected clients.
    like
        A strategy of this package whose exact joint law (``fedtheory.conformance.joint_law``) is compared with the
        selections.
    rng
        Seed or SeedSequence.
    num_selected
        Number of clients that a function must select; by default that of ``like``, or any number without ``like``.
    num_clients
        Number K of clients in the cases; by default that of ``weights``, or 6. It must fit the strategy and ``like``.
    weights
        The only admissible weights, shape (K,), for code with fixed clients; checks that renumber clients are then
        skipped.
    exceptions
        Names of checks to skip, each with the reason.
    num_draws
        Largest number of draws for each case of a random check.

    Notes
    -----
    The checks use weights and losses in general position, equal, tied, extreme, and with a zero weight if applicable.
    For all selections: ``runs``, ``range``, ``count``, ``duplicates``, ``inputs``, ``own answers``, ``same generator``,
    ``other randomness``, ``history``, ``ties``, ``zero weights``, ``extreme losses``, and ``relabeling`` and ``fair
    ties``, which renumber the clients. For strategies: ``contract`` (a run of the engine), ``declared inclusion`` and
    ``declared moments`` (the results of ``inclusion_probabilities`` and ``law``, assuming that no coefficient exceeds
    twice the largest of 125 first rounds). With ``like``: ``joint law``, and ``many clients``, the selection
    frequencies of 300 clients. Deviations of a probability by about ``5 / sqrt(num_draws)`` are detected; smaller ones
    may pass.

    Examples
    --------
    >>> check_strategy(lambda rng, weights, losses: [0]).failures[0].check
    'relabeling'
    """
    own = None if weights is None else validate.probability_vector("weights", weights, size=num_clients)
    usual = _NUM_CLIENTS if own is None else own.size
    cases = _selections.cases(validate.size("num_clients", usual if num_clients is None else num_clients, 2), own)
    law = None if like is None else _law_of(like, cases["plain"])
    copies = law is not None and any(len(set(clients)) < len(clients) for clients in law)
    subject = subject_of(strategy, copies)
    seeds, draws = validate.seed_sequence(rng), validate.size("num_draws", num_draws, 2)
    plain = _selections.checks(subject, cases, _sizes(law, num_selected), seeds)
    random = _selection_laws.checks(subject, cases, like, draws)
    if subject.strategy is not None:
        plain = {"contract": partial(_contract, subject, cases["plain"])} | plain
        random |= _declared(subject, cases, draws)
    sure = [Check(name, work) for name, work in plain.items()]
    return excused([*sure, *seeded(random, seeds, FALSE_ALARMS / max(len(random), 1))], exceptions)


def _law_of(like: Strategy, case: Case) -> Law[Any]:
    try:
        return joint_law(like, case.weights, case.losses)
    except ValueError as error:
        message = f"like must accept the {case.num_clients} clients of the cases{_CHANGED}, got {like}: {error}"
        raise ValueError(message) from error


def _sizes(law: Law[Any] | None, num_selected: int | None) -> frozenset[int] | None:
    """Return the possible sizes of a selection, or None if they are unknown."""
    if num_selected is not None:
        return frozenset({validate.count("num_selected", num_selected)})
    return None if law is None else frozenset(map(len, law))


Rounds = Callable[[np.random.Generator, int], Array]
_NUM_CLIENTS = 6
_CHANGED = " (num_clients= of check_strategy changes their number)"
_FIRST = 125

_CASES = ("plain", "some tied", "zero weight")


def _contract(subject: Subject, case: Case) -> None:
    """Run the compiled rules in the engine, whose errors describe violations of the contract."""
    centers = np.sqrt(2 * case.losses)[:, None]
    fed = QuadraticFederation(np.ones(case.num_clients), centers, case.weights)

    def run(num_threads: int) -> Array:
        arguments: dict[str, Any] = {"num_rounds": 3, "step_size": 0.5, "num_replicates": 3, "rng": 1}
        return fedavg(fed, subject.strategy, **arguments, num_threads=num_threads, record=("models",)).models

    try:
        ask(rules_of, subject.strategy, case.weights, 1, case=case.given)
    except Failed as broken:
        if isinstance(broken.__cause__, ValueError):
            broken.sentence += f"; the cases have {case.num_clients} clients{_CHANGED}"
        raise
    one, two = (ask(run, threads, case=case.given) for threads in (1, 2))
    if one.tobytes() != two.tobytes():
        raise Failed("runs with different numbers of threads must be bit-identical, got different bits", **case.given)


def _declared(subject: Subject, known: Cases, num_draws: int) -> dict[str, RandomCheck]:
    """Return, by name, the random checks of the strategy's declarations."""
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
        expected = _asked(ask, case, case.weights.copy(), case.losses.copy())
        if expected is None:
            continue
        p = _numbers("inclusion_probabilities", expected, case)

        def copies(play: Played, size: int = case.num_clients) -> Array:
            return np.bincount(play.chosen, minlength=size).astype(np.float64)

        found = _sampled(
            partial(_measured, subject, case, copies),
            p,
            np.full(p.size, subject.most_copies(p)),
            num_draws,
            seeds,
            level / len(some),
        )
        if found is not None:
            k, mean, count = found
            sentence = f"must select client {k} {p[k]:.4g} times per round, as declared, got {mean:.4g} times"
            raise Failed(f"{sentence} on average over {count} rounds", **case.given)


def _moments(subject: Subject, some: list[Case], num_draws: int, seeds: np.random.SeedSequence, level: float) -> None:
    """Compare means of coefficients, of their products, and of the square of their sum, with the declared law."""
    for case in some:
        law = _asked(partial(_first_law, subject.strategy), case, case.weights.copy())
        if law is None:
            continue
        names, expected = _expected(law, case)
        rounds: Rounds = partial(_measured, subject, case, partial(_statistics, case.num_clients, len(names)))
        seen = rounds(np.random.default_rng(seeds.spawn(1)[0]), _FIRST)
        upper = np.maximum(_largest(seen, case.num_clients), expected)
        found = _sampled(rounds, expected, upper, num_draws, seeds, level / len(some))
        if found is not None:
            i, mean, count = found
            raise Failed(
                f"must have a {names[i]} of {expected[i]:.4g}, as declared, got {mean:.4g} in {count} rounds",
                **case.given,
            )


def _first_law(strategy: KnowsItsLaw, weights: Array) -> Moments | Fixed | Ranked | None:
    law = strategy.law(weights)
    return law.over(1)[0] if isinstance(law, Scheduled) else law


def _statistics(num_clients: int, size: int, play: Played) -> Array:
    """Return coefficients, their products, and the square of their sum; the first ``size`` of these."""
    omega = np.bincount(play.chosen, weights=play.coefficients, minlength=num_clients)
    products = np.outer(omega, omega)[np.triu_indices(num_clients)]
    found: Array = np.concatenate([omega, products, [omega.sum() ** 2]])[:size]
    return found


def _largest(seen: Array, num_clients: int) -> Array:
    """Return twice the largest coefficient, and four times the largest product and square."""
    upper = np.full(seen.shape[1], 2 * seen[:, :num_clients].max())
    if upper.size > num_clients:
        upper[num_clients:-1] = 4 * seen[:, num_clients:-1].max()
        upper[-1] = 4 * seen[:, -1].max()
    return upper


def _expected(law: Moments | Fixed | Ranked, case: Case) -> tuple[list[str], Array]:
    """Return the names and values of the declared means and, if they are known, second moments."""
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


def _asked(method: Callable[..., Any], case: Case, *arguments: Any) -> Any:
    """Call a declaration; None if the strategy has none (TypeError) or rejects the case (ValueError)."""
    try:
        return ask(method, *arguments, case=case.given)
    except Failed as broken:
        if isinstance(broken.__cause__, TypeError | ValueError):
            return None
        raise


def _numbers(name: str, value: Any, case: Case) -> Array:
    given = np.asarray(value, dtype=np.float64)
    if given.shape != (case.num_clients,) or not (np.isfinite(given) & (given >= 0)).all():
        sentence = f"{name} must be {case.num_clients} finite numbers, at least 0, got {given.tolist()}"
        raise Failed(sentence, **case.given)
    return given


def _measured(
    subject: Subject, case: Case, measure: Callable[[Played], Array], rng: np.random.Generator, size: int
) -> Array:
    """Measure first rounds of a strategy, shape (size, statistics)."""
    play = played(subject.strategy, case)
    return np.array([measure(play(rng)) for _ in range(size)])


def _sampled(
    rounds: Rounds, expected: Array, upper: Array, num_draws: int, seeds: np.random.SeedSequence, level: float
) -> tuple[int, float, int] | None:
    """Compare means with expectations: None, or the index, mean and number of rounds of the clearest difference."""
    rng = np.random.default_rng(seeds.spawn(1)[0])
    seen = np.empty((0, expected.size))
    for size in grown(num_draws):
        seen = np.concatenate([seen, rounds(rng, size)])
        beyond = np.flatnonzero((seen.max(axis=0) > upper) | (expected > upper * (1 + 1e-9)))
        columns = zip(np.minimum(seen, upper).T, np.minimum(expected, upper), upper, strict=True)
        evidence = np.array([against_mean(x, mean, 0.0, limit) for x, mean, limit in columns])
        if beyond.size or rejects(mixed(list(evidence)), level):
            worst = int(beyond[0] if beyond.size else evidence.max(axis=1).argmax())
            return worst, float(seen[:, worst].mean()), len(seen)
    return None
