"""What Power-of-Choice may rank its candidates by instead of their losses: clipped and q-fair losses."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/rules.py says)

from dataclasses import dataclass
from typing import Protocol, final

from fedtheory._support import validate
from fedtheory._support.compiling import compiled
from fedtheory._support.wording import short

__all__ = ["ClippedLoss", "FairLoss"]

_CLIPPED, _FAIR = 1.0, 2.0


class LossTransform(Protocol):
    """A way to rank candidates by their losses."""

    def code(self) -> tuple[float, float]:
        """Return the kind and the parameter that compiled rules understand; kind 0 leaves the losses alone."""


@final
@dataclass(frozen=True)
class ClippedLoss:
    """``min(F_k, level)``: beyond the level candidates are tied, so that outliers are not preferred."""

    level: float

    def __post_init__(self) -> None:
        validate.double("level", self.level)

    def code(self) -> tuple[float, float]:
        """Return the kind and the level."""
        return _CLIPPED, float(self.level)


@final
@dataclass(frozen=True)
class FairLoss:
    """``p_k F_k^(q + 1) / (q + 1)``, client k's share of the q-fair objective (Li et al. 2019), for losses at least 0.

    A negative loss ends the run with a ValueError. Without the factor p_k the transform would be increasing, and select
    the same clients as the losses do. The larger q, the less the weights count; q = 0 ranks by ``p_k F_k``.
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        validate.double("power", validate.nonnegative("power", self.power))

    def code(self) -> tuple[float, float]:
        """Return the kind and q."""
        return _FAIR, float(self.power)


def coded(transform: LossTransform | None) -> tuple[float, float]:
    """Kind and parameter of a transform, (0, 0) for none.

    >>> coded(None)
    (0.0, 0.0)
    """
    if transform is None:
        return 0.0, 0.0
    if not callable(getattr(transform, "code", None)):
        message = f"transform must have a method code, as ClippedLoss(1.0), got {short(transform)}"
        raise TypeError(message)
    kind, parameter = transform.code()
    if kind not in (0.0, _CLIPPED, _FAIR):
        message = f"the kind of {short(transform)} must be 0 (none), 1 (clipped) or 2 (fair), got {short(kind)}"
        raise ValueError(message)
    return float(kind), float(validate.finite("parameter", parameter))


@compiled
def transform(kind, parameter, weights, candidates, losses):
    """Overwrite the candidates' losses with what they are ranked by."""
    if kind == _CLIPPED:
        for j in range(candidates.size):
            losses[j] = min(losses[j], parameter)
    elif kind == _FAIR:
        for j in range(candidates.size):
            if losses[j] < 0.0:
                raise ValueError("losses must be at least 0 to be ranked by FairLoss, got a negative one")
            losses[j] = weights[candidates[j]] * losses[j] ** (parameter + 1.0) / (parameter + 1.0)
