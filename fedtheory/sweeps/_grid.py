"""The points of a grid: the canonical form of each, and the name and the seed that follow from it alone."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import short


def canonical(value: Any, name: str = "value") -> str:
    """Return the one text that stands for a value: equal values have equal texts, on every machine.

    Parameters
    ----------
    value
        None, booleans, finite numbers, words, and tuples, mappings and dataclasses (such as strategies) of these. NumPy
        scalars are numbers; a list is a tuple. ``1`` and ``1.0`` differ.
    name
        What the value is called in messages.

    Returns
    -------
    str
        JSON with sorted keys.

    Raises
    ------
    TypeError, ValueError
        If there is something else in it, or a number that is not finite.

    Examples
    --------
    >>> canonical({"tau": 2, "d": (3, 0.5)})
    '{"d":[3,0.5],"tau":2}'
    """
    return json.dumps(_plain(value, name), sort_keys=True, separators=(",", ":"))


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        message = f"{name} must be finite, got {value}"
        raise ValueError(message)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, list | tuple):
        return [_plain(part, name) for part in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(part, f"{name}[{key!r}]") for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _plain(getattr(value, field.name), f"{name}.{field.name}") for field in fields(value)}
        return {"of": f"{type(value).__module__}.{type(value).__qualname__}", "fields": parts}
    message = f"{name} must be made of numbers, words, tuples and dataclasses, got {short(value)}"
    raise TypeError(message)


@dataclass(frozen=True, eq=False)
class Configuration:
    """A point of the grid, its place on the axes (and that of the seed, last), and its seed, if there are seeds."""

    point: Mapping[str, Any]
    place: tuple[int, ...]
    seed: int | None

    @property
    def form(self) -> str:
        """Its canonical form, from which its name follows."""
        return canonical({"point": self.point, "seed": self.seed})

    @property
    def name(self) -> str:
        """What its part is called: the first half of the SHA-256 of its canonical form."""
        return hashlib.sha256(self.form.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        settings = {**self.point} if self.seed is None else {**self.point, "seed": self.seed}
        return ", ".join(f"{name}={short(value)}" for name, value in settings.items())


@dataclass(frozen=True, eq=False)
class Grid:
    """Axes by name, and seeds: explicit ones (``rng`` is None), or numbers of those that are derived from ``rng``."""

    axes: Mapping[str, tuple[Any, ...]]
    seeds: tuple[int, ...] | None
    rng: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes, and the number of seeds if there are any."""
        return (*map(len, self.axes.values()), *(() if self.seeds is None else (len(self.seeds),)))

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the axes, and ``seed`` if there are seeds."""
        return (*self.axes, *(() if self.seeds is None else ("seed",)))

    @property
    def labels(self) -> dict[str, list[Any]]:
        """What stands along each dimension: numbers and words as they are, all else as text."""
        found = {name: _labels(values) for name, values in self.axes.items()}
        return found if self.seeds is None else {**found, "seed": list(self.seeds)}

    @property
    def rule(self) -> str:
        """Where seeds come from, in words."""
        if self.seeds is None:
            return "none"
        return "explicit, the same at every point" if self.rng is None else f"derived from {self.rng} and the point"

    def __iter__(self) -> Iterator[Configuration]:
        for place in itertools.product(*map(range, self.shape)):
            point = {name: values[i] for (name, values), i in zip(self.axes.items(), place, strict=False)}
            yield Configuration(point, place, self._seed(point, place))

    def __len__(self) -> int:
        return math.prod(self.shape)

    def _seed(self, point: Mapping[str, Any], place: tuple[int, ...]) -> int | None:
        if self.seeds is None:
            return None
        number = self.seeds[place[-1]]
        if self.rng is None:
            return number
        text = canonical({"rng": self.rng, "number": number, "point": point})
        # 63 bits, so that an array of signed integers holds it
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def gridded(axes: Mapping[str, Sequence[Any]], seeds: int | Sequence[int] | None = None, rng: int = 0) -> Grid:
    """Make a grid of what was given.

    Parameters
    ----------
    axes
        The values along each axis, by name.
    seeds
        A number of seeds, which are derived from ``rng`` and the canonical form of each point, so that points have
        independent ones; or the seeds themselves, the same at every point, so that differences between points are
        paired; or None for what is not random.
    rng
        Seed that a number of seeds is derived from.

    Returns
    -------
    Grid
        Goes through its configurations in the order of the axes, the last one fastest.

    Raises
    ------
    ValueError, TypeError
        If an axis has no values or one twice, or is called ``seed``; for values that have no canonical form.

    Examples
    --------
    >>> [str(configuration) for configuration in gridded({"d": [3, 9], "tau": [1]}, seeds=[7])]
    ['d=3, tau=1, seed=7', 'd=9, tau=1, seed=7']
    """
    found = _axes(axes)
    rng = validate.count("rng", rng, 0)
    if seeds is None:
        return Grid(found, None, None)
    if isinstance(seeds, Sequence | np.ndarray) and np.ndim(given := validate.unmasked("seeds", seeds)) > 0:
        return Grid(found, _axis("seeds", [validate.count("seeds", seed, 0) for seed in given]), None)
    return Grid(found, tuple(range(validate.size("seeds", seeds))), rng)


def _axes(axes: Any) -> dict[str, tuple[Any, ...]]:
    if not isinstance(axes, Mapping):
        message = f"grid must map names to values, got {short(axes)}"
        raise TypeError(message)
    return {str(name): _axis(str(name), values) for name, values in axes.items()}


def _axis(name: str, values: Any) -> tuple[Any, ...]:
    if name == "seed":
        message = "grid must not have an axis seed, got one: seeds are given by seeds="
        raise ValueError(message)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        message = f"{name} must be a sequence of values, got {short(values)}"
        raise TypeError(message)
    found = tuple(_value(value) for value in values)
    if not found:
        message = f"{name} must have at least one value, got none"
        raise ValueError(message)
    for value in found:
        canonical(value, name)
    labels = _labels(found)
    for label in labels:
        if labels.count(label) > 1:
            message = f"{name} must have every value once, got {short(label)} twice"
            raise ValueError(message)
    return found


def _value(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return tuple(map(_value, value)) if isinstance(value, list | tuple) else value


def _labels(values: Sequence[Any]) -> list[Any]:
    kinds = {type(value) for value in values}
    as_they_are = kinds in ({bool}, {str}) or kinds <= {int, float}
    return list(values) if as_they_are else [value if isinstance(value, str) else repr(value) for value in values]
