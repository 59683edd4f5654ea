r"""Error feedback: compression errors are stored and sent later."""

from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds.error_feedback import _worst_cases
from fedtheory.bounds.error_feedback.paper import ASSUMES, PAPER, rate
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, method_is, states

_METHOD = Hypothesis("clients and server run error feedback", of_run=method_is("ErrorFeedback"))


def _apart(run):
    """Report a client's gradient at w* that is longer than rounding explains, or return None."""
    gradients = run.fed.gradients(run.fed.minimizer)
    longest = float((gradients**2).sum(axis=-1).max()) ** 0.5
    scale = 1e-9 * float(run.fed.smoothness) * (1 + float((run.fed.minimizer**2).sum()) ** 0.5)
    return f"a client whose gradient at w* has length {longest:.3g}" if longest > scale else None


COMMON_MINIMIZER = Hypothesis("w* minimizes every F_k", of_run=_apart)


@states(
    FEDTHEORY,
    "a round of error feedback, for every step size",
    related=(PAPER, "EF"),
    form="derived",
    left=LeftSide("potential", "sum_k p_k |w_+ - w* - e_k|^2 + |sum_k p_k e_k|^2/s", after="round"),
    assumes=(*ASSUMES, _METHOD, COMMON_MINIMIZER),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.ROUND,
)
def ef_round(potential, *, step_size, mu, L, compression_error):
    r"""Bound on ``sum_k p_k |w_+ - w* - e_k|^2 + |sum_k p_k e_k|^2/s`` after a round; a parabola attains it.

    .. math::
        \begin{aligned}
        &z^2V,\quad V=\sum_kp_k\|w-w^*-e_k\|^2+\frac1s\Big\|\sum_kp_ke_k\Big\|^2,\\
        &z^2=tz+s,\quad t=\max\{1-s-(1+s)\eta\mu,\ (1+s)\eta L-(1-s)\}
        \end{aligned}

    Client k sends ``C(v_k)`` with ``v_k = e_k + eta grad F_k(w)`` and keeps ``e_k = v_k - C(v_k)``; the server
    subtracts the mean of the messages from w. The paper states the rate of the best step size,
    ``2 (1 - s)/((1 + s) (L + mu))``.

    Examples
    --------
    With mu = 3/5, L = 1, s = 1/3 and eta = 5/8: t = 1/6, and z = 2/3 solves ``z^2 = z/6 + 1/3``.

    >>> from fractions import Fraction as Q
    >>> ef_round(Q(9), step_size=Q(5, 8), mu=Q(3, 5), L=Q(1), compression_error=Q(1, 3))
    Fraction(4, 1)
    """
    square, _ = rate(step_size, mu=mu, L=L, compression_error=compression_error)
    return {"left": square * potential}


@states(
    FEDTHEORY,
    "error feedback, for every step size",
    related=(PAPER, "EF"),
    form="derived",
    left=LeftSide("squared distance", "|w_R - w*|^2"),
    assumes=(*ASSUMES, _METHOD, COMMON_MINIMIZER),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=_worst_cases.DISTANCE,
)
def ef_distance(num_rounds, *, step_size, mu, L, compression_error, initial_distance2):
    r"""Bound on ``|w_R - w*|^2`` after R rounds of error feedback with initial memories of zero.

    .. math::
        (1+s)z^{2R}\|w_0-w^*\|^2

    Examples
    --------
    With mu = 3/5, L = 1, s = 1/3 and eta = 5/8: z = 2/3, and after two rounds the bound is ``(4/3) (16/81) 243``.

    >>> from fractions import Fraction as Q
    >>> ef_distance(2, step_size=Q(5, 8), mu=Q(3, 5), L=Q(1), compression_error=Q(1, 3), initial_distance2=Q(243))
    Fraction(64, 1)
    """
    square, lost = rate(step_size, mu=mu, L=L, compression_error=compression_error)
    left, _ = geometric(lost, num_rounds, square)
    return {"left": (1 + compression_error) * left * initial_distance2}
