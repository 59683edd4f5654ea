"""Clients that differ at the minimizer: steps, horizons, the quadratics that attain bounds, and worst cases."""

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import fedavg, sgd
from fedtheory.claims._comparisons import as_texts
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to
from fedtheory.worst_case.problem import Problem


class Start(NamedTuple):
    """A federation, a model, a step size, the constants that bounds take, and an instance in words."""

    federation: RationalQuadratics
    model: Vector
    step_size: Fraction
    known: dict[str, Any]
    words: dict[str, Any]


def zeta2(fed: RationalQuadratics) -> Fraction:
    """Return ``sum_k p_k |grad F_k(w*)|^2``."""
    return inner(fed.weights, [norm2(gradient) for gradient in fed.gradients(fed.minimizer)])


def draw_start(rng: np.random.Generator, longest: int = 3, *, is_balanced: bool = False) -> Start:
    """Draw a federation, a model relative to w*, and a step size up to ``longest/L``, which is excluded."""
    fed = draw_federation(rng, equal_weights=is_balanced)
    model = added(draw_model(rng, fed.dim), fed.minimizer)
    step_size = longest * Fraction(whole(rng, 1, 15), 16) / fed.smoothness
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "step_size": step_size, "zeta2": zeta2(fed)}
    words = {**federation_in_words(fed), "model": in_words(model), "step_size": str(step_size)}
    return Start(fed, model, step_size, known, words)


def moved(fed: RationalQuadratics, client: int, model: Vector, step_size: Fraction) -> Vector:
    """Return a client's model after a gradient step."""
    return combination((Fraction(1), -step_size), (model, fed.gradient(client, model)))


def average(models: Iterable[Vector]) -> Vector:
    """Return the mean of some models."""
    models = list(models)
    return combination([Fraction(1, len(models))] * len(models), models)


@claim(
    "sgd:fixed-step-distance",
    "Up to three steps of one client, drawn in proportion to p_k, with a fixed step size below 2/L",
    sgd.fixed_step_distance,
    looseness=1.01,
)
def fixed_step_distance(rng: np.random.Generator) -> Finding:
    start, num_steps = draw_start(rng, 2), whole(rng, 1, 3)
    fed, law = start.federation, {start.model: Fraction(1)}
    for _ in range(num_steps):
        after: dict[tuple[Fraction, ...], Fraction] = {}
        for model, chance in law.items():
            for k, p in enumerate(fed.weights):
                reached = moved(fed, k, model, start.step_size)
                after[reached] = after.get(reached, Fraction(0)) + chance * p
        law = after
    away = {model: norm2(difference(model, fed.minimizer)) for model in (start.model, *law)}
    expected = sum((chance * away[model] for model, chance in law.items()), start=Fraction(0))
    bound = sgd.fixed_step_distance(num_steps, num_selected=1, initial_distance2=away[start.model], **start.known)
    return at_most(expected, bound, instance=start.words | {"num_steps": num_steps})


@claim(
    "sgd:floor-is-fixed",
    "The bound on a step, asked at the floor of a fixed step size, answers with the floor",
    sgd.fixed_step_distance,
    "identity",
)
def floor_is_fixed(rng: np.random.Generator) -> Finding:
    known = draw_start(rng, 2).known | {"num_selected": whole(rng, 1, 5)}
    known["zeta2"] = Fraction(whole(rng, 1, 40), 8)
    # From the floor the bound on many steps stays there.
    once, twice = (sgd.fixed_step_distance.terms(n, initial_distance2=Fraction(0), **known)["floor"] for n in (1, 2))
    floor = once**2 / (2 * once - twice)
    return equal_to(sgd.drawn_step(floor, **known), floor, instance=as_texts(known))


@claim(
    "sgd:local-steps-round",
    "A round of up to four local steps of all clients, any weights, step_size (L + mu) < 2",
    sgd.local_steps_round,
    looseness=1.01,
)
def local_steps_round(rng: np.random.Generator) -> Finding:
    start, tau = draw_start(rng, 1), whole(rng, 1, 4)
    fed, longer = start.federation, Fraction(whole(rng, 8, 15), 8) / (1 + start.known["mu"] / start.known["L"])
    eta = start.step_size * longer
    models = [start.model] * fed.num_clients
    for _ in range(tau):
        models = [moved(fed, k, model, eta) for k, model in enumerate(models)]
    after, away = (norm2(difference(model, fed.minimizer)) for model in (combination(fed.weights, models), start.model))
    bound = sgd.local_steps_round(away, local_steps=tau, **start.known | {"step_size": eta})
    return at_most(after, bound, instance=start.words | {"step_size": str(eta), "local_steps": tau})


@claim(
    "sgd:heterogeneity-and-gap",
    "With zeta2 in place of 2 L Gamma the bound on a round of local steps is never larger",
    Statement(fedavg.PAPER, "Theorem 1", "a round, without Assumption 4", form="derived"),
    looseness=1.01,
    hypotheses=("step_size <= 1/L, and less where all curvatures are the same",),
)
def heterogeneity_and_gap(rng: np.random.Generator) -> Finding:
    start, tau = draw_start(rng, 1), whole(rng, 1, 4)
    known, fed = start.known, start.federation
    others = {name: known[name] for name in ("mu", "L", "step_size")} | {"objective_gap": fed.objective_gap}
    away = norm2(difference(start.model, fed.minimizer))
    mine = sgd.local_steps_round(away, local_steps=tau, **known)
    return at_most(mine, fedavg.one_round(away, local_steps=tau, **others), instance=start.words | {"local_steps": tau})


def _away(start: Start) -> Fraction:
    return norm2(difference(start.model, start.federation.minimizer))


@claim(
    "sgd:drawn-step",
    "A step of m clients drawn with replacement in proportion to p_k, step size up to 3/L",
    sgd.drawn_step,
    looseness=1.01,
)
def drawn_step(rng: np.random.Generator) -> Finding:
    start, m = draw_start(rng), whole(rng, 1, 2)
    fed = start.federation
    after = [difference(moved(fed, k, start.model, start.step_size), fed.minimizer) for k in range(fed.num_clients)]
    expected = Fraction(0)
    for drawn in itertools.product(range(fed.num_clients), repeat=m):
        chance = Fraction(1)
        for k in drawn:
            chance *= fed.weights[k]
        expected += chance * norm2(average(after[k] for k in drawn))
    bound = sgd.drawn_step(_away(start), num_selected=m, **start.known)
    return at_most(expected, bound, instance=start.words | {"num_selected": m})


@claim(
    "sgd:subset-step",
    "A step of m of K equally weighted clients, distinct ones, step size up to 3/L",
    sgd.subset_step,
    looseness=1.01,
)
def subset_step(rng: np.random.Generator) -> Finding:
    start = draw_start(rng, is_balanced=True)
    fed, m = start.federation, whole(rng, 1, start.federation.num_clients)
    after = [difference(moved(fed, k, start.model, start.step_size), fed.minimizer) for k in range(fed.num_clients)]
    chosen = [norm2(average(models)) for models in itertools.combinations(after, m)]
    counts = {"num_clients": fed.num_clients, "num_selected": m}
    bound = sgd.subset_step(_away(start), **counts, **start.known)
    return at_most(sum(chosen) / len(chosen), bound, instance=start.words | counts)


@claim(
    "sgd:drawn-step-attained",
    "Two quadratics in the plane, with Hessians that turn towards each other, attain the bound on a step of one client",
    sgd.drawn_step,
    "identity",
    instances=(20, 1000),
    remark="Pythagorean triples keep lengths rational; trace and determinant say that the eigenvalues are mu and L",
)
def attained(rng: np.random.Generator) -> Finding:
    mu, away = (Fraction(whole(rng, 1, 30), 10) for _ in range(2))
    L = mu * Fraction(whole(rng, 11, 90), 10)
    eta = Fraction(whole(rng, 1, 40), 10) / L
    middle, half, along = (L + mu) / 2, (L - mu) / 2, (1 - eta * (L + mu) / 2) * away
    # a z - eta h has the entries a |z| and -+eta zeta: a Pythagorean triple with its length, or one of them is 0.
    turn = Fraction(whole(rng, 11, 60), 10)
    across = abs(along) * 2 * turn / (turn**2 - 1) or turn
    length = abs(along) * (turn**2 + 1) / (turn**2 - 1) or turn
    squares = []
    for sign in (1, -1):
        # The unit vector that e_k points along, and the reflection that takes (1, 0) there, about their bisector.
        c, s = along / length, -sign * across / length
        hessian = ((middle - half * c, -half * s), (-half * s, middle + half * c))
        (p, q), (_, r) = hessian
        if (p + r, p * r - q * q) != (L + mu, L * mu):
            return equal_to(p * r - q * q, L * mu)
        slope = (p * away, q * away + sign * across / eta)
        squares.append((away - eta * slope[0]) ** 2 + (eta * slope[1]) ** 2)
    known = {"mu": mu, "L": L, "step_size": eta, "zeta2": (across / eta) ** 2}
    bound = sgd.drawn_step(away**2, num_selected=1, **known)
    words = {name: str(value) for name, value in {**known, "distance": away}.items()}
    return equal_to(sum(squares) / 2, bound, instance=words)


@claim(
    "sgd:two-steps-guess",
    "Two steps of two clients cost what the bound on a step costs when it is applied twice",
    Statement(sgd.PAPER, "Example wc_sgd", "applied twice, a guess", form="derived"),
    "refuted conjecture",
    remark="refuted by the certified worst case of two clients and two steps: no federation attains both steps",
)
def two_steps_guess() -> Finding:
    # All roots are rational: the bound is 81/16 after a step.
    known = {"mu": Fraction(1, 2), "L": Fraction(1), "step_size": Fraction(1), "zeta2": Fraction(63, 16)}
    twice = sgd.drawn_step(sgd.drawn_step(1, num_selected=1, **known), num_selected=1, **known)
    p = Problem()
    functions = [p.function(mu=known["mu"], L=known["L"]) for _ in range(2)]
    best, w = (functions[0] + functions[1]).minimizer(), p.point("start")
    p.at_most((w - best).square, 1, name="distance2")
    p.at_most(p.mean([f.gradient(best).square for f in functions]), known["zeta2"], name="zeta2")
    once = [w - f.gradient(w) for f in functions]
    p.maximize(p.mean([(x - f.gradient(x) - best).square for x in once for f in functions]))
    return at_least(p.solve().enclosure[1], twice, instance=as_texts(known))
