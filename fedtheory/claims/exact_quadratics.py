"""Error floors of Power-of-Choice with small step sizes: the bias, and the inequality behind the floor theorem."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds.power_of_choice import PAPER
from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact.floor import error_floor
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.instances.draws import draw_noise
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_run
from fedtheory.instances.observed import observed_gradient_bound
from fedtheory.instances.runs import RationalRun
from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.sampling.cohorts import power_of_choice
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement


@claim(
    "exact-quadratics:small-step-bias",
    "The error floor of small steps is at most objective_gap (rho_tilde / rho_diagonal - 1)",
    Statement(FEDTHEORY, "the bias term", related=(PAPER, "Theorem 3.1"), form="refined"),
    hypotheses=("every F_k is convex", "step sizes small enough for convergence"),
    looseness=2,
    remark="the paper's bias term is 8 L/(3 mu) times as large, and has rho_bar for rho_diagonal",
)
def small_step_bias(rng: np.random.Generator) -> Finding:
    num_clients, seed = whole(rng, 3, 12), whole(rng, 0, 2**31)
    d = whole(rng, 2, num_clients)
    m = whole(rng, 1, d)
    fed, strategy = power_of_choice_quadratics(num_clients=num_clients, dim=3, rng=seed), PowerOfChoice(m, d)
    instance = {"clients": f"Appendix F, K = {num_clients}, v = 3, seed {seed}", "m": m, "d": d}
    skews = selection_skew(fed, strategy, num_models=40)
    bias = fed.objective_gap * (skews.rho_tilde.upper / skews.rho_diagonal.lower - 1)
    return at_most(error_floor(fed, strategy).value, bias, instance=instance)


def draw_crossing(rng: np.random.Generator) -> tuple[RationalQuadratics, Vector]:
    """Draw two parabolas that cross between their minimizers, and the point where the larger one is smallest.

    Their minima are chosen so that the losses are equal there.
    """
    floor = Fraction(whole(rng, -4, 4), 2)
    h = [Fraction(2) ** whole(rng, -2, 2) for _ in range(2)]
    reach = [Fraction(whole(rng, 1, 8), 2) for _ in range(2)]
    share = Fraction(whole(rng, 1, 7), 8)
    excess = [a * r * r / 2 for a, r in zip(h, reach, strict=True)]
    centers = (vector(floor - reach[0]), vector(floor + reach[1]))
    minima = vector(max(excess) - excess[0], max(excess) - excess[1])
    fed = RationalQuadratics((vector(h[0]), vector(h[1])), centers, vector(share, 1 - share), minima)
    return fed, vector(floor)


def round_bound(
    start2: Fraction, *, step_size: Fraction, local_steps: int, fed: RationalQuadratics, G2: Fraction
) -> Fraction:
    """Return ``(1 - eta mu tau) |u - w|^2 + eta^2 tau^2 G2 (1 + eta L^2 (tau - 1)^2/(4 mu tau))``."""
    mu, L, tau, eta = fed.strong_convexity, fed.smoothness, local_steps, step_size
    drift = eta * L**2 * (tau - 1) ** 2 / (4 * mu * tau)
    return (1 - eta * mu * tau) * start2 + eta**2 * tau**2 * G2 * (1 + drift)


@claim(
    "exact-quadratics:settling",
    "One round of pow-d contracts the squared distance from the model of its floor, up to O(eta^2)",
    Statement(FEDTHEORY, "error floor", related=(PAPER, "Section 5"), form="derived"),
    hypotheses=(
        "every F_k is L-smooth and mu-strongly convex",
        "the frequencies of the clients maximize their mean loss over a fixed set",
        "E 1/m sum_k |g_k|^2 <= G2 over the active clients",
    ),
    looseness=1.01,
)
def one_round_settles(rng: np.random.Generator) -> Finding:
    fed, floor = draw_crossing(rng)
    tau = whole(rng, 1, 4)
    eta = Fraction(whole(rng, 1, 8), 8) / fed.smoothness
    start = floor if whole(rng, 0, 3) == 0 else vector(Fraction(whole(rng, -16, 16), 4))
    noise = draw_noise(rng, 1)
    run = RationalRun(
        fed, lambda w: power_of_choice(fed.weights, fed.losses(w), 1, 2), tau, lambda _: eta, start, tau, noise
    )
    end2 = Fraction(run.snapshots[tau].mean(lambda at: norm2(at.average - floor)))
    G2 = observed_gradient_bound(run)
    bound = round_bound(norm2(start - floor), step_size=eta, local_steps=tau, fed=fed, G2=G2)
    return at_most(end2, bound, instance=format_run(run, law="largest loss of two", floor=str(floor)))
