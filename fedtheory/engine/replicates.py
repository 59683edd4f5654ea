"""Independent replicates of a run: functions and arrays of the round loop, one set for each thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from fedtheory._support.jit import compiled_for, is_compiled
from fedtheory._support.progress import announced
from fedtheory._support.validate import Array
from fedtheory.engine import contract, loop
from fedtheory.engine.contract import KERNELS, PLUGGED, RECORDS, SLOTS, STREAMS, Family, LocalWork
from fedtheory.engine.defaults import DEFAULTS
from fedtheory.engine.faults import failures_named, fault, refused_rule
from fedtheory.engine.loop import BATCH, FAULT, FINISHED, NUMBERS, ROWS, SHORTFALL, STOPPED, Extra, Numbers, State
from fedtheory.methods.rules import METHOD_RULES, MethodRules
from fedtheory.selection.rules import Rules, Slot
from fedtheory.valuation.rounds import METHODS

if TYPE_CHECKING:
    from fedtheory.engine.settings import Settings

__all__ = ["Functions", "Job", "Replicate", "Worker", "compiled_rule", "functions_of", "guarded"]

_ARRAYS = ("problem", "validation", "test")
_CORE = ("losses", "train", "excess", "propose", "select", "weigh", "observe")
# Additional processor time of compilation with the steps in brackets of the round loop.
_EXTRA_SECONDS = 25
_OPTIONAL = ("mistakes", "attend", "correct", "message", "compress", "combine", "value")


@dataclass(frozen=True, eq=False)
class Job:
    """What all replicates of a run have in common: its settings, and what they are laid out as."""

    settings: "Settings"
    family: Family
    minimum: float
    validation: Family | None
    test: Family | None
    rules: Rules
    weights: Array
    work: LocalWork
    step_sizes: Array
    local_steps: int
    own_steps: npt.NDArray[np.int64]
    returned_noise: Array
    method_rules: MethodRules | None

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes K (clients), d (candidates), m (selected), v (coordinates), coalitions, and r and s of a method."""
        most = {"d": self.rules.max_candidates, "m": self.rules.max_selected}
        coalitions = 0 if self.rules.valuation is None else 2**self.rules.max_selected
        rows, state_size = (most["m"], self.method_rules.state_size) if self.method_rules else (0, 0)
        own = {"K": self.weights.size, "v": self.settings.initial.size, "coalitions": coalitions}
        return {**own, **most, "r": rows, "s": state_size}

    @property
    def num_rounds(self) -> int:
        """Rounds T."""
        return len(self.step_sizes) // self.local_steps

    @property
    def num_recorded(self) -> int:
        """Number of recorded rounds, including round 0."""
        return self.num_rounds // self.settings.record_every + 1

    @property
    def recorded_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what a replicate records, by buffer."""
        records = [RECORDS[name] for name in self.settings.record]
        return {each.buffer: (self.num_recorded, *(self.sizes[size] for size in each.shape)) for each in records}

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Columns of the records in a row of numbers, by buffer."""
        shapes = self.recorded_shapes
        widths = dict.fromkeys(NUMBERS, 1) | {name: int(np.prod(shapes.get(name, (0, 0))[1:])) for name in ROWS}
        ends = np.cumsum(list(widths.values()))
        return {name: slice(int(end) - widths[name], int(end)) for name, end in zip(widths, ends, strict=True)}

    @property
    def has_extra(self) -> bool:
        """Whether the run needs the steps in brackets of the round loop."""
        rules = self.rules
        return bool(
            self.method_rules is not None or self.own_steps.size or self.returned_noise.size or self.test is not None
            or self.validation is not None or rules.attend is not None or rules.value is not None
        )  # fmt: skip


class Replicate(NamedTuple):
    """Records of a replicate, selection counts, and the round in which it diverged, or -1."""

    recording: Mapping[str, Array]
    counts: npt.NDArray[np.int64]
    diverged_at: int


class Functions(NamedTuple):
    """Kernels and rules of a run by slot, and whether one of them is plain Python."""

    by_slot: Mapping[str, Callable[..., Any]]
    is_plain: bool


def functions_of(job: Job) -> Functions:
    """Fill the slots, and compile a user's rules with checked indices; TypeError if a rule does not fit its slot."""
    for family in (job.validation, job.test):
        if family is not None and numba.typeof(family.arrays) != numba.typeof(job.family.arrays):
            message = "validation and test samples must have arrays of the types of those of fed, got others"
            raise TypeError(message)
    homes = {**dict.fromkeys(SLOTS, job.rules), **dict.fromkeys(KERNELS, job.family)}
    homes |= dict.fromkeys(METHOD_RULES, job.method_rules)
    given: dict[str, Any] = {name: getattr(homes[name], name, None) for name in SLOTS}
    rules = {name: given[name] for name in PLUGGED if given[name] is not None}
    is_plain = not is_compiled(loop.run_replicates) or not all(map(is_compiled, rules.values()))
    filled: dict[str, Any] = {name: DEFAULTS[name] if one is None else one for name, one in given.items()}
    filled |= {name: compiled_rule(name, rule) for name, rule in rules.items() if is_compiled(rule)}
    if is_plain:
        filled = {name: guarded(SLOTS[name], function) for name, function in filled.items()}
    return Functions(filled, is_plain)


def guarded(slot: Slot, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for calls from Python, in which arrays that the slot does not write are read-only."""
    writes = [name in slot.writes for name in slot.arguments]

    def called(*values: Any) -> Any:
        return function(*(value if own else _read_only(value) for value, own in zip(values, writes, strict=True)))

    return called


def _read_only(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("fedtheory.")


@lru_cache(maxsize=256)
def compiled_rule(name: str, rule: Any) -> Any:
    """Compile a user's rule for its slot; an index out of bounds raises an error."""
    if _is_ours(rule):
        return rule
    signature = contract.signature_of(name)
    options = {"nogil": True, "boundscheck": True}
    try:
        found = numba.njit(signature.args, **options)(rule.py_func)
        returned = found.nopython_signatures[0].return_type
        if returned == signature.return_type:
            return found
        if SLOTS[name].returns == "int64" and not isinstance(returned, numba.types.Integer | numba.types.Boolean):
            message = f"it returns {returned} where a whole number is wanted"
            raise TypeError(message)
        return numba.njit(signature, **options)(rule.py_func)
    except (numba.NumbaError, TypeError) as error:
        raise refused_rule(name, rule, error) from error


class Worker:
    """Arrays of one thread, which runs several replicates in sequence."""

    def __init__(self, job: Job, functions: Functions, stop: npt.NDArray[np.bool_]) -> None:
        self.job, self.functions, self.stop = job, functions, stop
        has_own_correction = job.method_rules is not None
        self.work = job.work._replace(correction=np.zeros(job.sizes["v"] if has_own_correction else 0))
        self.numbers, self.state = _numbers(job), _state(job)
        self._compiled: Any = None
        self.families = dict(zip(_ARRAYS, (job.family, job.validation, job.test), strict=True))

    @property
    def num_at_once(self) -> int:
        """Number of replicates of one call; the arrays of some families are reset between calls."""
        return 1 if self.functions.is_plain or self.job.family.private else BATCH

    @property
    def num_rounds(self) -> int:
        """Number of finished rounds, which another thread may read during a run."""
        return int(self.state.report[1])

    def compile(self) -> None:
        """Compile the loop and the functions that it calls, with a message if that takes longer than two seconds."""
        if self.functions.is_plain:
            return
        seconds = self.job.family.compilation + (_EXTRA_SECONDS if self.job.has_extra else 0)
        text = (
            f"fedtheory compiles this kind of run, in about {seconds} s of processor time (half of it after a similar "
            "run), once on this machine (in every process for rules of your own)"
        )
        with announced(text):
            arguments = self._arguments([np.random.SeedSequence(0)], *self._results(0))
            self._loop(arguments)(*arguments.values())

    def run(self, seeds: Sequence[np.random.SeedSequence]) -> list[Replicate] | None:
        """Run one replicate for each seed; return their records, or None if they were stopped."""
        job = self.job
        recorded, counts, ended = self._results(len(seeds))
        arguments = self._arguments(seeds, recorded, counts, ended)
        run = self._loop(arguments)
        with failures_named(job, self.state):
            run(*arguments.values())
        worst = int(ended.min())
        if worst == STOPPED:
            return None
        if worst in (SHORTFALL, FAULT):
            raise ValueError(fault(job, self.state, is_short=worst == SHORTFALL))
        self.state.report[:] = 0.0  # no round of the next replicates is finished
        return [Replicate(_split(job, recorded[i]), counts[i], int(ended[i])) for i in range(len(seeds))]

    def _results(self, number: int) -> tuple[Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Allocate the results of a number of replicates."""
        recorded = np.full((number, self.job.num_recorded, self.job.columns[ROWS[-1]].stop), np.nan)
        return recorded, np.zeros((number, self.job.weights.size), dtype=np.int64), np.full(number, FINISHED)

    def _arguments(self, seeds: Any, recorded: Array, counts: Any, ended: Any) -> dict[str, Any]:
        job, by_slot = self.job, self.functions.by_slot
        needed = 4 if job.method_rules is not None else 3 if job.rules.attend is not None else 2
        rngs = [[np.random.default_rng(child) for child in seed.spawn(needed)] for seed in seeds]
        # The type of a tuple includes its length, so that tuples are filled up.
        number = len(STREAMS) if job.has_extra else 2
        streams = [(*one, *one[:1] * (number - needed))[:number] for one in rngs]
        optional = {name: by_slot[name] if job.has_extra else None for name in _OPTIONAL}
        arrays = {name: None if family is None else family.own_arrays() for name, family in self.families.items()}
        if job.has_extra:
            arrays = {name: arrays["problem"] if one is None else one for name, one in arrays.items()}
        return {
            **arrays, **{name: by_slot[name] for name in _CORE}, **optional, "numbers": self.numbers,
            "state": self.state, "extra": _extra(job) if job.has_extra else None, "work": self.work, "stop": self.stop,
            "rngs": (*streams, *streams[:1] * (BATCH - len(streams))), "recorded": recorded, "counts": counts,
            "ended": ended,
        }  # fmt: skip

    def _loop(self, arguments: Mapping[str, Any]) -> Any:
        """Return the loop for the arguments of this run, compiled unless a rule is plain Python."""
        if self._compiled is not None:
            return self._compiled
        if self.functions.is_plain:
            run: Any = loop.run_replicates
            return run.py_func if is_compiled(run) else run
        problem = numba.typeof(arguments["problem"])
        kinds = {
            name: contract.function_type(name, problem) if name in SLOTS and value is not None else numba.typeof(value)
            for name, value in arguments.items()
        }
        is_kept = all(_is_our_type(arguments[name]) for name in _ARRAYS)
        self._compiled = _compiled_loop(numba.types.void(*kinds.values()), is_kept=is_kept)
        return self._compiled


@lru_cache(maxsize=64)
def _compiled_loop(signature: Any, *, is_kept: bool) -> Any:
    return compiled_for(signature, loop.run_replicates, is_kept=is_kept)


def _is_our_type(value: Any) -> bool:
    if not isinstance(value, tuple):
        return True
    return (type(value) is tuple or _is_ours(type(value))) and all(map(_is_our_type, value))


def _split(job: Job, row: Array) -> dict[str, Array]:
    """Return what a replicate recorded, by buffer."""
    found: dict[str, Any] = {}
    for name, shape in job.recorded_shapes.items():
        values = row[:, job.columns[name]].reshape(shape)
        found[name] = np.where(np.isnan(values), -1, values).astype(np.int64) if name == "selected" else values
    return found


def _numbers(job: Job) -> Numbers:
    how, method = job.rules.valuation, job.method_rules
    return Numbers(
        num_rounds=job.num_rounds, local_steps=job.local_steps, every=job.settings.record_every,
        candidate_batch=job.work.batch_size if job.rules.candidate_loss.startswith("minibatch") else 0,
        min_present=job.rules.min_present,
        records_excess="excess" in job.recorded_shapes,
        records_accuracy="accuracy" in job.recorded_shapes,
        has_method=method is not None,
        needs_different_clients=method is not None and method.state_size > 0,
        combines=method is not None and method.combine is not None,
        valuation=-1 if how is None else METHODS[how],
        server_step_size=float(job.settings.server_step_size),
    )  # fmt: skip


def _state(job: Job) -> State:
    rules, sizes = job.rules, job.sizes
    d, m, v = (sizes[name] for name in "dmv")
    ends = np.array([job.columns[name].stop for name in ROWS])
    return State(
        step_sizes=_own(job.step_sizes), table=_own(rules.table), first_memory=_own(rules.memory),
        memory=rules.memory.copy(), objective=_own(job.weights), weights=job.weights.copy(),
        initial=_own(job.settings.initial), model=np.zeros(v), server_model=np.zeros(v), change=np.zeros(v),
        candidates=np.zeros(d, dtype=np.int64), losses=np.zeros(d), chosen=np.zeros(m, dtype=np.int64),
        updates=np.zeros((m, v)), coefficients=np.zeros(m), mean_losses=np.zeros(m), velocity=np.zeros(v),
        slope=np.zeros(v), ends=ends, totals=np.zeros(4), report=np.zeros(5),
    )  # fmt: skip


def _extra(job: Job) -> Extra:
    """Allocate the arrays of the steps in brackets, anew for each call."""
    rules, sizes = job.rules, job.sizes
    method = MethodRules() if job.method_rules is None else job.method_rules
    m, r, v = (sizes[name] for name in "mrv")
    # Untouched zeros take no memory, which matters for a million clients.
    states = np.zeros((sizes["K"], method.state_size)) if method.states is None else np.array(method.states, order="C")
    return Extra(
        own_steps=job.own_steps, returned_noise=_own(job.returned_noise), attend_table=_own(rules.attend_table),
        attend_memory=rules.attend_memory.copy(), present=np.ones(sizes["K"], dtype=np.bool_),
        method_table=_own(method.table), method_memory=method.memory.copy(), compress_table=_own(method.compress_table),
        states=states, starts=np.zeros((r, v)), corrections=np.zeros((r, v)), num_steps=np.zeros(r, dtype=np.int64),
        messages=np.zeros((r, v)), values=np.zeros(m), known=np.zeros(sizes["coalitions"]),
        no_client=np.zeros(1, dtype=np.int64), accuracy=np.zeros(1),
        first_attend_memory=_own(rules.attend_memory), first_method_memory=_own(method.memory),
        first_states=np.zeros_like(states) if method.states is None else states.copy(),
    )  # fmt: skip


def _own(values: Array) -> Array:
    """Copy an array, since the loop is compiled for writable contiguous arrays, and rules may write into it."""
    return np.array(values, order="C")
