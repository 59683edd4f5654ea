"""Randomness as it should be: from the generator that is handed over, all of it, and from nowhere else."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory._support.wording import short
from fedtheory.conformance._timeouts import Failed

__all__ = ["children", "generator", "other_randomness", "same_generator"]

Draw = Callable[[np.random.Generator], Any]


def children(seeds: np.random.SeedSequence, count: int) -> list[np.random.SeedSequence]:
    """Return the same children again at every call, which spawning would not."""
    return [np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, i)) for i in range(count)]


def generator(seeds: np.random.SeedSequence) -> np.random.Generator:
    """Return the same generator again at every call: also one from which other people's code spawns."""
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=seeds.spawn_key))


def same_generator(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw twice with generators in the same state."""
    for seed in children(seeds, 10):
        one, two = (draw(generator(seed)) for _ in range(2))
        if not np.array_equal(one, two):
            raise Failed(f"generators in the same state must give the same, got {_text(one)} and {_text(two)}", **given)


def other_randomness(draw: Draw, seeds: np.random.SeedSequence, given: dict[str, Any]) -> None:
    """Draw with NumPy's and Python's global generators in other states: they must neither matter nor move."""
    for seed in children(seeds, 10):
        found = []
        for state in (1, 2):
            random.seed(state)
            np.random.seed(state)  # noqa: NPY002 (the generator that must not be used)
            before = _global_states()
            found.append(draw(generator(seed)))
            if _global_states() != before:
                raise Failed("must draw from its generator only, and moved a global one", **given)
        if not np.array_equal(*found):
            raise Failed("must draw from its generator only, got something else with other global seeds", **given)


def _global_states() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), name, np.asarray(keys).tobytes(), tuple(rest)


def _text(value: Any) -> str:
    return short(value.tolist() if isinstance(value, np.ndarray) else list(value))
