"""What fedtheory.bounds.scaffold offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.scaffold import any_step_size as any_step_size
from fedtheory.bounds.scaffold import horizon as horizon
from fedtheory.bounds.scaffold import option_one as option_one
from fedtheory.bounds.scaffold._words import PAPER as PAPER

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
    def __call__(self, num_rounds: Entry, *, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, initial_distance2: Entry, control_error2: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, num_rounds: float, *, step_size: float, mu: float, L: float, local_steps: float, initial_distance2: float, control_error2: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, num_rounds: Rational, *, step_size: Rational, mu: Rational, L: Rational, local_steps: Rational, initial_distance2: Rational, control_error2: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, num_rounds: Number, *, step_size: Number, mu: Number, L: Number, local_steps: Number, initial_distance2: Number, control_error2: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, num_rounds: Entry, *, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, initial_distance2: Entry, control_error2: Entry, strict: Entry = ...) -> Array: ...
fixed_step_potential: _fixed_step_potential
class _one_round(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, distance2: Entry, *, control_error2: Entry, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, distance2: float, *, control_error2: float, step_size: float, mu: float, L: float, local_steps: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, distance2: Rational, *, control_error2: Rational, step_size: Rational, mu: Rational, L: Rational, local_steps: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, distance2: Number, *, control_error2: Number, step_size: Number, mu: Number, L: Number, local_steps: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, distance2: Entry, *, control_error2: Entry, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, strict: Entry = ...) -> Array: ...
one_round: _one_round
class _option_one_round(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, distance2: Entry, *, control_error2: Entry, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, distance2: float, *, control_error2: float, step_size: float, mu: float, L: float, local_steps: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, distance2: Rational, *, control_error2: Rational, step_size: Rational, mu: Rational, L: Rational, local_steps: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, distance2: Number, *, control_error2: Number, step_size: Number, mu: Number, L: Number, local_steps: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, distance2: Entry, *, control_error2: Entry, step_size: Entry, mu: Entry, L: Entry, local_steps: Entry, strict: Entry = ...) -> Array: ...
option_one_round: _option_one_round