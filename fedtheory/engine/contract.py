"""What the round loop calls, what it hands over, and what it can record, each declared once.

The loop calls a family's kernels (``KERNELS``), a strategy's rules (``fedtheory.selection.rules``) and a method's
(``fedtheory.methods.rules``). A new slot is an entry here or there and a call in the loop; a new recording is an entry
in ``RECORDS`` and a line in the loop: signatures, buffers, error texts and the page *Contracts* of the documentation
are read off the entries.
"""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.methods.rules import METHOD_ARGUMENTS, METHOD_RULES
from fedtheory.selection import rules
from fedtheory.selection.rules import RULES, Argument, Slot

__all__ = ["Family", "LocalWork"]

_NO_CORRECTION = np.empty(0)


class LocalWork(NamedTuple):
    """How a client trains: sigma^2 and M of its gradient noise, FedProx weight, momentum, batch (0 = all).

    ``by_epoch`` tells batches that go through the client's samples in turn from those drawn anew for every step;
    with ``num_batches`` an epoch has so many of them, of sizes that differ among clients. ``correction``, shape (v,) or
    empty, is added to every gradient of the client that trains: the loop overwrites it between clients.
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


@dataclass(frozen=True, eq=False)
class Family:
    """A problem laid out for the loop: a NamedTuple of arrays, three kernels, and the value excess is measured from.

    ``mistakes``, with the arguments of ``losses``, writes shares of wrongly classified samples; None where nothing is
    classified. ``sharing``, from this family and the most clients of a round, makes one with the kernel ``coalition``,
    which evaluates coalitions faster than ``excess`` does; None where that is not known. ``private`` names the arrays,
    or records of them, that the kernels write: each replicate gets its own copy. ``shapes`` are those of the matrices
    that a model is made of, where federations of one dimension can differ in them.
    """

    arrays: Any
    losses: Callable[..., Any]
    train: Callable[..., Any]
    excess: Callable[..., Any]
    reference: float
    private: tuple[str, ...] = ()
    shapes: tuple[tuple[int, int], ...] = ()
    mistakes: Callable[..., Any] | None = None
    coalition: Callable[..., Any] | None = None
    sharing: "Callable[[Family, int], Family] | None" = None

    def own_arrays(self) -> Any:
        """Return the arrays for one replicate."""
        return self.arrays._replace(**{name: _copy(getattr(self.arrays, name)) for name in self.private})


def _copy(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part.copy()
    return part._make(map(_copy, part)) if isinstance(part, tuple) else part  # type: ignore[attr-defined]


ARGUMENTS = {
    **rules.ARGUMENTS,
    **METHOD_ARGUMENTS,
    "problem": Argument("problem", (), "the family's arrays, as it laid them out"),
    "batch_size": Argument("int64", (), "samples of the mini-batch that estimates a loss; 0 stands for all samples"),
    "step_sizes": Argument("float64", ("L",), "step sizes of the local steps"),
    "work": Argument("work", (), "the ``LocalWork``: noise, FedProx weight, momentum, batches"),
    "coalition": Argument("int64", (), "members among the chosen, a bit for each; -1 once before those of a round"),
    "velocity": Argument("float64", ("v",), "scratch"),
    "slope": Argument("float64", ("v",), "scratch"),
}

KERNELS = {
    "losses": Slot(
        ("problem", "model", "candidates", "batch_size", "rng", "losses"),
        ("losses",),
        "void",
        "evaluates the candidates' losses",
    ),
    "train": Slot(
        ("problem", "chosen", "server_model", "step_sizes", "work", "rng", "velocity", "slope", "updates",
         "mean_losses"),
        ("velocity", "slope", "updates", "mean_losses"),
        "void",
        "lets the chosen take their local steps; mean losses are needed when ``work.track_losses``",
    ),
    "excess": Slot(("problem", "model"), (), "float64", "returns F(w) minus the family's reference"),
    "mistakes": Slot(
        ("problem", "model", "candidates", "batch_size", "rng", "losses"),
        ("losses",),
        "void",
        "evaluates shares of wrongly classified samples; None where nothing is classified",
    ),
    "coalition": Slot(
        ("problem", "server_model", "updates", "coefficients", "coalition"),
        (),
        "float64",
        "returns ``excess`` at the weighted mean of a coalition's models; None where that is no faster",
    ),
}  # fmt: skip

# What strategies and methods bring, compiled or in plain Python.
PLUGGED = {**RULES, **METHOD_RULES}
SLOTS = {**KERNELS, **PLUGGED}


class Record(NamedTuple):
    """What a run can record: the buffer that the loop writes, its shape beyond the rounds, its blank, its meaning.

    ``units`` is what it counts; 1 for what has no unit.
    """

    buffer: str
    shape: tuple[str, ...]
    blank: float
    says: str
    units: str = "1"


RECORDS = {
    "gap": Record("excess", (), np.nan, "``F(w) - F*``"),
    "loss": Record("excess", (), np.nan, "``F(w)``"),
    "accuracy": Record("accuracy", (), np.nan, "share of the test samples that the model classifies rightly"),
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

# A buffer for every argument that a slot fills for the next ones; a message is a row of messages, and what is left
# lives elsewhere.
_FILLED = {name for slot in SLOTS.values() for name in slot.writes} - {
    "memory",
    "present",
    "states",
    "model",
    "message",
}
BUFFERS = tuple(sorted(_FILLED))


def _named(kind: str, *fields: str) -> Any:
    return namedtuple(kind, fields)


Slots = _named("Slots", *SLOTS)  # one function, or its address, for each slot
Totals = _named("Totals", *RECORDS)  # where a workspace keeps what adds up, for each record that does
Workspace = _named(
    "Workspace", "model", "server_model", "change", "counts", "totals", "report", "values", "known", "correction",
    "num_steps", *BUFFERS,
)  # fmt: skip
Recording = _named("Recording", "every", *dict.fromkeys(record.buffer for record in RECORDS.values()))


class Server(NamedTuple):
    """What the rules see in every round."""

    table: Array
    memory: Array
    weights: Array


class MethodState(NamedTuple):
    """What a method's rules see in every round; without a method all is empty."""

    table: Array
    memory: Array
    states: Array
    compress_table: Array


class Streams(NamedTuple):
    """Random streams of a replicate: a strategy's draws change neither the noise of training nor who is there."""

    selection: np.random.Generator
    training: np.random.Generator
    attendance: np.random.Generator
    method: np.random.Generator


class Plan(NamedTuple):
    """What the rounds have in common; ``stop``, which all replicates share, ends them before the next round.

    ``checks``: whether what the rules leave is looked at in every round, which costs a few percent of a lean one.
    The batch estimates candidates' losses; the step sizes are those of all local steps. The chosen are valued by the
    method of that number, none if it is negative, which has a tolerance and a number of orders.
    """

    stop: npt.NDArray[np.bool_]
    checks: bool
    candidate_batch: int
    step_sizes: Array
    local_steps: int
    server_step_size: float
    method: int
    tolerance: float
    num_orders: int


def workspace(initial: Array, sizes: dict[str, int]) -> Any:
    """Make the buffers of one replicate, overwritten in every round; ``model``, ``counts`` and ``totals`` carry over.

    ``report`` says where the loop is: the place of the rule that was called last, the round, and about a rule that is
    at fault what it returned, and the number of chosen clients.
    """
    shapes = {name: tuple(sizes[size] for size in ARGUMENTS[name].shape) for name in BUFFERS}
    return Workspace(
        model=initial.copy(),
        server_model=np.zeros(sizes["v"]),
        change=np.zeros(sizes["v"]),
        counts=np.zeros(sizes["K"], dtype=np.int64),
        totals=np.zeros(len(RECORDS)),
        report=np.zeros(4),
        values=np.zeros(sizes["m"]),
        known=np.zeros(sizes["coalitions"]),
        correction=np.zeros(sizes["v"] if sizes["r"] else 0),
        num_steps=np.zeros(sizes["r"], dtype=np.int64),
        **{name: np.zeros(shape, dtype=ARGUMENTS[name].kind) for name, shape in shapes.items()},
    )


def recording(names: tuple[str, ...], every: int, num_recorded: int, sizes: dict[str, int]) -> Any:
    """Make room for what the loop records, a row per recorded round; an array without rows is not recorded."""
    rooms: dict[str, Array] = {}
    for name, record in RECORDS.items():
        rows = num_recorded if name in names else len(rooms.get(record.buffer, ()))
        rooms[record.buffer] = np.full((rows, *(sizes[size] for size in record.shape)), record.blank)
    return Recording(every=every, **rooms)
