"""Client selection: what it returns, what it does to clients under other numbers, and the law that it draws from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.wording import short
from fedtheory.conformance import _declared, _interface, _selection_laws
from fedtheory.conformance._checks import FALSE_ALARMS, Check, conformance, named, seeds_of
from fedtheory.conformance._interface import Subject
from fedtheory.conformance._joint_laws import joint_law
from fedtheory.conformance._selecting import of_function, of_strategy
from fedtheory.conformance._selection_laws import RandomCheck
from fedtheory.conformance._timeouts import Watch
from fedtheory.conformance.results import Conformance
from fedtheory.selection.rules import Strategy
from fedtheory.statistics.law import Law

__all__ = ["check_strategy"]


def check_strategy(
    strategy: Strategy | Callable[..., Any],
    like: Strategy | None = None,
    rng: validate.RNGLike = 0,
    *,
    num_selected: int | None = None,
    num_clients: int = 6,
    weights: npt.ArrayLike | None = None,
    exceptions: Mapping[str, str] | None = None,
    num_draws: int = 2000,
    patience: float = 60.0,
) -> Conformance:
    r"""Check a client selection, a strategy of fedtheory or any function ``(rng, weights, losses) -> client numbers``.

    Right code is refused with probability at most 1e-6 per call: random checks are sequential tests
    (``fedtheory.statistics.evidence``) that share this probability, whatever the number of draws at which they stop.

    Parameters
    ----------
    strategy
        A strategy; or a function of a ``numpy.random.Generator``, weights and losses, shape (K,) each, that returns the
        numbers of the selected clients.
    like
        A strategy of this package: the joint law of the selected set is compared with its exact one
        (``fedtheory.conformance.joint_law``).
    rng
        Seed or SeedSequence.
    num_selected
        How many clients a function must select; by default what ``like`` selects, else whatever it likes.
    num_clients
        K of the cases.
    weights
        The only weights that fit, shape (K,), for code that knows its clients; what compares clients is left out then.
    exceptions
        Names of checks to leave out, each with its reason.
    num_draws
        Most draws for each case of a random check.
    patience
        Seconds that one call may take.

    Returns
    -------
    Conformance

    Raises
    ------
    TypeError, ValueError
        If ``like`` is a strategy whose joint law is not known, or an argument makes no sense. What is wrong with
        ``strategy`` never raises: it is a failure.

    Notes
    -----
    The checks, each for weights and losses in general position, equal, tied, extreme, and with a zero weight where that
    applies: ``runs``, ``range``, ``count``, ``duplicates``, ``inputs``, ``own answers``, ``same generator``,
    ``other randomness``, ``history``, ``ties``, ``zero weights``, ``extreme losses``; ``relabeling`` and ``fair ties``,
    which compare what happens to clients under other numbers; of strategies ``contract`` (a run of the engine),
    ``declared inclusion`` and ``declared moments`` (what ``inclusion_probabilities`` and ``law`` promise; that no
    coefficient is more than twice the largest of 125 first rounds is taken for granted); with ``like``, ``joint law``,
    and ``many clients``: of 300, each as often as ``like`` selects it. Deviations of a probability by
    ``5 / sqrt(num_draws)`` or so are found, smaller ones may pass.

    Examples
    --------
    Somebody selects places in the list of candidates instead of the candidates.

    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> def places(rng, weights, losses):
    ...     candidates = rng.choice(len(weights), 3, replace=False, p=weights)
    ...     return np.argsort(-losses[candidates])[:1]
    >>> found = check_strategy(places, like=PowerOfChoice(1, 3))
    >>> found.holds, [failure.check for failure in found.failures]
    (False, ['relabeling', 'fair ties', 'joint law', 'many clients'])
    """
    checks = strategy_checks(
        strategy, like, rng, num_selected=num_selected, num_clients=num_clients, weights=weights,
        num_draws=num_draws, patience=patience,
    )  # fmt: skip
    return conformance(named(strategy), checks, exceptions or {})


def strategy_checks(
    strategy: Strategy | Callable[..., Any],
    like: Strategy | None = None,
    rng: validate.RNGLike = 0,
    *,
    num_selected: int | None = None,
    num_clients: int = 6,
    weights: npt.ArrayLike | None = None,
    num_draws: int = 2000,
    patience: float = 60.0,
) -> list[Check]:
    """Return the checks that ``check_strategy`` makes, to be made one by one; the arguments are the same.

    Parameters
    ----------
    strategy, like, rng, num_selected, num_clients, weights, num_draws, patience
        As of ``check_strategy``.

    Returns
    -------
    list[Check]
        In the order in which they are made; each is called without arguments.

    Raises
    ------
    TypeError
        If the joint law of ``like`` is not known.
    ValueError
        If the weights are no probabilities, a count is too small, or ``patience`` is not positive.

    Examples
    --------
    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> [check.name for check in strategy_checks(PowerOfChoice(1, 3))][:2]
    ['contract', 'runs']
    """
    own = None if weights is None else validate.probability_vector("weights", weights)
    cases = _interface.cases(validate.size("num_clients", num_clients, 2), own)
    law = None if like is None else joint_law(like, cases["plain"].weights, cases["plain"].losses)
    subject = _subject(strategy, Watch(validate.positive("patience", patience)), law)
    seeds, draws = validate.seed_sequence(rng), validate.size("num_draws", num_draws, 2)
    plain = _interface.checks(subject, cases, _sizes(law, num_selected), seeds)
    random = _selection_laws.checks(subject, cases, like, draws)
    if subject.strategy is not None:
        plain = _declared.contract(subject, cases) | plain
        random |= _declared.checks(subject, cases, draws)
    level = FALSE_ALARMS / max(len(random), 1)
    return [Check(name, work, subject.watch) for name, work in plain.items()] + [
        Check(name, partial(_at_random, work, name, seeds, level), subject.watch) for name, work in random.items()
    ]


def _at_random(work: RandomCheck, name: str, seeds: np.random.SeedSequence, level: float) -> None:
    work(seeds_of(seeds, name), level)


def _subject(strategy: Any, watch: Watch, law: Law[Any] | None) -> Subject:
    """Tell strategies, which have rules, from functions."""
    copies = law is not None and any(len(set(clients)) < len(clients) for clients in law)
    if not isinstance(strategy, type) and callable(getattr(strategy, "rules", None)):
        multinomial = getattr(getattr(strategy, "scheme", None), "selection", "") == "multinomial"
        prepare = partial(of_strategy, strategy, watch)
        return Subject(named(strategy), watch, prepare, strategy, None, copies or multinomial)
    if isinstance(strategy, type) or not callable(strategy):
        got = f"the class {strategy.__name__}" if isinstance(strategy, type) else short(strategy)
        message = f"strategy must be a strategy or a function (rng, weights, losses), got {got}"
        raise TypeError(message)
    return Subject(named(strategy), watch, partial(of_function, strategy, watch), None, strategy, copies)


def _sizes(law: Law[Any] | None, num_selected: int | None) -> frozenset[int] | None:
    """Return the sizes that a selection may have; None if that is not known."""
    if num_selected is not None:
        return frozenset({validate.count("num_selected", num_selected)})
    return None if law is None else frozenset(map(len, law))
