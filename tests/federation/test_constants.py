"""The proved gradient bound against adversarial selection, and against brute force in the ball."""

# mypy: allow-untyped-calls

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated
from fedtheory.federation import constants
from fedtheory.federation.constants import Ball, Box, Hull, gradient_bound
from fedtheory.federation.quadratic import QuadraticFederation

KINDS = ["isotropic", "diagonal", "full"]
# Rounding in a bound made of sums of squares.
SLACK = 1 + 1e-12


def federation(kind, rng, num_clients=5, dim=3):
    shapes = {"isotropic": (num_clients,), "diagonal": (num_clients, dim)}
    if kind == "full":
        roots = rng.normal(size=(num_clients, dim, dim))
        curvatures = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(dim)
    else:
        curvatures = rng.uniform(0.2, 5.0, size=shapes[kind])
    centers = rng.normal(size=(num_clients, dim)) * rng.choice([0.1, 1.0, 10.0])
    return QuadraticFederation(curvatures, centers, rng.dirichlet(np.ones(num_clients)))


def clients(curvatures, centers, weights):
    return QuadraticFederation(np.array(curvatures), np.array(centers), np.array(weights))


def adversarial_models(fed, initial, sizes, *, local_steps, rng, policy):
    """Yield every local model of a run in which an adversary picks two clients per round and their weights."""
    w = np.array(initial, dtype=float)
    for start in range(0, len(sizes), local_steps):
        norms2 = np.sum(fed.gradients(w) ** 2, axis=-1)
        if policy == "steepest":
            pair = np.argsort(norms2)[-2:]
        elif policy == "flattest":
            pair = np.argsort(norms2)[:2]
        elif policy == "repeat":
            pair = np.full(2, start // (20 * local_steps) % fed.num_clients)
        else:
            pair = rng.choice(fed.num_clients, size=2)
        share = rng.choice([0.0, 0.5, 1.0])
        local = np.repeat(w[None], 2, axis=0)
        for eta in sizes[start : start + local_steps]:
            yield from local
            local = local - eta * fed.gradients(local)[[0, 1], pair]
        w = share * local[0] + (1 - share) * local[1]
        yield w


def worst_gradient2(fed, initial, sizes, **adversary):
    models = np.array(list(adversarial_models(fed, initial, sizes, **adversary)))
    return float(np.max(np.sum(fed.gradients(models) ** 2, axis=-1))), models


def step_sizes(fed, rng, num_steps=120):
    shape = rng.choice(["constant", "decaying", "increasing", "random"])
    t = np.arange(1, num_steps + 1)
    sizes = {
        "constant": np.ones(num_steps),
        "decaying": 1 / t,
        "increasing": t / num_steps,
        "random": rng.uniform(0.01, 1, size=num_steps),
    }[shape]
    return sizes / fed.smoothness


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["steepest", "flattest", "repeat", "random"])
def test_no_adversary_exceeds_the_bound_or_leaves_the_region(kind, policy):
    for seed in range(6):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        fed = federation(kind, rng)
        initial = rng.normal(size=fed.dim) * rng.choice([0.0, 1.0, 20.0])
        sizes = step_sizes(fed, rng)
        bound = gradient_bound(fed, initial, sizes)
        observed, models = worst_gradient2(
            fed, initial, sizes, local_steps=int(rng.integers(1, 7)), rng=rng, policy=policy
        )
        assert observed <= bound.G2 * SLACK
        assert all(inside(bound.region, w) for w in models)
        assert np.sum(fed.gradients(fed.minimizer) ** 2, axis=-1).max() <= bound.G2 * SLACK


def inside(region, w):
    if isinstance(region, Ball):
        return np.linalg.norm(w - region.center) <= region.radius * SLACK
    if isinstance(region, Hull):
        region = Box(region.vertices.min(axis=0), region.vertices.max(axis=0))
    slack = 1e-12 * (1 + np.abs(w))
    return np.all((region.lower - slack <= w) & (w <= region.upper + slack))


def test_the_isotropic_bound_is_attained():
    # An adversary who insists on one client drives the model to its minimizer, a vertex of the hull.
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        fed = federation("isotropic", rng)
        initial = rng.normal(size=fed.dim)
        sizes = np.full(20 * 3 * fed.num_clients, 1 / fed.smoothness)
        observed, _ = worst_gradient2(fed, initial, sizes, local_steps=3, rng=rng, policy="repeat")
        ratios.append(observed / gradient_bound(fed, initial, sizes).G2)
    assert max(ratios) <= SLACK
    # 60 steps shrink the distance to c_k by (1 - h_k/L)^60, little for the flattest clients of a few instances.
    assert np.median(ratios) > 0.95


def test_the_bound_by_hand():
    fed = clients([1.0, 2.0], [[0.0, 0.0], [3.0, 4.0]], [0.5, 0.5])
    # Vertices (0, 0), (3, 4), (0, 4): from (0, 0) the second gradient is 2 (3, 4), of squared norm 100.
    bound = gradient_bound(fed, [0.0, 4.0], 0.5)
    assert bound.G2 == 100.0
    assert isinstance(bound.region, Hull)
    # Coordinate curvatures (1, 2) and (2, 1) make a box [0, 3] x [0, 4]: 3^2 + 8^2 = 73 and 6^2 + 4^2 = 52.
    fed = clients([[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [3.0, 4.0]], [0.5, 0.5])
    bound = gradient_bound(fed, [0.0, 4.0], 0.5)
    assert bound.G2 == 73.0
    assert isinstance(bound.region, Box)
    assert bound.region.upper.tolist() == [3.0, 4.0]
    # One client: the ball about its minimizer has the radius of the start, 1, and the gradient is at most 2 there.
    fed = clients([[[1.5, 0.5], [0.5, 1.5]]], [[0.0, 0.0]], [1.0])
    bound = gradient_bound(fed, [0.6, 0.8], 0.5)
    assert isinstance(bound.region, Ball)
    # The center is the minimizer or better; curvatures 1 and 2.
    assert bound.G2 <= 4.0 * SLACK


def test_diagonal_matrices_are_recognized():
    rng = np.random.default_rng(3)
    fed = federation("diagonal", rng)
    full = QuadraticFederation(fed.matrices, fed.centers, fed.weights)
    assert gradient_bound(full, np.ones(3), 0.1).G2 == gradient_bound(fed, np.ones(3), 0.1).G2
    isotropic = QuadraticFederation(np.full((5, 3), 2.0), fed.centers, fed.weights)
    assert isinstance(gradient_bound(isotropic, np.ones(3), 0.1).region, Hull)


def noisy_gradient2(fed, initial, sizes, *, local_steps, sigma2, rng, num_replicates):
    """Largest mean over replicates of ``1/m sum_k |g_k|^2``, when the clients with the largest losses are selected."""
    w = np.repeat(np.asarray(initial, dtype=float)[None], num_replicates, axis=0)
    worst, rows = 0.0, np.arange(num_replicates)[:, None]
    for start in range(0, len(sizes), local_steps):
        pair = np.argsort(fed.losses(w), axis=1)[:, -2:]
        local = np.repeat(w[:, None], 2, axis=1)
        for eta in sizes[start : start + local_steps]:
            noise = rng.normal(size=local.shape) * np.sqrt(sigma2 / fed.dim)
            gradients = fed.gradients(local)[rows, [[0, 1]], pair] + noise
            worst = max(worst, float(np.mean(np.sum(gradients**2, axis=-1))))
            local = local - eta * gradients
        w = local.mean(axis=1)
    return worst


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_holds_in_the_mean_with_noise(kind):
    for seed in range(3):
        rng = np.random.default_rng([seed, 7])
        fed = federation(kind, rng)
        sizes = step_sizes(fed, rng, num_steps=60)
        sigma2 = 10.0 ** rng.integers(-1, 4)
        bound = gradient_bound(fed, np.zeros(3), sizes, gradient_noise=sigma2)
        worst = noisy_gradient2(fed, np.zeros(3), sizes, local_steps=3, sigma2=sigma2, rng=rng, num_replicates=400)
        # 400 replicates of 2 gradients: a chi-square mean has relative error (2/3/800)^(1/2) = 3%; five of them.
        assert worst <= bound.G2 * 1.15


def test_accumulated_noise_is_exact_for_one_client():
    # n_t = (1 - eta mu) n_{t-1} - eta e: three steps of 1/2, 1/4, 1 with mu = 1, sigma2 = 4 give 1, then
    # (9/16) 1 + 1/4 = 13/16, then 0 + 4.
    fed = clients([1.0], [[0.0]], [1.0])
    assert gradient_bound(fed, [0.0], [0.5, 0.25], gradient_noise=4.0).noise2 == 1.0
    bound = gradient_bound(fed, [0.0], [0.5, 0.25, 1.0], gradient_noise=4.0)
    assert bound.noise2 == 4.0
    # (0 + 1 * 2)^2 + 4
    assert bound.G2 == 8.0


def test_a_scalar_step_covers_every_horizon():
    fed = clients([2.0, 1.0], [[0.0], [1.0]], [0.5, 0.5])
    forever = gradient_bound(fed, [0.0], 0.25, gradient_noise=3.0).noise2
    noises = [gradient_bound(fed, [0.0], np.full(T, 0.25), gradient_noise=3.0).noise2 for T in (1, 10, 100, 1000)]
    assert noises == sorted(noises)
    assert noises[-1] <= forever * SLACK
    assert noises[-1] == pytest.approx(forever, rel=1e-12)


def ascent(squares, offset, radius, rng):
    """Largest ``sum a (y + d)^2`` found by fixed-point ascent of a convex function over the ball, from many starts."""
    best = 0.0
    for _ in range(30):
        y = rng.normal(size=squares.size)
        for _ in range(2000):
            gradient = squares * (y + offset)
            y = radius * gradient / max(np.linalg.norm(gradient), 1e-300)
        best = max(best, float(squares @ (y + offset) ** 2))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("case", ["generic", "hard", "isotropic", "center", "still"])
def test_the_largest_gradient_in_a_ball_is_the_maximum_found_by_ascent(case):
    rng = np.random.default_rng(11)
    for _ in range(4):
        squares, offset, radius = rng.uniform(0.1, 10, 4), rng.normal(size=4), float(rng.uniform(0.1, 3))
        if case == "hard":
            # No pull along the stiffest direction: the root is missing and the value is that of lambda = max a_i.
            offset[np.argmax(squares)] = 0.0
            offset *= 0.01
        if case == "isotropic":
            squares[:] = 3.0
        if case == "center":
            offset[:] = 0.0
        if case == "still":
            radius = 0.0
        value = constants._largest_in_ball(squares, offset, radius)
        found = ascent(squares, offset, radius, rng)
        assert found <= value * SLACK
        # The ascent converges linearly; it may stop short when two directions are nearly equally stiff.
        assert found >= value * (1 - 1e-6)


FED = clients([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])


@pytest.mark.parametrize("sizes", [0.51, [0.1, 0.6, 0.1]])
def test_long_steps_are_refused_with_both_sides(sizes):
    with pytest.raises(AssumptionViolated, match=r"step_size <= 1/L: got 0\.\d+ > 0\.5"):
        gradient_bound(FED, [0.0], sizes)


def test_one_over_l_is_allowed_although_it_is_rounded():
    fed = clients([49.0], [[0.0]], [1.0])
    # 49 (1/49) rounds to 1 - eps or 1; a step up by one unit must not matter. From 1 the gradients are at most 49.
    found = gradient_bound(fed, [1.0], np.nextafter(1 / 49, 1))
    np.testing.assert_allclose(found.G2, 2401.0, rtol=1e-12)  # 49^2
