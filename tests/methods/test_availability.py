"""Methods with absent clients: each is the plain loop that its docstring states, over the clients that took part."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection import Available, Full, Independent, Uniform
from fedtheory.selection.availability import AlternatingGroups, BernoulliAvailability

CURVATURES, CENTERS = np.array([1.0, 2.0, 1.5, 0.5]), np.array([0.0, 1.0, 3.0, 5.0])
P = np.array([0.1, 0.2, 0.3, 0.4])
FED = ft.QuadraticFederation(CURVATURES, CENTERS[:, None], P)
ETA, STEPS = 0.05, [3, 1, 2, 4]
EQUAL = [3] * 4


class Round:
    """A round of the run: its model, its clients with their coefficients, and a client's local steps."""

    def __init__(self, x: float, clients: Any, coefficients: Any, steps: list[int]) -> None:
        self.x, self.steps = x, steps
        self.clients, self.omega = [int(k) for k in clients], {int(k): w for k, w in zip(clients, coefficients)}  # noqa: B905

    def trained(self, k: int, correction: float = 0.0, mu: float = 0.0) -> float:
        """y_k after local steps on F_k, with a correction of each gradient and the term mu/2 |y - x|^2."""
        y = self.x
        for _ in range(self.steps[k]):
            y -= ETA * (CURVATURES[k] * (y - CENTERS[k]) + correction + mu * (y - self.x))
        return y

    def mean(self, vectors: dict[int, float]) -> float:
        """The sum with the strategy's coefficients."""
        return sum((self.omega[k] * one for k, one in vectors.items()), 0.0)


def fedavg(state: dict[str, Any], r: Round) -> float:
    return r.x + 0.8 * r.mean({k: r.trained(k, mu=0.7) - r.x for k in r.clients})


def fedavgm(state: dict[str, Any], r: Round) -> float:
    state["v"] = 0.5 * state["v"] + r.mean({k: r.trained(k) - r.x for k in r.clients})
    return float(r.x + 0.8 * state["v"])


def nesterov(state: dict[str, Any], r: Round) -> float:
    delta = r.mean({k: r.trained(k) - r.x for k in r.clients})
    state["v"] = 0.5 * state["v"] + delta
    return float(r.x + 0.8 * (delta + 0.5 * state["v"]))


def feddyn(state: dict[str, Any], r: Round) -> float:
    alpha, estimates = 2.0, state["clients"]
    ends = {k: r.trained(k, -estimates[k], alpha) for k in r.clients}
    for k, y in ends.items():
        estimates[k] -= alpha * (y - r.x)
        state["h"] -= alpha * P[k] * (y - r.x)
    return float(r.x + r.mean({k: y - r.x for k, y in ends.items()}) - state["h"] / alpha)


def fedopt(state: dict[str, Any], r: Round) -> float:
    delta = r.mean({k: r.trained(k) - r.x for k in r.clients})
    state["m"] = 0.5 * state.get("m", 0.0) + 0.5 * delta
    state["v"] += delta**2
    return float(r.x + 0.1 * state["m"] / (np.sqrt(state["v"]) + 0.01))


def delayed(state: dict[str, Any], r: Round) -> float:
    past = state.setdefault("past", [r.x])
    now = r.x
    r.x = past[-1]
    change = r.mean({k: r.trained(k) - r.x for k in r.clients})
    past.append(now)
    return now + change


def fednova(state: dict[str, Any], r: Round) -> float:
    effective = r.mean({k: STEPS[k] for k in r.clients})
    return r.x + effective * r.mean({k: (r.trained(k) - r.x) / STEPS[k] for k in r.clients})


def scaffold(state: dict[str, Any], r: Round) -> float:
    c, variates = state["c"], state["clients"]
    ends = {k: r.trained(k, c - variates[k]) for k in r.clients}
    for k, y in ends.items():
        change = -c + (r.x - y) / (EQUAL[k] * ETA)
        variates[k] += change
        state["c"] += P[k] * change
    return float(r.x + r.mean({k: y - r.x for k, y in ends.items()}))


# With one coordinate TopK(1) sends all of a message; half of it is another contraction.
def compressed(state: dict[str, Any], r: Round) -> float:
    return r.x + r.mean({k: (r.trained(k) - r.x) / 2 for k in r.clients})


def error_feedback(state: dict[str, Any], r: Round) -> float:
    errors, sent = state["clients"], {}
    for k in r.clients:
        v = errors[k] + r.x - r.trained(k)
        sent[k], errors[k] = v / 2, v - v / 2
    return r.x - r.mean(sent)


def ef21(state: dict[str, Any], r: Round) -> float:
    known = state["clients"]
    for k in r.clients:
        known[k] += ((r.x - r.trained(k)) / (EQUAL[k] * ETA) - known[k]) / 2
    return float(r.x - EQUAL[0] * ETA * P @ known)


class Half:
    """The compressor C(v) = v/2."""

    def compress(self, dim: int) -> Any:
        return ft.methods.compressors.Compress(_halve, np.empty(0), 0.25)


def _halve(table: Any, rng: Any, message: Any) -> float:
    message /= 2
    return 1.0


METHODS: dict[Callable[..., float], tuple[Any, dict[str, Any]]] = {
    fedavg: (None, {"proximal_weight": 0.7, "server_step_size": 0.8}),
    fedavgm: (ft.methods.FedAvgM(0.5, 0.8), {}),
    nesterov: (ft.methods.FedAvgM(0.5, 0.8, nesterov=True), {}),
    feddyn: (ft.methods.FedDyn(2.0), {}),
    fedopt: (ft.methods.FedOpt("adagrad", 0.1, 0.5, epsilon=0.01, initial_square=0.0), {}),
    delayed: (ft.methods.Delayed((0, 1)), {}),
    fednova: (ft.methods.FedNova(), {"local_steps": STEPS}),
    scaffold: (ft.methods.Scaffold(), {}),
    compressed: (ft.methods.Compressed(Half()), {}),
    error_feedback: (ft.methods.ErrorFeedback(Half()), {}),
    ef21: (ft.methods.EF21(Half()), {}),
}
PRESENT = {
    "groups": Available(Full(), AlternatingGroups(0.0), shortfall="allow"),
    "coins": Available(Full(), BernoulliAvailability(0.4), shortfall="allow"),
    "some of the present": Available(Uniform(1), AlternatingGroups(0.0)),
}
CONVERGENT = (feddyn, scaffold, ef21)


def simulated(step: Callable[..., float], strategy: Any, num_rounds: int, **options: Any) -> Any:
    method, own = METHODS[step]
    known = {"local_steps": 3, "step_size": ETA, "record": ("models", "selected", "coefficients"), **own, **options}
    return ft.fedavg(FED, strategy, num_rounds=num_rounds, method=method, **known)


@pytest.mark.parametrize("strategy", PRESENT.values(), ids=PRESENT)
@pytest.mark.parametrize("step", METHODS, ids=lambda step: step.__name__)
def test_a_run_with_absent_clients_is_the_loop_of_the_documented_pseudocode(step: Any, strategy: Any) -> None:
    run = simulated(step, strategy, 12)
    selected, coefficients = run.recorded("selected")[0], run.recorded("coefficients")[0]
    state: dict[str, Any] = {"v": 0.0, "h": 0.0, "c": 0.0, "clients": np.zeros(4)}
    models = [0.0]
    for t in range(12):
        took_part = (selected[t] >= 0) & (coefficients[t] != 0)
        steps = METHODS[step][1].get("local_steps", EQUAL)
        models.append(step(state, Round(models[-1], selected[t][took_part], coefficients[t][took_part], steps)))
    np.testing.assert_allclose(run.models[0, :, 0], models, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strategy", PRESENT.values(), ids=PRESENT)
@pytest.mark.parametrize("step", CONVERGENT, ids=lambda step: step.__name__)
def test_corrected_methods_find_the_minimizer_of_the_objective_although_clients_are_absent(
    step: Any, strategy: Any
) -> None:
    method = ft.methods.EF21(ft.methods.TopK(1)) if step is ef21 else METHODS[step][0]
    run = ft.fedavg(
        FED, strategy, num_rounds=3000, local_steps=1 if step is ef21 else 3, step_size=ETA, method=method,
        record=("models",),
    )  # fmt: skip
    assert run.models[0, -1, 0] == pytest.approx(FED.minimizer[0], abs=1e-9)


@pytest.mark.parametrize("strategy", [*PRESENT.values(), Uniform(2), Independent(2.0)], ids=repr)
def test_scaffnew_refuses_strategies_in_which_a_client_can_be_missing(strategy: Any) -> None:
    with pytest.raises(ValueError, match="strategy must be Full"):
        ft.fedavg(FED, strategy, num_rounds=1, step_size=ETA, method=ft.methods.Scaffnew(0.5))


def test_exact_moments_do_not_cover_absent_clients() -> None:
    with pytest.raises(TypeError, match="strategy must be state-independent"):
        ft.exact.expected_gap(FED, PRESENT["coins"], 3, 2, ETA, [0.0], method=ft.methods.Scaffold())
