r"""EF21: clients send compressed changes of their gradients."""

from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds.error_feedback import _worst_cases
from fedtheory.bounds.error_feedback.paper import ASSUMES, PAPER, rate
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, method_is, states

_METHOD = Hypothesis("clients and server run EF21", of_run=method_is("EF21"))


@states(
    FEDTHEORY,
    "a round of EF21, for every step size",
    related=(PAPER, "EF21"),
    form="derived",
    left=LeftSide("potential", "s |grad F(w_+)|^2 + sum_k p_k |grad F_k(w_+) - d_k|^2", after="round"),
    assumes=(*ASSUMES, _METHOD),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.ROUND,
)
def ef21_round(potential, *, step_size, mu, L, compression_error):
    r"""Bound on ``s |grad F(w_+)|^2 + sum_k p_k |grad F_k(w_+) - d_k|^2`` after a round; a parabola attains it.

    .. math::
        \begin{aligned}
        &z^2V,\quad V=s\,\|\nabla F(w)\|^2+\sum_kp_k\|\nabla F_k(w)-d_k\|^2,\\
        &z^2=tz+s,\quad t=\max\{1-s-(1+s)\eta\mu,\ (1+s)\eta L-(1-s)\}
        \end{aligned}

    The server steps along the mean of the d_k, and client k adds ``C(grad F_k(w) - d_k)`` at the new model to d_k.
    The rate, the range of step sizes and the best one are those of error feedback (``ef_round``); a common minimizer is
    not needed.

    Notes
    -----
    ``z^2 V`` minus the next potential equals ``-(2 s z/eta) I - K`` plus squares. I is the mean over the clients of
    ``<q_k - mu u, q_k - L u>/(L - mu)``, with the step u and the change q_k of a client's gradient; K is the mean of
    ``|C(v_k) - v_k|^2 - s^2 |v_k|^2``. Neither is positive.

    Examples
    --------
    With mu = 7/8, L = 1, s = 1/3 and eta = 8/15: t = 2/45, and z = 3/5 solves ``z^2 = 2 z/45 + 1/3``.

    >>> from fractions import Fraction as Q
    >>> ef21_round(Q(25), step_size=Q(8, 15), mu=Q(7, 8), L=Q(1), compression_error=Q(1, 3))
    Fraction(9, 1)
    """
    square, _ = rate(step_size, mu=mu, L=L, compression_error=compression_error)
    return {"left": square * potential}


@states(
    FEDTHEORY,
    "the gradient of EF21, for every step size",
    related=(PAPER, "EF21"),
    form="derived",
    left=LeftSide("squared gradient", "|grad F(w_R)|^2"),
    assumes=(*ASSUMES, _METHOD),
    schemes=FULL_PARTICIPATION,
    options=("method",),
)
def ef21_gradient2(num_rounds, *, step_size, mu, L, compression_error, initial_potential):
    r"""Bound on ``|grad F(w_R)|^2`` after R rounds of EF21.

    .. math::
        z^{2R}V_0/s

    Parameters
    ----------
    initial_potential
        V_0, the potential of ``ef21_round`` at the start: ``s |grad F(w_0)|^2`` if the first gradients are sent
        exactly.

    Examples
    --------
    With mu = 7/8, L = 1, s = 1/3 and eta = 8/15: z = 3/5, and after two rounds the bound is ``3 (81/625) 625``.

    >>> from fractions import Fraction as Q
    >>> ef21_gradient2(2, step_size=Q(8, 15), mu=Q(7, 8), L=Q(1), compression_error=Q(1, 3), initial_potential=Q(625))
    Fraction(243, 1)
    """
    square, lost = rate(step_size, mu=mu, L=L, compression_error=compression_error)
    left, _ = geometric(lost, num_rounds, square)
    return {"left": left * initial_potential / compression_error}
