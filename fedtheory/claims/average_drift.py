"""Average drift at the minimizer on random quadratics in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import average_drift as ad
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.findings import Finding, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_GUESS = Statement(FEDTHEORY, "no drift, one reading", related=(ad.PAPER, "Abstract"), form="derived")
_LINEAR = ("all clients take part with exact gradients and a fixed step size",)


def stable_case(rng: np.random.Generator) -> list[Case]:
    """Draw clients with equal numbers of steps and ``step_size (L + mu) < 2``."""
    s = Case(rng, equal=True)
    s.eta *= 1 if s.mu < s.L else Fraction(15, 16)
    return [s]


def _drift2(s: Case) -> Fraction:
    return norm2(s.fed.drift(s.eta, s.taus[0]))


@step("average-drift:fixed-step-distance", ad.fixed_step_distance, stable_case)
def fixed_step_distance(s: Case) -> Chain:
    """Up to three rounds of all clients with equal local steps and step sizes up to 1/L"""
    best, model, bounds = s.fed.minimizer, s.model, []
    known = {"step_size": s.eta, "mu": s.mu, "L": s.L, "local_steps": s.taus[0], "drift2": _drift2(s)}
    for num_rounds in (1, 2, 3):
        model = s.fed.round(model, s.eta, s.taus)
        bound = ad.fixed_step_distance(num_rounds, initial_distance2=norm2(s.model - best), **known)
        bounds.append((norm2(model - best), "<=", bound))
    return bounds


@claim(
    "average-drift:more-steps-guess",
    "If the average drift is 0 for two local steps of every size, it is 0 for three local steps",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="sum_k p_k H_k h_k = 0 removes the drift of two steps; three steps have eta^2 sum_k p_k H_k^2 h_k / 3",
)
def more_steps_guess() -> Finding:
    hessians = tuple((vector(h),) for h in (1, 2, 3))
    fed = StationaryPoints(hessians, (vector(-1), vector(1), vector("-1/3")), vector("1/3", "1/3", "1/3"))
    two, three = (norm2(fed.drift(Fraction(1, 4), tau)) for tau in (2, 3))
    return equal_to(three, two, instance={"gradients": str(fed.gradients), "step_size": "1/4", "local_steps": "3"})
