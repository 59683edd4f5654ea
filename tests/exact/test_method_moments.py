"""Expected errors of methods: enumerated from pseudocode, and compared with simulations."""

from itertools import combinations, product

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact import expected_gap
from fedtheory.methods import FedAvgM, FedDyn, FedNova, FedOpt, Scaffold
from fedtheory.selection import Full, Independent, Proportional, Uniform
from fedtheory.selection.laws import Moments

# Client k has the curvature, the center and the weight at place k. A model is a vector: its mean, then the coefficients
# of the noises of all local steps, which have mean 0 and are independent.
CURVATURES, CENTERS, WEIGHTS = [1.0, 4.0, 2.0], [0.0, 5.0, -2.0], [0.5, 0.25, 0.25]
START, ETA, TAU, ROUNDS, NOISE = 3.0, 1 / 8, 2, 3, 0.5
MOMENTUM, SERVER, ALPHA = 0.5, 0.75, 2.0
UNITS = np.eye(1 + ROUNDS * 3 * TAU)


def local(k, t, x, correction=0.0, alpha=0.0):
    """The model of client k after its steps in round t."""
    y = x
    for i in range(TAU):
        noise = UNITS[1 + (3 * t + k) * TAU + i]
        y = y - ETA * (CURVATURES[k] * (y - CENTERS[k] * UNITS[0]) + correction + alpha * (y - x) + noise)
    return y


def fedavgm(cohorts, share, nesterov=False):
    x, v = START * UNITS[0], 0.0
    for t, cohort in enumerate(cohorts):
        change = sum(share(k) * (local(k, t, x) - x) for k in cohort)
        v = MOMENTUM * v + change
        x = x + SERVER * (change + MOMENTUM * v if nesterov else v)
    return x


def fedopt(cohorts, share):
    x, m = START * UNITS[0], 0.0
    for t, cohort in enumerate(cohorts):
        m = (m + sum(share(k) * (local(k, t, x) - x) for k in cohort)) / 2
        x = x + SERVER * m / (1 / 2 + 1 / 4)
    return x


def feddyn(cohorts, share):
    x, h, estimates = START * UNITS[0], 0.0, [0.0] * 3
    for t, cohort in enumerate(cohorts):
        moves = {k: local(k, t, x, -estimates[k], ALPHA) - x for k in cohort}
        for k, move in moves.items():
            estimates[k] = estimates[k] - ALPHA * move
        h = h - ALPHA * sum(WEIGHTS[k] * move for k, move in moves.items())
        x = x + sum(share(k) * move for k, move in moves.items()) - h / ALPHA
    return x


def scaffold(cohorts, share):
    x, c, variates = START * UNITS[0], 0.0, [0.0] * 3
    for t, cohort in enumerate(cohorts):
        ends = {k: local(k, t, x, c - variates[k]) for k in cohort}
        changes = {k: (x - y) / (TAU * ETA) - c for k, y in ends.items()}
        for k, change in changes.items():
            variates[k] = variates[k] + change
        c = c + sum(WEIGHTS[k] * change for k, change in changes.items())
        x = x + sum(share(k) * (y - x) for k, y in ends.items())
    return x


def mean_gap(end, law, share, **options):
    """Average over all sequences of cohorts and over the noises."""
    curvature = np.dot(WEIGHTS, CURVATURES)
    minimizer, total = np.dot(WEIGHTS, np.multiply(CURVATURES, CENTERS)) / curvature, 0.0
    for drawn in product(law, repeat=ROUNDS):
        x = end([cohort for _, cohort in drawn], share, **options)
        gap = curvature * ((x[0] - minimizer) ** 2 + NOISE * (x[1:] ** 2).sum()) / 2
        total += gap * np.prod([probability for probability, _ in drawn])
    return total


METHODS = {
    "fedavgm": (FedAvgM(MOMENTUM, SERVER), fedavgm, {}),
    "nesterov": (FedAvgM(MOMENTUM, SERVER, nesterov=True), fedavgm, {"nesterov": True}),
    "feddyn": (FedDyn(ALPHA), feddyn, {}),
    "scaffold": (Scaffold(), scaffold, {}),
    "fedopt": (FedOpt("yogi", SERVER, 0.5, 1.0, 0.25, 0.25), fedopt, {}),
}
PAIRS = [(1 / 3, cohort) for cohort in combinations(range(3), 2)]
SUBSETS = [(2**m / 27, cohort) for m in range(4) for cohort in combinations(range(3), m)]
STRATEGIES = {
    "all": (Full(), [(1.0, (0, 1, 2))], WEIGHTS.__getitem__),
    "two": (Uniform(2), PAIRS, lambda _: 1 / 2),
    "two, weighted": (Uniform(2, "weighted"), PAIRS, lambda k: WEIGHTS[k] * 3 / 2),
    "each with probability 2/3": (Independent(2.0, probabilities="uniform"), SUBSETS, lambda k: WEIGHTS[k] * 3 / 2),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", METHODS)
def test_the_expected_gap_is_the_mean_over_all_cohorts_and_noises(name, strategy):
    method, end, options = METHODS[name]
    chosen, law, share = STRATEGIES[strategy]
    fed = ft.QuadraticFederation(CURVATURES, np.array(CENTERS)[:, None], WEIGHTS)
    found = expected_gap(fed, chosen, ROUNDS, TAU, ETA, [START], method=method, gradient_noise=NOISE)
    assert found[-1] == pytest.approx(mean_gap(end, law, share, **options), rel=1e-12)


rng = np.random.default_rng(0)
ROOTS = rng.normal(size=(4, 2, 2))
CENTERS_IN_THE_PLANE, SHARES = rng.normal(size=(4, 2)), [0.1, 0.2, 0.3, 0.4]
FULL = ft.QuadraticFederation(ROOTS @ ROOTS.transpose(0, 2, 1) + 0.5 * np.eye(2), CENTERS_IN_THE_PLANE, SHARES)
DIAGONAL = ft.QuadraticFederation(rng.uniform(0.5, 3, (4, 2)), CENTERS_IN_THE_PLANE, SHARES)
RUN = {"num_rounds": 6, "local_steps": 3, "initial": [2.0, -1.0], "gradient_noise": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_simulations_with_noise_have_the_expected_gap_as_their_mean(name):
    strategy = Uniform(2) if name in {"fedavgm", "scaffold"} else Independent(2.0, "uniform")
    known = {**RUN, "method": METHODS[name][0], "step_size": np.tile([0.05, 0.04, 0.06], 6)}
    gaps = ft.fedavg(FULL, strategy, num_replicates=4000, rng=1, **known).gap
    errors = gaps.mean(axis=0) - expected_gap(FULL, strategy, **known)
    assert (abs(errors) <= 5 * gaps.std(axis=0) / np.sqrt(4000) + 1e-12).all()


@pytest.mark.parametrize("name", METHODS)
def test_diagonal_curvatures_and_their_matrices_have_the_same_expected_gap(name):
    whole = ft.QuadraticFederation(DIAGONAL.matrices, CENTERS_IN_THE_PLANE, SHARES)
    one, other = (
        expected_gap(fed, Uniform(2), step_size=0.05, method=METHODS[name][0], **RUN) for fed in (DIAGONAL, whole)
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    "method", [one for one, *_ in METHODS.values()] + [Scaffold(np.arange(8.0).reshape(4, 2))], ids=repr
)
def test_a_simulation_without_randomness_has_the_expected_gap(method):
    known = {**RUN, "step_size": 0.05, "gradient_noise": 0.0, "method": method}
    np.testing.assert_allclose(expected_gap(FULL, Full(), **known), ft.fedavg(FULL, Full(), **known).gap[0], rtol=1e-9)


@pytest.mark.parametrize("method", [FedDyn(1.0), Scaffold()], ids=repr)
def test_expected_gaps_are_not_negative_where_the_method_has_converged(method):
    fed = ft.QuadraticFederation(DIAGONAL.diagonals, 10 * CENTERS_IN_THE_PLANE, SHARES)
    found = expected_gap(fed, Uniform(2, "weighted"), 300, 3, 0.1, [1.0, 2.0], method=method)
    assert (found >= 0).all()
    assert found[-1] < 1e-12 * found[0]


class RandomSize:
    """One of two clients or both with probability 1/3 each, and their plain mean: coefficients 0, 1/2 or 1."""

    def law(self, weights):
        return Moments(np.full(2, 1 / 2), 1 / 3, np.full(2, 1 / 3), np.full(2, 5 / 12))


def test_moments_are_enough_for_server_momentum_and_refused_where_clients_have_states():
    fed = ft.QuadraticFederation([1.0, 2.0], [[1.0], [-1.0]], [0.5, 0.5])
    known = {"num_rounds": 2, "local_steps": 1, "step_size": 0.5, "initial": [2.0]}
    pulls = [lambda x: 0.5 * (1 - x), lambda x: -1 - x]
    changes = [lambda x, k=k: pulls[k](x) for k in range(2)] + [lambda x: (pulls[0](x) + pulls[1](x)) / 2]
    ends = []
    for first, second in product(changes, repeat=2):
        velocity = first(2.0)
        ends.append(2.0 + velocity + velocity / 2 + second(2.0 + velocity))
    wanted = 0.75 * np.mean([(x - fed.minimizer[0]) ** 2 for x in ends])
    assert expected_gap(fed, RandomSize(), method=FedAvgM(0.5), **known)[-1] == pytest.approx(wanted, rel=1e-12)
    for method in (FedDyn(1.0), Scaffold()):
        with pytest.raises(TypeError, match=r"strategy must be Full, Uniform, Proportional or Independent with \w+\("):
            expected_gap(fed, RandomSize(), method=method, **known)


@pytest.mark.parametrize(
    ("strategy", "options", "text"),
    [
        (Full(), {"method": FedNova()}, "method must be a FedAvgM, .* or None, got FedNova"),
        (Full(), {"method": FedOpt()}, "a FedOpt that is linear"),
        (Proportional(2), {"method": FedDyn(1.0)}, "strategy must select different clients with FedDyn"),
        (Full(), {"method": FedDyn(1.0), "relative_noise": 0.5}, "relative_noise must be 0.0 with FedDyn"),
        (Full(), {"method": FedDyn(1.0), "server_step_size": 0.5}, "server_step_size must be 1.0 with FedDyn"),
    ],
)
def test_what_has_no_closed_recursion_is_refused(strategy, options, text):
    with pytest.raises((TypeError, ValueError), match=text):
        expected_gap(FULL, strategy, step_size=0.05, **RUN, **options)
