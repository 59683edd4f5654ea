"""The class of the theorems on biased selection: one representative of the selected clients is enough.

Whatever the federation and the selection law, the selected clients' mean excess loss is at least ``rho D(w)`` at a
round's start and at most ``rho_tilde Gamma`` at w*, and by Jensen's inequality averaging m of their models does not
hurt. So the worst case is that of one function with these two properties.
"""

from collections.abc import Sequence
from fractions import Fraction

from fedtheory.worst_case._exchangeable import MEAN, Scene, local_steps, origin, start_of_round
from fedtheory.worst_case._function_classes import Point, impose_quadratic, interpolation, interpolation_of_copies
from fedtheory.worst_case._gram import Draft, Value, Vector
from fedtheory.worst_case._settings import Setting

__all__ = ["skewed_floor", "skewed_round"]

_FIRST_NOISE = 1


def skewed_round(
    given: Setting, rho: Fraction, rho_tilde: Fraction, num_selected: int, functions: str = "all"
) -> Scene:
    """Maximize the expected squared distance after a round from squared distance at most distance2."""
    draft = Draft()
    w = start_of_round(draft, given)
    known, path, y = _selected(draft, w, given, rho, rho_tilde)
    if "G2" in given.constants:
        for point in path:
            draft.at_most(point.gradient.square, given["G2"], "G2")
    if functions == "quadratic":
        impose_quadratic(draft, known[0], [*known[1:], *path], given.mu, Fraction(1))
    else:
        _interpolate(draft, known, path, given)
    # A block that says that clients are quadratic holds nothing of y.
    noise = y.within(range(_FIRST_NOISE, draft.num_blocks))
    error = y.within((MEAN,)).square
    if noise.coordinates:
        error = error + Fraction(1, num_selected) * noise.square
    return Scene(draft.maximize(error), ((*known, *path),), w)


def skewed_floor(given: Setting, rho: Fraction, rho_tilde: Fraction) -> Scene:
    """Maximize the squared distance that a round does not decrease."""
    draft = Draft()
    w = draft.vector(MEAN)
    known, path, y = _selected(draft, w, given, rho, rho_tilde)
    _interpolate(draft, known, path, given)
    draft.at_most(w.square - y.square)
    return Scene(draft.maximize(w.square), ((*known, *path),), w)


def _selected(
    draft: Draft, w: Vector, given: Setting, rho: Fraction, rho_tilde: Fraction
) -> tuple[list[Point], list[Point], Vector]:
    """Return a selected client at its minimizer and at w*, its local steps, and the model after them."""
    gap = given["objective_gap"]
    minimum = home = Point(origin(), origin(), draft.zero())
    excess = rho_tilde * gap
    if excess:
        minimum = Point(draft.vector(MEAN), origin(), draft.zero())
        home = Point(origin(), draft.vector(MEAN), Value())
        draft.at_most(home.value - minimum.value, gap, "objective_gap", rho_tilde)
    path, y = local_steps(draft, w, given.steps, (MEAN,), given.constants.get("gradient_noise", Fraction(0)))
    above = rho * given.mu / 2 * w.square - (path[0].value - minimum.value)
    draft.at_most(above, gap, "objective_gap" if gap else "", -rho)
    return [minimum, home] if excess else [home], path, y


def _interpolate(draft: Draft, known: Sequence[Point], path: Sequence[Point], given: Setting) -> None:
    draft.interpolate(interpolation([*known, *path], given.mu, Fraction(1)))
    if given.constants.get("gradient_noise"):
        draft.interpolate(interpolation_of_copies(path, _FIRST_NOISE, given.mu, Fraction(1)))
