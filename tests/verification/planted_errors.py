"""False lemmas of several kinds and their true versions, as a user would write them as claims.

For each name, ``LEMMAS`` has a check that takes the random numbers, whether the error is planted, and whether the
common part of both sides is given as a baseline. The last entry of each triple is whether the claim has a bound or only
a statement.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.vectors import combination, norm2
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import NONNEGATIVE
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import Claim, Finding, at_least, at_most, claim

PAPER = Paper("plants", "Planted errors", "Nobody", 2026)
Rng = np.random.Generator
Lemma = Callable[[Rng, bool, bool], Finding]


def _base(value: Any, given: bool) -> Any:
    return value if given else None


def descent(rng: Rng, false: bool, based: bool) -> Finding:
    """F(w - eta g) <= F(w) - eta (1 - L eta/2) |g|^2; planted: L/2 for L."""
    fed = draw_federation(rng)
    L, w = fed.smoothness / (2 if false else 1), draw_model(rng, fed.dim)
    eta = int(rng.integers(1, 9)) / (8 * fed.smoothness)
    g = combination(fed.weights, fed.gradients(w))
    old, new = fed.gap(w), fed.gap(w - eta * g)
    return at_most(new, old - eta * (1 - L * eta / 2) * norm2(g), baseline=_base(old, based), instance={"eta": eta})


def lost_variance(rng: Rng, false: bool, based: bool) -> Finding:
    """E|w - eta(g + noise) - w*|^2 <= (1 - eta mu)|w - w*|^2 + eta^2 sigma2; planted: the variance is lost."""
    mu, sigma2 = float(rng.random()), float(rng.random())
    L, w = mu + float(rng.random()), 10 * float(rng.random())
    h, eta = mu + (L - mu) * float(rng.random()), float(rng.random()) / L
    new = (1 - eta * h) ** 2 * w**2 + eta**2 * sigma2
    return at_most(new, (1 - eta * mu) * w**2 + (0 if false else eta**2 * sigma2), baseline=_base(w**2, based))


def long_step(rng: Rng, false: bool, based: bool) -> Finding:
    """|w'|^2 <= (1 - eta mu)^2 |w|^2 needs eta <= 1/L; planted: any eta up to 12/(8L)."""
    fed = draw_federation(rng)
    start, center = draw_model(rng, fed.dim), fed.minimizer
    eta = int(rng.integers(1, 13 if false else 9)) / (8 * fed.smoothness)
    new = start - eta * combination(fed.weights, fed.gradients(start))
    old2, new2 = norm2(start - center), norm2(new - center)
    return at_most(new2, (1 - eta * fed.strong_convexity) ** 2 * old2, baseline=_base(old2, based))


@states(PAPER, "Drift", assumes=())
def _drift(distance2, *, step_size, L, local_steps):  # type: ignore[no-untyped-def]
    return {"start": distance2, "drift": step_size**2 * (local_steps - 1) ** 2 * L * L * distance2}


def drift(rng: Rng, false: bool, based: bool) -> Finding:
    """|w_tau - w_1|^2 + |w|^2 <= |w|^2 + eta^2 (tau-1)^2 L^2 |w|^2; planted: a quarter of the drift (L/2)."""
    dim = int(rng.integers(1, 4))
    curvatures = [Fraction(int(rng.integers(1, 17)), 8) for _ in range(dim)]
    w = [Fraction(int(rng.integers(-16, 17)), 4) for _ in range(dim)]
    L, tau = max(curvatures), int(rng.integers(2, 6))
    eta = Fraction(int(rng.integers(1, 17)), 64) / L
    moved = sum(((1 - eta * h) ** (tau - 1) - 1) ** 2 * x * x for h, x in zip(curvatures, w, strict=True))
    old = sum(x * x for x in w)
    bound = _drift(old, step_size=eta, L=L / 2 if false else L, local_steps=tau)
    return at_most(old + moved, bound, baseline=_base(old, based), instance={"w": w, "eta": eta})


def sampling(rng: Rng, false: bool, based: bool) -> Finding:
    """Variance of a mean of m of n without replacement: S^2/m (n - m)/n, S^2 with n - 1; planted: n for n - 1."""
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, n + 1))
    values = [Fraction(int(rng.integers(-9, 10))) for _ in range(n)]
    mean = sum(values) / n
    squares = sum((value - mean) ** 2 for value in values)
    second = mean**2
    truth = second + squares / (n - 1) / m * Fraction(n - m, n)
    stated = second + squares / (n if false else n - 1) / m * Fraction(n - m, n)
    return at_most(truth, stated, baseline=_base(second, based))


def progress(rng: Rng, false: bool, based: bool) -> Finding:
    """Gain F(w) - F(w') >= eta/2 |g|^2 for eta <= 1/L; planted: 3 eta/4. An at_least claim with F(w) added."""
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    eta = int(rng.integers(1, 9)) / (8 * fed.smoothness)
    g = combination(fed.weights, fed.gradients(w))
    old, new = fed.gap(w), fed.gap(w - eta * g)
    least = old + (Fraction(3, 4) if false else Fraction(1, 2)) * eta * norm2(g)
    return at_least(2 * old - new, least, baseline=_base(old, based))


def noisy_clients(rng: Rng, false: bool, based: bool) -> Finding:
    """Floats in six dimensions: (1 - eta mu)|w|^2 + eta^2 sigma2/n; planted: sigma2/n^2."""
    n, dim = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    h = 0.1 + rng.random(dim)
    w, sigma2 = rng.random(dim) * 8 - 4, float(rng.random())
    eta = float(rng.random()) / 1.1
    new = float((((1 - eta * h) * w) ** 2).sum()) + eta**2 * sigma2 / n
    old = float((w**2).sum())
    return at_most(new, (1 - eta * 0.1) * old + eta**2 * sigma2 / n ** (2 if false else 1), baseline=_base(old, based))


def local_descent(rng: Rng, false: bool, based: bool) -> Finding:
    """F(w - eta g) <= F(w) - eta/2 |F'(w)|^2 + eta L^2/2 V for gradients g at local models; planted: L/2 for L."""
    fed = draw_federation(rng)
    w = draw_model(rng, fed.dim)
    eta = Fraction(1, 2 ** int(rng.integers(0, 12))) / fed.smoothness
    local = [w - Fraction(1, 32) * draw_model(rng, fed.dim) for _ in fed.weights]
    spread = sum(p * norm2(w - v) for p, v in zip(fed.weights, local, strict=True))
    gradients = [fed.gradients(v)[k] for k, v in enumerate(local)]
    g, full = combination(fed.weights, gradients), combination(fed.weights, fed.gradients(w))
    old, new = fed.gap(w), fed.gap(w - eta * g)
    L = max(max(h) for h in fed.curvatures)
    L = L / 2 if false else L
    bound = _local_descent(old, step_size=eta, L=L, gradient2=norm2(full), spread=spread)
    return at_most(new, bound, baseline=_base(old, based), instance={"L": L, "eta": eta})


POSITIVES = {"gradient2": NONNEGATIVE, "spread": NONNEGATIVE}


@states(PAPER, "Local descent", domains=POSITIVES)
def _local_descent(initial_gap, *, step_size, L, gradient2, spread):  # type: ignore[no-untyped-def]
    return {"gap": initial_gap, "gain": -step_size / 2 * gradient2, "drift": step_size * L**2 / 2 * spread}


LEMMAS: dict[str, Lemma] = {
    "descent": descent, "lost-variance": lost_variance, "long-step": long_step, "drift": drift,
    "sampling": sampling, "progress": progress, "noisy-clients": noisy_clients,
    "local-descent": local_descent,
}  # fmt: skip


def planted(name: str, *, false: bool, based: bool) -> Claim:
    """The claim of a lemma, with its error or without, with the baseline or without."""
    bounds = {"drift": _drift, "local-descent": _local_descent}
    source = bounds.get(name) or Statement(PAPER, name)
    return claim(f"plants:{name}", name, source)(lambda rng: LEMMAS[name](rng, false, based))
