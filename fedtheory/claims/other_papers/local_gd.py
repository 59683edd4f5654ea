"""The remark of Khaled, Mishchenko and Richtarik on step sizes of local gradient descent, and for which it holds."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds.local_gd import PAPER as LOCAL_GD
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, tenths, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement

_CONVEX = ("all clients have convex L-smooth losses", "the first model is at squared distance D from a minimizer")


def _guarantee(
    gamma: Fraction, period: Fraction, num_steps: Fraction, *, L: Fraction, sigma: Fraction, D: Fraction
) -> Fraction:
    """Return the bound of Theorem 1 on the gap of the mean model, for step sizes up to 1/(4 L period)."""
    return 2 * D / (gamma * num_steps) + 24 * gamma**2 * sigma**2 * period**2 * L


def _prescribed(gamma: Fraction, largest: Fraction | int, *, D: Fraction, eps: Fraction) -> tuple[Fraction, Fraction]:
    """Return the period H and the smallest number T of local steps of the remark."""
    period = 1 / (4 * gamma * largest)
    return period, period * 16 * D / eps * largest


@claim(
    "local-gd:any-step-size",
    "For every step size gamma <= 1/(4 L), Theorem 1 yields the error eps after T local steps with the period H",
    Statement(LOCAL_GD, "Theorem 1", "the remark after (6)"),
    "erratum",
    hypotheses=(
        *_CONVEX,
        "H = 1/(4 gamma max{L, sigma (3 L/eps)^(1/2)})",
        "T = H (16 D/eps) max{L, sigma (3 L/eps)^(1/2)}",
    ),
    remark=(
        "H is 1/10 here, and a period is at least 1; with H = 1, the term 24 gamma^2 sigma^2 H^2 L alone is 50 times"
        " eps. The remark needs gamma <= 1/(4 max{L, sigma (3 L/eps)^(1/2)}), which is smaller if eps < 3 sigma^2/L"
    ),
)
def any_step_size() -> Finding:
    L, sigma, D, eps, gamma = Fraction(1), Fraction(1), Fraction(3), Fraction(3, 100), Fraction(1, 4)
    largest = 10  # max{L, sigma (3 L/eps)^(1/2)}
    period, num_steps = _prescribed(gamma, largest, D=D, eps=eps)
    known = {"L": L, "sigma": sigma, "D": D, "eps": eps, "gamma": gamma, "H": period, "T": num_steps}
    # No period is shorter than 1.
    error = _guarantee(gamma, max(period, Fraction(1)), num_steps, L=L, sigma=sigma, D=D)
    return at_most(error, eps, instance=as_texts(known))


@claim(
    "local-gd:short-step-sizes",
    "If gamma is at most 1/(4 max{L, sigma (3 L/eps)^(1/2)}), Theorem 1 yields the error eps with the H and T of (6)",
    Statement(FEDTHEORY, "which step sizes suffice", related=(LOCAL_GD, "Theorem 1"), form="derived"),
    hypotheses=_CONVEX,
    looseness=1.01,
)
def short_step_sizes(rng: np.random.Generator) -> Finding:
    L, sigma, D, root = tenths(rng, 1, 30), tenths(rng, 0, 30), tenths(rng, 1, 90), tenths(rng, 1, 90)
    eps, largest = 3 * L / root**2, max(L, sigma * root)
    gamma = 1 / (4 * largest * whole(rng, 1, 9))
    period, num_steps = _prescribed(gamma, largest, D=D, eps=eps)
    known = {"L": L, "sigma": sigma, "D": D, "eps": eps, "gamma": gamma, "H": period, "T": num_steps}
    error = _guarantee(gamma, period, num_steps, L=L, sigma=sigma, D=D)
    return at_most(error, eps, instance=as_texts(known))
