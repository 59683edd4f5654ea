"""Noise proportional to the gradient: expected gaps against enumeration in rationals and simulation."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

from fractions import Fraction as Q
from itertools import product
from typing import Any

import numpy as np
import pytest

from fedtheory.engine.simulation import fedavg
from fedtheory.exact.moments import expected_gap
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform

STEPS = [Q(1, 2), Q(1, 4), Q(1, 8), Q(1, 4)]
WEIGHTS = [Q(1, 4), Q(3, 4)]
ONE = {"curvatures": [[[Q(1)]], [[Q(3, 2)]]], "centers": [[Q(1)], [Q(-2)]], "initial": [Q(2)]}
DIAGONAL = {
    "curvatures": [[[Q(1), Q(0)], [Q(0), Q(2)]], [[Q(3, 2), Q(0)], [Q(0), Q(1, 2)]]],
    "centers": [[Q(1), Q(0)], [Q(-2), Q(1)]],
    "initial": [Q(2), Q(-1)],
}
TURNED = {**DIAGONAL, "curvatures": [[[Q(1), Q(1, 2)], [Q(1, 2), Q(2)]], [[Q(3, 2), Q(-1, 2)], [Q(-1, 2), Q(1)]]]}
LAWS: dict[Any, Any] = {
    Proportional(2): [((k, j), (Q(1, 2), Q(1, 2)), WEIGHTS[k] * WEIGHTS[j]) for k in (0, 1) for j in (0, 1)],
    Uniform(1): [((k,), (Q(1),), Q(1, 2)) for k in (0, 1)],
    Uniform(1, "weighted"): [((k,), (2 * WEIGHTS[k],), Q(1, 2)) for k in (0, 1)],
    Full(): [((0, 1), tuple(WEIGHTS), Q(1))],
}
SIGNS = list(product((1, -1), repeat=3))
TURN, ALONG = Q(1, 2), Q(3, 4)


def product_with(matrix, x):
    return [sum(a * b for a, b in zip(row, x, strict=True)) for row in matrix]


def noises(g, along):
    """Equally likely noises of mean 0 and the same variance in each direction, rational because products of signs are
    uncorrelated: per direction (1/4)^2 + along^2 |g|^2 in two dimensions, (1/2)^2 + along^2 g^2 in one."""
    if len(g) == 1:
        return [[TURN * a + along * b * g[0]] for a, b in product((1, -1), (1, -1) if along else (0,))]
    half = TURN / 2
    return [
        [along * (a * g[0] - b * g[1]) + half * c, along * (a * g[1] + b * g[0]) + half * a * b] for a, b, c in SIGNS
    ]


def variances(dim):
    """sigma^2 and M of ``noises``, in total over the directions."""
    return (TURN**2, ALONG**2) if dim == 1 else (2 * (TURN / 2) ** 2, 2 * ALONG**2)


def ends(world, k, w, steps, along):
    """Models after noisy local steps, all equally likely."""
    models = [list(w)]
    for eta in steps:
        after = []
        for x in models:
            offset = [a - b for a, b in zip(x, world["centers"][k], strict=True)]
            g = product_with(world["curvatures"][k], offset)
            after += [[a - eta * (b + c) for a, b, c in zip(x, g, noise, strict=True)] for noise in noises(g, along)]
        models = after
    return models


def second_moments(world, strategy, num_rounds, tau, along):
    """Law of the server's model after each round, over every selection and every noise."""
    law = {tuple(world["initial"]): Q(1)}
    yield law
    for t in range(num_rounds):
        after: dict[tuple[Q, ...], Q] = {}
        for (w, chance), (who, omega, share) in product(law.items(), LAWS[strategy]):
            options = [ends(world, k, w, STEPS[t * tau : (t + 1) * tau], along) for k in who]
            each = chance * share / int(np.prod([len(option) for option in options]))
            keep = 1 - sum(omega)
            for locals_ in product(*options):
                new = tuple(
                    keep * x + sum(a * y for a, y in zip(omega, column, strict=True))
                    for x, column in zip(w, zip(*locals_, strict=True), strict=True)
                )
                after[new] = after.get(new, Q(0)) + each
        law = after
        yield law


def floats(numbers):
    return np.array(numbers, dtype=float)


def federation(world):
    return QuadraticFederation(floats(world["curvatures"]), floats(world["centers"]), floats(WEIGHTS))


def enumerated(world, strategy, num_rounds, tau, along=ALONG):
    """Expected gaps ``F(w) - F*``, exact but for the last rounding."""
    fed = federation(world)

    def loss(w):
        offsets = [[a - b for a, b in zip(w, c, strict=True)] for c in world["centers"]]
        bent = [product_with(h, x) for h, x in zip(world["curvatures"], offsets, strict=True)]
        squares = [sum(a * b for a, b in zip(x, y, strict=True)) for x, y in zip(offsets, bent, strict=True)]
        return sum(p * square for p, square in zip(WEIGHTS, squares, strict=True)) / 2

    laws = second_moments(world, strategy, num_rounds, tau, along)
    return [float(sum(chance * loss(w) for w, chance in law.items())) - fed.minimum for law in laws]


def computed(fed, world, strategy, num_rounds, tau):
    sigma2, relative = variances(fed.dim)
    return expected_gap(
        fed, strategy, num_rounds, tau, floats(STEPS[: num_rounds * tau]), floats(world["initial"]), float(sigma2),
        relative_noise=float(relative),
    )  # fmt: skip


# Rounds and steps so few that there are at most 2^14 ways to go.
CASES: list[Any] = [
    *((ONE, strategy, 2, 2) for strategy in (Uniform(1), Uniform(1, "weighted"))),
    *((ONE, strategy, 1, 2) for strategy in (Proportional(2), Full())),
    *((world, Uniform(1), 1, 3) for world in (DIAGONAL, TURNED)),
    *((world, Uniform(1, "weighted"), 2, 1) for world in (DIAGONAL, TURNED)),
    *((world, strategy, 1, 2) for world in (DIAGONAL, TURNED) for strategy in (Proportional(2), Full())),
    *((world, Full(), 2, 1) for world in (DIAGONAL, TURNED)),
]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(CASES)))
def test_all_runs_in_rational_arithmetic_have_the_expected_gap(place):
    world, strategy, num_rounds, tau = CASES[place]
    gaps = computed(federation(world), world, strategy, num_rounds, tau)
    # A few dozen roundings, some of them of F* that the enumeration subtracts.
    np.testing.assert_allclose(gaps, enumerated(world, strategy, num_rounds, tau), rtol=1e-13)


@pytest.mark.parametrize(("strategy", "num_rounds", "tau"), [case[1:] for case in CASES if case[0] is DIAGONAL])
def test_curvatures_along_the_axes_have_the_gap_of_their_matrices(strategy, num_rounds, tau):
    # The same numbers in the form of shape (K, v), which is computed coordinate by coordinate.
    axes = np.diagonal(floats(DIAGONAL["curvatures"]), axis1=1, axis2=2)
    fed = QuadraticFederation(axes, floats(DIAGONAL["centers"]), floats(WEIGHTS))
    truth = enumerated(DIAGONAL, strategy, num_rounds, tau)
    np.testing.assert_allclose(computed(fed, DIAGONAL, strategy, num_rounds, tau), truth, rtol=1e-13)


KINDS = ("isotropic", "diagonal", "full")
SAMPLED = (Proportional(2), Uniform(2, "weighted"), Independent(2, "uniform"), Full())
# Every strategy once, and every kind.
MET = [(strategy, KINDS[place % 3]) for place, strategy in enumerate(SAMPLED)]


@pytest.mark.parametrize(("strategy", "kind"), MET)
def test_the_engine_agrees_within_confidence_limits(strategy, kind):
    rng = np.random.default_rng(4)
    curvatures = rng.uniform(0.3, 2.0, (4, 3))
    if kind == "isotropic":
        curvatures = curvatures[:, 0]
    elif kind == "full":
        turns = np.linalg.qr(rng.standard_normal((4, 3, 3)))[0]
        curvatures = (turns * curvatures[:, None, :]) @ turns.transpose(0, 2, 1)
    fed = QuadraticFederation(curvatures, rng.standard_normal((4, 3)), [0.1, 0.2, 0.3, 0.4])
    arguments = {
        "num_rounds": 6, "local_steps": 3, "step_size": 0.1, "initial": np.array([2.0, -1.0, 0.5]),
        "gradient_noise": 0.3, "relative_noise": 2.0, "server_step_size": 1.25,
    }  # fmt: skip
    run = fedavg(fed, strategy, num_replicates=4000, rng=17, num_threads=1, **arguments)
    mean, error = run.gap.mean(axis=0)[1:], run.gap.std(axis=0, ddof=1)[1:] / np.sqrt(4000)
    # Six correlated normal deviates in each of four cases: a false alarm once in 6,000 seeds at most.
    assert (np.abs(mean - expected_gap(fed, strategy, **arguments)[1:]) < 4.5 * error).all()
    without = expected_gap(fed, strategy, **{**arguments, "relative_noise": 0.0})
    assert (np.abs(mean - without[1:]) > 4.5 * error).any()
