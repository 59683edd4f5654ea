"""Recorded programs against runs on real functions of every class.

Every statement of a recorded program holds in the run. Proved upper sides are not below the value of the run. Lower
sides are attained by functions of the classes.
"""

import contextlib
from collections import Counter
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case import Problem, problem, worst_cases
from fedtheory.worst_case._functions import Clients
from fedtheory.worst_case._record import Record
from fedtheory.worst_case.function_classes import quadratics, smooth_functions
from fedtheory.worst_case.function_classes.interface import FunctionClass
from fedtheory.worst_case.worst_cases import WorstCase
from tests.environment import thinned
from tests.worst_case.attaining import check_attained
from tests.worst_case.members_in_space import Nowhere
from tests.worst_case.oracle import Run, Term, V
from tests.worst_case.test_instances import below_a_minimum, together, turned_back

FIFTH, HALF = Q(1, 5), Q(1, 2)
CLASSES: dict[str, dict[str, Any]] = {
    "convex": {},
    "smooth": {"L": 1},
    "strongly convex": {"mu": FIFTH, "L": 1},
    "strongly convex, not smooth": {"mu": HALF},
    "not convex": {"mu": -1, "L": 1},
    "bounded subgradients": {"lipschitz": 1},
    "bounded gradients": {"L": 2, "lipschitz": 1},
    "quadratic": {"mu": FIFTH, "L": 1, "quadratic": True},
    "indefinite": {"mu": -1, "L": 2, "quadratic": True},
    "Polyak": {"mu": -1, "L": 1, "polyak": HALF},
    "least value 0": {"mu": FIFTH, "L": 1, "minimum": 0},
}
NOT_OF_CLIENTS = {"polyak"}
OF_CLIENTS = {name: kind for name, kind in CLASSES.items() if not NOT_OF_CLIENTS & kind.keys()}
OTHER = {"mu": FIFTH, "L": 1}


def noisy(t: Term, x: V) -> V:
    """Two steps with noise."""
    y = x - HALF * t.stochastic_gradient(x)
    return y - Q(1, 3) * t.stochastic_gradient(y)


def rounds(t: Term, x: V) -> V:
    for _ in range(2):
        x = t.mean(x - Q(1, 3) * t.gradient(x))
    return x


def noisy_round(t: Term, x: V) -> V:
    """A step of all clients with a noise of each of them, whose mean over the clients is in the new model."""
    return t.mean(x - HALF * t.stochastic_gradient(x))


def boxed(run: Run, x: V, kind: dict[str, Any]) -> tuple[Term, V]:
    inside = run.indicator(2)
    return run.function(**kind) + inside, inside.proximal(x, Q(1))


def alone(t: Term, x: V) -> V:
    """Noise, and nothing else."""
    return t.stochastic_gradient(x) - t.gradient(x)


def moved(t: Term, other: Term, x: V) -> tuple[Term, V]:
    return t, x - HALF * other.gradient(x)


def shaken(t: Term, other: Term, x: V) -> tuple[Term, V]:
    return t, x - HALF * other.stochastic_gradient(x)


SITUATIONS: dict[str, Callable[[Run, V, dict[str, Any]], tuple[Term, V]]] = {
    "one function": lambda run, x, kind: (run.function(**kind), x),
    "a sum": lambda run, x, kind: (run.function(**kind) + HALF * run.function(**OTHER), x),
    "a sum with a box": boxed,
    "clients": lambda run, x, kind: moved(t := run.clients(**kind), t, x),
    "clients with noise": lambda run, x, kind: (t := run.clients(**kind), noisy(t, x)),
    "noise of clients alone": lambda run, x, kind: (t := run.clients(**kind), alone(t, x)),
    "clients after a noisy round": lambda run, x, kind: (t := run.clients(**kind), noisy_round(t, x)),
    "several rounds": lambda run, x, kind: (t := run.clients(**kind), rounds(t, x)),
    "noise": lambda run, x, kind: (t := run.function(**kind), noisy(t, x)),
    "noise alone": lambda run, x, kind: (t := run.function(**kind), alone(t, x)),
    "noise of another": lambda run, x, kind: shaken(run.function(**kind), run.function(**OTHER), x),
    "noise of a sum": lambda run, x, kind: shaken(t := run.function(**kind) + run.function(**OTHER), t, x),
    "a function at the clients' points": lambda run, x, kind: moved(run.function(**kind), run.clients(**OTHER), x),
    "clients at a noisy point": lambda run, x, kind: shaken(run.clients(**kind), run.function(**OTHER), x),
    "clients at others' points": lambda run, x, kind: moved(run.clients(**kind), run.clients(**OTHER), x),
}
WITH_CLIENTS = {name for name in SITUATIONS if "clients" in name or "rounds" in name} - {
    "a function at the clients' points"
}
Verb = Callable[[Run, Term, V], V]
VERBS: dict[str, Verb] = {
    "gradient": lambda run, t, w: t.gradient(w),
    "proximal": lambda run, t, w: t.proximal(w, HALF),
    "line_search": lambda run, t, w: t.line_search(w, t.gradient(w)),
    "linear_minimizer": lambda run, t, w: t.linear_minimizer(w),
    "stochastic_gradient": lambda run, t, w: t.stochastic_gradient(w),
    "inexact_gradient": lambda run, t, w: t.inexact_gradient(w, Q(1, 3)),
    "compressed": lambda run, t, w: run.compressed(w, Q(1, 4)),
    "minimizer": lambda run, t, w: w - t.minimizer(),
    "stationary_point": lambda run, t, w: w - t.stationary_point(),
    "objective_gap": lambda run, t, w: run.limited(t.objective_gap(), "gap", w),
    "mean": lambda run, t, w: t.mean(w),
    "nonexpansive operator": lambda run, t, w: run.operator(nonexpansive=True)(w),
    "cocoercive operator": lambda run, t, w: run.operator(cocoercive=HALF)(w),
    "resolvent": lambda run, t, w: run.operator(monotone=True).resolvent(w, HALF),
    "zero": lambda run, t, w: w - run.operator(strongly_monotone=HALF, lipschitz=2).zero(),
    "fixed_point": lambda run, t, w: w - run.operator(lipschitz=HALF).fixed_point(),
    "unbiased": lambda run, t, w: run.unbiased(w, Q(2)),
    "unbiased, clients": lambda run, t, w: run.unbiased(w, Q(2), t),
    "stochastic_gradient, relative": lambda run, t, w: t.relative_noise(w, Q(3)),
    "geometric_mean": lambda run, t, w: run.limited(run.geometric_mean(w.square, t.gradient(w).square), "root", w),
}
NO_GRADIENTS = ("a sum with a box",)
"""Situations whose points are outside of a box."""
SHARED = "clients at a noisy point"
BOXED = ("minimizer", "stationary_point", "objective_gap", "linear_minimizer")


def cases(situation: str) -> list[tuple[str, str]]:
    """Return the verbs and classes of a situation that have members with all that is asked for."""
    kinds = OF_CLIENTS if situation in WITH_CLIENTS else CLASSES
    return [
        (verb, kind)
        for verb in VERBS
        for kind in kinds
        if not (verb == "line_search" and CLASSES[kind].get("mu", 0) < 0)
        and not (situation == "a sum with a box" and verb not in BOXED)
        and not (verb in ("mean", "unbiased, clients") and situation not in WITH_CLIENTS)
    ]


def written(situation: str, verb: str, kind: str, seed: int) -> Run:
    """Write and run a program: a step at a point of a situation, and forms of all that was made."""
    run = Run([seed, *map(sum, map(str.encode, (situation, verb, kind)))])
    x = run.point("x")
    t, w = SITUATIONS[situation](run, x, CLASSES[kind])
    v = VERBS[verb](run, t, w)
    run.limit(w.square, "start")
    run.limit((v - x).square, "end")
    run.fix(v @ w, "product")
    last = v
    if situation not in NO_GRADIENTS:
        run.limit(t.value(v), "value")
        last = t.gradient(v)
    if situation in WITH_CLIENTS:
        how = ("distinct", "independent")[seed % 2]
        run.limit(t.sample_square(v - HALF * last, 1 + seed % 3, how), "sample")
    run.maximize(last @ w - v @ v)
    run.check()
    return run


def examine(situation: str, seed: int, some: list[tuple[str, str]] | None = None) -> Counter[str]:
    """Run the programs of a situation; return how many hold, were refused, or have no member, by verb."""
    found: Counter[str] = Counter()
    for verb, kind in some or cases(situation):
        refusal, outcome = "", "holds"
        try:
            written(situation, verb, kind, seed)
        except ValueError as error:
            refusal, outcome = str(error), "refused"
        except Nowhere:
            outcome = "none"
        # What cannot be stated is refused in one sentence.
        assert not refusal or ("must" in refusal and "\n" not in refusal), refusal
        found[f"{verb}: {outcome}"] += 1
    return found


def bounded(situation: str, verb: str, kind: str, objective: int, seed: int) -> Run:
    """Write and run a program with a finite value: all is bounded at the start, and something grows from there."""
    run = Run([seed, objective, *map(sum, map(str.encode, (situation, verb, kind)))])
    x = run.point("x")
    t, w = SITUATIONS[situation](run, x, CLASSES[kind])
    best = t.stationary_point() if kind == "indefinite" else t.minimizer()
    run.limit((x - best).square, "distance2")
    run.limit(t.gradient(best).square, "zeta2")
    run.limit((w - x).square, "step")
    run.limit(t.gradient(x).square, "gradient2")
    v = VERBS[verb](run, t, w)
    objectives = [
        lambda: t.sample_square(v - best, 1 + seed % 3, "distinct") if situation in WITH_CLIENTS else (v - best).square,
        lambda: Q(-1) * (t.gradient(x) @ t.gradient(v)),
        lambda: t.value(best) - t.value(x),
        lambda: t.gradient(v).square,
    ]
    run.maximize(objectives[objective]())
    run.check()
    return run


def check_lemma(worst: WorstCase) -> None:
    """Refuse a lemma that is not the upper side: a sum of multiplier times number."""
    constraints = (*worst.deciding.proof.program.equalities, *worst.deciding.proof.program.inequalities)
    numbers = {one.name: one.bound / one.share for one in constraints if one.share}
    assert sum(c * numbers[name] for name, c in worst.multipliers.items()) == worst.upper, "the lemma misses a term"


def prove(situation: str, verb: str, kind: str, objective: int, seed: int, num_members: int = 4) -> str:
    """Solve a program; say what is proved, after comparing it with members."""
    run, worst, unproved = bounded(situation, verb, kind, objective, seed), None, ""
    try:
        worst = run.problem.solve()
    except (AssumptionViolated, OracleError) as error:
        unproved = str(error)
    assert "contradict" not in unproved, "a class with a member was called empty"
    if worst is None:
        return "infinite" if "finite" in unproved else "nothing"
    if worst.upper is not None:
        check_lemma(worst)
        # With the numbers of another member, the lemma is about it. Numbers that no member has are the program's own.
        program = worst.deciding.proof.program
        own = {one.name: one.bound / one.share for one in program.constraints if one.name and one.share}
        for other in (
            run,
            *(bounded(situation, verb, kind, objective, seed + 3000 * k) for k in range(1, num_members)),
        ):
            assert other.objective is not None
            numbers = {name: other.numbers[name] if name in other.numbers else own[name] for name in worst.multipliers}
            promised = float(sum((c * numbers[name] for name, c in worst.multipliers.items()), Q(0)))
            assert promised >= other.objective.true - 1e-6 * (1 + abs(promised)), "a member is above the upper side"
    if worst.lower is not None:
        check_attained(run.problem, worst)
    return f"{'lower' * (worst.lower is not None)}{' upper' * (worst.upper is not None)}".strip()


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_a_program_records_holds_in_its_run(situation: str) -> None:
    every = cases(situation)
    some = [every[int(place)] for place in np.random.default_rng(len(situation)).permutation(len(every))[:4]]
    assert sum(examine(situation, 0, some).values()) == len(some)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("seed", thinned(range(6), 6))
def test_what_every_program_records_holds_in_its_run(situation: str, seed: int) -> None:
    # Each program is run in a third of the situations; six seeds take all.
    found = examine(situation, seed, cases(situation)[([*SITUATIONS].index(situation) + seed) % 3 :: 3])
    held = sum(number for what, number in found.items() if what.endswith("holds"))
    assert held > 0.4 * found.total() or situation == "clients at others' points"


@pytest.mark.parametrize(
    "program",
    [
        ("one function", "proximal", "smooth", 0),
        ("noise alone", "gradient", "quadratic", 1),
        ("clients", "mean", "strongly convex", 0),
    ],
    ids=str,
)
def test_what_is_proved_of_a_program_is_between_its_members_and_what_functions_attain(program: Any) -> None:
    assert prove(*program, seed=0) == "lower upper"


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(20), 10))
def test_what_is_proved_of_programs_is_between_members_and_what_functions_attain(seed: int) -> None:
    rng, found = np.random.default_rng(seed), Counter[str]()
    for _ in range(25):
        situation = [*SITUATIONS][int(rng.integers(len(SITUATIONS)))]
        every = cases(situation)
        verb, kind = every[int(rng.integers(len(every)))]
        if situation not in NO_GRADIENTS:
            with contextlib.suppress(Nowhere, ValueError):
                found[prove(situation, verb, kind, int(rng.integers(4)), int(rng.integers(10**6)))] += 1
    assert found["lower upper"] + found["upper"] >= 2


def unclosed(record: Record, inputs: Any, blocks: Any) -> list[int]:
    return [*blocks]


def forgotten(proof: Any, multipliers: Any) -> dict[str, Q]:
    named = zip(proof.program.inequalities, multipliers.inequalities, strict=True)
    return {one.name: y * one.share for one, y in named if one.name}


def tangent() -> None:
    """|x|^2 = 4 and |y - x|^2 <= 1: the lemma of |y|^2 <= 9 needs both."""
    p = Problem()
    x, y = p.point(), p.point()
    p.equal_to(x.square, 4, "e")
    p.at_most((y - x).square, 1, "d")
    p.maximize(y.square)
    check_lemma(p.solve())


def twice() -> None:
    p = Problem()
    x, y = p.point(), p.point()
    p.at_most(x.square, 4, "d")
    p.at_most((y - x).square, 1, "d")
    p.maximize(y.square)
    check_lemma(p.solve())


def attained(write: Callable[[], Problem]) -> Callable[[], None]:
    """Return a check that the lower side of a problem consists of functions."""
    return lambda: check_attained(p := write(), p.solve())


def sunk() -> None:
    p = Problem()
    f, x = p.function(L=1, minimum=0), p.point()
    p.at_most(f.value(x), -1)
    p.at_most(f.gradient(x).square, 1)
    p.maximize(f.gradient(x).square)
    check_attained(p, p.solve(), floors=[f.name])


def mean_of_one(record: Record, block: int, num_clients: int) -> V:
    return MEAN_NOISE(record, block, 1)


MEAN_NOISE: Any = Record.mean_noise


def only(situation: str, *verbs: str, kind: str = "smooth") -> Callable[[], Any]:
    return lambda: [examine(situation, seed, [(verb, kind) for verb in verbs]) for seed in range(3)]


def some_verbs(situation: str) -> Callable[[], Any]:
    verbs = ("compressed", "mean", "inexact_gradient", "nonexpansive operator")
    some = [(verb, "smooth") for verb in verbs if (verb, "smooth") in cases(situation)]
    return lambda: examine(situation, 1, some)


def flatter(mu: Q, L: Q) -> tuple[Q, Q, Q]:
    less = L * Q(9, 10)
    half = less / (2 * (less - mu))
    return half / less, half * mu, half * 2 * mu / less


FAULTS: dict[str, tuple[Any, str, Any, Callable[[], Any], str | None]] = {
    "randomness is dropped": (Record, "_closed", unclosed, some_verbs("noise"), "misses a source"),
    "differences of clients are dropped": (Record, "_closed", unclosed, some_verbs("clients"), "misses a source"),
    "shared noise is averaged": (Record, "noises_of", lambda d, _: d.noises, some_verbs(SHARED), "says something else"),
    "a mean takes shared noise away": (Clients, "mean", lambda _, v: v.within((0,)), some_verbs(SHARED), "misses"),
    "a matrix for a sum over outcomes": (quadratics, "_by_source", together, attained(turned_back), "of no function"),
    "a stationary point for a minimizer": (FunctionClass, "has_minimizer", True, attained(below_a_minimum), "of no"),
    "a least value that is not in force": (problem, "completed", Record.copy, sunk, None),
    "equalities left out of the lemma": (worst_cases, "shares_of", forgotten, tangent, "misses a term"),
    "one name for two numbers": (Record, "_constant", lambda record, name, number: name, twice, "misses a term"),
    "what noise adds to differences is dropped": (
        Record,
        "_crossed",
        lambda *_: [],
        only("clients after a noisy round", "gradient"),
        "misses a source",
    ),
    "a mean of noises is as long as one": (
        Record,
        "mean_noise",
        mean_of_one,
        only("clients after a noisy round", "gradient"),
        "equality",
    ),
    "a curvature smaller than declared": (
        smooth_functions,
        "_factors",
        flatter,
        some_verbs("one function"),
        "does not hold",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_translation_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, replacement, examined, said = FAULTS[fault]
    with contextlib.suppress(AssumptionViolated, ValueError):
        examined()
    monkeypatch.setattr(owner, name, replacement)
    with pytest.raises(AssertionError, match=said):
        examined()


@pytest.mark.parametrize("share", [Q(1, 2), Q(9, 10)])
def test_a_compressor_that_errs_less_than_it_is_declared_is_found(share: Q, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Problem.compressed
    monkeypatch.setattr(Problem, "compressed", lambda p, vector, eps: declared(p, vector, share * eps))
    with pytest.raises(AssertionError, match="does not hold"):
        examine("one function", 0, [("compressed", "smooth")])
