"""Words that the statements about SCAFFOLD share: the paper, its hypotheses, and the sums over a round."""

from fedtheory.theorem.arithmetic import geometric, short_of_one
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, StronglyConvex, method_is
from fedtheory.theorem.domains import NONNEGATIVE
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.scheme import Scheme
from fedtheory.theorem.symbols import GRADIENT2, Symbol

__all__ = ["ALL_CLIENTS", "CONTROL", "FUNCTIONS", "METHOD", "PAPER", "STABLE", "sums_of_round"]

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


def sums_of_round(step_size, *, mu, L, local_steps):
    r"""Return ``c``, ``c^tau``, the lag ``tau - C`` and ``sum_{k <= tau} (tau - C_k)^2``, and ``1/beta``.

    ``C_k = (1 - c^k)/u`` with ``u = eta mu`` is the sum of the first k powers of c, C is C_tau.
    """
    rate = step_size * mu
    rest = short_of_one(step_size, mu)
    left, gone = geometric(rate, local_steps, rest)
    _, gone_twice = geometric(rate, 2 * local_steps, rest)
    lag = local_steps - gone / rate
    far = local_steps - 1 / rate
    squares = local_steps * far**2 + 2 * far * rest * gone / rate**2 + rest**2 * gone_twice / (rate**3 * (1 + rest))
    room = short_of_one(step_size, mu) + short_of_one(step_size, L)
    return rest, left, lag, squares, step_size * (L - mu) / room
