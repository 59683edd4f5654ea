"""Methods of the literature in the problem language have their known worst cases."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case import Problem, fedavg
from fedtheory.worst_case.worst_cases import WorstCase

WIDE = 1e-6
"""How far both sides may be apart, as a share; they are proved, so that this only says that they are sharp."""


def tenths(rng: np.random.Generator, low: int, high: int) -> Q:
    """Draw a number of tenths."""
    return Q(int(rng.integers(low, high + 1)), 10)


def started(p: Problem, optimum: Any, distance2: Q) -> Any:
    """Return a start at some squared distance from the optimum."""
    x = p.point("start")
    p.at_most((x - optimum).square, distance2, name="distance2")
    return x


def gradient_descent_on_a_convex_function(rng: np.random.Generator) -> tuple[Problem, float]:
    """``L R^2 / (4 N h L + 2)`` for steps h up to 1/L (Drori and Teboulle 2014)."""
    p, L, n, distance2 = Problem(), tenths(rng, 5, 40), int(rng.integers(1, 4)), tenths(rng, 5, 40)
    h = tenths(rng, 2, 10) / L
    f = p.function(L=L)
    best = f.minimizer()
    x = started(p, best, distance2)
    for _ in range(n):
        x = x - h * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p, float(L * distance2 / (4 * n * h * L + 2))


def gradient_descent_on_a_strongly_convex_function(rng: np.random.Generator) -> tuple[Problem, float]:
    """``max((1 - h mu)^2, (1 - h L)^2)^N``."""
    p, L, n, distance2 = Problem(), tenths(rng, 5, 40), int(rng.integers(1, 4)), tenths(rng, 5, 40)
    mu, h = L / int(rng.integers(2, 30)), tenths(rng, 2, 19) / L
    f = p.function(mu=mu, L=L)
    best = f.minimizer()
    x = started(p, best, distance2)
    for _ in range(n):
        x = x - h * f.gradient(x)
    p.maximize((x - best).square)
    return p, float(distance2 * max((1 - h * mu) ** 2, (1 - h * L) ** 2) ** n)


def gradient_descent_on_a_quadratic(rng: np.random.Generator) -> tuple[Problem, float]:
    """The same contraction, which quadratics attain."""
    p, L, distance2 = Problem(), tenths(rng, 5, 40), tenths(rng, 5, 40)
    mu, h = L / int(rng.integers(2, 30)), tenths(rng, 2, 19) / L
    f = p.function(mu=mu, L=L, quadratic=True)
    best = f.minimizer()
    x = started(p, best, distance2)
    for _ in range(2):
        x = x - h * f.gradient(x)
    p.maximize((x - best).square)
    return p, float(distance2 * max((1 - h * mu) ** 2, (1 - h * L) ** 2) ** 2)


def proximal_point(rng: np.random.Generator) -> tuple[Problem, float]:
    """``R^2 / (4 g N)`` (Taylor, Hendrickx, Glineur 2017)."""
    p, g, n, distance2 = Problem(), tenths(rng, 2, 40), int(rng.integers(1, 4)), tenths(rng, 5, 40)
    f = p.function()
    best = f.minimizer()
    x = started(p, best, distance2)
    for _ in range(n):
        x = f.proximal(x, g)
    p.maximize(f.value(x) - f.value(best))
    return p, float(distance2 / (4 * g * n))


def subgradients(rng: np.random.Generator) -> tuple[Problem, float]:
    """``M R / sqrt(N + 1)`` for the best of N + 1 models and steps ``R / (M sqrt(N + 1))``, here N = 3."""
    p, M, R = Problem(), tenths(rng, 2, 40), tenths(rng, 2, 40)
    f = p.function(lipschitz=M)
    best = f.minimizer()
    x = started(p, best, R**2)
    gaps = [f.value(x) - f.value(best)]
    for _ in range(3):
        x = x - R / (2 * M) * f.gradient(x)
        gaps.append(f.value(x) - f.value(best))
    p.maximize(*gaps)
    return p, float(M * R / 2)


def halpern(rng: np.random.Generator) -> tuple[Problem, float]:
    """``4 R^2 / (N + 1)^2`` of the squared residual (Lieder 2021)."""
    p, n, distance2 = Problem(), int(rng.integers(1, 5)), tenths(rng, 5, 40)
    T = p.operator(nonexpansive=True)
    x = first = started(p, T.fixed_point(), distance2)
    for k in range(n):
        x = Q(1, k + 2) * first + Q(k + 1, k + 2) * T(x)
    p.maximize((x - T(x)).square)
    return p, float(4 * distance2 / (n + 1) ** 2)


def proximal_point_of_an_operator(rng: np.random.Generator) -> tuple[Problem, float]:
    """``(1 - 1/N)^(N-1) R^2 / N`` of the last squared step (Gu and Yang 2020)."""
    p, n, distance2 = Problem(), int(rng.integers(2, 5)), tenths(rng, 5, 40)
    A = p.operator(monotone=True)
    x = started(p, A.zero(), distance2)
    for _ in range(n):
        before, x = x, A.resolvent(x, 1)
    p.maximize((x - before).square)
    return p, float(distance2 * (1 - 1 / n) ** (n - 1) / n)


def proximal_gradient(rng: np.random.Generator) -> tuple[Problem, float]:
    """``max((1 - h mu)^2, (1 - h L)^2)^N`` (Taylor, Hendrickx, Glineur 2018)."""
    p, L, n, distance2 = Problem(), tenths(rng, 5, 40), int(rng.integers(1, 3)), tenths(rng, 5, 40)
    mu, h = L / int(rng.integers(2, 30)), tenths(rng, 2, 19) / L
    f, g = p.function(mu=mu, L=L), p.function()
    best = (f + g).minimizer()
    x = started(p, best, distance2)
    for _ in range(n):
        x = g.proximal(x - h * f.gradient(x), h)
    p.maximize((x - best).square)
    return p, float(distance2 * max((1 - h * mu) ** 2, (1 - h * L) ** 2) ** n)


def exact_line_search(rng: np.random.Generator) -> tuple[Problem, float]:
    """``((L - mu) / (L + mu))^(2 N)`` of the gap (de Klerk, Glineur, Taylor 2017)."""
    p, L, n, gap = Problem(), tenths(rng, 5, 40), int(rng.integers(1, 3)), tenths(rng, 5, 40)
    mu = L / int(rng.integers(2, 30))
    f = p.function(mu=mu, L=L)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), gap)
    for _ in range(n):
        x = f.line_search(x, f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    return p, float(gap * ((L - mu) / (L + mu)) ** (2 * n))


def inexact_gradients(rng: np.random.Generator) -> tuple[Problem, float]:
    """``((L_e - mu_e) / (L_e + mu_e))^(2 N)`` with ``L_e = (1 + e) L`` and ``mu_e = (1 - e) mu``."""
    p, L, eps = Problem(), tenths(rng, 5, 40), Q(int(rng.integers(1, 4)), 10)
    mu = L / int(rng.integers(2, 30))
    high, low = (1 + eps) * L, (1 - eps) * mu
    f = p.function(mu=mu, L=L)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    x = x - 2 / (high + low) * f.inexact_gradient(x, relative=eps)
    p.maximize(f.value(x) - f.value(best))
    return p, float(((high - low) / (high + low)) ** 2)


METHODS: list[Callable[[np.random.Generator], tuple[Problem, float]]] = [
    gradient_descent_on_a_convex_function,
    gradient_descent_on_a_strongly_convex_function,
    gradient_descent_on_a_quadratic,
    proximal_point,
    subgradients,
    halpern,
    proximal_point_of_an_operator,
    proximal_gradient,
    inexact_gradients,
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", METHODS)
def test_the_known_worst_case_lies_in_the_enclosure_which_is_narrow(method: Any, seed: int) -> None:
    problem, known = method(np.random.default_rng([seed, METHODS.index(method)]))
    lower, upper = problem.solve().enclosure
    assert float(lower) <= known * (1 + 1e-12)
    assert known * (1 - 1e-12) <= float(upper)
    assert float(upper - lower) <= WIDE * known


@pytest.mark.parametrize("seed", range(3))
def test_an_exact_line_search_has_an_upper_bound_that_is_the_known_worst_case(seed: int) -> None:
    problem, known = exact_line_search(np.random.default_rng(seed))
    worst = problem.solve()
    assert worst.lower is None  # that the step lies on the line is not demanded
    assert worst.upper is not None
    assert known * (1 - 1e-12) <= float(worst.upper) <= known * (1 + WIDE)


def test_sums_and_squares_of_python_are_those_of_the_language() -> None:
    p = Problem()
    x, y = p.point("x"), p.point("y")
    f = p.function(L=1)
    forms, values = [x @ y, (x - y).square], [f.value(x), f.value(y)]
    assert repr(sum(forms)) == repr(forms[0] + forms[1])
    assert repr(sum(values)) == repr(values[0] + values[1])
    total: Any = sum([x, x, y])
    assert total.coordinates == (2 * x + y).coordinates
    assert repr(x**2) == repr(x.square)
    exponents: list[Any] = [3, 1, True, 2.0]
    for exponent in exponents:
        with pytest.raises(TypeError, match=r"a vector has the power 2 only, its squared length \(x.square\)"):
            _ = x**exponent
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = 1 + x @ y


def test_conditions_that_bound_nothing_prove_no_infinite_worst_case() -> None:
    p = Problem()
    f = p.function(mu=-1, L=1, polyak=Q(1, 2))
    best, x = f.minimizer(), p.point()
    p.at_most(f.gradient(x).square, 1)
    p.maximize((x - best).square)
    with pytest.raises(OracleError, match="too little that is known of f0"):
        p.solve()


CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1}


def local_steps(num_clients: int, num_selected: int | None) -> WorstCase:
    """A round of two local steps of 1/4."""
    p = Problem()
    c = p.clients(num_clients, **CLASS)
    best = c.minimizer()
    w = started(p, best, Q(1))
    p.at_most(c.objective_gap(), Q(1, 2), name="objective_gap")
    for _ in range(2):
        w = c.step(w, Q(1, 4))
    p.maximize((c.mean(w) - best).square if num_selected is None else c.sample(num_selected).square(w - best))
    return p.solve()


@pytest.mark.parametrize(("num_clients", "num_selected"), [(2, None), (3, None), (1000, None), (5, 2)])
def test_federated_averaging_has_the_worst_case_of_its_own_door(num_clients: int, num_selected: int | None) -> None:
    counts = {} if num_selected is None else {"num_clients": num_clients, "num_selected": num_selected}
    sampling = "all" if num_selected is None else "distinct"
    door = fedavg(2, Q(1, 4), distance2=1, objective_gap=Q(1, 2), sampling=sampling, **CLASS, **counts)
    found = local_steps(num_clients, num_selected)
    lower, upper = found.enclosure
    assert max(lower, door.enclosure[0]) <= min(upper, door.enclosure[1])
    assert found.relative_width < WIDE
    assert {"distance2", "objective_gap"} == set(found.multipliers)


def test_stochastic_gradients_with_disagreement_at_the_minimizer_are_as_bad_as_is_known() -> None:
    p = Problem()
    functions = [p.function(**CLASS) for _ in range(3)]
    whole = Q(1, 3) * (functions[0] + functions[1] + functions[2])
    best = whole.minimizer()
    x = started(p, best, Q(1))
    p.at_most(p.mean([f.gradient(best).square for f in functions]), 1, name="zeta2")
    p.maximize(p.mean([(x - f.gradient(x) - best).square for f in functions]))
    assert p.solve().value == pytest.approx(2.39192705, abs=1e-7)


def test_the_least_gradient_of_a_smooth_function_that_need_not_be_convex() -> None:
    """4 / (3 N + 2) for N steps of 1/L from a gap of 1, L = 1 (Abbaszadehpeivasti, de Klerk, Zamani 2022)."""
    p = Problem()
    f = p.function(mu=-1, L=1)
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    slopes = [f.gradient(x).square]
    for _ in range(3):
        x = x - f.gradient(x)
        slopes.append(f.gradient(x).square)
    p.maximize(*slopes)
    lower, upper = p.solve().enclosure
    assert lower <= Q(4, 11) <= upper
    assert upper - lower < WIDE


def test_a_step_of_frank_and_wolfe_loses_half_of_the_diameter_squared() -> None:
    p = Problem()
    f, inside = p.function(L=1), p.indicator(diameter=1)
    best, x = (f + inside).minimizer(), p.point()
    inside.value(x)
    y = inside.linear_minimizer(f.gradient(x))
    p.maximize(f.value(y) - f.value(best))
    lower, upper = p.solve().enclosure
    assert lower <= Q(1, 2) <= upper
    assert upper - lower < WIDE


def test_a_compressed_step_on_a_quadratic_loses_what_the_compressor_loses() -> None:
    """(max |1 - h lambda| + h L sqrt(eps))^2 where both are attained at the same end: here lambda = L."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best = f.minimizer()
    x = started(p, best, Q(1))
    p.maximize((x - Q(7, 4) * p.compressed(f.gradient(x), Q(1, 16)) - best).square)
    assert p.solve().value == pytest.approx((0.75 + 1.75 / 4) ** 2, rel=1e-7)


def test_a_mirror_step_of_a_sum_balances_its_gradients() -> None:
    p = Problem()
    f, h, x = p.function(), p.function(), p.point()
    y = (2 * f + h).linear_minimizer(-h.gradient(x))
    assert not (2 * f.gradient(y) + h.gradient(y) - h.gradient(x)).coordinates


def test_an_operator_may_be_asked_where_a_gradient_leads() -> None:
    """A nonexpansive operator after a gradient step of 1/L is no further from a common fixed point."""
    p = Problem()
    f, T = p.function(L=1), p.operator(nonexpansive=True)
    best = f.minimizer()
    T.call(best, best)
    x = started(p, best, Q(1))
    p.maximize((T(x - f.gradient(x)) - best).square)
    lower, upper = p.solve().enclosure
    assert lower <= 1 <= upper
    assert upper - lower < WIDE


def test_a_value_without_a_gradient_of_bounded_length_has_both_sides() -> None:
    """``f(x) - f* <= 1`` at the start says nothing of the subgradient there, which may be as long as one likes."""
    p = Problem()
    f, h = p.function(), p.function()
    best, x = f.minimizer(), p.point()
    p.at_most(h.value(best) - h.value(x) - h.gradient(x) @ (best - x), 1)
    y = (3 * f + h).linear_minimizer(-h.gradient(x))
    p.maximize(f.value(y) - f.value(best))
    worst = p.solve()
    lower, upper = worst.enclosure
    assert lower <= Q(1, 3) <= upper
    assert upper - lower < WIDE
    assert worst.verify() == (lower, upper)


def test_a_smaller_claim_than_the_truth_is_not_proved() -> None:
    problem, known = gradient_descent_on_a_convex_function(np.random.default_rng(0))
    assert float(problem.solve().enclosure[1]) >= known
    assert float(problem.solve().verify()[1] or 0) >= known


def test_a_class_of_which_not_all_conditions_are_known_has_an_upper_bound_only() -> None:
    p = Problem()
    f = p.function(mu=-1, L=1, polyak=Q(1, 2))
    best, x = f.minimizer(), p.point()
    p.at_most(f.value(x) - f.value(best), 1)
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    worst = p.solve()
    assert worst.lower is None
    assert worst.upper is not None
    assert worst.upper <= Q(1, 2) + Q(1, 10**6)  # the descent lemma with Polyak's inequality: 1 - mu/L
    assert "upper bound only" in repr(worst)
    with pytest.raises(ValueError, match="lower side"):
        worst.instance()


def test_points_of_an_instance_have_the_products_that_the_proof_says() -> None:
    p = Problem()
    f = p.function(L=1)
    best = f.minimizer()
    x = started(p, best, Q(1))
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    points = p.solve().instance()
    apart = points["start"] - points["x*"]
    assert apart @ apart == pytest.approx(1, abs=1e-6)


def halves(p: Problem) -> Any:
    half: Any = 0.5
    return half * p.function(L=1).gradient(p.point())


def contradiction(p: Problem) -> Any:
    x = p.point()
    p.at_most(x.square, 1, "radius")
    p.at_most(-x.square, -2, "away")
    p.maximize(x.square)
    return p.solve()


def unbounded(p: Problem) -> Any:
    f = p.function(L=1)
    x = p.point("start")
    p.at_most(f.value(x) - f.value(f.minimizer()), 1)
    p.maximize((x - f.minimizer()).square)
    return p.solve()


def without_a_start(p: Problem) -> Any:
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("start")
    for _ in range(4):
        x = x - f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p.solve()


def too_large(p: Problem) -> Any:
    f = p.function(L=1)
    for _ in range(61):
        f.gradient(p.point())
    p.maximize(f.value(p.point()))
    return p.solve()


@pytest.mark.parametrize(
    ("write", "error", "sentence"),
    [
        (halves, TypeError, "a factor must be an int or a Fraction, got 0.5"),
        (lambda p: p.point() * p.point(), TypeError, "got <vector v2> .x @ y is the product of two vectors."),
        (lambda p: p.at_most(p.point().square, 0.5), TypeError, "bound must be an int or a Fraction, got 0.5"),
        (lambda p: p.at_most(1, 1), TypeError, "a form must be made of inner products and function values, got 1"),
        (lambda p: p.solve(), ValueError, "a problem must maximize something"),
        (lambda p: p.maximize(), ValueError, "maximize must be given a form"),
        (lambda p: p.maximize((0 * p.point()).square), ValueError, "forms that differ from 0, got one that is 0"),
        (lambda p: p.clients(2, L=1).heterogeneity(zeta2=0), ValueError, "zeta2 must be above 0, got 0: minimizer"),
        (lambda p: p.point() + Problem().point(), ValueError, "must belong to one problem"),
        (lambda p: p.at_most(Problem().point().square, 1), ValueError, "must be of the problem"),
        (lambda p: p.function(L=1).gradient(Problem().point()), ValueError, "of its own problem, got one of another"),
        (lambda p: p.function(L=1).gradient(1.0), TypeError, "must be asked at a vector"),
        (lambda p: p.function(L=1) + Problem().function(L=1), ValueError, "must belong to one problem"),
        (lambda p: p.function(mu=2, L=1), ValueError, "mu must be below L, got mu=2 and L=1"),
        (lambda p: p.function(quadratic=True), ValueError, "must have an L"),
        (lambda p: p.function(L=[1, 2]), TypeError, "L must be one number, got .* coordinate blocks .* at_most"),
        (lambda p: p.unbiased(p.point(), 0.5), TypeError, "omega must be an int or a Fraction, got 0.5"),
        (lambda p: p.unbiased(p.point(), 0), ValueError, "omega must be"),
        (
            lambda p: p.function(L=1).stochastic_gradient(p.point()),
            ValueError,
            "variance or relative must be above 0 .gradient.x. is without noise",
        ),
        (lambda p: p.operator(), ValueError, "an operator must have a hypothesis"),
        (lambda p: p.operator(monotone=True, strongly_monotone=1), ValueError, "described once"),
        (
            lambda p: p.clients(2, L=1).sample(3),
            ValueError,
            "num_selected must be at most the number of clients, 2, got 3",
        ),
        (lambda p: p.mean([]), ValueError, "a mean must have an outcome"),
        (lambda p: p.mean([p.point(), p.point()], [1, 1]), ValueError, "sum to 1"),
        (lambda p: (p.function(L=1) + p.function()).proximal(p.point(), 1), ValueError, "asked of one function"),
        (lambda p: (p.function(mu=-1, L=1) + p.function()).minimizer(), ValueError, "convex functions"),
        (contradiction, AssumptionViolated, "contradictions of away and radius"),
        (unbounded, AssumptionViolated, "the worst case must be finite, got one that grows without end with start"),
        (
            without_a_start,
            AssumptionViolated,
            "the worst case must be finite, got one that grows without end with start",
        ),
        (too_large, ValueError, "at most 60 vectors in a block"),
    ],
)
def test_a_problem_that_makes_no_sense_is_one_sentence(write: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as refused:
        write(Problem())
    assert "\n" not in str(refused.value)
