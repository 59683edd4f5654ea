"""Claims: published statements with a check that decides them on one instance."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Any, Literal, final, get_args

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.findings import FAILS, HOLDS, Finding, is_number
from fedtheory.theorem.paper import Statement

Kind = Literal["identity", "inequality", "optimality", "rate", "erratum", "refuted conjecture", "reproduction"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Kinds of claims that must fail: false printed statements, and plausible conjectures that are not in print.
REFUTED = ("erratum", "refuted conjecture")
BUDGETS = ("quick", "thorough")

Check = Callable[[np.random.Generator], Finding]
"""Function that draws one instance from the generator and returns a finding."""


@final
@dataclass(frozen=True)
class Claim:
    """A claim: a statement with a check that decides it on one instance.

    Attributes
    ----------
    key
        ``paper:statement``, lower case, for example ``power-of-choice:lemma-b2``.
    kind
        One of ``KINDS``. An ``erratum`` is a false statement in print, a ``refuted conjecture`` one that is not in
        print.
    check
        Draws one instance from the generator and returns a ``Finding``. The counterexample search changes single
        results of ``rng.random``, ``rng.integers``, ``rng.uniform`` and ``rng.normal``.
    hypotheses
        Hypotheses in words; by default those of the bound.
    expected
        The verdict that the theory predicts: ``fails`` for an erratum or a refuted conjecture.
    instances
        Numbers of instances at the quick and at the thorough budget; (1, 1) for a single deterministic instance.
    bound
        The bound with which the check compares, if any.
    looseness
        Largest factor by which an inequality can be tightened before instances refute it.
    home
        File or module of the claim; empty for the claims of the package.
    """

    key: str
    title: str
    statement: Statement
    kind: Kind
    check: Check
    hypotheses: tuple[str, ...] = ()
    expected: str = HOLDS
    instances: tuple[int, int] = (20, 400)
    bound: Bound | None = None
    remark: str = ""
    looseness: float | None = None
    home: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+:[a-z0-9.-]+", self.key):
            message = f"key must look like 'paper:statement' in lower case, got {self.key!r}"
            raise ValueError(message)
        if self.kind not in KINDS:
            message = f"{self.key}: kind must be one of {', '.join(KINDS)}, got {self.kind!r}"
            raise ValueError(message)
        if self.expected not in (HOLDS, FAILS):
            message = f"{self.key}: expected must be {HOLDS!r} or {FAILS!r}, got {self.expected!r}"
            raise ValueError(message)
        _check_instances(self.key, self.instances)
        _check_looseness(self.key, self.looseness)
        if self.bound is not None and not self.hypotheses:
            object.__setattr__(self, "hypotheses", tuple(hypothesis.text for hypothesis in self.bound.hypotheses))

    @property
    def is_single(self) -> bool:
        """Whether the check has a single instance, without randomness."""
        return self.instances == (1, 1)

    def num_instances(self, budget: str) -> int:
        """Return the number of instances at a budget."""
        return self.instances[BUDGETS.index(budget)]


def claim(
    key: str,
    title: str,
    source: Bound | Statement,
    kind: Kind = "inequality",
    *,
    hypotheses: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    expected: str | None = None,
    instances: tuple[int, int] = (20, 400),
    looseness: float | None = None,
    remark: str = "",
) -> Callable[[Callable[..., Finding]], Claim]:
    """Turn a check into a claim, as a decorator: ``@claim(key, title, source)``.

    A check without an argument is deterministic and has a single instance. ``source`` is the bound with which the check
    compares, or a statement; ``also`` are further hypotheses. The other arguments are as in ``Claim``.

    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> from fedtheory.theorem.findings import at_most
    >>> @claim("textbook:parabola", "|F'(w)|^2 <= 2 L (F(w) - F*) for F(w) = L w^2/2", gradient_norm, looseness=1.01)
    ... def parabola(rng):
    ...     L, w = (int(rng.integers(1, 9)) for _ in range(2))
    ...     return at_most((L * w) ** 2, gradient_norm(L * w**2 / 2, L=L), instance={"L": L, "w": w})
    >>> parabola.check(np.random.default_rng(0)).ratio
    1.0
    """
    _check_looseness(key, looseness)
    _check_instances(key, instances)
    bound, statement = (None, source) if isinstance(source, Statement) else (source, source.statement)
    assumed = hypotheses or tuple(hypothesis.text for hypothesis in (bound.hypotheses if bound else ()))
    verdict = expected or (FAILS if kind in REFUTED else HOLDS)

    def attach(check: Callable[..., Finding]) -> Claim:
        known = (key, title, statement, kind)
        if signature(check).parameters:
            return Claim(*known, check, (*assumed, *also), verdict, instances, bound, remark, looseness)

        @wraps(check)
        def drawing_nothing(_: np.random.Generator) -> Finding:
            return check()

        return Claim(*known, drawing_nothing, (*assumed, *also), verdict, (1, 1), bound, remark, looseness)

    return attach


def _check_instances(key: str, instances: Any) -> None:
    if not (isinstance(instances, tuple) and len(instances) == len(BUDGETS)):
        message = f"{key}: instances must be a tuple of {len(BUDGETS)} integers, got {truncate(instances)}"
        raise TypeError(message)
    for one in instances:
        validate.size(f"{key}: instances", one)


def _check_looseness(key: str, looseness: Any) -> None:
    if looseness is not None and not (is_number(looseness) and looseness > 1):
        message = f"{key}: looseness must be greater than 1, got {truncate(looseness)}"
        raise ValueError(message)


def is_own(claim: Claim) -> bool:
    """Whether a claim is user-defined: read from a file or module, or with a check from outside the package."""
    check: Any = claim.check
    while isinstance(check, partial):
        check = check.func
    module = getattr(check, "__module__", None) or type(check).__module__
    return bool(claim.home) or module.partition(".")[0] != "fedtheory"
