"""Classes of functions and operators of the problem language, one file each.

A file contains the parameters of a class and their domain, the interpolation conditions, the text, the names in Coq,
and how functions with given gradients and values are built.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from fedtheory.worst_case.function_classes.indicators import indicator
from fedtheory.worst_case.function_classes.interface import FunctionClass
from fedtheory.worst_case.function_classes.monotone_operators import operator_class
from fedtheory.worst_case.function_classes.nonsmooth_functions import nonsmooth
from fedtheory.worst_case.function_classes.polyak_lojasiewicz import polyak_lojasiewicz
from fedtheory.worst_case.function_classes.quadratics import quadratic
from fedtheory.worst_case.function_classes.smooth_functions import smooth

__all__: list[str] = []

FUNCTIONS: Mapping[str, Callable[..., FunctionClass]] = {
    "indicator": indicator,
    "quadratic": quadratic,
    "polyak": polyak_lojasiewicz,
    "L": smooth,
    "mu": nonsmooth,
}
"""Classes of functions in certificates, by the parameter that only they and those above them have."""


def class_of(parameters: Mapping[str, Any], kind: str = "function") -> FunctionClass:
    """Return the class with these parameters, as in certificates; those that are None or False count as absent."""
    given = {name: c for name, c in parameters.items() if c is not None and c is not False}
    make = operator_class
    if kind == "function":
        make = next(made for name, made in FUNCTIONS.items() if name in given)
    return make(**{name: given[name] for name in inspect.signature(make).parameters if name in given})
