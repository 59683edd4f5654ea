"""Validation of arguments, one helper per kind: each returns the clean value or raises an error of one sentence."""

import functools
import inspect
import numbers
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from fedtheory._support.wording import format_number, suggest, truncate

LARGEST_SIZE = 10**9
"""Largest number of entries of an array that an argument may require; checked before memory is allocated."""

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
RNGLike = int | np.random.SeedSequence | np.random.Generator
"""A source of randomness: a seed, a SeedSequence, or a Generator."""

P = ParamSpec("P")
R = TypeVar("R")


def names(function: Callable[P, R]) -> Callable[P, R]:
    """Make the TypeError for an unknown argument name a similar argument."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in parameters:
                known = suggest(name, parameters) or f", it takes {', '.join(parameters)}"
                message = f"{function.__name__} takes no {name}{known}"
                raise TypeError(message)
        return function(*args, **kwargs)

    return checked


def finite(name: str, value: Any) -> Any:
    """Return a finite real number or array of them; exact rationals stay exact."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_):
        message = f"{name} must be a real number, got the boolean {value}"
        raise TypeError(message)
    if isinstance(value, int | Fraction):
        return value
    if isinstance(value, numbers.Real):
        number = float(value)
        if not np.isfinite(number):
            message = f"{name} must be finite, got {number}"
            raise ValueError(message)
        return number
    return array(name, value)


def positive(name: str, value: Any) -> Any:
    """Return finite real numbers above zero."""
    return _above(name, value, "finite and positive", strict=True)


def nonnegative(name: str, value: Any) -> Any:
    """Return finite real numbers at or above zero."""
    return _above(name, value, "finite and at least 0", strict=False)


def _above(name: str, value: Any, wanted: str, *, strict: bool) -> Any:
    number = finite(name, value)
    bad = number <= 0 if strict else number < 0
    if _some(bad):
        message = f"{name} must be {wanted}, got {_first(number, bad)}"
        raise ValueError(message)
    return number


def one(name: str, value: Any) -> Any:
    """Return a value that is one number, not an array."""
    if not isinstance(value, int | float | Fraction) and unmasked(name, value).ndim != 0:
        message = f"{name} must be one number, got an array of shape {np.shape(value)}"
        raise ValueError(message)
    return value


def sequence(name: str, value: Any, what: str = "a sequence of numbers") -> list[Any]:
    """Return the entries of a list, tuple or array; strings and bytes are rejected."""
    value = _numpy(name, value)
    fits = value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence)
    if isinstance(value, str | bytes | bytearray | memoryview) or not fits:
        message = f"{name} must be {what}, got {truncate(value)} of type {type(value).__name__}"
        raise TypeError(message)
    return list(value)


def entries(name: str, value: Any) -> list[Any]:
    """Return the entries of a sequence of finite real numbers, unchanged."""
    found = sequence(name, value)
    for entry in found:
        one(name, finite(name, entry))
    return found


def exact(name: str, value: Any, ndim: int) -> npt.NDArray[Any]:
    """Return an array of finite real numbers; integers and rationals stay exact, as objects."""
    raw = unmasked(name, value)
    if raw.dtype != object:
        return array(name, raw, ndim=ndim)
    plain = [isinstance(entry, int | Fraction) and not isinstance(entry, bool) for entry in raw.flat]
    if not all(plain) or raw.ndim != ndim:
        got = f"objects of shape {raw.shape}" if raw.ndim else truncate(value)
        message = f"{name} must be an array of numbers of {ndim} dimension{'s' * (ndim != 1)}, got {got}"
        raise TypeError(message)
    return raw


def double(name: str, value: Any) -> float:
    """Return one finite number in double precision; rationals that are too large are rejected."""
    try:
        return float(one(name, finite(name, value)))
    except OverflowError as error:
        message = f"{name} must be at most 1.8e308, got {format_number(value)}"
        raise ValueError(message) from error


def fraction(name: str, value: Any) -> float:
    """Return a real number in [0, 1]."""
    return float(fractions(name, double(name, nonnegative(name, value))))


def fractions(name: str, value: Any) -> Any:
    """Return real numbers in [0, 1]; rationals stay exact."""
    number = nonnegative(name, value)
    beyond = number > 1
    if _some(beyond):
        message = f"{name} must be in [0, 1], got {_first(number, beyond)}"
        raise ValueError(message)
    return number


def count(name: str, value: Any, low: int = 1, high: int | None = None) -> int:
    """Return an integer in low..high; floats, booleans and arrays are rejected."""
    return int(one(name, counts(name, value, low, high)))


def size(name: str, value: Any, low: int = 1, high: int | None = None) -> int:
    """Return a number of things that each need memory, at most ``LARGEST_SIZE``."""
    whole, most = count(name, value, low), LARGEST_SIZE if high is None else high
    return whole if whole <= most else count(name, whole, low, most)


def counts(name: str, value: Any, low: int = 1, high: int | None = None) -> Any:
    """Return an integer in low..high or an int64 array of them; floats and booleans are rejected."""
    value = _numpy(name, value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            message = f"{name} must contain whole numbers, got an array of {value.dtype}"
            raise TypeError(message)
        if high is None and value.dtype == np.uint64:
            high = int(np.iinfo(np.int64).max)
    elif isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        message = f"{name} must be a whole number, got {truncate(value)} of type {type(value).__name__}"
        raise TypeError(message)
    wrong = value < low if high is None else (value < low) | (value > high)
    if _some(wrong):
        wanted = f"at least {low}" if high is None else f"in {low}..{high}"
        message = f"{name} must be {wanted}, got {_first(value, wrong)}"
        raise ValueError(message)
    return value.astype(np.int64) if isinstance(value, np.ndarray) else int(value)


def curvatures(mu: Any, L: Any) -> tuple[Any, Any]:
    """Return strong convexity and smoothness: two finite positive numbers with mu <= L."""
    mu, L = one("mu", positive("mu", mu)), one("L", positive("L", L))
    if mu > L:
        message = f"L must be at least mu, got L={format_number(L)} and mu={format_number(mu)}"
        raise ValueError(message)
    return mu, L


def horizon(name: str, value: Any) -> int:
    """Return a number of steps or rounds, zero allowed."""
    return count(name, value, low=0)


def _some(bad: Any) -> bool:
    # NumPy takes microseconds for one truth value
    return bool(bad.any() if isinstance(bad, np.ndarray) else bad)


def _first(number: Any, bad: Any) -> Any:
    if np.ndim(bad) == 0:
        return format_number(number)
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    values = np.broadcast_to(number, np.shape(bad))
    return f"{values[index]} at index {index[0] if len(index) == 1 else index}"


def array(name: str, value: Any, *, ndim: int | None = None, shape: tuple[int | None, ...] | None = None) -> Array:
    """Return a fresh, C-ordered float64 array of finite numbers; the caller's array is never shared."""
    raw = unmasked(name, value)
    if raw.dtype.kind not in "iuf":
        got = f"an array of {raw.dtype}" if raw.ndim else f"{truncate(value)} of type {type(value).__name__}"
        message = f"{name} must contain real numbers, got {got}"
        raise TypeError(message)
    clean = np.array(raw, dtype=np.float64, order="C", copy=True)
    if ndim is not None and clean.ndim != ndim:
        message = f"{name} must have {ndim} dimension{'s' * (ndim != 1)}, got shape {clean.shape}"
        raise ValueError(message)
    if shape is not None:
        _matches(name, clean, shape)
    bad = ~np.isfinite(clean)
    if bad.any():
        message = f"{name} must be finite, got {_first(clean, bad)}"
        raise ValueError(message)
    return clean


def extended(name: str, value: Any, *, shape: tuple[int, ...] | None = None, gaps: bool = False) -> Array:
    """Return a float64 array of real numbers that may be infinite; NaN only if ``gaps``."""
    raw = unmasked(name, value)
    if raw.dtype.kind not in "iuf":
        message = (
            f"{name} must contain real numbers or infinities, got {truncate(value)} of type {type(value).__name__}"
        )
        raise TypeError(message)
    if not gaps and np.isnan(raw).any():
        message = f"{name} must contain real numbers or infinities, got nan"
        raise ValueError(message)
    if shape is not None:
        _matches(name, raw, shape)
    return raw.astype(np.float64)


Number = TypeVar("Number", float, Array)


def moderate(name: str, value: Number, largest: float) -> Number:
    """Return numbers that are small enough that results computed from them do not overflow."""
    bad = (value > largest) | (value < -largest)  # without a copy of a million clients' numbers
    if _some(bad):
        message = f"{name} must be at most {largest:g} in absolute value, got {_first(value, bad)}"
        raise ValueError(message)
    return value


def unmasked(name: str, value: Any) -> npt.NDArray[Any]:
    """Return an array; masked arrays are rejected, since computations would use the hidden entries.

    Bytes are no numbers, although NumPy interprets those of a bytearray or a memoryview as such.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        message = f"{name} must be a number or an array, got {truncate(value)} of type {type(value).__name__}"
        raise TypeError(message)
    if isinstance(value, np.ma.MaskedArray):
        message = f"{name} must be an array without a mask, got a masked array"
        raise TypeError(message)
    try:
        return np.asarray(value)
    except ValueError as error:
        message = f"{name} must be a number or an array, got rows of different lengths"
        raise ValueError(message) from error
    except (TypeError, RuntimeError) as error:  # of tensors on a device, or that need gradients
        message = f"{name} must be a number or an array, got a {type(value).__name__}: {error}"
        raise TypeError(message) from error


def _numpy(name: str, value: Any) -> Any:
    """Return arrays, also those of other libraries, as arrays of NumPy without a mask, and other values unchanged."""
    is_array = hasattr(value, "__array__") and not isinstance(value, np.generic | type)
    return unmasked(name, value) if is_array else value


def mask(name: str, value: Any, shape: tuple[int | None, ...]) -> Mask:
    """Return a fresh array of booleans; numbers are rejected."""
    raw = unmasked(name, value)
    if raw.dtype != np.bool_:
        message = f"{name} must contain booleans, got an array of {raw.dtype}"
        raise TypeError(message)
    _matches(name, raw, shape)
    return raw.copy()


def _matches(name: str, value: npt.NDArray[Any], shape: tuple[int | None, ...]) -> None:
    fits = value.ndim == len(shape) and all(want in (None, got) for want, got in zip(shape, value.shape, strict=True))
    if not fits:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        message = f"{name} must have shape {wanted}, got {value.shape}"
        raise ValueError(message)


def probability_vector(name: str, value: Any, *, size: int | None = None, normalize: bool | None = None) -> Array:
    """Return nonnegative weights of sum 1 (to 1e-12); ``normalize=True`` divides by the sum instead of checking it.

    False stands for an option of the caller, which the error names.
    """
    weights = array(name, value, ndim=1, shape=None if size is None else (size,))
    if weights.size == 0:
        message = f"{name} must have at least one entry, got shape {weights.shape}"
        raise ValueError(message)
    if (weights < 0).any():
        message = f"{name} must be at least 0, got {_first(weights, weights < 0)}"
        raise ValueError(message)
    with np.errstate(over="ignore"):  # an overflow is reported below
        total = float(weights.sum())
    if not np.isfinite(total):
        message = f"{name} must have a finite sum, got entries up to {weights.max():g}"
        raise ValueError(message)
    if total == 0:
        message = f"{name} must have a positive entry, got all zeros"
        raise ValueError(message)
    if normalize is not None and boolean("normalize", normalize):
        return weights / total
    if abs(total - 1) > 1e-12:
        hint = "" if normalize is None else " (normalize=True divides by the sum)"
        message = f"{name} must sum to 1{hint}, got {total!r}"
        raise ValueError(message)
    return weights


def boolean(name: str, value: Any) -> bool:
    """Return a boolean; numbers are rejected."""
    if not isinstance(value, bool | np.bool_):
        message = f"{name} must be True or False, got {truncate(value)}"
        raise TypeError(message)
    return bool(value)


def text(name: str, value: Any) -> str:
    """Return a string."""
    return str(instance(name, value, str, "a string"))


def instance(name: str, value: Any, kinds: Any, what: str) -> Any:
    """Return an instance of one of the given classes."""
    if not isinstance(value, kinds):
        message = f"{name} must be {what}, got {_got(value)}"
        raise TypeError(message)
    return value


def function(name: str, value: Any, of: str = "") -> Any:
    """Return a function; ``of`` describes its arguments."""
    if not callable(value):
        message = f"{name} must be a function{of and f' of {of}'}, got {_got(value)}"
        raise TypeError(message)
    return value


def _got(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"{truncate(value)} of type {type(value).__name__}"


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return one of the given words."""
    if not isinstance(value, str) or value not in options:
        message = f"{name} must be one of {', '.join(map(repr, options))}, got {truncate(value)}"
        raise ValueError(message + (suggest(value, options) if isinstance(value, str) else ""))
    return value


def confidence(value: float) -> float:
    """Return a coverage probability between 0 and 1."""
    number = double("confidence", value)
    if not 0 < number < 1:
        message = f"confidence must be between 0 and 1, got {number}"
        raise ValueError(message)
    return number


def seed_sequence(rng: RNGLike) -> np.random.SeedSequence:
    """Return the seed sequence of an integer, a SeedSequence or a Generator (its next child)."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        sequence = rng.bit_generator.seed_seq
        if not isinstance(sequence, np.random.SeedSequence):
            message = "rng must carry a SeedSequence, got a Generator without one"
            raise TypeError(message)
        return sequence.spawn(1)[0]
    given: object = rng
    if isinstance(given, bool | np.bool_) or not isinstance(given, numbers.Integral):
        message = f"rng must be a whole number, a SeedSequence or a Generator, got {truncate(rng)}"
        raise TypeError(message)
    return np.random.SeedSequence(count("rng", rng, low=0))


def generator(rng: RNGLike) -> np.random.Generator:
    """Return a Generator: the given one, or a new one from a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(seed_sequence(rng))
