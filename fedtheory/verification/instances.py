"""Instances of a claim, drawn from a seed or read from a choice sequence."""

import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory._support import validate
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding

__all__ = ["regression_examples", "replay", "reproduce"]

EXAMPLE = -1
"""Number of the regression example, which is stored with the package."""


@cache
def regression_examples() -> Mapping[str, tuple[float, ...]]:
    """Return the choice sequence of the worst known instance of each inequality, by key of the claim.

    It has numbers between 0 and 1, in the order in which the check reads them.

    >>> all(0 <= number < 1 for choices in regression_examples().values() for number in choices)
    True
    """
    text = files("fedtheory.claims").joinpath("regression_examples.json").read_text(encoding="utf-8")
    return MappingProxyType({key: tuple(choices) for key, choices in json.loads(text).items()})


def reproduce(claim: Claim, rng: validate.RNGLike, index: int) -> Finding:
    """Check one numbered instance of a claim, -1 for the regression example, again with the seed of its verdict.

    Exceptions of the check are raised.

    >>> from fedtheory.claims.catalogue import one_claim
    >>> reproduce(one_claim("power-of-choice:lemma-b1"), rng=0, index=3).holds
    True
    """
    if validate.count("index", index, EXAMPLE) == EXAMPLE:
        examples = regression_examples()
        if claim.key not in examples:
            message = f"claim must be one with a regression example, got {claim.key!r}"
            raise ValueError(message)
        return replay(claim, examples[claim.key])
    seeds = validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), validate.horizon("index", index))
    return _checked(claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own))))


def replay(claim: Claim, choices: Sequence[float]) -> Finding:
    """Check the instance defined by a sequence of choices; exceptions of the check are raised.

    Parameters
    ----------
    choices
        Numbers in [0, 1), as in ``Hunt.choices``; if the check needs more, they are drawn from the seed 0.

    Examples
    --------
    >>> from fedtheory.claims.catalogue import one_claim
    >>> lemma = one_claim("power-of-choice:lemma-b1")
    >>> replay(lemma, [0.5, 0.25]).measured == replay(lemma, [0.5, 0.25]).measured
    True
    """
    for number in validate.sequence("choices", choices):
        validate.fraction("choices", number)
    return check_on(claim, choices, np.random.default_rng(0))[0]


def check_on(claim: Claim, choices: Iterable[float], rng: np.random.Generator) -> tuple[Finding, tuple["Choice", ...]]:
    """Check the instance that begins with the given choices; return the finding and all choices that were read."""
    source = Choices(choices, rng)
    try:
        finding = _checked(claim.check(source))
    except Exception as error:
        error.add_note(f"on the choices {shortest(source.read)}")
        raise
    return finding, tuple(source.read)


def _checked(finding: Any) -> Finding:
    if not isinstance(finding, Finding):
        message = f"a check must return a Finding, got {finding!r}"
        raise TypeError(message)
    return finding


class Choice(NamedTuple):
    """One random number of an instance, and the number of integers that it selects from (0 for a real number)."""

    number: float
    levels: int

    @property
    def level(self) -> int:
        """Index of the integer that the number chooses."""
        return math.floor(self.number * self.levels)

    @property
    def essence(self) -> float:
        """A value that is equal for two numbers that choose the same."""
        return self.level if self.levels else self.number


@final
class Choices(np.random.Generator):
    """Random generator that reads its numbers from a choice sequence, and draws and appends further numbers."""

    def __init__(self, numbers: Iterable[float], rng: np.random.Generator) -> None:
        np.random.Generator.__init__(self, np.random.PCG64(0))
        self._record = list(numbers)
        self._rng = rng
        self.read: list[Choice] = []

    def _next(self, levels: int = 0) -> float:
        place = len(self.read)
        number = self._record[place] if place < len(self._record) else float(self._rng.random())
        self.read.append(Choice(number, levels))
        return number

    @property
    def bit_generator(self) -> Any:
        """A bit generator, seeded by one choice, for compiled code and simulations."""
        return np.random.PCG64(self._seed())

    def _seed(self) -> int:
        return int(self._next() * 2**53)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return uniform numbers in [0, 1)."""
        if out is not None:
            out[...] = self.random(out.shape)
            return out
        numbers = self._several(size, 0)
        return numbers if size is None else numbers.astype(dtype)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """Return integers in low..high-1, or in 0..low-1; with ``endpoint``, ``high`` is included."""
        first, last = (0, low) if high is None else (low, high)
        if np.ndim(first) or np.ndim(last):
            shape = np.broadcast_shapes(np.shape(first), np.shape(last)) if size is None else size
            pairs = zip(np.broadcast_to(first, shape).flat, np.broadcast_to(last, shape).flat, strict=True)
            drawn = [self.integers(one, other, endpoint=endpoint) for one, other in pairs]
            return np.array(drawn, dtype=dtype).reshape(shape)
        levels = int(last) - int(first) + endpoint
        if levels < 1:
            message = f"low must be below high, got {low} and {high}"
            raise ValueError(message)
        drawn = int(first) + np.floor(np.asarray(self._several(size, levels)) * levels).astype(np.int64)
        return int(drawn) if size is None else drawn.astype(dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Return uniform numbers between low and high."""
        low, high = (float(end) if np.ndim(end) == 0 else np.asarray(end) for end in (low, high))
        return low + (high - low) * self.random(_shape(size, low, high))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return normal numbers."""
        loc, scale = (float(end) if np.ndim(end) == 0 else np.asarray(end) for end in (loc, scale))
        return loc + scale * self.standard_normal(_shape(size, loc, scale))

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return standard normal numbers, the quantiles of uniform ones."""
        quantile = NormalDist().inv_cdf
        if out is not None:
            out[...] = self.standard_normal(out.shape)
            return out
        numbers = np.clip(self._several(size, 0), 2.0**-53, 1 - 2.0**-53)
        return quantile(float(numbers)) if size is None else np.vectorize(quantile, otypes=[dtype])(numbers)

    def _several(self, size: Any, levels: int) -> Any:
        if size is None:
            return self._next(levels)
        return np.array([self._next(levels) for _ in range(int(np.prod(size)))]).reshape(size)


def _shape(size: Any, *parameters: Any) -> Any:
    shape = np.broadcast_shapes(*map(np.shape, parameters))
    return shape if size is None and shape else size


def _by_a_child(name: str) -> Callable[..., Any]:
    def method(self: Choices, *args: Any, **kwargs: Any) -> Any:
        return getattr(np.random.default_rng(self._seed()), name)(*args, **kwargs)

    return method


# The other methods draw from a child generator that one choice seeds; a search changes their results as a whole.
for _name in {*dir(np.random.Generator)} - {*vars(Choices)}:
    if not _name.startswith("_"):
        setattr(Choices, _name, _by_a_child(_name))


def shortest(read: Iterable[Choice]) -> tuple[float, ...]:
    """Return choices of the same instance in which numbers that choose integers have as few decimals as possible."""
    return tuple(_shortest(choice) if choice.levels else choice.number for choice in read)


def _shortest(choice: Choice) -> float:
    for decimals in range(17):
        scale = 10**decimals
        number: float = math.ceil(choice.level * scale / choice.levels) / scale
        if number < 1 and math.floor(number * choice.levels) == choice.level:
            return number
    return choice.number
