"""Records of arrays and numbers that are passed to compiled functions by address.

Numba passes a record of 40 arrays to a function as about 300 machine words at every call. A block holds the same record
in memory. A function takes the address of the block and loads only the attributes that it uses.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

import ctypes
import hashlib
from collections.abc import Iterator
from functools import cache, cached_property, reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.numpy_support import as_dtype

GENERATOR, _BITS = typeof(np.random.default_rng(0)), typeof(np.random.PCG64(0))
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_WORD = 8  # bytes
_dtype = cache(as_dtype)
_WHOLE, _DOUBLE = ir.IntType(64), ir.DoubleType()


class Block(types.Type):  # type: ignore[misc]
    """Numba type of the address of a record with numbers, arrays, generators, or tuples of them as fields."""

    def __init__(self, fields):
        self.fields = tuple(fields)
        types.Type.__init__(self, f"Block({hashlib.sha256(repr(self.fields).encode()).hexdigest()[:16]})")

    @property
    def key(self):
        return self.fields

    @cached_property
    def kinds(self):
        """Types of the fields by name."""
        return dict(self.fields)

    @cached_property
    def offsets(self):
        """Offsets of the fields by name, in words."""
        found, place = {}, 0
        for name, kind in self.fields:
            found[name] = place
            place += num_words(kind)
        return found


def num_words(kind):
    """Return the number of words of a value: one for a number, and address, shape and strides for an array."""
    if isinstance(kind, types.Array):
        return 1 + 2 * kind.ndim
    if kind == GENERATOR:
        return 3
    return sum(map(num_words, kind.types)) if isinstance(kind, types.BaseTuple) else 1


def block_type(record: Any) -> Block:
    """Numba type of the block of a NamedTuple.

    Raises
    ------
    TypeError
        If a field is neither a number nor an array, nor a tuple of these.
    """
    fields = [(name, typeof(value)) for name, value in zip(record._fields, record, strict=True)]
    for name, kind in fields:
        if not _fits(kind):
            message = f"what kernels read must be arrays, numbers, or tuples of them, got {kind} as {name}"
            raise TypeError(message)
    return Block(fields)


def _fits(kind):
    if isinstance(kind, types.BaseTuple):
        return all(map(_fits, kind.types))
    return isinstance(kind, types.Integer | types.Float | types.Boolean | types.Array)


def words_of(value: Any, kind: Any) -> Iterator[int]:
    """Yield the words of a value. Raise TypeError for an array of another type, which would be misread."""
    if isinstance(kind, types.Array):
        contiguous = kind.layout != "C" or value.flags.c_contiguous
        if value.dtype != _dtype(kind.dtype) or value.ndim != kind.ndim or not contiguous:
            message = f"what a block holds must have its type {kind}, got {typeof(value)}"
            raise TypeError(message)
        yield value.__array_interface__["data"][0]
        yield from value.shape
        yield from value.strides
    elif kind == GENERATOR:
        yield _pointer(value.bit_generator.capsule, b"BitGenerator")
        yield from (id(value), id(value.bit_generator))
    elif isinstance(kind, types.BaseTuple):
        for part, inner in zip(value, kind.types, strict=True):
            yield from words_of(part, inner)
    elif isinstance(kind, types.Float):
        yield int(np.float64(value).view(np.int64))
    else:
        yield int(value)


def written(record: Any, kind: Block) -> Any:
    """Return the words of a record, which are valid as long as its arrays exist."""
    return np.array(
        [word for (_, one), value in zip(kind.fields, record, strict=True) for word in words_of(value, one)], np.int64
    )


def address(words: Any) -> int:
    """Return the address of an array's memory."""
    return int(words.__array_interface__["data"][0])


@register_model(Block)
class _BlockModel(models.OpaqueModel):  # type: ignore[misc]
    pass


@infer_getattr
class _BlockAttributes(AttributeTemplate):  # type: ignore[misc]
    key = Block

    def generic_resolve(self, block, name):
        return block.kinds.get(name)


@lower_getattr_generic(Block)
def _load(context, builder, block, place, name):
    return _read(context, builder, block.kinds[name], place, block.offsets[name])


def _read(context, builder, kind, place, offset):
    """Load a value. Blocks do not change during a run, so LLVM may load each word once."""
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, place, offset)
    if kind == GENERATOR:
        return _read_generator(context, builder, place, offset)
    if isinstance(kind, types.BaseTuple):
        parts = []
        for inner in kind.types:
            parts.append(_read(context, builder, inner, place, offset))
            offset += num_words(inner)
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Float):
        return context.cast(builder, _word(builder, place, offset, _DOUBLE), types.float64, kind)
    word = _word(builder, place, offset)
    if isinstance(kind, Block):
        return builder.inttoptr(word, cgutils.voidptr_t)
    return context.cast(builder, word, types.int64, kind)


def _word(builder, place, offset, kind=_WHOLE):
    pointer = cgutils.pointer_add(builder, place, offset * _WORD)
    pointer = builder.bitcast(pointer, kind.as_pointer())
    loaded = builder.load(pointer, align=_WORD)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _read_array(context, builder, kind, place, offset):
    found = cgutils.create_struct_proxy(kind)(context, builder)
    words = [_word(builder, place, offset + i) for i in range(num_words(kind))]
    shape, strides = words[1 : 1 + kind.ndim], words[1 + kind.ndim :]
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    if kind.layout == "C" and kind.ndim == 1:
        strides = [itemsize]
    found.data = builder.inttoptr(words[0], found.data.type)
    found.shape, found.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
    found.itemsize = itemsize
    found.nitems = reduce(builder.mul, shape) if shape else context.get_constant(types.intp, 1)
    found.meminfo = cgutils.get_null_value(found.meminfo.type)
    found.parent = cgutils.get_null_value(found.parent.type)
    return found._getvalue()


def _read_generator(context, builder, place, offset):
    # Numba's own conversion of a Generator takes 6 microseconds, a third of the time of a short replicate.
    parts, parent, owner = (_word(builder, place, offset + i) for i in range(3))
    bits = cgutils.create_struct_proxy(_BITS)(context, builder)
    table = builder.inttoptr(parts, cgutils.voidptr_t)
    bits.state = bits.state_address = _word(builder, table, 0)
    bits.fnptr_next_uint64, bits.fnptr_next_uint32 = _word(builder, table, 1), _word(builder, table, 2)
    bits.fnptr_next_double, bits.bit_generator = _word(builder, table, 3), parts
    bits.parent = builder.inttoptr(owner, bits.parent.type)
    found = cgutils.create_struct_proxy(GENERATOR)(context, builder)
    found.bit_generator, found.parent = bits._getvalue(), builder.inttoptr(parent, found.parent.type)
    found.meminfo = cgutils.get_null_value(found.meminfo.type)
    return found._getvalue()


def reader(kind):
    """Return a function that converts an address to a block of this type in compiled code."""
    if config.DISABLE_JIT:
        return lambda record: record

    @intrinsic
    def block_at(typing_context, place):
        def lower(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return kind(types.int64), lower

    return block_at
