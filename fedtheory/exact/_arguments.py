"""Validation of the public functions: exact results need quadratic clients and a strategy with a known law."""

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, Moments, Ranked, SelectionLaw


def quadratic(fed: object, otherwise: str = "") -> QuadraticFederation:
    """Return the federation if it is quadratic; ``otherwise`` says what to do for others."""
    if not isinstance(fed, QuadraticFederation):
        message = f"fed must be a QuadraticFederation, got {type(fed).__name__}{otherwise}"
        raise TypeError(message)
    return fed


def known_law(strategy: object, weights: Array) -> SelectionLaw | None:
    """Return the law of a strategy, or None if it does not declare one."""
    if isinstance(strategy, type):
        message = f"strategy must be a value with a method law(weights), got the class {strategy.__name__}"
        raise TypeError(message)
    ask = getattr(strategy, "law", None)
    law: SelectionLaw | None = None if ask is None else ask(weights)
    return law


def is_unbiased(strategy: object, weights: Array) -> bool:
    """Whether a strategy declares the weights, as the identical array, as its mean coefficients."""
    law = known_law(strategy, weights)
    return isinstance(law, Moments | Fixed) and law.mean is weights


def frequency_law(strategy: object, weights: Array) -> Fixed | Ranked:
    """Return the law of the frequencies in one round; TypeError if it is unknown."""
    match known_law(strategy, weights):
        case Moments(mean=mean) | Fixed(mean=mean):
            return Fixed(validate.probability_vector("frequencies", mean, size=weights.size))
        case Ranked() as law:
            return law
        case _:
            message = (
                "strategy must have a known selection law, state-independent or like that of pow-d with a fixed number "
                f"of candidates, got {truncate(strategy)}"
            )
            raise TypeError(message)
