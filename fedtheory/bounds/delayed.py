"""Gradient steps with delays."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, StronglyConvex, method_is
from fedtheory.theorem.bound import Bound, states
from fedtheory.theorem.domains import NONNEGATIVE
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY, Paper
from fedtheory.theorem.symbols import Symbol
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__ = ["PAPER", "fixed_step_distance"]

PAPER = Paper(
    key="delayed",
    title="A Tight Convergence Analysis for Stochastic Gradient Descent with Delayed Updates",
    authors="Arjevani, Shamir, Srebro",
    year=2020,
    url="https://arxiv.org/abs/1806.10188",
    basis="abstract",
    symbols=(
        Symbol("largest_delay", "Largest delay D of an update", NONNEGATIVE._replace(of_run="largest_delay"), "rounds"),
    ),
)

_METHOD = Hypothesis("updates are delayed", of_run=method_is("Delayed"))
_SHORT = Hypothesis(
    "step_size (L + mu) <= 2", lambda step_size, L, mu: (step_size * (L + mu), "<=", 2), rtol=4 * 2.0**-52
)
_SMALL_DELAYS = Hypothesis(
    "largest_delay step_size L^2 < mu",
    lambda largest_delay, step_size, L, mu: (largest_delay * step_size * L**2, "<", mu),
)


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve the program of gradient descent in which all delays are the largest one."""
    p = worst_case.Problem()
    f = p.function(mu=given["mu"], L=given["L"])
    best, models = f.minimizer(), [p.point("start")]
    p.at_most((models[0] - best).square, given["initial_distance2"], name="initial_distance2")
    slopes = []
    for t in range(given["num_rounds"]):
        slopes.append(f.gradient(models[t]))
        models.append(models[t] - given["step_size"] * slopes[max(t - given["largest_delay"], 0)])
    p.maximize((models[-1] - best).square)
    return p.solve()


@states(
    FEDTHEORY,
    "T rounds of one local step with delays of at most D rounds",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared distance", "|w_T - w*|^2"),
    assumes=(Smooth(), StronglyConvex(), EXACT_GRADIENTS, _METHOD, _SHORT, _SMALL_DELAYS),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=WorstCaseProblem(
        _solve,
        {
            "largest_delay": lambda c: c.pick(0, 0, 1, 2, 3),
            "num_rounds": lambda c: c.whole(1, 4),
            "step_size": lambda c: c["longest_step"] * (c.share() if c["largest_delay"] == 0 else c.tenths(1, 9)),
        },
        remark="with delays the bound allows several models to be as far as the farthest, and no function does this",
        num_draws=20,
    ),
)
def fixed_step_distance(num_rounds, *, step_size, mu, L, largest_delay, initial_distance2):
    r"""Bound on ``|w_T - w*|^2`` for all delays from 0 to D, which may differ between clients and rounds.

    .. math::
        \Big(1-\frac{\eta\mu-D\eta^2L^2}{2D+1}\Big)^{2T}\|w_0-w^*\|^2

    Without delays it is the bound of gradient descent, which a parabola attains.

    Notes
    -----
    Let ``M_t`` be the largest distance from w* of the models of rounds ``t - 2D`` to t, and rho the number ``1 - eta mu
    + D eta^2 L^2``. The mean of the clients' gradients at old models is at most ``L M_t``, since it is 0 at w*. It
    differs from ``grad F(w_t)`` by at most L times the way of D steps, ``D eta L M_t``. A gradient step multiplies the
    distance by at most ``1 - eta mu``. Hence the distance after round t is at most ``rho M_t``, and 2D + 1 rounds
    multiply the largest distance by at most rho. By Bernoulli's inequality its root is at most
    ``1 - (1 - rho)/(2D + 1)``.

    Examples
    --------
    With mu = 1, L = 1, eta = 1/2 and D = 1: ``(1/2 - 1/4)/3 = 1/12``. After one round the bound is ``(11/12)^2 144``.

    >>> from fractions import Fraction as Q
    >>> fixed_step_distance(1, step_size=Q(1, 2), mu=1, L=1, largest_delay=1, initial_distance2=144)
    Fraction(121, 1)
    """
    rate = step_size * (mu - largest_delay * step_size * L**2) / (2 * largest_delay + 1)
    left, _ = geometric(rate, 2 * num_rounds)
    return {"initial": left * initial_distance2}
