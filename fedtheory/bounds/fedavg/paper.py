"""Definitions shared by the bounds on federated averaging."""

from dataclasses import replace

from fedtheory.arithmetic.functions import maximum
from fedtheory.theorem import (
    NONNEGATIVE,
    POSITIVE,
    AggregationWeights,
    BoundedGradients,
    HalvingSteps,
    Hypothesis,
    Noise,
    Paper,
    Scheme,
    Smooth,
    StronglyConvex,
    selected_by,
)
from fedtheory.theorem.symbols import GRADIENT2, SYMBOLS, Symbol

PAPER = Paper(
    key="fedavg",
    title="On the Convergence of FedAvg on Non-IID Data",
    authors="Li, Huang, Yang, Wang, Zhang",
    year=2020,
    url="https://arxiv.org/abs/1907.02189",
    basis="remembered",
    symbols=(
        replace(SYMBOLS["local_steps"], letter="E"),
        replace(SYMBOLS["num_clients"], letter="N"),
        replace(SYMBOLS["num_selected"], meaning="Number of clients per round, counted with multiplicity", letter="K"),
        replace(
            SYMBOLS["num_steps"],
            meaning="Number of local steps so far, T - 1 in the paper; an array of horizons gives an array of bounds",
        ),
        Symbol(
            "weighted_sigma2",
            "Variance of the weighted mean of the clients' stochastic gradients, ``sum_k p_k^2 sigma_k^2``",
            NONNEGATIVE._replace(of_run="weighted_sigma2"),
            GRADIENT2,
        ),
        Symbol("max_weight", "Largest weight of a client", POSITIVE, letter=r"\max_kp_k"),
        Symbol("min_weight", "Smallest weight of a client", POSITIVE, letter=r"\min_kp_k"),
        Symbol(
            "weighted_G2",
            "Bound on the mean squared gradient of ``N p_k F_k``, ``N sum_k p_k^2 G_k^2``",
            NONNEGATIVE,
            GRADIENT2,
        ),
    ),
)

FULL_PARTICIPATION = (Scheme("all", "weighted"),)
WITH_REPLACEMENT = (Scheme("multinomial", "mean"),)
# With equal p_k the paper's weights N/K p_k are those of the mean.
SUBSETS = (Scheme("uniform without replacement", "mean"), Scheme("uniform without replacement", "weighted"))

# The weights are rounded when they are divided by their sum.
_ROUNDING = 1e-12

FUNCTIONS = (Smooth(source="Assumption 1"), StronglyConvex(source="Assumption 2"))
NOISE = Noise(
    "weighted_sigma2",
    variance="sigma_k^2 (weighted_sigma2 is sum_k p_k^2 sigma_k^2)",
    across="independent across clients",
    source="Assumption 3",
)
GRADIENTS = BoundedGradients(source="Assumption 4")
HALVING = HalvingSteps()
DRAWS = Hypothesis(
    "num_selected clients are drawn with replacement, client k with probability p_k, independently of models and noise",
    of_run=selected_by("multinomial"),
)
SUBSET = Hypothesis(
    "num_selected clients are drawn without replacement, uniformly, independently of models and noise",
    of_run=selected_by("uniform without replacement"),
)


def _differing_weights(run):
    """Report the range of the objective weights, or None if they differ by rounding only."""
    least, most = min(run.fed.weights), max(run.fed.weights)
    return None if most - least <= _ROUNDING * most else f"weights from {least:g} to {most:g}"


BALANCED = Hypothesis("all p_k are equal", of_run=_differing_weights)
MEAN = AggregationWeights()
SEVERAL_CLIENTS = Hypothesis("num_clients >= 2", lambda num_clients: (num_clients, ">=", 2))
SHORT_STEPS = Hypothesis("step_size <= 1/L", lambda step_size, L: (step_size, "<=", 1 / L), rtol=4 * 2.0**-52)


def delay(*, mu, L, local_steps):
    """Evaluate ``gamma = max(8 L/mu, E)`` of the step sizes ``2/(mu (t + gamma))``."""
    return maximum(8 * L / mu, local_steps)
