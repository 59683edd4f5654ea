"""Extrapolated server steps on random quadratics with a common minimizer, in rational arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedexp
from fedtheory.bounds.fedexp.paper import FEDEXPROX
from fedtheory.claims._quadratics import Start
from fedtheory.instances.vectors import Vector, combination, inner, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement

_STEP = Statement(FEDTHEORY, "server step size of FedExP", related=(fedexp.PAPER, "Abstract"), form="derived")
_GUESS = Statement(
    FEDTHEORY, "clients without a common minimizer, a guess", related=(fedexp.PAPER, "Abstract"), form="derived"
)
_PROX = Statement(FEDTHEORY, "constant extrapolation", related=(FEDEXPROX, "Abstract"), form="derived")
_COMMON = ("every F_k is convex and L-smooth", "w* minimizes every F_k")


class Updates:
    """Updates of clients with a common minimizer, their mean, and the mean of their squares."""

    def __init__(self, start: Start, updates: list[Vector]) -> None:
        self.start, self.mean = start, combination(start.fed.weights, updates)
        self.update2, self.mean_update2 = inner(start.fed.weights, list(map(norm2, updates))), norm2(self.mean)

    def after2(self, server_step_size: Fraction) -> Fraction:
        """Return the squared distance from w* after the server's step."""
        return self.start.away2(self.start.w + server_step_size * self.mean)


def _drawn(rng: np.random.Generator) -> tuple[Start, int, Updates, dict[str, Any]]:
    s, tau = Start(rng, 2, common_minimizer=True), whole(rng, 1, 4)
    models = [s.w] * s.fed.num_clients
    for _ in range(tau):
        models = [s.moved(k, w) for k, w in enumerate(models)]
    return s, tau, Updates(s, [y - s.w for y in models]), s.instance | {"local_steps": tau}


@claim(
    "fedexp:one-round",
    "A round of local steps below 2/L with any factor of the mean update, for clients with a common minimizer",
    fedexp.one_round,
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    s, tau, updates, instance = _drawn(rng)
    alpha = Fraction(whole(rng, 1, 24), 8)
    known = {"L": s.known["L"], "step_size": s.eta, "update2": updates.update2, "mean_update2": updates.mean_update2}
    bound = fedexp.one_round(s.away2(s.w), local_steps=tau, server_step_size=alpha, **known)
    return at_most(updates.after2(alpha), bound, instance=instance | {"server_step_size": str(alpha)})


@claim(
    "fedexp:step",
    "The factor max(1, update2/(2 mean_update2)) of the mean update never increases the distance from w*",
    _STEP,
    hypotheses=(*_COMMON, "step_size < 2/L"),
    looseness=1.05,
)
def step(rng: np.random.Generator) -> Finding:
    s, _, updates, instance = _drawn(rng)
    ratio = updates.update2 / updates.mean_update2 if updates.mean_update2 else Fraction(0)
    return at_most(updates.after2(max(Fraction(1), ratio / 2)), s.away2(s.w), instance=instance)


@claim(
    "fedexp:proximal",
    "A round of proximal steps satisfies the same bound with 2 in place of 1 + (2 - eta L)/(tau eta L)",
    _PROX,
    hypotheses=_COMMON,
    looseness=1.01,
)
def proximal(rng: np.random.Generator) -> Finding:
    s = Start(rng, common_minimizer=True)
    gamma, alpha = Fraction(whole(rng, 1, 40), 8), Fraction(whole(rng, 1, 24), 8)
    moves = [
        Vector(gamma * h * (c - x) / (1 + gamma * h) for h, c, x in zip(curvatures, center, s.w, strict=True))
        for curvatures, center in zip(s.fed.curvatures, s.fed.centers, strict=True)
    ]
    updates = Updates(s, moves)
    bound = s.away2(s.w) - 2 * alpha * updates.update2 + alpha**2 * updates.mean_update2
    instance = s.instance | {"proximal step": str(gamma), "server_step_size": str(alpha)}
    return at_most(updates.after2(alpha), bound, instance=instance)


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
