r"""EF21 (Richtarik, Sokolov, Fatkhullin 2021) for smooth losses, and under the Polyak-Lojasiewicz condition."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, method_is
from fedtheory.theorem.bound import Bound, states
from fedtheory.theorem.domains import COUNT, NONNEGATIVE, POSITIVE
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY, Paper
from fedtheory.theorem.symbols import CURVATURE, GRADIENT2, Symbol
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__ = ["PAPER", "average_gradient", "polyak_gap"]

PAPER = Paper(
    key="ef21",
    title="EF21: A New, Simpler, Theoretically Better, and Practically Faster Error Feedback",
    authors="Richtarik, Sokolov, Fatkhullin",
    year=2021,
    url="https://arxiv.org/abs/2106.05203",
    basis="quoted",
    symbols=(
        Symbol("num_rounds", "Number of rounds so far", COUNT, "rounds", "T"),
        Symbol("L", "Smoothness of F", POSITIVE, CURVATURE, "L"),
        Symbol("client_L", "Root mean square of the clients' smoothness", POSITIVE, CURVATURE, r"\tilde L"),
        Symbol("mu", "Constant of the Polyak-Lojasiewicz condition", POSITIVE, CURVATURE, r"\mu"),
        Symbol(
            "compression_error", "Largest relative error of the compressor in the mean square", POSITIVE, letter="s"
        ),
        Symbol(
            "memory_error2",
            "Mean squared error of the first memories, ``sum_k p_k |d_k - grad F_k(w_0)|^2``",
            NONNEGATIVE,
            GRADIENT2,
            "G_0",
        ),
    ),
)
_ASSUMES = (
    Smooth(of="F"),
    Hypothesis("every F_k is L_k-smooth with sum_k p_k L_k^2 <= client_L^2"),
    EXACT_GRADIENTS,
    Hypothesis("clients and server run EF21", of_run=method_is("EF21")),
    Hypothesis("E |C(v) - v|^2 <= s^2 |v|^2 with s < 1", lambda compression_error: (compression_error, "<", 1)),
)
_STEPS = Hypothesis(
    "(step_size client_L s)^2 <= (1 - step_size L) (1 - s)^2",
    lambda eta, L, K, s: ((eta * K * s) ** 2, "<=", (1 - eta * L) * (1 - s) ** 2),
    ("step_size", "L", "client_L", "compression_error"),
)
_POLYAK = Hypothesis("|grad F(w)|^2 >= 2 mu (F(w) - F*)")
_POLYAK_STEPS = Hypothesis(
    "(step_size client_L s)^2 <= (1 - step_size L) (1 - s) (1 - s - step_size mu)",
    lambda eta, L, K, mu, s: ((eta * K * s) ** 2, "<=", (1 - eta * L) * (1 - s) * (1 - s - eta * mu)),
    ("step_size", "L", "client_L", "mu", "compression_error"),
)
_FLATTER = Hypothesis(
    "step_size mu < 1 - s", lambda step_size, mu, compression_error: (step_size * mu, "<", 1 - compression_error)
)


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve for one client, who is strongly convex if the bound has mu, and otherwise need not be convex."""
    p, s = worst_case.Problem(), given["compression_error"]
    f = p.function(given.get("mu", -given["L"]), given["L"])
    best, w, memory = f.minimizer(), p.point("w"), p.point("memory")
    p.at_most(f.value(w) - f.value(best), given["initial_gap"], "initial_gap")
    p.at_most((memory - f.gradient(w)).square, given["memory_error2"], "memory_error2")
    squares = []
    for _ in range(given["num_rounds"]):
        squares.append(f.gradient(w).square)
        w = w - given["step_size"] * memory
        memory = memory + p.compressed(f.gradient(w) - memory, s**2)
    p.maximize(
        f.value(w) - f.value(best) if "mu" in given else Fraction(1, len(squares)) * sum(squares[1:], squares[0])
    )
    return p.solve()


_LAWS = {"num_rounds": lambda c: c.whole(1, 2), "client_L": lambda c: c["L"]}
# The longest step size of the hypothesis is rational.
_SMOOTH_LAWS = _LAWS | {
    "num_rounds": lambda c: c.whole(2, 3),
    "root": lambda c: c.tenths(1, 9),
    "compression_error": lambda c: c["root"] / (1 + c["root"] - c["root"] ** 2),
    "step_size": lambda c: c.share() * (1 - c["root"] ** 2) / c["L"],
}


@states(
    FEDTHEORY,
    "EF21 for smooth losses",
    related=(PAPER, "Theorem 1"),
    form="refined",
    left=LeftSide("squared gradient", "1/T sum_{t<T} E |grad F(w_t)|^2", model="all", over=("selection",)),
    assumes=(*_ASSUMES, _STEPS),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=WorstCaseProblem(_solve, _SMOOTH_LAWS, num_draws=20),
)
def average_gradient(num_rounds, *, step_size, L, client_L, compression_error, initial_gap, memory_error2):
    r"""Bound on ``1/T sum_{t<T} E |grad F(w_t)|^2``, as in the theorem but for longer steps; no F_k need be convex.

    .. math::
        \frac{2(F(w_0)-F^*)}{\eta T}+\frac{G_0}{(1-s)T}

    The theorem has ``eta <= 1/(L + client_L s/(1 - s))``.

    Notes
    -----
    With ``omega = eta/(2 (1 - s))``, ``eta/2 + s omega = omega``. By the inequalities of ``polyak_gap``, ``F - F* +
    omega G`` decreases by at least ``eta/2 |grad F|^2`` in a round.

    Examples
    --------
    With eta = 1/2, s = 1/2 and T = 2: ``2 * 2/(1/2 * 2) + 3/(1/2 * 2)``.

    >>> average_gradient(
    ...     2, step_size=1 / 2, L=1, client_L=1, compression_error=1 / 2, initial_gap=2, memory_error2=3
    ... )
    7.0
    """
    return {
        "initial": 2 * initial_gap / (step_size * num_rounds),
        "memories": memory_error2 / ((1 - compression_error) * num_rounds),
    }


@states(
    FEDTHEORY,
    "EF21 under the Polyak-Lojasiewicz condition",
    related=(PAPER, "Theorem 2"),
    form="refined",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection",)),
    assumes=(*_ASSUMES, _POLYAK, _POLYAK_STEPS, _FLATTER),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    worst_case=WorstCaseProblem(_solve, _LAWS, num_draws=20),
)
def polyak_gap(num_rounds, *, step_size, L, client_L, mu, compression_error, initial_gap, memory_error2):
    r"""Bound on ``E F(w_T) - F*``, with a smaller weight of the memories than the theorem, and for longer steps.

    .. math::
        (1-\eta\mu)^T\Big(F(w_0)-F^*+\frac{\eta G_0}{2(1-s-\eta\mu)}\Big)

    The theorem has the weight ``eta/(1 - s)``, for ``eta <= 1/(L + 2^(1/2) client_L s/(1 - s))`` and ``2 eta mu <= 1 -
    s``.

    Notes
    -----
    With the weight ``omega = eta/(2 (1 - s - eta mu))``, ``eta/2 + s omega = (1 - eta mu) omega``. Smoothness gives
    ``F(w_+) <= F(w) - eta/2 |grad F(w)|^2 + eta/2 G - (1/(2 eta) - L/2) |w_+ - w|^2``, and ``G_+ <= s G + s^2/(1 - s)
    client_L^2 |w_+ - w|^2``. Hence ``F - F* + omega G`` contracts by ``1 - eta mu``.

    Examples
    --------
    With eta = 1/4, mu = 1, s = 1/2 and T = 2: ``(3/4)^2 (2 + 28 (1/8)/(1/4))``.

    >>> polyak_gap(
    ...     2, step_size=1 / 4, L=1, client_L=1, mu=1, compression_error=1 / 2, initial_gap=2, memory_error2=28
    ... )
    9.0
    """
    left, _ = geometric(step_size * mu, num_rounds, short_of_one(step_size, mu))
    weight = step_size / (2 * (1 - compression_error - step_size * mu))
    return {"initial": left * initial_gap, "memories": left * weight * memory_error2}
