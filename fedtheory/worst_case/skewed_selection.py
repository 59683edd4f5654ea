"""Exact worst cases of biased selection with given skews, for one and many rounds."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple

from fedtheory._support import validate
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.theorem.assumptions import unmet
from fedtheory.worst_case._functions import Clients
from fedtheory.worst_case._vectors import Vector
from fedtheory.worst_case.arguments import DISTANCE, Constants, check_block, constants, nonnegative_number, step_sizes
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.proofs import NARROW
from fedtheory.worst_case.worst_cases import Case, Lemma, WorstCase, largest, lemma_of, worst_of

__all__ = ["skew_class", "skew_class_horizon"]

# Number of binary digits to which distances between rounds are rounded outwards.
_DIGITS = 64
# The widths of composed rounds add up, so each round aims at a tenth of the usual width.
_COMPOSED = NARROW / 10


class Skews(NamedTuple):
    """Diagonal skew, largest skew at w*, number of selected clients, noise, and a bound on gradients, or None."""

    rho: Fraction
    rho_tilde: Fraction
    num_selected: int = 1
    gradient_noise: Fraction = Fraction(0)
    G2: Fraction | None = None


def skews(
    given: Constants, rho_diagonal: Any, rho_tilde: Any, num_selected: int = 1, gradient_noise: Any = 0, G2: Any = None
) -> Skews:
    """Validate the skews, and check that there are federations with these constants."""
    rho, tilde = nonnegative_number("rho_diagonal", rho_diagonal), nonnegative_number("rho_tilde", rho_tilde)
    broken = [
        unmet("rho_tilde >= rho_diagonal", tilde, ">=", rho),
        unmet("rho_diagonal <= L/mu", rho, "<=", given.L / given.mu),
    ]
    for sentence in filter(None, broken):
        message = f"no federation has these constants: {sentence}"
        raise AssumptionViolated(message)
    number, noise = validate.count("num_selected", num_selected), nonnegative_number("gradient_noise", gradient_noise)
    return Skews(rho, tilde, number, noise, None if G2 is None else nonnegative_number("G2", G2))


@validate.names
def skew_class(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    rho_diagonal: Any,
    rho_tilde: Any,
    gradient_noise: Any = 0,
    num_selected: int = 1,
    G2: Any = None,
    functions: Literal["all", "quadratic"] = "all",
) -> WorstCase:
    r"""Exact worst case of one round over all federations and selection laws with these skews.

    The largest ``E |w_+ - w*|^2`` over any number of L-smooth, mu-strongly convex clients with any weights,
    ``F* - sum p_k F_k* = objective_gap``, and any law that selects ``num_selected`` clients whose mean excess loss is
    at least ``rho_diagonal (F(w) - F* + Gamma)`` at the round's start and at most ``rho_tilde Gamma`` at w*. The
    instance has two clients that are the whole population, and a third client of vanishing weight that is selected.

    Raises AssumptionViolated if no federation has these constants, which is proved: rho_diagonal is above rho_tilde or
    L/mu, or the gradients cannot be as small as G2. Raises OracleError if no proof of both sides was found.

    Parameters
    ----------
    local_steps, step_size, mu, L
        As in ``fedavg``; one round.
    distance2
        Largest squared distance of the round's first model from w*.
    objective_gap
        Gamma.
    rho_diagonal, rho_tilde
        The skews, ``0 <= rho_diagonal <= min(rho_tilde, L/mu)``.
    gradient_noise, num_selected
        Variance of a stochastic gradient, and number of selected clients, whose noises are independent.
    G2
        Bound on the squared gradients of the selected clients; by default there is no bound.
    functions
        ``all``, or only ``quadratic`` ones, with exact gradients.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> known = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2), rho_diagonal=Q(6, 5), rho_tilde=2)
    >>> round(skew_class(1, Q(1, 4), **known).value, 4)  # 491/400
    1.2275
    """
    steps = validate.count("local_steps", local_steps)
    given = constants(steps, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    check_block(steps + 3)
    ratios = skews(given, rho_diagonal, rho_tilde, num_selected, gradient_noise, G2)
    validate.choice("functions", functions, ("all", "quadratic"))
    if functions == "quadratic" and ratios.gradient_noise:
        message = "gradient_noise must be 0 with functions='quadratic', whose noise is not in the programs"
        raise ValueError(message)
    return worst_of([skewed_round(given, ratios, quadratic=functions == "quadratic").case()], DISTANCE)


def skewed_round(given: Constants, ratios: Skews, *, quadratic: bool = False) -> Problem:
    """Maximize the expected squared distance after a round from a squared distance of at most distance2.

    By Jensen's inequality, averaging the models of the selected clients does not increase the error. The worst case is
    therefore that of one function with the two properties of their mean excess loss.
    """
    p, selected, _, y = _selected(given, ratios, quadratic)
    p.maximize(selected.sample(ratios.num_selected, "independent").square(y))
    return p


def _selected(given: Constants, ratios: Skews, quadratic: bool) -> tuple[Problem, Clients, Vector, Vector]:
    """Return a problem with a selected client, the model, and the model after the round; w* is the origin."""
    p, gap = Problem(), given.objective_gap
    f = p.clients(1, given.mu, given.L, quadratic=quadratic, minimum=0)
    y = w = p.point("start")
    p.at_most(w.square, given.distance2, "distance2")
    f.limit_excess(p.origin, gap, "objective_gap", ratios.rho_tilde)
    above = ratios.rho * given.mu / 2 * w.square - (f.value(w) - f.value(f.local_minimizer()))
    p.at_most(above, gap, "objective_gap" if gap else "", -ratios.rho)
    for eta in given.steps:
        if ratios.G2 is not None:
            p.at_most(f.gradient(y).square, ratios.G2, "G2")
        y = f.step(y, eta, variance=ratios.gradient_noise)
    return p, f, w, y


def averaged_gap(given: Constants, ratios: Skews, weights: Sequence[Fraction]) -> Problem:
    """Maximize the weighted mean of ``F(w) - F*`` over the rounds' starts, with exact gradients and given weights.

    F is evaluated only at the starts of rounds, and its values and gradients there relate the rounds to each other.
    Each round selects a new client of vanishing weight, as in the composition of distances.
    """
    p, gap, per_round = Problem(), given.objective_gap, len(given.steps) // len(weights)
    F = p.function(given.mu, given.L, minimum=0)
    w_star, w = F.minimizer(p.origin), p.point("start")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    gaps = []
    for first in range(0, len(given.steps), per_round):
        gaps.append(F.value(w) - F.value(w_star))
        f = p.function(given.mu, given.L, minimum=0)
        f.limit_excess(w_star, gap, "objective_gap", ratios.rho_tilde)
        p.at_most(ratios.rho * gaps[-1] - (f.value(w) - f.value(f.minimizer())), gap, "objective_gap", -ratios.rho)
        for eta in given.steps[first : first + per_round]:
            w = f.step(w, eta)
    p.maximize(p.mean(gaps, [weight / sum(weights) for weight in weights]))
    return p


@validate.names
def skew_class_horizon(
    num_steps: int,
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    rho_diagonal: Any,
    rho_tilde: Any,
    gradient_noise: Any = 0,
    num_selected: int = 1,
) -> WorstCase:
    r"""Exact worst case after ``num_steps`` local steps over all federations and selection laws with these skews.

    It is the composition of the rounds' worst cases, which are concave and nondecreasing in distance2. The value is
    attained by a federation with a client of vanishing weight for every round. Every round is certified, and distances
    are rounded outwards between them.

    Raises AssumptionViolated if rho_diagonal is above rho_tilde or L/mu. Raises OracleError if no proof was found.

    Parameters
    ----------
    num_steps
        Local steps T, a multiple of ``local_steps``.
    step_size
        One number, or one for each of the ``num_steps`` steps.
    local_steps, mu, L, distance2, objective_gap, rho_diagonal, rho_tilde
        As in ``skew_class``; distance2 is the largest squared distance of the first model.
    gradient_noise, num_selected
        As in ``skew_class``.

    Examples
    --------
    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=1, L=4, objective_gap=Q(1, 2), rho_diagonal=Q(6, 5), rho_tilde=2)
    >>> one = skew_class(1, Q(1, 8), distance2=25, **constants).value
    >>> two = skew_class_horizon(2, 1, Q(1, 8), distance2=25, **constants).value
    >>> abs(two - skew_class(1, Q(1, 8), distance2=Q(one), **constants).value) < 1e-4
    True
    """
    steps, tau = validate.count("num_steps", num_steps), validate.count("local_steps", local_steps)
    if steps % tau:
        message = f"num_steps must be a multiple of local_steps, got {steps} and {tau}"
        raise ValueError(message)
    sizes, start = step_sizes(step_size, steps), nonnegative_number("distance2", distance2)
    check_block(tau + 3)
    lower, upper, cases = start, start, list[Case]()
    for first in range(0, steps, tau):
        known = {"mu": mu, "L": L, "distance2": lower, "objective_gap": objective_gap}
        given = constants(tau, sizes[first : first + tau], **known)
        ratios = skews(given, rho_diagonal, rho_tilde, num_selected, gradient_noise)
        cases.append(skewed_round(given, ratios).case(narrow=_COMPOSED))
        lower, upper = _next(cases[-1], upper)
    lemma = _composed([lemma_of([case], DISTANCE) for case in cases])
    return WorstCase(lower, upper, lemma, tuple(cases), partial(_composition, start), is_composed=True)


def _next(case: Case, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Return the enclosure after a round; the lemma found at the lower end also holds at the upper end."""
    lemma, numbers = lemma_of([case], DISTANCE), case.record.numbers
    reached, _ = largest([case])
    if reached is None:
        message = "a round must be proved from both sides, got no proof of the lower one"
        raise OracleError(message)
    others = {name: upper if name == "distance2" else numbers[name] for name in lemma}
    return _rounded(reached, up=False), _rounded(Fraction(lemma(**others)), up=True)


def _rounded(number: Fraction, *, up: bool) -> Fraction:
    if number <= 0:
        return Fraction(0)
    shift = _DIGITS - (number.numerator.bit_length() - number.denominator.bit_length())
    scaled = number * Fraction(2) ** shift
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    return whole / Fraction(2) ** shift


def _composed(lemmas: Sequence[Lemma]) -> Lemma:
    """Substitute each round's inequality into the next one."""
    total: dict[str, Fraction] = {"distance2": Fraction(1)}
    for lemma in lemmas:
        contraction = lemma.get("distance2", Fraction(0))
        rest = {name: c for name, c in lemma.items() if name != "distance2"}
        total = {name: contraction * total.get(name, 0) + rest.get(name, 0) for name in {**total, **rest}}
    return Lemma(DISTANCE, total)


def _composition(start: Fraction, cases: Sequence[Case]) -> tuple[Fraction, Fraction]:
    """Return the enclosure that follows from the proofs of successive rounds."""
    lower = upper = start
    for case in cases:
        if case.record.numbers.get("distance2", Fraction(0)) != lower:
            message = "a round must start where the one before has ended"
            raise OracleError(message)
        lower, upper = _next(case, upper)
    return lower, upper
