"""Rounds of SCAFFOLD on random quadratics with weights, in rationals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory.bounds import scaffold as sc
from fedtheory.claims.scaffold._draws import Start, draw_start, in_these_words
from fedtheory.rational.draws import draw_model
from fedtheory.rational.scaffnew import Apart, scaffnew_step
from fedtheory.rational.scaffold import Controlled, control_potential, scaffold_limit, scaffold_round
from fedtheory.rational.vectors import added, combination, difference, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, not_applicable

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
    return at_most(control_potential(start.fed, after, start.weight), bound, instance=in_these_words(start))


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
    return at_most(control_potential(start.fed, state, start.weight), bound, instance=in_these_words(start))


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
    shown = in_these_words(start._replace(fed=fed))
    return equal_to(control_potential(fed, state, start.weight), bound, instance=shown)


@claim(
    "scaffold:option-one", "A round of SCAFFOLD with Option I on random quadratics", sc.option_one_round, looseness=1.01
)
def option_one(rng: np.random.Generator) -> Finding:
    start = draw_start(rng)
    mu, L, eta, tau = (start.constants[name] for name in ("mu", "L", "step_size", "local_steps"))
    if mu == L:
        return not_applicable("all curvatures are equal", **in_these_words(start))
    c = 1 - eta * mu
    weight = eta**2 * (2 * c / (eta * (L - mu)) - 1) * c ** (2 * tau - 2)
    distance2, error2 = _errors(start, start.state)
    after = scaffold_round(start.fed, start.state, option=1, **start.run)
    bound = sc.option_one_round(distance2, control_error2=error2, **start.constants)
    return at_most(control_potential(start.fed, after, weight), bound, instance=in_these_words(start))


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
    apart = Apart((state.model,) * fed.num_clients, tuple(difference(c, state.server) for c in state.clients))
    for step in range(2 * tau):
        apart = scaffnew_step(
            fed, apart, step_size=start.step_size, probability=Fraction(1, tau), falls=step % tau == tau - 1
        )
    for _ in range(2):
        state = scaffold_round(fed, state, **start.run)
    pairs = zip(state.clients, apart.variates, strict=True)
    apart2 = [norm2(difference(difference(c, state.server), h)) for c, h in pairs]
    off = norm2(difference(apart.models[0], state.model)) + sum(apart2, start=Fraction(0))
    return equal_to(off, Fraction(0), instance=in_these_words(start))


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
    return equal_to(norm2(added(gradient, offset)), Fraction(0), instance=in_these_words(start))


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
    return equal_to(norm2(difference(after.model, moved)), Fraction(0), instance=in_these_words(start))
