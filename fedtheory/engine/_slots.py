"""Functions plugged into the compiled round loop: a strategy's rules and a family's kernels, passed by address.

The loop takes them as values of a function type, so that it is compiled and cached once per family and never runs a
stale rule. To look up the machine code of eight functions takes half a millisecond; here that is done once per
simulation, and each replicate passes eight integers.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from fedtheory._compile import compiled, is_compiled
from fedtheory.engine._bridges import BRIDGES
from fedtheory.engine.rounds import Family, LocalWork, run_rounds
from fedtheory.selection.rules import Rules

__all__ = ["BoundLoop", "bound_loop"]

_VECTOR, _MATRIX, _CLIENTS = types.float64[::1], types.float64[:, ::1], types.int64[::1]
_RNG = typeof(np.random.default_rng(0))
_WORK = typeof(LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False))
_STATE = (types.int64, _VECTOR, _VECTOR, _VECTOR)


def _signatures(problem):
    """Signatures of the slots, for a family whose arrays have this type."""
    return {
        "losses": types.void(problem, _VECTOR, _CLIENTS, types.int64, _RNG, _VECTOR),
        "train": types.void(problem, _CLIENTS, _VECTOR, _VECTOR, _WORK, _RNG, _VECTOR, _MATRIX, _VECTOR),
        "excess": types.float64(problem, _VECTOR),
        "propose": types.int64(*_STATE, _RNG, _CLIENTS),
        "select": types.int64(*_STATE, _CLIENTS, _VECTOR, _RNG, _CLIENTS),
        "weigh": types.float64(*_STATE, _CLIENTS, _MATRIX, _RNG, _VECTOR),
        "observe": types.void(*_STATE, _CLIENTS, _VECTOR, _VECTOR),
        "attend": types.int64(types.int64, _VECTOR, _VECTOR, _RNG, types.boolean[::1]),
    }


@dataclass(frozen=True, eq=False)
class BoundLoop:
    """The round loop with its slots filled; it holds the functions, since the addresses point into them."""

    functions: tuple[Any, ...]
    addresses: tuple[int, ...] | None

    def __call__(self, problem: Any, *arguments: Any) -> int:
        """Run one replicate: the arguments of ``run_rounds`` without the slots."""
        if self.addresses is None:
            return int(run_rounds(problem, *self.functions, *arguments))
        return int(_run_at(self.addresses, problem, *arguments))


def bound_loop(family: Family, rules: Rules) -> BoundLoop:
    """Fill the slots: missing rules with the defaults, plain Python rules through a bridge.

    Raises
    ------
    TypeError
        If a rule does not have the arguments and the result of its slot.
    """
    functions = {"losses": family.losses, "train": family.train, "excess": family.excess}
    functions |= {name: getattr(rules, name) or default for name, default in _DEFAULTS.items()}
    if not is_compiled(run_rounds):  # numba is switched off: everything is plain Python
        return BoundLoop(tuple(functions.values()), None)
    for name in _DEFAULTS:
        if not is_compiled(functions[name]):
            functions[name] = BRIDGES[name](functions[name])
    signatures = _signatures(typeof(family.arrays))
    addresses = tuple(_address(name, functions[name], signature) for name, signature in signatures.items())
    return BoundLoop(tuple(functions.values()), addresses)


def _address(name: str, function: Any, signature: Any) -> int:
    try:
        found = function.get_compile_result(signature)
    except (NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[-1]
        message = f"the rule {name} must follow fedtheory.selection.rules, got {function.__name__}: {reason}"
        raise TypeError(message) from error
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


@intrinsic(prefer_literal=True)
def _function_at(typing_context, addresses, slot, problem):
    """Value of the function type of a slot whose machine code begins at an address."""
    function = types.FunctionType(tuple(_signatures(problem).values())[slot.literal_value])

    def lower(context, builder, signature, arguments):
        value = cgutils.create_struct_proxy(function)(context, builder)
        address = builder.extract_value(arguments[0], slot.literal_value)
        value.jit_addr = builder.inttoptr(address, value.jit_addr.type)
        return value._getvalue()

    return function(addresses, slot, problem), lower


@intrinsic
def _lent(typing_context, value):
    """Take a record of arrays, or a Generator, out of the counting of references: the caller holds it all along."""

    def lower(context, builder, signature, arguments):
        return _uncounted(context, builder, value, arguments[0])

    return value(value), lower


def _uncounted(context, builder, kind, value):
    if isinstance(kind, types.BaseTuple):
        for place, part in enumerate(kind.types):
            inner = _uncounted(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, inner, place)
    elif isinstance(kind, types.Array | types.NumPyRandomGeneratorType):
        fields = cgutils.create_struct_proxy(kind)(context, builder, value)
        fields.meminfo = cgutils.get_null_value(fields.meminfo.type)
        value = fields._getvalue()
    return value


@compiled
def _run_at(
    addresses, problem, server, space, recording, work, fleet, candidate_batch, step_sizes, local_steps,
    server_step_size, selection_rng, training_rng, attendance_rng,
):  # fmt: skip
    # One by one: numba tells the type of a tuple that holds a Generator fifty times as slowly as that of its parts.
    return run_rounds(
        _lent(problem),
        _function_at(addresses, 0, problem),
        _function_at(addresses, 1, problem),
        _function_at(addresses, 2, problem),
        _function_at(addresses, 3, problem),
        _function_at(addresses, 4, problem),
        _function_at(addresses, 5, problem),
        _function_at(addresses, 6, problem),
        _function_at(addresses, 7, problem),
        _lent(server), _lent(space), _lent(recording), work, _lent(fleet), candidate_batch, _lent(step_sizes),
        local_steps, server_step_size, _lent(selection_rng), _lent(training_rng), _lent(attendance_rng),
    )  # fmt: skip


@compiled
def _ask_nobody(round_index, table, memory, weights, rng, candidates):
    return 0


@compiled
def _share_equally(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    for i in range(chosen.size):
        coefficients[i] = 1.0 / chosen.size
    return 0.0


@compiled
def _forget(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    pass


@compiled
def _everyone(round_index, table, memory, rng, present):
    return present.size


_DEFAULTS: dict[str, Any] = {
    "propose": _ask_nobody,
    "select": None,
    "weigh": _share_equally,
    "observe": _forget,
    "attend": _everyone,
}
