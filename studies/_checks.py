"""Findings from checks by name."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fedtheory import study


class Check(NamedTuple):
    """Whether something holds, and the numbers that decide it."""

    holds: bool
    detail: str


def stated(checks: Callable[[Any], Mapping[str, Check]]) -> Callable[[Any], dict[str, study.Finding]]:
    """Return findings whose sentences are the names of checks."""
    return lambda data: {name: study.Finding(name, *one) for name, one in checks(data).items()}
