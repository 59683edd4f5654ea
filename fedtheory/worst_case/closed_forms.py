"""Closed forms: from worst cases at numbers to a theorem for all constants of a domain.

The program is run once with named constants. Its multipliers at rational constants are computed exactly and
interpolated by rational functions. What is proved is proved symbolically: the combination of conditions less the
objective is a sum of squares, an identity of rational functions, and all signs on the domain have certificates.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, final

from fedtheory._storage import files
from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.errors import OracleError
from fedtheory.worst_case._constants import Constant, evaluate, function_of, number_of
from fedtheory.worst_case._coq_names import new_file
from fedtheory.worst_case._domains import Domain
from fedtheory.worst_case._exact_multipliers import Family, Point
from fedtheory.worst_case._interpolated_multipliers import Samples
from fedtheory.worst_case._names import LATEX, TEXT, Names
from fedtheory.worst_case._readable_proofs import Written, statement_of, text_of
from fedtheory.worst_case._record import Record
from fedtheory.worst_case._semidefinite import Program, completed, conditions_of
from fedtheory.worst_case._vectors import Form, fraction
from fedtheory.worst_case.problem import Problem

__all__ = ["ClosedForm", "closed_form"]

_COMPARED = 12
"""Constants at which the value is compared with a guess."""
_CALLED = 4
"""Numbers at which the program is called, in addition to its call with named constants."""
_LONGEST = 300
"""Largest number of characters of an expression in a message."""
_TRIED = 2000
"""Constants at which a function whose sign is not proved is evaluated."""


class Square(NamedTuple):
    """A coefficient, which is at least 0, and the coordinates of what is squared, in one block."""

    coefficient: Any
    block: int
    row: tuple[Any, ...]


@final
@dataclass(frozen=True, eq=False)
class ClosedForm:
    """An upper bound that is proved for all constants of a domain.

    Attributes
    ----------
    value
        The bound, an expression of SymPy.
    domain
        The inequalities between the constants, as text.
    multipliers
        Expressions by the label of the condition.
    pieces
        Where the bound is the larger one of two: both, each with its part of the domain.
    """

    value: Any
    domain: tuple[str, ...]
    multipliers: Mapping[str, Any]
    pieces: tuple[ClosedForm, ...] = ()
    _proved: _Proved | None = None

    def __repr__(self) -> str:
        return f"<closed form: at most {self.value} where {', '.join(self.domain)}>"

    @property
    def squares(self) -> tuple[tuple[Any, str], ...]:
        """The sum of squares: coefficients, which are at least 0, and what is squared."""
        one = self._single("squares")
        names = Names(one.record, _style(TEXT))
        return tuple((s.coefficient.as_expr(), names.combination(one.coordinates(s))) for s in one.squares)

    def proof(self, *, latex: bool = False) -> str:
        """Return the theorem with its proof, as text or as environments of LaTeX's package amsmath."""
        if self.pieces:
            return "\n\n".join(one.proof(latex=latex) for one in self.pieces)
        return self._single("a proof").text(latex=latex)

    def coq(self, path: str | Path, name: str = "closed_form") -> None:
        """Write a theorem in Coq whose constants are variables, with its proof, to a new file that ends in ``.v``.

        Names of the theorems of two pieces end in a number. Raises ValueError if a part of the problem has no formal
        statement, the file exists, or Coq cannot load a file or a theorem of that name.
        """
        from fedtheory.worst_case._coq_closed_forms import file_of

        target = new_file(path)
        proofs = [one._single("a formal theorem") for one in self.pieces or (self,)]
        files.place(target, file_of(proofs, name).encode(), new=True)

    def __call__(self, **constants: Any) -> Fraction:
        """Return the bound at rational constants of the domain."""
        for piece in self.pieces or (self,):
            one = piece._single("a value")
            if {*constants} != {*one.domain.names}:
                message = f"constants must be {', '.join(one.domain.names)}, got {', '.join(constants) or 'none'}"
                raise TypeError(message)
            point = tuple(fraction(name, constants[name]) for name in one.domain.names)
            if one.domain.contains(point):
                return evaluate(one.value, point)
        message = f"constants must fulfill {', '.join(self.domain)}, got {truncate(str(constants))}"
        raise ValueError(message)

    def covers(self, domain: Callable[..., Any]) -> bool:
        """Whether a domain, as in ``closed_form``, is proved to lie inside the domain of this bound."""
        whole = (self.pieces or (self,))[0]._single("a domain").domain
        inside = Domain(whole.names, domain)
        limits = whole.inequalities[: len(self.domain)]  # that of a piece comes last
        return all(inside.holds(inside.field(limit), strict=strict) for limit, strict in limits)

    def is_at_most(self, value: Any, domain: Callable[..., Any]) -> bool:
        """Whether a rational function in SymPy is proved to be at least this bound on a domain inside its domain.

        Its symbols have the names of the constants.
        """
        if not self.covers(domain):
            return False
        for one in (piece._single("a piece") for piece in self.pieces or (self,)):
            whole = Domain(one.domain.names, domain)
            limits = one.domain.inequalities[len(self.domain) :]
            symbols = {symbol: whole.field.symbols[whole.names.index(symbol.name)] for symbol in value.free_symbols}
            apart = whole.field.from_expr(value.xreplace(symbols)) - one.value
            if not any(part.holds(apart) for part in (whole, *(whole.with_positive(limit) for limit, _ in limits))):
                return False
        return True

    def _single(self, what: str) -> _Proved:
        if self._proved is None:
            message = f"{what} must be one of a piece, got {len(self.pieces)} pieces"
            raise ValueError(message)
        return self._proved


def closed_form(program: Callable[..., Problem], domain: Callable[..., Any], *, largest_degree: int = 12) -> ClosedForm:
    """Prove a worst case's upper bound for all constants of a domain.

    Raises OracleError if a step fails: there is no approximate solution, the multipliers are not unique or not
    rational, no rational function of the largest degree interpolates them, or a sign is not proved. The error says
    which one. Nothing is proved then. Raises TypeError if the program uses the number behind a constant.

    Parameters
    ----------
    program
        A function of named constants that returns a ``Problem``. It is called with constants that may be added,
        multiplied, divided, and compared with integers and fractions. Each comparison, also ``==``, has to have one
        outcome on the domain. The function is also called with some fractions, at which it must have the same
        conditions. It must not catch errors of ``Problem``, and must not depend on anything but its arguments.
    domain
        A function of the same constants, in the same order, that returns a list of inequalities, such as
        ``[0 < eta, eta * L < 2]``.
    largest_degree
        Largest degree of numerators and denominators that are tried.

    Notes
    -----
    Constants that a scaling of the problem removes should be numbers: with L = 1, a contraction factor is a function of
    ``mu / L`` and ``step_size * L``. Only the upper bound is proved: that it is attained is proved at numbers.

    Examples
    --------
    A step of gradient descent, with L = 1, contracts the squared distance by ``(1 - eta mu)^2`` if the step is short:

    >>> def step(mu, eta):
    ...     p = Problem()
    ...     f = p.function(mu, 1)
    ...     best, x = f.minimizer(), p.point("x")
    ...     p.at_most((x - best).square, 1)
    ...     p.maximize((x - eta * f.gradient(x) - best).square)
    ...     return p
    >>> found = closed_form(step, lambda mu, eta: [0 < mu, mu < 1, 0 < eta, eta * (1 + mu) < 2])
    >>> found.value.factor()
    (eta*mu - 1)**2
    """
    validate.count("largest_degree", largest_degree)
    names = _arguments(program)
    if not names:
        message = "program must be a function of named constants, got one without an argument"
        raise ValueError(message)
    with suppress(ValueError):  # a callable without a signature
        among = _arguments(domain)
        if sorted(among) == sorted(names) and among != names:
            message = (
                f"domain must have its arguments in the program's order, {', '.join(names)}, got {', '.join(among)}"
            )
            raise TypeError(message)
    whole = Domain(names, domain)
    points = [*islice(whole.points(), _COMPARED)]
    if not points:
        message = f"domain must have positive constants with denominators up to 19, got none that fulfill {whole.texts}"
        raise ValueError(message)
    search = _Search(program, whole, points)
    first = search.first(largest_degree)
    try:
        return search.proved(first, whole)
    except OracleError as error:
        other = search.elsewhere(first)
        if other is None:
            raise
        pieces = None
        with suppress(OracleError):
            second = search.piece(other, largest_degree, first)
            parts = _split(first.value - second.value, whole, other)
            pieces = parts and tuple(map(search.proved, (first, second), parts))
        if not pieces:
            raise error from None
    from sympy import Max

    value = Max(*(one.value for one in pieces), evaluate=False)
    return ClosedForm(value, whole.texts, {}, pieces)


def _arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments without a default."""
    return [one.name for one in inspect.signature(function).parameters.values() if one.default is one.empty]


def _split(apart: Any, whole: Domain, where_negative: Point) -> tuple[Domain, Domain] | None:
    """Return where a difference is at least 0 and at most 0, if one factor decides."""
    if not apart:
        return None
    _, factors = apart.numer.factor_list()
    unsure = [factor for factor, power in factors if power % 2 and whole.sign(factor, strict=False) is None]
    if len(unsure) != 1:
        return None
    [factor] = unsure
    if evaluate(whole.field(factor), where_negative) > 0:
        factor = -factor
    return whole.with_positive(factor), whole.with_positive(-factor)


@final
@dataclass(frozen=True)
class _Guess:
    """Multipliers of some constraints as rational functions around a point, and the bound; nothing is proved yet."""

    base: Point
    active: tuple[int, ...]
    multipliers: tuple[Any, ...]
    value: Any


@final
@dataclass(frozen=True)
class _Proved:
    """A theorem with all that its proof consists of."""

    record: Record
    program: Program
    objective: Form
    domain: Domain
    base: Point
    active: tuple[int, ...]
    multipliers: tuple[Any, ...]
    squares: tuple[Square, ...]
    value: Any

    def constant(self, function: Any) -> Constant:
        """Return a rational function as a constant."""
        return Constant(evaluate(function, self.base), function, set())

    def coordinates(self, square: Square) -> dict[tuple[int, int], Constant]:
        return {(square.block, place): self.constant(c) for place, c in enumerate(square.row) if c}

    def squares_of(self, gram: Sequence[Sequence[Any]]) -> list[tuple[Constant, list[Constant]]]:
        """Return squares whose sum a matrix of constants is."""
        functions = [[function_of(c, self.domain.field) for c in row] for row in gram]
        found = _squares(functions, 0, self.domain)
        return [(self.constant(one.coefficient), [*map(self.constant, one.row)]) for one in found]

    def text(self, *, latex: bool) -> str:
        style = _style(LATEX if latex else TEXT)
        names = Names(self.record, style)
        said = statement_of(self.record, [self.objective], names)
        said.given.insert(0, f"constants with {', '.join(self.domain.texts)}")
        constraints = self.program.constraints
        terms = [
            (style.number(self.constant(y)), constraints[k].label, names.terms(constraints[k].form),
             "=" if constraints[k].is_equality else style.at_most, style.number(constraints[k].bound))
            for k, y in zip(self.active, self.multipliers, strict=True)
        ]  # fmt: skip
        squares = [
            names.sum([(self.constant(s.coefficient), style.square.format(names.combination(self.coordinates(s))))])
            for s in self.squares
        ]
        found = Written(style.number(self.constant(self.value)), terms, squares)
        signs = "On the domain all multipliers of inequalities and all coefficients of squares are at least 0."
        return "\n".join([text_of(self.record, said, found, names, latex=latex), signs])


def _style(style: Any) -> Any:
    """Return a style that prints rational functions, a sum in parentheses."""

    def number(c: Any) -> str:
        if not isinstance(c, Constant) or (c.function.numer.is_ground and c.function.denom.is_ground):
            return str(style.number(number_of(c)))
        from sympy import factor, latex

        made = factor(c.function.as_expr())
        if style is LATEX:
            return f"\\left({latex(made)}\\right)" if made.is_Add else str(latex(made))
        return f"({made})" if made.is_Add or made.is_Mul else str(made)

    return style._replace(number=number)


@final
class _Search:
    """One run of a program with named constants, and solutions at numbers."""

    def __init__(self, program: Callable[..., Problem], whole: Domain, points: Sequence[Point]) -> None:
        self.domain, self.points = whole, points
        compared: set[tuple[Any, bool]] = set()
        constants = [Constant(c, x, compared) for c, x in zip(points[0], whole.constants, strict=True)]
        self.record, self.objective = _called(program, constants)
        self.program = conditions_of(self.record, [self.objective])
        if not self.program.constraints:
            message = "a program must have a constraint, at_most for example, got none"
            raise ValueError(message)
        self.family = Family(self.program, whole.field)
        self._check_comparisons(compared)
        self._check_at_numbers(program)

    def _check_comparisons(self, compared: set[tuple[Any, bool]]) -> None:
        """Raise OracleError unless all comparisons of the program have one outcome on the domain."""
        for apart, strict in sorted(compared, key=str):
            if not apart:
                message = "a program must only add, multiply, divide and compare constants, got another use of one"
                raise OracleError(message)
            if not self.domain.holds(apart, strict=strict):
                found = f"{_short(apart)} {'>' if strict else '>='} 0, {_unproved(apart, self.domain)}"
                message = f"a comparison of the program must have one outcome, got {found}"
                raise OracleError(message)

    def _check_at_numbers(self, program: Callable[..., Problem]) -> None:
        """Raise OracleError if the program has other conditions at numbers than with named constants.

        The program may depend on the types of its arguments, or on earlier calls.
        """
        for near in self.points[:_CALLED]:
            # Two points of a function that coincide at simple constants are one point there.
            point = tuple(x * (1 + Fraction(k, 9973)) for k, x in enumerate(near, start=1))
            point = point if self.domain.contains(point) else near
            record, objective = _called(program, point)
            if not self.family.becomes(Family(conditions_of(record, [objective]), self.domain.field), point):
                message = (
                    "a program must have the same conditions at numbers as with named constants, got others at "
                    f"{self.domain.named(point)}"
                )
                raise OracleError(message)

    def first(self, largest_degree: int) -> _Guess:
        """Interpolate the multipliers around the first point at which they are unique."""
        first_error: OracleError | None = None
        for point in self.points:
            try:
                return self.piece(point, largest_degree)
            except OracleError as error:
                first_error = first_error or error
        raise first_error or OracleError("no point of the domain was tried")

    def piece(self, base: Point, largest_degree: int, beside: _Guess | None = None) -> _Guess:
        """Interpolate the multipliers around a point; those that are not unique are taken from another guess."""
        numbers = self.family.at(base)
        found = self.family.reduced(numbers)
        if found is None:
            message = f"a worst case must have a finite value, got none at {self.domain.named(base)} in floating point"
            raise OracleError(message)
        kept, solution = found
        left_open = self.family.open(numbers, kept, solution)
        known = {} if beside is None else dict(zip(beside.active, beside.multipliers, strict=True))
        if not {*left_open} <= known.keys():
            labels = " and ".join(self.family.labels[k] for k in left_open[:4])
            message = f"the multipliers must be unique, got several of {labels} at {self.domain.named(base)}"
            raise OracleError(message)
        near = numbers.converted(float)
        shape = self.family.shape(near, kept, solution)
        start = self.family.newton(near, shape, self.family.start(near, shape, kept, solution))
        exact = None if start is None else self.family.polished(numbers, shape, start, left_open)
        if start is None or exact is None:
            message = (
                f"the multipliers must be rational numbers of few digits, got others at {self.domain.named(base)}: "
                f"the value is about {solution.value:.9g}"
            )
            raise OracleError(message)
        samples = Samples(self.family, self.domain, shape, left_open, base, start, exact)
        functions = tuple(
            known[k] if k in left_open else samples.interpolated(number, largest_degree)
            for number, k in enumerate(shape.active)
        )
        bounds = (y * self.family.bounds[k] for k, y in zip(shape.active, functions, strict=True))
        return _Guess(base, shape.active, functions, sum(bounds, start=self.domain.field.zero))

    def elsewhere(self, guess: _Guess) -> Point | None:
        """Return constants at which the value differs most from that of a guess; None if it differs at none."""
        furthest, most = None, 1e-6
        for point in self.points:
            found = self.family.solved(self.family.at(point), range(len(self.family.labels)))
            if found is not None:
                with suppress(ZeroDivisionError):
                    apart = abs(found.value - float(evaluate(guess.value, point))) / max(1, abs(found.value))
                    furthest, most = (point, apart) if apart > most else (furthest, most)
        return furthest

    def proved(self, guess: _Guess, domain: Domain) -> ClosedForm:
        """Verify a guess symbolically on a domain."""
        family, field = self.family, domain.field
        for number, y in zip(guess.active, guess.multipliers, strict=True):
            is_free = number < family.num_equalities
            if not (domain.sign(y.denom) is not None if is_free else domain.holds(y)):
                what = "no pole" if is_free else "at least 0"
                message = f"the multiplier of {family.labels[number]} must be {what}, got {_short(_factored(y))}"
                raise OracleError(f"{message}, {_unproved(y, domain)}")
        rows = [(field.one, number + 1, y) for number, y in zip(guess.active, guess.multipliers, strict=True)]
        weights = [(0, -field.one), *((row, y) for _, row, y in rows)]
        for place in range(family.num_values):
            if sum((y * family.levels[row].get(place, field.zero) for row, y in weights), field.zero):
                message = "the multipliers must make the function values cancel, got others"
                raise OracleError(message)
        squares: list[Square] = []
        for block, size in enumerate(family.sizes):
            left = [[field.zero] * size for _ in range(size)]
            for row, y in weights:
                for (other, i, j), c in family.forms[row].items():
                    if other == block:
                        left[i][j] += y * c / 2
                        left[j][i] += y * c / 2
            squares += _squares(left, block, domain)
        one = _Proved(self.record, self.program, self.objective, domain, guess.base, guess.active,
                      guess.multipliers, tuple(squares), guess.value)  # fmt: skip
        multipliers = {family.labels[k]: _factored(y) for k, y in zip(guess.active, guess.multipliers, strict=True)}
        return ClosedForm(_factored(guess.value), domain.texts, multipliers, _proved=one)


def _called(program: Callable[..., Problem], constants: Sequence[Fraction]) -> tuple[Record, Form]:
    """Return what a program records, and its objective."""
    problem = validate.instance("program", program(*constants), Problem, "a function that returns a Problem")
    if len(problem.objectives) != 1:
        message = f"a program must maximize one form, got {len(problem.objectives)}"
        raise ValueError(message)
    return completed(problem.record), problem.objectives[0]


def _factored(function: Any) -> Any:
    from sympy import factor

    return factor(function.as_expr())


def _short(expression: Any) -> str:
    """Return an expression for a message, cut if it is longer than a few lines."""
    text = str(expression)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _unproved(function: Any, domain: Domain) -> str:
    """Say that a sign is not proved, and where the function is negative, if such constants are found."""
    text = f"which is not proved where {', '.join(domain.texts)}"
    for point in islice(domain.points(), _TRIED):
        with suppress(ZeroDivisionError):
            if evaluate(function, point) < 0:
                return f"{text} (it is negative at {domain.named(point)})"
    return text


def _squares(left: list[list[Any]], block: int, domain: Domain) -> list[Square]:
    """Write a matrix of rational functions as a sum of squares, each with a coefficient that is at least 0."""
    found: list[Square] = []
    while any(any(row) for row in left):
        failed: Any = None
        diagonal = [k for k in range(len(left)) if left[k][k]]
        for pivot in sorted(diagonal, key=lambda k: (len(str(left[k][k])), k)):
            square = _square(left[pivot], pivot, block)
            if domain.holds(square.coefficient):
                break
            failed = failed or square.coefficient
        else:
            what = "another" if failed is None else f"the coefficient {_short(_factored(failed))} of a square"
            message = f"the combination of the conditions less the objective must be a sum of squares, got {what}"
            raise OracleError(message if failed is None else f"{message}, {_unproved(failed, domain)}")
        found.append(square)
        c, row = square.coefficient, square.row
        left = [[entry - c * row[i] * row[j] for j, entry in enumerate(line)] for i, line in enumerate(left)]
    return found


def _square(line: Sequence[Any], pivot: int, block: int) -> Square:
    """Return the square that removes a row, with polynomials as its coordinates."""
    d = line[pivot]
    row = [entry / d for entry in line]
    common = row[0].denom.ring.one
    for entry in row:
        common = common.lcm(entry.denom)
    scale = d.field(common)
    return Square(d / scale**2, block, tuple(entry * scale for entry in row))
