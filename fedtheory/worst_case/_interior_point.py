"""An interior-point method for semidefinite programs, in doubles.

It follows the central path of the homogeneous self-dual embedding (Ye, Todd and Mizuno 1994) by the directions of
Helmberg, Rendl, Vanderbei and Wolkowicz (1996), Kojima, Shindoh and Hara (1997) and Monteiro (1997), with Mehrotra's
corrector. The embedding of every program has a solution. If ``tau`` stays positive, this solution is one of the program
and its dual. If ``kappa`` stays positive, the multipliers show that no point fulfills the constraints, or the Gram
matrices show that the value is infinite. Near a solution, ``tau`` is fixed at 1, and steps aim at points and
multipliers that violate no constraint. The results are not proofs; ``proofs`` verifies them in rationals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._elimination import ForMatrices, ForMultipliers, cholesky, solve_lower
from fedtheory.worst_case._sparse_forms import SparseForms, at, combined

_MOST_STEPS = 200
# Share of the longest step to the boundary that is taken.
_CAUTION = 0.95
# The state is near the end of the path if the sum of the products is less than this share of the value.
_CLOSE = 1e-8
# A step is good if it is longer than the first share of the full step, and poor if it is shorter than the second.
_FAR, _NEAR = 0.5, 0.1
# Least target of the products of a positive number and its multiplier, as a share of their mean.
_LEAST_CENTERING = 1e-3
# A solution is assumed to exist if tau exceeds kappa by this factor and both objectives agree to this share, or if tau
# exceeds kappa by the larger factor, for a value of 0.
_AGREED, _DOMINANT, _VERY_DOMINANT = 1e-2, 1e3, 1e6
# A constraint that is violated by less than this share of the objective may be fulfilled up to rounding errors.
_ROUGHLY = 1e-4
# A tau below this share of kappa counts as 0.
_GONE = 1e-12
# A residual is small if it is less than this share of the positive number or matrix that it belongs to.
_LITTLE = 0.1
# A value that appears to be less than the first number may be 0; below the second one, the path ends.
_VANISHING, _VANISHED = 1e-8, 1e-60
# The path ends after this many steps that reduce neither the mean product nor the residual by a tenth.
_STALLED = 12


class Data(NamedTuple):
    """A program to be maximized, as arrays; row 0 is the objective.

    ``grams`` are of each block the symmetric matrices of all rows, shapes (1 + m, n, n), as arrays or as
    ``SparseForms``. ``values`` are coefficients of function values in linearly independent columns, shape (1 + m, k).
    ``bounds`` are the right-hand sides, and ``loose`` is 1 for an inequality and 0 for an equality, shapes (m,).
    """

    grams: tuple[Any, ...]
    values: Array
    bounds: Array
    loose: Array

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(gram.shape[-1] for gram in self.grams)

    def forms(self, grams: Sequence[Array]) -> Array:
        """Return the values of all rows at Gram matrices, without function values, shape (1 + m,)."""
        return _sum(at(own, G) for own, G in zip(self.grams, grams, strict=True))

    def combined(self, multipliers: Array) -> list[Array]:
        """Return the sum of multiplier times matrix over the constraints, for each block."""
        return [combined(own, multipliers) for own in self.grams]


class State(NamedTuple):
    """A point and multipliers, both multiplied by tau, and their slacks, which are 0 for equalities.

    ``dual_slacks`` has a matrix for each block; tau and kappa are 1 and 0 near a solution.
    """

    grams: tuple[Array, ...]
    values: Array
    slacks: Array
    multipliers: Array
    dual_slacks: tuple[Array, ...]
    tau: Array
    kappa: Array

    @property
    def settled(self) -> bool:
        return not self.kappa.any()

    def moved(self, step: State, primal: float, dual: float) -> State:
        """Return the state after the given shares of a step of the point and of the multipliers."""
        return State(
            tuple(_symmetric(G + dG * primal) for G, dG in zip(self.grams, step.grams, strict=True)),
            self.values + step.values * primal,
            self.slacks + step.slacks * primal,
            self.multipliers + step.multipliers * dual,
            tuple(_symmetric(Z + dZ * dual) for Z, dZ in zip(self.dual_slacks, step.dual_slacks, strict=True)),
            self.tau + step.tau * primal,
            self.kappa + step.kappa * primal,
        )


def beginning(data: Data) -> State:
    """Return the first state of a path: unit matrices and ones."""
    units = tuple(np.eye(size) for size in data.sizes)
    one = np.ones(())
    return State(units, np.zeros(data.values.shape[1]), data.loose, data.loose, units, one, one)


class Progress(NamedTuple):
    """A state and its distance from a solution.

    ``reached`` is the objective at the point, and ``promised`` the bound of the multipliers. ``inside`` says whether
    they violate no constraint, ``empty`` whether the multipliers may show that no point fulfills the constraints, and
    ``infinite`` whether the point may show that the value is infinite.
    """

    state: State
    reached: float
    promised: float
    inside: bool
    empty: bool
    infinite: bool

    @property
    def largest(self) -> float:
        return max(abs(self.reached), abs(self.promised))

    @property
    def vanishing(self) -> bool:
        """Whether the value may be 0."""
        return self.state.settled and self.largest < _VANISHING

    @property
    def distance(self) -> float:
        """The difference of the two objectives, relative to the larger one; it ignores violated constraints."""
        return abs(self.promised - self.reached) / max(self.largest, _VANISHED)

    def promising(self, narrow: float) -> bool:
        """Whether point and multipliers should prove an enclosure of this relative width."""
        return self.state.settled and self.inside and self.promised - self.reached <= narrow * self.largest


def path(data: Data, state: State) -> Iterator[Progress]:
    """Yield the states of a path to a solution or a certificate that there is none, until rounding stops progress."""
    best, since = np.full(2, np.inf), 0
    for _ in range(_MOST_STEPS):
        try:
            equations = _Equations(data, _settled(data, state))
            progress = equations.progress()
            yield progress
            if progress.state.settled and progress.largest < _VANISHED:
                return
            state = equations.next_state()
        except np.linalg.LinAlgError:
            return
        now = np.array([equations.mean, equations.missing()])
        since = 0 if (now < 0.9 * best).any() else since + 1
        best = np.minimum(best, now)
        if since > _STALLED or float(state.tau) < _GONE * float(state.kappa):
            return


def _settled(data: Data, state: State) -> State:
    """Divide a state by tau if tau is much larger than kappa and both objectives nearly agree."""
    reached = float(data.forms(state.grams)[0] + data.values[0] @ state.values)
    promised = float(data.bounds @ state.multipliers)
    tau, kappa = float(state.tau), float(state.kappa)
    agreed = abs(reached - promised) <= _AGREED * abs(promised) or tau > _VERY_DOMINANT * kappa
    if state.settled or tau < _DOMINANT * kappa or not agreed:
        return state
    shares: list[Any] = [
        tuple(part / state.tau for part in parts) if isinstance(parts, tuple) else parts / state.tau for parts in state
    ]
    return State(*shares)._replace(kappa=state.kappa * 0.0)


@final
class _Equations:
    """The linearized equations of a state, after elimination.

    With Gram matrices G, function values f, slacks s, multipliers y and dual slacks Z: ``A(G) + a f + s = b tau``,
    ``sum y A = Z + C tau``, ``a' y = c tau``, ``C(G) + c f = b y + kappa``, and every product of a positive number, or
    matrix, and its multiplier is the same target.
    """

    def __init__(self, data: Data, state: State) -> None:
        self.data, self.state = data, state
        loose, G, y = data.loose, state.grams, state.multipliers
        self.a, self.b, self.c = data.values[1:], data.bounds, data.values[0]
        taken = data.forms(G) + data.values @ state.values
        self.reached, self.promised, self.taken = taken[0], _inner(self.b, y), taken[1:]
        # Residuals of the equations.
        self.primal = self.b * state.tau - self.taken - state.slacks
        self.dual = [
            S - Z - own[0] * state.tau
            for S, Z, own in zip(data.combined(y), state.dual_slacks, data.grams, strict=True)
        ]
        self.level = self.c * state.tau - y @ self.a
        self.gap = self.reached - self.promised - state.kappa
        # The mean product, which is the target of a step that changes only the residuals.
        products = _sum(_inner(left, right) for left, right in zip(G, state.dual_slacks, strict=True)) + _inner(
            state.slacks, y
        )
        degree = sum(data.sizes) + loose.sum() + (not state.settled)
        self.mean = float(products + state.tau * state.kappa) / degree
        self.degree = degree
        # Triangles of all matrices.
        self.triangles = [cholesky(X) for X in G]
        self.left_triangles = [cholesky(Z) for Z in state.dual_slacks]
        roots = [solve_lower(L, np.eye(n)) for L, n in zip(self.left_triangles, data.sizes, strict=True)]
        self.inverses = [root.T @ root for root in roots]
        self.ratios = state.slacks / self._positive(y)
        self.elimination: ForMatrices | ForMultipliers
        if isinstance(data.grams[0], SparseForms):
            self.elimination = ForMatrices(data.grams, self.a, self.triangles, state.dual_slacks, self.ratios)
        else:
            self.elimination = ForMultipliers(data.grams, self.a, self.triangles, roots, self.ratios)
        self.solve = self.elimination.solve
        # Effects of the residuals and of a change of tau on a step.
        self.moved = [_symmetric(X @ R @ inverse) for X, R, inverse in zip(G, self.dual, self.inverses, strict=True)]
        self.missed = data.forms(self.moved)
        self.of_objective = self.elimination.of_objective
        self.per_tau = None if state.settled else self.solve(self.of_objective[1:] - self.b, self.c)

    def _positive(self, numbers: Array) -> Array:
        """Replace the entries of equalities by 1."""
        return numbers * self.data.loose + (1.0 - self.data.loose)

    def direction(self, centering: float, aim: float, second: State | None = None) -> State:
        """Return the step to products that are a share of their mean.

        ``aim`` is the share of the residuals that the step removes; ``second`` is a step whose second-order terms are
        taken into account.
        """
        data, state, target = self.data, self.state, centering * self.mean
        wanted = [inverse * target - X for X, inverse in zip(state.grams, self.inverses, strict=True)]
        scalar, kappa = data.loose * target, target
        if second:
            changes = zip(second.grams, second.dual_slacks, self.inverses, strict=True)
            wanted = [W - _symmetric(dX @ dZ @ inverse) for W, (dX, dZ, inverse) in zip(wanted, changes, strict=True)]
            scalar, kappa = scalar - second.slacks * second.multipliers, kappa - second.tau * second.kappa
        by_form = data.forms(wanted) - self.missed * aim
        slacks = scalar / self._positive(state.multipliers) - state.slacks
        dy, df, moved = self.solve(by_form[1:] + slacks - self.primal * aim, self.level * aim)
        d_tau = d_kappa = state.kappa * 0.0
        if self.per_tau:
            of_kappa = kappa / state.tau - state.kappa
            both = self.of_objective[1:] + self.b
            y_tau, f_tau, moved_tau = self.per_tau
            owed = of_kappa - self.gap * aim - by_form[0] + _inner(both, dy) - _inner(self.c, df)
            d_tau = owed / (
                self.of_objective[0] + state.kappa / state.tau - _inner(both, y_tau) + _inner(self.c, f_tau)
            )
            dy, df = dy + y_tau * d_tau, df + f_tau * d_tau
            if moved is not None and moved_tau is not None:
                moved = [V + V_tau * d_tau for V, V_tau in zip(moved, moved_tau, strict=True)]
            d_kappa = of_kappa - state.kappa / state.tau * d_tau
        dual_slacks = tuple(
            S - own[0] * d_tau + R * aim for S, own, R in zip(data.combined(dy), data.grams, self.dual, strict=True)
        )
        factors = [*zip(state.grams, self.inverses, strict=True)]
        if moved is None:
            lost = [_symmetric(X @ dZ @ inverse) for (X, inverse), dZ in zip(factors, dual_slacks, strict=True)]
        else:
            # This expression is more accurate than the one in terms of the multipliers.
            of_tau = [_symmetric(X @ own[0] @ inverse) for (X, inverse), own in zip(factors, data.grams, strict=True)]
            lost = [V - C * d_tau + R * aim for V, C, R in zip(moved, of_tau, self.moved, strict=True)]
        grams = tuple(W - change for W, change in zip(wanted, lost, strict=True))
        return State(grams, df, slacks - self.ratios * dy, dy, dual_slacks, d_tau, d_kappa)

    def longest(self, step: State) -> tuple[float, float]:
        """Return the largest multiples of a step at which the point, and the multipliers, stay positive."""
        state, loose = self.state, self.data.loose > 0
        numbers = [(state.slacks[loose], step.slacks[loose])]
        if not state.settled:
            numbers += [(one.reshape(1), change.reshape(1)) for one, change in zip(state[-2:], step[-2:], strict=True)]
        primal = _shrinking(self.triangles, step.grams, numbers)
        dual = _shrinking(self.left_triangles, step.dual_slacks, [(state.multipliers[loose], step.multipliers[loose])])
        if not state.settled:
            primal = dual = max(primal, dual)
        return 1.0 / max(primal, 1e-300), 1.0 / max(dual, 1e-300)

    def next_state(self) -> State:
        """Return the state after a step; its target is chosen with a predictor step to products of 0."""
        state = self.state
        if state.settled and not self.inside():
            # A step that keeps the products and removes the residuals. The full step removes all residuals. Near the
            # solution, a part of the step or larger products are accepted, too.
            near = self.mean * self.degree < _CLOSE * abs(float(self.promised))
            for centering in (1.0, 10.0, 100.0) if near else (1.0,):
                step = self.direction(centering, aim=1.0)
                shares = [1.0 if longest > 1.0 else _CAUTION * longest for longest in self.longest(step)]
                if min(shares) > (_FAR if near else _CAUTION):
                    return state.moved(step, *shares)
        straight = self.direction(0.0, aim=1.0)
        primal, dual = (min(1.0, longest) for longest in self.longest(straight))
        length = min(primal, dual)
        if state.settled:
            left = self._products_after(straight, primal, dual) / (self.mean * self.degree)
            # Residuals have to decrease faster than the products.
            centering = max(min(left**2, 1.0), _LEAST_CENTERING if self.inside() and length > _NEAR else 0.3)
            step = self.direction(centering, aim=1.0, second=straight)
        else:
            centering = max((1.0 - length) ** (1 if length < _NEAR else 3), _LEAST_CENTERING)
            step = self.direction(centering, aim=1.0 - centering, second=straight)
            if min(self.longest(step)) < _NEAR / 2:
                centering = max(centering, 0.5)
                step = self.direction(centering, aim=1.0 - centering)
        return state.moved(step, *(min(1.0, _CAUTION * longest) for longest in self.longest(step)))

    def progress(self) -> Progress:
        """Return the state and its distance from a solution."""
        tau, reached, promised = (float(x) for x in (self.state.tau, self.reached, self.promised))
        empty = infinite = False
        if float(self.state.kappa) > tau:
            # A state that fulfills the constraints up to rounding errors is verified in rationals.
            least = min(
                float(np.linalg.eigvalsh(S).min(initial=0.0)) for S in self.data.combined(self.state.multipliers)
            )
            empty = promised < 0 and least > _ROUGHLY * promised
            taken = self.taken[self.data.loose > 0]
            infinite = reached > 0 and float(taken.max(initial=0.0)) < _ROUGHLY * reached
        return Progress(self.state, reached / tau, promised / tau, self.inside(), empty, infinite)

    def inside(self) -> bool:
        """Whether the residuals are small relative to the slacks, so that no constraint is violated."""
        loose = self.data.loose > 0
        missing = np.abs(self.primal)
        if (missing[loose] > _LITTLE * self.state.slacks[loose]).any():
            return False
        # Residuals of equalities require a change of the Gram matrices, which must be relatively small.
        if self.elimination.owed(self.primal * (1.0 - self.data.loose)) > _LITTLE**2 * self.mean:
            return False
        return all(_shrinking(self.left_triangles, dual, []) < _LITTLE for dual in (self.dual, [-R for R in self.dual]))

    def missing(self) -> float:
        """Return the largest absolute value of the residuals."""
        return max(float(np.abs(part).max(initial=0.0)) for part in (self.primal, *self.dual, self.level))

    def _products_after(self, step: State, primal: float, dual: float) -> float:
        """Return the sum of all products after the given shares of a step."""
        there = self.state.moved(step, primal, dual)
        pairs = zip((*there.grams, there.slacks), (*there.dual_slacks, there.multipliers), strict=True)
        return sum(float(np.vdot(left, right)) for left, right in pairs)


def _shrinking(triangles: Sequence[Array], changes: Sequence[Array], numbers: Iterable[tuple[Array, Array]]) -> float:
    """Return the largest relative decrease of a positive number, or matrix, in a step."""
    fastest = 0.0
    for L, change in zip(triangles, changes, strict=True):
        relative = solve_lower(L, solve_lower(L, change).T)
        fastest = max(fastest, -float(np.linalg.eigvalsh((relative + relative.T) / 2).min(initial=0.0)))
    for number, change in numbers:
        fastest = max(fastest, float((-change / number).max(initial=0.0)))
    return fastest


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) * 0.5


def _inner(left: Array, right: Array) -> Any:
    return (left.reshape(1, -1) @ right.reshape(-1, 1))[0, 0]


def _sum(parts: Iterable[Array]) -> Array:
    return reduce(add, parts)
