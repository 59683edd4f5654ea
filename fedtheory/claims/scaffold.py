"""SCAFFOLD with all clients: attained rates and identities on random weighted quadratics, and a refuted rate."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import scaffold as sc
from fedtheory.claims._comparisons import Chain, step
from fedtheory.instances.control_variates import (
    Controlled,
    ScaffnewState,
    control_potential,
    scaffnew_step,
    scaffold_limit,
    scaffold_round,
)
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.vectors import Vector, combination, norm2
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_ALGORITHM = Statement(FEDTHEORY, "", related=(sc.PAPER, "Algorithm 1"), form="derived")


class Start:
    """Clients, a stable step size, local steps, and a state whose c is the mean of the c_k.

    Stable means ``eta (L + mu) < 2``; a short step size satisfies ``eta tau L <= 1``.
    """

    def __init__(self, rng: np.random.Generator, *, short: bool = False) -> None:
        self.fed, self.tau = draw_federation(rng), whole(rng, 1, 4)
        fed, tau = self.fed, self.tau
        longest = 1 / (tau * fed.smoothness) if short else 2 / (fed.smoothness + fed.strong_convexity)
        largest = Fraction(1) if short else Fraction(99, 100)
        share = pick(rng, [largest, *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
        clients = tuple(draw_model(rng, fed.dim) for _ in range(fed.num_clients))
        self.state = Controlled(draw_model(rng, fed.dim), combination(fed.weights, clients), clients)
        self.eta = share * longest
        self.run: dict[str, Any] = {"step_size": self.eta, "local_steps": tau}
        self.known = self.run | {"mu": fed.strong_convexity, "L": fed.smoothness}

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        variates = {"model": str(self.state.model), "control variates": format_vectors(self.state.clients)}
        return {**format_federation(self.fed), **as_texts(self.run), **variates}

    @property
    def weight(self) -> Fraction:
        """``(eta tau)^2``."""
        return Fraction((self.eta * self.tau) ** 2)

    @property
    def distance2(self) -> Fraction:
        """``|w - w*|^2``."""
        return norm2(self.state.model - self.fed.minimizer)

    def after(self, num_rounds: int) -> Controlled:
        """Return the state after several rounds."""
        state = self.state
        for _ in range(num_rounds):
            state = scaffold_round(self.fed, state, **self.run)
        return state


def start(rng: np.random.Generator) -> list[Start]:
    return [Start(rng)]


def short_start(rng: np.random.Generator) -> list[Start]:
    return [Start(rng, short=True)]


def right_start(rng: np.random.Generator) -> list[Start]:
    """Draw identical parabolas with exact control variates."""
    (s,) = short_start(rng)
    flat = (Vector([s.fed.strong_convexity] * s.fed.dim),) * s.fed.num_clients
    s.fed = replace(s.fed, curvatures=flat)
    right = s.fed.gradients(s.fed.minimizer)
    s.state = Controlled(s.state.model, combination(s.fed.weights, right), right)
    return [s]


@step("scaffold:rounds-attained", sc.fixed_step_potential, right_start, kind="identity")
def rounds_attained(s: Start) -> Chain:
    """Identical parabolas with exact control variates attain the rate of SCAFFOLD in every round"""
    bound = sc.fixed_step_potential(3, initial_distance2=s.distance2, control_error2=Fraction(0), **s.known)
    return control_potential(s.fed, s.after(3), s.weight), "=", bound


@step(
    "scaffold:is-scaffnew",
    _ALGORITHM,
    start,
    kind="identity",
    hypotheses=("the server's control variate is the mean of the clients'",),
)
def is_scaffnew(s: Start) -> Chain:
    """SCAFFOLD is Scaffnew with p = 1/tau if the coin shows a communication in every tau-th step"""
    other = ScaffnewState((s.state.model,) * s.fed.num_clients, tuple(c - s.state.server for c in s.state.clients))
    for t in range(2 * s.tau):
        falls = t % s.tau == s.tau - 1
        other = scaffnew_step(s.fed, other, step_size=s.eta, probability=Fraction(1, s.tau), falls=falls)
    mine = s.after(2)
    off = [norm2(c - mine.server - h) for c, h in zip(mine.clients, other.variates, strict=True)]
    return sum(off, start=norm2(other.models[0] - mine.model)), "=", 0


@claim(
    "scaffold:offset-stays",
    "If c differs from the mean of the c_k by delta, SCAFFOLD converges to a point where the gradient of F is -delta",
    _ALGORITHM,
    "identity",
    hypotheses=("the step size is stable",),
)
def offset_stays(rng: np.random.Generator) -> Finding:
    (s,) = short_start(rng)
    offset = draw_model(rng, s.fed.dim)
    gradient = combination(s.fed.weights, s.fed.gradients(scaffold_limit(s.fed, offset, **s.run)))
    return equal_to(norm2(gradient + offset), Fraction(0), instance=s.instance)


@step(
    "scaffold:is-gradient-descent",
    _ALGORITHM,
    start,
    kind="identity",
    hypotheses=("the server's control variate is the mean of the clients'",),
)
def is_gradient_descent(s: Start) -> Chain:
    """With one local step SCAFFOLD is gradient descent, for any control variates"""
    after = scaffold_round(s.fed, s.state, step_size=s.eta, local_steps=1).model
    gradient = combination(s.fed.weights, s.fed.gradients(s.state.model))
    return norm2(after - (s.state.model - s.eta * gradient)), "=", 0


_GUESS = Statement(
    FEDTHEORY, "the exact rate of a round, suggested by two examples", related=(sc.PAPER, "Algorithm 1"), form="derived"
)


@claim(
    "scaffold:exact-rate-guess",
    "A round of SCAFFOLD contracts by the larger of c^(2 tau) and (1 - C_L/tau)^2, C_L = sum of (1 - eta L)^i",
    _GUESS,
    "refuted conjecture",
    hypotheses=("eta L <= 1",),
    remark="both rates are attained; for eta L <= 1 random programs exceed the larger one by at most half a percent",
)
def exact_rate_guess() -> Finding:
    mu, L, eta, tau = Fraction(1, 2), Fraction(1), Fraction(1, 2), 3
    lower = worst_case.scaffold(tau, eta, mu=mu, L=L).enclosure[0]
    steep = sum(((1 - eta * L) ** i for i in range(tau)), start=Fraction(0))
    guess = max((1 - eta * mu) ** (2 * tau), (1 - steep / tau) ** 2)
    given = {"mu": mu, "L": L, "step_size": eta, "local_steps": tau}
    return at_most(lower, guess, instance=as_texts(given))


@claim(
    "scaffold:client-sampling",
    "SCAFFOLD is not affected by client sampling",
    Statement(sc.PAPER, "Abstract"),
    "erratum",
    remark=(
        "for control variates of 0 the minimizer 1 is a fixed point of both clients together; a round of one of them"
        " moves the model by the step size"
    ),
)
def client_sampling() -> Finding:
    eta, model, centers = Fraction(1, 2), Fraction(1), (0, 2)
    after = Law.uniform(centers).mean(lambda center: (model - eta * (model - center) - 1) ** 2)
    known = {"curvatures": "(1, 1)", "centers": str(centers), "w_0": 1, "step_size": str(eta), "local_steps": 1}
    return at_most(after, Fraction(0), instance=known)


@claim(
    "scaffold:client-sampling-in-the-limit",
    "For control variates grad F_k(w*), no step of any client moves the minimizer, so that sampling has no effect",
    Statement(FEDTHEORY, "any sampling", related=(sc.PAPER, "Algorithm 1"), form="derived"),
    "identity",
)
def client_sampling_in_the_limit(rng: np.random.Generator) -> Finding:
    s = Start(rng)
    variates = s.fed.gradients(s.fed.minimizer)
    mean, moved = combination(s.fed.weights, variates), Fraction(0)
    for k, variate in enumerate(variates):
        w = s.fed.minimizer
        for _ in range(s.tau):
            w -= s.eta * (s.fed.gradient(k, w) - variate + mean)
        moved += norm2(w - s.fed.minimizer)
    return equal_to(moved, Fraction(0), instance=s.instance)
