"""Memory asked for before it is read, so that much of it is on its way at a time: in no cache, it comes late."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["IN_CACHE", "prefetch"]

IN_CACHE = 2**15  # an array of so many numbers, 256 kB, stays in a cache: to ask for it beforehand only takes time


def prefetch(array, row, offset):
    """Ask for the number that stands ``offset`` numbers after the beginning of a contiguous array's row."""


@intrinsic
def _prefetch(typing_context, array, row, offset):  # noqa: ARG001
    def lower(context, builder, signature, arguments):  # noqa: ARG001
        view = cgutils.create_struct_proxy(array)(context, builder, arguments[0])
        place = arguments[1]
        for extent in cgutils.unpack_tuple(builder, view.shape)[1:]:
            place = builder.mul(place, extent)
        address = builder.gep(view.data, [builder.add(place, arguments[2])])
        address, word = builder.bitcast(address, cgutils.voidptr_t), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, word, word, word])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(ask, [address, word(0), word(3), word(1)])  # to be read, into every cache, data
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), lower


@overload(prefetch)
def _compiled_prefetch(array, row, offset):  # noqa: ARG001
    def ask(array, row, offset):
        return _prefetch(array, row, offset)

    return ask
