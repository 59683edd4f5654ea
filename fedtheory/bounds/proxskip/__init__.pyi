"""What fedtheory.bounds.proxskip offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.proxskip import refined as refined
from fedtheory.bounds.proxskip import theorem as theorem
from fedtheory.bounds.proxskip._words import PAPER as PAPER

# ruff: noqa: E501
# fmt: off
# mypy: disable-error-code="overload-overlap, override"
from abc import ABCMeta
from fractions import Fraction
from typing import Literal, overload

from fedtheory._support.validate import Array
from fedtheory.theorem.paper import Bound, Entry, Number, Rational, Value

class _fixed_step_potential(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, num_steps: Entry, *, step_size: Entry, mu: Entry, L: Entry, probability: Entry, initial_distance2: Entry, control_error2: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, num_steps: float, *, step_size: float, mu: float, L: float, probability: float, initial_distance2: float, control_error2: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, num_steps: Rational, *, step_size: Rational, mu: Rational, L: Rational, probability: Rational, initial_distance2: Rational, control_error2: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, num_steps: Number, *, step_size: Number, mu: Number, L: Number, probability: Number, initial_distance2: Number, control_error2: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, num_steps: Entry, *, step_size: Entry, mu: Entry, L: Entry, probability: Entry, initial_distance2: Entry, control_error2: Entry, strict: Entry = ...) -> Array: ...
fixed_step_potential: _fixed_step_potential
class _refined_fixed_step_potential(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, num_steps: Entry, *, step_size: Entry, mu: Entry, L: Entry, probability: Entry, initial_distance2: Entry, control_error2: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, num_steps: float, *, step_size: float, mu: float, L: float, probability: float, initial_distance2: float, control_error2: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, num_steps: Rational, *, step_size: Rational, mu: Rational, L: Rational, probability: Rational, initial_distance2: Rational, control_error2: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, num_steps: Number, *, step_size: Number, mu: Number, L: Number, probability: Number, initial_distance2: Number, control_error2: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, num_steps: Entry, *, step_size: Entry, mu: Entry, L: Entry, probability: Entry, initial_distance2: Entry, control_error2: Entry, strict: Entry = ...) -> Array: ...
refined_fixed_step_potential: _refined_fixed_step_potential