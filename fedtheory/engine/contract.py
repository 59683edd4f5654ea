"""Declarations of the slots, arguments and records of the round loop.

The loop calls a family's kernels (``KERNELS``), a strategy's rules (``fedtheory.selection.rules``) and a method's
(``fedtheory.methods.rules``). Signatures, error messages and the page *Contracts* of the documentation are generated
from the entries. To add a slot or a record, add an entry to a table and a line to the loop.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numba import types

from fedtheory._support.validate import Array
from fedtheory.methods.rules import METHOD_ARGUMENTS, METHOD_RULES
from fedtheory.selection import rules
from fedtheory.selection.rules import RULES, Argument, Slot

__all__ = ["Family", "LocalWork", "refuse_batches"]

_NO_CORRECTION = np.empty(0)


class LocalWork(NamedTuple):
    """Settings of local training: sigma^2 and M of the gradient noise, FedProx weight, momentum, batch size (0 = all).

    With ``by_epoch``, batches go through the client's samples in turn; otherwise each batch is drawn from all samples.
    ``num_batches`` is the number of batches per epoch, whose size then depends on the client. ``correction``,
    shape (v,) or empty, is added to every gradient of the client that trains; the loop overwrites it between clients.
    """

    gradient_noise: float
    relative_noise: float
    proximal_weight: float
    momentum: float
    batch_size: int
    by_epoch: bool
    track_losses: bool
    num_batches: int = 0
    correction: Array = _NO_CORRECTION


def refuse_batches(work: LocalWork) -> None:
    """Raise ValueError if mini-batches are requested from a federation without samples."""
    for name in ("batch_size", "num_batches"):
        if getattr(work, name):
            message = f"{name} must be None for a federation without samples, got {getattr(work, name)}"
            raise ValueError(message)


@dataclass(frozen=True, eq=False)
class Family:
    """Layout of a problem for the round loop: a NamedTuple of arrays, three kernels, and the reference value of excess.

    ``mistakes`` takes the arguments of ``losses`` and writes the shares of misclassified samples. ``private`` contains
    the names of the arrays that the kernels write; each replicate gets its own copy. ``shapes`` are those of the
    parameter matrices of a model. ``compilation`` is the rough processor time of the first run in seconds.
    """

    arrays: Any
    losses: Callable[..., Any]
    train: Callable[..., Any]
    excess: Callable[..., Any]
    reference: float
    private: tuple[str, ...] = ()
    shapes: tuple[tuple[int, int], ...] = ()
    mistakes: Callable[..., Any] | None = None
    compilation: int = 10

    def own_arrays(self) -> Any:
        """Return the arrays for one replicate."""
        return self.arrays._replace(**{name: deepcopy(getattr(self.arrays, name)) for name in self.private})


ARGUMENTS = {
    **rules.ARGUMENTS,
    **METHOD_ARGUMENTS,
    "problem": Argument("problem", (), "the arrays of the family"),
    "batch_size": Argument(
        "int64", (), "samples of the mini-batch that estimates a loss, at most those of the client; 0 stands for all"
    ),
    "step_sizes": Argument("float64", ("L",), "step sizes of the local steps"),
    "work": Argument("work", (), "the ``LocalWork``: noise, FedProx weight, momentum, batches"),
    "velocity": Argument("float64", ("v",), "scratch"),
    "slope": Argument("float64", ("v",), "scratch"),
}

KERNELS = {
    "losses": Slot(
        ("problem", "model", "candidates", "batch_size", "rng", "losses"), ("losses",), "void",
        "evaluates the candidates' losses",
    ),
    "train": Slot(
        ("problem", "chosen", "server_model", "step_sizes", "work", "rng", "velocity", "slope", "updates",
         "mean_losses"),
        ("velocity", "slope", "updates", "mean_losses"), "void",
        "runs the local steps of the chosen; mean losses are needed if ``work.track_losses``",
    ),
    "excess": Slot(("problem", "model"), (), "float64", "returns F(w) minus the family's reference"),
    "mistakes": Slot(
        ("problem", "model", "candidates", "batch_size", "rng", "losses"), ("losses",), "void",
        "evaluates shares of misclassified samples; None without classes",
    ),
}  # fmt: skip

# Slots of strategies and methods, compiled or in plain Python.
PLUGGED = {**RULES, **METHOD_RULES}
SLOTS = {**KERNELS, **PLUGGED}


def function_type(name: str, problem: Any = None) -> Any:
    """Return numba's type of what fills a slot, so that the loop is compiled for a layout of arrays, not for a rule."""
    return types.FunctionType(signature_of(name, problem))


@lru_cache(maxsize=256)
def signature_of(name: str, problem: Any = None) -> Any:
    """Return numba's signature of a slot for the type of a problem's arrays; only what the slot writes is writable."""
    slot, work = SLOTS[name], LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)
    kinds = {
        "int64": types.int64, "float64": types.float64, "bool": types.boolean, "void": types.void, "problem": problem,
        "generator": numba.typeof(np.random.default_rng(0)), "work": numba.typeof(work),
    }  # fmt: skip

    def type_of(argument: str) -> Any:
        kind, shape = kinds[ARGUMENTS[argument].kind], ARGUMENTS[argument].shape
        return types.Array(kind, len(shape), "C", readonly=argument not in slot.writes) if shape else kind

    return kinds[slot.returns](*map(type_of, slot.arguments))


Recorded = Literal[
    "gap", "loss", "accuracy", "models", "uplink", "broadcasts", "evaluations", "selected", "coefficients", "values",
    "coalitions", "states",
]  # fmt: skip
"""Names of what a run may record."""


class Record(NamedTuple):
    """A recordable quantity: name, shape for each round, fill value, meaning, and unit.

    ``units`` is 1 for quantities without a unit.
    """

    buffer: str
    shape: tuple[str, ...]
    blank: float
    says: str
    units: str = "1"


RECORDS = {
    "gap": Record("excess", (), np.nan, "``F(w) - F*``"),
    "loss": Record("excess", (), np.nan, "``F(w)``"),
    "accuracy": Record("accuracy", (), np.nan, "share of correctly classified test samples"),
    "models": Record("models", ("v",), np.nan, "server models"),
    "uplink": Record("uplink", (), np.nan, "floats sent to the server so far", "floats"),
    "broadcasts": Record("broadcasts", (), np.nan, "models sent to clients so far", "models"),
    "evaluations": Record("evaluations", (), np.nan, "client losses evaluated so far", "losses"),
    "selected": Record("selected", ("m",), -1, "clients that train in the round that begins, then -1"),
    "coefficients": Record("coefficients", ("m",), np.nan, "coefficients of their updates, then NaN"),
    "values": Record("values", ("m",), np.nan, "their values in the round that begins, then NaN"),
    "coalitions": Record("coalitions", (), np.nan, "coalitions evaluated so far", "coalitions"),
    "states": Record("states", ("K", "s"), np.nan, "the clients' states, as the method lays them out"),
}

# Random streams of a replicate. A strategy's draws change neither the noise of training nor the availability of
# clients.
STREAMS = ("selection_rng", "training_rng", "attendance_rng", "method_rng")
