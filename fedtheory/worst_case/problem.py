"""A worst-case problem of one's own: points, functions, a method written as ordinary code, and what is to be largest.

A problem is written with inner products and function values, which are the unknowns of a semidefinite program; the
dimension of the space is not restricted. All numbers are integers and fractions, and what is answered is proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import count
from operator import add
from typing import Any, TypeVar, final, overload

from fedtheory._support import validate
from fedtheory._support.wording import short, shown
from fedtheory.worst_case._actors import Clients, Function, Linear, Operator, Sum, Term, own_vector, positive_number
from fedtheory.worst_case._classes import FunctionClass, OperatorClass
from fedtheory.worst_case._gram import Draft, Form, Program, Value, Vector, exact, one_owner, text
from fedtheory.worst_case._null_squares import Direction
from fedtheory.worst_case._settings import listed, spelled
from fedtheory.worst_case._tilts import tilts
from fedtheory.worst_case._written import Known
from fedtheory.worst_case.enclosures import NARROW, Proof, prove
from fedtheory.worst_case.solution import Solution, solved

__all__ = ["Problem"]

Actor = TypeVar("Actor", Function, Operator, Linear, Clients)

LARGEST_BLOCK = 60
"""Rows of a block up to which a program is solved."""


@final
class Problem:
    """What is maximized, over which functions, under which constraints.

    Attributes
    ----------
    actors
        The functions, operators and clients.
    points
        Those that have a name.

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
        self._draft = Draft()
        self.actors: list[Function | Operator] = []
        self.points: dict[str, Vector] = {}
        self._objectives: list[Form] = []
        self._geometric_means: list[tuple[Vector, Vector]] = []

    def point(self, name: str = "") -> Vector:
        """Return a point that may lie anywhere.

        Parameters
        ----------
        name
            Its name in ``instance()``, in proofs and in messages; no other point has it.

        Returns
        -------
        Vector
            The point. Vectors add, subtract and scale by integers and fractions; ``x @ y`` and ``x.square`` are forms.
        """
        if text(name) in self.points:
            message = f"a point must have a name that no other point has, got {short(name)}"
            raise ValueError(message)
        found = self._draft.vector()
        free = (f"x{number}" for number in count(len(self.points)))
        self.points[name or next(one for one in free if one not in self.points)] = found
        return found

    @property
    def origin(self) -> Vector:
        """The zero vector, where one point of a problem may lie that is about differences of points only."""
        return Vector({})

    @property
    def noises(self) -> tuple[int, ...]:
        """The blocks of the noises of stochastic gradients, the first one first."""
        return tuple(self._draft.noises)

    def vector(self) -> Vector:
        """Return a vector without a name, a direction or a disturbance."""
        return self._draft.vector()

    @spelled
    def function(
        self,
        mu: Any = 0,
        L: Any = None,
        *,
        lipschitz: Any = None,
        quadratic: bool = False,
        quadratic_growth: Any = None,
        polyak: Any = None,
        minimum: int | None = None,
    ) -> Function:
        """Return a function of a class.

        Parameters
        ----------
        mu, L
            Least and largest curvature. Without L the function need not be smooth; with a negative mu it need not be
            convex (``mu=-1, L=1``: smooth).
        lipschitz
            Largest length of a subgradient.
        quadratic
            Whether it is quadratic, with eigenvalues from mu to L.
        quadratic_growth
            G with ``f(x) - f* <= G/2 |x - x*|^2``.
        polyak
            m with ``f(x) - f* <= |grad f(x)|^2 / (2 m)``, of a smooth function; only an upper bound is proved then.
        minimum
            The least value: 0, or None if it may be any number, as of functions with minima of their own.

        Returns
        -------
        Function
            With ``gradient``, ``value``, ``minimizer``, ``stationary_point``, ``proximal``, ``line_search``,
            ``inexact_gradient``; ``2 * f + g`` is one, too.

        Raises
        ------
        ValueError
            If there is no such function.
        TypeError
            If a number is neither an integer nor a fraction.
        """
        of = _function_class(mu, L, lipschitz, quadratic, quadratic_growth, polyak)
        return self._with(Function(self._draft, f"f{len(self.actors)}", of, least=self._least(minimum, of)))

    def indicator(self, diameter: Any = None) -> Function:
        """Return the indicator of a convex set: 0 on it, infinite outside.

        Parameters
        ----------
        diameter
            Of the set; unbounded if None.

        Returns
        -------
        Function
            Its ``proximal`` is the projection, its ``linear_minimizer`` a step of Frank and Wolfe's method.
        """
        size = None if diameter is None else positive_number("diameter", diameter)
        of = FunctionClass(indicator=True, diameter=size)
        return self._with(Function(self._draft, f"f{len(self.actors)}", of))

    @spelled
    def operator(
        self,
        *,
        monotone: bool = False,
        nonexpansive: bool = False,
        strongly_monotone: Any = None,
        cocoercive: Any = None,
        lipschitz: Any = None,
    ) -> Operator:
        """Return an operator of a class; with several hypotheses only an upper bound is proved.

        Parameters
        ----------
        monotone, strongly_monotone
            ``<T x - T y, x - y>`` is at least 0, or at least this share of ``|x - y|^2``.
        nonexpansive, lipschitz
            ``|T x - T y|`` is at most ``|x - y|``, or at most this multiple of it.
        cocoercive
            ``<T x - T y, x - y>`` is at least this share of ``|T x - T y|^2``.

        Returns
        -------
        Operator
            ``op(x)``, ``op.resolvent(x, step)``, ``op.fixed_point()``, ``op.zero()``.

        Raises
        ------
        ValueError
            If nothing is said of it, or the same twice.
        """
        validate.boolean("monotone", monotone)
        validate.boolean("nonexpansive", nonexpansive)
        if (monotone and strongly_monotone is not None) or (nonexpansive and lipschitz is not None):
            message = (
                "an operator must be described once, got monotone and strongly_monotone or nonexpansive and lipschitz"
            )
            raise ValueError(message)
        of = OperatorClass(
            Fraction(0) if monotone else _optional("strongly_monotone", strongly_monotone),
            _optional("cocoercive", cocoercive),
            Fraction(1) if nonexpansive else _optional("lipschitz", lipschitz),
        )
        if of == OperatorClass():
            message = "an operator must have a hypothesis, monotone=True for example, got none"
            raise ValueError(message)
        return self._with(Operator(self._draft, f"T{len(self.actors)}", of))

    def linear(self, largest: Any) -> Linear:
        """Return a linear operator.

        Parameters
        ----------
        largest
            Its largest singular value.

        Returns
        -------
        Linear
            ``M(x)``, and ``M.adjoint(u)``.
        """
        of = OperatorClass(lipschitz=positive_number("largest", largest))
        return self._with(Linear(self._draft, f"T{len(self.actors)}", of))

    @spelled
    def clients(
        self,
        num_clients: int,
        mu: Any = 0,
        L: Any = None,
        *,
        lipschitz: Any = None,
        quadratic: bool = False,
        minimum: int | None = None,
    ) -> Clients:
        """Return clients that cannot be told apart, each with a function of a class; they cost two blocks of any size.

        Parameters
        ----------
        num_clients
            How many; their weights are equal.
        mu, L, lipschitz, quadratic, minimum
            Of each client's function, as of ``function``.

        Returns
        -------
        Clients
            A vector of theirs stands for one vector of each client, and a product of two such vectors for its mean over
            the clients. ``mean(v)`` is the mean of a vector, ``minimizer()`` that of the mean of all functions.
        """
        number = validate.count("num_clients", num_clients)
        of = _function_class(mu, L, lipschitz, quadratic, None, None)
        return self._with(Clients(self._draft, f"f{len(self.actors)}", of, number, self._least(minimum, of)))

    @overload
    def mean(self, outcomes: Sequence[Vector], weights: Sequence[Any] | None = None) -> Vector: ...

    @overload
    def mean(self, outcomes: Sequence[Form | Value], weights: Sequence[Any] | None = None) -> Form: ...

    @overload
    def mean(self, outcomes: Sequence[Term], weights: Sequence[Any] | None = None) -> Sum: ...

    def mean(self, outcomes: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
        """Return what is expected of vectors or forms, one for each of some outcomes, or the mean of functions.

        Parameters
        ----------
        outcomes
            Vectors, forms, function values or functions.
        weights
            Their probabilities; equal ones by default.

        Returns
        -------
        Vector, Form or Sum
            The weighted sum.

        Raises
        ------
        ValueError
            If the weights are negative, or do not sum to 1.
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
        """Return a number that may be any."""
        return self._draft.value()

    def geometric_mean(self, one: Form | Value, other: Form | Value) -> Form:
        """Return a number that is at most the root of the product of two forms that are not negative.

        Parameters
        ----------
        one, other
            Forms, or numbers.

        Returns
        -------
        Form
            The root, where it is maximized. Where it should be small, or equal to something, only an upper bound is
            proved.
        """
        block = self._draft.block()
        u, v = (self._draft.vector(blocks=(block,)) for _ in range(2))
        self.at_most(u.square - one, 0)
        self.at_most(v.square - other, 0)
        self._geometric_means.append((u, v))
        return u @ v

    def compressed(self, vector: Vector, eps: Any) -> Vector:
        """Return what a compressor makes of a vector: it is off by at most the share eps of the squared length.

        Parameters
        ----------
        vector
            What is sent.
        eps
            ``|C(v) - v|^2 <= eps |v|^2``.

        Returns
        -------
        Vector
            What arrives.
        """
        share = positive_number("eps", eps)
        found = self._draft.vector(own_vector("compressed", vector, self._draft))
        self._draft.at_most((found - vector).square - share * vector.square)
        return found

    def at_most(self, form: Form | Value, bound: Any, name: str = "", share: Any = 1) -> None:
        """Demand that a form is at most a number.

        Parameters
        ----------
        form
            Made of inner products and function values of this problem.
        bound
            An integer or a fraction.
        name
            Of the number, in what the multipliers prove; numbered if empty.
        share
            The form is at most this share of the number.
        """
        number = Fraction(exact("bound", bound))
        part = Fraction(exact("share", share))
        self._draft.at_most(self._own(form), number, name, part)

    def equal_to(self, form: Form | Value, bound: Any, name: str = "") -> None:
        """Demand that a form equals a number, as ``at_most`` demands that it is at most one."""
        self._draft.equal_to(self._own(form), Fraction(exact("bound", bound)), name)

    def maximize(self, *forms: Form | Value) -> None:
        """Say what is to be largest: a form, or the least of several."""
        if not forms:
            message = "maximize must be given a form, got nothing"
            raise ValueError(message)
        self._objectives = [self._own(form) for form in forms]
        if any(form.says_nothing for form in self._objectives):
            message = "maximize must be given forms that differ from 0, got one that is 0 whatever the unknowns are"
            raise ValueError(message)

    def solve(self, narrow: float = NARROW) -> Solution:
        """Prove how large it can be.

        Parameters
        ----------
        narrow
            How far both sides may be apart, as a share of the value.

        Returns
        -------
        Solution
            The enclosure with its proofs.

        Raises
        ------
        AssumptionViolated
            If no functions and points fulfill the constraints, or the value is infinite; each is proved.
        OracleError
            If neither side of the value could be proved.
        ValueError
            If nothing is maximized, or the program is too large.
        """
        return self._solved((), narrow)

    def without(self, *conditions: str) -> Solution:
        """Prove an upper bound from fewer conditions, for a proof that is shorter or that holds for a larger class.

        Parameters
        ----------
        conditions
            Labels of the solution's ``labels`` or ``active``: ``"f0: x1, x2"`` compares two points of a function.

        Returns
        -------
        Solution
            The upper side with its proof.

        Raises
        ------
        ValueError
            If there is no such condition.
        OracleError
            If nothing is proved, as the value may be infinite without the conditions.
        """
        return self._solved(conditions, NARROW)

    def _solved(self, omitted: Sequence[str], narrow: float) -> Solution:
        """Prove what follows without some conditions."""
        program, labels, directions = self.program()
        for one in omitted:
            validate.choice("a condition", one, labels)
        kept = [number for number, label in enumerate(labels) if label not in omitted]
        program = replace(program, inequalities=tuple(program.inequalities[number] for number in kept))
        labels = tuple(labels[number] for number in kept)
        relaxed = (*self._relaxed(program), *omitted)
        if max(program.sizes) > LARGEST_BLOCK:
            message = f"a program must have at most {LARGEST_BLOCK} vectors in a block, got {max(program.sizes)}"
            raise ValueError(message)
        if not program.inequalities and not program.equalities:
            message = "a problem must have a constraint, at_most for example, got none"
            raise ValueError(message)
        known = tuple(Known(actor.name, actor.of, tuple(actor.points)) for actor in self.actors)
        proof = prove(program, validate.positive("narrow", narrow), directions)
        return solved(proof, labels, dict(self.points), known, relaxed)

    def prove(self, narrow: float = NARROW) -> Proof:
        """Prove what can be proved, of a program of any size: that there is no largest value, or nothing at all, too.

        Parameters
        ----------
        narrow
            As of ``solve``.

        Returns
        -------
        Proof
            What ``solve`` reads; its upper side, or a contradiction, only, where not all that is known is demanded.
        """
        program, _, directions = self.program()
        found = prove(program, validate.positive("narrow", narrow), directions)
        return replace(found, lower=None, point=None, direction=None) if self._relaxed(program) else found

    def _relaxed(self, program: Program) -> tuple[str, ...]:
        """Return the names of what the constraints demand in part only, so that just an upper bound is proved."""
        # A geometric mean is bounded from above: it must be better if it is large.
        bounded = [(program.objective, -1), *((one.form, 1) for one in program.inequalities)]
        low = any(sign * form.products.get(pair, 0) > 0 for form, sign in bounded for pair in self._geometric_means)
        low |= any(one.form.products.get(pair, 0) for one in program.equalities for pair in self._geometric_means)
        return (*(actor.name for actor in self.actors if not actor.is_exact), *["a geometric mean"] * low)

    def program(self) -> tuple[Program, tuple[str, ...], list[Direction]]:
        """Return the program, with a label for each inequality, and directions whose squares are in no form."""
        if not self._objectives:
            message = "a problem must maximize something, got no call of maximize"
            raise ValueError(message)
        draft = self._draft
        for actor in self.actors:
            actor.prepare()
        with draft.undone():
            labels = [one.name or f"constraint {number}" for number, one in enumerate(draft.inequalities, start=1)]
            for actor in self.actors:
                actor.impose()
                for condition in actor.conditions():
                    if condition.form.says_nothing:
                        continue
                    size = "lipschitz^2" if len(condition.points) == 1 else "diameter^2"
                    draft.at_most(condition.form, condition.bound, f"{actor.name}.{size}" if condition.bound else "")
                    labels.append(f"{actor.name}: {', '.join(f'x{number}' for number in condition.points)}")
            objective = self._objectives[0]
            if len(self._objectives) > 1:
                objective = Form.of(draft.value())
                for number, form in enumerate(self._objectives):
                    draft.at_most(objective - form)
                    labels.append(f"objective {number}")
            program = draft.maximize(objective)
        asked = (*self._objectives, *(one.form for one in draft.inequalities), *(one.form for one in draft.equalities))
        return program, _told_apart(labels), tilts(self.actors, asked)

    def _least(self, minimum: int | None, of: FunctionClass) -> Value | None:
        if minimum is None:
            return None
        if exact("minimum", minimum) != 0:
            message = f"minimum must be 0 or None, got {short(minimum)}"
            raise ValueError(message)
        if not of.has_minimizer:
            message = f"minimum must be None for functions without a least value, got 0 for mu={shown(of.mu)}"
            raise ValueError(message)
        return self._draft.zero()

    def _with(self, actor: Actor) -> Actor:
        self.actors.append(actor)
        return actor

    def _own(self, form: Form | Value) -> Form:
        """Return a form of this problem."""
        found = Form.of(form)
        owner = one_owner(*(vector for pair in found.products for vector in pair), *found.values)
        if owner not in (None, self._draft):
            message = "forms must be of the problem that they are given to, got one of another problem"
            raise ValueError(message)
        return found


def counted(name: str, number: int) -> range:
    """Return the numbers of the steps or rounds of a method, no more than there may be vectors."""
    return range(validate.count(name, number, 1, LARGEST_BLOCK))


def _function_class(
    mu: Any, L: Any, lipschitz: Any, quadratic: bool, quadratic_growth: Any, polyak: Any
) -> FunctionClass:
    """Return a class of functions that is not empty."""
    low = Fraction(exact("mu", mu))
    high = _optional("L", L)
    of = FunctionClass(
        low, high, _optional("lipschitz", lipschitz), False, None,
        _optional("quadratic_growth", quadratic_growth), _optional("polyak", polyak),
        validate.boolean("quadratic", quadratic),
    )  # fmt: skip
    if high is not None and low >= high:
        message = f"mu must be below L, got mu={shown(mu)} and L={shown(L)}"
        raise ValueError(message)
    if high is None and (of.quadratic or of.polyak is not None):
        message = "a function that is quadratic, or of Polyak's class, must have an L, got None"
        raise ValueError(message)
    for name, most, least in (("polyak", high, of.polyak), ("mu", of.quadratic_growth, low)):
        if most is not None and least is not None and least > most:
            message = f"{name} must be at most {shown(most)}, the largest curvature or growth, got {shown(least)}"
            raise ValueError(message)
    if low < 0 and (of.quadratic_growth is not None or (of.polyak is not None and of.quadratic)):
        message = f"mu must be at least 0 for quadratic growth, and for quadratics of Polyak's class, got {shown(low)}"
        raise ValueError(message)
    return of


def _told_apart(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels of which those that occur again are numbered.

    >>> _told_apart(["G2", "f0: x0, x1", "G2"])
    ('G2', 'f0: x0, x1', 'G2 (2)')
    """
    found: dict[str, None] = {}
    for label in labels:
        numbered = (f"{label} ({number})" for number in count(2))
        found[label if label not in found else next(one for one in numbered if one not in found)] = None
    return tuple(found)


def _optional(name: str, number: Any) -> Fraction | None:
    return None if number is None else positive_number(name, number)


def _probabilities(weights: Iterable[Any], number: int) -> list[Fraction]:
    """Return rational probabilities."""
    shares = [Fraction(exact("a weight", weight)) for weight in listed("weights", weights, "a list of numbers")]
    if len(shares) != number or min(shares) < 0 or sum(shares) != 1:
        message = f"weights must be {number} numbers of at least 0 that sum to 1, got {[*map(str, shares)]}"
        raise ValueError(message)
    return shares
