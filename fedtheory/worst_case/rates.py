"""Rates for all numbers of rounds: a quadratic potential that contracts in every round, with a proof in rationals.

A worst case holds for one number of rounds. A potential ``V(s) = sum_ij P_ij <s_i, s_j> + sum_j q_j t_j`` of the state
of a method with ``V(s+) <= rho V(s)`` gives a bound for all numbers of rounds: ``V(s_N) <= rho^N V(s_0)`` by induction.
A semidefinite program searches for P, q and the smallest rho in floating point; two worst cases then prove the
inequalities.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product
from operator import add
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import outward
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._record import SERVER, Record
from fedtheory.worst_case._semidefinite import Program, completed, semidefinite_program
from fedtheory.worst_case._vectors import Form, Value, Vector
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["Rate", "rate"]

_SUSPICIOUS = 0.999
"""Sublinear methods seem to have rates above this number in floating point."""
_LARGEST = 1 - Fraction(1, 10**6)
"""A rate must be below this number: sublinear methods have potentials whose rate differs from 1 by rounding only."""
_DENOMINATORS = (1, 2, 4, 12, 60, 1000, 10**5, 10**7, 10**9)
_LEAST_SHARE = 1e-6
"""Smallest share of the measure that a potential with coefficients up to 1 must bound, since less is noise of the
solver."""
_SLACKS = (1e-8, 1e-7, 1e-6, 1e-5)
"""Relative distances from the smallest rate at which potentials are computed, so that the program has an interior."""


class _Term(NamedTuple):
    """A term of the potential, before and after the round."""

    name: str
    before: Form
    after: Form


@final
@dataclass(frozen=True, eq=False)
class Rate:
    """A potential that contracts in every round.

    Attributes
    ----------
    value
        The proved rate rho: ``V(after) <= rho V(before)``.
    potential, measure
        Coefficients of V by the names of its terms, such as ``"|x|^2"``, and the quantity that V bounds, as text.
    proofs
        The two worst cases that prove ``V(after) <= rho V(before)`` and ``measure <= V(before)``.
    """

    value: Fraction
    potential: Mapping[str, Fraction]
    measure: str
    proofs: tuple[WorstCase, WorstCase]

    def __repr__(self) -> str:
        return f"<rate {outward(self.value, 9, up=True)} per round, V = {self._potential}>"

    @property
    def text(self) -> str:
        """The theorem with its induction."""
        rho = outward(self.value, 9, up=True)
        return (
            f"V = {self._potential}\n"
            f"Every round has V(after) <= {rho} V(before), and {self.measure} <= V.\n"
            "If the state after a round is a state before the next round, then by induction\n"
            f"{self.measure} after N rounds is at most {rho}^N V(start), for every N."
        )

    @property
    def _potential(self) -> str:
        terms = (f"{_number(c)} {name}" for name, c in self.potential.items() if c)
        return " + ".join(terms).replace("+ -", "- ")


def _number(c: Fraction) -> str:
    return str(c) if len(str(c)) <= 8 else f"{float(c):.6g}"


def rate(
    problem: Problem,
    state: Mapping[str, tuple[Vector, Vector]],
    *,
    terms: Mapping[str, tuple[Form | Value, Form | Value]] | None = None,
    measure: Form | Value | str = "",
    tolerance: float = 1e-6,
) -> Rate:
    """Find a quadratic potential of a method's state and the smallest rate at which it contracts in every round.

    Raises OracleError if no such potential is found whose rate is below 1 - 1e-6, or the potential that was found
    cannot be proved. Raises AssumptionViolated if the round has a condition with a constant, such as a variance, or a
    start condition: with it no potential contracts by a factor. Raises ValueError if the state has neither a vector nor
    a term, a vector of the state differs among clients after the round and not before, or the measure is not one of the
    terms.

    Parameters
    ----------
    problem
        One round of the method, from any state: functions and points, without a start condition and without an
        objective.
    state
        Vectors of the state before and after the round, by name, such as ``{"x": (x - best, x_new - best)}``. The
        potential is a combination of all their inner products.
    terms
        Other terms of the potential before and after the round, by name, such as a gap of function values, or the
        expected square of a sampled vector.
    measure
        Quantity that the potential must bound: a form of the state before the round, or the name of a term of the
        potential. The default is the first term.
    tolerance
        Relative width of the bisection for the rate.

    Notes
    -----
    The induction over all rounds requires that the assumptions of the problem about the state before the round also
    hold after it, such as that a stored gradient is the gradient at the new model. This requirement is not checked.

    Examples
    --------
    Gradient descent with step size 1/2 for curvatures from 1 to 2 contracts ``|x - x*|^2`` by ``(1 - 1/2)^2``:

    >>> from fractions import Fraction as Q
    >>> p = Problem()
    >>> f = p.function(mu=1, L=2)
    >>> best, x = f.minimizer(), p.point()
    >>> found = rate(p, {"x": (x - best, x - Q(1, 2) * f.gradient(x) - best)})
    >>> 0.25 <= found.value < 0.250001, found.potential
    (True, {'|x|^2': Fraction(1, 1)})
    """
    validate.instance("problem", problem, Problem, "a Problem")
    validate.positive("tolerance", tolerance)
    all_terms = _terms(problem.record, state, terms or {})
    what, name = _measure(measure, all_terms)
    search = _Search(problem.record, all_terms, what)
    smallest, largest = 0.0, 1.0
    if search.share_at(largest) < _LEAST_SHARE:
        message = "no quadratic potential of this state was found that does not grow: add vectors or terms"
        raise OracleError(message)
    while largest - smallest > tolerance * largest / 4:
        middle = (smallest + largest) / 2
        smallest, largest = (smallest, middle) if search.share_at(middle) > _LEAST_SHARE else (middle, largest)
    if largest >= _LARGEST:
        message = "no quadratic potential of this state was found whose rate is below 1: it may be sublinear"
        raise OracleError(message)
    near = (search.potential(largest * (1 + slack)) for slack in _SLACKS)
    return _proved(problem, all_terms, [found for found in near if found is not None], what, name, largest, tolerance)


def _terms(record: Record, state: Mapping[str, Any], others: Mapping[str, Any]) -> list[_Term]:
    """Return all terms of the potential: inner products of the state, and the other terms."""
    for name, pair in {**state, **others}.items():
        if not isinstance(pair, Sequence) or len(pair) != 2:
            message = f"state and terms must have pairs (before, after), got {pair!r} for {name}"
            raise ValueError(message)
    for name, (before, after) in state.items():
        _refuse_elsewhere(record, name, before, after)
    found = []
    for one, other in combinations_with_replacement(state, 2):
        (x, x_after), (y, y_after) = state[one], state[other]
        name = f"|{one}|^2" if one == other else f"<{one}, {other}>"
        found.append(_Term(name, x @ y, x_after @ y_after))
    found += [_Term(name, Form.of(before), Form.of(after)) for name, (before, after) in others.items()]
    if not found:
        message = "state must have a vector, or terms a form, got neither"
        raise ValueError(message)
    return found


def _refuse_elsewhere(record: Record, name: str, before: Vector, after: Vector) -> None:
    """Raise ValueError if a state has parts after the round, apart from noises, that it did not have before."""
    for block in sorted(after.blocks - before.blocks):
        owner = record.sources[block].owner
        home = 0 if owner in ("", SERVER) else record.differences_of(owner)[0]
        if home not in before.blocks:
            what = "has a mean" if home == 0 else f"differs among the clients {owner}"
            message = (
                f"state must have the same parts after a round as before it, got {name}, which {what} only after it "
                "(c.mean(v) is the mean of the clients' vectors, and v - c.mean(v) differs among them only)"
            )
            raise ValueError(message)


def _measure(measure: Form | Value | str, terms: Sequence[_Term]) -> tuple[Form, str]:
    if not isinstance(measure, str):
        return Form.of(measure), "the measure"
    named = {term.name: term for term in terms}
    found = measure or next(iter(named))
    validate.choice("measure", found, tuple(named))
    return named[found].before, found


class _Search:
    """The semidefinite program of the potential, with the rate as a parameter."""

    def __init__(self, record: Record, terms: Sequence[_Term], measure: Form) -> None:
        import cvxpy as cp

        complete = completed(record)
        program = semidefinite_program(complete, [term.before for term in terms] + [term.after for term in terms])
        program = replace(program, inequalities=tuple(c for c in program.inequalities if "objective" not in c.label))
        loose = next((one for one in program.constraints if one.bound), None)
        if loose is not None:
            message = f"a round must have no condition with a constant, got {loose.label} with {loose.bound}"
            raise AssumptionViolated(message)
        conditions = [one.form for one in program.constraints]
        forms = [*conditions, *(t.before for t in terms), *(t.after for t in terms), measure]
        matrices, levels = _as_arrays(forms, program)
        m, n = len(conditions), len(terms)
        self.rate, self.least = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        self.coefficients, self.share = cp.Variable(n), cp.Variable()
        # rho V(before) - V(after), and V(before) - share * measure, plus multiples of the conditions.
        contraction = [cp.Variable(m), self.rate * self.coefficients, -self.coefficients, np.zeros(1)]
        domination = [cp.Variable(m), self.coefficients, np.zeros(n), cp.reshape(-self.share, (1,), order="C")]
        limits = [cp.norm_inf(self.coefficients) <= 1, self.share >= self.least]
        for combined in (contraction, domination):
            limits += self._is_nonnegative(cp, matrices, levels, program, cp.hstack(combined), m)
        self.largest_share = cp.Problem(cp.Maximize(self.share), limits)
        self.inside = cp.Problem(cp.Minimize(0), limits)

    @staticmethod
    def _is_nonnegative(
        cp: Any, matrices: Sequence[Array], levels: Array, program: Program, combined: Any, m: int
    ) -> list[Any]:
        """Demand that a combination of forms is a sum of squares."""
        limits = [levels.T @ combined == 0] if levels.size else []
        first = len(program.equalities)
        if m > first:
            limits.append(combined[first:m] >= 0)
        for matrix in matrices:
            size = matrix.shape[1]
            total = cp.reshape(matrix.reshape(len(matrix), -1).T @ combined, (size, size), order="C")
            limits.append((total + total.T) / 2 >> 0)
        return limits

    def share_at(self, rho: float) -> float:
        """Return the largest share of the measure that a potential bounds if it contracts by rho; 0 if there is none.

        The coefficients of the potential are at most 1.
        """
        self.rate.value, self.least.value = rho, 0.0
        return float(self.share.value) if _is_solved(self.largest_share) else 0.0

    def potential(self, rho: float) -> Array | None:
        """Return coefficients of a potential that contracts by rho and bounds the measure, or None."""
        self.least.value = self.share_at(rho) / 2
        return self.coefficients.value / self.share.value if self.least.value and _is_solved(self.inside) else None


def _is_solved(problem: Any) -> bool:
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate solution is also used as a hint
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:
            return False
    return problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)


def _as_arrays(forms: Sequence[Form], program: Program) -> tuple[list[Array], Array]:
    """Return the Gram matrices of forms for each block, shape (forms, size, size), and their function values."""
    matrices = [np.zeros((len(forms), size, size)) for size in program.sizes]
    used = dict.fromkeys(value for form in forms for value in form.values if value not in program.zeros)
    number = {value: column for column, value in enumerate(used)}
    levels = np.zeros((len(forms), len(number)))
    for row, form in enumerate(forms):
        for (u, v), c in form.products.items():
            for (block, i), left in u.coordinates.items():
                for (other, j), right in v.coordinates.items():
                    if block == other:
                        matrices[block][row, i, j] += float(c * left * right)
        for value, c in form.values.items():
            if value in number:
                levels[row, number[value]] += float(c)
    return [(each + each.transpose(0, 2, 1)) / 2 for each in matrices], levels


def _proved(
    problem: Problem,
    terms: Sequence[_Term],
    potentials: Sequence[Array],
    measure: Form,
    name: str,
    smallest: float,
    tolerance: float,
) -> Rate:
    """Round a potential to rationals, as coarsely as the rate allows, and prove both inequalities."""
    best, tried = None, set[tuple[Fraction, ...]]()
    for denominator, found in product(_DENOMINATORS, potentials):
        coefficients = [Fraction(float(c)).limit_denominator(denominator) for c in found]
        largest = max(map(abs, coefficients))
        shape = tuple(c / largest for c in coefficients) if largest else ()
        if not shape or shape in tried:
            continue
        tried.add(shape)
        before = reduce(add, (c * term.before for c, term in zip(coefficients, terms, strict=True)))
        after = reduce(add, (c * term.after for c, term in zip(coefficients, terms, strict=True)))
        try:
            contraction, dominated = _worst(problem, before, after), _worst(problem, before, measure)
        except (AssumptionViolated, OracleError):
            continue  # there is no proof for this rounding
        rho, share = contraction.upper, dominated.upper
        if rho is None or rho >= _LARGEST or share is None or share <= 0:
            continue
        if best is None or rho < best.value:
            # Scale V such that it bounds the measure.
            used = [(c, term.before) for c, term in zip(coefficients, terms, strict=True) if c]
            if len(used) == 1 and used[0][1] is measure:
                share = 1 / used[0][0]
            scaled = {term.name: share * c for term, c in zip(terms, coefficients, strict=True)}
            best = Rate(rho, scaled, name, (contraction, dominated))
        if rho <= smallest * (1 + tolerance):
            return best
    if best is None:
        note = ": it may be sublinear" if smallest > _SUSPICIOUS else ""
        message = (
            f"a potential with a rate of about {smallest:.9g} was found, but no rate below 1 could be proved{note}"
        )
        raise OracleError(message)
    return best


def _worst(problem: Problem, potential: Form, objective: Form) -> WorstCase:
    """Prove the largest value of a form where the potential is at most 1."""
    one = Problem()
    one.record = problem.record.copy()
    one.at_most(potential, 1, name="V")
    one.maximize(objective)
    return one.solve()
