r"""Compressed gradient descent of one client, without error feedback."""

from fedtheory.arithmetic.functions import geometric, maximum
from fedtheory.bounds.error_feedback import _worst_cases
from fedtheory.bounds.error_feedback.paper import ASSUMES, PAPER
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, method_is, states

_METHOD = Hypothesis("updates are compressed without error feedback", of_run=method_is("Compressed"))

_ONE = Hypothesis(
    "there is one client", of_run=lambda run: None if run.num_clients == 1 else f"{run.num_clients} clients"
)
_SHORT = Hypothesis(
    "step_size <= 2/((1 + compression_error) L)",
    lambda step_size, compression_error, L: (step_size, "<=", 2 / ((1 + compression_error) * L)),
    rtol=8 * 2.0**-52,
)


@states(
    FEDTHEORY,
    "compressed gradient descent, for every step size",
    related=(PAPER, "CGD"),
    form="derived",
    left=LeftSide("gap", "F(w_R) - F*"),
    assumes=(*ASSUMES, _METHOD, _ONE, _SHORT),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.GAP,
)
def cgd_gap(num_rounds, *, step_size, mu, L, compression_error, initial_gap):
    r"""Bound on ``F(w_R) - F*`` after R compressed gradient steps of one client; a parabola attains it for every R.

    .. math::
        q^{2R}(F(w_0)-F^*),\quad q=\max\{1-(1-s)\eta\mu,\ (1+s)\eta L-1\}

    The bound holds for losses only: the distance from w* may grow. With several clients the method may diverge at every
    step size.

    Examples
    --------
    With mu = 1, L = 3, s = 1/2 and eta = 1/5: q = 9/10, and after two steps the bound is ``(81/100)^2 10000``.

    >>> from fractions import Fraction as Q
    >>> cgd_gap(2, step_size=Q(1, 5), mu=Q(1), L=Q(3), compression_error=Q(1, 2), initial_gap=Q(10000))
    Fraction(6561, 1)
    """
    # 1 - q, as the smaller of two numbers.
    short = -maximum(-(1 - compression_error) * step_size * mu, (1 + compression_error) * step_size * L - 2)
    left, _ = geometric(short, 2 * num_rounds)
    return {"left": left * initial_gap}
