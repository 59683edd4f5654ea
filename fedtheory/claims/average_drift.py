"""Average drift at the minimizer on random quadratics in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import average_drift as ad
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.vectors import norm2


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
