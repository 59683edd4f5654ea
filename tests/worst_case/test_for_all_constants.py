"""Closed forms: exact interpolation, certificates of signs, and theorems for all constants of a domain."""

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from decimal import Decimal
from fractions import Fraction as Q
from itertools import islice, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from sympy import QQ, Symbol, sqrt, symbols
from sympy.polys.fields import field

from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem, closed_form, closed_forms
from fedtheory.worst_case._constants import Constant, evaluate
from fedtheory.worst_case._domains import Domain
from fedtheory.worst_case._exact_multipliers import Numbers, Shape, _jacobian, _residual
from fedtheory.worst_case._interpolated_multipliers import Samples, rational_function
from tests.worst_case.closed_form_methods import METHODS, Method, gradient_descent, sampled_client


def line(*relations: Callable[[Any], Any]) -> Domain:
    return Domain(["x"], lambda x: [relation(x) for relation in relations])


def triangle() -> Domain:
    return Domain(["x", "y"], lambda x, y: [x > 0, y > 0, x + y < 1])


def test_a_rational_function_is_found_from_its_values() -> None:
    ring, x, y = field("x, y", QQ)
    powers = [(i, j) for i in range(3) for j in range(2)]
    points = [(Q(a, 7), Q(b, 5)) for a, b in product(range(1, 6), range(1, 4))]
    samples = [((a, b), a**2 / (1 + a * b)) for a, b in points]
    assert rational_function(samples, powers, powers, ring) == x**2 / (1 + x * y)


def held_out(values: Callable[[Q], Q], degree: int) -> Any:
    """What is interpolated on a line with all values known."""
    samples: Any = object.__new__(Samples)
    points = [(Q(k, 7),) for k in range(1, 30)]
    samples.domain, samples.base, samples.known = line(lambda x: x > 0), points[0], [[]]
    samples.sources, samples.exact = [iter(points)], {point: [values(*point)] for point in points}
    powers = [(n,) for n in range(degree + 1)]
    return samples._fitted(0, 0, powers, powers)


def test_an_overfitted_function_is_refused_by_constants_that_were_held_out() -> None:
    ring, _ = field("x", QQ)
    line_points = [((Q(k, 7),), Q(k, 7) ** 5) for k in range(1, 4)]
    assert rational_function(line_points, [(0,), (1,)], [(0,), (1,)], ring) is not None
    assert held_out(lambda x: x**5, 1) is None
    assert evaluate(held_out(lambda x: x**5, 5), (Q(2),)) == 32


@pytest.mark.parametrize("free", [((0, 2), (1,)), ((1,), ()), ((), ())])
def test_derivatives_of_optimality_conditions_are_central_differences(free: Any) -> None:
    """The conditions are polynomials of degree 2 in each unknown, for which these are exact."""
    source = np.random.default_rng(0)
    matrices = [one + one.swapaxes(1, 2) for one in (source.normal(size=(4, size, size)) for size in (3, 2))]
    numbers = Numbers(matrices, source.normal(size=(4, 2)), source.normal(size=3))
    shape = Shape((0, 2), free)
    ranks = [(size, len(rows)) for size, rows in zip((3, 2), free, strict=True)]
    count = 2 + sum((size - rank) * rank + rank * (rank + 1) // 2 for size, rank in ranks) + 2
    unknowns = source.normal(size=count)
    sides = [
        np.array([_residual(numbers, shape, unknowns + sign * step) for step in np.eye(count)]) for sign in (1, -1)
    ]
    np.testing.assert_allclose(_jacobian(numbers, shape, unknowns), (sides[0] - sides[1]).T / 2, atol=1e-12)


@pytest.mark.parametrize(
    ("polynomial", "expected"),
    [
        (lambda x, y: 1 - x * y, 1),
        (lambda x, y: 2 - x - y, 1),
        (lambda x, y: x * y - 1, -1),
        (lambda x, y: 1 - x**2 - y**2 - x * y, 1),
        pytest.param(lambda x, y: 3 * x - 3 * y, None, marks=pytest.mark.slow),
        pytest.param(lambda x, y: x**2 + y**2 - Q(1, 10), None, marks=pytest.mark.slow),
    ],
)
def test_a_sign_is_proved_unless_there_is_a_zero_inside(polynomial: Callable[..., Any], expected: int | None) -> None:
    domain = triangle()
    function = domain.field.from_expr(polynomial(*symbols("x y")))
    assert domain.sign(function.numer) == expected


def test_a_certificate_is_an_identity_with_positive_coefficients() -> None:
    domain = line(lambda x: x > 0)
    x = domain.constants[0].numer
    for factor in (x**2 - x + 1, x + 2):
        sign = domain.certificate(factor)
        assert sign is not None
        sides = [
            sum((domain.rational(c) * x ** len(factors) for c, factors in side), x.ring.zero)
            for side in (sign.multiplier, sign.total)
        ]
        assert sides[0] * factor == sides[1]
        assert all(c > 0 for side in (sign.multiplier, sign.total) for c, _ in side)
        assert sign.is_strict


def test_a_solver_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = triangle()
    x, y = (one.numer for one in domain.constants)

    def all_positive(costs: Any, **_: Any) -> Any:
        return SimpleNamespace(status=0, x=np.ones(len(costs)))

    monkeypatch.setattr(scipy.optimize, "linprog", all_positive)
    assert domain.sign(3 * x - 3 * y) is None


def test_what_is_0_on_the_boundary_is_positive_where_the_boundary_is_left_out() -> None:
    for relation, strict in ((lambda x: x > 0, True), (lambda x: x >= 0, False)):
        domain = line(relation)
        [x] = domain.constants
        assert domain.holds(x)
        assert domain.holds(x, strict=True) is strict
        assert domain.holds(1 / x) is strict


@pytest.mark.parametrize(
    "relations",
    [
        lambda x: [0 < x < 1],
        lambda x: [x],
        lambda x: [1 / (x - 2) > 0],
        lambda x: [x > 0, x**2 < sqrt(x)],
        lambda x: [x < Symbol("y")],
    ],
)
def test_a_domain_that_is_no_list_of_inequalities_is_refused_in_a_sentence(relations: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]*(domain|inequality) must [^\n]+\Z"):
        Domain(["x"], relations)


def named(*values: Q) -> tuple[list[Constant], set[Any]]:
    _, *functions = field([f"c{k}" for k in range(len(values))], QQ)
    compared: set[Any] = set()
    return [Constant(c, x, compared) for c, x in zip(values, functions, strict=True)], compared


def test_a_constant_has_the_number_and_the_function_of_each_expression() -> None:
    point = (Q(2, 3), Q(5, 7))
    (mu, eta), _ = named(*point)
    for expression in (
        lambda a, b: (1 - a * b) ** 2 / (2 - a) + 3,
        lambda a, b: 1 / b - Q(1, 2) * -a + abs(a - b) * 4,
        lambda a, b: (3 - b) ** -2 * +a - 1,
    ):
        found = expression(mu, eta)
        assert isinstance(found, Constant)
        assert found.number == evaluate(found.function, point) == expression(*point)


def test_comparisons_and_divisions_of_constants_are_written_down() -> None:
    (mu, eta), compared = named(Q(2, 3), Q(5, 7))
    assert mu < 1
    assert not eta <= mu
    assert mu >= 0
    assert 1 / (mu - eta) < 0
    assert mu != np.int64(3)
    assert {(str(apart), strict) for apart, strict in compared} == {
        ("-c0 + 3", True),
        ("-c0 + 1", True), ("-c0 + c1", True), ("c0", False), ("-1/(c0 - c1)", True),
    }  # fmt: skip


def test_the_number_alone_of_a_constant_is_refused() -> None:
    """A program that rounds a constant has no conditions that hold for others."""
    uses: list[Callable[[Any], Any]] = [
        float, int, round, Q, lambda c: c // 1, lambda c: 1 % c, lambda c: c.numerator, lambda c: c + 0.5,
        lambda c: c**0.5, lambda c: 2**c, lambda c: c < 0.5, lambda c: divmod(c, 1), lambda c: c.as_integer_ratio(),
        lambda c: c.limit_denominator(2), lambda c: c.is_integer(), str, repr, hash, copy, deepcopy, pickle.dumps,
        lambda c: c == 0.5, lambda c: c != 0.5 + 0j, lambda c: c == Decimal("0.5"),
    ]  # fmt: skip
    for use in uses:
        for value in (Q(5, 7), Q(2)):
            (eta,), compared = named(value)
            with pytest.raises(TypeError):
                use(eta)
            # The program may catch the error, which must not lead to a proof.
            [(function, is_strict)] = compared
            assert not Domain(["c0"], lambda c: [c > 0]).holds(function, strict=is_strict)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        range(eta)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_closed_form_is_found_without_the_answer(name: str) -> None:
    method = METHODS[name]
    found = closed_form(method.program, method.domain)
    for point in islice(Domain(parameters(method), method.domain).points(), 6):
        assert found(**dict(zip(parameters(method), point, strict=True))) == method.value(*point)


def parameters(method: Method) -> list[str]:
    code: Any = method.domain.__code__
    return [*code.co_varnames[: code.co_argcount]]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*METHODS} - {"objective gap"}))  # whose enclosure takes long, and is wider
def test_at_numbers_the_worst_case_is_the_closed_form(name: str) -> None:
    method = METHODS[name]
    for point in islice(Domain(parameters(method), method.domain).points(), 2):
        worst = method.program(*point).solve()
        lower, upper = worst.enclosure
        assert lower <= method.value(*point) <= upper
        assert upper - lower < 1e-6


@pytest.mark.slow
def test_a_closed_form_is_evaluated_on_its_domain_only() -> None:
    found = closed_form(gradient_descent, lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta * (1 + mu) <= 2])
    assert found(mu=Q(1, 10), eta=1) == Q(81, 100)
    with pytest.raises(ValueError, match="constants must fulfill"):
        found(mu=Q(1, 2), eta=2)


@pytest.mark.slow
def test_a_value_that_is_a_square_root_has_no_closed_form() -> None:
    def heterogeneous_step(mu: Any, eta: Any) -> Problem:
        """Have two constraints with constants, for which the bound is the square of a sum with a root."""
        p = Problem()
        c = p.clients(2, mu, 1)
        best, w = c.minimizer(), p.point("w")
        p.at_most((w - best).square, 1)
        c.heterogeneity(zeta2=1)
        p.maximize(c.sample(1, "independent").square(c.step(w, eta) - best))
        return p

    with pytest.raises(OracleError, match=r"multipliers must be rational numbers.*the value is about"):
        closed_form(heterogeneous_step, lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta < 1])


@pytest.mark.slow
def test_a_domain_that_is_too_large_is_refused_with_constants_at_which_the_proof_fails() -> None:
    with pytest.raises(OracleError, match=r"square, which is not proved where .*\(it is negative at mu=.*, theta="):
        closed_form(sampled_client, lambda mu, eta, theta: [mu > 0, mu < 1, eta > 0, eta < 1, theta > 1])


SHORT: Any = lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta * (1 + mu) < 2]  # noqa: E731


def at_one_half(mu: Any, eta: Any) -> Problem:
    return gradient_descent(mu, Q(3) if eta == Q(1, 2) else eta)


def of_a_dictionary_or_not(mu: Any, eta: Any) -> Problem:
    try:
        return gradient_descent(mu, {Q(1, 2): Q(3)}.get(eta, eta))
    except TypeError:
        return gradient_descent(mu, eta)


def of_a_bound(mu: Any, eta: Any) -> Problem:
    p = Problem()
    f = p.function(mu, 1)
    best, x = f.minimizer(), p.point("x")
    p.at_most((x - best).square, 1)
    try:
        p.at_most((x - f.gradient(x)).square, eta - Q(1, 2))
        p.maximize((x - best).square)
    except ValueError:
        p.maximize(4 * (x - best).square)
    return p


@pytest.mark.slow
@pytest.mark.parametrize("program", [at_one_half, of_a_dictionary_or_not, of_a_bound])
def test_a_program_with_another_step_at_a_single_number_is_refused(program: Any) -> None:
    """Its worst case at eta = 1/2 is (1 - 3)^2 at least, which is more than the closed form of the others."""
    with pytest.raises(
        (OracleError, TypeError), match=r"must have one outcome, got .*eta|got another use of (eta|one)"
    ):
        closed_form(program, SHORT)


def of_an_earlier_call() -> Callable[..., Problem]:
    known: list[Any] = []

    def program(mu: Any, eta: Any) -> Problem:
        known.append(eta)
        return gradient_descent(mu, known[0])

    return program


def of_the_number_of_calls() -> Callable[..., Problem]:
    calls: list[None] = []

    def program(mu: Any, eta: Any) -> Problem:
        calls.append(None)
        return gradient_descent(mu, len(calls) * eta)

    return program


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_an_earlier_call(), of_the_number_of_calls()])
def test_a_program_with_other_conditions_at_numbers_is_refused(program: Any) -> None:
    with pytest.raises(
        OracleError, match=r"same conditions at numbers as with named constants, got others at mu=.*eta="
    ):
        closed_form(program, SHORT)


@pytest.mark.slow
def test_noises_that_become_one_noise_at_a_single_number_are_refused() -> None:
    """At s = 1 the clients compress one vector, and draw one noise: 1 + omega is more than 1 + omega/4."""

    def compressed(s: Any, omega: Any) -> Problem:
        p = Problem()
        c = p.clients(4, Q(1, 2), 1)
        best, w = c.minimizer(objective_gap=0), p.point("w")
        p.at_most((w - best).square, 1)
        apart = c.gradient(w) - c.mean(c.gradient(w))
        p.maximize(c.sample(4).square(p.unbiased(w - best + (1 - s) * apart, omega)))
        return p

    assert compressed(Q(1), Q(1)).solve().enclosure[0] > Q(19, 10)
    with pytest.raises(OracleError, match=r"must have one outcome, got -s \+ 1"):
        closed_form(compressed, lambda s, omega: [s > 0, s < 2, omega > 0, omega < 2])


def test_a_message_with_a_long_polynomial_fits_a_screen() -> None:
    def branching(mu: Any) -> Problem:
        long = (3 * mu - 2) * (1 + 17 * mu) ** 30 > 1
        p = Problem()
        f = p.function(mu, 2 if long else 1)
        best, x = f.minimizer(), p.point("x")
        p.at_most((x - best).square, 1)
        p.maximize(f.gradient(x).square)
        return p

    with pytest.raises(OracleError, match="one outcome") as found:
        closed_form(branching, lambda mu: [mu > 0, mu < 1])
    assert len(str(found.value)) < 800


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_another_multiplier_is_not_proved(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    piece: Any = closed_forms._Search.piece

    def changed(*given: Any) -> Any:
        guess = piece(*given)
        multipliers = [*guess.multipliers]
        multipliers[number] *= Q(999, 1000).numerator / given[0].domain.field(1000)
        bounds = zip(guess.active, multipliers, strict=True)
        value = sum((y * given[0].family.bounds[k] for k, y in bounds), given[0].domain.field.zero)
        return closed_forms._Guess(guess.base, guess.active, tuple(multipliers), value)

    monkeypatch.setattr(closed_forms._Search, "piece", changed)
    with pytest.raises(OracleError, match=r"function values cancel|sum of squares"):
        closed_form(gradient_descent, lambda mu, eta: [mu > 0, mu < 1, eta > 0, eta * (1 + mu) < 2])


@pytest.mark.slow
def test_an_infinite_worst_case_has_no_closed_form() -> None:
    def without_a_start(eta: Any) -> Problem:
        p = Problem()
        f, x = p.function(L=1), p.point("x")
        p.at_most(f.gradient(x).square, 1)
        p.maximize((x - eta * f.gradient(x)).square)
        return p

    with pytest.raises(OracleError, match=r"\Aa worst case must have a finite value, got none at eta="):
        closed_form(without_a_start, lambda eta: [eta > 0, eta < 1])
