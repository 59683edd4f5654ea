"""Softmax federations: values, derivatives, optima and constants, computed independently."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fedtheory.datasets.synthetic_softmax import synthetic
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.federation._cross_entropy import sample_losses
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.softmax import SoftmaxFederation

EPS = float(np.finfo(np.float64).eps)


def random_data(rng, sizes=(3, 5, 2), num_features=2, num_classes=3, scale=1.0):
    clients = [(scale * rng.standard_normal((n, num_features)), rng.integers(num_classes, size=n)) for n in sizes]
    return FederatedData.from_clients(clients, num_classes=num_classes)


def random_federation(seed, l2=0.1, **options):
    rng = np.random.default_rng(seed)
    return SoftmaxFederation(random_data(rng, **options), l2), rng


def textbook_losses(fed, w):
    """Mean cross-entropies client by client, with weights and biases apart; log1p keeps what is far below 1."""
    model = np.asarray(w).reshape(fed.data.num_classes, fed.data.num_features + 1)
    losses = []
    for k in range(fed.num_clients):
        x, y = fed.data.client(k)
        logits = x @ model[:, :-1].T + model[:, -1]
        others = [np.delete(row, label) - row[label] for row, label in zip(logits, y, strict=True)]
        losses.append(np.mean([np.log1p(np.exp(row).sum()) for row in others]) + fed.l2 / 2 * w @ w)
    return np.array(losses)


seeds = st.integers(0, 2**32)
few = settings(max_examples=40)


@given(seeds, st.sampled_from([0.0, 0.1, 2.0]))
@few
def test_losses_are_the_clients_mean_cross_entropies(seed, l2):
    fed, rng = random_federation(seed, l2)
    w = 3 * rng.standard_normal(fed.dim)
    np.testing.assert_allclose(fed.losses(w), textbook_losses(fed, w), rtol=1e-13)
    assert fed.loss(w) == pytest.approx(fed.weights @ textbook_losses(fed, w), rel=1e-13)


@given(seeds)
@few
def test_gradients_agree_with_the_complex_step_to_rounding(seed):
    fed, rng = random_federation(seed)
    w, step = rng.standard_normal(fed.dim), 1e-100
    for k in range(fed.num_clients):
        client = fed._client(k)
        slopes = [client.loss(w + 1j * step * e).imag / step for e in np.eye(fed.dim)]
        np.testing.assert_allclose(fed.gradients(w)[k], slopes, rtol=1e-12, atol=100 * EPS)
    np.testing.assert_allclose(fed.gradient(w), fed.weights @ fed.gradients(w), rtol=1e-12, atol=100 * EPS)


@given(seeds)
@few
def test_hessian_is_the_derivative_of_the_gradient(seed):
    fed, rng = random_federation(seed)
    w, v = rng.standard_normal((2, fed.dim))
    objective = fed._objective
    columns = [objective.gradient(w + 1e-100j * e).imag / 1e-100 for e in np.eye(fed.dim)]
    np.testing.assert_allclose(objective.hessian(w), np.transpose(columns), rtol=1e-11, atol=1000 * EPS)
    np.testing.assert_allclose(objective.product(w, v), objective.hessian(w) @ v, rtol=1e-11, atol=1000 * EPS)


def test_models_may_be_stacked_along_leading_axes():
    fed, rng = random_federation(1)
    w = rng.standard_normal((2, 4, fed.dim))
    assert fed.losses(w).shape == (2, 4, 3)
    assert fed.gradients(w).shape == (2, 4, 3, fed.dim)
    np.testing.assert_array_equal(fed.losses(w)[1, 2], fed.losses(w[1, 2]))
    np.testing.assert_array_equal(fed.gradient(w)[1, 2], fed.gradient(w[1, 2]))
    assert np.shape(fed.loss(w[0, 0])) == ()


def test_extreme_logits_neither_overflow_nor_lose_tiny_losses():
    labels = np.array([0, 0, 0])
    losses = sample_losses(np.array([[1e300, 0.0], [0.0, 1e4], [50.0, 0.0]]), labels)
    # log(1 + exp(-50)) = exp(-50) up to a relative exp(-50)/2.
    np.testing.assert_allclose(losses, [0.0, 1e4, np.exp(-50)], rtol=4 * EPS)


@given(seeds, st.sampled_from([0.0, 0.1, 1.0]), st.floats(0.01, 10.0))
@few
def test_every_client_is_smooth_and_strongly_convex_with_the_constants(seed, l2, distance):
    fed, rng = random_federation(seed, l2)
    w = rng.standard_normal(fed.dim)
    step = distance * rng.standard_normal(fed.dim)
    above_tangent = fed.losses(w + step) - fed.losses(w) - fed.gradients(w) @ step
    half_square = 0.5 * step @ step
    slack = 100 * EPS * (np.abs(fed.losses(w + step)).max() + 1) * (1 + fed.smoothness * half_square)
    assert (above_tangent <= fed.smoothness * half_square + slack).all()
    assert (above_tangent >= fed.l2 * half_square - slack).all()


def tight_client(t=3.0):
    """One sample (t, 1), two classes: at W = 0 the Hessian is (1/4, -1/4; -1/4, 1/4) (x) x x', of top 1/2 (t^2 + 1)."""
    return FederatedData.from_clients([([[t]], [0])])


def test_smoothness_is_attained_and_a_smaller_constant_fails():
    fed = SoftmaxFederation(tight_client(), l2=0.25)
    assert fed.smoothness == pytest.approx(0.5 * 10 + 0.25, rel=1e-12)
    top = np.linalg.eigvalsh(fed._objective.hessian(np.zeros(4)))[-1]
    assert fed.smoothness * 0.99 < top <= fed.smoothness


@given(st.integers(-(2**30), 2**30), st.integers(0, 20), st.floats(0, 1e12))
@few
def test_smoothness_is_not_rounded_below_that_of_one_sample(numerator, power, l2):
    t = numerator / 2**power
    fed = SoftmaxFederation(tight_client(t), l2)
    # Exactly 1/2 (t^2 + 1) + l2.
    assert Fraction(fed.smoothness) >= (Fraction(t) ** 2 + 1) / 2 + Fraction(l2)
    assert fed.smoothness <= (0.5 * (t**2 + 1) + l2) * (1 + 20 * EPS)


def test_smoothness_with_fewer_samples_than_features_is_the_same_bound():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 9))
    fed = SoftmaxFederation(FederatedData.from_clients([(x, [0, 1, 1, 0])]))
    extended = np.column_stack([x, np.ones(4)])
    assert fed.smoothness == pytest.approx(0.5 * np.linalg.norm(extended, 2) ** 2 / 4, rel=1e-12)
    assert fed.smoothness >= 0.5 * np.linalg.norm(extended, 2) ** 2 / 4


@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0])
def test_minimizers_have_a_tiny_gradient_and_no_other_solver_goes_below(l2):
    fed = SoftmaxFederation(synthetic(1, 1, 4, rng=1, num_features=13, num_classes=3, max_samples=50), l2)
    assert np.linalg.norm(fed.gradient(fed.minimizer)) <= 1e-10
    start = np.random.default_rng(0).standard_normal(fed.dim)
    rival = minimize(fed.loss, start, jac=fed.gradient, method="L-BFGS-B", options={"maxiter": 2000})
    # Strong convexity: F - F* <= ||grad||^2 / (2 l2) for the rival, and the same with 1e-10 for the minimizer.
    certificate = np.linalg.norm(fed.gradient(rival.x)) ** 2 / (2 * l2)
    assert -(1e-20 / l2 + 8 * EPS) <= rival.fun - fed.minimum <= certificate + 8 * EPS
    assert fed.excess(rival.x) == pytest.approx(rival.fun - fed.minimum, abs=8 * EPS)


def test_local_minimizers_are_the_minimizers_of_the_clients_alone():
    data = synthetic(1, 1, 4, rng=1, num_features=13, num_classes=3, max_samples=50)
    fed = SoftmaxFederation(data, l2=0.01, weights=[0.4, 0.3, 0.2, 0.1])
    for k in range(4):
        alone = SoftmaxFederation(fed.data.take([k]), l2=0.01)
        np.testing.assert_allclose(fed.local_minimizers[k], alone.minimizer, atol=2e-10 / 0.01)
        assert fed.local_minima[k] == pytest.approx(alone.minimum, abs=1e-14)
        assert np.linalg.norm(fed.gradients(fed.local_minimizers[k])[k]) <= 1e-10
    assert fed.objective_gap == pytest.approx(fed.minimum - fed.weights @ fed.local_minima, rel=1e-12)
    assert fed.objective_gap > 0


def test_the_minimizer_of_thousands_of_parameters_is_that_of_the_few_that_matter():
    # Features that are 0 keep their coefficients at 0; so many are solved for without a Hessian.
    few = SoftmaxFederation(synthetic(1, 1, 4, rng=1, num_features=13, num_classes=3, max_samples=50), l2=0.01)
    padded = np.hstack([few.data.features, np.zeros((few.data.num_samples, 700))])
    many = SoftmaxFederation(FederatedData(padded, few.data.labels, few.data.offsets, few.data.num_classes), l2=0.01)
    assert many.dim > 2000
    found = many.minimizer.reshape(3, -1)
    np.testing.assert_allclose(found[:, 13:-1], 0, atol=1e-12)
    np.testing.assert_allclose(found[:, [*range(13), -1]], few.minimizer.reshape(3, -1), atol=2e-10 / 0.01)


def batch_gradients(fed, k, size, w):
    """Gradients of all mini-batches of one size of client k, each from a federation that owns just the batch."""
    x, y = fed.data.client(k)
    batches = [list(rows) for rows in itertools.combinations(range(y.size), min(size, y.size))]
    data = FederatedData.from_clients([(x[rows], y[rows]) for rows in batches], num_classes=fed.data.num_classes)
    return SoftmaxFederation(data, fed.l2).gradients(w)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_mini_batch_gradients_are_unbiased_with_a_variance_below_the_bound(size):
    fed, rng = random_federation(7, sizes=(4, 6))
    w = 2 * rng.standard_normal(fed.dim)
    for k in range(2):
        gradients = batch_gradients(fed, k, size, w)
        np.testing.assert_allclose(gradients.mean(axis=0), fed.gradients(w)[k], atol=20 * EPS)
        variance = np.mean(np.sum((gradients - fed.gradients(w)[k]) ** 2, axis=1))
        assert variance <= fed.minibatch_variance(size)


def test_the_variance_bound_is_nearly_attained_and_half_of_it_fails():
    # Both samples (t, 1) and (-t, 1) of class 0 are put into class 1: gradients (e_1 - e_0) (x) x_i, of variance 2 t^2.
    t = 10.0
    fed = SoftmaxFederation(FederatedData.from_clients([([[t], [-t]], [0, 0])]))
    w = np.array([0.0, -100.0, 0.0, 100.0])
    variance = np.mean(np.sum((batch_gradients(fed, 0, 1, w) - fed.gradients(w)[0]) ** 2, axis=1))
    assert variance == pytest.approx(2 * t**2, rel=1e-12)
    assert fed.minibatch_variance(1) == pytest.approx(2 * (t**2 + 1), rel=1e-12)
    assert fed.minibatch_variance(1) / 2 < variance


def test_second_moments_along_runs_stay_below_the_gradient_bound():
    fed, rng = random_federation(11, l2=0.5, sizes=(4, 6), scale=3.0)
    w = 5 * rng.standard_normal(fed.dim)
    bound = fed.gradient_bound(w)
    ratios = []
    for _ in range(300):
        k = int(rng.integers(2))
        gradients = batch_gradients(fed, k, 1, w)
        ratios.append(np.mean(np.sum(gradients**2, axis=1)) / bound)
        w = w - 1 / fed.l2 * gradients[rng.integers(len(gradients))]
    assert max(ratios) <= 1
    # The bound is worth something: the largest step comes within a factor of 10.
    assert max(ratios) > 0.1


def test_the_gradient_bound_is_that_of_the_longest_sample_and_of_the_client_with_the_longest_on_the_mean():
    # |x|^2 = 5 for the first client; 10 and 2, so 6 on the mean, for the second: M^2 = 20, and R = M/l2 or |w|.
    clients = [([[2.0]], [0]), ([[3.0], [1.0]], [0, 1])]
    fed = SoftmaxFederation(FederatedData.from_clients(clients), l2=0.5)
    assert fed.gradient_bound(np.zeros(fed.dim)) == pytest.approx((np.sqrt(12) + np.sqrt(20)) ** 2, rel=1e-14)
    assert fed.gradient_bound(np.full(fed.dim, 50.0)) == pytest.approx((np.sqrt(12) + 50) ** 2, rel=1e-14)


def test_without_a_ridge_term_what_needs_it_is_refused_and_training_is_not():
    fed, _ = random_federation(0, l2=0.0)
    wanted = ("minimizer", "minimum", "local_minimizers", "local_minima", "objective_gap", "strong_convexity")
    for name in wanted:
        with pytest.raises(AssumptionViolated, match=r"needs l2 > 0 .*, got l2 = 0"):
            getattr(fed, name)
    with pytest.raises(AssumptionViolated, match="a bound of the gradients needs l2 > 0"):
        fed.gradient_bound(np.zeros(fed.dim))
    w = np.zeros(fed.dim)
    for _ in range(20):
        w = w - fed.gradient(w) / fed.smoothness
    assert fed.loss(w) < np.log(3)


@pytest.mark.parametrize("scale", [1e6, 1e100])
def test_features_of_very_large_scale_give_honest_answers(scale):
    fed = SoftmaxFederation(FederatedData.from_clients([([[scale], [-scale]], [0, 1])]), l2=1e-6)
    with pytest.raises(OracleError, match="scale the features"):
        _ = fed.minimizer


def test_accuracy_is_the_share_of_largest_logits_at_the_labels():
    data = FederatedData.from_clients(
        [([[1.0], [-1.0]], [1, 1])], test=[([[2.0], [-3.0], [4.0], [-5.0]], [1, 0, 0, 0])], num_classes=2
    )
    fed = SoftmaxFederation(data)
    sign = [0.0, 0.0, 1.0, 0.0]
    # Class 1 exactly where x > 0: three of four held-out labels, one of two training labels.
    assert fed.accuracy(sign) == 3 / 4
    assert fed.accuracy(sign, held_out=False) == 1 / 2
    np.testing.assert_array_equal(fed.accuracy([[sign], [[0.0, 0.0, -1.0, 0.0]]]), [[3 / 4], [1 / 4]])
    with pytest.raises(ValueError, match=r"accuracy needs held-out samples .*, got none"):
        SoftmaxFederation(tight_client()).accuracy(np.zeros(4))


def test_zero_weights_leave_clients_out_of_the_objective_but_keep_their_losses():
    fed, rng = random_federation(6)
    some = SoftmaxFederation(fed.data, fed.l2, weights=np.array([0.75, 0.0, 0.25]))
    w = rng.standard_normal(fed.dim)
    assert some.loss(w) == pytest.approx(0.75 * fed.losses(w)[0] + 0.25 * fed.losses(w)[2], rel=1e-14)
    np.testing.assert_array_equal(some.losses(w), fed.losses(w))
    # Their own minima do not depend on the weights.
    np.testing.assert_array_equal(some.local_minima, fed.local_minima)
    assert np.linalg.norm(some.gradient(some.minimizer)) <= 1e-10


@pytest.mark.parametrize("scale", [1e5, 1e6])
def test_beside_large_features_a_tiny_ridge_term_is_not_lost(scale):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)) * scale, rng.integers(0, 3, 60)
    fed = SoftmaxFederation(FederatedData.from_clients([(x[:30], y[:30]), (x[30:], y[30:])]), l2=1e-8)
    assert np.linalg.norm(fed.gradient(fed.minimizer)) <= 1e-10
    np.testing.assert_allclose(
        fed.minimizer.reshape(3, -1).sum(axis=0), 0, atol=1e-2
    )  # a shift costs l2 times its size
