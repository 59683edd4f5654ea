"""Reference solutions for the optimal probabilities: a convex solver, and exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import OracleError
from fedtheory.sampling.arguments import Numbers, checked_budget, checked_norms, numbers
from fedtheory.sampling.certificates import certificate

__all__ = ["rational_probabilities", "reference_probabilities", "solver_probabilities"]

CLARABEL: dict[str, Any] = {
    "tol_gap_abs": 1e-12,
    "tol_gap_rel": 1e-12,
    "tol_feas": 1e-12,
    "max_iter": 500,
    # The default, 1e-8, is as large as the differences that have to be resolved.
    "static_regularization_constant": 1e-12,
}
TRUSTED_GAP = 1e-8
TRUSTED_INFEASIBILITY = 1e-8
# Largest number of restarts of the solver, in units of its last solution.
_MOST_ATTEMPTS, _SMALLEST_UNIT = 6, 1e-12


def reference_probabilities(norms: npt.ArrayLike, expected_size: float) -> Array:
    """Minimizer of ``sum_i t_i^2 / p_i`` over the budget and the unit box, computed by cvxpy and certified.

    The norms of the weighted updates have shape (n,), and the budget is in (0, n]. A norm 0 gets the probability 0. The
    solution of Clarabel is returned only if ``certificate`` finds a relative duality gap and an infeasibility of at
    most 1e-8; otherwise an OracleError is raised. The objective is flat: two such solutions may differ by 1e-4 in p.

    >>> reference_probabilities([1.0, 1.0, 4.0], 2).round(6)
    array([0.5, 0.5, 1. ])
    """
    t = checked_norms(norms)
    m = checked_budget(expected_size, t.size)
    lengths = t / max(t.max(), np.finfo(np.float64).tiny)
    # The geometric mean of 1 and the probabilities without the box constraint.
    unit = np.clip(np.sqrt(lengths), _SMALLEST_UNIT, 1.0)
    for _ in range(_MOST_ATTEMPTS):
        p, status = solver_probabilities(t, m, "CLARABEL", unit=unit, **CLARABEL)
        if status not in ("optimal", "optimal_inaccurate"):
            message = f"the solver must find an optimum, got status {status}"
            raise OracleError(message)
        # Interior-point solutions violate the box by the tolerance: only the violation that is left after clipping
        # counts.
        p = np.clip(p, 0.0, 1.0)
        found = certificate(lengths, p, m)
        if found.infeasibility <= TRUSTED_INFEASIBILITY and abs(found.relative_gap) <= TRUSTED_GAP:
            return p
        # Slightly different units, since the solver would stop again at the same point in the same units.
        unit = 2 * np.clip(p, _SMALLEST_UNIT, 1.0)
    message = (
        f"the solver's answer must have a gap and an infeasibility of at most {TRUSTED_GAP}, "
        f"got {found.relative_gap:.2e} and {found.infeasibility:.2e} with status {status}"
    )
    raise OracleError(message)


def solver_probabilities(
    norms: npt.ArrayLike,
    expected_size: float,
    solver: str,
    *,
    normalize: bool = True,
    unit: npt.ArrayLike | None = None,
    **settings: Any,
) -> tuple[Array, str]:
    """Return the unchecked solution of a cvxpy solver, shape (n,) and 0 for zero norms, and cvxpy's status.

    Parameters
    ----------
    norms, expected_size
        As in ``reference_probabilities``.
    solver, **settings
        Name of a solver in cvxpy, such as ``"CLARABEL"`` or ``"SCS"``, and its settings.
    normalize
        Whether to divide the norms by their maximum, since solvers have absolute tolerances.
    unit
        Units of the probabilities in the solver, positive, shape (n,); by default 1.

    Examples
    --------
    >>> solver_probabilities([1.0, 3.0], 1, "CLARABEL")[1]
    'optimal'
    """
    t = checked_norms(norms)
    m = checked_budget(expected_size, t.size)
    validate.text("solver", solver)
    active = t > 0
    probabilities = np.zeros(t.size)
    if not active.any():
        return probabilities, "optimal"
    units = np.ones(t.size) if unit is None else validate.positive("unit", validate.array("unit", unit, shape=t.shape))
    units, lengths = units[active], t[active] / (t.max() if validate.boolean("normalize", normalize) else 1.0)
    shares, status = _answer(lengths**2 / units, units, m, solver, settings)
    probabilities[active] = units * shares
    return probabilities, status


def _answer(costs: Array, units: Array, budget: float, solver: str, settings: dict[str, Any]) -> tuple[Any, str]:
    """Minimize ``sum costs / x`` over ``units x <= 1`` and ``sum units x <= budget``."""
    import warnings

    import cvxpy as cp

    x = cp.Variable(units.size)
    limits = [cp.multiply(units, x) <= 1, units @ x <= budget]
    problem = cp.Problem(cp.Minimize(costs @ cp.inv_pos(x)), limits)
    try:
        with warnings.catch_warnings():
            # An inaccurate solution is reported by the status.
            warnings.simplefilter("ignore")
            problem.solve(solver=solver, **settings)
    except (cp.error.SolverError, ArithmeticError) as error:
        message = f"the solver must answer, got {' '.join(str(error).split())}"
        raise OracleError(message) from error
    if x.value is None:
        message = f"the solver must answer, got status {problem.status}"
        raise OracleError(message)
    return x.value, str(problem.status)


def rational_probabilities(norms: Numbers, expected_size: float | Fraction) -> list[Fraction]:
    """Return the closed form of the paper in exact arithmetic, with sorted norms and the largest valid l.

    Norms of the weighted updates, shape (n,), and the budget m in (0, n] are rationals, integers or floats, which are
    converted exactly. The probability of a norm 0 is 0. Source: Chen, Horvath and Richtarik (2022), eq. (7), in product
    form.

    >>> print(*rational_probabilities([1, 2, 3], 2))
    1/3 2/3 1
    """
    numbers("norms", norms)
    t = [Fraction(value) for value in np.asarray(norms, dtype=object)]
    n = len(t)
    checked_budget(expected_size, n)
    m = Fraction(validate.finite("expected_size", expected_size))
    if sum(value > 0 for value in t) <= m:
        return [Fraction(int(value > 0)) for value in t]
    rest, room, largest = Fraction(0), Fraction(0), Fraction(0)
    total = Fraction(0)
    for length, value in enumerate(sorted(t), start=1):
        total += value
        if m + length - n > 0 and (m + length - n) * value <= total:
            rest, room, largest = total, m + length - n, value
    return [room * value / rest if value <= largest else Fraction(1) for value in t]
