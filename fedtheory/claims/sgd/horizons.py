"""Many steps of one client, and rounds of local steps, of clients that differ at the minimizer."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedavg, sgd
from fedtheory.claims.sgd._federations import draw_start, moved
from fedtheory.rational.draws import whole
from fedtheory.rational.vectors import combination, difference, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to


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
    return equal_to(sgd.drawn_step(floor, **known), floor, instance={name: str(value) for name, value in known.items()})


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
