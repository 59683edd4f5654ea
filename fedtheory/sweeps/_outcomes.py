"""What a configuration came to: labelled arrays, or a failure with its traceback."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.wording import short

__all__ = ["Outcome", "Variable"]


class Variable(NamedTuple):
    """An array with the names of its dimensions; if it is called as its one dimension is, it labels it."""

    dims: tuple[str, ...]
    values: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What running one configuration gave.

    Attributes
    ----------
    variables
        What was found, by name; nothing if it failed.
    error, traceback
        What was raised, in one line, and where; empty if nothing was.
    seconds
        How long it took.
    made_by
        Version and digest of the sources of fedtheory that it was computed by.
    refused
        Why the worker would not run it at all; empty if it did.
    """

    variables: Mapping[str, Variable] = field(default_factory=dict)
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    made_by: str = ""
    refused: str = ""

    @property
    def failed(self) -> bool:
        """Whether an exception ended it."""
        return bool(self.error)

    @property
    def digest(self) -> str:
        """SHA-256 of what was found, apart from how long it took; failures are all alike."""
        found = hashlib.sha256(b"failed" if self.failed else b"done")
        for name, variable in sorted(self.variables.items()):
            values = np.ascontiguousarray(variable.values)
            found.update(json.dumps([name, variable.dims, values.dtype.str, values.shape]).encode())
            found.update(values.tobytes())
        return found.hexdigest()


def variables_of(result: Any) -> dict[str, Variable]:
    """Turn what a function returned into labelled arrays.

    Examples
    --------
    >>> variables_of({"gap": 0.5})
    {'gap': Variable(dims=(), values=array(0.5))}
    """
    if isinstance(result, dict):
        return {str(name): _variable(str(name), value) for name, value in result.items()}
    if isinstance(result, int | float | np.generic | np.ndarray):
        return {"value": _variable("value", result)}
    # Slow to import, and not needed by those who return numbers.
    import xarray

    from fedtheory.engine.trajectory import Trajectory

    if isinstance(result, Trajectory):
        # The grid says what is run, also of the strategy, which may be one of its axes.
        result = result.to_xarray().drop_vars(["strategy", "config"])
    if not isinstance(result, xarray.Dataset):
        message = f"a sweep must find numbers, a dictionary of them, a Trajectory or a Dataset, got {short(result)}"
        raise TypeError(message)
    pairs = {str(name): (tuple(map(str, found.dims)), found.values) for name, found in result.variables.items()}
    return {name: Variable(dims, _array(name, values)) for name, (dims, values) in pairs.items()}


def _variable(name: str, value: Any) -> Variable:
    values = _array(name, value)
    return Variable(tuple(f"{name}_{axis}" for axis in range(values.ndim)), values)


def _array(name: str, value: Any) -> npt.NDArray[Any]:
    values = np.asarray(value)
    if values.dtype.kind == "O" and values.size and all(isinstance(entry, str) for entry in values.flat):
        values = values.astype(np.str_)
    if values.dtype.kind not in "biufU":
        message = f"{name} must be made of numbers or words, got {short(value)}"
        raise TypeError(message)
    return values
