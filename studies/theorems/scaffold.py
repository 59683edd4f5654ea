"""SCAFFOLD with one of two clients in a round: the recursion behind Lemma 15 of Karimireddy et al. (2020).

The lemma is quoted elsewhere with pages; the recursion is a derivation by others that agrees with it.

The potential contains the squared errors of the control variates and, after the round, the gap of the model before it.
``step_size`` is the total step h of a round. A linear function that is added to F_k and to its control variate does not
change the method, so that the clients may share a minimizer.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds.scaffold import PAPER
from fedtheory.theorem import NONNEGATIVE, Hypothesis, LeftSide, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

SHORT = Hypothesis("step_size <= 1/(81 L)", lambda step_size, L: (81 * step_size * L, "<=", 1))
FLAT = Hypothesis("step_size <= 1/(30 mu)", lambda step_size, mu: (30 * step_size * mu, "<=", 1))


@states(
    PAPER,
    "recursion behind Lemma 15",
    basis="quoted",
    left=LeftSide("potential", "E [|w_+ - w*|^2 + 18 h^2 C_+] + h (F(w) - F*)", after="round", over=("selection",)),
    assumes=(Smooth(), StronglyConvex(), SHORT, FLAT),
    domains={"potential": NONNEGATIVE},
)
def sampled_round(potential, *, mu, L, step_size, local_steps):
    """Bound on the potential after a round, with Option II; before it, the potential is without the gap."""
    return {"contracted": (1 - mu * step_size / 2) * potential}


def method(mu: Any, step_size: Any, L: Any = 1, potential: Any = 1, local_steps: int = 2) -> Problem:
    p = Problem()
    clients = p.clients(2, mu, L)
    best, w, variates = clients.minimizer(objective_gap=0), p.point("w"), p.point("c") + clients.deviation(name="error")
    p.at_most((w - best).square + 18 * step_size**2 * variates.square, potential, "potential")
    y, lead = w, variates - clients.mean(variates)
    for _ in range(local_steps):
        y = y - step_size / local_steps * (clients.gradient(y) - lead)
    used = lead + (w - y) / step_size  # the mean of the gradients of a client
    errors = (variates.square + used.square) / 2
    gap = clients.value(w) - clients.value(best)
    p.maximize(clients.sample(1).square(y - best) + 18 * step_size**2 * errors + step_size * gap)
    return p


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, step_size > 0, step_size <= Fraction(1, 81)]
