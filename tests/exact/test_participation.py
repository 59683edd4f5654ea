"""The imbalance of participation: against its definition, and as the constant of the bound of a run."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import AssumptionViolated
from fedtheory.exact import participation_imbalance
from fedtheory.selection import Full, Periodic, Uniform

FED = ft.QuadraticFederation([1.0, 2.0, 4.0], [[0.0], [1.0], [3.0]], [0.5, 0.25, 0.25])
BOUND = ft.bounds.participation.fixed_step_distance


def by_definition(fed, shares, tau, num_rounds):
    gradients, before, found = fed.gradients(fed.minimizer), np.zeros(fed.dim), []
    for r in range(num_rounds):
        row = shares[r % len(shares)]
        for s in range(tau):
            found.append(sum(q * np.sum((tau * before + s * h) ** 2) for q, h in zip(row, gradients, strict=True)))
        before = before + row @ gradients
    return max(*found, np.sum((tau * before) ** 2))


@pytest.mark.parametrize("seed", range(8))
def test_the_imbalance_is_the_largest_of_its_definition(seed):
    rng = np.random.default_rng(seed)
    K, v, P, tau, R = (int(rng.integers(1, n)) for n in (5, 4, 5, 5, 12))
    fed = ft.QuadraticFederation(
        rng.uniform(0.5, 2, (K, v)), rng.normal(size=(K, v)), rng.dirichlet(np.ones(K)), normalize=True
    )
    shares = rng.dirichlet(np.full(K, 0.3), P)
    found = participation_imbalance(fed, shares, tau, R)
    assert found == pytest.approx(by_definition(fed, shares, tau, R), rel=1e-12, abs=1e-28)


def test_fair_participation_has_the_imbalance_of_one_period_for_ever():
    shares = [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.75, 0.25]]
    assert np.mean(shares, axis=0).tolist() == FED.weights.tolist()
    assert participation_imbalance(FED, shares, 2, 10**9) == pytest.approx(participation_imbalance(FED, shares, 2, 3))


def test_the_largest_imbalance_may_be_inside_the_last_period():
    """Slopes -2 and 2 at w* with these shares give the sums 0, -2, -1, -3, -2."""
    fed = ft.QuadraticFederation([1.0, 1.0], [[2.0], [-2.0]], [0.5, 0.5])
    assert participation_imbalance(fed, [[1.0, 0.0], [0.25, 0.75]], 1, 4) == 9.0


def test_unfair_participation_has_an_imbalance_that_grows_with_the_square_of_the_rounds():
    one, many = (participation_imbalance(FED, [[1.0, 0.0, 0.0]], 1, rounds) for rounds in (10, 1000))
    assert many == pytest.approx(10_000 * one)


@pytest.mark.parametrize(
    "strategy", [Full(), Periodic([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), Periodic([[0.2, 0.3, 0.5]])]
)
@pytest.mark.parametrize("tau", [1, 3])
def test_runs_stay_below_their_bound_in_each_round(strategy, tau):
    settings = {"step_size": 0.25, "local_steps": tau, "initial": [5.0]}
    models = ft.fedavg(FED, strategy, num_rounds=12, record=("models",), **settings).models[0]
    for r in range(1, 13):
        known = ft.exact.for_run(BOUND, FED, strategy, num_rounds=r, **settings)
        assert np.sum((models[r] - FED.minimizer) ** 2) <= BOUND(**known) * (1 + 1e-12)


def test_the_bound_of_all_clients_with_one_step_is_the_rate_alone():
    known = ft.exact.for_run(BOUND, FED, Full(), num_rounds=3, step_size=0.25, initial=[5.0])
    assert known["imbalance2"] <= 1e-30
    assert BOUND(**known) == pytest.approx(0.75**3 * (5 - FED.minimizer[0]) ** 2)


def test_selections_that_are_random_need_the_imbalance():
    with pytest.raises(
        AssumptionViolated, match=r"^imbalance2 depends on the clients that Uniform.* selects: give imbalance2="
    ):
        ft.exact.for_run(BOUND, FED, Uniform(1), num_rounds=3, step_size=0.25)
    known = ft.exact.for_run(BOUND, FED, Uniform(1), num_rounds=3, step_size=0.25, imbalance2=100.0)
    assert known["imbalance2"] == 100.0


def test_cyclic_participation_is_found_applicable():
    strategy = Periodic([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    found = ft.exact.applicable(FED, strategy, num_rounds=10, step_size=0.1)
    assert [row.name for row in found if row.verdict == "applies"] == ["participation.fixed_step_distance"]
