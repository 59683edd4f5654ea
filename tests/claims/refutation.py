"""Whether a wrong claim is refuted, by a seeded instance or by a search."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest

from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import regression_examples, reproduce

EXAMPLES = regression_examples()


def broken(claim: Claim, num_instances: int | None = None, rng: int = 1) -> bool:
    """Whether ``examine`` would say that the claim fails."""
    count = claim.num_instances("quick") if num_instances is None else num_instances
    return any(reproduce(claim, rng, index).holds is False for index in range(count))


def refuted(
    claim: Claim, check: Callable[[Any], Finding] | None = None, num_instances: int = 200, rng: int = 0
) -> bool:
    """Whether a search breaks the claim with another check.

    It starts where the claim itself is strained most, then from nothing: what one term is worth may show elsewhere.
    Half of a hunt's evaluations climb on the ratio of both sides, so that these are as many as are asked for.
    """
    mutant = replace(claim, check=check or claim.check)
    starts = [(), *([EXAMPLES[claim.key]] if claim.key in EXAMPLES else [])]
    hunts = (
        hunt(mutant, evaluations=2 * num_instances, rng=rng, start=start, small=False) for start in reversed(starts)
    )
    return any(found.worst.holds is False for found in hunts)


def scaled(bound: Any, *summands: str, factor: Any = 0) -> Any:
    """Return the bound with some summands multiplied, by default left out."""

    def mutant(*arguments: Any, **known: Any) -> Any:
        terms = bound.terms(*arguments, **known).items()
        return sum(value * (factor if name in summands else 1) for name, value in terms)

    return mutant


def multiply(monkeypatch: pytest.MonkeyPatch, home: Any, name: str, factor: Any) -> None:
    """Multiply what a function of a module, or a method, property or attribute of a class, gives."""
    if isinstance(home, type) and name not in vars(home):
        monkeypatch.setattr(home, "__init__", _multiplied_at_the_start(vars(home)["__init__"], name, factor))
        return
    honest = vars(home)[name] if isinstance(home, type) else getattr(home, name)
    changed: Any = lambda *args, **kwargs: _times(factor, honest(*args, **kwargs))  # noqa: E731
    if isinstance(honest, property | cached_property):
        compute: Any = honest.fget if isinstance(honest, property) else honest.func
        changed = property(lambda self: _times(factor, compute(self)))
    elif hasattr(honest, "terms"):
        changed.terms, changed.hypotheses = honest.terms, honest.hypotheses
    monkeypatch.setattr(home, name, changed)


def _multiplied_at_the_start(honest: Any, name: str, factor: Any) -> Any:
    def init(self: Any, *args: Any, **options: Any) -> None:
        honest(self, *args, **options)
        setattr(self, name, _times(factor, getattr(self, name)))

    return init


def _times(factor: Any, value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(factor * x for x in value)
    return [factor * x for x in value] if isinstance(value, Iterator) else factor * value
