"""A stretch of an array without the questions that a slice asks: these take a fifteenth of a lean round."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["part"]


def part(array, begin, size):
    """View the entries, or rows, of a contiguous array from ``begin`` on, which must have so many.

    Compiled, the view must not outlive what holds the array.

    >>> import numpy as np
    >>> part(np.array([2, 3, 5, 7, 11]), 1, 3)
    array([3, 5, 7])
    """
    return array[begin : begin + size]


@intrinsic
def _part(typing_context, array, begin, size):  # noqa: ARG001
    def lower(context, builder, signature, arguments):  # noqa: ARG001
        first, number = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], (begin, size), strict=True)
        )
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
