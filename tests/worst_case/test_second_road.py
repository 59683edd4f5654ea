"""A round formulated in cvxpy, client by client, without blocks, means or deviations."""

from fractions import Fraction as Q
from itertools import combinations, permutations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from fedtheory.worst_case.federated_averaging import fedavg
from fedtheory.worst_case.function_classes.smooth_functions import _on_simplex


def by_cvxpy(num_clients: int, num_selected: int, local_steps: int, eta: float, mu: float, gap: float) -> float:
    """Every client has x*, its gradient at w* = 0 and one gradient per step; L = 1 and |w_0| <= 1."""
    size = 1 + num_clients * (2 + local_steps)
    unit = np.eye(size)
    G = cp.Variable((size, size), PSD=True)
    start, constraints, ends, excess = unit[0], [G[0, 0] <= 1], [], []
    at_home = []
    for k in range(num_clients):
        minimizer, home, *gradients = unit[1 + k * (2 + local_steps) :][: 2 + local_steps]
        at_home.append(home)
        points: list[Any] = [(minimizer, np.zeros(size)), (np.zeros(size), home)]
        y = start
        for gradient in gradients:
            points.append((y, gradient))
            y = y - eta * gradient
        ends.append(y)
        f = cp.Variable(len(points))
        excess.append(f[1] - f[0])
        for i, j in permutations(range(len(points)), 2):
            (x, g), (u, h) = points[i], points[j]
            square = np.outer(g - h, g - h) + mu * np.outer(x - u, x - u) - 2 * mu * np.outer(g - h, x - u)
            form = np.outer(h, x - u) + square / (2 * (1 - mu))
            constraints.append(f[j] - f[i] + cp.trace((form + form.T) / 2 @ G) <= 0)
    total = sum(at_home)
    constraints += [total @ G @ total <= 0, sum(excess) / num_clients <= gap]
    means = [sum(ends[k] for k in chosen) / num_selected for chosen in combinations(range(num_clients), num_selected)]
    objective = sum(cp.trace(np.outer(mean, mean) @ G) for mean in means) / len(means)
    problem = cp.Problem(cp.Maximize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.filterwarnings("ignore:WorstCase may be inaccurate")
@pytest.mark.parametrize(
    ("num_clients", "num_selected", "local_steps"),
    [(2, 1, 1), (3, 2, 1), pytest.param(3, 2, 2, marks=pytest.mark.slow)],
)
def test_client_by_client_the_worst_case_is_the_same(num_clients: int, num_selected: int, local_steps: int) -> None:
    worst = fedavg(
        local_steps,
        Q(1, 4),
        mu=Q(1, 10),
        L=1,
        distance2=1,
        objective_gap=Q(1, 2),
        sampling="distinct",
        num_clients=num_clients,
        num_selected=num_selected,
    )
    # The equality |sum of gradients| = 0 costs the other program its interior, and the solver half of its digits.
    assert by_cvxpy(num_clients, num_selected, local_steps, 0.25, 0.1, 0.5) == pytest.approx(worst.value, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_between_its_points_the_loss_of_an_instance_is_least_over_all_mixtures_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Of many vertices several have to leave the face at once, now and then.
    for count, dim in ((8, 3), (8, 3), (40, 2), (40, 6), (40, 20)):
        vectors, linear = rng.normal(size=(count, dim)), rng.normal(size=count) / 4
        weights = _on_simplex(vectors, linear)
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        # The conditions of Karush, Kuhn and Tucker: no vertex is lower along the slope than the mixture.
        slope = vectors @ (weights @ vectors) + linear
        assert slope.min() >= slope @ weights - 1e-10
