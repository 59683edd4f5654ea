"""Matrix products of small layers with sums that stay in the processor's registers.

Numba vectorizes only the innermost loop. A sum of outer products would then read and write its result every few terms,
and a table of inner products would be summed across registers one number at a time. Here, a tile of the result, which
consists of several rows of vectors of eight numbers, is read once and written once.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from functools import partial

import llvmlite.binding
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from fedtheory._support.compiling import compiled

__all__ = ["LANES", "ROWS", "add_products", "write_inner_products"]

# Sums of 5 by 4 vectors of eight doubles fill 20 of the 32 registers of AVX-512, 5 by 1 of them 10 of the 16 of AVX2.
LANES, ROWS = 8, 5
_FEATURES = numba.config.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten()
VECTORS = 4 if "+avx512f" in _FEATURES else 1
_WIDE = VECTORS * LANES
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_TOTAL, _LEFT, _RIGHT, _NUMBERS = 0, 3, 4, 5  # positions among the arguments of ``_add_tile``


@compiled
def add_products(total, num_rows, left, right, numbers, count, fresh):
    """Add to row i < num_rows of ``total`` the sum over k < count of left[i, k] times row numbers[k] of ``right``.

    If fresh, the rows of ``total`` start from zero. ``total`` and ``right`` have a multiple of eight columns. The terms
    of each entry are added in the order of k, each with one rounding where the processor can.
    """
    tall, num_columns = num_rows - num_rows % ROWS, total.shape[1]
    wide = num_columns - num_columns % _WIDE
    for column in range(0, wide, _WIDE):
        for row in range(0, tall, ROWS):
            _add_tile(total, row, column, left, right, numbers, count, fresh, ROWS, VECTORS)
        for row in range(tall, num_rows):
            _add_tile(total, row, column, left, right, numbers, count, fresh, 1, VECTORS)
    for column in range(wide, num_columns, LANES):
        for row in range(0, tall, ROWS):
            _add_tile(total, row, column, left, right, numbers, count, fresh, ROWS, 1)
        for row in range(tall, num_rows):
            _add_tile(total, row, column, left, right, numbers, count, fresh, 1, 1)


def _add_tile(total, row, column, left, right, numbers, count, fresh, height, width):
    """Add the products to ``height`` rows and ``width`` vectors of ``total`` from (row, column) on."""
    columns = slice(column, column + width * LANES)
    tile = total[row : row + height, columns]
    if fresh:
        tile[:] = 0.0
    for k in range(count):
        tile += left[row : row + height, k, None] * right[numbers[k], columns]


@overload(_add_tile, prefer_literal=True)
def _compiled_tile(total, row, column, left, right, numbers, count, fresh, height, width):
    def tile(total, row, column, left, right, numbers, count, fresh, height, width):
        return _tile(total, row, column, left, right, numbers, count, fresh, height, width)

    return tile


@intrinsic(prefer_literal=True)
def _tile(typing_context, total, row, column, left, right, numbers, count, fresh, height, width):
    index = types.intp
    signature = types.void(total, index, index, left, right, numbers, index, types.boolean, height, width)

    def lower(context, builder, signature, arguments):
        _lower(context, builder, signature.args, arguments, height.literal_value, width.literal_value)
        return context.get_dummy_value()

    return signature, lower


def _lower(context, builder, kinds, arguments, height, width):
    _, row, column, _, _, _, count, fresh, *_ = arguments
    entry = partial(_entry, context, builder, kinds, arguments)
    rows = [builder.add(row, context.get_constant(types.intp, i)) for i in range(height)]
    columns = [builder.add(column, context.get_constant(types.intp, LANES * v)) for v in range(width)]
    sums = {(i, j): cgutils.alloca_once(builder, _VECTOR) for i in rows for j in columns}
    with builder.if_else(fresh) as (from_zero, from_total):
        with from_zero:
            for kept in sums.values():
                builder.store(ir.Constant(_VECTOR, [0.0] * LANES), kept)
        with from_total:
            for place, kept in sums.items():
                builder.store(_load(builder, entry(_TOTAL, *place)), kept)
    with cgutils.for_range(builder, count, intp=count.type) as loop:
        number = builder.load(entry(_NUMBERS, loop.index))
        terms = {j: _load(builder, entry(_RIGHT, number, j)) for j in columns}
        factors = {i: _spread(builder, builder.load(entry(_LEFT, i, loop.index))) for i in rows}
        for (i, j), kept in sums.items():
            _accumulate(builder, kept, factors[i], terms[j])
    for place, kept in sums.items():
        builder.store(builder.load(kept), _vector(builder, entry(_TOTAL, *place)), align=8)


@compiled
def write_inner_products(table, left, right, numbers, count):
    """Write to table[i, k] the inner product of left[i] and row numbers[k] of ``right``, for k < count.

    The number of rows of ``left`` is a multiple of five. ``numbers`` and ``table`` are filled up to the next multiple
    of four, for which they must have room. The length of rows is a multiple of eight.
    """
    for row in range(0, left.shape[0], ROWS):
        for first in range(0, count, VECTORS):
            _write_tile(table, row, first, left, right, numbers, VECTORS)


def _write_tile(table, row, first, left, right, numbers, width):
    """Write ``ROWS`` times ``width`` inner products."""
    rows, columns = slice(row, row + ROWS), slice(first, first + width)
    table[rows, columns] = left[rows] @ right[numbers[columns]].T


@overload(_write_tile, prefer_literal=True)
def _compiled_inner_tile(table, row, first, left, right, numbers, width):
    def tile(table, row, first, left, right, numbers, width):
        return _inner_tile(table, row, first, left, right, numbers, width)

    return tile


@intrinsic(prefer_literal=True)
def _inner_tile(typing_context, table, row, first, left, right, numbers, width):
    signature = types.void(table, types.intp, types.intp, left, right, numbers, width)

    def lower(context, builder, signature, arguments):
        _lower_inner(context, builder, signature.args, arguments, width.literal_value)
        return context.get_dummy_value()

    return signature, lower


def _lower_inner(context, builder, kinds, arguments, width):
    _, row, first, left, *_ = arguments
    entry = partial(_entry, context, builder, kinds, arguments)
    rows = [builder.add(row, context.get_constant(types.intp, i)) for i in range(ROWS)]
    columns = [builder.add(first, context.get_constant(types.intp, k)) for k in range(width)]
    numbers = {k: builder.load(entry(_NUMBERS, k)) for k in columns}
    zeros = ir.Constant(_VECTOR, [0.0] * LANES)
    sums = {(i, k): cgutils.alloca_once_value(builder, zeros) for i in rows for k in columns}
    count = builder.extract_value(cgutils.create_struct_proxy(kinds[_LEFT])(context, builder, left).shape, 1)
    with cgutils.for_range_slice(builder, count.type(0), count, count.type(LANES), intp=count.type) as (j, _):
        terms = {k: _load(builder, entry(_RIGHT, number, j)) for k, number in numbers.items()}
        factors = {i: _load(builder, entry(_LEFT, i, j)) for i in rows}
        for (i, k), kept in sums.items():
            _accumulate(builder, kept, factors[i], terms[k])
    for i in rows:
        folded = _folded(builder, [builder.load(sums[i, k]) for k in columns])
        builder.store(folded, builder.bitcast(entry(_TOTAL, i, first), folded.type.as_pointer()), align=8)


def _accumulate(builder, kept, factor, term):
    # "contract": multiply and add with one rounding
    product = builder.fmul(factor, term, flags=("contract",))
    builder.store(builder.fadd(builder.load(kept), product, flags=("contract",)), kept)


def _folded(builder, vectors):
    """Sum of the entries of each vector, as one vector; the number of vectors is a power of two."""
    wanted = len(vectors)
    while len(vectors) > 1:
        vectors = [_in_twos(builder, *pair, 2 * LANES) for pair in zip(vectors[::2], vectors[1::2], strict=True)]
    (folded,) = vectors
    while folded.type.count > wanted:
        folded = _in_twos(builder, folded, folded, folded.type.count)
    return folded


def _in_twos(builder, one, other, count):
    kind = ir.VectorType(ir.IntType(32), count // 2)
    parts = [builder.shuffle_vector(one, other, ir.Constant(kind, list(range(at, count, 2)))) for at in (0, 1)]
    return builder.fadd(*parts)


def _entry(context, builder, kinds, arguments, which, *indices):
    view = cgutils.create_struct_proxy(kinds[which])(context, builder, arguments[which])
    checked = context.enable_boundscheck
    return cgutils.get_item_pointer(context, builder, kinds[which], view, indices, boundscheck=checked)


def _vector(builder, first):
    return builder.bitcast(first, _VECTOR.as_pointer())


def _load(builder, first):
    return builder.load(_vector(builder, first), align=8)


def _spread(builder, number):
    nothing, zeros = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    one = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, zeros)
