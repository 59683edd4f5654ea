"""What theory says along a run of Power-of-Choice with known constants: closed forms, and inequalities unrolled."""

from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.theorem import Bound

if TYPE_CHECKING:
    from fedtheory._support.validate import Array

__all__ = ["BOUNDS", "bounds", "safe_skews", "unrolled_rounds"]

BOUNDS = ("round lemma", "recursion", "corrected", "printed")


def safe_skews(fed: Any, law: Any, least_ratios: "Array") -> tuple[float, float, float]:
    """Return certified numbers: at most rho_bar and the diagonal skew, and at least rho_tilde."""
    # The search sharpens the sides that are not needed here.
    skew = ft.exact.selection_skew(fed, law, num_models=100, least_ratios=least_ratios)
    return skew.rho_bar.lower, skew.rho_diagonal.lower, skew.rho_tilde.upper


def unrolled_rounds(
    step_sizes: "Array",
    *,
    local_steps: int,
    initial_distance2: float,
    objective_gap: float,
    sigma2: float = 0.0,
    **known: Any,
) -> "Array":
    """Bounds on ``E |w - w*|^2`` after 0, ..., R rounds, from the inequality of each round; shape (R + 1,).

    The other constants are those of ``round_coefficients``, the skews numbers or one for each round.
    """
    rounds = np.reshape(step_sizes, (-1, local_steps))
    by = poc.round_coefficients(list(rounds.T), **known)
    offsets = by.objective_gap * objective_gap + by.sigma2 * sigma2
    distances = [initial_distance2]
    for slope, offset in zip(by.distance2.tolist(), offsets.tolist(), strict=True):
        distances.append(slope * distances[-1] + offset)
    return np.array(distances)


def bounds(setting: Any, regime: str, skews: list[tuple[float, float, float]]) -> dict[str, Any]:
    """All forms of the bound at the horizons, and the largest summand of the corrected one; skews of every round."""
    constants, horizons, tau = setting.constants[regime], setting.horizons, setting.config.local_steps
    rho_bar, rho_diagonal, rho_tilde = np.array(skews).T
    start: dict[str, Any] = {"initial_distance2": setting.distance2, "local_steps": tau}
    in_steps: dict[str, Any] = {"rho_diagonal": np.repeat(rho_diagonal, tau), "rho_tilde": np.repeat(rho_tilde, tau)}
    sizes = setting.step_sizes[regime]
    recursion = unrolled_gap(poc.one_step, step_sizes=sizes, **constants, **start, **in_steps)[horizons]
    in_rounds: dict[str, Any] = {"rho_diagonal": rho_diagonal, "rho_tilde": rho_tilde}
    without_bound = {name: value for name, value in constants.items() if name != "G2"}
    far = unrolled_rounds(sizes, **without_bound, **start, **in_rounds)[horizons // tau]
    bound: Bound = poc.decaying_steps_gap
    if regime == "fixed":
        bound, gap = poc.fixed_step_gap, float(setting.fed.excess(setting.initial))
        start = {"initial_gap": gap, "step_size": setting.config.fixed_step_size, "local_steps": tau}
    # The closed forms hold with the worst skews over all rounds; a printed one is infinite where its skew is zero.
    overall = {**constants, **start, "rho_tilde": rho_tilde.max()}
    corrected = bound(horizons, rho_diagonal=rho_diagonal.min(), **overall)
    printed, _ = bound.printed(horizons, rho_bar=rho_bar.min(), strict=False, **overall)
    summands = bound.printed.terms(int(horizons[-1]), rho_bar=rho_diagonal.min(), **overall)
    forms = (constants["L"] / 2 * far, recursion, corrected, printed)
    return {
        "bound": np.stack([np.broadcast_to(values, horizons.shape) for values in forms]),
        "dominating": max(summands, key=lambda name: summands[name]),
        "skew": [rho_bar.min(), rho_diagonal.min(), rho_tilde.max()],
    }
