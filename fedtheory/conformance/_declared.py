"""What a strategy says of itself: that the engine can run it, how often it takes clients, and how it weighs them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fedtheory._validate import Array
from fedtheory.conformance._manners import Cases, Subject
from fedtheory.conformance._patience import Broken
from fedtheory.conformance._selecting import Case, played
from fedtheory.conformance._selection_laws import RandomCheck, grown
from fedtheory.engine.play import Played
from fedtheory.engine.simulation import fedavg
from fedtheory.evidence import against_mean, mixed, rejects
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Moments, Scheduled

__all__ = ["checks", "contract"]

_LARGEST = 16.0
"""How many times ``E omega^2 / E omega`` a coefficient may be; those of two values 0 and c are c themselves."""

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

    one, two = (subject.watch.call(run, threads, case=case.given) for threads in (1, 2))
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
    for case in some:
        expected = _asked(
            subject, subject.strategy.inclusion_probabilities, case, case.weights.copy(), case.losses.copy()
        )
        if expected is None:
            continue
        p = _numbers("inclusion_probabilities", expected, case)
        most = float(case.num_clients if not subject.copies else max(p.sum().round(), p.max()))
        upper = most if subject.copies else 1.0

        def copies(play: Played, size: int = case.num_clients) -> Array:
            return np.bincount(play.chosen, minlength=size).astype(np.float64)

        found = _sampled(subject, case, copies, p, upper, num_draws, seeds, level / len(some))
        if found is not None:
            k, mean, count = found
            sentence = f"declares that client {k} is taken {p[k]:.4g} times a round, and takes it {mean:.4g} times"
            raise Broken(f"{sentence} on average of {count} rounds", **case.given)


def _moments(subject: Subject, some: list[Case], num_draws: int, seeds: np.random.SeedSequence, level: float) -> None:
    for case in some:
        law = _asked(subject, subject.strategy.law, case, case.weights.copy())
        if isinstance(law, Scheduled):
            law = law.over(1)[0]
        if law is None:
            continue
        expected, second = _expected(law, case)
        upper = _LARGEST * max(1.0, second)
        size = case.num_clients
        pairs = expected.size > size

        def products(play: Played, size: int = size, pairs: bool = pairs) -> Array:
            omega: Array = np.bincount(play.chosen, weights=play.coefficients, minlength=size).astype(np.float64)
            return np.concatenate([omega, np.outer(omega, omega)[np.triu_indices(size)]]) if pairs else omega

        found = _sampled(subject, case, products, expected, upper, num_draws, seeds, level / len(some))
        if found is not None:
            i, mean, count = found
            raise Broken(
                f"declares a {_moment(i, size)} of {expected[i]:.4g}, and {count} rounds have {mean:.4g}", **case.given
            )


def _expected(law: Any, case: Case) -> tuple[Array, float]:
    """Return the declared means, with second moments if they are declared, and the largest ``E omega^2 / E omega``."""
    if not isinstance(law, Moments):
        mean = law.mean if hasattr(law, "mean") else law.frequencies(case.losses.copy())
        return _numbers("law", mean, case), 1.0
    mean, delta = _numbers("law", law.mean, case), np.asarray(law.delta)
    products = law.alpha * np.outer(mean, mean) + np.diag(delta)
    ratio = float((np.diag(products)[mean > 0] / mean[mean > 0]).max(initial=0.0))
    return np.concatenate([mean, products[np.triu_indices(mean.size)]]), max(ratio, ratio**2)


def _moment(i: int, size: int) -> str:
    if i < size:
        return f"mean coefficient of client {i}"
    rows, columns = np.triu_indices(size)
    return f"mean product of the coefficients of clients {rows[i - size]} and {columns[i - size]}"


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


def _sampled(
    subject: Subject,
    case: Case,
    measure: Callable[[Played], Array],
    expected: Array,
    upper: float,
    num_draws: int,
    seeds: np.random.SeedSequence,
    level: float,
) -> tuple[int, float, int] | None:
    """Compare means with what is expected: None, or which one differs most clearly, its mean, and after how many."""
    play, rng = played(subject.strategy, subject.watch, case), np.random.default_rng(seeds.spawn(1)[0])
    seen: list[Array] = []
    for size in grown(num_draws):
        seen += [measure(play(rng)) for _ in range(size)]
        samples = np.array(seen)
        if samples.max() > upper * (1 + 1e-9) or expected.max() > upper:
            worst = int(samples.max(axis=0).argmax())
            return worst, float(samples[:, worst].mean()), len(seen)
        clipped = np.clip(samples, 0.0, upper)
        evidence = [against_mean(clipped[:, i], min(expected[i], upper), 0.0, upper) for i in range(expected.size)]
        if rejects(mixed(evidence), level):
            worst = int(np.argmax([row.max() for row in evidence]))
            return worst, float(samples[:, worst].mean()), len(seen)
    return None
