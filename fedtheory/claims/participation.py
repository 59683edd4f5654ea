"""Arbitrary, periodic and cyclic participation on random quadratics in rational arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedtheory.bounds import average_drift as ad
from fedtheory.bounds import participation
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, average, combination, inner, norm2, vector
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

CYCLIC = Paper(
    key="cyclic-participation",
    title="On the Convergence of Federated Averaging with Cyclic Client Participation",
    authors="Cho, Sharma, Joshi, Xu, Kale, Zhang",
    year=2023,
    url="https://arxiv.org/abs/2302.03109",
    basis="abstract",
)
_FAIR = Statement(
    FEDTHEORY, "participation in proportion to the weights", related=(participation.PAPER, "Abstract"), form="derived"
)
_IMBALANCE = Statement(
    FEDTHEORY, "imbalance of full participation", related=(participation.PAPER, "Abstract"), form="derived"
)
_AMPLIFIED = Statement(
    FEDTHEORY, "amplified updates, one reading", related=(participation.PAPER, "Abstract"), form="derived"
)
_CYCLE = Statement(FEDTHEORY, "cyclic participation", related=(CYCLIC, "Abstract"), form="derived")
_FASTER = Statement(
    FEDTHEORY, "cyclic and uniform participation, equal Hessians", related=(CYCLIC, "Abstract"), form="derived"
)
_GUESS = Statement(FEDTHEORY, "cyclic participation, one reading", related=(CYCLIC, "Abstract"), form="derived")
_LINEAR = ("gradients are exact, with a fixed step size of at most 1/L",)


class Rounds(Case):
    """Quadratic clients with equal numbers of steps, and aggregation weights of mean p in each round of a period."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng, equal=True)
        self.tau, self.rows = self.taus[0], [_draw_row(rng, len(self.taus)) for _ in range(whole(rng, 1, 3))]
        self.fed = replace(self.fed, weights=average(self.rows))

    @property
    def instance(self) -> dict[str, object]:
        """The numbers as text."""
        return {**super().instance, "shares": format_vectors(self.rows)}

    def after(self, model: Vector, num_rounds: int) -> Vector:
        """Return the model after some rounds."""
        for r in range(num_rounds):
            model = replace(self.fed, weights=self.rows[r % len(self.rows)]).round(model, self.eta, self.taus)
        return model

    def imbalance2(self, num_rounds: int) -> Fraction:
        """Return the squared imbalance, from its definition."""
        before, found = vector(*[0] * len(self.model)), []
        for r in range(num_rounds):
            row = self.rows[r % len(self.rows)]
            for s in range(self.tau):
                found.append(inner(row, [norm2(self.tau * before + s * h) for h in self.fed.gradients]))
            before += combination(row, self.fed.gradients)
        return max(*found, norm2(self.tau * before))


def _draw_row(rng: np.random.Generator, num_clients: int) -> Vector:
    sizes = [whole(rng, 0, 3) for _ in range(num_clients)]
    sizes[0] += not any(sizes)
    return Vector(Fraction(size, sum(sizes)) for size in sizes)


def fair_rounds(rng: np.random.Generator) -> list[Rounds]:
    return [Rounds(rng)]


@step("participation:fair", _FAIR, fair_rounds, hypotheses=_LINEAR)
def fair(s: Rounds) -> Chain:
    """After a period of participation in proportion to the weights, the part below the square root is a bound"""
    period = len(s.rows)
    left = (1 - s.eta * s.mu) ** (s.tau * period)
    floor = s.eta**2 * s.L / s.mu * s.imbalance2(period)
    bound = left * norm2(s.model - s.fed.minimizer) + (1 - left) * floor
    return norm2(s.after(s.model, period) - s.fed.minimizer), "<=", bound


@claim(
    "participation:no-imbalance",
    "The imbalance is 0 for one local step of all clients, and (tau - 1)^2 zeta^2 for tau local steps",
    _IMBALANCE,
    "identity",
)
def no_imbalance(rng: np.random.Generator) -> Finding:
    s = Rounds(rng)
    s.rows = [s.fed.weights]
    zeta2 = inner(s.fed.weights, list(map(norm2, s.fed.gradients)))
    return equal_to(s.imbalance2(3), (s.tau - 1) ** 2 * zeta2, instance=s.instance)


@step("participation:cycle", _CYCLE, fair_rounds, hypotheses=_LINEAR)
def cycle(s: Rounds) -> Chain:
    """A cycle of P rounds contracts like P tau local steps: up to three cycles, in terms of the drift of a cycle"""
    best, model, bounds, steps = s.fed.minimizer, s.model, [], s.tau * len(s.rows)
    s.eta *= 1 if s.mu < s.L else Fraction(15, 16)
    drift2 = norm2(s.after(best, len(s.rows)) - best) / (s.eta * steps) ** 2
    known = {"step_size": s.eta, "mu": s.mu, "L": s.L, "local_steps": steps, "drift2": drift2}
    for cycles in (1, 2, 3):
        model = s.after(model, len(s.rows))
        bound = ad.fixed_step_distance(cycles, initial_distance2=norm2(s.model - best), **known)
        bounds.append((norm2(model - best), "<=", bound))
    return bounds


class Parabolas:
    """Equal parabolas with slopes of sum 0 at w* = 0, of which one takes a step in each round."""

    def __init__(self, slopes: Vector, curvature: Fraction, eta: Fraction) -> None:
        self.slopes, self.curvature, self.eta = slopes, curvature, eta
        self.zeta2 = norm2(slopes) / len(slopes)

    @property
    def instance(self) -> dict[str, str]:
        """The numbers as text."""
        return {"slopes": str(self.slopes), "curvature": str(self.curvature), "step_size": str(self.eta)}

    @property
    def delta2(self) -> Fraction:
        """Squared imbalance if the clients take turns."""
        return max(sum(self.slopes[:r], Fraction(0)) ** 2 for r in range(len(self.slopes)))

    @property
    def cyclic2(self) -> Fraction:
        """Squared distance from w* after a cycle, in the limit of many cycles."""
        kept = 1 - self.eta * self.curvature
        moved = sum(kept**r * h for r, h in enumerate(reversed(self.slopes)))
        return (self.eta * moved / (1 - kept ** len(self.slopes))) ** 2

    @property
    def uniform2(self) -> Fraction:
        """Mean squared distance in the limit if one client is drawn uniformly in each round."""
        return self.eta * self.zeta2 / (self.curvature * (2 - self.eta * self.curvature))


def short_steps(rng: np.random.Generator) -> list[Parabolas]:
    """Draw slopes, and a step size for which cyclic participation is at least as good."""
    slopes = [Fraction(whole(rng, -6, 6)) for _ in range(whole(rng, 1, 4))]
    slopes = [h + Fraction(7) for h in slopes[:1]] + slopes[1:]
    drawn = Parabolas(Vector([*slopes, -sum(slopes)]), Fraction(whole(rng, 1, 30), 10), Fraction(1))
    longest = min(Fraction(1), drawn.zeta2 / (2 * drawn.delta2))
    drawn.eta = longest * pick(rng, [Fraction(1), Fraction(whole(rng, 1, 9), 10)]) / drawn.curvature
    return [drawn]


@step(
    "participation:cyclic-and-uniform",
    _FASTER,
    short_steps,
    hypotheses=("clients are parabolas of the curvature H", "2 eta H delta^2 <= zeta^2", "eta H <= 1"),
)
def cyclic_and_uniform(s: Parabolas) -> Chain:
    """The limit of cycles is at most eta delta from w*, and uniform sampling leaves eta zeta^2/(H (2 - eta H))"""
    return s.cyclic2, "<=", s.eta**2 * s.delta2, "<=", s.uniform2


@claim(
    "participation:always-better-guess",
    "With one step size, cyclic participation has a smaller error in the limit than uniform sampling",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="with the step size 1/L a round ends at its client's minimizer, which may be farther away than the mean",
)
def always_better_guess() -> Finding:
    s = Parabolas(vector(1, 1, -2), Fraction(1), Fraction(1))
    return at_most(s.cyclic2, s.uniform2, instance=s.instance)


@claim(
    "participation:converges-guess",
    "If all clients take part equally often with one local step, averaging with a fixed step size converges to w*",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="two equal parabolas with the slopes 1 and -1 at w* that take turns have the limit 1/3 for eta = 1/(2 L)",
)
def converges_guess() -> Finding:
    s = Parabolas(vector(1, -1), Fraction(1), Fraction(1, 2))
    return equal_to(s.cyclic2, Fraction(0), instance=s.instance)


@claim(
    "participation:amplification-guess",
    "Amplifying the updates of P rounds by P keeps averaging with step sizes up to 1/L stable",
    _AMPLIFIED,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="on w^2/2 with eta = 1 a period of 3 rounds ends at 0, and the amplified update multiplies w by 1 - 3 = -2",
)
def amplification_guess() -> Finding:
    period, start = 3, Fraction(1)
    model = start
    for _ in range(period):
        model -= model
    amplified = start + period * (model - start)
    return at_most(amplified**2, start**2, instance={"period": str(period), "model": str(start), "step_size": "1"})
