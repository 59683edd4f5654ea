"""Independent replicates of a simulation, with separate random streams and buffers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.compiling import announced_compilation
from fedtheory._support.validate import Array
from fedtheory.engine import _parts
from fedtheory.engine._binding import Bound, bound, running
from fedtheory.engine._blocks import address, words_of, written
from fedtheory.engine._faults import failures_named, fault
from fedtheory.engine._parts import FAULT, SHORTFALL, STATE, STOPPED
from fedtheory.engine._perceptron_passes import PerceptronArrays
from fedtheory.engine._round_game import METHODS
from fedtheory.engine._rounds import run_rounds
from fedtheory.engine._slots import KINDS, loop_address, part_address
from fedtheory.engine.contract import (
    ARGUMENTS,
    BUFFERS,
    PARTS,
    RECORDS,
    STATE_FIELDS,
    STREAMS,
    Family,
    LocalWork,
    State,
)
from fedtheory.methods.rules import Method, MethodRules
from fedtheory.selection.rules import Rules, Strategy

__all__ = ["Job", "Replicate", "Template", "Worker", "template_of"]

_WORK = KINDS["work"]
_SCRATCH = (*BUFFERS, "server_model", "change", "totals", "values", "known", "correction", "num_steps")
_RECORDED = [(name, kind, ndim or 0) for name, (kind, ndim) in STATE_FIELDS.items() if name.startswith("recorded_")]


@dataclass(frozen=True, eq=False)
class Job:
    """Settings that are common to all replicates."""

    strategy: Strategy
    family: Family
    minimum: float
    validation: Family | None
    test: Family | None
    rules: Rules
    weights: Array
    work: LocalWork
    initial: Array
    step_sizes: Array
    local_steps: int
    own_steps: npt.NDArray[np.int64]
    returned_noise: Array
    server_step_size: float
    record: tuple[str, ...]
    every: int
    method: Method | None = None
    method_rules: MethodRules | None = None

    @cached_property
    def name(self) -> str:
        """Name of the strategy in messages."""
        return repr(self.strategy)

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes K (clients), d (candidates), m (selected), v (coordinates), coalitions, and r and s of a method."""
        most = {"d": self.rules.max_candidates, "m": self.rules.max_selected}
        coalitions = 0 if self.rules.valuation is None else 2**self.rules.max_selected
        rows, state_size = (most["m"], self.method_rules.state_size) if self.method_rules else (0, 0)
        return {
            "K": self.weights.size, **most, "v": self.initial.size, "coalitions": coalitions, "r": rows, "s": state_size
        }  # fmt: skip

    @property
    def num_rounds(self) -> int:
        """Rounds T."""
        return len(self.step_sizes) // self.local_steps

    @property
    def num_recorded(self) -> int:
        """Number of recorded rounds, including round 0."""
        return self.num_rounds // self.every + 1

    @property
    def recorded_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what a replicate records, by buffer."""
        records = [RECORDS[name] for name in self.record]
        return {each.buffer: (self.num_recorded, *(self.sizes[size] for size in each.shape)) for each in records}


@dataclass(frozen=True, eq=False)
class Replicate:
    """Records of a replicate, selection counts, and the round in which it diverged, or -1."""

    recording: Mapping[str, Array]
    counts: npt.NDArray[np.int64]
    diverged_at: int


class Template(NamedTuple):
    """Functions and settings shared by all replicates; 0 stands for a part that the run does not need."""

    job: Job
    bound: Bound
    parts: Mapping[str, Any]
    stop: npt.NDArray[np.bool_]


def template_of(job: Job) -> Template:
    """Compile what a run needs, with a message on standard error if that takes more than two seconds."""
    about = (15 if isinstance(job.family.arrays, PerceptronArrays) else 5) + (5 if job.validation is not None else 0)
    own = "in every process for rules without cache=True"
    with announced_compilation(f"fedtheory compiles this kind of run in about {about} s, once on this machine ({own})"):
        functions = bound(job.family, job.rules, job.method_rules, (job.validation, job.test))
        compiles = bool(functions.functions)
        parts = {name: _part(name, compiles=compiles) if _needs(job, name) else 0 for name in PARTS}
        if compiles:
            loop_address(run_rounds)
    return Template(job, functions, parts, np.zeros(1, dtype=np.bool_))


def _part(name: str, *, compiles: bool) -> Any:
    part = getattr(_parts, name)
    return part_address(part) if compiles else part


class Worker:
    """Memory of one thread, which runs several replicates in sequence."""

    def __init__(self, template: Template) -> None:
        job = self.job = template.job
        self.bound = template.bound
        self._blocks: list[Any] = []
        self._private: list[tuple[Array, Array]] = []
        method = job.method_rules
        work = job.work if method is None else job.work._replace(correction=np.zeros(job.initial.size))
        families = {"problem": job.family, "validation": job.validation, "test": job.test}
        self.state = State(
            **{f"{name}_at": place for name, place in self.bound.addresses.items()},
            **{f"{name}_part": part for name, part in template.parts.items()},
            **{name: self._problem(family) for name, family in families.items()},
            work=self._block(work, _WORK), **_numbers(job), **_shared(job, template.stop), **_buffers(job),
            correction=work.correction, **dict.fromkeys(STREAMS, np.random.default_rng(0)),
        )  # fmt: skip
        self.words = written(self.state, STATE) if self.bound.functions else None

    @property
    def num_rounds(self) -> int:
        """Number of finished rounds, which another thread may read during a run."""
        return int(self.state.report[1])

    def _problem(self, family: Family | None) -> Any:
        if family is None:
            return 0
        arrays = family.own_arrays()
        self._private += [(getattr(arrays, name), getattr(family.arrays, name)) for name in family.private]
        return self._block(arrays, self.bound.problem)

    def _block(self, record: Any, kind: Any) -> Any:
        if not self.bound.functions:
            return record
        words = written(record, kind)
        self._blocks += [record, words]
        return address(words)

    def run(self, seed: np.random.SeedSequence) -> Replicate | None:
        """Run a replicate; return its records, or None if it was stopped."""
        job = self.job
        self._begin(seed)
        state = self.state
        with failures_named(job, state), running(self.bound.plain):
            loop: Any = run_rounds
            ended = int(loop(state if self.words is None else address(self.words)))
        if ended == SHORTFALL:
            message = (
                f"at least {job.rules.min_present} clients must be available in every round (shortfall='allow' selects "
                f"fewer), got fewer in round {int(state.report[1])}"
            )
            raise ValueError(message)
        if ended == FAULT:
            raise ValueError(fault(job.name, state))
        state.report[:] = 0.0  # no round of the next replicate is finished
        recorded = {name: getattr(state, f"recorded_{name}") for name in job.recorded_shapes}
        return None if ended == STOPPED else Replicate(recorded, state.counts, ended)

    def _begin(self, seed: np.random.SeedSequence) -> None:
        """Create the random streams and the arrays of results, and reset all other memory."""
        job, state = self.job, self.state
        # Creating a Generator takes as long as a hundred rounds, so only the streams that are used are created.
        needed = 4 if job.method_rules is not None else 3 if job.rules.attend is not None else 2
        rngs = [np.random.default_rng(child) for child in seed.spawn(needed)]
        streams = dict(zip(STREAMS, rngs + rngs[:1] * (4 - needed), strict=True))
        # Results must not depend on scratch memory of earlier replicates of the thread.
        for name in _SCRATCH:
            getattr(state, name)[...] = 0
        state.model[:], state.memory[:] = job.initial, job.rules.memory
        if job.rules.attend is not None:
            state.weights[:], state.attend_memory[:], state.present[:] = job.weights, job.rules.attend_memory, True
        for mine, original in self._private:
            _restore(mine, original)
        fresh = {
            **streams,
            "counts": np.zeros(job.weights.size, dtype=np.int64),
            **_recording(job),
            **_method_states(job),
        }
        self.state = state._replace(**fresh)
        if self.words is not None:
            for name, value in fresh.items():
                place = STATE.offsets[name]
                words = list(words_of(value, STATE.kinds[name]))
                self.words[place : place + len(words)] = words


def _restore(mine: Any, original: Any) -> None:
    if isinstance(mine, tuple):
        for part, before in zip(mine, original, strict=True):
            _restore(part, before)
    elif isinstance(mine, np.ndarray):
        mine[...] = original


def _needs(job: Job, part: str) -> bool:
    """Whether a run needs a part of the round."""
    methodical = job.method_rules is not None
    return {
        "record": not {"models", "uplink", "broadcasts", "evaluations", "coalitions", "states"}.isdisjoint(job.record),
        "record_cohort": not {"selected", "coefficients"}.isdisjoint(job.record),
        "accuracy": job.test is not None,
        "attendance": job.rules.attend is not None,
        "training": methodical or job.own_steps.size > 0 or job.returned_noise.size > 0,
        "prepare": methodical,
        "receive": methodical,
        "valuation": job.validation is not None,
    }[part]


def _numbers(job: Job) -> dict[str, Any]:
    how, methodical = job.rules.valuation, job.method_rules
    return {
        "num_rounds": job.num_rounds, "local_steps": job.local_steps, "every": job.every,
        "candidate_batch": job.work.batch_size if job.rules.candidate_loss.startswith("minibatch") else 0,
        "checks": int(not _is_ours(job.strategy)), "method": -1 if how is None else METHODS[how.method],
        "num_orders": 0 if how is None else how.num_permutations, "min_present": job.rules.min_present,
        "one_of_each": int(methodical is not None and methodical.state_size > 0),
        "server_step_size": job.server_step_size, "tolerance": 0.0 if how is None else float(how.tolerance),
    }  # fmt: skip


def _shared(job: Job, stop: Any) -> dict[str, Any]:
    """Arrays that rounds only read, and copies of those that they change."""
    rules, method = job.rules, job.method_rules
    nothing = np.empty(0)
    return {
        "stop": stop, "step_sizes": _own(job.step_sizes), "table": _own(rules.table), "memory": rules.memory.copy(),
        "weights": job.weights.copy(), "attend_table": _own(rules.attend_table),
        "attend_memory": rules.attend_memory.copy(), "present": np.ones(job.weights.size, dtype=np.bool_),
        "objective": job.weights, "own_steps": job.own_steps, "returned_noise": _own(job.returned_noise),
        "method_table": nothing if method is None else _own(method.table),
        "method_memory": nothing if method is None else method.memory.copy(),
        "states": np.empty((0, 0)),
        "compress_table": nothing if method is None else _own(method.compress_table),
    }  # fmt: skip


def _method_states(job: Job) -> dict[str, Array]:
    rules = job.method_rules
    if rules is None:
        return {}
    # Untouched zeros take no memory, which matters for a million clients.
    states = (
        np.zeros((job.weights.size, rules.state_size)) if rules.states is None else np.array(rules.states, order="C")
    )
    return {"method_memory": rules.memory.copy(), "states": states}


def _buffers(job: Job) -> dict[str, Any]:
    sizes = job.sizes
    recorded = {name: np.empty((0,) * ndim, dtype=kind) for name, kind, ndim in _RECORDED}
    return {
        "model": np.zeros(sizes["v"]), "server_model": np.zeros(sizes["v"]), "change": np.zeros(sizes["v"]),
        "counts": np.zeros(0, dtype=np.int64), "totals": np.zeros(len(RECORDS)), "report": np.zeros(5),
        "values": np.zeros(sizes["m"]), "known": np.zeros(sizes["coalitions"]),
        "num_steps": np.zeros(sizes["r"], dtype=np.int64),
        **{
            name: np.zeros(tuple(sizes[size] for size in ARGUMENTS[name].shape), dtype=ARGUMENTS[name].kind)
            for name in BUFFERS
        },
        **recorded, **_recording(job),
    }  # fmt: skip


def _recording(job: Job) -> dict[str, Array]:
    """Allocate the records of a replicate, one row per recorded round."""
    blanks = {record.buffer: record.blank for record in RECORDS.values()}
    return {f"recorded_{name}": np.full(shape, blanks[name]) for name, shape in job.recorded_shapes.items()}


def _own(table: Array) -> Array:
    # the loop is compiled for writable arrays, although it does not write to this one
    return np.require(table, requirements=["C", "W"])


def _is_ours(strategy: object) -> bool:
    """Whether a strategy consists of parts of this package, whose rules are tested."""
    if is_dataclass(strategy):
        parts = (getattr(strategy, field.name) for field in fields(strategy))
        return type(strategy).__module__.startswith("fedtheory.") and all(map(_is_ours, parts))
    return strategy is None or isinstance(strategy, bool | int | float | str | np.ndarray | tuple)
