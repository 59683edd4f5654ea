"""One step of stochastic gradients: never above its bound, and two quadratics that attain it at every step size."""

import itertools
from fractions import Fraction

import numpy as np

from fedtheory.bounds import sgd
from fedtheory.claims.sgd._federations import Start, average, draw_start, moved
from fedtheory.rational.draws import whole
from fedtheory.rational.vectors import difference, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to
from fedtheory.worst_case.problem import Problem


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
    instances=(1, 1),
    remark="refuted by the certified worst case of two clients and two steps: no federation attains both steps",
)
def two_steps_guess(rng: np.random.Generator) -> Finding:
    del rng
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
    return at_least(p.solve().enclosure[1], twice, instance={name: str(value) for name, value in known.items()})
