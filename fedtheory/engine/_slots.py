"""Functions plugged into the compiled round loop, passed by address.

The loop takes them as values of a function type, so that it is compiled and cached once per family and never runs a
stale rule. To look up the machine code of eight functions takes half a millisecond; that is done once per simulation,
and each replicate passes eight integers.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from functools import lru_cache
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from fedtheory.engine.contract import ARGUMENTS, SLOTS, LocalWork, Slots
from fedtheory.selection.rules import Slot

__all__ = ["address_of", "functions_at", "lent", "signature_of"]

_KINDS = {
    "int64": types.int64,
    "float64": types.float64,
    "bool": types.boolean,
    "void": types.void,
    "generator": typeof(np.random.default_rng(0)),
    "work": typeof(LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)),
}


def signature_of(slot: Slot, problem: Any = None) -> Any:
    """Numba's signature of a slot, for a family whose arrays have this type; only what it writes is writable."""
    return _signature(slot, problem if "problem" in slot.arguments else None)


@lru_cache(maxsize=256)
def _signature(slot: Slot, problem: Any) -> Any:
    return _KINDS[slot.returns](*(_type_of(name, slot, problem) for name in slot.arguments))


def _type_of(name: str, slot: Slot, problem: Any) -> Any:
    argument = ARGUMENTS[name]
    if argument.kind == "problem":
        return problem
    kind = _KINDS[argument.kind]
    if not argument.shape:
        return kind
    return types.Array(kind, len(argument.shape), "C", readonly=name not in slot.writes)


def address_of(function: Any, signature: Any) -> int:
    """Compile a function for a signature and return where its machine code begins."""
    return _compiled(function, signature)[1]


@lru_cache(maxsize=256)
def _compiled(function: Any, signature: Any) -> tuple[Any, int]:
    # With what numba made of it, which has to live as long as its address is known here.
    found = function.get_compile_result(signature)
    return found, int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


@intrinsic
def _functions_at(typing_context, addresses, problem):
    """Values of function types, one for each slot, whose machine code begins at the addresses."""
    kinds = [types.FunctionType(signature_of(slot, problem)) for slot in SLOTS.values()]
    functions = types.NamedTuple(kinds, Slots)

    def lower(context, builder, signature, arguments):
        values = []
        for place, kind in enumerate(kinds):
            value = cgutils.create_struct_proxy(kind)(context, builder)
            value.jit_addr = builder.inttoptr(builder.extract_value(arguments[0], place), value.jit_addr.type)
            values.append(value._getvalue())
        return context.make_tuple(builder, functions, values)

    return functions(addresses, problem), lower


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
        if isinstance(kind, types.Array):
            # Plain Python gets an array of its own, which is read-only where the slot's is: not the writable original.
            fields.parent = cgutils.get_null_value(fields.parent.type)
        value = fields._getvalue()
    return value


def _as_they_are(functions, problem):
    return functions


def _as_it_is(value):
    return value


# With numba switched off everything is plain Python, and functions stand in the place of their addresses.
functions_at = _as_they_are if config.DISABLE_JIT else _functions_at
lent = _as_it_is if config.DISABLE_JIT else _lent
