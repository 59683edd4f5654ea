"""Federated averaging without bounded gradients: proofs in rationals, runs, and the functions that attain them."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import fedavg as li
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, norm2
from fedtheory.theorem.paper import Bound, Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to
from fedtheory.worst_case._closed_forms import prove_gap_after_step, prove_one_round, prove_sampled_step
from fedtheory.worst_case.full_or_uniform import fedavg

_MANY = (20, 1000)
_PROOF = "multipliers in closed form, guessed from certified worst cases, are checked against the semidefinite program"


def _class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants of a class and a step size up to 1/L, which is drawn often."""
    mu = Fraction(whole(rng, 1, 20), 10)
    L = mu * Fraction(whole(rng, 11, 300), 10)
    share = pick(rng, [Fraction(1), Fraction(whole(rng, 1, 9), 10), Fraction(1, whole(rng, 2, 99))])
    return {
        "distance2": Fraction(whole(rng, 1, 90), 10),
        "objective_gap": Fraction(whole(rng, 1, 30), 10),
        "mu": mu,
        "L": L,
        "step_size": share / L,
    }


def _words(given: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in given.items()}


def _proved(bound: Bound, prove: Callable[..., Fraction], given: dict[str, Any], **counts: int) -> Finding:
    constants = {name: value for name, value in given.items() if name in bound.domains}
    return equal_to(prove(**counts, **given), bound(**counts, **constants), instance=_words(given | counts))


@claim(
    "fedavg:one-round-proof",
    "Multipliers 2 eta c^(2 tau - 1 - 2 s) prove the bound on a round of all clients without bounded gradients",
    li.one_round,
    "identity",
    instances=_MANY,
    remark=_PROOF,
)
def one_round_proof(rng: np.random.Generator) -> Finding:
    return _proved(li.one_round, prove_one_round, _class(rng), local_steps=whole(rng, 1, 5))


@claim(
    "fedavg:sampled-step-proof",
    "The multiplier 2 eta c proves the bound on a step of m of N clients without bounded gradients",
    li.sampled_step,
    "identity",
    instances=_MANY,
    remark=_PROOF,
)
def sampled_step_proof(rng: np.random.Generator) -> Finding:
    given, num_clients = _class(rng), whole(rng, 2, 30)
    counts = {"num_clients": num_clients, "num_selected": whole(rng, 1, num_clients)}
    return _proved(li.sampled_step, prove_sampled_step, given, **counts)


@claim(
    "fedavg:gap-after-step-proof",
    "Multipliers 1 and c, c prove the bound on the loss after a step of all clients",
    li.gap_after_step,
    "identity",
    instances=_MANY,
    remark=_PROOF,
)
def gap_after_step_proof(rng: np.random.Generator) -> Finding:
    return _proved(li.gap_after_step, prove_gap_after_step, _class(rng))


@claim(
    "fedavg:gap-after-step-attained",
    "A parabola whose slope grows by mu only beyond a kink attains the bound on the loss after a step",
    li.gap_after_step,
    "identity",
    instances=_MANY,
)
def gap_after_step_attained(rng: np.random.Generator) -> Finding:
    given = _class(rng)
    mu, L, eta = given["mu"], given["L"], given["step_size"]
    bulge, c, w = L - mu, 1 - eta * mu, Fraction(whole(rng, 1, 9), 2)
    # F(w) = mu w^2/2, and (L - mu)/2 times w^2 up to the kink, a line from there on; the step stays beyond.
    kink = c**2 / (1 + eta * bulge * (1 + c)) * w
    after = w - eta * (mu * w + bulge * kink)
    loss = mu * after**2 / 2 + bulge * kink * (after - kink / 2)
    bound = li.gap_after_step(w**2, mu=mu, L=L, step_size=eta)
    return equal_to(loss, bound, instance=_words(given) | {"w": str(w), "kink": str(kink)})


def _tilted(given: dict[str, Any], share: Fraction) -> tuple[Fraction, Fraction]:
    """Return E |w_+|^2 and Gamma of halves of clients of curvature L in directions that are tilted to either side."""
    mu, L, eta = given["mu"], given["L"], given["step_size"]
    bulge, c, size = L - mu, 1 - eta * mu, Fraction(1, 10**6)
    # Best to first order in the gradients +-(0, size) at w* = 0, when the model is (1, 0).
    slope = share * eta**2 * size / (2 * eta * c - share * eta**2 * bulge)
    sine, cosine = 4 * slope / (4 + slope**2), (4 - slope**2) / (4 + slope**2)
    along, across = mu + bulge * sine**2, bulge * sine * cosine + size
    after = (1 - eta * along) ** 2 + share * eta**2 * across**2
    # 1/2 <g, H^-1 g> with H = mu I + (L - mu) v v'.
    return after, size**2 / (2 * mu) * (1 - bulge / L * cosine**2)


@claim(
    "fedavg:sampled-step-attained",
    "The coefficient of Gamma in the bound on a sampled step is attained in the limit of small Gamma/Delta",
    li.sampled_step,
    "rate",
    instances=_MANY,
    remark="two halves of clients whose directions of curvature L are tilted; no other lemma contracts by c^2",
)
def sampled_step_attained(rng: np.random.Generator) -> Finding:
    given, half = _class(rng), whole(rng, 1, 15)
    counts = {"num_clients": 2 * half, "num_selected": whole(rng, 1, 2 * half - 1)}
    K, m = counts["num_clients"], counts["num_selected"]
    after, gap = _tilted(given, Fraction(K - m, m * (K - 1)))
    given |= {"distance2": Fraction(1), "objective_gap": gap}
    terms = li.sampled_step.terms(**given, **counts)
    promised = terms["sampling"] * (1 - Fraction(1, 10**4))
    return at_least(after - terms["contraction"], promised, instance=_words(given | counts))


def _trained(fed: RationalQuadratics, start: Vector, eta: Fraction, num_steps: int) -> list[Vector]:
    models = [start] * fed.num_clients
    for _ in range(num_steps):
        models = [combination([Fraction(1), -eta], [w, fed.gradient(k, w)]) for k, w in enumerate(models)]
    return models


def _drawn(rng: np.random.Generator) -> tuple[RationalQuadratics, Vector, Fraction, dict[str, Any]]:
    fed = draw_federation(rng)
    # At 1/L bounds are infinite where all curvatures are the same.
    longest = 8 if fed.strong_convexity < fed.smoothness else 7
    start, eta = draw_model(rng, fed.dim), Fraction(whole(rng, 1, longest), 8) / fed.smoothness
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "step_size": eta, "objective_gap": fed.objective_gap}
    return fed, start, eta, known


def _away(fed: RationalQuadratics, w: Vector) -> Fraction:
    return norm2(difference(w, fed.minimizer))


@claim(
    "fedavg:one-round-without-gradients",
    "A round of all clients without bounded gradients, fixed step size up to 1/L",
    li.one_round,
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    fed, start, eta, known = _drawn(rng)
    tau = whole(rng, 1, 5)
    after = combination(fed.weights, _trained(fed, start, eta, tau))
    bound = li.one_round(_away(fed, start), local_steps=tau, **known)
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta), "local_steps": tau}
    return at_most(_away(fed, after), bound, instance=instance)


@claim(
    "fedavg:fixed-step-distance",
    "Rounds of all clients without bounded gradients, fixed step size up to 1/L",
    li.fixed_step_distance,
    looseness=1.01,
)
def fixed_step_distance(rng: np.random.Generator) -> Finding:
    fed, start, eta, known = _drawn(rng)
    tau, num_rounds = whole(rng, 1, 4), whole(rng, 1, 4)
    w = start
    for _ in range(num_rounds):
        w = combination(fed.weights, _trained(fed, w, eta, tau))
    bound = li.fixed_step_distance(num_rounds, local_steps=tau, initial_distance2=_away(fed, start), **known)
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta), "local_steps": tau}
    return at_most(_away(fed, w), bound, instance=instance | {"rounds": num_rounds})


@claim(
    "fedavg:sampled-step",
    "A local step of m of N clients without bounded gradients, equal weights, step size up to 1/L",
    li.sampled_step,
    looseness=1.01,
)
def sampled_step(rng: np.random.Generator) -> Finding:
    drawn, start, eta, _ = _drawn(rng)
    fed = RationalQuadratics(
        drawn.curvatures, drawn.centers, (Fraction(1, drawn.num_clients),) * drawn.num_clients, drawn.minima
    )
    K = fed.num_clients
    m = whole(rng, 1, K)
    models = [difference(w, fed.minimizer) for w in _trained(fed, start, eta, 1)]
    mean = combination(fed.weights, models)
    spread = sum(norm2(difference(w, mean)) for w in models) / K
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "step_size": eta, "objective_gap": fed.objective_gap}
    bound = li.sampled_step(_away(fed, start), num_clients=K, num_selected=m, **known)
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta), "num_selected": m}
    return at_most(norm2(mean) + spread * Fraction(K - m, m * (K - 1)), bound, instance=instance)


@claim(
    "fedavg:gap-after-step",
    "The loss after a local step of all clients, step size up to 1/L",
    li.gap_after_step,
    looseness=1.01,
)
def gap_after_step(rng: np.random.Generator) -> Finding:
    fed, start, eta, known = _drawn(rng)
    del known["objective_gap"]
    after = combination(fed.weights, _trained(fed, start, eta, 1))
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta)}
    return at_most(fed.gap(after), li.gap_after_step(_away(fed, start), **known), instance=instance)


def _guess(distance2: Fraction, objective_gap: Fraction, *, mu: Fraction, L: Fraction, step_size: Fraction) -> Fraction:
    """Return what a round costs if two local steps of all clients cost what tilted parabolas suggest."""
    c = 1 - step_size * mu
    return c**4 * distance2 + c**2 * step_size**3 * L * (L - mu) / (2 - step_size * (L + mu)) * objective_gap


@claim(
    "fedavg:two-steps-guess",
    "Two local steps of all clients cost what tilted parabolas make them cost: c^2 eta^3 L (L - mu)/(2 - eta (L + mu))",
    Statement(li.PAPER, "Theorem 1", "two local steps, a guess from quadratic clients", form="derived"),
    "refuted conjecture",
    instances=(1, 1),
    remark="refuted by a certified federation that is not quadratic; fedavg.one_round has the coefficient that holds",
)
def two_steps_guess(rng: np.random.Generator) -> Finding:
    del rng
    given: dict[str, Any] = {"mu": Fraction(1, 10), "L": Fraction(1), "distance2": Fraction(1)}
    given |= {"objective_gap": Fraction(1, 10)}
    worst = fedavg(2, Fraction(1, 4), **given)
    return at_most(worst.enclosure[0], _guess(step_size=Fraction(1, 4), **given), instance=_words(given))


@claim(
    "fedavg:two-steps-of-quadratics",
    "Two local steps of quadratic clients cost at most c^2 eta^3 L (L - mu)/(2 - eta (L + mu)) times Gamma",
    Statement(li.PAPER, "Theorem 1", "two local steps of quadratic clients", form="derived"),
    looseness=1.01,
    remark="a conjecture: programs over quadratic clients agree to four digits where Gamma/Delta is small",
)
def two_steps_of_quadratics(rng: np.random.Generator) -> Finding:
    fed, start, eta, known = _drawn(rng)
    after = combination(fed.weights, _trained(fed, start, eta, 2))
    bound = _guess(_away(fed, start), **known) if known["mu"] < known["L"] else _away(fed, start)
    instance = {**federation_in_words(fed), "start": in_words(start), "step_size": str(eta)}
    return at_most(_away(fed, after), bound, instance=instance)


@claim(
    "fedavg:one-round-best-of-two-steps",
    "For small Gamma/Delta two local steps of all clients nearly cost what the bound on a round says",
    li.one_round,
    "rate",
    instances=(4, 40),
    remark="observed: the certified worst case at Gamma = Delta L/1000 has 98% of the coefficient",
)
def best_of_two_steps(rng: np.random.Generator) -> Finding:
    mu, eta = Fraction(whole(rng, 2, 6), 20), Fraction(whole(rng, 4, 8), 8)
    given: dict[str, Any] = {"mu": mu, "L": Fraction(1), "distance2": Fraction(1), "objective_gap": Fraction(1, 1000)}
    lower = fedavg(2, eta, **given).enclosure[0]
    terms = li.one_round.terms(step_size=eta, local_steps=2, **given)
    promised = terms["drift"] * Fraction(98, 100)
    return at_least(lower - terms["contraction"], promised, instance=_words(given | {"step_size": eta}))
