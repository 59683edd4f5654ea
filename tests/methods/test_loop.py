"""Methods in the round loop: their models, messages and costs, and no effect on other streams."""

from dataclasses import dataclass, replace
from fractions import Fraction as Q
from itertools import product
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact.runs import for_run
from fedtheory.methods.rules import METHOD_RULES, MethodRules
from fedtheory.selection import Full, Proportional, Uniform
from tests.testing_methods import PLANE, TWO, states_of

EVERY = {
    "scaffold": ft.methods.Scaffold(),
    "fednova": ft.methods.FedNova(),
    "compressed": ft.methods.Compressed(ft.methods.RandK(1)),
    "scaffnew": ft.methods.Scaffnew(0.5),
    "error feedback": ft.methods.ErrorFeedback(ft.methods.RandK(1)),
    "EF21": ft.methods.EF21(ft.methods.RandK(1)),
    "fedavgm": ft.methods.FedAvgM(0.5, 0.8, nesterov=True),
    "feddyn": ft.methods.FedDyn(2.0),
    "fedopt": ft.methods.FedOpt("yogi", 0.1, bias_correction=True),
    "delayed": ft.methods.Delayed((0.5, 0.0, 0.5)),
}


@dataclass(frozen=True)
class Plain:
    """A method whose rules are plain Python."""

    method: Any

    def method_rules(self, weights: Any, initial: Any) -> MethodRules:
        rules = self.method.method_rules(weights, initial)
        functions = {name: getattr(rules, name) for name in METHOD_RULES}
        return replace(rules, **{name: getattr(one, "py_func", one) for name, one in functions.items()})


def run(method: Any, fed: Any = PLANE, strategy: Any = None, **changes: Any) -> Any:
    settings: dict[str, Any] = {
        "num_rounds": 12, "step_size": 0.1, "gradient_noise": 0.5, "num_replicates": 3, "rng": 5,
        "record": ("models", "uplink", "broadcasts", "selected", "states"),
    }  # fmt: skip
    return ft.fedavg(fed, strategy or Full(), method=method, **settings | changes)


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(one.records[name], other.records[name], equal_nan=True) for name in one.records)


@pytest.mark.parametrize("name", EVERY)
def test_compiled_rules_and_plain_python_give_the_same_bits(name: str) -> None:
    assert same(run(EVERY[name]), run(Plain(EVERY[name])))


@pytest.mark.parametrize("name", EVERY)
def test_a_seed_gives_the_same_bits_on_any_number_of_threads(name: str) -> None:
    assert same(run(EVERY[name], num_threads=1), run(EVERY[name], num_threads=2))


def test_coins_and_compressors_change_neither_who_is_selected_nor_the_noise_of_training() -> None:
    bare, squeezed = (run(one, strategy=Uniform(1)) for one in (None, ft.methods.Compressed(ft.methods.RandK(2))))
    assert (bare.recorded("selected") == squeezed.recorded("selected")).all()
    assert (bare.models == squeezed.models).all()  # 2 of 2 coordinates are all


def test_scaffold_is_what_two_scalar_clients_give_by_hand() -> None:
    # Client 2 from 0: -1/8 * 4 (0 - 5) = 5/2, then 5/2 + 5/4 = 15/4; client 1 stays at 0. Mean 15/8, c_2 = -15/4 * 4.
    found = run(EVERY["scaffold"], TWO, num_rounds=3, local_steps=2, step_size=1 / 8, gradient_noise=0.0)
    models = [Q(number) for number in found.models[0, :, 0]]
    assert models == [0, Q(15, 8), Q(3075, 1024), Q(466335, 131072)]
    assert states_of(found)[0, 1].tolist() == [[0.0], [-15.0]]
    assert found.uplink[0].tolist() == [0, 4, 8, 12]  # a difference and a change of a control variate from each of two
    assert found.recorded("broadcasts")[0].tolist() == [0, 4, 8, 12]


def test_one_local_step_of_scaffold_is_gradient_descent_for_every_control_variate() -> None:
    start = ft.methods.Scaffold(control_variates=[[3.0, -1.0], [0.5, 2.0]])
    with_it, without = (run(one, gradient_noise=0.0, record=("models",)) for one in (start, None))
    np.testing.assert_allclose(with_it.models, without.models, atol=1e-14)  # a few roundings of numbers of size 1


def test_scaffnew_sends_only_when_the_coin_falls_and_its_models_agree_then() -> None:
    found = run(EVERY["scaffnew"], TWO, num_rounds=300, gradient_noise=0.0, num_replicates=20)
    states, fell = states_of(found), np.diff(found.uplink, axis=1) > 0
    agree = states[:, 1:, 0, 0] == states[:, 1:, 1, 0]
    assert (fell <= agree).all()
    assert (np.diff(found.models[:, :, 0], axis=1)[~fell] == 0).all()
    assert abs(fell.mean() - 0.5) < 4 * 0.5 / np.sqrt(fell.size)  # four standard errors
    variates = states[..., 1] @ TWO.weights
    assert abs(variates).max() < 1e-12  # their mean stays 0 up to roundings


@pytest.mark.parametrize("probability", [Q(1, 2), Q(1, 4), Q(1)])
def test_scaffnew_has_the_states_of_its_coins_which_have_the_exact_mean_potential(probability: Q) -> None:
    """Three rounds with each sequence of coins, by the pseudocode in numbers that are exact as floats, too."""
    exact = {Q(1, 2): (40, 15, Q(1065, 128), Q(76245, 16384)), Q(1, 4): (64, 39, Q(7839, 256), Q(1575639, 65536)),
             Q(1): (34, 9, Q(81, 64), Q(729, 4096))}[probability]  # fmt: skip
    eta, paths, means = Q(1, 4), {}, np.zeros(4, dtype=object)
    for coins in product((False, True), repeat=3):
        x, h, path = np.array([Q(0), Q(0)]), np.array([Q(0), Q(0)]), []
        for coin in (None, *coins):
            if coin is not None:
                x = x - eta * (np.array([1, 4]) * (x - np.array([0, 5])) - h)
            if coin:
                h, x = h + probability / eta * (x.mean() - x), np.array([x.mean()] * 2)
            path.append(np.stack([x, h], axis=1))
        paths[np.array(path, dtype=float).tobytes()] = coins
        away = np.array(path) - np.array([[4, 4], [4, -4]])
        chance = probability ** sum(coins) * (1 - probability) ** (3 - sum(coins))
        means += chance * (away**2 @ np.array([1, (eta / probability) ** 2])).sum(axis=1)
    assert tuple(means) == exact
    found = states_of(run(
        ft.methods.Scaffnew(float(probability)), TWO, num_rounds=3, step_size=1 / 4, gradient_noise=0.0,
        num_replicates=100, record=("states",),
    ))  # fmt: skip
    fell = np.array([paths[states.tobytes()] for states in found + 0.0])
    assert abs(fell.mean() - float(probability)) <= 5 * fell.std() / np.sqrt(fell.size)


def test_fednova_weighs_by_the_inverse_of_the_steps_and_comes_to_its_limit() -> None:
    unequal = {"num_rounds": 4000, "local_steps": [1, 5], "step_size": 0.5, "gradient_noise": 0.0, "num_replicates": 1}
    averaged, normalized = (run(one, record=("models",), **unequal).models[0, -1] for one in (None, EVERY["fednova"]))
    np.testing.assert_allclose(averaged, [767800823 / 1020978679, 1942227950 / 1020978679], rtol=1e-13)
    np.testing.assert_allclose(normalized, [1019065847 / 2620499447, 4071263214 / 2620499447], rtol=1e-13)


def test_equal_steps_make_fednova_federated_averaging() -> None:
    with_it, without = (run(one, local_steps=3, record=("models",)) for one in (EVERY["fednova"], None))
    np.testing.assert_allclose(with_it.models, without.models, rtol=1e-12)


def test_server_momentum_without_momentum_is_averaging_with_the_same_server_step_to_the_same_bits() -> None:
    with_it = run(ft.methods.FedAvgM(0.0, 0.7), local_steps=3, record=("models", "uplink", "broadcasts"))
    assert same(with_it, run(None, local_steps=3, server_step_size=0.7, record=("models", "uplink", "broadcasts")))


def test_feddyn_is_what_two_scalar_clients_give_by_hand() -> None:
    # alpha = 2, steps of 1/8 from 0. Client 2: 5/2, then 5/2 - (4 (5/2 - 5) + 2 * 5/2)/8 = 25/8; client 1 stays at 0.
    # l_2 = -25/4 and h = -25/8, so that x = 25/16 + 25/16.
    found = run(ft.methods.FedDyn(2.0), TWO, num_rounds=1, local_steps=2, step_size=1 / 8, gradient_noise=0.0)
    assert Q(found.models[0, 1, 0]) == Q(25, 8)
    assert states_of(found)[0, 1].tolist() == [[0.0], [-6.25]]
    assert found.uplink[0].tolist() == [0, 2]


def squares_of(rule: str, v: Q, d: Q) -> Q:
    if rule == "adagrad":
        return v + d * d
    if rule == "adam":
        return (v + d * d) / 2
    return v + d * d / 2 if v < d * d else v - d * d / 2


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("rule", ["adagrad", "adam", "yogi"])
def test_adaptive_server_steps_are_the_pseudocode_in_rationals_up_to_their_roots(
    rule: str, corrected: bool, inside: bool
) -> None:
    # A parabola w^2/2 from 4 with steps of 1/2, beta1 = beta2 = 1/2, s = 1/4, epsilon = 1/8, v = 1 before round 0.
    x, m, v, models = 4.0, 0.0, Q(1), [4.0]
    for t in range(1, 5):
        d = -x / 2
        m, v = (m + d) / 2, squares_of(rule, v, Q(d))
        first = 1 - 0.5**t if corrected else 1
        second = 1 - 0.5**t if corrected and rule != "adagrad" else 1
        root = (float(v) / second + 1 / 8) ** 0.5 if inside else (float(v) / second) ** 0.5 + 1 / 8
        x += 1 / 4 * (m / first) / root
        models.append(x)
    method = ft.methods.FedOpt(rule, 0.25, 0.5, 0.5, 0.125, 1.0, corrected, inside)  # type: ignore[arg-type]
    fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    found = run(method, fed, num_rounds=4, step_size=0.5, initial=[4.0], gradient_noise=0.0, record=("models",))
    np.testing.assert_allclose(found.models[0, :, 0], models, rtol=1e-14)


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_delayed_updates_start_at_old_models(delay: int) -> None:
    models = [Q(0)]
    for t in range(8):  # two local steps of 1/8 of the clients with curvatures 1 and 4 and minimizers 0 and 5
        start, x = models[max(t - delay, 0)], models[-1]
        ends = [a + (1 - Q(1, 8) * h) ** 2 * (start - a) for h, a in ((1, 0), (4, 5))]
        models.append(x + sum(ends) / 2 - start)
    method = ft.methods.Delayed(np.eye(delay + 2)[delay])
    found = run(method, TWO, num_rounds=8, local_steps=2, step_size=1 / 8, initial=[0.0], gradient_noise=0.0)
    np.testing.assert_allclose(found.models[0, :, 0], np.array(models, float), rtol=1e-13)


def test_delays_are_independent_with_their_law() -> None:
    # From x_0 = 0 and x_1 = 1/2 (step 1/2 to the minimizer 1), x_2 - x_1 is 1/2 with delay 1 and 1/4 without.
    fed = ft.QuadraticFederation([1.0, 1.0], [[1.0], [1.0]], [0.5, 0.5])
    known = {"num_rounds": 2, "step_size": 0.5, "gradient_noise": 0.0, "initial": [0.0], "num_replicates": 400}
    models = run(ft.methods.Delayed((0.25, 0.75)), fed, record=("models",), **known).models[:, :, 0]
    late = np.rint((models[:, 2] - models[:, 1] - 0.25) * 8)  # number of delayed clients of two
    counts = np.bincount(late.astype(int), minlength=3)
    for number, probability in enumerate((1 / 16, 6 / 16, 9 / 16)):
        assert abs(counts[number] - 400 * probability) <= 5 * np.sqrt(400 * probability * (1 - probability))


def test_runs_with_random_delays_stay_below_their_bound_at_every_round() -> None:
    bound, method = ft.bounds.delayed.fixed_step_distance, ft.methods.Delayed((0.25, 0.25, 0.5))
    known = {"num_rounds": 40, "step_size": 0.02, "initial": [20.0, -3.0], "gradient_noise": 0.0}
    found = run(method, num_replicates=20, record=("models",), **known)
    distances = ((found.models - PLANE.minimizer) ** 2).sum(axis=2).max(axis=0)
    constants = for_run(bound, PLANE, Full(), method=method, **known)
    assert constants["largest_delay"] == 2
    values = [bound(**constants | {"num_rounds": t}) for t in range(41)]
    assert (distances <= np.array(values) * (1 + 1e-12)).all()
    assert distances[0] == values[0]


def test_a_run_of_adaptive_steps_stays_below_its_bound_on_squared_gradients() -> None:
    bound, method = ft.bounds.fedopt.mean_gradient2, ft.methods.FedOpt("adam", 0.25, 0.0, 0.5, epsilon=0.25)
    known = {"num_rounds": 50, "step_size": 0.5, "initial": [4.0, 1.0], "gradient_noise": 0.0}
    found = run(method, num_replicates=1, record=("models",), **known)
    mean = (PLANE.gradient(found.models[0, :-1]) ** 2).sum(axis=1).mean()
    assert mean <= bound(**for_run(bound, PLANE, Full(), method=method, **known))
    for other in (ft.methods.FedOpt("yogi", momentum=0.0), ft.methods.FedOpt(), None):
        with pytest.raises(ft.errors.AssumptionViolated, match="FedAdam"):
            for_run(bound, PLANE, Full(), method=other, **known)


DATA = ft.datasets.synthetic(1.0, 1.0, num_clients=3, rng=1, num_features=4, num_classes=3)
FAMILIES: dict[str, Any] = {
    "full": PLANE,
    "wells": ft.federation.NonconvexFederation([1.0, 2.0], [[0.1, 0.0], [-0.1, 0]], [0.5, 0.5]),
    "softmax": ft.SoftmaxFederation(DATA, l2=0.1),
    "perceptron": ft.PerceptronFederation(DATA, hidden=(3,)),
}


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_family_takes_the_correction_of_gradients(kind: str) -> None:
    """Two steps of each client with its own gradient, less its control variate, plus the mean of all, by hand."""
    fed, rng = FAMILIES[kind], np.random.default_rng(3)
    initial, variates = rng.normal(size=fed.dim), rng.normal(size=(fed.num_clients, fed.dim))
    # A rule in plain Python: the kernels are compiled, the loop is not.
    found = ft.fedavg(fed, Full(), num_rounds=1, local_steps=2, step_size=0.1, initial=initial, record=("models",),
                      method=Plain(ft.methods.Scaffold(variates))).models[0, 1]  # fmt: skip
    ends = np.tile(initial, (fed.num_clients, 1))
    for _ in range(2):
        gradients = np.array([fed.gradients(y)[k] for k, y in enumerate(ends)])
        ends -= 0.1 * (gradients - variates + fed.weights @ variates)
    np.testing.assert_allclose(found, fed.weights @ ends, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (lambda: ft.methods.Scaffold, {}),
        (lambda: ft.methods.Scaffnew(0.5), {"local_steps": 2}),
        (lambda: ft.methods.Scaffnew(0.5), {"momentum": 0.5}),
        (ft.methods.FedNova, {"momentum": 0.5}),
        (ft.methods.Scaffold, {"server_step_size": 0.5}),
        (lambda: ft.methods.FedAvgM(0.5), {"server_step_size": 0.5}),
        (lambda: ft.methods.FedDyn(0.5), {"proximal_weight": 0.5}),
        (lambda: ft.methods.Scaffold([[1.0]]), {}),
        (lambda: ft.methods.Scaffnew(0.5, [[1.0, 0.0], [1.0, 0.0]]), {}),  # control variates of another mean than 0
        (lambda: ft.methods.Compressed(ft.methods.TopK(3)), {}),  # of two coordinates
        (ft.methods.Scaffold, {"strategy": ft.selection.GreedyShapley(1)}),
        (ft.methods.Scaffold, {"strategy": Proportional(9)}),  # copies of a client
        (lambda: ft.methods.EF21(ft.methods.TopK(1)), {"strategy": Proportional(9)}),
        (lambda: ft.methods.EF21(ft.methods.RandK(1, scaled=True)), {}),  # no contraction
        (lambda: ft.methods.ErrorFeedback(ft.methods.RandK(1, scaled=True)), {}),
        *((lambda p=p: ft.methods.Scaffnew(p), {}) for p in (0.0, -0.5, 1.5, float("nan"))),
        *((lambda a=a: ft.methods.FedAvgM(*a), {}) for a in ((1.5,), (0.5, 0.0))),
        *((lambda a=a: ft.methods.FedDyn(a), {}) for a in (0.0, float("nan"))),
        *(
            (lambda of=of: ft.methods.FedOpt(**of), {})
            for of in (
                {"rule": "sgd"},
                {"momentum": 1.0},
                {"second_momentum": 1.5},
                {"epsilon": 0.0},
                {"second_momentum": 1.0, "bias_correction": True},
            )
        ),
        (ft.methods.FedOpt, {"server_step_size": 0.5}),
        *((lambda law=law: ft.methods.Delayed(law), {}) for law in ((), (0.5,), (-1.0, 2.0))),
    ],
)
def test_what_does_not_go_together_is_refused(make: Any, changes: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="must"):
        run(make(), **changes)


def test_bounds_of_federated_averaging_refuse_runs_of_another_method() -> None:
    known = {"num_rounds": 3, "step_size": 0.1, "method": ft.methods.Scaffold()}
    with pytest.raises(ft.errors.AssumptionViolated, match="method = None"):
        for_run(ft.bounds.power_of_choice.fixed_step_gap, PLANE, Proportional(1), **known)
