"""Checks of user-supplied bounds against the instances of a claim."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.claims.catalogue import one_claim
from fedtheory.conformance._checks import Check, Failed, Kit, ask, excused
from fedtheory.theorem.bound import override
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding
from fedtheory.verification.hunts import hunt
from fedtheory.verification.instances import EXAMPLE, regression_examples, reproduce

__all__ = ["check_bound"]


@Kit
def check_bound(
    function: Callable[..., Any],
    claim: Claim | str,
    rng: validate.RNGLike = 0,
    *,
    exact: bool = False,
    num_instances: int = 40,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    """Check a user-supplied bound: a claim must hold with the function in place of its bound.

    The checks are ``runs``, ``number``, ``inputs``, ``same answer``, ``holds`` (on drawn instances and the worst known
    one), ``decides`` (some bound value is finite) and ``survives a hunt``. A failed claim reports the arguments and the
    smallest instance found. Comparisons are those of the claim's check; exact ones have no tolerance.

    Parameters
    ----------
    function
        Function of the arguments of ``claim.bound``, by the same names, that returns one number.
    claim
        A claim whose check compares a quantity with a bound, or its key.
    rng
        Seed or SeedSequence of the instances.
    exact
        Whether the function receives the rational numbers (``Fraction``) of the check; otherwise floats.
    num_instances
        Number of drawn instances, and of instances in the hunt for a counterexample.
    exceptions
        Names of checks to skip, each with the reason.

    Examples
    --------
    >>> found = check_bound(lambda excess, L: 1.9 * L * excess, "power-of-choice:lemma-b1")
    >>> print(found.failures[0].sentence)
    power-of-choice:lemma-b1 needs 64 <= 60.8
    >>> found.failures[0].case["excess"], found.failures[0].case["L"]
    (16.0, 2.0)
    """
    known = (
        one_claim(claim) if isinstance(claim, str) else validate.instance("claim", claim, Claim, "a claim or its key")
    )
    validate.function("function", function, "the arguments of the bound")
    count = validate.size("num_instances", num_instances)
    trial = _Trial(known, function, validate.boolean("exact", exact), validate.seed_sequence(rng))
    _refuse_what_does_not_ask(trial, count)
    works: dict[str, Callable[[], Any]] = {
        "runs": partial(trial.findings, 1),
        "number": partial(trial.findings, min(count, 10)),
        "inputs": partial(trial.findings, min(count, 10)),
        "same answer": partial(_again, trial, count),
        "holds": partial(_holds, trial, count),
        "decides": partial(_decides, trial, count),
        "survives a hunt": partial(_hunted, trial, count),
    }
    return excused([Check(name, work) for name, work in works.items()], exceptions)


@dataclass(frozen=True)
class _Call:
    """A call of the function: its answer, and the arguments under the names of the bound."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    answer: Any
    arguments: dict[str, Any]


@final
@dataclass(frozen=True)
class _Trial:
    """A claim whose check calls the user's function in place of its bound; ``calls`` records the arguments."""

    claim: Claim
    function: Callable[..., Any]
    exact: bool
    seeds: np.random.SeedSequence
    calls: list[_Call] = field(default_factory=list)

    def answer(self, *args: Any, **kwargs: Any) -> Any:
        """Return the user's value in place of the bound."""
        own_args = args if self.exact else tuple(map(_rounded, args))
        own = kwargs if self.exact else {name: _rounded(value) for name, value in kwargs.items()}
        case = dict(zip(inspect.signature(self._bound).parameters, own_args, strict=False)) | own
        before = {name: np.array(part) for name, part in case.items() if isinstance(part, list | np.ndarray)}
        value = ask(partial(self.function, *own_args, **own), case=case)
        for name, part in before.items():
            if not np.array_equal(np.asarray(case[name]), part):
                raise Failed(f"must not change {name}, got {truncate(case[name])} back", **{**case, name: part}).of(
                    "inputs"
                )
        self.calls.append(_Call(own_args, own, value, case))
        if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
            value = value.item()
        is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        if not is_number or value != value:  # noqa: PLR0124 (NaN)
            raise Failed(f"must return one number, got {truncate(value)}", **case).of("number")
        return value

    def on(self, index: int) -> Finding:
        """Check one numbered instance, or the worst known one for -1."""
        with override(self._bound, self.answer):
            return reproduce(self.claim, self.seeds, index)

    def findings(self, count: int) -> list[Finding]:
        """Check some instances and, if there is one, the worst known one."""
        self.calls.clear()
        stored = [EXAMPLE] if self.claim.key in regression_examples() else []
        return [self.on(index) for index in [*stored, *range(count)]]

    def case(self, finding: Finding) -> dict[str, Any]:
        """Return the arguments for which the claim fails, and the instance."""
        asked = next((call.arguments for call in self.calls if call.answer == finding.predicted), {})
        return {**asked, "measured": finding.measured, **finding.instance}

    @property
    def _bound(self) -> Any:
        return self.claim.bound


def _rounded(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value


def _refuse_what_does_not_ask(trial: _Trial, count: int) -> None:
    if trial.claim.bound is None:
        message = f"claim must compare with a bound, got {trial.claim.key!r}, which has none"
        raise ValueError(message)
    asked = replace(trial, function=trial.claim.bound, exact=True, calls=[])
    for index in range(count):
        asked.on(index)
        if asked.calls:
            return
    message = (
        f"claim must evaluate its bound as a whole, got {trial.claim.key!r}, whose check evaluates single summands"
    )
    raise ValueError(message)


def _again(trial: _Trial, count: int) -> None:
    trial.findings(min(count, 10))
    for call in trial.calls:
        for _ in range(2):
            again = ask(partial(trial.function, *call.args, **call.kwargs), case=call.arguments)
            if again != call.answer:
                sentence = f"equal arguments must give equal values, got {truncate(call.answer)} and {truncate(again)}"
                raise Failed(sentence, **call.arguments)


def _holds(trial: _Trial, count: int) -> None:
    wrong = [finding for finding in trial.findings(count) if finding.holds is False]
    if wrong:
        raise _refutation(trial, min(wrong, key=lambda finding: len(str(dict(finding.instance)))), "")


def _decides(trial: _Trial, count: int) -> None:
    findings = [finding for finding in trial.findings(count) if finding.applicable]
    if findings and all(finding.holds is None for finding in findings):
        raise Failed(f"must be finite on some instance, got {findings[0].predicted} on all", **trial.case(findings[0]))


def _hunted(trial: _Trial, count: int) -> None:
    trial.calls.clear()
    start = regression_examples().get(trial.claim.key, ())
    with override(trial.claim.bound, trial.answer):  # type: ignore[arg-type]
        worst = hunt(trial.claim, rng=trial.seeds, evaluations=count, start=start).worst
    if worst.holds is False:
        raise _refutation(trial, worst, "a hunt finds a counterexample: ")


def _refutation(trial: _Trial, finding: Finding, how: str) -> Failed:
    sides = f"{float(finding.measured):.9g} {finding.relation} {float(finding.predicted):.9g}"
    return Failed(f"{how}{trial.claim.key} needs {sides}", **trial.case(finding))
