"""Where averaging and normalized averaging come to rest, on random quadratics in rationals."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.bounds import stationary as st
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.stationary_points import StationaryPoints
from fedtheory.rational.vectors import Vector, difference, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_POINT = Statement(st.PAPER, "Appendix", equation="stationary points on quadratics", form="derived")
_GUESS = Statement(st.PAPER, "Appendix", equation="FedNova with a fixed step size, as one may read it", form="derived")
_LINEAR = ("all clients take part with exact gradients and a fixed step size",)


class _Case(NamedTuple):
    """Clients with full Hessians, a step size up to 1/L, and local steps of their own."""

    fed: StationaryPoints
    step_size: Fraction
    local_steps: tuple[int, ...]
    mu: Fraction
    L: Fraction

    @property
    def words(self) -> dict[str, object]:
        return {
            "hessians": "; ".join(", ".join(map(in_words, h)) for h in self.fed.hessians),
            "centers": ", ".join(map(in_words, self.fed.centers)),
            "weights": in_words(self.fed.weights),
            "step_size": str(self.step_size),
            "local_steps": str(self.local_steps),
        }


def _turned(diagonal: Vector, turns: bool) -> tuple[Vector, ...]:
    """Return a symmetric matrix with these eigenvalues, turned by the angle of 3/5 and 4/5 or not at all."""
    if len(diagonal) == 1:
        return (diagonal,)
    a, b = diagonal
    c, s = (Fraction(3, 5), Fraction(4, 5)) if turns else (Fraction(1), Fraction(0))
    across = c * s * (a - b)
    return (c * c * a + s * s * b, across), (across, s * s * a + c * c * b)


def _draw(rng: np.random.Generator, *, equal: bool = False) -> _Case:
    drawn = draw_federation(rng)
    hessians = tuple(_turned(h, whole(rng, 0, 1) == 1) for h in drawn.curvatures)
    share = pick(rng, [Fraction(1), *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
    first = whole(rng, 1, 4)
    steps = tuple(first if equal else whole(rng, 1, 4) for _ in hessians)
    fed = StationaryPoints(hessians, drawn.centers, drawn.weights)
    return _Case(fed, share / drawn.smoothness, steps, drawn.strong_convexity, drawn.smoothness)


@claim(
    "stationary:averaging",
    "A round of averaging leaves its stationary point where it is",
    _POINT,
    "identity",
    hypotheses=_LINEAR,
)
def averaging(rng: np.random.Generator) -> Finding:
    case = _draw(rng)
    point = case.fed.averaging(case.step_size, case.local_steps)
    after = case.fed.round(point, case.step_size, case.local_steps)
    return equal_to(norm2(difference(after, point)), Fraction(0), instance=case.words)


@claim(
    "stationary:normalized",
    "A round of FedNova leaves its stationary point where it is",
    _POINT,
    "identity",
    hypotheses=_LINEAR,
)
def normalized(rng: np.random.Generator) -> Finding:
    case = _draw(rng)
    point = case.fed.normalized(case.step_size, case.local_steps)
    after = case.fed.round(point, case.step_size, case.local_steps, normalize=True)
    return equal_to(norm2(difference(after, point)), Fraction(0), instance=case.words)


@claim(
    "stationary:contraction",
    "Two rounds of averaging come closer to the stationary point as fast as gradient steps contract",
    st.averaging_distance,
    looseness=1.01,
)
def contraction(rng: np.random.Generator) -> Finding:
    case = _draw(rng)
    point, model = case.fed.averaging(case.step_size, case.local_steps), draw_model(rng, len(case.fed.centers[0]))
    first = norm2(difference(model, point))
    for _ in range(2):
        model = case.fed.round(model, case.step_size, case.local_steps)
    bound = st.averaging_distance(
        2, step_size=case.step_size, mu=case.mu, L=case.L, local_steps=min(case.local_steps), stationary_distance2=first
    )
    return at_most(norm2(difference(model, point)), bound, instance=case.words)


@claim(
    "stationary:unbiased",
    "Averaging with equal local steps rests at the minimizer if the Hessians are equal, or with one local step",
    _POINT,
    "identity",
    hypotheses=_LINEAR,
)
def unbiased(rng: np.random.Generator) -> Finding:
    case = _draw(rng, equal=True)
    fed, steps = case.fed, case.local_steps
    if whole(rng, 0, 1):
        fed = StationaryPoints(fed.hessians[:1] * len(steps), fed.centers, fed.weights)
    else:
        steps = (1,) * len(steps)
    off = norm2(difference(fed.averaging(case.step_size, steps), fed.minimizer))
    shown = case._replace(fed=fed, local_steps=steps).words
    return equal_to(off, Fraction(0), instance=shown)


@claim(
    "stationary:second-order",
    "After eta e1 + eta^2 e2 the bias of averaging is of third order: a tenth of eta leaves about a thousandth of it",
    _POINT,
    "rate",
    hypotheses=_LINEAR,
)
def second_order(rng: np.random.Generator) -> Finding:
    case = _draw(rng, equal=True)
    tau, first = case.local_steps[0], 1 / (10_000 * case.L)
    e1, e2 = case.fed.bias(tau)

    def rest(eta: Fraction) -> Fraction:
        point = difference(case.fed.averaging(eta, case.local_steps), case.fed.minimizer)
        return norm2(tuple(x - eta * a - eta**2 * b for x, a, b in zip(point, e1, e2, strict=True)))

    # squared: a millionth, and a per cent for the next order, which is 10^-4 tau of this one
    return at_most(rest(first / 10), Fraction(101, 100) * rest(first) / 10**6, instance=case.words)


@claim(
    "stationary:fednova-guess",
    "FedNova rests at the minimizer if all Hessians are equal, as averaging with equal local steps does",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="normalizing repairs the limit of short steps only: here 3439/7439 is in the place of 1/2",
)
def fednova_guess() -> Finding:
    one, half = Fraction(1), Fraction(1, 2)
    fed = StationaryPoints((((one,),),) * 2, ((Fraction(0),), (one,)), (half, half))
    point = fed.normalized(Fraction(1, 10), (1, 4))
    return equal_to(point[0], fed.minimizer[0], instance={"local_steps": "(1, 4)", "step_size": "1/10"})
