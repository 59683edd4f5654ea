"""Where small steps of Power-of-Choice settle: a floor that is known, and the inequality behind the floor theorem."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.exact.floor import error_floor
from fedtheory.rational._averaging import RationalRun
from fedtheory.rational._constants import observed_gradient_bound
from fedtheory.rational._words import federation_in_words, in_words, run_in_words
from fedtheory.rational.draws import draw_noise, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import difference, norm2, vector
from fedtheory.sampling.cohorts import power_of_choice
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to


class Crossing(NamedTuple):
    """Two parabolas that cross, between their minimizers, at the point where the larger of them is smallest."""

    federation: RationalQuadratics
    floor: tuple[Fraction]


def draw_crossing(rng: np.random.Generator) -> Crossing:
    """Draw curvatures, centers on both sides of a point, weights, and minima that make the losses equal there."""
    floor = Fraction(whole(rng, -4, 4), 2)
    stiffness = [Fraction(2) ** whole(rng, -2, 2) for _ in range(2)]
    reach = [Fraction(whole(rng, 1, 8), 2) for _ in range(2)]
    share = Fraction(whole(rng, 1, 7), 8)
    excess = [h * r * r / 2 for h, r in zip(stiffness, reach, strict=True)]
    fed = RationalQuadratics(
        curvatures=((stiffness[0],), (stiffness[1],)),
        centers=((floor - reach[0],), (floor + reach[1],)),
        weights=(share, 1 - share),
        minima=(max(excess) - excess[0], max(excess) - excess[1]),
    )
    return Crossing(fed, (floor,))


@claim(
    "exact-quadratics:floor-of-two-parabolas",
    "The floor of pow-d with one of two clients is where their losses cross between their minimizers",
    Statement(PAPER, "Section 5", "error floor", form="derived"),
    "identity",
)
def floor_of_two_parabolas(rng: np.random.Generator) -> Finding:
    fed, floor = draw_crossing(rng)
    found = error_floor(fed.rounded(), PowerOfChoice(1, 2)).minimizer[0]
    return equal_to(float(found), float(floor[0]), instance=federation_in_words(fed), scale=1.0)


def round_bound(
    start2: Fraction, *, step_size: Fraction, local_steps: int, fed: RationalQuadratics, G2: Fraction
) -> Fraction:
    """``(1 - eta mu tau) |u - w|^2 + eta^2 tau^2 G2 (1 + eta L^2 (tau - 1)^2/(4 mu tau))`` for the floor's model w."""
    mu, L, tau, eta = fed.strong_convexity, fed.smoothness, local_steps, step_size
    drift = eta * L**2 * (tau - 1) ** 2 / (4 * mu * tau)
    return (1 - eta * mu * tau) * start2 + eta**2 * tau**2 * G2 * (1 + drift)


@claim(
    "exact-quadratics:settling",
    "One round of pow-d contracts the squared distance from its floor's model, up to O(eta^2)",
    Statement(PAPER, "Section 5", "error floor", form="derived"),
    hypotheses=(
        "every F_k is L-smooth and mu-strongly convex",
        "the frequencies of the clients maximize their mean loss over a fixed set",
        "E 1/m sum_k |g_k|^2 <= G2 over the active clients",
    ),
    looseness=1.01,
)
def one_round_settles(rng: np.random.Generator) -> Finding:
    fed, floor = draw_crossing(rng)
    local_steps = whole(rng, 1, 4)
    eta = Fraction(whole(rng, 1, 8), 8) / fed.smoothness
    start = floor if whole(rng, 0, 3) == 0 else vector(Fraction(whole(rng, -16, 16), 4))
    run = RationalRun(
        federation=fed,
        select=lambda w: power_of_choice(fed.weights, fed.losses(w), 1, 2),
        local_steps=local_steps,
        step_size=lambda _: eta,
        initial=start,
        num_steps=local_steps,
        noise=draw_noise(rng, 1),
    )
    start2 = norm2(difference(start, floor))
    end2 = Fraction(run.snapshots[local_steps].mean(lambda at: norm2(difference(at.average, floor))))
    G2 = observed_gradient_bound(run)
    bound = round_bound(start2, step_size=eta, local_steps=local_steps, fed=fed, G2=G2)
    return at_most(end2, bound, instance=run_in_words(run, law="largest loss of two", floor=in_words(floor)))
