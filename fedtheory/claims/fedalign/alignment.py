"""FedALIGN, Section 3: its assumptions, theta_T and rho_T, and the statements of the paper about them."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedalign as fa
from fedtheory.claims._comparisons import Chain, compared
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.noise import no_noise
from fedtheory.instances.run_draws import draw_alignment
from fedtheory.instances.runs import AlignedRun, gap
from fedtheory.instances.step_sizes import delay
from fedtheory.instances.vectors import Vector, combination, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to
from fedtheory.theorem.paper import Statement

_AFTER_THEOREM_1 = "Section 3.2"


def _sums(run: AlignedRun) -> dict[str, Any]:
    return {"gamma": delay(run.federation, run.local_steps), "local_steps": run.local_steps}


@claim(
    "fedalign:theta-range",
    "theta_T is between 0 and 1",
    Statement(fa.PAPER, "Theorem 1", "eq. (7)"),
    looseness=2,
    remark="1 is the limit of long horizons: without included clients theta_T is T/(T + gamma - 2), 2/3 for 12 steps",
)
def theta_range(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng)
    thetas = (fa.theta(run.priority_weights, first_step=first, **_sums(run)) for first in (0, 1))
    return compared([(0, "<=", theta, "<=", 1) for each in thetas for theta in each], instance)


def _draw_inclusions(rng: np.random.Generator) -> tuple[list[Fraction], list[Fraction], dict[str, Any]]:
    """Draw the included shares of some rounds, and larger shares."""
    rounds = whole(rng, 1, 4)
    shares = [Fraction(whole(rng, 0, 8), 4) for _ in range(rounds)]
    more = [share + Fraction(whole(rng, 0, 8), 4) for share in shares]
    return shares, more, {"included shares": str(Vector(shares)), "more": str(Vector(more))}


@claim(
    "fedalign:theta-falls",
    "theta_T decreases when more non-priority clients are included",
    Statement(fa.PAPER, _AFTER_THEOREM_1, "eq. (9)"),
    looseness=1.01,
)
def theta_falls(rng: np.random.Generator) -> Finding:
    shares, more, instance = _draw_inclusions(rng)
    known: dict[str, Any] = {"gamma": Fraction(whole(rng, 8, 40)), "local_steps": whole(rng, 1, 5)}
    fewer, lower = (fa.theta([1 / (1 + s) for s in each], **known) for each in (shares, more))
    return compared([(low, "<=", high) for low, high in zip(lower, fewer, strict=True)], instance)


@claim(
    "fedalign:threshold-zero",
    "With thresholds 0 (and <), rho_T = 0 and theta_T = T/(T + gamma - 2): no client is included",
    Statement(fa.PAPER, _AFTER_THEOREM_1, "eqs. (9)-(10)", form="corrected"),
    "identity",
)
def threshold_zero(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, thresholds=(Fraction(0),))
    fed, horizon, sums = run.federation, run.num_steps, _sums(run)
    rho = fa.rho(run.included_gaps, mu=fed.strong_convexity, L=fed.smoothness, **sums)[-1]
    theta = fa.theta(run.priority_weights, **sums)[-1]
    return compared([(rho, "=", 0), (theta, "=", horizon / (horizon + sums["gamma"] - 2))], instance)


@claim(
    "fedalign:theta-one",
    "With thresholds 0 theta_T is 1",
    Statement(fa.PAPER, _AFTER_THEOREM_1, "text after eq. (10)"),
    "erratum",
    remark="it is (T - 1)/(T + gamma - 2), which tends to 1",
)
def theta_one() -> Finding:
    horizon, gamma = 10, Fraction(8)
    theta = fa.theta([Fraction(1)] * horizon, gamma=gamma, local_steps=1, first_step=1)[-1]
    return equal_to(theta, Fraction(1), instance={"num_steps": horizon, "gamma": "8", "thresholds": "0"})


@claim(
    "fedalign:comparison",
    "With threshold 0 no client is included under the condition |F(w) - F_k(w)| <= eps of section 3.1",
    Statement(fa.PAPER, "Section 3.1", "the full condition"),
    "erratum",
    remark="the indicator is defined with < after eq. (9), and with < the statement is true",
)
def comparison() -> Finding:
    from fedtheory.selection.loss_matching import matches

    # With <=, a non-priority client whose data are those of the priority client matches at threshold 0.
    losses = [(3 - 1) ** 2 / 2] * 2
    included = int(matches([losses], [1, 0], [0], "<=").matched[0, 1])
    instance = {"clients": "(w - 1)^2/2 twice, one has priority", "w": "3", "threshold": "0"}
    return equal_to(included, 0, instance=instance)


def _rho_of_one_step(included_gap: Fraction) -> Fraction:
    return Fraction(fa.rho([included_gap], mu=Fraction(1), L=Fraction(1), gamma=Fraction(8), local_steps=1)[-1])


@claim(
    "fedalign:opposite-ways",
    "Including one more client lowers theta_T and raises rho_T (their inverse relationship)",
    Statement(fa.PAPER, "Section 1", "text after eq. (4); section 3.2"),
    "erratum",
    remark="a client with Gamma_k below the mean of those included lowers both",
)
def opposite_ways() -> Finding:
    # Shares 1 and 1, Gamma_k 1 and 0: the included gap goes from 1/2 to 1/3.
    return at_least(
        _rho_of_one_step(Fraction(1, 3)),
        _rho_of_one_step(Fraction(1, 2)),
        instance={"shares": "1 (Gamma_k = 1), then one more of share 1 (Gamma_k = 0)", "mu = L": "1", "num_steps": 1},
    )


@claim(
    "fedalign:opposite-ways-corrected",
    "Including a further client raises rho_T if its Gamma_k is at least the included gap (0 for priority clients)",
    Statement(fa.PAPER, _AFTER_THEOREM_1, form="corrected"),
    hypotheses=("Gamma_k >= sum_{j not in P} p_j I_j Gamma_j/(1 + s) before",),
    looseness=1.01,
)
def opposite_ways_corrected(rng: np.random.Generator) -> Finding:
    share, gap = Fraction(whole(rng, 0, 8), 4), Fraction(whole(rng, 0, 8), 2)
    new_share = Fraction(whole(rng, 1, 8), 4)
    before = share * gap / (1 + share)
    new_gap = before + Fraction(whole(rng, 0, 6), 2) * pick(rng, [Fraction(0), Fraction(1)])
    after = (share * gap + new_share * new_gap) / (1 + share + new_share)
    instance = {"share": str(share), "Gamma": str(gap), "new share": str(new_share), "new Gamma_k": str(new_gap)}
    return at_least(_rho_of_one_step(after), _rho_of_one_step(before), instance=instance)


@claim(
    "fedalign:priority-alone",
    "With thresholds 0 the run is federated averaging on the priority clients",
    Statement(fa.PAPER, _AFTER_THEOREM_1, "Consistency of our result"),
    "identity",
)
def priority_alone(rng: np.random.Generator) -> Finding:
    run, instance = draw_alignment(rng, thresholds=(Fraction(0),))
    run = replace(run, noise=no_noise(run.federation.dim))
    fed, first, w = run.federation, len(run.priority), run.initial
    # Federated averaging over the priority clients only.
    for number in range(run.num_rounds):
        local = [w] * first
        for t in range(number * run.local_steps, (number + 1) * run.local_steps):
            local = [at - run.step_size(t) * fed.gradient(k, at) for k, at in enumerate(local)]
        w = combination(fed.weights[:first], local)
    return equal_to(gap(run, run.num_steps), fed.gap(w), instance={**instance, "noise": "none"})


_ASSUMED_IN = "Section 3.2"
_EXCHANGED = "u and v are exchanged on one side: the gradient must be taken at u, with the step v - u"


def _as_printed(u: int, v: int) -> tuple[Fraction, Fraction, dict[str, str]]:
    """Return both sides for f(w) = w^2/2 with mu = L = 1; the gradient is taken at v, and the step is u - v."""
    right = Fraction(u**2, 2) + (u - v) * v + Fraction((u - v) ** 2, 2)
    return Fraction(v**2, 2), right, {"f(w)": "w^2/2", "mu = L": "1", "u": str(u), "v": str(v)}


@claim(
    "fedalign:assumption-1-printed",
    "f(v) <= f(u) + (u - v)' grad f(v) + L/2 |u - v|^2 for an L-smooth f",
    Statement(fa.PAPER, _ASSUMED_IN, "Assumption 1"),
    "erratum",
    remark=_EXCHANGED,
)
def assumption_1_printed() -> Finding:
    left, right, instance = _as_printed(0, 1)
    return at_most(left, right, instance=instance)


@claim(
    "fedalign:assumption-2-printed",
    "f(v) >= f(u) + (u - v)' grad f(v) + mu/2 |u - v|^2 for a mu-strongly convex f",
    Statement(fa.PAPER, _ASSUMED_IN, "Assumption 2"),
    "erratum",
    remark=_EXCHANGED,
)
def assumption_2_printed() -> Finding:
    left, right, instance = _as_printed(1, 0)
    return at_least(left, right, instance=instance)


@claim(
    "fedalign:assumptions-1-2",
    "mu/2 |u - v|^2 <= F_k(v) - F_k(u) - (v - u)' grad F_k(u) <= L/2 |u - v|^2 for quadratics",
    Statement(fa.PAPER, _ASSUMED_IN, "Assumptions 1 and 2", form="corrected"),
    looseness=1.01,
)
def assumptions_1_2(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    u, v = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    square, chains = norm2(u - v) / 2, list[Chain]()
    for k, h in enumerate(fed.curvatures):
        tangent = fed.excess(k, u) + (v - u) @ fed.gradient(k, u)
        chains += [
            (fed.excess(k, v), "<=", tangent + max(h) * square),
            (fed.excess(k, v), ">=", tangent + min(h) * square),
        ]
    return compared(chains, {**format_federation(fed), "u": str(u), "v": str(v)})
