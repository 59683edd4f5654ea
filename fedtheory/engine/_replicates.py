"""Independent replicates of one simulation: each has its own random streams and its own buffers."""

from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.engine._binding import BoundLoop, bound_loop
from fedtheory.engine._faults import failures_named, fault
from fedtheory.engine._fleet import Fleet
from fedtheory.engine._round_game import METHODS
from fedtheory.engine._rounds import FAULT, SHORTFALL, STOPPED
from fedtheory.engine.contract import Family, LocalWork, MethodState, Plan, Server, Streams, recording, workspace
from fedtheory.methods.rules import Method, MethodRules
from fedtheory.selection.rules import Rules, Strategy

__all__ = ["Job", "Replicate", "Running", "Template", "advance", "start", "template_of"]


@dataclass(frozen=True, eq=False)
class Job:
    """All that the replicates share."""

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
        """What the strategy is called in messages."""
        return repr(self.strategy)

    @property
    def sizes(self) -> dict[str, int]:
        """Clients K, at most d candidates and m chosen a round, v coordinates, coalitions, and r and s of a method."""
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
        """Recorded rounds, round 0 included."""
        return self.num_rounds // self.every + 1


@dataclass(frozen=True, eq=False)
class Replicate:
    """What one replicate wrote, how often each client was selected, and the round in which it diverged, or -1."""

    recording: Any
    counts: npt.NDArray[np.int64]
    diverged_at: int


class Running(NamedTuple):
    """A replicate that has begun: what the loop takes for its own, in the order of its arguments."""

    problem: Any
    validation: Any
    test: Any
    server: Server
    space: Any
    recording: Any
    fleet: Fleet
    method: MethodState
    streams: Streams

    @property
    def num_rounds(self) -> int:
        """Rounds that are over, also while others are running."""
        return int(self.space.report[1])


class Template(NamedTuple):
    """What is made once for all replicates, and copied by each where it writes."""

    job: Job
    loop: BoundLoop
    plan: Plan
    space: Any
    recording: Any


def template_of(job: Job) -> Template:
    """Bind the loop, and make what replicates are copied from."""
    return Template(
        job, bound_loop(job.family, job.rules, job.method_rules, (job.validation, job.test)),
        _plan(job, np.zeros(1, dtype=np.bool_)),
        workspace(job.initial, job.sizes), recording(job.record, job.every, job.num_recorded, job.sizes),
    )  # fmt: skip


def start(template: Template, seed: np.random.SeedSequence) -> Running:
    """Make a replicate that is about to begin its first round."""
    job, (selection, training, attendance, method) = template.job, seed.spawn(4)
    rngs = [np.random.default_rng(selection), np.random.default_rng(training)]
    # To make a Generator and hand it over takes half as long as a short replicate: none is made that nobody draws from.
    rngs.append(rngs[0] if job.rules.attend is None else np.random.default_rng(attendance))
    rngs.append(rngs[0] if job.method_rules is None else np.random.default_rng(method))
    return Running(
        problem=job.family.own_arrays(), validation=None if job.validation is None else job.validation.own_arrays(),
        test=None if job.test is None else job.test.own_arrays(),
        server=_server(job), space=_emptied(template.space, job.initial), recording=_copied(template.recording),
        fleet=_fleet(job), method=_method(job), streams=Streams(*rngs),
    )  # fmt: skip


def advance(template: Template, state: Running) -> Replicate | None:
    """Run a replicate to its end; return what it wrote, or None if it was stopped before."""
    job, space = template.job, state.space
    work = job.work if job.method is None else job.work._replace(correction=space.correction)
    with failures_named(job, state):
        ended = template.loop(
            state.problem, state.validation, state.test, state.server, space, state.recording, work, state.fleet,
            state.method, template.plan, state.streams,
        )  # fmt: skip
    if ended == SHORTFALL:
        message = (
            f"at least {job.rules.min_present} clients must be available in every round (shortfall='allow' selects "
            f"fewer), got fewer in round {int(space.report[1])}"
        )
        raise ValueError(message)
    if ended == FAULT:
        raise ValueError(fault(job.name, space, state.fleet.present))
    return None if ended == STOPPED else Replicate(state.recording, space.counts, ended)


def _copied(arrays: Any) -> Any:
    return arrays._make(part.copy() if isinstance(part, np.ndarray) else part for part in arrays)


def _emptied(space: Any, initial: Array) -> Any:
    # Zeros that nobody touches take no memory, of a room for a million clients, say.
    return space._make(np.zeros(part.shape, part.dtype) for part in space)._replace(model=initial.copy())


def _server(job: Job) -> Server:
    # the table is only read; memory and weights are this replicate's own
    return Server(_own(job.rules.table), job.rules.memory.copy(), job.weights.copy())


def _method(job: Job) -> MethodState:
    rules, num_clients = job.method_rules, job.weights.size
    if rules is None:
        return MethodState(np.empty(0), np.empty(0), np.empty((0, 0)), np.empty(0))
    states = np.zeros((num_clients, rules.state_size)) if rules.states is None else np.array(rules.states, order="C")
    return MethodState(_own(rules.table), rules.memory.copy(), states, _own(rules.compress_table))


def _own(table: Array) -> Array:
    # the loop is compiled for arrays that can be written, though it does not write into this one
    return np.require(table, requirements=["C", "W"])


def _plan(job: Job, stop: Any) -> Plan:
    batch = job.work.batch_size if job.rules.candidate_loss.startswith("minibatch") else 0
    how = job.rules.valuation
    valuation = (-1, 0.0, 0) if how is None else (METHODS[how.method], float(how.tolerance), how.num_permutations)
    return Plan(
        stop, not _is_ours(job.strategy), batch, job.step_sizes, job.local_steps, job.server_step_size, *valuation
    )


def _fleet(job: Job) -> Fleet:
    rules, num_clients = job.rules, job.weights.size
    return Fleet(
        table=_own(rules.attend_table),
        memory=rules.attend_memory.copy(),
        present=np.ones(num_clients, dtype=np.bool_),
        objective=job.weights,
        min_present=rules.min_present,
        local_steps=job.own_steps,
        returned_noise=job.returned_noise,
    )


def _is_ours(strategy: object) -> bool:
    """Whether a strategy is made of this package's parts only, whose rules the tests of every strategy look at."""
    if is_dataclass(strategy):
        parts = (getattr(strategy, field.name) for field in fields(strategy))
        return type(strategy).__module__.startswith("fedtheory.") and all(map(_is_ours, parts))
    return strategy is None or isinstance(strategy, bool | int | float | str | np.ndarray | tuple)
