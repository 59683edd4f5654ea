"""Optimal Client Sampling, Appendices C and D: the steps (34), (37) and (38) of the proofs, in their derived forms."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER, fedavg_strongly_convex
from fedtheory.claims.optimal_client_sampling._checks import landing, standing
from fedtheory.rational._round_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import SampledRound
from fedtheory.rational.vectors import combination, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, worst_of

_STEPS = tuple(hypothesis.text for hypothesis in fedavg_strongly_convex.hypotheses)


@claim(
    "optimal-client-sampling:equation-34",
    "E f(x+) <= f(x) - eta |grad f(x)|^2 + eta^2 L/2 E |G|^2 for a step of DSGD",
    Statement(PAPER, "Appendix C.2", "eq. (34)"),
    hypotheses=("f is L-smooth", "E G = grad f(x)"),
    looseness=1.01,
)
def equation_34(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    eta, gradient2 = drawn.step_size, norm2(combination(clients.weights, drawn.gradients()))
    predicted = clients.value(drawn.model) - eta * gradient2 + eta**2 * clients.smoothness / 2 * drawn.second_moment
    return at_most(Fraction(drawn.models.mean(clients.value)), predicted, instance=instance)


@claim(
    "optimal-client-sampling:equation-37",
    "E |r+|^2 <= (1 - mu eta/2) |r|^2 - 3/2 eta R + 11/4 eta L drift + eta^2 (...), and the line before",
    Statement(PAPER, "Appendix D.1", "eq. (37)", form="derived"),
    hypotheses=_STEPS,
    looseness=1.01,
)
def equation_37(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=3)
    at, eta, L, noise = standing(drawn, fed), drawn.step_size, fed.smoothness, drawn.noise_length**2
    contracted = (1 - fed.strong_convexity * eta / 2) * at["distance2"]
    first = contracted - 2 * eta * at["gap"] + 2 * eta * L * drawn.drift + eta**2 * drawn.second_moment
    B = 1 + drawn.noise_factor**2 / drawn.local_steps
    variances = 4 * L * max(fed.weights) * (B / drawn.gamma - 1) * fed.objective_gap
    variances += Fraction(4, 3) * noise * norm2(fed.weights) / (drawn.local_steps * drawn.gamma)
    descent = Fraction(11, 4) * eta * L * drawn.drift - Fraction(3, 2) * eta * at["gap"]
    second = contracted + descent + eta**2 * variances
    return worst_of([at_most(landing(drawn, fed), first, instance=instance), at_most(first, second, instance=instance)])


def allowed_steps(drawn: SampledRound, L: Fraction, instance: dict[str, Any]) -> list[Finding]:
    """Compare with their limits what the proof takes from the conditions on the step sizes."""
    length, M = L * drawn.step_size, drawn.noise_factor**2 / drawn.local_steps
    return [
        at_most(length * (1 + max(drawn.weights) * M) / drawn.gamma, Fraction(1, 8), instance=instance),
        at_most(4 * (1 + M) * length**2, Fraction(1, 64), instance=instance),
        at_most(length, Fraction(1, 16), instance=instance),
        at_most(1 / drawn.server_step_size**2, norm2(drawn.weights) / drawn.gamma, instance=instance),
    ]


@claim(
    "optimal-client-sampling:equation-38",
    "eta L (1 + W M/R)/gamma <= 1/8, 4 (1 + M/R) (L eta)^2 <= 1/64, L eta <= 1/16 and 1/eta_g^2 <= S2/gamma",
    Statement(PAPER, "Appendix D.1", "eq. (38)", form="derived"),
    hypotheses=_STEPS,
    looseness=1.01,
)
def equation_38(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng, longest_round=3)
    return worst_of(allowed_steps(drawn, fed.smoothness, instance))
