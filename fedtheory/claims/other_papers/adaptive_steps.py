"""The regret bounds of Adam and AMSGrad: two lemmas, a theorem and a step of a proof."""

import math
from fractions import Fraction

import numpy as np

from fedtheory.instances.vectors import Vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_least, at_most
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

ADAM = Paper(
    "adam", "Adam: A Method for Stochastic Optimization", "Kingma, Ba", 2015, "https://arxiv.org/abs/1412.6980"
)
AMSGRAD = Paper(
    "amsgrad",
    "On the Convergence of Adam and Beyond",
    "Reddi, Kale, Kumar",
    2018,
    "https://arxiv.org/abs/1904.09237",
    basis="quoted",
)


def _root(square: Fraction, *, above: bool = False) -> Fraction:
    """Return a rational within 10^-12 of the square root, below or above it."""
    return Fraction(math.isqrt(10**24 * square.numerator // square.denominator) + above, 10**12)


def _harmonic(count: int) -> Fraction:
    return sum((Fraction(1, t) for t in range(1, count + 1)), Fraction(0))


@claim(
    "adam:lemma-10.3",
    "sum_t |g_t|/t^(1/2) <= 2 G |g_1:T| if |g_t| <= G",
    Statement(ADAM, "Lemma 10.3"),
    "erratum",
    remark="the sides have different units: a gradient below 1/2 contradicts the base case of the induction",
)
def lemma_3() -> Finding:
    G = Fraction(1, 4)
    return at_most(G, 2 * G * G, instance={"g_1": str(G), "G": str(G)})


@claim(
    "adam:scaled-sum",
    "sum_t |g_t|/t^(1/2) <= (1 + 1/2 + ... + 1/T)^(1/2) |g_1:T|, squared",
    Statement(FEDTHEORY, "in place of the lemma", related=(ADAM, "Lemma 10.3"), form="derived"),
    looseness=1.01,
)
def scaled_sum(rng: np.random.Generator) -> Finding:
    # Entries g_t/t^(1/2); those of 1/t^(1/2) attain the bound.
    entries = [pick(rng, [Fraction(1, t), Fraction(whole(rng, 0, 9), 4)]) for t in range(1, whole(rng, 1, 6) + 1)]
    bound = _harmonic(len(entries)) * sum(t * entry**2 for t, entry in enumerate(entries, 1))
    return at_most(sum(entries) ** 2, bound, instance={"entries": str(Vector(entries))})


@claim(
    "adam:lemma-10.4",
    "sum_t m_t^2/(t v_t)^(1/2) <= 2/((1 - gamma) (1 - beta_2)^(1/2)) |g_1:T| with corrected moments m_t and v_t",
    Statement(ADAM, "Lemma 10.4"),
    "erratum",
    remark="gradients 1/t^(1/2): the left side grows like log T and the right side like its square root",
)
def lemma_4() -> Finding:
    # With beta_1 = 0 the corrected m_t is the gradient, and gamma is 0.
    beta_2, num_steps = Fraction(1, 1000), 40
    moment, left = Fraction(0), Fraction(0)
    for t in range(1, num_steps + 1):
        square = Fraction(1, t)
        moment = beta_2 * moment + (1 - beta_2) * square
        left += square / _root(t * moment / (1 - beta_2**t), above=True)
    right = 2 * _root(_harmonic(num_steps) / (1 - beta_2), above=True)
    return at_most(left, right, instance={"g_t": "1/t^(1/2)", "beta_1": 0, "beta_2": str(beta_2), "T": num_steps})


def _regret(C: int, num_steps: int, left: int, right: int) -> tuple[Fraction, Fraction]:
    """Return a lower bound on the regret of Adam with alpha = 1 and beta_1 = 0 from 0, and the last corrected v_t.

    The gradients are C, -1, -1, C, ...; all iterates are checked to be in the interval.
    """
    beta_2 = Fraction(1, 1 + C * C)
    low = high = moment = regret = Fraction(0)
    for t in range(1, num_steps + 1):
        if not left <= low <= high <= right:
            message = f"iterates must stay in [{left}, {right}], got [{float(low)}, {float(high)}]"
            raise ValueError(message)
        g = C if t % 3 == 1 else -1
        regret += g * ((low if g > 0 else high) - left)
        moment = beta_2 * moment + (1 - beta_2) * g * g
        corrected = moment / (1 - beta_2**t)
        steps = [g / _root(t * corrected, above=above) for above in (False, True)]
        low, high = low - max(steps), high - min(steps)
    return regret, corrected


@claim(
    "adam:theorem-4.1",
    "The regret of Adam is at most D^2 (T v_T)^(1/2)/(2 alpha (1 - beta_1)) + ... and its mean tends to zero",
    Statement(ADAM, "Theorem 4.1"),
    "erratum",
    hypotheses=(
        "convex f_t with |f_t'| <= G on an interval of length D that contains all iterates and the minimizer",
        "alpha_t = alpha/t^(1/2), beta_1t = beta_1 lambda^(t-1), beta_1^2 < beta_2^(1/2)",
    ),
    remark=(
        "losses 8 w, -w, -w in turn, as in Reddi et al.: a rare large gradient is divided by its own size; the example"
        " needs no projection"
    ),
)
def theorem_41() -> Finding:
    C, num_steps, left, right, decay = 8, 75, -5, 3, Fraction(1, 1000)
    regret, corrected = _regret(C, num_steps, left, right)
    beta_2, D2 = Fraction(1, 1 + C * C), (right - left) ** 2
    gradients2 = Fraction(num_steps, 3) * (C * C + 2)
    bound = (
        Fraction(D2, 2) * _root(num_steps * corrected, above=True)
        + C * _root(gradients2 / (1 - beta_2), above=True)
        + Fraction(D2 * C, 2) * _root(1 - beta_2, above=True) / (1 - decay) ** 2
    )
    known = {"f_t": "8 w, -w, -w in turn", "T": num_steps, "X": f"[{left}, {right}]", "alpha": 1, "beta_1": 0}
    return at_most(regret, bound, instance=known | {"beta_2": str(beta_2), "lambda": str(decay)})


@claim(
    "amsgrad:telescoping-sum",
    "The weights v_t^(1/2)/(alpha_t (1 - beta_1t)) of the telescoping sum do not decrease, squared",
    Statement(AMSGRAD, "Theorem 4", "a step of the proof"),
    "erratum",
    hypotheses=("alpha_t = alpha/t^(1/2)", "v_t does not decrease", "beta_1t <= beta_1"),
    remark="they decrease at the first step if beta_1t = 1/2^t and all gradients have the same size",
)
def telescoping_sum() -> Finding:
    first, second = (t / (1 - Fraction(1, 2**t)) ** 2 for t in (1, 2))
    return at_least(second, first, instance={"v_1": 1, "v_2": 1, "beta_11": "1/2", "beta_12": "1/4"})


@claim(
    "amsgrad:constant-momentum",
    "The weights v_t^(1/2)/(alpha_t (1 - beta_1t)) grow at least like t^(1/2) if beta_1t does not decrease, squared",
    Statement(
        FEDTHEORY, "a step of the proof, with a further hypothesis", related=(AMSGRAD, "Theorem 4"), form="derived"
    ),
    hypotheses=("alpha_t = alpha/t^(1/2)", "v_t and beta_1t do not decrease"),
    looseness=1.01,
)
def constant_momentum(rng: np.random.Generator) -> Finding:
    t, v, beta = whole(rng, 1, 50), Fraction(whole(rng, 1, 90), 10), Fraction(whole(rng, 0, 8), 10)
    later_v, later_beta = v + Fraction(whole(rng, 0, 9), 10), beta + (1 - beta) * Fraction(whole(rng, 0, 8), 10)
    known = {"t": t, "v": str(v), "later v": str(later_v), "beta": str(beta), "later beta": str(later_beta)}
    least = v * t / (1 - beta) ** 2 * Fraction(t + 1, t)
    return at_least(later_v * (t + 1) / (1 - later_beta) ** 2, least, instance=known)
