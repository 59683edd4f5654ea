"""Random checks of a selection: renumbered clients, fair ties, and an exact law."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.conformance._checks import Failed
from fedtheory.conformance._joint_laws import joint_law
from fedtheory.conformance._selections import Case, Cases, Subject, cases
from fedtheory.sampling.cohorts import Selection
from fedtheory.selection.rules import Strategy
from fedtheory.statistics.evidence import against_equality, against_law, against_mean, mixed, rejects
from fedtheory.statistics.law import Law

_SECONDS = 5.0
"""Seconds of drawing for one case; slow code gets fewer draws at the same level."""

_MANY = 300
"""Number of clients above which NumPy's partition does not sort all entries, so that misuse becomes visible."""

_CASES = ("plain", "some tied", "all equal", "zero weight", "extreme")

RandomCheck = Callable[[np.random.SeedSequence, float], None]


def checks(subject: Subject, known: Cases, like: Strategy | None, num_draws: int) -> dict[str, RandomCheck]:
    """Return the random checks by name; each takes seeds and a level."""
    made: dict[str, RandomCheck] = {}
    if "all equal" in known:  # clients with fixed weights cannot be renumbered
        made["relabeling"] = partial(_relabeling, subject, [known["plain"], known["negative"]], num_draws)
        made["fair ties"] = partial(_relabeling, subject, [known["all equal"], known["some tied"]], num_draws)
    if like is not None:
        made["joint law"] = partial(_joint, subject, known, like, num_draws)
        if "all equal" in known and callable(getattr(like, "inclusion_probabilities", None)):
            made["many clients"] = partial(_many, subject, like, num_draws // 4)
    return made


def grown(num_draws: int) -> Iterator[int]:
    """Yield batch sizes that double the number of draws, up to all of them, until the time is up."""
    started, drawn = time.monotonic(), 0
    while drawn < num_draws and time.monotonic() - started < _SECONDS:
        size = min(max(drawn, 125), num_draws - drawn)
        drawn += size
        yield size


def _relabeling(
    subject: Subject, some: Sequence[Case], num_draws: int, seeds: np.random.SeedSequence, level: float
) -> None:
    """Compare draws with draws under two renumberings (reversed, exchanged halves); each gets half of the draws."""
    clients = np.arange(some[0].num_clients)
    orders = [clients[::-1], np.roll(clients, clients.size // 2)]
    for case, order in zip(some, orders, strict=True):
        _equal_under(subject, case, order, num_draws // 2, seeds, level / len(some))


def _equal_under(
    subject: Subject, case: Case, order: npt.NDArray[np.intp], most: int, seeds: np.random.SeedSequence, level: float
) -> None:
    draw, renamed = subject.prepare(case), subject.prepare(case.renamed(order))
    rngs = [np.random.default_rng(seed) for seed in seeds.spawn(2)]
    first: list[Selection] = []
    second: list[Selection] = []
    for size in grown(most):
        first += [draw(rngs[0]) for _ in range(size)]
        drawn = [renamed(rngs[1]) for _ in range(size)]
        second += [tuple(sorted(int(order[j]) for j in chosen)) for chosen in drawn]
        if rejects(_different(first, second, case.num_clients), level):
            k, one, two = _most_different(first, second, case.num_clients)
            sentence = (
                f"renumbering must not change the selection: in {len(first)} draws client {k} was selected {one} "
                f"times, and {two} times as client {int(np.flatnonzero(order == k)[0])}"
            )
            raise Failed(sentence, **case.given)


def _different(first: list[Selection], second: list[Selection], num_clients: int) -> Array:
    """Return evidence from the whole selection and from each client's copies; each kind has half of the capital."""
    one_by_one = [
        against_equality([chosen.count(k) for chosen in first], [chosen.count(k) for chosen in second])
        for k in range(num_clients)
    ]
    return mixed([against_equality(first, second), mixed(one_by_one)])


def _most_different(first: list[Selection], second: list[Selection], num_clients: int) -> tuple[int, int, int]:
    one, two = ([sum(chosen.count(k) for chosen in draws) for k in range(num_clients)] for draws in (first, second))
    k = max(range(num_clients), key=lambda k: abs(one[k] - two[k]))
    return k, one[k], two[k]


def _joint(
    subject: Subject, known: Cases, like: Strategy | None, num_draws: int, seeds: np.random.SeedSequence, level: float
) -> None:
    """Compare draws with the exact joint law in every case in which the strategy has one."""
    laws = [(known[name], _law_or_none(like, known[name])) for name in _CASES if name in known]
    for case, law in laws:
        if law is not None:
            _has_law(subject, case, law, num_draws, seeds, level / len(laws))


def _law_or_none(like: Strategy | None, case: Case) -> Law[Selection] | None:
    """Return the law, or None if there are too few clients of positive weight for the strategy."""
    try:
        return joint_law(like, case.weights, case.losses)
    except ValueError:
        return None


def _many(subject: Subject, like: Any, most: int, seeds: np.random.SeedSequence, level: float) -> None:
    """Compare the selection frequencies of many clients; partial sorting is only visible there."""
    case = cases(_MANY)["plain"]
    try:
        expected = np.asarray(like.inclusion_probabilities(case.weights, case.losses), dtype=np.float64)
    except ValueError:  # the strategy requires another number of clients
        return
    upper = subject.most_copies(expected)
    draw, rng = subject.prepare(case), np.random.default_rng(seeds.spawn(1)[0])
    copies = np.empty((0, _MANY))
    for size in grown(most):
        drawn = [np.bincount(list(draw(rng)), minlength=_MANY) for _ in range(size)]
        copies = np.concatenate([copies, np.minimum(drawn, upper)])
        evidence = against_mean(copies, np.minimum(expected, upper), 0.0, upper)
        if rejects(mixed(list(evidence.T)), level):
            k = int(evidence.max(axis=0).argmax())
            sentence = f"must select client {k} of {_MANY} {expected[k]:.4g} times per round on average"
            found = f"{copies[:, k].sum():g} times in {len(copies)} rounds"
            raise Failed(f"{sentence}, got {found}", num_clients=_MANY, weight=case.weights[k], loss=case.losses[k])


def _has_law(
    subject: Subject, case: Case, law: Law[Selection], most: int, seeds: np.random.SeedSequence, level: float
) -> None:
    draw, rng = subject.prepare(case), np.random.default_rng(seeds.spawn(1)[0])
    chosen: list[Selection] = []
    for size in grown(most):
        chosen += [draw(rng) for _ in range(size)]
        if rejects(_unlike(chosen, law, case.num_clients), level):
            raise Failed(_format_mismatch(chosen, law), **case.given)


def _unlike(chosen: list[Selection], law: Law[Selection], num_clients: int) -> Array:
    one_by_one = [
        against_law([clients.count(k) for clients in chosen], law.map(lambda clients, k=k: clients.count(k)))  # type: ignore[misc]
        for k in range(num_clients)
    ]
    return mixed([against_law(chosen, law), mixed(one_by_one)])


def _format_mismatch(chosen: list[Selection], law: Law[Selection]) -> str:
    impossible = next((clients for clients in chosen if clients not in law), None)
    if impossible is not None:
        return f"must never select {list(impossible)}, got it within {len(chosen)} draws"
    counts = Counter(chosen)

    def excess(clients: Selection) -> float:
        expected = len(chosen) * float(law[clients])
        return abs(counts[clients] - expected) / float(np.sqrt(expected))

    worst = max(law, key=excess)
    return (
        f"must select {list(worst)} with probability {float(law[worst]):.4g}, "
        f"got it {counts[worst]} times in {len(chosen)} draws"
    )
