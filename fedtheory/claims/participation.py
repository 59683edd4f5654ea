"""Periodic, cyclic and amplified participation: readings of two abstracts that are false."""

from fractions import Fraction

from fedtheory.bounds import participation
from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.theorem.claims import claim
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
_AMPLIFIED = Statement(
    FEDTHEORY, "amplified updates, one reading", related=(participation.PAPER, "Abstract"), form="derived"
)
_GUESS = Statement(FEDTHEORY, "cyclic participation, one reading", related=(CYCLIC, "Abstract"), form="derived")
_LINEAR = ("gradients are exact, with a fixed step size of at most 1/L",)


class Parabolas:
    """Equal parabolas with slopes of sum 0 at w* = 0, of which one takes a step in each round."""

    def __init__(self, slopes: Vector, curvature: Fraction, eta: Fraction) -> None:
        self.slopes, self.curvature, self.eta = slopes, curvature, eta

    @property
    def instance(self) -> dict[str, str]:
        """The numbers as text."""
        return {"slopes": str(self.slopes), "curvature": str(self.curvature), "step_size": str(self.eta)}

    @property
    def cyclic2(self) -> Fraction:
        """Squared distance from w* after a cycle, in the limit of many cycles."""
        kept = 1 - self.eta * self.curvature
        moved = sum(kept**r * h for r, h in enumerate(reversed(self.slopes)))
        return (self.eta * moved / (1 - kept ** len(self.slopes))) ** 2

    @property
    def uniform2(self) -> Fraction:
        """Mean squared distance in the limit if one client is drawn uniformly in each round."""
        zeta2 = norm2(self.slopes) / len(self.slopes)
        return self.eta * zeta2 / (self.curvature * (2 - self.eta * self.curvature))


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
