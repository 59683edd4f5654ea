"""FedOpt: adaptive server steps (FedAdagrad, FedAdam, FedYogi)."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

import math
from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["FedOpt"]

Rule = Literal["adagrad", "adam", "yogi"]


@final
@dataclass(frozen=True)
class FedOpt:
    r"""Adaptive server steps: the server divides its step by the root of a mean of squared updates, per coordinate.

    With the weighted sum Delta of the model differences of a round, the server sets, coordinate by coordinate,
    ``m <- beta1 m + (1 - beta1) Delta``, then v, and ``x <- x + s m / (sqrt(v) + epsilon)``:

    - ``"adagrad"``: ``v <- v + Delta^2``;
    - ``"adam"``: ``v <- beta2 v + (1 - beta2) Delta^2``;
    - ``"yogi"``: ``v <- v - (1 - beta2) Delta^2 sign(v - Delta^2)``.

    m is 0 before round 0. The paper has no bias correction and requires an initial v of at least ``epsilon^2``.

    Source: Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar and McMahan (2021), Algorithm 2.

    Parameters
    ----------
    rule, server_step_size
        How v changes, and the step size s.
    momentum, second_momentum
        beta1 in [0, 1), and beta2 in [0, 1], which ``"adagrad"`` does not use. With beta2 = 1 and ``"adam"`` or
        ``"yogi"`` v does not change, and the method is linear.
    epsilon, initial_square
        Positive summand of the root, and v before round 0; ``epsilon^2`` if it is None.
    bias_correction
        Whether m and v are divided by ``1 - beta1^t`` and, for ``"adam"`` and ``"yogi"``, ``1 - beta2^t`` in round t,
        counted from 1, as Kingma and Ba do. beta2 must be less than 1.
    epsilon_inside
        Whether the root is ``sqrt(v + epsilon)`` in place of ``sqrt(v) + epsilon``.

    Examples
    --------
    On ``w^2 / 2`` from 1 the update is -1/2. With beta1 = 0, v = 1/4 and epsilon = 1/2 the server moves by
    ``-1/2 / (1/2 + 1/2)``.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> method = FedOpt("adagrad", momentum=0.0, epsilon=0.5, initial_square=0.0)
    >>> run = {"num_rounds": 1, "step_size": 0.5, "initial": [1.0], "record": ("models",)}
    >>> ft.fedavg(fed, ft.selection.Full(), method=method, **run).models[0, :, 0]
    array([1. , 0.5])
    """

    rule: Rule = "adam"
    server_step_size: float = 1.0
    momentum: float = 0.9
    second_momentum: float = 0.99
    epsilon: float = 1e-3
    initial_square: float | None = None
    bias_correction: bool = False
    epsilon_inside: bool = False

    def __post_init__(self) -> None:
        validate.choice("rule", self.rule, get_args(Rule))
        for name in ("server_step_size", "epsilon"):
            validate.double(name, validate.positive(name, getattr(self, name)))
        for name in ("momentum", "second_momentum"):
            validate.fraction(name, getattr(self, name))
        if self.initial_square is not None:
            validate.double("initial_square", validate.nonnegative("initial_square", self.initial_square))
        for name in ("bias_correction", "epsilon_inside"):
            validate.boolean(name, getattr(self, name))
        if self.momentum == 1.0:
            message = "momentum must be less than 1, got 1"
            raise ValueError(message)
        if self.bias_correction and self.rule != "adagrad" and self.second_momentum == 1.0:
            message = "second_momentum must be less than 1 with bias_correction, got 1"
            raise ValueError(message)

    @property
    def is_linear(self) -> bool:
        """Whether v and the corrections are constant, so that the server's step is linear in the updates."""
        return self.rule != "adagrad" and self.second_momentum == 1.0 and not self.bias_correction

    @property
    def first_root(self) -> float:
        """Divisor of the server's step for the v before round 0."""
        return math.sqrt(self._square + self.epsilon) if self.epsilon_inside else math.sqrt(self._square) + self.epsilon

    @property
    def _square(self) -> float:
        return self.epsilon**2 if self.initial_square is None else self.initial_square

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        table = [
            get_args(Rule).index(self.rule), self.server_step_size, self.momentum, self.second_momentum, self.epsilon,
            self.bias_correction, self.epsilon_inside,
        ]  # fmt: skip
        memory = np.concatenate([np.zeros(initial.size), np.full(initial.size, self._square), np.ones(2)])
        return MethodRules(combine=_combine, table=np.array(table, dtype=np.float64), memory=memory)


# The memory holds m, v, and the powers of beta1 and beta2 that are the products of all rounds.
@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    rule, server_step_size, beta1, beta2, epsilon = table[0], table[1], table[2], table[3], table[4]
    is_corrected, is_inside, dim = table[5] != 0.0, table[6] != 0.0, model.size
    first, second = 1.0, 1.0
    memory[2 * dim] *= beta1
    memory[2 * dim + 1] *= beta2
    if is_corrected:
        first = 1.0 - memory[2 * dim]
        second = 1.0 if rule == 0.0 else 1.0 - memory[2 * dim + 1]
    for j in range(dim):
        change = 0.0
        for i in range(chosen.size):
            if coefficients[i] != 0.0:
                change += coefficients[i] * messages[i, j]
        square, v = change * change, memory[dim + j]
        if rule == 0.0:
            v += square
        elif rule == 1.0:
            v = beta2 * v + (1.0 - beta2) * square
        else:
            v -= (1.0 - beta2) * square * np.sign(v - square)
        memory[j] = beta1 * memory[j] + (1.0 - beta1) * change
        memory[dim + j] = v
        root = np.sqrt(v / second + epsilon) if is_inside else np.sqrt(v / second) + epsilon
        model[j] += server_step_size * memory[j] / first / root
    return 1.0
