"""Average drift at the minimizer on random quadratics in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import average_drift as ad
from fedtheory.bounds import sgd
from fedtheory.claims._comparisons import Chain, compared, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import inner, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_DRIFT = Statement(
    FEDTHEORY, "average drift at the optimum, on quadratics", related=(ad.PAPER, "Abstract"), form="derived"
)
_GUESS = Statement(FEDTHEORY, "no drift, one reading", related=(ad.PAPER, "Abstract"), form="derived")
_LINEAR = ("all clients take part with exact gradients and a fixed step size",)


def equal_case(rng: np.random.Generator) -> list[Case]:
    return [Case(rng, equal=True)]


def stable_case(rng: np.random.Generator) -> list[Case]:
    """Draw clients with equal numbers of steps and ``step_size (L + mu) < 2``."""
    s = Case(rng, equal=True)
    s.eta *= 1 if s.mu < s.L else Fraction(15, 16)
    return [s]


def _drift2(s: Case) -> Fraction:
    return norm2(s.fed.drift(s.eta, s.taus[0]))


@step("average-drift:closed-form", _DRIFT, equal_case, kind="identity", hypotheses=_LINEAR)
def closed_form(s: Case) -> Chain:
    """A round moves the minimizer by eta tau times the average drift, sum_k p_k sum_s (I - eta H_k)^s h_k / tau"""
    best, tau = s.fed.minimizer, s.taus[0]
    return norm2(best - s.eta * tau * s.fed.drift(s.eta, tau) - s.fed.round(best, s.eta, s.taus)), "=", 0


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
    "average-drift:attained",
    "Two parabolas with the curvatures mu and (1 + 10^-6) mu and large slopes at w* attain the bound for three rounds",
    ad.fixed_step_distance,
    "rate",
    remark="up to a relative difference of 10^-4, since the second curvature is not exactly mu",
)
def attained(rng: np.random.Generator) -> Finding:
    mu, tau = Fraction(whole(rng, 1, 30), 10), whole(rng, 2, 4)
    higher, eta = mu * (1 + Fraction(1, 10**6)), Fraction(whole(rng, 1, 9), 10) / mu
    slope, start = Fraction(10**6 * whole(rng, 1, 30), 10), Fraction(whole(rng, 1, 90), 10)
    half = vector("1/2", "1/2")
    # From w* = 0 the gradient of the second client shrinks faster. The first, with a positive minimizer, prevails.
    fed = StationaryPoints(((vector(mu),), (vector(higher),)), (vector(slope / mu), vector(-slope / higher)), half)
    known = {"step_size": eta, "mu": mu, "L": higher, "local_steps": tau, "drift2": norm2(fed.drift(eta, tau))}
    bound, model = ad.fixed_step_distance(3, initial_distance2=start**2, **known), vector(start)
    for _ in range(3):
        model = fed.round(model, eta, (tau, tau))
    instance = {name: str(value) for name, value in known.items()} | {"slope": str(slope), "start": str(start)}
    return compared(((1 - Fraction(1, 10**4)) * bound, "<=", norm2(model), "<=", bound), instance)


@step("average-drift:bias", _DRIFT, equal_case, hypotheses=(*_LINEAR, "step_size <= 1/L"))
def bias(s: Case) -> Chain:
    """eta tau times the drift is between 1 - (1 - eta mu)^tau and 1 - (1 - eta L)^tau times the bias of averaging"""
    bias2 = norm2(s.fed.averaging(s.eta, s.taus) - s.fed.minimizer)
    least, most = ((1 - (1 - s.eta * h) ** s.taus[0]) ** 2 for h in (s.mu, s.L))
    return least * bias2, "<=", (s.eta * s.taus[0]) ** 2 * _drift2(s), "<=", most * bias2


@step(
    "average-drift:heterogeneity",
    _DRIFT,
    stable_case,
    hypotheses=_LINEAR,
    looseness=4,
    remark="the right-hand side is for all functions of the class, the left-hand side for quadratics",
)
def heterogeneity(s: Case) -> Chain:
    """The drift is at most what the heterogeneity zeta2 allows a round to move the minimizer"""
    zeta2 = inner(s.fed.weights, list(map(norm2, s.fed.gradients)))
    known = {"step_size": s.eta, "mu": s.mu, "L": s.L, "local_steps": s.taus[0], "zeta2": zeta2}
    return (s.eta * s.taus[0]) ** 2 * _drift2(s), "<=", sgd.local_steps_round(Fraction(0), **known)


@claim(
    "average-drift:equal-hessians",
    "The average drift is 0 if all Hessians are equal, or for one local step, whatever the gradients at the minimizer",
    _DRIFT,
    "identity",
    hypotheses=_LINEAR,
)
def equal_hessians(rng: np.random.Generator) -> Finding:
    s = Case(rng, equal=True)
    if whole(rng, 0, 1):
        s.fed = StationaryPoints(s.fed.hessians[:1] * len(s.taus), s.fed.centers, s.fed.weights)
    else:
        s.taus = (1,) * len(s.taus)
    return equal_to(_drift2(s), Fraction(0), instance=s.instance)


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
