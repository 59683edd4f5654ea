"""Checks of functions that divide the rows of a data set among clients."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.conformance._checks import FALSE_ALARMS, Check, Failed, Kit, ask, children, excused, generator, seeded
from fedtheory.statistics.evidence import against_law, rejects
from fedtheory.statistics.law import Law

__all__ = ["check_partition"]

_NUM_DRAWS = 200
Shares = Literal["clients", "capped clients", "classes"]
Rows = npt.NDArray[np.int64]


@Kit
def check_partition(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    iid: bool = False,
    equal: bool = False,
    complete: bool = True,
    law: Shares | None = None,
    concentration: float | None = None,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    """Check a function ``(rng, labels, num_clients) -> rows of each client``.

    The checks: ``runs``, ``parts``, ``range``, ``no row twice``, and with the options ``every row``, ``equal sizes``,
    ``any client``, ``any neighbors`` and ``shares``; then ``no empty client``, ``inputs`` and ``same generator``. The
    probability that correct code fails is at most 1e-6.

    Parameters
    ----------
    function
        A function of a ``numpy.random.Generator``, labels, shape (N,), and the number of clients K that returns K
        arrays of row numbers.
    rng
        Seed or SeedSequence of the random checks.
    iid
        Whether the parts must be uniformly random, so that every row is equally likely in every place; slices of data
        sorted by label violate this. It is checked only if the sizes of the parts do not vary.
    equal
        Whether the sizes of the parts must differ by at most one.
    complete
        Whether every row must be in a part.
    law
        Law of the shares, from the symmetric Dirichlet law with the parameter ``concentration`` (from 0.1); None for no
        such claim. ``"clients"``: each class is divided by shares over the clients. ``"capped clients"``: in the order
        of the classes, clients with N/K rows get no more, and the shares of the others are rescaled. ``"classes"``:
        each client has its own shares of the classes. The last law is exact only for code that leaves rows out, since
        code that assigns all rows must give clients other classes than they drew.
    concentration
        Concentration of the Dirichlet law, given together with ``law``.
    exceptions
        Names of checks to skip, each with the reason.

    Examples
    --------
    >>> def drawn(rng, labels, num_clients):
    ...     return np.array_split(rng.permutation(len(labels)), num_clients)
    >>> check_partition(drawn, iid=True).holds
    True
    """
    made = _Partition(validate.function("function", function, "a generator, labels and a number of clients"))
    seeds = validate.seed_sequence(rng)
    sure: dict[str, Demand] = {"runs": _runs, "parts": _runs, "range": _in_range, "no row twice": _once}
    sure |= {"every row": _every_row} if validate.boolean("complete", complete) else {}
    sure |= {"equal sizes": _equal} if validate.boolean("equal", equal) else {}
    sure |= {"no empty client": _filled, "inputs": _inputs, "same generator": _again}
    checks = seeded({name: partial(_each, demand, made) for name, demand in sure.items()}, seeds)
    random: dict[str, Callable[..., None]] = {}
    if validate.boolean("iid", iid):
        random |= {"any client": _any_client, "any neighbors": _any_neighbors}
    if (law is None) != (concentration is None):
        message = f"law and concentration must be given together, got {law!r} and {concentration}"
        raise ValueError(message)
    if law is not None:
        validate.choice("law", law, get_args(Shares))
        random["shares"] = partial(_shares, law=law, concentration=_concentration(concentration))
    drawn = {name: partial(work, made) for name, work in random.items()}
    return excused([*checks, *seeded(drawn, seeds, FALSE_ALARMS / max(len(drawn), 1))], exceptions)


class _Case(NamedTuple):
    """Sorted labels, as in many files, and a number of clients."""

    num_rows: int
    num_clients: int

    @property
    def labels(self) -> Rows:
        return np.sort(np.arange(self.num_rows) % 3)

    @property
    def given(self) -> dict[str, Any]:
        return {"num_rows": self.num_rows, "num_clients": self.num_clients}


# In increasing size, since the first failure is reported. Some numbers of rows are no multiple of the clients.
_CASES = (_Case(3, 1), _Case(4, 2), _Case(4, 3), _Case(12, 4), _Case(31, 7), _Case(100, 10))
_RANDOM_CASE = _Case(12, 3)


class _Partition(NamedTuple):
    """The function under check."""

    function: Callable[..., Any]

    def parts(self, case: _Case, seeds: np.random.SeedSequence, labels: Rows | None = None) -> list[Rows]:
        """Return the rows of each client, which must be K arrays of integers."""
        labels = case.labels if labels is None else labels
        answer = ask(self.function, generator(seeds), labels, case.num_clients, case=case.given)
        try:
            arrays = [np.asarray(part) for part in answer]
        except (TypeError, ValueError) as error:
            raise Failed(
                f"must return a list of rows for each client, got {type(answer).__name__}", **case.given
            ) from error
        if len(arrays) != case.num_clients:
            raise Failed(f"must return {case.num_clients} parts, got {len(arrays)}", **case.given)
        for k, part in enumerate(arrays):
            if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
                raise Failed(
                    f"parts must be one-dimensional arrays of row numbers, got shape {part.shape} of {part.dtype} for "
                    f"client {k}",
                    **case.given,
                )
        return [part.astype(np.int64) for part in arrays]


Demand = Callable[[_Partition, _Case, np.random.SeedSequence], None]


def _each(demand: Demand, made: _Partition, seeds: np.random.SeedSequence) -> None:
    for case in _CASES:
        demand(made, case, seeds)


def _runs(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    made.parts(case, seeds)


def _in_range(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    for k, part in enumerate(made.parts(case, seeds)):
        outside = part[(part < 0) | (part >= case.num_rows)]
        if outside.size:
            raise Failed(f"rows must be in 0..{case.num_rows - 1}, got {outside[0]} for client {k}", **case.given)


def _once(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    rows, counts = np.unique(np.concatenate(made.parts(case, seeds)), return_counts=True)
    if counts.size and counts.max() > 1:
        row = rows[counts.argmax()]
        raise Failed(f"must put no row into parts twice, got row {row} {counts.max()} times", **case.given)


def _every_row(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    lost = case.num_rows - len(set(np.concatenate(made.parts(case, seeds)).tolist()) & set(range(case.num_rows)))
    if lost:
        raise Failed(f"must put every row into a part, got {lost} of {case.num_rows} rows in no part", **case.given)


def _equal(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    sizes = [part.size for part in made.parts(case, seeds)]
    if max(sizes) - min(sizes) > 1:
        raise Failed(f"sizes of parts must differ by at most 1, got {min(sizes)} and {max(sizes)}", **case.given)


def _filled(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    empty = [k for k, part in enumerate(made.parts(case, seeds)) if not part.size]
    if empty:
        raise Failed(f"every client must have a row, got none for client {empty[0]}", **case.given)


def _inputs(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    before = case.labels[::-1].copy()  # not sorted, since sorting in place must be detected
    labels = before.copy()
    made.parts(case, seeds, labels)
    if not np.array_equal(labels, before):
        raise Failed(f"must leave labels unchanged, got {labels.tolist()} afterwards", **case.given)


def _again(made: _Partition, case: _Case, seeds: np.random.SeedSequence) -> None:
    one, two = (made.parts(case, seeds) for _ in range(2))
    if not all(np.array_equal(a, b) for a, b in zip(one, two, strict=True)):
        raise Failed("must return the same parts for generators in the same state, got different ones", **case.given)


def _owners(made: _Partition, seeds: np.random.SeedSequence) -> Rows:
    """Return the client of every row, shape (draws, rows); no draws if rows are missing or sizes are random."""
    owners = np.full((_NUM_DRAWS, _RANDOM_CASE.num_rows), -1)
    sizes = set()
    for found, seed in zip(owners, children(seeds, _NUM_DRAWS), strict=True):
        parts = made.parts(_RANDOM_CASE, seed)
        sizes.add(tuple(part.size for part in parts))
        for k, part in enumerate(parts):
            found[part[(part >= 0) & (part < found.size)]] = k
    return owners if owners.min() >= 0 and len(sizes) == 1 else owners[:0]


def _any_client(made: _Partition, seeds: np.random.SeedSequence, level: float) -> None:
    """Demand that a row is with a client with a probability equal to the client's share of all rows."""
    owners, rows = _owners(made, seeds), (0, _RANDOM_CASE.num_rows - 1)
    shares = {int(k): Fraction(int(number), owners.shape[1]) for k, number in _counted(owners)}
    for row in rows if shares else ():
        found, law = owners[:, row].tolist(), Law(shares)
        if rejects(against_law(found, law), level / len(rows)):
            most = max(set(found), key=found.count)
            raise Failed(
                f"row {row} must be with client {most} with probability {float(shares[most]):.3g}, and was "
                f"{found.count(most)} times in {len(found)} draws",
                **_RANDOM_CASE.given,
            )


def _any_neighbors(made: _Partition, seeds: np.random.SeedSequence, level: float) -> None:
    """Demand that two neighbors are with the same client with the same probability as any two rows."""
    owners, n = _owners(made, seeds), _RANDOM_CASE.num_rows
    together = Fraction(sum(number * (number - 1) for _, number in _counted(owners)), n * (n - 1))
    if not 0 < together < 1:
        return  # nothing was drawn, or no two rows are together
    law = Law({True: together, False: 1 - together})
    pairs = list(pairwise(range(n)))
    for one, other in pairs:
        found = (owners[:, one] == owners[:, other]).tolist()
        if rejects(against_law(found, law), level / len(pairs)):
            raise Failed(
                f"rows {one} and {other} must be with one client with probability {float(together):.3g}, and were "
                f"{sum(found)} times in {len(found)} draws",
                **_RANDOM_CASE.given,
            )


def _counted(owners: Rows) -> list[tuple[int, int]]:
    """Return pairs (client, number of its rows), which are the same in every draw."""
    if not len(owners):
        return []
    clients, numbers = np.unique(owners[0], return_counts=True)
    return list(zip(clients.tolist(), numbers.tolist(), strict=True))


_CLASS_SIZES = (18_000, *[2_000] * 9)  # unequal, so that shares of clients do not look like shares of classes
_NUM_CLIENTS, _NUM_CALLS = 5, 40


def _concentration(value: Any) -> float:
    number = validate.double("concentration", validate.positive("concentration", value))
    if number < 0.1:
        message = f"concentration must be at least 0.1, below which rounding hides most shares, got {number:g}"
        raise ValueError(message)
    return number


def _shares(made: _Partition, seeds: np.random.SeedSequence, level: float, law: Shares, concentration: float) -> None:
    """Compare shares, known up to rounding, with ``Beta(a, (n - 1) a)`` by their numbers beyond quantiles."""
    from scipy.special import betainc
    from scipy.stats import binom

    labels = np.repeat(np.arange(len(_CLASS_SIZES)), _CLASS_SIZES)
    case = _Case(labels.size, _NUM_CLIENTS)
    observed: list[tuple[float, float, int]] = []
    for seed in children(seeds, _NUM_CALLS):
        parts = [part[(part >= 0) & (part < labels.size)] for part in made.parts(case, seed, labels.copy())]
        counts = np.array([np.bincount(labels[part], minlength=len(_CLASS_SIZES)) for part in parts])
        observed += _of_clients(counts) if law == "classes" else _of_classes(counts, law == "capped clients")
    found, slack, size = np.array(observed).T
    others = (size - 1) * concentration
    low, high = (betainc(concentration, others, np.clip(found + side * slack, 0, 1)) for side in (-1, 1))
    quantiles = (0.1, 0.25, 0.5, 0.75, 0.9)
    for q in quantiles:
        for number, probability, word in (((high < q).sum(), q, "below"), ((low > q).sum(), 1 - q, "above")):
            if binom.sf(number - 1, found.size, probability) < level / (2 * len(quantiles)):
                raise Failed(
                    f"shares must be {word} the {q:g}-quantile of Beta(a, (n - 1) a), a = {concentration:g}, with "
                    f"probability {probability:g}, and were {number} times in {found.size} draws",
                    class_sizes=_CLASS_SIZES,
                    num_clients=_NUM_CLIENTS,
                )


def _of_classes(counts: Rows, is_capped: bool) -> list[tuple[float, float, int]]:
    """Return, for each class, the share of the largest client that may get rows, its rounding, and their number."""
    observed, sizes = [], np.zeros(_NUM_CLIENTS, dtype=np.int64)
    for c, total in enumerate(_CLASS_SIZES):
        is_open = sizes * _NUM_CLIENTS < sum(_CLASS_SIZES) if is_capped else np.full(_NUM_CLIENTS, True)
        if (counts[~is_open, c] > 1).any():
            k = int(np.argmax(np.where(is_open, 0, counts[:, c])))
            raise Failed(
                f"a client with {sum(_CLASS_SIZES) // _NUM_CLIENTS} rows must get no more, got {counts[k, c]} rows of "
                f"class {c} for client {k} with {sizes[k]} rows",
                class_sizes=_CLASS_SIZES,
                num_clients=_NUM_CLIENTS,
            )
        if is_open.sum() > 1:
            # It depends on the past only, and given the past its share has the law of every open client.
            k = int(np.argmax(np.where(is_open, sizes, -1)))
            observed.append((counts[k, c] / total, 2 / total, int(is_open.sum())))
        sizes += counts[:, c]
    return observed


def _of_clients(counts: Rows) -> list[tuple[float, float, int]]:
    """Return, for each client, its share of the largest class, the deviation of rounding or sampling, and C."""
    sizes = np.maximum(counts.sum(axis=1), 1)
    # By Hoeffding's inequality a sampled share deviates more with probability 2e-9.
    slack: Array = len(_CLASS_SIZES) / sizes + 3.3 / np.sqrt(sizes)
    return [(row[0] / n, d, len(_CLASS_SIZES)) for row, n, d in zip(counts, sizes, slack, strict=True)]
