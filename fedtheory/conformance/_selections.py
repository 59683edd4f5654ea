"""Deterministic checks of selections: what a round returns, and what it may change or depend on."""

# mypy: allow-untyped-calls

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array, Mask
from fedtheory.conformance import _checks
from fedtheory.conformance._checks import Failed, ask, children, generator, named
from fedtheory.engine.play import Played, play_round
from fedtheory.sampling.cohorts import Selection
from fedtheory.selection.availability import update_weights
from fedtheory.selection.rules import Rules, Strategy, checked_strategy, client_numbers, rules_of

Draw = Callable[[np.random.Generator], Selection]
"""Function that draws the clients of one round, in increasing order with copies."""


@dataclass(frozen=True, eq=False)
class Case:
    """Input of a selection: weights and losses, shape (K,) each."""

    weights: Array
    losses: Array

    @property
    def num_clients(self) -> int:
        """K."""
        return self.losses.size

    @property
    def given(self) -> dict[str, Any]:
        """The case by name, for messages."""
        return {"weights": self.weights, "losses": self.losses}

    def renamed(self, order: npt.NDArray[np.intp]) -> "Case":
        """Return the case with renumbered clients: client j was ``order[j]`` before."""
        return Case(self.weights[order], self.losses[order])


def of_function(function: Callable[..., Any], case: Case) -> Draw:
    """Return the draw of a function ``(rng, weights, losses) -> client numbers``."""

    def draw(rng: np.random.Generator) -> Selection:
        arguments = (rng, case.weights.copy(), case.losses.copy())
        answer = ask(function, *arguments, case=case.given)
        return clients_in(answer, case)

    return draw


def clients_in(answer: object, case: Case) -> Selection:
    """Return an answer as clients in increasing order; raise ``Failed`` if it is no list of clients."""
    try:
        clients = client_numbers(answer)
    except TypeError as error:
        raise Failed(str(error), **case.given) from error
    if not clients.size:
        return ()
    chosen = tuple(sorted(clients.tolist()))
    if chosen[0] < 0 or chosen[-1] >= case.num_clients:
        wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
        raise Failed(f"clients must be in 0..{case.num_clients - 1}, got {wrong}", **case.given).of("range")
    return chosen


def of_strategy(strategy: Strategy, case: Case) -> Draw:
    """Return the draw of a strategy's first round, with the losses of the case."""
    play = played(strategy, case)
    return lambda rng: clients_in(play(rng).chosen, case)


def played(strategy: Strategy, case: Case) -> Callable[[np.random.Generator], Played]:
    """Return a function that plays a first round; the norms of the updates increase with the losses."""
    rules = ask(rules_of, strategy, case.weights, 1, case=case.given)
    with np.errstate(over="ignore"):
        updates = np.minimum(np.sqrt(np.abs(case.losses)), 1e9)[:, None]

    def first_round(rng: np.random.Generator) -> Played:
        present, weights = _attend(rules, case, rng)
        memory = rules.memory.copy()
        round_ = play_round(rules, memory, weights, 0, rng, case.losses.__getitem__, updates.__getitem__)
        here = present[round_.chosen]
        return round_._replace(chosen=round_.chosen[here], coefficients=round_.coefficients[here])

    return lambda rng: ask(first_round, rng, case=case.given)


def _attend(rules: Rules, case: Case, rng: np.random.Generator) -> tuple[Mask, Array]:
    """Return the mask of the available clients, and the weights as the rules see them."""
    mask, weights = np.ones(case.num_clients, dtype=bool), np.empty(case.num_clients)
    if rules.attend is not None:
        rules.attend(0, rules.attend_table, rules.attend_memory.copy(), rng, mask)
    update_weights(mask, case.weights, weights)
    return mask, weights


_NUM_SEEDS = 40
"""Number of seeds per case; a fault in one of ten draws stays hidden in 40 draws with probability 1.5%."""

Sizes = frozenset[int] | None
Cases = dict[str, Case]


@dataclass(frozen=True, eq=False)
class Subject:
    """A selection under check, which is either a strategy or a function; the other one is None.

    ``prepare`` maps a case to the draw of one round. ``copies`` is true if the selection may draw copies of a client.
    """

    name: str
    prepare: Callable[[Case], Draw]
    strategy: Any
    function: Any
    copies: bool

    def most_copies(self, expected: Array) -> float:
        """Return how often a client can be selected in a round: with copies, as often as there are selected clients."""
        return max(1.0, float(expected.sum().round())) if self.copies else 1.0


def subject_of(strategy: Any, copies: bool) -> Subject:
    """Distinguish strategies, which have rules, from functions."""
    checked = checked_strategy(strategy)
    if checked is not strategy:
        return Subject(named(strategy), partial(of_function, strategy), None, strategy, copies)
    multinomial = getattr(getattr(strategy, "scheme", None), "selection", "") == "multinomial"
    return Subject(named(strategy), partial(of_strategy, strategy), strategy, None, copies or multinomial)


def cases(num_clients: int, weights: Array | None = None) -> Cases:
    """Return weights and losses in general position, equal, tied, extreme, and with a client of weight zero."""
    places = np.arange(num_clients, dtype=np.float64)
    p, equal = _shares(num_clients) if weights is None else weights, np.full(num_clients, 1 / num_clients)
    # Multiples of the golden ratio are in no order that sorting produces.
    losses = np.argsort((places + 1) * 0.6180339887 % 1).astype(np.float64) + 1.0
    fixed = weights is not None
    without = np.where(places == num_clients // 2, 0.0, p)
    huge = np.resize([1e300, -1e300, 1e-300, 0.0, 5e-324, 1.0], num_clients)
    found = {
        "plain": Case(p, losses),
        "equal weights": Case(p if fixed else equal, losses),
        "all tied": Case(p, np.ones(num_clients)),
        "some tied": Case(p if fixed else equal, np.asarray(1.0 + places % 2, dtype=np.float64)),
        "all equal": Case(equal, np.ones(num_clients)),
        "zero weight": Case(without / without.sum(), losses),
        "extreme": Case(p, huge),
        "negative": Case(p, -losses),
    }
    return {name: case for name, case in found.items() if not (fixed and name in ("all equal", "zero weight"))}


def _shares(num_clients: int) -> Array:
    """Return slowly decreasing weights with few digits."""
    rough = 1.0 / (np.arange(num_clients) + 1.5)
    shares: Array = (rough / rough.sum()).round(1 + len(str(num_clients)))
    shares[0] = 1.0 - shares[1:].sum()
    return shares.round(1 + len(str(num_clients)))


def checks(subject: Subject, known: Cases, sizes: Sizes, seeds: np.random.SeedSequence) -> dict[str, Callable[[], Any]]:
    """Return the checks by name."""
    usual = [known["plain"], known["equal weights"]]
    ties = [known[name] for name in ("all tied", "some tied", "all equal") if name in known]
    general = [*usual, known["negative"]]
    sound = partial(_sound, subject, sizes=sizes, seeds=seeds)
    made: dict[str, Callable[[], Any]] = {
        "runs": partial(_run, subject, known["plain"], seeds, 1),
        "range": partial(_run, subject, known["plain"], seeds, _NUM_SEEDS),
        "count": partial(sound, usual, only="count"),
        "duplicates": partial(sound, usual, only="duplicates"),
        "inputs": partial(_inputs, subject, general, seeds),
        "own answers": partial(_own_answers, subject, known["plain"], seeds),
        "same generator": partial(_same_generator, subject, general, seeds),
        "other randomness": partial(_other_randomness, subject, known["plain"], seeds),
        "history": partial(_history, subject, known, seeds),
        "ties": partial(sound, ties),
        "zero weights": partial(_zero_weights, subject, known, sizes, seeds),
        "extreme losses": partial(sound, [known["negative"], known["extreme"]]),
    }
    left_out = {
        "count": sizes is None,
        "duplicates": subject.copies,
        "zero weights": "zero weight" not in known,
        "inputs": subject.function is None,
        "own answers": subject.function is None,
    }
    return {name: work for name, work in made.items() if not left_out.get(name, False)}


def _run(subject: Subject, case: Case, seeds: np.random.SeedSequence, count: int) -> list[Selection]:
    draw = subject.prepare(case)
    return [draw(generator(seed)) for seed in children(seeds, count)]


def _sound(subject: Subject, some: list[Case], sizes: Sizes, seeds: np.random.SeedSequence, only: str = "") -> None:
    for case in some:
        for chosen in _run(subject, case, seeds, _NUM_SEEDS):
            if only != "duplicates" and sizes is not None and len(chosen) not in sizes:
                wanted = " or ".join(map(str, sorted(sizes)))
                raise Failed(
                    f"must select {wanted} of the {case.num_clients} clients, got {len(chosen)}: {list(chosen)}",
                    **case.given,
                )
            if only != "count" and not subject.copies and len(set(chosen)) < len(chosen):
                raise Failed(f"must not select a client twice, got {list(chosen)}", **case.given)


def _inputs(subject: Subject, some: list[Case], seeds: np.random.SeedSequence) -> None:
    for case in some:
        for seed in children(seeds, 5):
            _checks.leaves_inputs(subject.function, {"rng": generator(seed), **case.given}, case.given)


def _own_answers(subject: Subject, case: Case, seeds: np.random.SeedSequence) -> None:
    """Check that earlier answers do not change when later ones are returned."""
    answers = []
    for seed in children(seeds, 8):
        arguments = (generator(seed), case.weights.copy(), case.losses.copy())
        answer = ask(subject.function, *arguments, case=case.given)
        answers.append((answer, np.array(answer)) if isinstance(answer, np.ndarray | list) else (0, np.array(0)))
    for answer, before in answers:
        if not np.array_equal(np.asarray(answer), before):
            raise Failed(f"an answer must not change later, {before.tolist()} became {np.asarray(answer).tolist()}")


def _same_generator(subject: Subject, some: list[Case], seeds: np.random.SeedSequence) -> None:
    for case in some:
        _checks.same_generator(subject.prepare(case), seeds, case.given)


def _other_randomness(subject: Subject, case: Case, seeds: np.random.SeedSequence) -> None:
    _checks.other_randomness(subject.prepare(case), seeds, case.given)


def _history(subject: Subject, known: Cases, seeds: np.random.SeedSequence) -> None:
    """Draw for other weights and losses in between."""
    case, other = known["plain"], known["some tied"]
    draw, between = subject.prepare(case), subject.prepare(other)
    for seed in children(seeds, 10):
        first = draw(generator(seed))
        for _ in range(3):
            between(generator(seed))
        again = draw(generator(seed))
        if first != again:
            sentence = (
                f"the result must not depend on earlier calls, got {list(first)} and, after other calls, {list(again)}"
            )
            raise Failed(sentence, **case.given)


def _zero_weights(subject: Subject, known: Cases, sizes: Sizes, seeds: np.random.SeedSequence) -> None:
    """Accept a ValueError as well: there may be too few clients of positive weight."""
    try:
        _sound(subject, [known["zero weight"]], sizes, seeds)
    except Failed as broken:
        if not isinstance(broken.__cause__, ValueError):
            raise
