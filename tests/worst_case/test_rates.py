"""Rates for all numbers of rounds: closed forms, other proofs of the same rates, runs on quadratics, and errors."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import error_feedback as ef
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case import Problem, rate
from fedtheory.worst_case.control_variates import after_round

WIDTH = 3e-6  # of the bisection and of the enclosure

slow = pytest.mark.slow


def gap(f, x, best):
    return f.value(x) - f.value(best)


def gradient_descent(eta, mu=1, L=4):
    p = Problem()
    f = p.function(mu=mu, L=L)
    best, x = f.minimizer(), p.point()
    return p, {"x": (x - best, x - eta * f.gradient(x) - best)}, {}


def heavy_ball(eta=Q(1, 4), beta=Q(1, 4)):
    p = Problem()
    f = p.function(mu=1, L=4)
    best, x, old = f.minimizer(), p.point(), p.point()
    new = x - eta * f.gradient(x) + beta * (x - old)
    return (
        p,
        {"x": (x - best, new - best), "old": (old - best, x - best)},
        {"gap": (gap(f, x, best), gap(f, new, best))},
    )


def scaffold(option, tau=2, eta=Q(1, 8)):
    p = Problem()
    clients = p.clients(2, mu=1, L=4)
    best, w, error = clients.minimizer(objective_gap=0), p.point(), clients.deviation()
    new, error_after = after_round(clients, w, error, tau, eta, first=option == 1)
    return p, {"w": (w - best, new - best), "error": (error, error_after)}, {}


def error_feedback(eps, eta, mu=1, L=2):
    p = Problem()
    f = p.function(mu=mu, L=L)
    best, x, error = f.minimizer(), p.point(), p.point()
    update = error + eta * f.gradient(x)
    sent = p.compressed(update, eps)
    return p, {"x": (x - best, x - sent - best), "error": (error, update - sent)}, {}


def ef21(eps, eta, mu=1, L=2):
    p = Problem()
    f = p.function(mu=mu, L=L)
    best, x, g = f.minimizer(), p.point(), p.point()
    new = x - eta * g
    slope = f.gradient(new)
    estimate = g + p.compressed(slope - g, eps)
    state = {"x": (x - best, new - best), "error": (g - f.gradient(x), estimate - slope)}
    return p, state, {"gap": (gap(f, x, best), gap(f, new, best))}


def proximal_step(step):
    p = Problem()
    f = p.function(mu=2)
    best, x = f.minimizer(), p.point()
    return p, {"x": (x - best, f.proximal(x, step) - best)}, {}


def feddyn(alpha):
    p = Problem()
    clients = p.clients(2, mu=1, L=4)
    best, x, estimate = clients.minimizer(objective_gap=0), p.point(), clients.deviation()
    y = clients.proximal(x + estimate, 1 / alpha)
    after = clients.mean(2 * y - x - estimate) + x + estimate - y
    mean = clients.mean(after)
    return p, {"mean": (x - best, mean - best), "estimate": (estimate, after - mean)}, {}


def found(problem, state, terms, **options):
    return rate(problem, state, terms=terms, **options)


# FedDyn contracts as the method of Douglas and Rachford, and SCAFFOLD as gradient descent of all local steps.
KNOWN = [
    *(
        (gradient_descent, eta, max((1 - eta) ** 2, (1 - 4 * eta) ** 2))
        for eta in (Q(1, 10), Q(1, 4), Q(2, 5), Q(9, 20))
    ),
    *((proximal_step, step, 1 / (1 + 2 * step) ** 2) for step in (Q(1, 2), Q(3))),
    *((scaffold, option, Q(7, 8) ** 4) for option in (1, 2)),
    *((feddyn, alpha, max(4 / (4 + alpha), alpha / (alpha + 1)) ** 2) for alpha in (Q(1), Q(2), Q(6))),
]


@slow
@pytest.mark.parametrize(("method", "constant", "exact"), KNOWN)
def test_a_method_contracts_by_its_known_rate(method, constant, exact):
    assert exact <= found(*method(constant)).value <= exact * (1 + Q(WIDTH))


@slow
def test_error_feedback_and_ef21_have_the_rate_of_the_published_potentials():
    eps, eta = Q(1, 2), Q(1, 8)
    published = ef.ef_round(1.0, step_size=float(eta), mu=1.0, L=2.0, compression_error=float(eps) ** 0.5)
    assert float(found(*error_feedback(eps, eta)).value) == pytest.approx(published, rel=WIDTH)
    assert float(found(*ef21(eps, eta)).value) == pytest.approx(published, rel=WIDTH)
    assert float(found(*ef21(eps, eta), measure="gap").value) == pytest.approx(published, rel=WIDTH)


@slow
def test_the_potential_of_the_heavy_ball_contracts_on_quadratics_at_every_state():
    answer = found(*heavy_ball())
    rho, P = float(answer.value), {name: float(c) for name, c in answer.potential.items()}
    rng = np.random.default_rng(0)
    for curvature in np.linspace(1, 4, 31):
        x, old = rng.normal(size=(2, 200))
        new = x - 0.25 * curvature * x + 0.25 * (x - old)

        def potential(one, other, curvature=curvature):
            return (
                P["|x|^2"] * one**2
                + P["<x, old>"] * one * other
                + P["|old|^2"] * other**2
                + P["gap"] * curvature / 2 * one**2
            )

        assert (potential(new, x) <= rho * potential(x, old) * (1 + 1e-12)).all()
        assert (x**2 <= potential(x, old) * (1 + 1e-12)).all()


@slow
def test_a_method_without_a_linear_rate_is_answered_so():
    with pytest.raises(OracleError, match="whose rate is below 1: it may be sublinear"):
        found(*gradient_descent(Q(1, 4), mu=0))
    with pytest.raises(OracleError, match="no quadratic potential of this state was found that does not grow"):
        found(*gradient_descent(Q(3, 4)))


@slow
def test_a_round_with_a_constant_is_refused():
    p = Problem()
    f = p.function(mu=1, L=4)
    best, x = f.minimizer(), p.point()
    state = {"x": (x - best, f.step(x, Q(1, 4), variance=1) - best)}
    with pytest.raises(AssumptionViolated, match="a round must have no condition with a constant"):
        rate(p, state)
    p, state, _ = gradient_descent(Q(1, 4))
    p.at_most(state["x"][0].square, 1, name="distance2")
    with pytest.raises(
        AssumptionViolated, match="a round must have no condition with a constant, got distance2 with 1"
    ):
        rate(p, state)


def sublinear():
    p = Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point()
    return p, {}, {"gap": (gap(f, x, best), gap(f, x - Q(1, 2) * f.gradient(x), best))}


@slow
@pytest.mark.parametrize("tolerance", [3e-4, 1e-6])
def test_the_gap_of_a_sublinear_method_has_no_rate(tolerance):
    with pytest.raises(OracleError, match="it may be sublinear"):
        found(*sublinear(), tolerance=tolerance)


def of_clients(average):
    p = Problem()
    c = p.clients(4, mu=1, L=4)
    best, x = c.minimizer(objective_gap=0), p.point()
    y = average(c, x - Q(1, 8) * c.gradient(x))
    return p, {"x": (x - best, y - best)}


def test_a_state_that_differs_among_clients_only_after_the_round_is_refused():
    with pytest.raises(ValueError, match="got x, which differs among the clients f0 only after it"):
        rate(*of_clients(lambda _, y: y))


@slow
def test_a_noise_of_the_server_is_no_part_that_a_state_must_have_before_the_round():
    p = Problem()
    c = p.clients(4, mu=1, L=4)
    best, x = c.minimizer(objective_gap=0), p.point()
    y = c.mean(x - Q(1, 16) * p.unbiased(c.gradient(x), 1))
    # (1 - eta mu)^2 + omega/4 (eta mu)^2 for quadratics of curvature mu
    assert 0 < rate(p, {"x": (x - best, y - best)}).value - Q(15, 16) ** 2 - Q(1, 4) * Q(1, 16) ** 2 < Q(1, 10**5)
