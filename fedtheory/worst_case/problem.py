"""Worst-case problems of user-defined methods.

A problem is formulated with inner products and function values, which are the unknowns of a semidefinite program. The
dimension of the space is not restricted. All numbers are integers and fractions, and the result is proved.

If the conditions on points, gradients and values of a class are necessary and sufficient, both sides are proved.
Otherwise only the upper side is proved. The files in ``function_classes`` say which classes are exact, and cite the
sources of their conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from itertools import count
from operator import add
from typing import Any, final, overload

from fedtheory._support import validate
from fedtheory._support.summary import Summary, short_text
from fedtheory._support.wording import format_number, truncate
from fedtheory.worst_case._constants import written
from fedtheory.worst_case._functions import Clients, Function, Operator, Sum, Term, own_vector
from fedtheory.worst_case._names import TEXT, Names
from fedtheory.worst_case._record import SERVER, Declared, Record, checked_name
from fedtheory.worst_case._semidefinite import Program, completed, relaxations, semidefinite_program
from fedtheory.worst_case._vectors import Form, Value, Vector, exact, fraction, one_owner
from fedtheory.worst_case.arguments import listed, positive_number
from fedtheory.worst_case.function_classes import class_of
from fedtheory.worst_case.function_classes.interface import FunctionClass
from fedtheory.worst_case.instances import is_attained
from fedtheory.worst_case.proofs import NARROW, prove, short_point
from fedtheory.worst_case.worst_cases import Case, WorstCase, worst_of

__all__ = ["Problem"]

LARGEST_BLOCK = 60
"""Largest number of rows of a block of a program that is solved."""
_SHOWN = 3
"""Number of functions and constraints in the summary of a problem."""


@final
class Problem:
    """A worst-case problem: functions, points and constraints, recorded in ``record``, and forms to maximize.

    The least of the forms in ``objectives`` is maximized.

    Examples
    --------
    Four steps of gradient descent of length 1/L on a smooth convex function, from a distance of at most 1:

    >>> from fractions import Fraction as Q
    >>> p = Problem()
    >>> f = p.function(L=3)
    >>> x_star, x = f.minimizer(), p.point("start")
    >>> p.at_most((x - x_star).square, 1, name="distance2")
    >>> for _ in range(4):
    ...     x = x - Q(1, 3) * f.gradient(x)
    >>> p.maximize(f.value(x) - f.value(x_star))
    >>> worst = p.solve()
    >>> lower, upper = worst.enclosure
    >>> lower <= Q(3, 18) <= upper, worst.relative_width < 1e-6
    (True, True)
    """

    def __init__(self) -> None:
        self.record = Record(owner=self._text_of)
        self.objectives: tuple[Form, ...] = ()

    def __repr__(self) -> str:
        return self._summary.text

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        names = Names(self.record)
        functions = [f"{one.name}: {_number_of(one)}{one.of.text(TEXT.number)}" for one in self.record.declared]
        constraints = [
            f"{names.form(one.form)} {'=' if one.is_equality else '<='} {format_number(one.bound)}"
            for one in self.record.constraints[:_SHOWN]
        ]
        objectives = [names.form(form) for form in self.objectives]
        rows = {
            "functions": _listed(functions, len(functions)),
            "constraints": _listed(constraints, len(self.record.constraints)),
            "maximizes": f"the least of {_listed(objectives, len(objectives))}"
            if objectives[1:]
            else "".join(objectives),
        }
        return Summary("Problem", {name: text for name, text in rows.items() if text})

    def _text_of(self, term: Vector | Value | Form) -> str:
        names = Names(self.record)
        return short_text(names.vector(term) if isinstance(term, Vector) else names.form(Form.of(term)))

    def point(self, name: str = "") -> Vector:
        """Return an arbitrary point, whose name in ``instance()``, in proofs and in messages must be unique.

        Vectors add, subtract and scale by integers and fractions; ``x @ y`` and ``x.square`` are forms.
        """
        return self.record.named(self.record.vector(), name)

    vector = point

    def name(self, vector: Vector, name: str) -> Vector:
        """Give a vector, such as a model of a method, a name as in ``point``, and return it; the origin has no name."""
        return self.record.named(own_vector("name", vector, self.record), name)

    @property
    def origin(self) -> Vector:
        """The zero vector. One point may be placed there if the problem depends only on differences of points."""
        return Vector({})

    @validate.names
    def function(
        self,
        mu: Any = 0,
        L: Any = None,
        *,
        lipschitz: Any = None,
        quadratic: bool = False,
        polyak: Any = None,
        minimum: int | None = None,
        name: str = "",
    ) -> Function:
        """Return a function of a class; combinations such as ``2 * f + g`` have the same methods.

        Parameters
        ----------
        mu, L
            Least and largest curvature. Without L the function need not be smooth; with a negative mu it need not be
            convex (``mu=-1, L=1``: smooth).
        lipschitz
            Largest length of a subgradient.
        quadratic
            Whether the function is quadratic, with eigenvalues from mu to L.
        polyak
            The constant m in ``f(x) - f* <= |grad f(x)|^2 / (2 m)`` for a smooth function; only an upper bound is
            proved.
        minimum
            The least value: 0, or None if it is arbitrary, for example if several functions have different minima.
        name
            Name of the function in proofs; it must be unique.
        """
        return self.function_of(_function_class(mu, L, lipschitz, quadratic, polyak), minimum=minimum, name=name)

    def function_of(
        self, of: FunctionClass, *, num_clients: int = 1, minimum: int | None = None, name: str = ""
    ) -> Function:
        """Return a function of a class that is written like those of ``worst_case.function_classes``.

        With several clients, each of them has a function of the class. ``minimum`` and ``name`` are as in ``function``.
        """
        validate.instance("of", of, FunctionClass, "a FunctionClass")
        number = validate.count("num_clients", num_clients)
        made = Function if number == 1 else Clients
        return made(self.record, self._called("f", name), of, self._least(minimum, of), num_clients=number)

    def indicator(self, diameter: Any = None, *, name: str = "") -> Function:
        """Return the indicator of a convex set: 0 on it, infinite outside.

        ``diameter`` bounds the diameter of the set, which may be unbounded by default. ``proximal`` is the projection,
        and ``linear_minimizer`` is a step of the Frank-Wolfe method.
        """
        return self.function_of(class_of({"indicator": True, "diameter": _optional("diameter", diameter)}), name=name)

    @validate.names
    def operator(
        self,
        *,
        monotone: bool = False,
        nonexpansive: bool = False,
        strongly_monotone: Any = None,
        cocoercive: Any = None,
        lipschitz: Any = None,
        name: str = "",
    ) -> Operator:
        """Return an operator of a class; with several hypotheses, only an upper bound is proved.

        Parameters
        ----------
        monotone, strongly_monotone
            ``<T x - T y, x - y>`` is at least 0, or at least this multiple of ``|x - y|^2``.
        nonexpansive, lipschitz
            ``|T x - T y|`` is at most ``|x - y|``, or at most this multiple of it.
        cocoercive
            ``<T x - T y, x - y>`` is at least this multiple of ``|T x - T y|^2``.
        name
            As of ``function``.
        """
        validate.boolean("monotone", monotone)
        validate.boolean("nonexpansive", nonexpansive)
        if (monotone and strongly_monotone is not None) or (nonexpansive and lipschitz is not None):
            message = "an operator must be described once, got two hypotheses that say the same in other words"
            raise ValueError(message)
        given = {
            "strongly_monotone": Fraction(0) if monotone else _optional("strongly_monotone", strongly_monotone),
            "cocoercive": _optional("cocoercive", cocoercive),
            "lipschitz": Fraction(1) if nonexpansive else _optional("lipschitz", lipschitz),
        }
        return Operator(self.record, self._called("T", name), class_of(given, "operator"))

    @validate.names
    def clients(
        self,
        num_clients: int,
        mu: Any = 0,
        L: Any = None,
        *,
        lipschitz: Any = None,
        quadratic: bool = False,
        minimum: int | None = None,
        name: str = "",
    ) -> Clients:
        """Return exchangeable clients with functions of a class; they take two blocks for any number of clients.

        Their weights are equal, and their functions are as in ``function``. A vector of these clients represents one
        vector per client, and a product of two such vectors is a mean over the clients. ``mean(v)`` is the mean of a
        vector, and ``minimizer()`` is the minimizer of the mean of all functions.
        """
        number = validate.count("num_clients", num_clients)
        of = _function_class(mu, L, lipschitz, quadratic, None)
        return Clients(self.record, self._called("f", name), of, self._least(minimum, of), num_clients=number)

    @overload
    def mean(self, outcomes: Sequence[Vector], weights: Sequence[Any] | None = None) -> Vector: ...

    @overload
    def mean(self, outcomes: Sequence[Form | Value], weights: Sequence[Any] | None = None) -> Form: ...

    @overload
    def mean(self, outcomes: Sequence[Term], weights: Sequence[Any] | None = None) -> Sum: ...

    def mean(self, outcomes: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
        """Return the expectation of vectors or forms over outcomes, or the mean of functions.

        ``weights`` are the probabilities of the outcomes; they are equal by default.
        """
        outcomes = listed("outcomes", outcomes, "a list of vectors, of forms or of functions")
        if not outcomes:
            message = "a mean must have an outcome, got none"
            raise ValueError(message)
        shares = (
            [Fraction(1, len(outcomes))] * len(outcomes) if weights is None else _probabilities(weights, len(outcomes))
        )
        terms = [one if isinstance(one, Vector | Term) else Form.of(one) for one in outcomes]
        if not any(all(isinstance(term, kind) for term in terms) for kind in (Vector, Term, Form)):
            message = "outcomes must be vectors, or forms, or functions, got some of several kinds"
            raise TypeError(message)
        return reduce(add, (share * term for share, term in zip(shares, terms, strict=True)))

    def number(self) -> Value:
        """Return an unconstrained number."""
        return self.record.value()

    def geometric_mean(self, one: Form | Value, other: Form | Value) -> Form:
        """Return a number that is at most the square root of the product of two nonnegative forms or numbers.

        It is the square root if larger values increase the objective. Otherwise only an upper bound is proved.
        """
        block = self.record.block()
        u, v = (self.record.vector(blocks=(block,), verb="root") for _ in range(2))
        self.at_most(u.square - one, 0)
        self.at_most(v.square - other, 0)
        self.record.roots.append((u, v))
        return u @ v

    def compressed(self, vector: Vector, eps: Any, *, name: str = "") -> Vector:
        """Return a compressed vector C(v), with ``|C(v) - v|^2 <= eps |v|^2``; ``name`` is as in ``point``."""
        share = positive_number("eps", eps)
        found = self.record.vector(own_vector("compressed", vector, self.record), verb="compressed", numbers=[share])
        self.record.at_most((found - vector).square - share * vector.square)
        return self.record.named(found, name)

    def unbiased(self, vector: Vector, omega: Any, *, clients: Clients | None = None, name: str = "") -> Vector:
        """Return a randomly compressed vector C(v), with ``E C(v) = v`` and ``E |C(v) - v|^2 <= omega |v|^2``.

        Expectations are conditional on earlier draws. Vectors that differ among clients are compressed independently by
        each client; ``clients`` compress independently even a vector that is the same for all of them.
        """
        share, v = positive_number("omega", omega), own_vector("unbiased", vector, self.record)
        # Whether clients draw noises of their own must be the same for all constants: none of these coefficients is 0.
        sources = {block: self.record.sources[block].owner for block in v.blocks}
        owners = {sources[block] for (block, _), c in v.coordinates.items() if sources[block] not in ("", SERVER) and c}
        owner = next(iter(owners), "") if clients is None else clients.name
        blocks = next((one.blocks for one in self.record.declared if one.name == owner), (0,))
        noise = self.record.noise(owner, v, blocks)
        self.record.at_most(noise.square - share * v.square)
        return self.record.named(v + noise, name)

    def at_most(self, form: Form | Value, bound: Any, name: str = "", share: Any = 1) -> None:
        """Demand that a form, a combination of inner products and function values, is at most ``share * bound``.

        Bound and share are integers or fractions. ``name`` is the name of the bound in the lemma that the multipliers
        prove; it is a number by default.
        """
        number = fraction("bound", bound)
        part = fraction("share", share)
        self.record.at_most(_not_null(self._own(form), number * part), number, name, part)

    def equal_to(self, form: Form | Value, bound: Any, name: str = "") -> None:
        """Demand that a form equals a number; the parameters are those of ``at_most``."""
        number = fraction("bound", bound)
        self.record.equal_to(_not_null(self._own(form), number), number, name)

    def maximize(self, *forms: Form | Value) -> None:
        """Set the objective: a form, or the minimum of several forms."""
        if not forms:
            message = "maximize must be given a form, got nothing"
            raise ValueError(message)
        self.objectives = tuple(map(self._own, forms))
        if any(form.says_nothing for form in self.objectives):
            message = "maximize must be given forms that differ from 0, got one that is 0 whatever the unknowns are"
            raise ValueError(message)

    def solve(self, narrow: float = NARROW) -> WorstCase:
        """Prove the largest value of the objective from both sides.

        ``narrow`` is the target for the width of the enclosure relative to the value. Raises AssumptionViolated if no
        functions and points fulfill the constraints, or the value is infinite; both are proved before. Raises
        OracleError if neither side of the value could be proved.
        """
        return worst_of([self.case((), narrow)])

    def without(self, *conditions: str) -> WorstCase:
        """Prove an upper bound without some conditions, for a shorter proof or for a larger class.

        The conditions are labels from the solution's ``labels`` or ``active``, such as ``"f0: x1, x2"``, which compares
        two points of f0. Raises OracleError if no bound is proved; the value may be infinite without the conditions.
        """
        return worst_of([self.case(conditions)])

    def case(self, omitted: Sequence[str] = (), narrow: float = NARROW) -> Case:
        """Return the current problem with its proof, in which the value, the point or the end may be missing."""
        validate.positive("narrow", narrow)
        record, program = self._programmed()
        labels = [one.label for one in program.inequalities]
        for one in omitted:
            validate.choice("a condition", one, tuple(labels))
        if omitted:
            kept = tuple(one for one in program.inequalities if one.label not in omitted)
            program = replace(program, inequalities=kept)
        if max(program.sizes) > LARGEST_BLOCK:
            message = f"a program must have at most {LARGEST_BLOCK} vectors in a block, got {max(program.sizes)}"
            raise ValueError(message)
        if not program.constraints:
            message = "a problem must have a constraint, at_most for example, got none"
            raise ValueError(message)
        relaxed = (*relaxations(record, program), *omitted)
        proof = prove(program, narrow)
        if proof.point is not None and proof.lower is not None and not (relaxed or proof.infinite):
            reached = partial(is_attained, record, self.objectives, program, lower=proof.lower)
            if not (reached(proof.point) or reached(short_point(proof) or proof.point)):
                relaxed = ("a run that misses the lower side",)
        return Case(record, self.objectives, relaxed, proof)

    def program(self) -> Program:
        """Return the semidefinite program."""
        return self._programmed()[1]

    def _programmed(self) -> tuple[Record, Program]:
        if not self.objectives:
            message = "a problem must maximize something, got no call of maximize"
            raise ValueError(message)
        record = completed(self.record)
        return record, semidefinite_program(record, self.objectives)

    def _least(self, minimum: int | None, of: FunctionClass) -> Value | None:
        if minimum is None:
            return None
        if exact("minimum", minimum) != 0:
            message = f"minimum must be 0 or None, got {truncate(minimum)}"
            raise ValueError(message)
        if not of.has_minimizer:
            message = f"minimum must be None for functions without a least value, got 0 for mu={written(of.mu)}"
            raise ValueError(message)
        return self.record.zero()

    def _called(self, letter: str, name: str) -> str:
        """Return the name of a function, or a new one."""
        taken = {one.name for one in self.record.declared}
        return checked_name(name) or next(free for n in count() if (free := f"{letter}{n}") not in taken)

    def _own(self, form: Form | Value) -> Form:
        """Return a form after checking that it belongs to this problem."""
        found = Form.of(form)
        owner = one_owner(*(vector for pair in found.products for vector in pair), *found.values)
        if owner not in (None, self.record.owner):
            message = "forms must be of the problem that they are given to, got one of another problem"
            raise ValueError(message)
        for pair in found.pairs:
            self.record.refuse_dependent(*pair)
        return found


def _number_of(one: Declared) -> str:
    return f"{one.num_clients} clients, each " if one.num_clients > 1 else ""


def _listed(texts: Sequence[str], number: int) -> str:
    more = [f"and {number - _SHOWN} more"] if number > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *more])


def _not_null(form: Form, bound: Fraction) -> Form:
    """Raise ValueError for a square that must be 0, since the program then has no interior point."""
    squares = {u.key == v.key and c > 0 for (u, v), c in form.products.items() if c and u.coordinates and v.coordinates}
    if not bound and squares == {True} and not any(form.values.values()):
        message = (
            "a vector that must be 0 must not be made, got a square that is at most 0 (one point in the place of two)"
        )
        raise ValueError(message)
    return form


def counted(name: str, number: int) -> range:
    """Return the numbers of the steps or rounds of a method, with a limit."""
    return range(validate.count(name, number, 1, LARGEST_BLOCK))


def _function_class(mu: Any, L: Any, lipschitz: Any, quadratic: bool, polyak: Any) -> FunctionClass:
    """Return a class of functions after checking that it is not empty."""
    if isinstance(L, Sequence):
        message = (
            f"L must be one number, got {truncate(L)} (of coordinate blocks only necessary conditions are known: "
            "demand them with at_most, of vectors that equal_to makes orthogonal)"
        )
        raise TypeError(message)
    given = {
        "mu": fraction("mu", mu),
        "L": _optional("L", L),
        "lipschitz": _optional("lipschitz", lipschitz),
        "polyak": _optional("polyak", polyak),
        "quadratic": validate.boolean("quadratic", quadratic),
    }
    if L is None and (quadratic or polyak is not None):
        message = "a function that is quadratic, or of Polyak's class, must have an L, got None"
        raise ValueError(message)
    return class_of(given)


def _optional(name: str, number: Any) -> Fraction | None:
    return None if number is None else positive_number(name, number)


def _probabilities(weights: Iterable[Any], number: int) -> list[Fraction]:
    """Return probabilities as rationals."""
    shares = [fraction("a weight", weight) for weight in listed("weights", weights, "a list of numbers")]
    if len(shares) != number or any(share < 0 for share in shares) or sum(shares) != 1:
        message = f"weights must be {number} numbers of at least 0 that sum to 1, got {[*map(str, shares)]}"
        raise ValueError(message)
    return shares
