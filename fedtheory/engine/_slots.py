"""Functions plugged into the compiled round loop, called by address.

The loop uses only signatures and addresses, so it is compiled and cached once and never runs a stale rule. It is
independent of the family, too: kernels take the address of the family's arrays.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from functools import lru_cache
from typing import Any

from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from fedtheory.engine._blocks import GENERATOR, block_type
from fedtheory.engine.contract import ARGUMENTS, PARTS, SLOTS, LocalWork
from fedtheory.selection.rules import Slot

__all__ = ["KINDS", "address_of", "caller", "loop_address", "part_address", "signature_of"]

# Numba's types for the declarations of slots and of the state of a replicate.
KINDS = {
    "int64": types.int64,
    "address": types.int64,
    "float64": types.float64,
    "bool": types.boolean,
    "void": types.void,
    "generator": GENERATOR,
    "work": block_type(LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)),
}
# Blocks, which the loop passes on by address.
_PLACES = ("problem", "work")
_PART = types.float64(types.int64, types.int64, types.int64, types.int64)


def signature_of(slot: Slot, problem: Any = None) -> Any:
    """Numba's signature of a slot for a family's type of block; only arrays that the slot writes are writable."""
    return _signature(slot, problem if "problem" in slot.arguments else None)


@lru_cache(maxsize=256)
def _signature(slot: Slot, problem: Any) -> Any:
    return KINDS[slot.returns](*(_type_of(name, slot, problem) for name in slot.arguments))


def _type_of(name: str, slot: Slot, problem: Any) -> Any:
    argument = ARGUMENTS[name]
    if argument.kind == "problem":
        return problem
    kind = KINDS[argument.kind]
    if not argument.shape:
        return kind
    return types.Array(kind, len(argument.shape), "C", readonly=name not in slot.writes)


def address_of(function: Any, signature: Any) -> int:
    """Compile a function for a signature and return where its machine code begins."""
    return _compiled(function, signature)[1]


@lru_cache(maxsize=256)
def _compiled(function: Any, signature: Any) -> tuple[Any, int]:
    # The compiled function must be kept alive as long as its address is cached here.
    found = function.get_compile_result(signature)
    return found, int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def part_address(function: Any) -> int:
    """Compile an optional part of the round and return where its machine code begins."""
    return address_of(function, _PART)


def loop_address(function: Any) -> int:
    """Compile the round loop, a function of the address of a ``State``, and return where its machine code begins."""
    return address_of(function, types.int64(types.int64))


def caller(name: str) -> Any:
    """Return a function with which compiled code calls a slot by address."""
    if config.DISABLE_JIT:
        return _call_plainly
    return _calling(_PART) if name in PARTS else _calling(signature_of(SLOTS[name], types.voidptr), SLOTS[name])


def _call_plainly(function, arguments):
    return function(*arguments)


def _calling(called, slot=None):
    kinds = [
        types.int64 if slot is not None and slot.arguments[i] in _PLACES else kind for i, kind in enumerate(called.args)
    ]

    @intrinsic
    def call(typing_context, address, arguments):
        def lower(context, builder, signature, given):
            values = [
                context.cast(builder, value, one, kind)
                for value, one, kind in zip(
                    cgutils.unpack_tuple(builder, given[1]), arguments.types, kinds, strict=True
                )
            ]
            values = [
                value if kind == wanted else builder.inttoptr(value, cgutils.voidptr_t)
                for value, kind, wanted in zip(values, kinds, called.args, strict=True)
            ]
            function = context.call_conv.get_function_type(called.return_type, called.args).as_pointer()
            status, found = context.call_conv.call_function(
                builder, builder.inttoptr(given[0], function), called.return_type, called.args, values
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return found

        return called.return_type(types.int64, arguments), lower

    return call
