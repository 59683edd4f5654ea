"""Optimal Client Sampling: the assumptions, Theorems 13 and 15 for DSGD, and steps of the proofs in Appendices C, D."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.optimal_client_sampling import PAPER, fedavg_strongly_convex
from fedtheory.claims._comparisons import ascending
from fedtheory.claims.optimal_client_sampling._checks import distance2_after, round_constants, squared_weight
from fedtheory.rational._run_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._sampled_rounds import SampledRound, everybody, optimal_law
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_phi, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

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
    at, eta, L, noise = round_constants(drawn, fed), drawn.step_size, fed.smoothness, drawn.noise_length**2
    contracted = (1 - fed.strong_convexity * eta / 2) * at["distance2"]
    first = contracted - 2 * eta * at["gap"] + 2 * eta * L * drawn.drift + eta**2 * drawn.second_moment
    B = 1 + drawn.noise_factor**2 / drawn.local_steps
    variances = 4 * L * max(fed.weights) * (B / drawn.gamma - 1) * fed.objective_gap
    variances += Fraction(4, 3) * noise * norm2(fed.weights) / (drawn.local_steps * drawn.gamma)
    descent = Fraction(11, 4) * eta * L * drawn.drift - Fraction(3, 2) * eta * at["gap"]
    second = contracted + descent + eta**2 * variances
    return ascending([distance2_after(drawn, fed), first, second], instance)


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


@claim(
    "optimal-client-sampling:equations-8-9",
    "f_i(y) - f_i(x) - <grad f_i(x), y - x> >= mu/2 |y - x|^2 and |grad f_i(x) - grad f_i(y)| <= L |x - y|: quadratics",
    Statement(PAPER, "Definitions 5 and 6", "eqs. (8)-(9)"),
    looseness=1.01,
)
def equations_8_9(rng: np.random.Generator) -> Finding:
    fed, findings = draw_federation(rng), []
    x, y = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "x": in_words(x), "y": in_words(y)}
    for k in range(fed.num_clients):
        step, slopes = difference(y, x), (fed.gradient(k, x), fed.gradient(k, y))
        above = fed.excess(k, y) - fed.excess(k, x) - inner(slopes[0], step)
        findings += [
            at_most(fed.strong_convexity / 2 * norm2(step), above, instance=instance),
            at_most(norm2(difference(*slopes)), fed.smoothness**2 * norm2(step), instance=instance),
        ]
    return worst_of(findings)


@claim(
    "optimal-client-sampling:smooth-wells",
    "|grad f_i(x) - grad f_i(y)| <= L |x - y| with L = 2 max a_i for the wells a_i t^2/(1 + t^2)",
    Statement(PAPER, "Definition 6", "eq. (9)"),
    looseness=1.01,
)
def smooth_wells(rng: np.random.Generator) -> Finding:
    clients, findings = draw_phi(rng, 2), []
    unit = pick(rng, [Fraction(1), Fraction(1, 16)])
    for k, center in enumerate(clients.centers):
        x, y = ((center + unit * Fraction(whole(rng, -8, 8), 4),) for _ in range(2))
        apart = norm2(difference(clients.gradient(k, x), clients.gradient(k, y)))
        words = {"amplitudes": in_words(clients.amplitudes), "client": k, "x, y": f"{x[0]}, {y[0]}"}
        findings.append(at_most(apart, clients.smoothness**2 * norm2(difference(x, y)), instance=words))
    return worst_of(findings)


def _distance2(left: Vector, right: Vector) -> Fraction:
    return norm2(difference(left, right))


@claim(
    "optimal-client-sampling:assumption-7",
    "E g_i = grad f_i and E |g_i - grad f_i|^2 = M |grad f_i|^2 + sigma2; so E |g_i|^2 = (1 + M) |grad f_i|^2 + sigma2",
    Statement(PAPER, "Assumption 7", "eqs. (10)-(11)"),
    "identity",
    hypotheses=("the noise is the one of the rounds that are followed exactly",),
)
def assumption_7(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_quadratic_round(rng)
    known, findings = drawn.constants, []
    for law, gradient in zip(drawn.clients, drawn.gradients(), strict=True):
        square, M, sigma2 = norm2(gradient), known["relative_noise"], known["sigma2"]
        mean = combination(list(law.values()), [path.update for path in law])
        noise = law.map(lambda path: path.update).mean(partial(_distance2, gradient))
        findings += [
            equal_to(norm2(difference(mean, gradient)), Fraction(0), instance=instance),
            equal_to(noise, M * square + sigma2, instance=instance),
            equal_to(law.mean(lambda path: norm2(path.update)), (1 + M) * square + sigma2, instance=instance),
        ]
    return worst_of(findings)


@claim(
    "optimal-client-sampling:remark-10",
    "sum_i w_i |grad f_i - grad f|^2 = sum_i w_i |grad f_i|^2 - |grad f|^2, at most rho for the wells",
    Statement(PAPER, "Assumption 9 and Remark 10", "eq. (14)"),
    looseness=1.01,
)
def remark_10(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    gradients, weights = drawn.gradients(), clients.weights
    mean = combination(weights, gradients)
    apart = inner(weights, [norm2(difference(g, mean)) for g in gradients])
    squares = inner(weights, [norm2(g) for g in gradients])
    return worst_of(
        [
            equal_to(apart, squares - norm2(mean), instance=instance),
            at_most(apart, squares, instance=instance),
            at_most(apart, clients.dissimilarity, instance=instance),
        ]
    )


@claim(
    "optimal-client-sampling:second-moment-dsgd",
    "E |G|^2 <= ((1 + M)/gamma - 1) sum_i w_i^2 |grad f_i|^2 + |grad f|^2 + sigma2 S2/gamma, attained",
    ocs.dsgd_second_moment,
    "identity",
    also=("Assumption 7 holds with equality",),
)
def dsgd_second_moment(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    gradients = drawn.gradients()
    predicted = ocs.dsgd_second_moment(
        squared_weight_gradient2=squared_weight(fed.weights, gradients),
        gradient2=norm2(combination(fed.weights, gradients)),
        gamma=drawn.gamma,
        **drawn.constants,
    )
    return equal_to(drawn.second_moment, predicted, instance=instance)


@claim(
    "optimal-client-sampling:theorem-13",
    "one round of DSGD, f strongly convex, any step size: E |r+|^2 is at most the right side of (20)",
    ocs.dsgd_strongly_convex,
    looseness=1.01,
)
def dsgd_strongly_convex(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    predicted = ocs.dsgd_strongly_convex(**round_constants(drawn, fed), objective_gap=fed.objective_gap)
    return at_most(distance2_after(drawn, fed), predicted, instance=instance)


@claim(
    "optimal-client-sampling:theorem-13-attained",
    "(20) is an equality for equal weights and curvatures, everybody sampled and noise with equality",
    ocs.dsgd_strongly_convex,
    "identity",
    hypotheses=("f_i = L/2 |x - c_i|^2, w_i = 1/n, p_i = 1", "Assumption 7 holds with equality"),
)
def strongly_convex_attained(rng: np.random.Generator) -> Finding:
    num_clients, dim, curvature = whole(rng, 2, 3), whole(rng, 1, 2), Fraction(2) ** whole(rng, -2, 2)
    fed = RationalQuadratics(
        curvatures=((curvature,) * dim,) * num_clients,
        centers=tuple(draw_model(rng, dim) for _ in range(num_clients)),
        weights=(Fraction(1, num_clients),) * num_clients,
        minima=(Fraction(0),) * num_clients,
    )
    noise = Fraction(whole(rng, 0, 3), 2), Fraction(whole(rng, 0, 3), 2)
    step_size = Fraction(whole(rng, 1, 20), 10) / curvature
    drawn = SampledRound(
        fed.gradient,
        fed.weights,
        draw_model(rng, dim),
        everybody,
        step_size,
        noise_factor=noise[0],
        noise_length=noise[1],
    )
    predicted = ocs.dsgd_strongly_convex(**round_constants(drawn, fed), objective_gap=fed.objective_gap)
    return equal_to(
        distance2_after(drawn, fed), predicted, instance={"step_size": str(step_size), "clients": num_clients}
    )


@claim(
    "optimal-client-sampling:theorem-13-convex-clients",
    "Theorem 13 with the squared weights kept, sum_i w_i^2 |grad f_i(x*)|^2, for convex clients",
    ocs.dsgd_convex_clients,
    looseness=1.01,
)
def strongly_convex_clients(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    at_optimum = fed.gradients(fed.minimizer)
    predicted = ocs.dsgd_convex_clients(
        **round_constants(drawn, fed), squared_weight_optimum_gradient2=squared_weight(fed.weights, at_optimum)
    )
    return at_most(distance2_after(drawn, fed), predicted, instance=instance)


@claim(
    "optimal-client-sampling:equation-21",
    "with everybody sampled, E |r+|^2 <= (1 - mu eta) |r|^2 + eta^2 sigma2 sum_i w_i^2",
    ocs.full_participation,
    looseness=1.01,
)
def full_participation(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    step_size = Fraction(whole(rng, 1, 8), 8) / fed.smoothness
    drawn = replace(drawn, law=everybody, noise_factor=Fraction(0), step_size=step_size)
    predicted = ocs.full_participation(
        norm2(difference(drawn.model, fed.minimizer)),
        step_size=step_size,
        mu=min(combination(fed.weights, fed.curvatures)),
        L=fed.smoothness,
        sum_squared_weights=norm2(fed.weights),
        sigma2=drawn.noise_length**2,
    )
    words = {"law": "everybody", "step_size": str(step_size), "relative_noise": "0"}
    return at_most(distance2_after(drawn, fed), predicted, instance=instance | words)


def unequal_pair(
    model: str, step_size: str, *, law: Any = everybody, noise_factor: int = 1
) -> tuple[SampledRound, RationalQuadratics]:
    """Clients x^2/2 and (x - 1)^2/2 with weights 2/3 and 1/3, and a round of DSGD on them."""
    one = Fraction(1)
    fed = RationalQuadratics(((one,), (one,)), (vector(0), vector(1)), vector("2/3", "1/3"), vector(0, 0))
    drawn = SampledRound(
        fed.gradient, fed.weights, vector(model), law, Fraction(step_size), noise_factor=Fraction(noise_factor)
    )
    return drawn, fed


def variant(drawn: SampledRound, fed: RationalQuadratics) -> Fraction:
    """Right side of the variant of (20) with ``sum_i w_i^2 Z_i``."""
    gaps = fed.excesses(fed.minimizer)
    per_client = inner([w * w for w in fed.weights], gaps)
    return Fraction(ocs.dsgd_per_client_variant(**round_constants(drawn, fed), per_client_gap=per_client))


@claim(
    "optimal-client-sampling:theorem-13-per-client",
    "the variant of Theorem 13 with sum_i w_i^2 Z_i in the place of W sum_i w_i Z_i, unequal weights",
    ocs.dsgd_per_client_variant,
    "refuted conjecture",
    remark="f_i(x) - f_i(x*) has a sign; with equal weights the variant is Theorem 13 itself",
)
def per_client_variant() -> Finding:
    instances = {
        "x = 1/2, eta = 1/10, M = 1, everybody sampled": unequal_pair("1/2", "1/10"),
        "x = 5/6, eta = 3/5 (the R^k term vanishes), M = 1, everybody sampled": unequal_pair("5/6", "3/5"),
        "x = 1/2, eta = 1/10, M = 0, one client expected": unequal_pair(
            "1/2", "1/10", law=optimal_law(Fraction(1)), noise_factor=0
        ),
    }
    return worst_of(
        at_most(
            distance2_after(*pair),
            variant(*pair),
            instance={"clients": "x^2/2, (x-1)^2/2; w = 2/3, 1/3", "round": words},
        )
        for words, pair in instances.items()
    )


@claim(
    "optimal-client-sampling:theorem-13-per-client-as-stated",
    "the variant of Theorem 13 with sum_i w_i^2 Z_i in the place of W sum_i w_i Z_i, any weights",
    ocs.dsgd_per_client_variant,
    "refuted conjecture",
    remark="f_i(x) - f_i(x*) has a sign; with equal weights the variant is Theorem 13 itself",
)
def per_client_variant_as_stated(rng: np.random.Generator) -> Finding:
    drawn, fed, instance = draw_quadratic_round(rng)
    return at_most(distance2_after(drawn, fed), variant(drawn, fed), instance=instance)


@claim(
    "optimal-client-sampling:theorem-13-two-rounds",
    "Theorem 13 applied twice with E[1/gamma^k] bounds E |r|^2 after two rounds of DSGD with optimal sampling",
    ocs.dsgd_contraction,
    looseness=1.05,
)
def two_rounds(rng: np.random.Generator) -> Finding:
    one, budget = Fraction(1), Fraction(whole(rng, 1, 4), 2)
    sizes = [whole(rng, 1, 5) for _ in range(2)]
    weights = tuple(Fraction(size, sum(sizes)) for size in sizes)
    curvatures = tuple((Fraction(2) ** whole(rng, -1, 1),) for _ in weights)
    fed = RationalQuadratics(curvatures, tuple(draw_model(rng, 1) for _ in weights), weights, (0 * one, 0 * one))
    noise = Fraction(whole(rng, 0, 2), 2)
    step_size = budget / 2 / ((1 + max(weights) * noise**2) * fed.smoothness) * Fraction(whole(rng, 1, 4), 4)
    first = SampledRound(fed.gradient, weights, draw_model(rng, 1), optimal_law(budget), step_size, noise_factor=noise)
    bound, distance2 = norm2(difference(first.model, fed.minimizer)), Fraction(0)
    rounds = Law.certain(first)
    for number in range(2):
        bound = ocs.dsgd_contraction(
            bound,
            mean_inverse_gamma=rounds.mean(lambda each: 1 / each.gamma),
            smallest_gamma=budget / 2,
            step_size=step_size,
            mu=min(combination(weights, curvatures)),
            L=fed.smoothness,
            objective_gap=fed.objective_gap,
            **first.constants,
        )
        distance2 = rounds.mean(lambda each: distance2_after(each, fed))
        if number == 0:
            rounds = rounds.then(lambda each: each.models).map(lambda x: replace(first, model=x))
    return at_most(distance2, bound, instance={"weights": str(weights), "expected_size": str(budget)})


@claim(
    "optimal-client-sampling:theorem-15",
    "one round of DSGD, non-convex clients, any step size: E f(x+) is at most the right side of (24)",
    ocs.dsgd_nonconvex,
    looseness=1.01,
)
def dsgd_nonconvex(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    predicted = ocs.dsgd_nonconvex(
        clients.value(drawn.model),
        gradient2=norm2(combination(clients.weights, drawn.gradients())),
        step_size=drawn.step_size,
        L=clients.smoothness,
        gamma=drawn.gamma,
        dissimilarity=clients.dissimilarity,
        **drawn.constants,
    )
    # Both sides from the infimum 0 of f up, so that their ratio means something.
    return at_most(Fraction(drawn.models.mean(clients.value)), Fraction(predicted), instance=instance)
