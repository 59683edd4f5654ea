"""How FedALIGN can stand at a step: the included clients with any local models, for which the proof must hold."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np

from fedtheory.rational._alignment_draws import draw_alignment
from fedtheory.rational._rounds import Snapshot
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_model, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, added, combination, difference, norm2, scaled

__all__ = ["GROUPS", "Group", "State", "draw_state"]

Group = Literal["all", "priority", "others"]
GROUPS: tuple[Group, ...] = ("priority", "others")


@final
@dataclass(frozen=True)
class State:
    """The included clients of a round, their local models, and the step size of the step that comes.

    Attributes
    ----------
    federation
        All clients, the priority clients first.
    at
        The local models of the included clients, with their weights p'_k.
    step_size
        eta_t.
    instance
        The numbers that define the state, in words.
    """

    federation: RationalQuadratics
    at: Snapshot
    step_size: Fraction
    instance: dict[str, Any]

    @property
    def best(self) -> Vector:
        """The minimizer of the priority clients' objective."""
        return self.federation.minimizer

    @property
    def nu(self) -> Fraction:
        """``2 eta (1 - 2 L eta)``, which the paper calls gamma_t."""
        return 2 * self.step_size * (1 - 2 * self.federation.smoothness * self.step_size)

    def over(self, group: Group, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """``sum_k p'_k I_k value(k, w_k)`` over some of the clients."""
        weights = self.federation.weights
        members = zip(self.at.coefficients, self.at.chosen, self.at.local, strict=True)
        return sum(
            (q * value(k, w) for q, k, w in members if group == "all" or (weights[k] > 0) == (group == "priority")),
            start=Fraction(0),
        )

    def spread(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k |w_k - w|^2``."""
        return self.over(group, lambda _, w: norm2(difference(w, self.at.average)))

    def excess(self, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w_k) - F_k*)``."""
        return self.over(group, self.federation.excess)

    def excess_at(self, w: Vector, group: Group) -> Fraction:
        """``sum_k p'_k I_k (F_k(w) - F_k*)`` at one model for all clients."""
        return self.over(group, lambda k, _: self.federation.excess(k, w))

    @property
    def gradient(self) -> Vector:
        """The aggregated gradient, ``sum_k p'_k I_k grad F_k(w_k)``."""
        gradients = [self.federation.gradient(k, w) for k, w in zip(self.at.chosen, self.at.local, strict=True)]
        return combination(self.at.coefficients, gradients)

    @property
    def landing2(self) -> Fraction:
        """``A_1 = |w - eta mean gradient - w*|^2``."""
        moved = difference(self.at.average, scaled(self.step_size, self.gradient))
        return norm2(difference(moved, self.best))

    @property
    def standing2(self) -> Fraction:
        """``|w - w*|^2``."""
        return norm2(difference(self.at.average, self.best))

    @property
    def priority_gap(self) -> Fraction:
        """``E_t = Gamma/(1 + s)`` given the inclusions."""
        together = self.over("priority", lambda *_: Fraction(1))
        return together * self.federation.objective_gap

    @property
    def included_gap(self) -> Fraction:
        """``D_t/2 = sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` given the inclusions."""
        gaps = self.federation.excesses(self.best)
        return self.over("others", lambda k, _: gaps[k])

    def left_over(self, group: Group) -> Fraction:
        """``4 L eta^2 sum p'_k (F_k(w_k) - F_k*) - 2 eta sum p'_k (F_k(w_k) - F_k(w*))``, which is A_4 or A_5."""
        eta, excess = self.step_size, self.excess(group)
        return 4 * self.federation.smoothness * eta**2 * excess - 2 * eta * (excess - self.excess_at(self.best, group))


def draw_state(rng: np.random.Generator) -> State:
    """Draw the included clients of a round by their losses, any local models for them, and a step up to ``1/(4 L)``."""
    run, instance = draw_alignment(rng, longest_round=1)
    fed, start = run.federation, run.initial
    step_size = pick(rng, [Fraction(1, 4), Fraction(1, 8), Fraction(1, 4096)]) / fed.smoothness
    (team,) = run.begin(0, start)
    # Where every local model is one step ahead of a common one, or one behind, inequalities of means are attained.
    kind, ahead = whole(rng, 0, 2), [whole(rng, -1, 1) for _ in team.chosen]
    steps = [-step_size] * len(ahead) if kind == 0 else [step_size * sign for sign in ahead]
    local = tuple(
        draw_model(rng, fed.dim) if kind == 1 else added(start, scaled(step, fed.gradient(k, start)))
        for k, step in zip(team.chosen, steps, strict=True)
    )
    at = Snapshot(start, team.chosen, team.coefficients, local, combination(team.coefficients, local))
    words = {name: instance[name] for name in ("curvatures", "centers", "shares", "weights", "minima")}
    models = {"included": team.chosen, "local": "; ".join(map(in_words, local)), "step_size": str(step_size)}
    return State(fed, at, step_size, words | models)
