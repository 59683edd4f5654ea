"""All bounds by name."""

from fedtheory import bounds
from fedtheory._support.discover import members
from fedtheory.theorem.bound import Bound, is_bound


def known_bounds() -> dict[str, Bound]:
    """Return all bounds by ``paper.function``, sorted by name.

    >>> known_bounds()["power_of_choice.one_step"].statement.number
    'Appendix C'
    """
    found: dict[str, Bound] = {}
    for name, bound in members(bounds, is_bound):
        paper, *_, function = name.removeprefix(f"{bounds.__name__}.").split(".")
        found[f"{paper}.{function}"] = bound
    return dict(sorted(found.items()))
