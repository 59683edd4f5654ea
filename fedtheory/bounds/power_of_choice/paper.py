"""Definitions shared by the bounds of Power-of-Choice."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory._support.validate import nonnegative
from fedtheory.theorem import (
    NONNEGATIVE,
    POSITIVE,
    REAL,
    AggregationWeights,
    BoundedGradients,
    Domain,
    HalvingSteps,
    Hypothesis,
    Noise,
    Paper,
    Scheme,
    Smooth,
    StronglyConvex,
    knows,
)
from fedtheory.theorem.symbols import LENGTH, SYMBOLS, Symbol


def _entries(name: str, value):
    """Return nonnegative numbers; a sequence of exact rationals stays exact."""
    if isinstance(value, tuple | list) and any(isinstance(entry, Fraction) for entry in value):
        return tuple(nonnegative(name, entry) for entry in value)
    return nonnegative(name, value)


# A skew may be any real number here, so that a negative one is reported as a violated hypothesis.
_SKEW = REAL._replace(assumptions={"nonnegative": True})

PAPER = Paper(
    key="power-of-choice",
    title="Client Selection in Federated Learning: Convergence Analysis and Power-of-Choice Selection Strategies",
    authors="Cho, Wang, Joshi",
    year=2020,
    url="https://arxiv.org/abs/2010.01243",
    symbols=(
        replace(SYMBOLS["num_clients"], letter="K"),
        replace(SYMBOLS["num_candidates"], letter="d"),
        replace(SYMBOLS["weights"], letter="p_k"),
        replace(SYMBOLS["num_rounds"], meaning="Number of rounds so far, ``R = T/tau``"),
        *(
            replace(
                row, meaning=f"{row.meaning}; for every client, or on average over the active ones if that is assumed"
            )
            for row in (SYMBOLS["G2"], SYMBOLS["sigma2"])
        ),
        *(
            replace(row, domain=_SKEW, meaning=f"{row.meaning}; eq. (6), or eq. (76) with weights q_k")
            for row in (SYMBOLS["rho_bar"], SYMBOLS["rho_tilde"], SYMBOLS["rho_diagonal"])
        ),
        replace(SYMBOLS["initial_gap"], meaning="``F(w_0) - F*``, or any upper bound of ``mu/2 |w_0 - w*|^2``"),
        Symbol("excess", "``F_k(w) - F_k*``, a number or an array", NONNEGATIVE, "loss"),
        Symbol(
            "elapsed_step_size", "Sum of the round's step sizes before step t; 0 in its first step", NONNEGATIVE, LENGTH
        ),
        Symbol(
            "squared_weights",
            "Largest ``sum_{k in S} q_k^2`` over the selections: 1/m for the plain mean, never above 1",
            POSITIVE._replace(of_run="squared_weights"),
        ),
        Symbol(
            "distances2",
            "Squared distances of the active clients' models, shape (..., m); the result has shape (...)",
            Domain(_entries, {"nonnegative": True}),
            "distance^2",
        ),
        Symbol("gamma", "Delay of the step sizes", POSITIVE._replace(of_run="delay"), letter=r"\gamma"),
    ),
)

MEAN = (Scheme("any", "mean"),)
ANY_MEAN = (Scheme("any", "mean", memoryless=False),)
# The paper counts uniform subsets with weights p_k K / m among its schemes; these weights need not sum to one.
WEIGHTED_AS_PRINTED = (Scheme("any", "mean"), Scheme("any", "weighted"))
WEIGHTED = (Scheme("any", "mean"), Scheme("all", "weighted"))
# A statement about one step holds in rounds with any number of local steps.
ANY_STEP = ("local_steps",)


# Relative rounding error of a step size computed from L in two or three operations.
ROUNDING = 4 * float(np.finfo(np.float64).eps)

_CURVATURE = (Smooth(source="Assumption 3.1"), StronglyConvex(source="Assumption 3.2"))
_NOISE = Noise(source="Assumption 3.3")
_MEAN_NOISE = Noise(variance="sigma2 (an average over the active clients suffices)", source="Assumption 3.3")
_MARKOV_SELECTION = Hypothesis(
    "a round's selection depends on the past only through the round's starting model",
    of_run=lambda run: None if run.scheme.memoryless else str(run.scheme),
)
LOWEST = Hypothesis("F_k has a minimizer", of_run=knows("local_minima"))
MARGINAL_GRADIENTS = BoundedGradients(source="Assumption 3.4")
MEAN_GRADIENTS = BoundedGradients(weights="1/m")
_WEIGHTED_GRADIENTS = BoundedGradients(weights="q_k")
HALVING = HalvingSteps()
_SUM_TO_ONE = AggregationWeights()

POSITIVE_SKEW = Hypothesis("rho_bar > 0", lambda rho_bar: (rho_bar, ">", 0))
ORDERED_SKEWS = Hypothesis("rho_tilde >= rho_bar", lambda rho_tilde, rho_bar: (rho_tilde, ">=", rho_bar))
POSITIVE_DIAGONAL = Hypothesis("rho_diagonal > 0", lambda rho_diagonal: (rho_diagonal, ">", 0))
NONNEGATIVE_SKEW = Hypothesis("rho_bar >= 0", lambda rho_bar: (rho_bar, ">=", 0))
_NONNEGATIVE_DIAGONAL = Hypothesis("rho_diagonal >= 0", lambda rho_diagonal: (rho_diagonal, ">=", 0))
ORDERED_DIAGONAL = Hypothesis(
    "rho_tilde >= rho_diagonal", lambda rho_tilde, rho_diagonal: (rho_tilde, ">=", rho_diagonal)
)
_FEASIBLE_SKEW = Hypothesis(
    "rho_diagonal <= L/mu (the infimum over all models satisfies this; smaller values are allowed)",
    lambda rho_diagonal, L, mu: (rho_diagonal, "<=", L / mu),
    rtol=ROUNDING,
)
UNIT_SQUARES = Hypothesis("squared_weights <= 1", lambda squared_weights: (squared_weights, "<=", 1), rtol=ROUNDING)

PRINTED = (*_CURVATURE, _NOISE, MARGINAL_GRADIENTS, _MARKOV_SELECTION, ORDERED_SKEWS)
_SKEWS = (_NONNEGATIVE_DIAGONAL, ORDERED_DIAGONAL, _FEASIBLE_SKEW)
REPAIRED = (*_CURVATURE, _MEAN_NOISE, MEAN_GRADIENTS, _MARKOV_SELECTION, *_SKEWS)
WITHOUT_GRADIENTS = (*_CURVATURE, _MEAN_NOISE, _MARKOV_SELECTION, *_SKEWS)
WEIGHTED_PRINTED = (*PRINTED, _SUM_TO_ONE)
WEIGHTED_FUNCTIONS = (*_CURVATURE, _NOISE, _WEIGHTED_GRADIENTS, _MARKOV_SELECTION, _SUM_TO_ONE)
WEIGHTED_REPAIRED = (*WEIGHTED_FUNCTIONS, *_SKEWS)


def short_steps(factor: int = 4) -> Hypothesis:
    """Return the hypothesis ``step_size <= 1/(factor L)``."""
    return Hypothesis(
        f"step_size <= 1/({factor} L)" if factor > 1 else "step_size <= 1/L",
        lambda step_size, L: (step_size, "<=", 1 / (factor * L)),
        rtol=ROUNDING,
    )
