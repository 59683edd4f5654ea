"""What fedtheory.bounds.stationary offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.stationary import averaging as averaging
from fedtheory.bounds.stationary import normalized as normalized
from fedtheory.bounds.stationary._words import PAPER as PAPER

# ruff: noqa: E501
# fmt: off
# mypy: disable-error-code="overload-overlap, override"
from abc import ABCMeta
from fractions import Fraction
from typing import Literal, overload

from fedtheory._support.validate import Array
from fedtheory.theorem.paper import Bound, Entry, Number, Rational, Value

class _averaging_distance(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, num_rounds: Entry, *, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, stationary_distance2: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, num_rounds: float, *, step_size: float, mu: float, L: float, local_steps: float, stationary_distance2: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, num_rounds: Rational, *, step_size: Rational, mu: Rational, L: Rational, local_steps: Rational, stationary_distance2: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, num_rounds: Number, *, step_size: Number, mu: Number, L: Number, local_steps: Number, stationary_distance2: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, num_rounds: Entry, *, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, stationary_distance2: Entry, strict: Entry = ...) -> Array: ...
averaging_distance: _averaging_distance
class _normalized_round(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, stationary_distance2: Entry, *, step_size: Entry, mu: Entry, L: Entry, effective_steps: Entry, local_steps: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, stationary_distance2: float, *, step_size: float, mu: float, L: float, effective_steps: float, local_steps: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, stationary_distance2: Rational, *, step_size: Rational, mu: Rational, L: Rational, effective_steps: Rational, local_steps: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, stationary_distance2: Number, *, step_size: Number, mu: Number, L: Number, effective_steps: Number, local_steps: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, stationary_distance2: Entry, *, step_size: Entry, mu: Entry, L: Entry, effective_steps: Entry, local_steps: Entry, strict: Entry = ...) -> Array: ...
normalized_round: _normalized_round