"""Stationary points of averaging and normalized averaging on random quadratics in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import stationary as st
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.draws import draw_model, draw_shares
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import combination, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_POINT = Statement(FEDTHEORY, "stationary points on quadratics", related=(st.PAPER, "Appendix"), form="derived")
_GUESS = Statement(
    FEDTHEORY, "FedNova with a fixed step size, one reading", related=(st.PAPER, "Appendix"), form="derived"
)
_LINEAR = ("all clients take part with exact gradients and a fixed step size",)


def case(rng: np.random.Generator) -> list[Case]:
    return [Case(rng)]


def case_of_fednova(rng: np.random.Generator) -> list[Case]:
    """Draw clients whose step size is also below 2/(L times the effective number of steps)."""
    s = Case(rng)
    s.eta *= min(Fraction(1), Fraction(19, 10) / s.effective)
    return [s]


@step("stationary:normalized", _POINT, case, kind="identity", hypotheses=_LINEAR)
def normalized(s: Case) -> Chain:
    """The stationary point of FedNova is a fixed point of a round"""
    point = s.fed.normalized(s.eta, s.taus)
    return norm2(s.fed.round(point, s.eta, s.taus, normalize=True) - point), "=", 0


@step("stationary:contraction", st.averaging_distance, case)
def contraction(s: Case) -> Chain:
    """Two rounds of averaging contract the distance to the stationary point at the rate of gradient steps"""
    point, model = s.fed.averaging(s.eta, s.taus), s.model
    for _ in range(2):
        model = s.fed.round(model, s.eta, s.taus)
    known = {"step_size": s.eta, "mu": s.mu, "L": s.L, "stationary_distance2": norm2(s.model - point)}
    return norm2(model - point), "<=", st.averaging_distance(2, local_steps=min(s.taus), **known)


@step("stationary:normalized-contraction", st.normalized_round, case_of_fednova)
def normalized_contraction(s: Case) -> Chain:
    """A round of FedNova contracts the distance to its stationary point at the rate of a client of curvature mu with
    the most steps"""
    point, after = s.fed.normalized(s.eta, s.taus), s.fed.round(s.model, s.eta, s.taus, normalize=True)
    known = {"step_size": s.eta, "mu": s.mu, "L": s.L, "effective_steps": s.effective}
    return norm2(after - point), "<=", st.normalized_round(norm2(s.model - point), local_steps=max(s.taus), **known)


@claim(
    "stationary:fednova-diverges",
    "FedNova contracts the distance to its stationary point whenever averaging does, with steps up to 1/L",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="with 1 and 9 steps on parabolas a round multiplies the error by -16/9; averaging converges in one round",
)
def fednova_diverges() -> Finding:
    one = vector(1)
    fed = StationaryPoints(((one,),) * 2, (vector(0),) * 2, vector("1/2", "1/2"))
    after = fed.round(one, Fraction(1), (1, 9), normalize=True)
    return at_most(norm2(after), norm2(one), instance={"local_steps": "(1, 9)", "step_size": "1"})


@claim(
    "stationary:unbiased",
    "Averaging with equal local steps converges to the minimizer if the Hessians are equal, or for one local step",
    _POINT,
    "identity",
    hypotheses=_LINEAR,
)
def unbiased(rng: np.random.Generator) -> Finding:
    s = Case(rng, equal=True)
    if whole(rng, 0, 1):
        s.fed = StationaryPoints(s.fed.hessians[:1] * len(s.taus), s.fed.centers, s.fed.weights)
    else:
        s.taus = (1,) * len(s.taus)
    return equal_to(norm2(s.fed.averaging(s.eta, s.taus) - s.fed.minimizer), Fraction(0), instance=s.instance)


class Surrogate:
    """Gradients of clients at a model, weights p and q, and the constants of FedNova's Theorem 2."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.p = draw_shares(rng, whole(rng, 2, 4))
        q = draw_shares(rng, len(self.p))
        gradients = [draw_model(rng, 2) for _ in q]
        self.gradient2 = norm2(combination(self.p, gradients))
        surrogate2, beta2 = norm2(combination(q, gradients)), 1 + Fraction(whole(rng, 0, 4), 4)
        spread = sum(b * norm2(g) for b, g in zip(q, gradients, strict=True)) - beta2 * surrogate2
        chi2 = sum((a - b) ** 2 / b for a, b in zip(self.p, q, strict=True))
        self.known = {"chi2": chi2, "beta2": beta2, "kappa2": max(spread, Fraction(0))}
        self.known |= {"surrogate_gradient2": surrogate2}
        self.instance = {"p": str(self.p), "q": str(q), "gradients": format_vectors(gradients), "beta2": str(beta2)}


def _surrogate(rng: np.random.Generator) -> list[Surrogate]:
    return [Surrogate(rng)]


@step("stationary:theorem-2", st.inconsistency.printed, _surrogate)
def theorem_2(s: Surrogate) -> Chain:
    """The gradient of F at a model, by that of a surrogate with other weights; the floor is 2 chi2 kappa2"""
    return s.gradient2, "<=", st.inconsistency.printed(**s.known)


@claim(
    "stationary:averaging-guess",
    "Averaging with a fixed step size and equal local steps converges to the minimizer of the mean loss",
    Statement(
        FEDTHEORY, "averaging with a fixed step size, one reading", related=(st.PAPER, "Appendix"), form="derived"
    ),
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="two steps of 1/4 on parabolas of curvatures 1 and 3 around 0 and 1: the limit is 15/22 instead of 3/4",
)
def averaging_guess() -> Finding:
    one = vector(1)
    fed = StationaryPoints(((one,), (vector(3),)), (vector(0), one), vector("1/2", "1/2"))
    point = fed.averaging(Fraction(1, 4), (2, 2))
    return equal_to(point[0], fed.minimizer[0], instance={"local_steps": "(2, 2)", "step_size": "1/4"})


@claim(
    "stationary:fednova-guess",
    "FedNova converges to the minimizer if all Hessians are equal, like averaging with equal local steps",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="normalization corrects only the limit of small steps; here the limit is 3439/7439 instead of 1/2",
)
def fednova_guess() -> Finding:
    one = vector(1)
    fed = StationaryPoints(((one,),) * 2, (vector(0), one), vector("1/2", "1/2"))
    point = fed.normalized(Fraction(1, 10), (1, 4))
    return equal_to(point[0], fed.minimizer[0], instance={"local_steps": "(1, 4)", "step_size": "1/10"})


@claim(
    "stationary:lemma-1",
    "On |w - e_k|^2/2, tau_k sufficiently short local steps converge to sum_k tau_k e_k/sum_k tau_k",
    Statement(st.PAPER, "Lemma 1"),
    "erratum",
    hypotheses=(*_LINEAR, "the clients have equal weights"),
    remark=(
        "the limit has the weights 1 - (1 - eta)^tau_k in place of tau_k: 0.7976 here instead of 0.8. They are"
        " proportional to the tau_k for no eta > 0, unless these are equal. The lemma holds in the limit eta -> 0"
    ),
)
def lemma_1() -> Finding:
    one = vector(1)
    fed = StationaryPoints(((one,),) * 2, (vector(0), one), vector("1/2", "1/2"))
    eta, taus = Fraction(1, 100), (1, 4)
    known = {"e": "(0, 1)", "local_steps": str(taus), "step_size": str(eta)}
    return equal_to(fed.averaging(eta, taus)[0], Fraction(4, 5), instance=known)


@step("stationary:short-steps", _POINT, case, kind="rate", hypotheses=_LINEAR)
def short_steps(s: Case) -> Chain:
    """The distance of the limit of averaging from the minimizer of sum_k p_k tau_k F_k is of first order: it is divided
    by about 10 if eta is divided by 10"""
    eta, limit = 1 / (10_000 * s.L), s.fed.inconsistent_minimizer(s.taus)

    def away2(eta: Fraction) -> Fraction:
        return norm2(s.fed.averaging(eta, s.taus) - limit)

    # Squared, a factor 1/100, plus one percent for the next order, which is about 10^-4 tau of this one.
    return away2(eta / 10), "<=", Fraction(101, 100) * away2(eta) / 100
