"""Views of arrays without the checks of slices and reshaping, and prefetching of memory.

The checks take a fifteenth of a short round. Memory outside the caches has a high latency; prefetching overlaps many
requests.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["IN_CACHE", "matrix", "part", "prefetch"]

IN_CACHE = 2**15  # numbers in 256 kB; an array of this size stays in a cache, so that prefetching it only takes time


def part(array, begin, size):
    """View ``size`` entries, or rows, of a contiguous array from ``begin`` on; the array must be long enough.

    In compiled code the view must not outlive the array's owner.

    >>> import numpy as np
    >>> part(np.array([2, 3, 5, 7, 11]), 1, 3)
    array([3, 5, 7])
    """
    return array[begin : begin + size]


def matrix(flat, begin, num_rows, num_columns):
    """View entries of a contiguous array from ``begin`` on as a matrix; the array must be long enough.

    In compiled code the view must not outlive the array's owner.

    >>> import numpy as np
    >>> matrix(np.array([2, 3, 5, 7, 11, 13, 17]), 1, 2, 3)
    array([[ 3,  5,  7],
           [11, 13, 17]])
    """
    return flat[begin : begin + num_rows * num_columns].reshape((num_rows, num_columns))


@intrinsic
def _part(typing_context, array, begin, size):  # noqa: ARG001
    def lower(context, builder, signature, arguments):  # noqa: ARG001
        counts = zip(arguments[1:], (begin, size), strict=True)
        first, number = (context.cast(builder, value, count, types.intp) for value, count in counts)
        view = cgutils.create_struct_proxy(array)(context, builder, arguments[0])
        rest = cgutils.unpack_tuple(builder, view.shape)[1:]
        scale = context.get_constant(types.intp, 1)
        for extent in rest:
            scale = builder.mul(scale, extent)
        view.data = builder.gep(view.data, [builder.mul(first, scale)])
        view.shape = cgutils.pack_array(builder, [number, *rest])
        view.nitems = builder.mul(number, scale)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array, begin, size), lower


@overload(part)
def _compiled_part(array, begin, size):  # noqa: ARG001
    def view(array, begin, size):
        return _part(array, begin, size)

    return view if isinstance(array, types.Array) and array.layout == "C" else None


@intrinsic
def _matrix(typing_context, flat, begin, num_rows, num_columns):  # noqa: ARG001
    kind = types.Array(flat.dtype, 2, "C", readonly=not flat.mutable)

    def lower(context, builder, signature, arguments):  # noqa: ARG001
        counts = zip(arguments[1:], (begin, num_rows, num_columns), strict=True)
        first, *shape = (context.cast(builder, value, count, types.intp) for value, count in counts)
        whole = cgutils.create_struct_proxy(flat)(context, builder, arguments[0])
        view = cgutils.create_struct_proxy(kind)(context, builder)
        view.data = builder.gep(whole.data, [first])
        view.shape = cgutils.pack_array(builder, shape)
        view.strides = cgutils.pack_array(builder, [builder.mul(shape[1], whole.itemsize), whole.itemsize])
        view.itemsize, view.nitems = whole.itemsize, builder.mul(*shape)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return kind(flat, begin, num_rows, num_columns), lower


@overload(matrix)
def _compiled_matrix(flat, begin, num_rows, num_columns):  # noqa: ARG001
    def view(flat, begin, num_rows, num_columns):
        return _matrix(flat, begin, num_rows, num_columns)

    return view if isinstance(flat, types.Array) and flat.layout == "C" and flat.ndim == 1 else None


def prefetch(array, row, offset):
    """Prefetch the number at position ``offset`` of a row of a contiguous array."""


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
