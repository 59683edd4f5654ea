"""Optimal Client Sampling: the assumptions, Theorems 13 and 15 for DSGD, and steps of the proofs in Appendices C, D."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims._comparisons import Chain, compared, step
from fedtheory.claims.optimal_client_sampling._situations import (
    QuadraticRound,
    WellsRound,
    long_quadratic_round,
    quadratic_round,
    squared_weight,
    wells_round,
)
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.sampled_rounds import SampledRound, draw_wells, full_law, optimal_law
from fedtheory.instances.vectors import Vector, inner, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_most, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

source = partial(Statement, ocs.PAPER)
_STEPS = tuple(hypothesis.text for hypothesis in ocs.fedavg_strongly_convex.hypotheses)


@step(
    "optimal-client-sampling:equation-34",
    source("Appendix C.2", "eq. (34)"),
    wells_round,
    hypotheses=("f is L-smooth", "E G = grad f(x)"),
)
def equation_34(s: WellsRound) -> Chain:
    """E f(x+) <= f(x) - eta |grad f(x)|^2 + eta^2 L/2 E |G|^2 for a step of DSGD"""
    return s.after, "<=", s.value - s.eta * s.gradient2 + s.eta**2 * s.L / 2 * s.round.second_moment


@step(
    "optimal-client-sampling:equation-37",
    Statement(FEDTHEORY, "", related=(ocs.PAPER, "Appendix D.1, eq. (37)"), form="derived"),
    long_quadratic_round,
    hypotheses=_STEPS,
)
def equation_37(s: QuadraticRound) -> Chain:
    """E |r+|^2 <= (1 - mu eta/2) |r|^2 - 3/2 eta R + 11/4 eta L drift + eta^2 (...), and the preceding line"""
    eta, L, R, drift, gamma = s.eta, s.L, s.gap, s.round.drift, s.round.gamma
    kept = (1 - s.client_mu * eta / 2) * s.distance2
    first = kept - 2 * eta * R + 2 * eta * L * drift + eta**2 * s.round.second_moment
    B = 1 + s.round.noise_factor**2 / s.round.local_steps
    variances = 4 * L * max(s.fed.weights) * (B / gamma - 1) * s.Gamma
    variances += Fraction(4, 3) * s.round.noise_length**2 * norm2(s.fed.weights) / (s.round.local_steps * gamma)
    second = kept - Fraction(3, 2) * eta * R + Fraction(11, 4) * eta * L * drift + eta**2 * variances
    return s.after, "<=", first, "<=", second


@step(
    "optimal-client-sampling:equation-38",
    Statement(FEDTHEORY, "", related=(ocs.PAPER, "Appendix D.1, eq. (38)"), form="derived"),
    long_quadratic_round,
    hypotheses=_STEPS,
)
def equation_38(s: QuadraticRound) -> list[Chain]:
    """eta L (1 + W M/R)/gamma <= 1/8, 4 (1 + M/R) (L eta)^2 <= 1/64, L eta <= 1/16 and 1/eta_g^2 <= S2/gamma"""
    x, W, gamma, M = s.L * s.eta, max(s.fed.weights), s.round.gamma, s.round.noise_factor**2 / s.round.local_steps
    return [
        (x * (1 + W * M) / gamma, "<=", Fraction(1, 8)),
        (4 * (1 + M) * x**2, "<=", Fraction(1, 64)),
        (x, "<=", Fraction(1, 16)),
        (1 / s.round.server_step_size**2, "<=", norm2(s.fed.weights) / gamma),
    ]


class TwoModels(NamedTuple):
    """A federation and two models."""

    fed: RationalQuadratics
    x: Vector
    y: Vector
    instance: dict[str, Any]


def two_models(rng: np.random.Generator) -> list[TwoModels]:
    fed = draw_federation(rng)
    x, y = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    return [TwoModels(fed, x, y, {**format_federation(fed), "x": str(x), "y": str(y)})]


@step("optimal-client-sampling:equations-8-9", source("Definitions 5 and 6", "eqs. (8)-(9)"), two_models)
def equations_8_9(s: TwoModels) -> list[Chain]:
    """f_i(y) - f_i(x) - <grad f_i(x), y - x> >= mu/2 |y - x|^2 and |grad f_i(x) - grad f_i(y)| <= L |x - y|:
    quadratics"""
    f, grad, x, y, chains = s.fed.excess, s.fed.gradient, s.x, s.y, list[Chain]()
    for i in range(s.fed.num_clients):
        above = f(i, y) - f(i, x) - grad(i, x) @ (y - x)
        chains += [
            (s.fed.strong_convexity / 2 * norm2(y - x), "<=", above),
            (norm2(grad(i, x) - grad(i, y)), "<=", s.fed.smoothness**2 * norm2(y - x)),
        ]
    return chains


@claim(
    "optimal-client-sampling:smooth-wells",
    "|grad f_i(x) - grad f_i(y)| <= L |x - y| with L = 2 max a_i for the wells a_i t^2/(1 + t^2)",
    source("Definition 6", "eq. (9)"),
    looseness=1.01,
)
def smooth_wells(rng: np.random.Generator) -> Finding:
    clients, findings = draw_wells(rng, 2), []
    unit = pick(rng, [Fraction(1), Fraction(1, 16)])
    for k, center in enumerate(clients.centers):
        x, y = (vector(center + unit * Fraction(whole(rng, -8, 8), 4)) for _ in range(2))
        apart = norm2(clients.gradient(k, x) - clients.gradient(k, y))
        words = {"amplitudes": str(clients.amplitudes), "client": k, "x, y": f"{x[0]}, {y[0]}"}
        findings.append(at_most(apart, clients.smoothness**2 * norm2(x - y), instance=words))
    return worst_of(findings)


@step(
    "optimal-client-sampling:assumption-7",
    source("Assumption 7", "eqs. (10)-(11)"),
    quadratic_round,
    kind="identity",
    hypotheses=("the noise is that of exactly enumerated rounds",),
)
def assumption_7(s: QuadraticRound) -> list[Chain]:
    """E g_i = grad f_i and E |g_i - grad f_i|^2 = M |grad f_i|^2 + sigma2;
    so E |g_i|^2 = (1 + M) |grad f_i|^2 + sigma2"""
    M, sigma2 = (s.round.constants[name] for name in ("relative_noise", "sigma2"))
    chains = list[Chain]()
    for paths, gradient in zip(s.round.clients, s.round.gradients(), strict=True):
        law, square = paths.map(lambda path: path.update), norm2(gradient)
        chains += [
            (norm2(law.mean(lambda g: g) - gradient), "=", 0),
            (law.map(partial(Vector.__sub__, gradient)).mean(norm2), "=", M * square + sigma2),
            (law.mean(norm2), "=", (1 + M) * square + sigma2),
        ]
    return chains


@step("optimal-client-sampling:remark-10", source("Assumption 9 and Remark 10", "eq. (14)"), wells_round)
def remark_10(s: WellsRound) -> list[Chain]:
    """sum_i w_i |grad f_i - grad f|^2 = sum_i w_i |grad f_i|^2 - |grad f|^2, at most rho for the wells"""
    w, mean = s.clients.weights, s.round.full_gradient
    apart, squares = inner(w, [norm2(g - mean) for g in s.gradients]), inner(w, list(map(norm2, s.gradients)))
    return [(apart, "=", squares - norm2(mean)), (apart, "<=", squares), (apart, "<=", s.clients.dissimilarity)]


@step(
    "optimal-client-sampling:second-moment-dsgd",
    ocs.dsgd_second_moment,
    quadratic_round,
    kind="identity",
    also=("Assumption 7 holds with equality",),
)
def dsgd_second_moment(s: QuadraticRound) -> Chain:
    """E |G|^2 <= ((1 + M)/gamma - 1) sum_i w_i^2 |grad f_i|^2 + |grad f|^2 + sigma2 S2/gamma, attained"""
    squares, gradient2 = squared_weight(s.fed.weights, s.round.gradients()), norm2(s.round.full_gradient)
    known = {"squared_weight_gradient2": squares, "gradient2": gradient2, "gamma": s.round.gamma}
    return s.round.second_moment, "=", ocs.dsgd_second_moment(**known, **s.round.constants)


@step("optimal-client-sampling:theorem-13", ocs.dsgd_strongly_convex, quadratic_round)
def theorem_13(s: QuadraticRound) -> Chain:
    """one round of DSGD, f strongly convex, any step size: E |r+|^2 is at most the right-hand side of (20)"""
    return s.after, "<=", ocs.dsgd_strongly_convex(**s.known, objective_gap=s.Gamma)


def equal_round(rng: np.random.Generator) -> list[QuadraticRound]:
    """Draw a round with full participation of clients with equal weights and curvatures."""
    num_clients, dim, curvature = whole(rng, 2, 3), whole(rng, 1, 2), Fraction(2) ** whole(rng, -2, 2)
    fed = RationalQuadratics(
        curvatures=(Vector([curvature] * dim),) * num_clients,
        centers=tuple(draw_model(rng, dim) for _ in range(num_clients)),
        weights=Vector([Fraction(1, num_clients)] * num_clients),
        minima=vector(*[0] * num_clients),
    )
    factor, length = Fraction(whole(rng, 0, 3), 2), Fraction(whole(rng, 0, 3), 2)
    eta, x = Fraction(whole(rng, 1, 20), 10) / curvature, draw_model(rng, dim)
    drawn = SampledRound(fed.gradient, fed.weights, x, full_law, eta, noise_factor=factor, noise_length=length)
    return [QuadraticRound(drawn, fed, {**format_federation(fed), "step_size": str(eta)})]


@step(
    "optimal-client-sampling:theorem-13-attained",
    ocs.dsgd_strongly_convex,
    equal_round,
    kind="identity",
    hypotheses=("f_i = L/2 |x - c_i|^2, w_i = 1/n, p_i = 1", "Assumption 7 holds with equality"),
)
def theorem_13_attained(s: QuadraticRound) -> Chain:
    """(20) is an equality for equal weights and curvatures, full participation and noise with equality"""
    return s.after, "=", ocs.dsgd_strongly_convex(**s.known, objective_gap=s.Gamma)


@claim(
    "optimal-client-sampling:equation-21",
    "with full participation, E |r+|^2 <= (1 - mu eta) |r|^2 + eta^2 sigma2 sum_i w_i^2",
    ocs.full_participation,
    looseness=1.01,
)
def equation_21(rng: np.random.Generator) -> Finding:
    (drawn,) = quadratic_round(rng)
    eta = Fraction(whole(rng, 1, 8), 8) / drawn.L
    words = {"law": "full", "step_size": str(eta), "relative_noise": "0"}
    full = replace(drawn.round, law=full_law, noise_factor=Fraction(0), step_size=eta)
    s = QuadraticRound(full, drawn.fed, drawn.instance | words)
    known = {"step_size": eta, "mu": s.mu, "L": s.L, "sigma2": full.noise_length**2}
    bound = ocs.full_participation(s.distance2, sum_squared_weights=norm2(s.fed.weights), **known)
    return at_most(s.after, bound, instance=s.instance)


def per_client_variant(s: QuadraticRound) -> Chain:
    """Compare a round with the variant of (20) with ``sum_i w_i^2 Z_i``."""
    per_client = inner([w * w for w in s.fed.weights], s.fed.excesses(s.fed.minimizer))
    return s.after, "<=", Fraction(ocs.dsgd_per_client_variant(**s.known, per_client_gap=per_client))


def unequal_pair(x: str, eta: str, *, law: Any = full_law, noise_factor: int = 1) -> QuadraticRound:
    """Return a DSGD round on the clients x^2/2 and (x - 1)^2/2 with weights 2/3 and 1/3."""
    one = vector(1)
    fed = RationalQuadratics((one, one), (vector(0), one), vector("2/3", "1/3"), vector(0, 0))
    noise = Fraction(noise_factor)
    drawn = SampledRound(fed.gradient, fed.weights, vector(x), law, Fraction(eta), noise_factor=noise)
    return QuadraticRound(drawn, fed, {"clients": "x^2/2, (x-1)^2/2; w = 2/3, 1/3", "x": x, "eta": eta})


_SIGN = "f_i(x) - f_i(x*) may be negative; with equal weights the variant is Theorem 13"


@claim(
    "optimal-client-sampling:theorem-13-per-client",
    "the variant of Theorem 13 with sum_i w_i^2 Z_i in place of W sum_i w_i Z_i, unequal weights",
    ocs.dsgd_per_client_variant,
    "refuted conjecture",
    remark=_SIGN,
)
def theorem_13_per_client() -> Finding:
    # M = 1 with all clients sampled, twice (at eta = 3/5 the R^k term vanishes); M = 0 with one client on average.
    one_expected = unequal_pair("1/2", "1/10", law=optimal_law(Fraction(1)), noise_factor=0)
    rounds = [unequal_pair("1/2", "1/10"), unequal_pair("5/6", "3/5"), one_expected]
    return worst_of(compared(per_client_variant(s), s.instance) for s in rounds)


@step(
    "optimal-client-sampling:theorem-13-per-client-as-stated",
    ocs.dsgd_per_client_variant,
    quadratic_round,
    kind="refuted conjecture",
    remark=_SIGN,
)
def theorem_13_per_client_as_stated(s: QuadraticRound) -> Chain:
    """the variant of Theorem 13 with sum_i w_i^2 Z_i in place of W sum_i w_i Z_i, any weights"""
    return per_client_variant(s)


@step("optimal-client-sampling:theorem-15", ocs.dsgd_nonconvex, wells_round)
def theorem_15(s: WellsRound) -> Chain:
    """one round of DSGD, non-convex clients, any step size: E f(x+) is at most the right-hand side of (24)"""
    # Both sides are measured from the infimum 0 of f, so that their ratio is meaningful.
    return s.after, "<=", Fraction(ocs.dsgd_nonconvex(s.value, gamma=s.round.gamma, **s.known))
