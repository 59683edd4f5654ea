"""Clients that differ at the minimizer: several steps of drawn clients."""

from fractions import Fraction

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import sgd
from fedtheory.claims._quadratics import Start
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_least, at_most
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
