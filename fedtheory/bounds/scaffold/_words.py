"""Words that the statements about SCAFFOLD share: the paper, its hypotheses, and the sums over a round."""

from fedtheory.theorem.arithmetic import geometric, short_of_one
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, StronglyConvex, method_is
from fedtheory.theorem.domains import NONNEGATIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.scheme import Scheme
from fedtheory.theorem.symbols import GRADIENT2, Symbol

__all__ = ["ALL_CLIENTS", "CONTROL", "FUNCTIONS", "METHOD", "PAPER", "STABLE", "lags", "squared_ways", "steepness"]

PAPER = Paper(
    key="scaffold",
    title="SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
    authors="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh",
    year=2020,
    url="https://arxiv.org/abs/1910.06378",
    compared=False,
    symbols=(
        Symbol(
            "control_error2",
            "Weighted mean of ``|c_k - c - grad F_k(w*)|^2``, the squared errors of the control variates; with all c_k "
            "equal it is that of ``|grad F_k(w*)|^2``",
            NONNEGATIVE._replace(of_run="control_error2"),
            GRADIENT2,
        ),
    ),
)

ALL_CLIENTS = (Scheme("all", "weighted"),)
FUNCTIONS = (Smooth(), StronglyConvex())
METHOD = Hypothesis("clients and server run SCAFFOLD with Option II", of_run=method_is("Scaffold"))
STABLE = Hypothesis("step_size (L + mu) < 2", lambda step_size, L, mu: (step_size * (L + mu), "<", 2))
CONTROL = (*FUNCTIONS, EXACT_GRADIENTS, METHOD)


# Up to so many local steps the sums of a round are added up, which keeps the digits of short steps.
_FEW = 1000


def steepness(step_size, *, mu, L):
    """Return ``1/beta = eta (L - mu)/(2 c - eta (L - mu))``."""
    return step_size * (L - mu) / (short_of_one(step_size, mu) + short_of_one(step_size, L))


def lags(step_size, *, mu, local_steps):
    """Return ``tau - C`` and ``sum_{k <= tau} (tau - C_k)^2``, C_k being the sum of the first k powers of c."""
    rate, rest = step_size * mu, short_of_one(step_size, mu)
    if isinstance(local_steps, int) and local_steps <= _FEW:
        lag, squares = 0 * rate, 0 * rate
        for k in range(1, local_steps + 1):
            lag = lag + geometric(rate, k - 1, rest)[1]
            squares = squares + (local_steps - k + lag) ** 2
        return lag, squares
    (_, gone), (_, gone_twice) = geometric(rate, local_steps, rest), geometric(rate, 2 * local_steps, rest)
    far = local_steps - 1 / rate
    squares = local_steps * far**2 + 2 * far * rest * gone / rate**2 + rest**2 * gone_twice / (rate**3 * (1 + rest))
    return local_steps - gone / rate, squares


def squared_ways(step_size, *, mu, local_steps):
    """Return ``sum_{s < tau} d_s^2``, d_s being the sum of the s powers of c below the tau-th."""
    rate, rest = step_size * mu, short_of_one(step_size, mu)
    if isinstance(local_steps, int) and local_steps <= _FEW:
        way, squares = 0 * rate, 0 * rate
        for s in range(1, local_steps):
            way = way + rest ** (local_steps - s)
            squares = squares + way**2
        return squares
    (left, gone), (twice, gone_twice) = geometric(rate, local_steps, rest), geometric(rate, 2 * local_steps, rest)
    return (rest**2 * gone_twice / (rate * (1 + rest)) - 2 * left * rest * gone / rate + local_steps * twice) / rate**2
