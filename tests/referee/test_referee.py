"""The referee: what it finds follows from known theorems, and what it cannot find it says."""

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest
import sympy

from fedtheory.__main__ import main
from fedtheory.referee import Missing, referee
from fedtheory.referee import subject as subjects
from fedtheory.referee.clock import Clock
from fedtheory.referee.loose_summands import coefficients_of
from fedtheory.referee.review import LooseSummands, MachineCheck, StatedTheorem, Tightness, Verdict
from fedtheory.referee.subject import Subject
from fedtheory.referee.tightness import mapped
from fedtheory.referee.verdict import decided, simplest
from fedtheory.theorem import Hypothesis, LeftSide, Paper, states
from fedtheory.theorem.domains import COUNT, HORIZON, POSITIVE
from fedtheory.verification import at_most, claim
from fedtheory.worst_case import Comparison, Problem, closed_form
from fedtheory.worst_case.worst_cases import Lemma
from tests.environment import ROOT

PAPER = Paper("toy", "A toy", "Doe", 2000)
SHORT = Hypothesis("step_size <= 1/L", lambda step_size, L: (step_size, "<=", 1 / L))
LEFT = LeftSide("squared distance", "|w_1 - w*|^2", after="step")
THEOREMS = ROOT / "studies" / "theorems"


def theorem(factor: Any, assumes: tuple[Any, ...] = (SHORT,)) -> Any:
    """A bound on the squared distance after a step of gradient descent: a factor times that before."""

    @states(PAPER, "Theorem 1", left=LEFT, assumes=assumes)
    def contraction(distance2, *, mu, L, step_size):
        return {"contracted": factor(step_size * mu) * distance2}

    return contraction


def method(mu: Any, step_size: Any, L: Any = 1, distance2: Any = 1) -> Problem:
    p = Problem()
    f = p.function(mu, L)
    best, x = f.minimizer(), p.point("x")
    p.at_most((x - best).square, distance2, "distance2")
    p.maximize((x - step_size * f.gradient(x) - best).square)
    return p


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, step_size > 0, step_size < 2]


TRUE = theorem(lambda x: (1 - x) ** 2)
LOOSE = theorem(lambda x: 1 - x)
FALSE = theorem(lambda x: (1 - x) ** 2 / 2)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact worst case of gradient descent with short steps, ``(1 - step_size mu)^2``, without solving it."""

    class Known:
        is_composed, relaxed = True, ()

        def __init__(self, value: Q) -> None:
            self.value, self.enclosure = float(value), (value, value)
            self.lower = self.upper = value
            self.multipliers = Lemma("|x - x*|^2", {"distance2": value})

    def compared(bound: Any, given: Any, problem: Any) -> Comparison:
        return Comparison(bound(**given), Known((1 - given["step_size"] * given["mu"]) ** 2 * given["distance2"]))

    monkeypatch.setattr(subjects, "compared", compared)


def subject(bound: Any, **changed: Any) -> Subject:
    return Subject(bound, **{"method": method, "domain": domain, **changed})


def section(work: Any, bound: Any, **changed: Any) -> Any:
    return work(subject(bound, **changed), Clock(60.0, lambda _: None))


def test_the_constants_of_the_statement_fulfill_the_domain_and_the_hypotheses() -> None:
    points = subject(TRUE).points
    assert len(points) > 100
    assert all(0 < c["mu"] < 1 and 0 < c["step_size"] <= 1 == c["L"] for c in points)


def test_hypotheses_that_contradict_each_other_have_no_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "_MOST_DRAWS", 300)
    long = Hypothesis("step_size >= 2/L", lambda step_size, L: (step_size, ">=", 2 / L))
    one = Subject(theorem(lambda x: 1 - x, (SHORT, long)), method=method, domain=domain)
    assert one.points == []
    assert "no constants" in one.why_no_problem


def test_a_bound_below_the_exact_worst_case_is_refuted_by_simple_constants(known: None) -> None:
    found = section(decided, FALSE)
    one = found.counterexample
    assert found.word == "refuted"
    assert one.predicted == FALSE(**one.constants) < one.measured <= 2 * one.predicted
    assert all(c.denominator <= 2 for c in one.constants.values())


def test_a_true_bound_is_not_refuted_and_the_verdict_says_what_it_would_notice(known: None) -> None:
    tight, loose = section(decided, TRUE), section(decided, theorem(lambda x: 3 * (1 - x) ** 2))
    assert (tight.word, tight.num_worst_cases, tight.detects) == ("no counterexample", 24, 1.0)
    assert loose.detects == 3.0


def test_the_map_calls_a_cell_attained_loose_or_vacuous_by_its_definition(known: None) -> None:
    tight, loose, vacuous = (section(mapped, one) for one in (TRUE, LOOSE, theorem(lambda x: 1 + 0 * x)))
    assert [axis.name for axis in tight.axes] == ["kappa", "step_size"]
    assert {cell.status for cell in tight.cells} == {"attained"}
    assert {cell.status for cell in loose.cells} == {"loose"}
    assert {cell.status for cell in vacuous.cells} == {"vacuous"}
    for cell in loose.cells:
        x = cell.constants["mu"] * cell.constants["step_size"]
        assert cell.constants["mu"] == Q(1, loose.axes[0].values[cell.place[0]])
        assert cell.ratio == pytest.approx(float(1 / (1 - x)))
        # The bound 1 - x is the square root of the worst case (1 - x)^2.
        assert cell.progress == pytest.approx(1 / 2, rel=1e-4)
    assert {cell.progress for cell in vacuous.cells} == {0.0}


@pytest.mark.parametrize("horizon", [HORIZON, COUNT], ids=["from 0", "from 1"])
def test_a_bound_without_a_value_before_the_first_round_has_a_map_without_a_trivial_bound(known, horizon) -> None:
    left = LeftSide("squared gradient", "|grad F(w_T)|^2")

    @states(PAPER, "Theorem 1", left=left, assumes=(SHORT,), domains={"num_rounds": horizon})
    def sublinear(num_rounds, *, mu, L, step_size, distance2):
        return {"slow": 9 * distance2 / num_rounds}

    def rounds(mu, step_size, L=1, distance2=1, num_rounds=2) -> Problem:
        return method(mu, step_size)

    found = section(mapped, sublinear, method=rounds)
    assert [axis.name for axis in found.axes] == ["kappa", "num_rounds"]
    assert {cell.status for cell in found.cells} == {"loose"}


def test_printed_coefficients_are_derivatives_and_needed_ones_the_multipliers(known: None) -> None:
    found: Any = coefficients_of(subject(LOOSE), {"mu": Q(1, 2), "L": 1, "step_size": Q(1, 2), "distance2": 1})
    [row] = found.coefficients
    assert (row.name, row.summands, row.printed, row.needed) == ("distance2", ("contracted",), Q(3, 4), Q(9, 16))
    assert "0.75 in the bound and 0.5625" in found.remark


def test_a_fraction_between_two_numbers_has_the_least_denominator() -> None:
    low, high = Q(314, 100), Q(3142, 1000)
    found = simplest(low, high)
    inside = [d for d in range(1, found.denominator + 1) if low * d // 1 + 1 <= high * d]
    assert low < found <= high
    assert inside == [found.denominator]


@pytest.mark.parametrize(
    ("changed", "fragment"),
    [
        ({"method": lambda mu, step_size: None}, "arguments of the bound"),
        ({"domain": lambda step_size, mu: []}, "mu, step_size"),
        ({"domain": lambda mu, step_size: [0 < mu < 1]}, "inequalities"),
        ({"method": lambda mu, step_size, L=1, distance2=1: 3}, "maximizes"),
        ({"method": lambda mu, step_size, L=1, distance2=1: 1 / 0}, "ZeroDivisionError"),
    ],
)
def test_functions_that_do_not_fit_the_bound_are_refused(changed: dict[str, Any], fragment: str) -> None:
    with pytest.raises(ValueError, match=fragment):
        subject(TRUE, **changed)


def test_a_bound_without_a_method_has_reasons_in_the_place_of_sections() -> None:
    @states(PAPER, "Theorem 2", domains={"scale": POSITIVE})
    def alone(scale):
        return {"all": 2 * scale}

    found: Any = referee(alone, seconds=5.0, claims=())
    assert isinstance(found.statement, StatedTheorem)
    assert found.verdict.word == "undecided"
    assert found.exit_code == 3
    assert all(isinstance(one, Missing) and "method" in one.reason
               for one in (found.tightness, found.loose_summands, found.for_all_constants))  # fmt: skip
    assert "folder" in found.machine_check.reason


def instance(rng: Any) -> Any:
    """A quadratic in one dimension: the factor is exact."""
    mu, step_size = Q(int(rng.integers(1, 9)), 8), Q(int(rng.integers(1, 9)), 8)
    known = {"mu": mu, "L": 1, "step_size": step_size}
    return at_most((1 - step_size * mu) ** 2, known.pop("bound", FALSE)(Q(1), **known), instance=known)


def test_an_instance_of_a_claim_refutes_by_exact_numbers_only() -> None:
    exact = claim("toy:exact", "a step", FALSE)(instance)
    rounded = claim("toy:rounded", "a step", FALSE)(lambda rng: at_most(1.0, 0.5, instance={"x": rng.random()}))
    refuted, undecided = (section(decided, FALSE, claims=(one,), method=None, domain=None) for one in (exact, rounded))
    assert (refuted.word, refuted.counterexample.origin) == ("refuted", "toy:exact")
    assert refuted.counterexample.measured > refuted.counterexample.predicted
    assert undecided.word == "undecided"
    assert any("not exact" in remark for remark in undecided.remarks)


def test_time_that_is_over_ends_a_block_and_is_told_from_the_users_interruption() -> None:
    one = Clock(0.05, lambda _: None)
    before = signal.getsignal(signal.SIGALRM)
    with one.limit():
        time.sleep(5)
    assert one.ended == "the time was over"
    assert 0.05 <= one.seconds < 4
    other = Clock(60.0, lambda _: None)
    with other.limit():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    assert other.ended == "interrupted"
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_interruption_that_a_function_in_c_ignores_ends_a_block_and_other_system_errors_do_not() -> None:
    clock = Clock(60.0, lambda _: None)
    with clock.limit():
        raise SystemError from KeyboardInterrupt()
    assert clock.ended == "interrupted"
    with pytest.raises(SystemError), clock.limit():
        raise SystemError from ValueError()


def test_sections_after_an_interruption_are_missing_and_those_before_are_kept() -> None:
    def report(text: str) -> None:
        if "3 tightness" in text:
            signal.raise_signal(signal.SIGINT)

    found: Any = referee(LOOSE, seconds=60.0, claims=(), report=report)
    assert isinstance(found.statement, StatedTheorem)
    assert isinstance(found.verdict, Verdict)
    assert found.tightness == found.for_all_constants == found.machine_check == Missing("interrupted")
    assert "Theorem 1 of A toy" in found.citation.paragraph


def test_without_time_no_section_is_begun() -> None:
    found = referee(LOOSE, seconds=1e-9, claims=())
    assert isinstance(found.verdict, Missing)
    assert found.exit_code == 3


FILE = """
from fedtheory.theorem import Paper, states
from fedtheory.theorem.domains import COUNT, HORIZON, POSITIVE

@states(Paper("a", "A", "B", 2000), "Theorem 1", domains={"scale": POSITIVE})
def first(scale):
    return {"all": scale}

@states(Paper("a", "A", "B", 2000), "Theorem 2", domains={"scale": POSITIVE})
def second(scale):
    return {"all": scale}
"""


@pytest.mark.parametrize(
    ("text", "options", "fragment"),
    [
        (None, [], "does not exist"),
        ("1 / 0", [], "ZeroDivisionError"),
        ("x = 1", [], "@states"),
        (FILE, [], "--theorem"),
        (FILE, ["--theorem", "secnd"], "close: second"),
        (f"{FILE}\nmethod = lambda mu: mu", ["--theorem", "first"], "scale"),
        (FILE, ["--theorem", "first", "--seconds", "0"], "--seconds"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(
    text: str | None, options: list[str], fragment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["referee", str(file), *options])
    said = capsys.readouterr().err
    assert (left.value.code, said.count("\n")) == (2, 1)
    assert fragment in said


def test_an_undecided_theorem_gives_three_and_its_report_is_written(tmp_path: Path, capsys: Any) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(FILE, encoding="utf-8")
    assert main(["referee", str(file), "--theorem", "first", "--out", str(out), "--seconds", "5"]) == 3
    assert {"review.html", "review.md", "review.tex"} == {one.name for one in out.iterdir()}
    assert "no method() is given" in capsys.readouterr().out


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("reviews")
    # The planted error is refuted at once; a tenth of its time is used to shrink the counterexample.
    seconds = {"fedlin": 400.0, "local_gradient_descent": 400.0, "planted": 60.0}
    return {name: referee(THEOREMS / f"{name}.py", out=folder / name, seconds=most) for name, most in seconds.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fedlin", "local_gradient_descent", "planted"])
def test_the_examples_fill_the_sections(reviews: dict[str, Any], name: str) -> None:
    assert len((THEOREMS / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 60
    found = reviews[name]
    kinds = (StatedTheorem, Verdict, Tightness, LooseSummands, MachineCheck)
    filled = (found.statement, found.verdict, found.tightness, found.loose_summands, found.machine_check)
    assert tuple(map(type, filled)) == kinds
    assert all(one.is_proved for one in found.machine_check.certificates)
    assert found.exit_code == (1 if name == "planted" else 0)


@pytest.mark.slow
def test_fedlin_contracts_twice_as_fast_as_its_theorem_says(reviews: dict[str, Any]) -> None:
    found: Any = reviews["fedlin"]
    form, rate = found.for_all_constants.closed_form, found.for_all_constants.rate
    at = {"mu": Q(1, 5), "step_size": Q(1, 7)}
    assert form.result(**at) == (1 - at["mu"] * at["step_size"] / 2) ** 4
    assert found.verdict.word == "proved on the domain"
    steps, x = rate.constants["local_steps"], rate.constants["mu"] * rate.constants["step_size"]
    assert float(rate.value) == pytest.approx(float((1 - x / steps) ** (2 * steps)), rel=1e-5)


@pytest.mark.slow
def test_the_drift_of_local_gradient_descent_needs_a_smaller_constant(reviews: dict[str, Any]) -> None:
    rows = {one.name: one for one in reviews["local_gradient_descent"].loose_summands.coefficients}
    assert rows["drift2"].needed < rows["drift2"].printed
    assert rows["distance2"].needed >= rows["distance2"].printed == 1


@pytest.mark.slow
def test_the_planted_error_is_refuted_by_an_instance_in_fractions(reviews: dict[str, Any]) -> None:
    one = reviews["planted"].verdict.counterexample
    assert one.origin == "planted:descent"
    assert isinstance(one.measured, Q)
    assert one.measured > one.predicted
    assert {cell.status for cell in reviews["planted"].tightness.cells} == {"refuted"}


@pytest.mark.slow
def test_a_bound_below_the_closed_form_is_not_called_proved() -> None:
    found = closed_form(method, domain)
    mu, step_size = sympy.symbols("mu step_size")

    def short(mu: Any, step_size: Any) -> list[Any]:
        return [mu > 0, mu < 1, step_size > 0, step_size * (1 + mu) <= 2]

    value = (1 - mu * step_size) ** 2
    assert found.covers(short)
    assert not found.covers(lambda mu, step_size: [mu > 0, mu < 1, step_size > 0, step_size <= 2])
    assert found.is_at_most(value, short)
    assert not found.is_at_most(value, domain)  # it is smaller than (1 - step_size)^2 for long steps
    assert not found.is_at_most(value - mu / 1000, short)
    with pytest.raises(ValueError, match="inequalities"):
        found.is_at_most(value, lambda mu: [mu > 0])


@pytest.mark.slow
def test_libraries_are_imported_before_a_time_limit_could_interrupt_their_import() -> None:
    # No section begins in this time, so that nothing else imports them.
    work = (
        "import sys, fedtheory.bounds.sgd as sgd; from fedtheory.referee import referee; referee(sgd.drawn_step,"
        " claims=(), seconds=1e-9); print({'cvxpy', 'scipy.optimize', 'sympy'} - {*sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "set()"
