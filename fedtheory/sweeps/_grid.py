"""The points of a grid and their seeds, each of which depends on its point only."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import truncate


class Point(NamedTuple):
    """A configuration: settings by name, a seed if there are seeds, and a text that identifies both."""

    settings: Mapping[str, Any]
    seed: int | None
    text: str

    def __str__(self) -> str:
        settings = self.arguments
        return ", ".join(f"{name}={truncate(value)}" for name, value in settings.items())

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the function."""
        return {**self.settings} if self.seed is None else {**self.settings, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Grid:
    """Axes by name, and seeds: explicit ones (``rng`` is None), or a number of seeds that are derived from ``rng``."""

    axes: Mapping[str, tuple[Any, ...]]
    seeds: tuple[int, ...] | None
    rng: int | None

    @property
    def dims(self) -> tuple[str, ...]:
        return (*self.axes, *(() if self.seeds is None else ("seed",)))

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Labels along each dimension: numbers and words, and other values as text."""
        found = {name: _labels(values) for name, values in self.axes.items()}
        return found if self.seeds is None else {**found, "seed": list(self.seeds)}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.labels.values()))

    @property
    def rule(self) -> str:
        """Origin of the seeds in words."""
        if self.seeds is None:
            return "none"
        return "explicit, equal at all points" if self.rng is None else f"derived from {self.rng} and the point"

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[Point]:
        for values in itertools.product(*self.axes.values()):
            point = dict(zip(self.axes, values, strict=True))
            for number in (None,) if self.seeds is None else self.seeds:
                seed = number
                if number is not None and self.rng is not None:
                    text = canonical({"rng": self.rng, "number": number, "point": point})
                    # 63 bits, so that an array of signed integers can contain it.
                    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
                yield Point(point, seed, canonical({"point": point, "seed": seed}))


def gridded(axes: Any, seeds: Any = None, rng: Any = 0) -> Grid:
    """Validate a grid; ``seeds`` is a number of seeds, a sequence of seeds, or None."""
    if not isinstance(axes, Mapping):
        message = f"grid must map names to values, got {truncate(axes)}"
        raise TypeError(message)
    found, rng = {str(name): _axis(str(name), values) for name, values in axes.items()}, validate.count("rng", rng, 0)
    if seeds is None:
        return Grid(found, None, None)
    if isinstance(seeds, Sequence | np.ndarray) and np.ndim(given := validate.unmasked("seeds", seeds)) > 0:
        return Grid(found, _axis("seeds", [validate.count("seeds", seed, 0) for seed in given]), None)
    return Grid(found, tuple(range(validate.size("seeds", seeds))), rng)


def _axis(name: str, values: Any) -> tuple[Any, ...]:
    if name == "seed":
        message = "grid must not have an axis seed, got one: seeds are given by seeds="
        raise ValueError(message)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        message = f"{name} must be a sequence of values, got {truncate(values)}"
        raise TypeError(message)
    found = tuple(map(_value, values))
    if not found:
        message = f"{name} must have at least one value, got none"
        raise ValueError(message)
    seen: set[Any] = set()
    for value, label in zip(found, _labels(found), strict=True):
        canonical(value, name)
        if label in seen:
            message = f"{name} must have every value once, got {truncate(label)} twice"
            raise ValueError(message)
        seen.add(label)
    return found


def _value(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return tuple(map(_value, value)) if isinstance(value, list | tuple) else value


def _labels(values: Sequence[Any]) -> list[Any]:
    kinds = {type(value) for value in values}
    as_they_are = kinds in ({bool}, {str}) or kinds <= {int, float}
    return list(values) if as_they_are else [value if isinstance(value, str) else repr(value) for value in values]


def canonical(value: Any, name: str = "value") -> str:
    """Return a text that identifies a value on every machine; TypeError or ValueError if there is none."""
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
        parts = {one.name: _plain(getattr(value, one.name), f"{name}.{one.name}") for one in fields(value)}
        return {"of": f"{type(value).__module__}.{type(value).__qualname__}", "fields": parts}
    message = f"{name} must be made of numbers, words, tuples and dataclasses, got {truncate(value)}"
    raise TypeError(message)
