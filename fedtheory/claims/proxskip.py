"""Steps of Scaffnew on random quadratics with weights, over all coins, in rationals."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import proxskip as ps
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.scaffnew import ScaffnewState, mean_potentials, potential, scaffnew_step
from fedtheory.rational.vectors import combination, difference, norm2, scaled
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_STEP = Statement(ps.PAPER, "Theorem 3.6", equation="a step of Scaffnew", form="derived")


class _Start(NamedTuple):
    """Clients, gamma and p, and a state whose control variates have the mean 0."""

    fed: RationalQuadratics
    step_size: Fraction
    probability: Fraction
    state: ScaffnewState

    @property
    def run(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "probability": self.probability}

    @property
    def words(self) -> dict[str, Any]:
        return {
            **federation_in_words(self.fed),
            "step_size": str(self.step_size),
            "probability": str(self.probability),
            "models": ", ".join(map(in_words, self.state.models)),
            "control variates": ", ".join(map(in_words, self.state.variates)),
        }


def _draw(rng: np.random.Generator, *, together: bool, longest: Fraction = Fraction(1)) -> _Start:
    fed = draw_federation(rng)
    share = pick(rng, [longest, *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
    probability = Fraction(whole(rng, 1, 8), 8)
    raw = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    mean = combination(fed.weights, raw)
    first = draw_model(rng, fed.dim)
    models = tuple(first if together else draw_model(rng, fed.dim) for _ in range(fed.num_clients))
    return _Start(
        fed, share / fed.smoothness, probability, ScaffnewState(models, tuple(difference(h, mean) for h in raw))
    )


@claim(
    "proxskip:step",
    "E Psi+ of Scaffnew is |x - gamma grad f(x) - (x* - gamma h*)|^2 + (1 - p^2)(gamma/p)^2 |h - h*|^2",
    _STEP,
    "identity",
    hypotheses=("the control variates have the mean 0", "one common coin"),
)
def step(rng: np.random.Generator) -> Finding:
    start = _draw(rng, together=False, longest=Fraction(3, 2))
    fed, gamma, p, state = start.fed, start.step_size, start.probability, start.state
    best, at_best = fed.minimizer, fed.gradients(fed.minimizer)
    total = Fraction(0)
    for k, weight in enumerate(fed.weights):
        moved = difference(state.models[k], scaled(gamma, fed.gradient(k, state.models[k])))
        goal = difference(best, scaled(gamma, at_best[k]))
        error = norm2(difference(state.variates[k], at_best[k]))
        total += weight * (norm2(difference(moved, goal)) + (1 - p**2) * (gamma / p) ** 2 * error)
    return equal_to(mean_potentials(fed, state, 1, **start.run)[1], total, instance=start.words)


def _bounded(start: _Start, bound: Any, num_steps: int) -> Finding:
    fed, state = start.fed, start.state
    distance2 = norm2(difference(state.models[0], fed.minimizer))
    scale = (start.step_size / start.probability) ** 2
    error2 = (potential(fed, state, **start.run) - distance2) / scale
    constants = {"mu": fed.strong_convexity, "L": fed.smoothness, "initial_distance2": distance2}
    promised = bound(num_steps, control_error2=error2, **start.run, **constants)
    return at_most(mean_potentials(fed, state, num_steps, **start.run)[-1], promised, instance=start.words)


@claim(
    "proxskip:theorem",
    "Three steps of Scaffnew over all coins, with steps up to 1/L",
    ps.fixed_step_potential,
    looseness=1.01,
)
def theorem(rng: np.random.Generator) -> Finding:
    return _bounded(_draw(rng, together=True), ps.fixed_step_potential, 3)


@claim(
    "proxskip:refined",
    "A step of Scaffnew over both coins, with any step size",
    ps.refined_fixed_step_potential,
    looseness=1.01,
)
def refined(rng: np.random.Generator) -> Finding:
    return _bounded(
        _draw(rng, together=True, longest=Fraction(5, 2)), ps.refined_fixed_step_potential, whole(rng, 1, 3)
    )


@claim(
    "proxskip:mean-stays",
    "The mean of the control variates of Scaffnew never changes",
    _STEP,
    "identity",
    hypotheses=("averaging of the models only",),
)
def mean_stays(rng: np.random.Generator) -> Finding:
    start = _draw(rng, together=True)
    fed, off = start.fed, draw_model(rng, start.fed.dim)
    state = ScaffnewState(start.state.models, tuple(difference(h, scaled(-1, off)) for h in start.state.variates))
    for coin in range(4):
        state = scaffnew_step(fed, state, falls=bool(coin % 2), **start.run)
    return equal_to(norm2(difference(combination(fed.weights, state.variates), off)), Fraction(0), instance=start.words)
