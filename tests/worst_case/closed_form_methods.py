"""Rounds of methods with named constants, L = 1, and the closed forms that they have: known ones, and new ones."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any, NamedTuple

from fedtheory.worst_case import Problem
from fedtheory.worst_case.control_variates import after_round

HALF = Q(1, 2)


class Method(NamedTuple):
    """A round, a domain of its constants, and the value on it, as a function of the constants."""

    program: Callable[..., Problem]
    domain: Callable[..., list[Any]]
    value: Callable[..., Any]


def started(mu: Any, num_clients: int = 1, **placed: Any) -> tuple[Problem, Any, Any, Any]:
    """Return a problem, a function or clients with L = 1, the minimizer, and a point within a distance of 1 of it."""
    p = Problem()
    f = p.function(mu, 1) if num_clients == 1 else p.clients(num_clients, mu, 1)
    best, x = f.minimizer(**placed), p.point("x" if num_clients == 1 else "w")
    p.at_most((x - best).square, 1, "distance2")
    return p, f, best, x


def gradient_descent(mu: Any, eta: Any) -> Problem:
    p, f, best, x = started(mu)
    p.maximize((x - eta * f.gradient(x) - best).square)
    return p


def smooth_convex_potential(k: Any, eta: Any) -> Problem:
    """Let ``eta k (f - f*) + |x - x*|^2 / 2`` grow by one ``eta (f - f*)``."""
    p = Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("x")
    y = p.name(x - eta * f.gradient(x), "y")
    p.at_most(k * eta * (f.value(x) - f.value(best)) + HALF * (x - best).square, 1, "potential")
    p.maximize((k + 1) * eta * (f.value(y) - f.value(best)) + HALF * (y - best).square)
    return p


def proximal_gradient(mu: Any, eta: Any) -> Problem:
    p = Problem()
    f, g = p.function(mu, 1), p.function()
    best, x = (f + g).minimizer(), p.point("x")
    p.at_most((x - best).square, 1, "distance2")
    p.maximize((g.proximal(x - eta * f.gradient(x), eta) - best).square)
    return p


def proximal_point(mu: Any, eta: Any) -> Problem:
    p = Problem()
    f = p.function(mu)
    best, x = f.minimizer(), p.point("x")
    p.at_most((x - best).square, 1, "distance2")
    p.maximize((f.proximal(x, eta) - best).square)
    return p


def inexact_gradient(mu: Any, eta: Any, delta: Any) -> Problem:
    """Use a gradient with a relative error of delta."""
    p, f, best, x = started(mu)
    p.maximize((x - eta * f.inexact_gradient(x, relative=delta) - best).square)
    return p


def compressed_gradient(mu: Any, eta: Any, s: Any) -> Problem:
    """Use a compressor with ``|C(v) - v| <= s |v|``, measured by losses."""
    p = Problem()
    f = p.function(mu, 1)
    best, x = f.minimizer(), p.point("x")
    p.at_most(f.value(x) - f.value(best), 1, "gap")
    p.maximize(f.value(x - eta * p.compressed(f.gradient(x), s**2)) - f.value(best))
    return p


def unbiased_compressor(mu: Any, eta: Any, omega: Any) -> Problem:
    p, f, best, x = started(mu)
    p.maximize((x - eta * p.unbiased(f.gradient(x), omega) - best).square)
    return p


def sampled_client(mu: Any, eta: Any, theta: Any) -> Problem:
    """Step along the gradient of one drawn client; theta is the weight of the heterogeneity at the minimizer."""
    p, c, best, w = started(mu, 2)
    after = c.sample(1, "independent").square(c.step(w, eta) - best)
    p.maximize(after - theta * eta**2 * c.gradient(best).square)
    return p


def objective_gap(mu: Any, eta: Any) -> Problem:
    """Step along the gradient of one drawn client, less ``2 eta^2 Gamma`` (the round lemma with one local step)."""
    p, c, best, w = started(mu, 2)
    p.maximize(c.sample(1, "independent").square(c.step(w, eta) - best) - 2 * eta**2 * c.objective_gap())
    return p


def two_local_steps(mu: Any, eta: Any) -> Problem:
    """Average the clients' models after two local steps, where all clients have one minimizer."""
    p, c, best, w = started(mu, 2, objective_gap=0)
    p.maximize((c.mean(c.step(c.step(w, eta), eta)) - best).square)
    return p


def scaffold(mu: Any, eta: Any, local_steps: int = 2) -> Problem:
    """Make a round of SCAFFOLD; the deviations are the errors of the control variates."""
    p = Problem()
    c = p.clients(2, mu, 1)
    best, w, error = c.minimizer(objective_gap=0), p.point("w"), c.deviation()
    length2 = (eta * local_steps) ** 2
    p.at_most((w - best).square + length2 * error.square, 1, "potential")
    w, error = after_round(c, w, error, local_steps, eta, first=False)
    p.maximize((w - best).square + length2 * error.square)
    return p


def extrapolated_proximal_steps(mu: Any, gamma: Any, alpha: Any) -> Problem:
    """Make a round of FedExProx, where all clients have one minimizer: step gamma, extrapolation alpha."""
    p, c, best, w = started(mu, 2, objective_gap=0)
    p.maximize((w + alpha * (c.mean(c.proximal(w, gamma)) - w) - best).square)
    return p


def proxskip(mu: Any, eta: Any, q: Any) -> Problem:
    """Make a step of ProxSkip, which communicates with probability q."""
    p = Problem()
    f, g = p.function(mu, 1), p.function()
    best, x, h = (f + g).minimizer(), p.point("x"), p.point("h")
    weight, at_best = (eta / q) ** 2, f.gradient(best)
    p.at_most((x - best).square + weight * (h - at_best).square, 1, "potential")
    y = x - eta * (f.gradient(x) - h)
    z = g.proximal(y - eta / q * h, eta / q)
    skipped = (y - best).square + weight * (h - at_best).square
    sent = (z - best).square + weight * (h + q / eta * (z - y) - at_best).square
    p.maximize(p.mean([sent, skipped], [q, 1 - q]))
    return p


def ef21(mu: Any, s: Any, z: Any) -> Problem:
    """Make a round of EF21 with the step size at which its rate is ``z^2``, which makes all numbers rational."""
    p = Problem()
    f, w, d = p.function(mu, 1), p.point("w"), p.vector("d")
    eta = (1 - s - (z**2 - s) / z) / ((1 + s) * mu)
    p.at_most(s * f.gradient(w).square + (f.gradient(w) - d).square, 1, "potential")
    after = f.gradient(w - eta * d)
    p.maximize(s * after.square + (after - d - p.compressed(after - d, s**2)).square)
    return p


def partial_participation(mu: Any, eta: Any, share: Any) -> Problem:
    """Step along the mean gradient of m of n distinct clients; share is ``(n - m)/(m (n - 1))``."""
    p, c, best, w = started(mu, 2)
    g, at_best = c.gradient(w), c.gradient(best)
    after = (w - eta * c.mean(g) - best).square + share * eta**2 * (g - c.mean(g)).square
    p.maximize(after - 2 * share * eta**2 * at_best.square)
    return p


def diana(mu: Any, eta: Any, alpha: Any, nu: Any) -> Problem:
    """Make a round of DIANA with alpha = 1/(1 + omega) and nu = omega/n.

    The compressors' variances are written out: given all before, ``E |C(v) - v|^2 = omega |v|^2`` at most, and
    ``alpha^2 omega = alpha (1 - alpha)``.
    """
    p, c, best, w = started(mu, 2)
    h = p.point("h") + c.deviation()
    g, at_best, weight = c.gradient(w), c.gradient(best), 4 * nu / alpha * eta**2
    model = (w - eta * c.mean(g) - best).square + nu * eta**2 * (g - h).square
    memory = (1 - alpha) * (h - at_best).square + alpha * (g - at_best).square
    p.maximize(model + weight * memory - (1 - alpha / 2) * weight * (h - at_best).square)
    return p


def sampled_control_variates(mu: Any, eta: Any, q: Any, share: Any) -> Problem:
    """Make a round of SCAFFOLD with one local step by a share q = m/n of the clients, which update their variates."""
    p, c, best, w = started(mu, 2)
    h = p.point("h") + c.deviation()
    g, at_best, weight = c.gradient(w), c.gradient(best), 4 * share / q * eta**2
    apart = g - h - c.mean(g - h)
    model = (w - eta * c.mean(g) - best).square + share * eta**2 * apart.square
    memory = (1 - q) * (h - at_best).square + q * (g - at_best).square
    p.maximize(model + weight * memory - (1 - q / 2) * weight * (h - at_best).square)
    return p


KNOWN = {
    "gradient descent": Method(
        gradient_descent,
        lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta < 2],
        lambda mu, eta: max((1 - eta * mu) ** 2, (1 - eta) ** 2),
    ),
    "potential of smooth convex functions": Method(
        smooth_convex_potential, lambda k, eta: [k >= 0, eta > 0, eta <= 1], lambda k, eta: 1 + 0 * k * eta
    ),
    "proximal gradient": Method(
        proximal_gradient,
        lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta < 2],
        lambda mu, eta: max((1 - eta * mu) ** 2, (1 - eta) ** 2),
    ),
    "proximal point": Method(
        proximal_point, lambda mu, eta: [mu > 0, eta > 0], lambda mu, eta: 1 / (1 + eta * mu) ** 2
    ),
    "inexact gradient": Method(
        inexact_gradient,
        lambda mu, eta, delta: [
            mu > 0, mu < 1, eta > 0, delta > 0, delta < 1,
            eta * mu * (1 + mu) * (1 - delta) <= 2 * mu - delta * (1 + mu),
        ],
        lambda mu, eta, delta: (1 - eta * mu * (1 - delta)) ** 2,
    ),
    "compressed gradient": Method(
        compressed_gradient,
        lambda mu, eta, s: [mu > 0, mu < 1, eta > 0, s > 0, s < 1, eta * (1 + s) < 1],
        lambda mu, eta, s: (1 - eta * mu * (1 - s)) ** 2,
    ),
    "unbiased compressor": Method(
        unbiased_compressor,
        lambda mu, eta, omega: [mu > 0, mu < 1, eta > 0, omega > 0, eta * (1 + omega) < 2],
        lambda mu, eta, omega: max(
            1 - 2 * eta * mu + (1 + omega) * eta**2 * mu**2, 1 - 2 * eta + (1 + omega) * eta**2
        ),
    ),
    "sampled client": Method(
        sampled_client,
        lambda mu, eta, theta: [
            mu > 0, mu < 1, eta > 0, theta > 1, eta * (theta * (1 + mu) - 2 * mu) <= 2 * (theta - 1),
        ],
        lambda mu, eta, theta: (1 - eta * mu) ** 2 + 0 * theta,
    ),
    "objective gap": Method(
        objective_gap,
        lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta < 1],
        lambda mu, eta: 1 - eta * mu * (2 - eta),
    ),
    "two local steps": Method(
        two_local_steps,
        lambda mu, eta: [mu > 0, mu < 1, eta > 0, 2 * eta < 1],
        lambda mu, eta: (1 - eta * mu) ** 4,
    ),
    "SCAFFOLD": Method(
        scaffold, lambda mu, eta: [mu > 0, mu < 1, eta > 0, 2 * eta < 1], lambda mu, eta: (1 - eta * mu) ** 4
    ),
    "FedExProx": Method(
        extrapolated_proximal_steps,
        lambda mu, gamma, alpha: [mu > 0, mu < 1, gamma > 0, alpha > 0, alpha < 2],
        lambda mu, gamma, alpha: max(
            (1 - alpha * gamma * mu / (1 + gamma * mu)) ** 2, (1 - alpha * gamma / (1 + gamma)) ** 2
        ),
    ),
    "ProxSkip": Method(
        proxskip,
        lambda mu, eta, q: [mu > 0, mu < 1, eta > 0, eta * (1 + mu) < 2, q > 0, q < 1],
        lambda mu, eta, q: max((1 - eta * mu) ** 2, 1 - q**2),
    ),
    "EF21": Method(
        ef21,
        lambda mu, s, z: [
            mu > 0, mu < 1, s > 0, s < z, z < 1, s < z**2, (1 + mu) * (z * (1 - s) - z**2 + s) <= 2 * (1 - s) * mu * z,
        ],
        lambda mu, s, z: z**2 + 0 * mu * s,
    ),
}  # fmt: skip
"""Statements that are in print, or that other parts of this library prove."""

NEW = {
    "DIANA": Method(
        diana,
        lambda mu, eta, alpha, nu: [
            mu > 0, mu < 1, eta > 0, nu > 0, alpha > 0, alpha < 1, eta * (1 + 6 * nu) * (1 + mu) <= 2,
        ],
        lambda mu, eta, alpha, nu: 1 - 2 * eta * mu + (1 + 6 * nu) * eta**2 * mu**2 + 0 * alpha,
    ),
    "partial participation": Method(
        partial_participation,
        lambda mu, eta, share: [mu > 0, mu < 1, eta > 0, eta <= 1, share > 0, share <= 1],
        lambda mu, eta, share: (1 - eta * mu) ** 2 + 0 * share,
    ),
    "sampled control variates": Method(
        sampled_control_variates,
        lambda mu, eta, q, share: [
            mu > 0, mu < 1, eta > 0, q > 0, q < 1, share > 0, share <= 1,
            eta * (mu + mu * share + 3 * share) <= 1, eta * (1 + mu) * (1 + 4 * share) <= 2,
        ],
        lambda mu, eta, q, share: 1 - 2 * eta * mu + (1 + 4 * share) * eta**2 * mu**2 + 0 * q,
    ),
}  # fmt: skip
"""Statements that were not found in print."""

METHODS = KNOWN | NEW
