"""SCAFFOLD with all clients: rounds in rationals on random quadratics with weights, and certified worst cases."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import scaffold as sc
from fedtheory.claims._comparisons import as_texts, curvatures, step_size
from fedtheory.errors import OracleError
from fedtheory.rational._scaffold import Controlled, control_potential, scaffold_limit, scaffold_round
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.scaffnew import ScaffnewState, scaffnew_step
from fedtheory.rational.vectors import added, combination, difference, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, not_applicable
from fedtheory.worst_case.control_variates import scaffold


class Start(NamedTuple):
    """A federation, a step size with local steps, and a state whose c is the mean of the c_k."""

    fed: RationalQuadratics
    step_size: Fraction
    local_steps: int
    state: Controlled

    @property
    def run(self) -> dict[str, Any]:
        """Step size and local steps by name."""
        return {"step_size": self.step_size, "local_steps": self.local_steps}

    @property
    def constants(self) -> dict[str, Any]:
        """What bounds ask for: the run, mu and L."""
        return self.run | {"mu": self.fed.strong_convexity, "L": self.fed.smoothness}

    @property
    def weight(self) -> Fraction:
        """``(eta tau)^2``."""
        return (self.step_size * self.local_steps) ** 2


def draw_start(rng: np.random.Generator, *, short: bool = False) -> Start:
    """Draw a start; the step size is stable, ``eta (L + mu) < 2``, or short, ``eta tau L <= 1``."""
    fed, tau = draw_federation(rng), whole(rng, 1, 4)
    longest = 1 / (tau * fed.smoothness) if short else 2 / (fed.smoothness + fed.strong_convexity)
    share = pick(
        rng, [Fraction(1) if short else Fraction(99, 100), *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))]
    )
    clients = tuple(draw_model(rng, fed.dim) for _ in range(fed.num_clients))
    state = Controlled(draw_model(rng, fed.dim), combination(fed.weights, clients), clients)
    return Start(fed, share * longest, tau, state)


def words(start: Start) -> dict[str, Any]:
    """Name the numbers of a start."""
    return {
        **federation_in_words(start.fed),
        "step_size": str(start.step_size),
        "local_steps": start.local_steps,
        "model": in_words(start.state.model),
        "control variates": ", ".join(map(in_words, start.state.clients)),
    }


_ALGORITHM = Statement(sc.PAPER, "Algorithm 1", form="derived")


def _errors(start: Start, state: Controlled) -> tuple[Fraction, Fraction]:
    """Return ``|w - w*|^2`` and the mean squared error of the control variates."""
    distance2 = norm2(difference(state.model, start.fed.minimizer))
    return distance2, control_potential(start.fed, state, Fraction(1)) - distance2


@claim(
    "scaffold:one-round",
    "A round of SCAFFOLD on random weighted quadratics",
    sc.one_round,
    instances=(20, 2000),
    looseness=1.01,
)
def one_round(rng: np.random.Generator) -> Finding:
    start = draw_start(rng)
    distance2, error2 = _errors(start, start.state)
    after = scaffold_round(start.fed, start.state, **start.run)
    bound = sc.one_round(distance2, control_error2=error2, **start.constants)
    return at_most(control_potential(start.fed, after, start.weight), bound, instance=words(start))


@claim(
    "scaffold:rounds",
    "Three rounds of SCAFFOLD are worth 3 tau gradient steps",
    sc.fixed_step_potential,
    instances=(20, 2000),
    looseness=1.01,
)
def rounds(rng: np.random.Generator) -> Finding:
    start = draw_start(rng, short=True)
    distance2, error2 = _errors(start, start.state)
    state = start.state
    for _ in range(3):
        state = scaffold_round(start.fed, state, **start.run)
    bound = sc.fixed_step_potential(3, initial_distance2=distance2, control_error2=error2, **start.constants)
    return at_most(control_potential(start.fed, state, start.weight), bound, instance=words(start))


@claim(
    "scaffold:rounds-attained",
    "Equal parabolas whose control variates are right attain the rate of SCAFFOLD in every round",
    sc.fixed_step_potential,
    "identity",
)
def rounds_attained(rng: np.random.Generator) -> Finding:
    start = draw_start(rng, short=True)
    fed = start.fed
    flat = tuple((fed.strong_convexity,) * fed.dim for _ in fed.weights)
    fed = replace(fed, curvatures=flat)
    right = fed.gradients(fed.minimizer)
    state = Controlled(start.state.model, combination(fed.weights, right), right)
    first = norm2(difference(state.model, fed.minimizer))
    for _ in range(3):
        state = scaffold_round(fed, state, **start.run)
    bound = sc.fixed_step_potential(3, initial_distance2=first, control_error2=Fraction(0), **start.constants)
    shown = words(start._replace(fed=fed))
    return equal_to(control_potential(fed, state, start.weight), bound, instance=shown)


@claim(
    "scaffold:option-one", "A round of SCAFFOLD with Option I on random quadratics", sc.option_one_round, looseness=1.01
)
def option_one(rng: np.random.Generator) -> Finding:
    start = draw_start(rng)
    mu, L, eta, tau = (start.constants[name] for name in ("mu", "L", "step_size", "local_steps"))
    if mu == L:
        return not_applicable("all curvatures are equal", **words(start))
    c = 1 - eta * mu
    weight = eta**2 * (2 * c / (eta * (L - mu)) - 1) * c ** (2 * tau - 2)
    distance2, error2 = _errors(start, start.state)
    after = scaffold_round(start.fed, start.state, option=1, **start.run)
    bound = sc.option_one_round(distance2, control_error2=error2, **start.constants)
    return at_most(control_potential(start.fed, after, weight), bound, instance=words(start))


@claim(
    "scaffold:is-scaffnew",
    "SCAFFOLD is Scaffnew with p = 1/tau whose coin falls in every tau-th step",
    _ALGORITHM,
    "identity",
    hypotheses=("the server's control variate is the mean of the clients'",),
)
def is_scaffnew(rng: np.random.Generator) -> Finding:
    start = draw_start(rng)
    fed, state, tau = start.fed, start.state, start.local_steps
    apart = ScaffnewState((state.model,) * fed.num_clients, tuple(difference(c, state.server) for c in state.clients))
    for step in range(2 * tau):
        apart = scaffnew_step(
            fed, apart, step_size=start.step_size, probability=Fraction(1, tau), falls=step % tau == tau - 1
        )
    for _ in range(2):
        state = scaffold_round(fed, state, **start.run)
    pairs = zip(state.clients, apart.variates, strict=True)
    apart2 = [norm2(difference(difference(c, state.server), h)) for c, h in pairs]
    off = norm2(difference(apart.models[0], state.model)) + sum(apart2, start=Fraction(0))
    return equal_to(off, Fraction(0), instance=words(start))


@claim(
    "scaffold:offset-stays",
    "Where c begins off the mean of the c_k by delta, SCAFFOLD rests where the gradient of F is -delta",
    _ALGORITHM,
    "identity",
    hypotheses=("the step size is stable",),
)
def offset_stays(rng: np.random.Generator) -> Finding:
    start = draw_start(rng, short=True)
    offset = draw_model(rng, start.fed.dim)
    limit = scaffold_limit(start.fed, offset, **start.run)
    gradient = combination(start.fed.weights, start.fed.gradients(limit))
    return equal_to(norm2(added(gradient, offset)), Fraction(0), instance=words(start))


@claim(
    "scaffold:is-gradient-descent",
    "With one local step SCAFFOLD is gradient descent, whatever the control variates are",
    _ALGORITHM,
    "identity",
    hypotheses=("the server's control variate is the mean of the clients'",),
)
def is_gradient_descent(rng: np.random.Generator) -> Finding:
    start = draw_start(rng)
    after = scaffold_round(start.fed, start.state, step_size=start.step_size, local_steps=1)
    gradient = combination(start.fed.weights, start.fed.gradients(start.state.model))
    moved = tuple(x - start.step_size * g for x, g in zip(start.state.model, gradient, strict=True))
    return equal_to(norm2(difference(after.model, moved)), Fraction(0), instance=words(start))


_GUESS = Statement(
    sc.PAPER, "Algorithm 1", equation="the exact rate of a round, as two examples suggest", form="derived"
)


def _short(rng: np.random.Generator) -> dict[str, Any]:
    """Draw constants of a round whose steps are up to 1/(tau L)."""
    given = curvatures(rng) | {"local_steps": whole(rng, 1, 3)}
    return given | {"step_size": step_size(rng, 1 / (given["local_steps"] * given["L"]))}


@claim(
    "scaffold:round-proved",
    "A certificate for each class proves the rate of a round of SCAFFOLD up to 10^-6 of it",
    sc.fixed_step_potential,
    instances=(3, 20),
    looseness=1.01,
)
def round_proved(rng: np.random.Generator) -> Finding:
    given = _short(rng)
    try:
        _, upper = scaffold(**given).enclosure
    except OracleError as error:
        return not_applicable(f"no worst case was proved: {error}", **as_texts(given))
    bound = sc.fixed_step_potential(1, initial_distance2=Fraction(1), control_error2=Fraction(0), **given)
    return at_least(bound * (1 + Fraction(1, 10**6)), upper, instance=as_texts(given))


@claim(
    "scaffold:exact-rate-guess",
    "A round of SCAFFOLD contracts by the larger of c^(2 tau) and (1 - C_L/tau)^2, C_L = sum of (1 - eta L)^i",
    _GUESS,
    "refuted conjecture",
    hypotheses=("eta L <= 1",),
    remark="both are attained, and for eta L <= 1 random programs exceed the larger by half a percent at most",
)
def exact_rate_guess() -> Finding:
    mu, L, eta, tau = Fraction(1, 2), Fraction(1), Fraction(1, 2), 3
    lower = scaffold(tau, eta, mu=mu, L=L).enclosure[0]
    steep = sum(((1 - eta * L) ** i for i in range(tau)), start=Fraction(0))
    guess = max((1 - eta * mu) ** (2 * tau), (1 - steep / tau) ** 2)
    given = {"mu": mu, "L": L, "step_size": eta, "local_steps": tau}
    return at_most(lower, guess, instance=as_texts(given))
