"""Definitions shared by the bounds of FedALIGN."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import nonnegative
from fedtheory.arithmetic.functions import total
from fedtheory.theorem import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
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
    selected_by,
)
from fedtheory.theorem.symbols import LENGTH, SYMBOLS, Symbol


def _sequence(name: str, value):
    """Return one nonnegative number per step; exact rationals stay exact."""
    if isinstance(value, tuple | list) and all(isinstance(entry, int | Fraction) for entry in value):
        return tuple(nonnegative(name, entry) for entry in value)
    return nonnegative(name, validate.array(name, value, ndim=1))


_SEQUENCE = Domain(_sequence, {"nonnegative": True}, is_sequence=True)

PAPER = Paper(
    key="fedalign",
    title="Utilizing Free Clients in Federated Learning for Focused Model Enhancement",
    authors="Ravi, Shomorony",
    year=2023,
    url="https://arxiv.org/abs/2310.04515",
    symbols=(
        replace(SYMBOLS["num_clients"], letter="N"),
        replace(SYMBOLS["num_selected"], letter="K"),
        replace(SYMBOLS["local_steps"], letter="E"),
        replace(
            SYMBOLS["objective_gap"], meaning="Objective gap ``F* - sum_{k in P} p_k F_k*`` of the priority clients"
        ),
        Symbol("num_draws", "Priority clients drawn per round", COUNT._replace(of_run="num_draws"), letter="K"),
        Symbol(
            "theta", "theta_T of eq. (7), in [0, 1] (function ``theta``), or an upper bound", NONNEGATIVE, "", r"\theta"
        ),
        Symbol("rho", "rho_T of eq. (8) (function ``rho``), or an upper bound", NONNEGATIVE, "loss", r"\rho"),
        Symbol("priority_weight", "``E[1/(1 + s)]`` in the round of step t", NONNEGATIVE),
        Symbol(
            "included_gap",
            "``E[sum_{k not in P} p_k I_k Gamma_k/(1 + s)]`` in the round of step t",
            NONNEGATIVE,
            "loss",
        ),
        Symbol(
            "priority_weights",
            "``E[1/(1 + s_i)]`` in the round of every step i, shape (T,) or longer, or a list of exact rationals",
            _SEQUENCE,
        ),
        Symbol(
            "included_gaps",
            "``E[sum_{k not in P} p_k I_k Gamma_k/(1 + s_i)]`` in the round of every step i, shape (T,) or longer, "
            "or a list of exact rationals",
            _SEQUENCE,
            "loss",
        ),
        Symbol("squared_weights", "``E sum_k p'_k^2 I_k``, or an upper bound of at most 1", POSITIVE),
        Symbol("excess", "``F_k(w) - F_k*``, a number or an array", NONNEGATIVE, "loss"),
        Symbol(
            "elapsed_step_size",
            "Sum of the step sizes from the round's start to step t - 1, 0 in a round's first step",
            NONNEGATIVE,
            LENGTH,
        ),
        Symbol(
            "distances2",
            "Squared distances of the included clients' models, shape (n,), or a list of exact rationals",
            _SEQUENCE,
            "distance^2",
        ),
        Symbol(
            "weights",
            "Renormalized weights of the included clients, shape (n,), or a list of exact rationals",
            _SEQUENCE,
        ),
    ),
)

FULL = (Scheme("loss matching", "renormalized"),)
PARTIAL = (Scheme("loss matching, priority drawn with replacement", "renormalized"), *FULL)
# A statement about one step holds in rounds with any number of local steps.
ANY_STEP = ("local_steps",)


_ROUNDING = 8 * float(np.finfo(np.float64).eps)

_CLIENTS = "every F_k, also of non-priority clients,"
CURVATURE = (Smooth(of=_CLIENTS, source="Assumption 1"), StronglyConvex(of=_CLIENTS, source="Assumption 2"))
NOISE = Noise(across="independent across clients given the past and the round's indicators", source="Assumption 3")
GRADIENTS = BoundedGradients(given="the round's indicators", source="Assumption 4")
FROZEN_INDICATORS = Hypothesis(
    "the indicators I_k depend only on the server's model at the round's start, and the aggregation at the round's "
    "end uses them",
    of_run=lambda run: None if run.scheme.selection.startswith("loss matching") else str(run.scheme),
)
HALVING = HalvingSteps()
PRIORITY_DRAWS = Hypothesis(
    "num_draws priority clients are drawn with replacement, client k with probability p_k",
    of_run=selected_by(PARTIAL[0].selection),
)
WEIGHTS = AggregationWeights(of="renormalized weights p'_k I_k")
SHORT_STEPS = Hypothesis("step_size <= 1/(4 L)", lambda step_size, L: (step_size, "<=", 1 / (4 * L)), rtol=_ROUNDING)
ALIGNMENT = Hypothesis("theta <= 1", lambda theta: (theta, "<=", 1), rtol=_ROUNDING)
PRIORITY_WEIGHT = Hypothesis("priority_weight <= 1", lambda priority_weight: (priority_weight, "<=", 1), rtol=_ROUNDING)
PRIORITY_WEIGHTS = Hypothesis(
    "priority_weights <= 1", lambda priority_weights: (max(priority_weights, default=0), "<=", 1), rtol=_ROUNDING
)
SQUARED_WEIGHTS = Hypothesis("squared_weights <= 1", lambda squared_weights: (squared_weights, "<=", 1), rtol=_ROUNDING)

THEOREM = (*CURVATURE, NOISE, GRADIENTS, FROZEN_INDICATORS, ALIGNMENT)


def summed(values, length, factor):
    """Sum ``factor(i) values[i]`` over i = 0, ..., length - 1."""
    if hasattr(values, "free_symbols"):
        from sympy import IndexedBase, Sum, Symbol

        i = Symbol("i", integer=True)
        return Sum(factor(i) * IndexedBase(values)[i], (i, 0, length - 1))
    if len(values) < length:
        message = f"sequences must have an entry for each of the {length} steps, got {len(values)}"
        raise ValueError(message)
    if isinstance(values, tuple):
        return sum((factor(i) * value for i, value in enumerate(values[:length])), start=Fraction(0))
    return total(factor(np.arange(length)) * values[:length])
