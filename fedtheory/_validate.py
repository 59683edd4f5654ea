"""One helper per kind of argument: each returns the clean value or raises one sentence (what, wanted, got)."""

import numbers
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array",
    "Domain",
    "Mask",
    "array",
    "boolean",
    "choice",
    "count",
    "curvatures",
    "finite",
    "fraction",
    "generator",
    "horizon",
    "mask",
    "nonnegative",
    "positive",
    "probability_vector",
    "seed_sequence",
]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def finite(name: str, value: Any) -> Any:
    """Return a finite real number or array of them; exact rationals stay exact."""
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
    bad = np.less_equal(number, 0) if strict else np.less(number, 0)
    if np.any(bad):
        message = f"{name} must be {wanted}, got {_first(number, bad)}"
        raise ValueError(message)
    return number


def fraction(name: str, value: Any) -> float:
    """Return a real number in [0, 1]."""
    number = float(nonnegative(name, value))
    if number > 1:
        message = f"{name} must be in [0, 1], got {number}"
        raise ValueError(message)
    return number


def count(name: str, value: Any, low: int = 1, high: int | None = None) -> Any:
    """Return a whole number in low..high (or an int64 array of them); floats and booleans are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral | np.ndarray):
        message = f"{name} must be a whole number, got {value!r} of type {type(value).__name__}"
        raise TypeError(message)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            message = f"{name} must hold whole numbers, got an array of {value.dtype}"
            raise TypeError(message)
        number: Any = value.astype(np.int64)
    else:
        number = int(value)
    wrong = np.less(number, low) if high is None else np.less(number, low) | np.greater(number, high)
    if np.any(wrong):
        wanted = f"at least {low}" if high is None else f"in {low}..{high}"
        message = f"{name} must be {wanted}, got {_first(number, wrong)}"
        raise ValueError(message)
    return number


def curvatures(mu: Any, L: Any) -> tuple[Any, Any]:
    """Return strong convexity and smoothness: finite, positive, and mu at most L."""
    mu, L = positive("mu", mu), positive("L", L)
    if np.any(np.greater(mu, L)):
        message = f"L must be at least mu, got L={L} and mu={mu}"
        raise ValueError(message)
    return mu, L


def horizon(name: str, value: Any) -> Any:
    """Return a number of steps or rounds, zero allowed."""
    return count(name, value, low=0)


def _first(number: Any, bad: Any) -> Any:
    if np.ndim(bad) == 0:
        return number
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    values = np.broadcast_to(number, np.shape(bad))
    return f"{values[index]} at index {index[0] if len(index) == 1 else index}"


def array(name: str, value: Any, *, ndim: int | None = None, shape: tuple[int | None, ...] | None = None) -> Array:
    """Return a fresh, C-ordered float64 array of finite numbers; the caller's array is never shared."""
    raw = np.asarray(value)
    if raw.dtype.kind not in "iuf":
        message = f"{name} must hold real numbers, got an array of {raw.dtype}"
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


def mask(name: str, value: Any, shape: tuple[int | None, ...]) -> Mask:
    """Return a fresh array of booleans; numbers are refused."""
    raw = np.asarray(value)
    if raw.dtype != np.bool_:
        message = f"{name} must hold booleans, got an array of {raw.dtype}"
        raise TypeError(message)
    _matches(name, raw, shape)
    return raw.copy()


def _matches(name: str, value: npt.NDArray[Any], shape: tuple[int | None, ...]) -> None:
    fits = value.ndim == len(shape) and all(want in (None, got) for want, got in zip(shape, value.shape, strict=True))
    if not fits:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
        message = f"{name} must have shape {wanted}, got {value.shape}"
        raise ValueError(message)


def probability_vector(name: str, value: Any, *, size: int | None = None, normalize: bool = False) -> Array:
    """Return non-negative weights of sum 1 (to 1e-12); ``normalize=True`` divides by the sum instead of checking it."""
    weights = array(name, value, ndim=1, shape=None if size is None else (size,))
    if weights.size == 0:
        message = f"{name} must have at least one entry, got shape {weights.shape}"
        raise ValueError(message)
    if (weights < 0).any():
        message = f"{name} must be at least 0, got {_first(weights, weights < 0)}"
        raise ValueError(message)
    total = float(weights.sum())
    if total == 0:
        message = f"{name} must have a positive entry, got all zeros"
        raise ValueError(message)
    if normalize:
        return weights / total
    if abs(total - 1) > 1e-12:
        message = f"{name} must sum to 1 (normalize=True divides by the sum), got {total!r}"
        raise ValueError(message)
    return weights


def boolean(name: str, value: Any) -> bool:
    """Return a truth value; numbers are refused."""
    if not isinstance(value, bool | np.bool_):
        message = f"{name} must be True or False, got {value!r}"
        raise TypeError(message)
    return bool(value)


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return one of the words on offer."""
    if value not in options:
        message = f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}"
        raise ValueError(message)
    return str(value)


def seed_sequence(rng: Any) -> np.random.SeedSequence:
    """Return the seed sequence of an integer, a SeedSequence or a Generator (whose next child it is)."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        sequence = rng.bit_generator.seed_seq
        if not isinstance(sequence, np.random.SeedSequence):
            message = "rng must carry a SeedSequence, got a Generator without one"
            raise TypeError(message)
        return sequence.spawn(1)[0]
    return np.random.SeedSequence(count("rng", rng, low=0))


def generator(rng: Any) -> np.random.Generator:
    """Return a Generator: a given one as it is, otherwise a new one from the seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(seed_sequence(rng))


class Domain(NamedTuple):
    """What a named scalar of a theorem may be: its check, and what SymPy may assume of its symbol."""

    check: Callable[[str, Any], Any]
    assumptions: dict[str, bool]


_COUNT = Domain(count, {"integer": True, "positive": True})
_HORIZON = Domain(horizon, {"integer": True, "nonnegative": True})
_POSITIVE = Domain(positive, {"positive": True})
_NONNEGATIVE = Domain(nonnegative, {"nonnegative": True})

DOMAINS: dict[str, Domain] = {
    **dict.fromkeys(("num_clients", "num_selected", "num_candidates", "local_steps"), _COUNT),
    **dict.fromkeys(("num_steps", "num_rounds"), _HORIZON),
    **dict.fromkeys(("mu", "L", "step_size", "server_step_size", "local_step_size"), _POSITIVE),
    **dict.fromkeys(("G2", "sigma2", "objective_gap", "initial_distance2", "initial_gap", "distance2"), _NONNEGATIVE),
    **dict.fromkeys(("rho_bar", "rho_tilde", "rho_diagonal"), _NONNEGATIVE),
}
