"""Functions plugged into the compiled round loop, passed by address.

The loop takes them as values of a function type, so that it is compiled and cached once and never runs a stale rule. To
look up the machine code of eight functions takes half a millisecond; that is done once per simulation, and each
replicate passes eight integers.

Nor does the loop know the family: it passes on a place in memory, where the addresses of the kernels stand before the
family's arrays. A few instructions, compiled for each slot and type of arrays, take both from there.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from functools import lru_cache
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from fedtheory._support.compiling import compiled
from fedtheory._support.progress import announced
from fedtheory.engine.contract import ARGUMENTS, KERNELS, SLOTS, LocalWork, Slots
from fedtheory.selection.rules import Slot

__all__ = [
    "address_of",
    "address_through",
    "functions_at",
    "laid_out",
    "lent",
    "num_words",
    "placed",
    "put",
    "signature_of",
]

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
    with announced(f"compiling {getattr(function, '__name__', 'a rule')}"):
        found = function.get_compile_result(signature)
    return found, int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def laid_out(arrays: Any) -> Any:
    """Numba's type of what stands in memory, from that of a family's arrays: whose record they are does not show.

    Raises
    ------
    TypeError
        If there is something else than arrays, numbers and tuples of them.
    """
    if isinstance(arrays, types.BaseTuple):
        return types.Tuple([laid_out(part) for part in arrays.types])
    if isinstance(arrays, types.Array):
        return arrays.copy(readonly=True)
    if cpu_target.target_context.data_model_manager[arrays].contains_nrt_meminfo():
        message = f"what kernels read must be arrays, numbers, or tuples of them, got {arrays}"
        raise TypeError(message)
    return arrays


def _block(layout: Any) -> Any:
    return types.Tuple([types.UniTuple(types.int64, len(KERNELS)), layout])


def num_words(layout: Any) -> int:
    """Eight bytes so often hold the addresses of the kernels and a family's arrays.

    >>> num_words(laid_out(typeof((np.zeros((3, 2)),)))) - len(KERNELS)  # of a matrix: 5 words, 2 sizes, 2 strides
    9
    """
    context = cpu_target.target_context
    return -(-int(context.get_abi_sizeof(context.get_data_type(_block(layout)))) // 8)


@compiled
def put(room: Any, kernels: Any, arrays: Any) -> None:
    """Put the addresses of the kernels and a family's arrays into memory: a place that lasts as long as the arrays."""
    _write_into(room, (kernels, arrays))


@intrinsic
def _write_into(typing_context, room, block):
    def lower(context, builder, signature, arguments):
        place = cgutils.create_struct_proxy(room)(context, builder, arguments[0]).data
        place = builder.bitcast(place, context.get_data_type(block).as_pointer())
        # Whoever calls holds the arrays; what counts the references to them is gone with this call.
        context.pack_value(builder, block, _uncounted(context, builder, block, arguments[1]), place)
        return context.get_dummy_value()

    return types.void(room, block), lower


def _through(place: int) -> Any:
    @compiled
    def call(block, *arguments):
        return _call_kernel(block, place, arguments)

    return call


_THROUGH = {name: _through(place) for place, name in enumerate(KERNELS)}


def address_through(name: str, layout: Any) -> int:
    """Address of what calls a kernel with the arrays that stand behind its address."""
    signature = signature_of(KERNELS[name], types.CPointer(_block(layout)))
    return address_of(_THROUGH[name], signature.return_type(signature.args[0], types.StarArgTuple(signature.args[1:])))


@intrinsic(prefer_literal=True)
def _call_kernel(typing_context, block, place, arguments):
    kernel = signature_of(tuple(KERNELS.values())[place.literal_value], block.dtype[1])

    def lower(context, builder, signature, given):
        address = builder.load(cgutils.gep_inbounds(builder, given[0], 0, 0, place.literal_value))
        arrays = context.unpack_value(builder, block.dtype[1], cgutils.gep_inbounds(builder, given[0], 0, 1))
        function = context.call_conv.get_function_type(kernel.return_type, kernel.args).as_pointer()
        status, found = context.call_conv.call_function(
            builder, builder.inttoptr(address, function), kernel.return_type, kernel.args,
            [arrays, *cgutils.unpack_tuple(builder, given[2])],
        )  # fmt: skip
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return found

    return kernel.return_type(block, place, arguments), lower


@intrinsic
def _functions_at(typing_context, addresses):
    """Values of function types, one for each slot, whose machine code begins at the addresses."""
    kinds = [types.FunctionType(signature_of(slot, types.voidptr)) for slot in SLOTS.values()]
    functions = types.NamedTuple(kinds, Slots)

    def lower(context, builder, signature, arguments):
        values = []
        for place, kind in enumerate(kinds):
            value = cgutils.create_struct_proxy(kind)(context, builder)
            value.jit_addr = builder.inttoptr(builder.extract_value(arguments[0], place), value.jit_addr.type)
            values.append(value._getvalue())
        return context.make_tuple(builder, functions, values)

    return functions(addresses), lower


@intrinsic
def _placed(typing_context, address):
    """Return the place in memory that has this address."""

    def lower(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), lower


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


def _as_it_is(value):
    return value


# With numba switched off everything is plain Python, and functions and arrays stand in the place of their addresses.
functions_at = _as_it_is if config.DISABLE_JIT else _functions_at
placed = _as_it_is if config.DISABLE_JIT else _placed
lent = _as_it_is if config.DISABLE_JIT else _lent
