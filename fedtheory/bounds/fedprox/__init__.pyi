"""What fedtheory.bounds.fedprox offers; written by ``python -m tests.stubs``."""

from fedtheory.bounds.fedprox import theorem_4 as theorem_4
from fedtheory.bounds.fedprox._words import PAPER as PAPER

# ruff: noqa: E501
# fmt: off
# mypy: disable-error-code="overload-overlap, override"
from abc import ABCMeta
from fractions import Fraction
from typing import Literal, overload

from fedtheory._support.validate import Array
from fedtheory.theorem.paper import Bound, Entry, Number, Rational, Value

class _loss_change(Bound, metaclass=ABCMeta):
    @overload
    def __call__(self, gradient2: Entry, *, L: Entry, negative_curvature: Entry, proximal_weight: Entry, gradient_dissimilarity: Entry, inexactness: Entry, strict: Literal[False]) -> tuple[Value, list[str]]: ...
    @overload
    def __call__(self, gradient2: float, *, L: float, negative_curvature: float, proximal_weight: float, gradient_dissimilarity: float, inexactness: float, strict: float = ...) -> float: ...
    @overload
    def __call__(self, gradient2: Rational, *, L: Rational, negative_curvature: Rational, proximal_weight: Rational, gradient_dissimilarity: Rational, inexactness: Rational, strict: Rational = ...) -> Fraction: ...
    @overload
    def __call__(self, gradient2: Number, *, L: Number, negative_curvature: Number, proximal_weight: Number, gradient_dissimilarity: Number, inexactness: Number, strict: Number = ...) -> float: ...
    @overload
    def __call__(self, gradient2: Entry, *, L: Entry, negative_curvature: Entry, proximal_weight: Entry, gradient_dissimilarity: Entry, inexactness: Entry, strict: Entry = ...) -> Array: ...
loss_change: _loss_change