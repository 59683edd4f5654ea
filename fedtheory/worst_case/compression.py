"""Exact worst cases of compressed communication: error feedback, EF21 and compressed gradients."""

from fractions import Fraction
from typing import Any, Literal

from fedtheory._support import validate
from fedtheory.worst_case._functions import Function
from fedtheory.worst_case.arguments import nonnegative_number, positive_number
from fedtheory.worst_case.problem import Problem, counted
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["compressed_gradients", "ef21", "error_feedback"]


@validate.names
def error_feedback(
    num_rounds: int, step_size: Any, *, mu: Any, L: Any, compression_error: Any, potential: Any
) -> WorstCase:
    """Largest ``|w - w* - e|^2 + |e|^2/s`` after rounds of error feedback.

    Parameters
    ----------
    num_rounds, step_size, mu, L
        R and eta, strong convexity and smoothness.
    compression_error
        s, with ``|C(v) - v| <= s |v|``.
    potential
        Largest value of the potential at the start.

    Examples
    --------
    At the best step size ``2/(L + mu) (1 - s)/(1 + s)`` a round leaves 4/9.

    >>> from fractions import Fraction as Q
    >>> known = {"mu": Q(3, 5), "L": 1, "compression_error": Q(1, 3), "potential": 1}
    >>> lower, upper = error_feedback(1, Q(5, 8), **known).enclosure
    >>> lower <= Q(4, 9) <= upper
    True
    """
    p, f, eta, s = _begun(step_size, mu, L, compression_error)
    best, w, left_out = f.minimizer(), p.point("start"), p.vector()
    p.at_most(
        (w - best - left_out).square + left_out.square / s, nonnegative_number("potential", potential), name="potential"
    )
    for _ in counted("num_rounds", num_rounds):
        wanted = left_out + eta * f.gradient(w)
        sent = p.compressed(wanted, s**2)
        w, left_out = w - sent, wanted - sent
    p.maximize((w - best - left_out).square + left_out.square / s)
    return p.solve()


@validate.names
def ef21(num_rounds: int, step_size: Any, *, mu: Any, L: Any, compression_error: Any, potential: Any) -> WorstCase:
    """Largest ``s |grad F(w)|^2 + |grad F(w) - d|^2`` after rounds of EF21; parameters as in ``error_feedback``.

    The rate is that of error feedback: 4/9 here.

    >>> from fractions import Fraction as Q
    >>> known = {"mu": Q(3, 5), "L": 1, "compression_error": Q(1, 3), "potential": 1}
    >>> lower, upper = ef21(1, Q(5, 8), **known).enclosure
    >>> lower <= Q(4, 9) <= upper
    True
    """
    p, f, eta, s = _begun(step_size, mu, L, compression_error)
    w, memory = p.point("start"), p.vector()
    given = nonnegative_number("potential", potential)
    p.at_most(s * f.gradient(w).square + (f.gradient(w) - memory).square, given, name="potential")
    for _ in counted("num_rounds", num_rounds):
        w = w - eta * memory
        memory = memory + p.compressed(f.gradient(w) - memory, s**2)
    p.maximize(s * f.gradient(w).square + (f.gradient(w) - memory).square)
    return p.solve()


@validate.names
def compressed_gradients(
    num_rounds: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    compression_error: Any,
    gap: Any,
    error: Literal["gap", "distance2"] = "gap",
) -> WorstCase:
    """Largest ``F(w) - F*`` after steps along compressed gradients, without error feedback.

    ``gap`` is the largest error at the start. The ``error`` at the start and the end is ``gap``, or ``distance2`` for
    ``|w - w*|^2``. The other parameters are as in ``error_feedback``.

    >>> from fractions import Fraction as Q
    >>> known = {"mu": Q(1, 10), "L": 1, "compression_error": Q(1, 2), "gap": 1}
    >>> lower, upper = compressed_gradients(1, Q(40, 31), **known).enclosure
    >>> lower <= Q(841, 961) <= upper
    True
    """
    p, f, eta, s = _begun(step_size, mu, L, compression_error)
    best, w = f.minimizer(), p.point("start")
    is_gap = validate.choice("error", error, ("gap", "distance2")) == "gap"
    known = f.value(w) - f.value(best) if is_gap else (w - best).square
    p.at_most(known, nonnegative_number("gap", gap), name="gap")
    for _ in counted("num_rounds", num_rounds):
        w = w - eta * p.compressed(f.gradient(w), s**2)
    p.maximize(f.value(w) - f.value(best) if is_gap else (w - best).square)
    return p.solve()


def _begun(step_size: Any, mu: Any, L: Any, compression_error: Any) -> tuple[Problem, Function, Fraction, Fraction]:
    """Return a new problem with a function, the step size and the compression error."""
    p, s = Problem(), positive_number("compression_error", compression_error)
    f = p.function(mu=nonnegative_number("mu", mu), L=positive_number("L", L))
    return p, f, positive_number("step_size", step_size), s
