"""Extrapolated server steps on random quadratics with a common minimizer, in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import fedexp
from fedtheory.claims._quadratics import Start
from fedtheory.instances.vectors import combination, inner, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement

_GUESS = Statement(
    FEDTHEORY, "clients without a common minimizer, a guess", related=(fedexp.PAPER, "Abstract"), form="derived"
)


@claim(
    "fedexp:one-round",
    "A round of local steps below 2/L with any factor of the mean update, for clients with a common minimizer",
    fedexp.one_round,
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    s, tau = Start(rng, 2, common_minimizer=True), whole(rng, 1, 4)
    models = [s.w] * s.fed.num_clients
    for _ in range(tau):
        models = [s.moved(k, w) for k, w in enumerate(models)]
    updates, alpha = [y - s.w for y in models], Fraction(whole(rng, 1, 24), 8)
    mean, update2 = combination(s.fed.weights, updates), inner(s.fed.weights, list(map(norm2, updates)))
    known = {"L": s.known["L"], "step_size": s.eta, "update2": update2, "mean_update2": norm2(mean)}
    bound = fedexp.one_round(s.away2(s.w), local_steps=tau, server_step_size=alpha, **known)
    instance = s.instance | {"local_steps": tau, "server_step_size": str(alpha)}
    return at_most(s.away2(s.w + alpha * mean), bound, instance=instance)


@claim(
    "fedexp:heterogeneous-guess",
    "FedExP's factor does not increase the distance from w* if the clients have different minimizers",
    _GUESS,
    "refuted conjecture",
    hypotheses=("every F_k is convex and L-smooth",),
    remark="near w* the mean update vanishes, and the updates do not; two parabolas lead from 1/10 to -97/40",
)
def heterogeneous_guess() -> Finding:
    w, eta = Fraction(1, 10), Fraction(1, 2)
    updates = [eta * (center - w) for center in (1, -1)]
    mean, update2 = sum(updates, start=Fraction(0)) / 2, sum((u**2 for u in updates), start=Fraction(0)) / 2
    after = w + max(Fraction(1), update2 / (2 * mean**2)) * mean
    return at_most(after**2, w**2, instance={"centers": "1, -1", "model": str(w), "step_size": str(eta)})
