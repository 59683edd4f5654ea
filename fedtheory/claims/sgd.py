"""Clients that differ at the minimizer: steps, horizons, quadratics that attain the bounds, and worst cases."""

from fractions import Fraction

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import fedavg, sgd
from fedtheory.claims._quadratics import Start
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement


@claim(
    "sgd:fixed-step-distance",
    "Up to three steps of one client, drawn in proportion to p_k, with a fixed step size below 2/L",
    sgd.fixed_step_distance,
    looseness=1.01,
)
def fixed_step_distance(rng: np.random.Generator) -> Finding:
    s, num_steps = Start(rng, 2), whole(rng, 1, 3)
    law, client = Law.certain(s.w), Law(enumerate(s.fed.weights))
    for _ in range(num_steps):
        law = law.then(lambda w: client.map(lambda k: s.moved(k, w)))
    bound = sgd.fixed_step_distance(num_steps, num_selected=1, initial_distance2=s.away2(s.w), **s.known)
    return at_most(Fraction(law.mean(s.away2)), bound, instance=s.instance | {"num_steps": num_steps})


@claim(
    "sgd:heterogeneity-and-gap",
    "With zeta2 in place of 2 L Gamma, the bound on a round of local steps is never larger",
    Statement(FEDTHEORY, "a round, without Assumption 4", related=(fedavg.PAPER, "Theorem 1"), form="derived"),
    looseness=1.01,
    hypotheses=("step_size <= 1/L, and less if all curvatures are equal",),
)
def heterogeneity_and_gap(rng: np.random.Generator) -> Finding:
    s, tau = Start(rng, 1), whole(rng, 1, 4)
    others = {name: s.known[name] for name in ("mu", "L", "step_size")} | {"objective_gap": s.fed.objective_gap}
    mine = sgd.local_steps_round(s.away2(s.w), local_steps=tau, **s.known)
    with_gap = fedavg.one_round(s.away2(s.w), local_steps=tau, **others)
    return at_most(mine, with_gap, instance=s.instance | {"local_steps": tau})


@claim(
    "sgd:drawn-step-attained",
    "Two quadratics in the plane with rotated Hessians attain the bound on a step of one client",
    sgd.drawn_step,
    "identity",
    instances=(20, 1000),
    remark="Pythagorean triples keep lengths rational; trace and determinant show that the eigenvalues are mu and L",
)
def attained(rng: np.random.Generator) -> Finding:
    mu, away = (Fraction(whole(rng, 1, 30), 10) for _ in range(2))
    L = mu * Fraction(whole(rng, 11, 90), 10)
    eta = Fraction(whole(rng, 1, 40), 10) / L
    middle, half, along = (L + mu) / 2, (L - mu) / 2, (1 - eta * (L + mu) / 2) * away
    # a z - eta h has the entries a |z| and +-eta zeta: a Pythagorean triple with its norm, or one of them is 0.
    turn = Fraction(whole(rng, 11, 60), 10)
    across = abs(along) * 2 * turn / (turn**2 - 1) or turn
    length = abs(along) * (turn**2 + 1) / (turn**2 - 1) or turn
    squares = []
    for sign in (1, -1):
        # The unit vector that e_k points along, and the reflection about the bisector that maps (1, 0) to it.
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
    "The bound on a step, applied twice, is the worst case of two steps of two clients",
    Statement(FEDTHEORY, "applied twice, a conjecture", related=(sgd.PAPER, "Example wc_sgd"), form="derived"),
    "refuted conjecture",
    remark="refuted by the certified worst case of two clients and two steps: no federation attains both steps",
)
def two_steps_guess() -> Finding:
    # All roots are rational; the bound is 81/16 after a step.
    known = {"mu": Fraction(1, 2), "L": Fraction(1), "step_size": Fraction(1), "zeta2": Fraction(63, 16)}
    twice = sgd.drawn_step(sgd.drawn_step(1, num_selected=1, **known), num_selected=1, **known)
    p = worst_case.Problem()
    functions = [p.function(mu=known["mu"], L=known["L"]) for _ in range(2)]
    best, w = (functions[0] + functions[1]).minimizer(), p.point("start")
    p.at_most((w - best).square, 1, name="distance2")
    p.at_most(p.mean([f.gradient(best).square for f in functions]), known["zeta2"], name="zeta2")
    once = [w - f.gradient(w) for f in functions]
    p.maximize(p.mean([(x - f.gradient(x) - best).square for x in once for f in functions]))
    return at_least(p.solve().enclosure[1], twice, instance=as_texts(known))
