"""Checks of sampling probabilities with minimal variance, by a certificate of optimality."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.conformance._checks import Check, Failed, Kit, ask, excused, leaves_inputs, numbers
from fedtheory.sampling.certificates import certificate

__all__ = ["check_probabilities"]

_FLAT = 1e-3
"""Distance of two certified answers; the objective is flat, so that its tolerance is that of squared distances."""


@Kit
def check_probabilities(
    function: Callable[..., Any], rng: RNGLike = 0, *, rtol: float = 1e-8, exceptions: Mapping[str, str] | None = None
) -> list[Check]:
    r"""Check a function ``(norms, expected_size) -> probabilities`` that minimizes ``sum_i t_i^2 / p_i``.

    Probabilities are not compared, since the objective is flat and near-optimal probabilities may differ. They must be
    feasible, ``0 <= p_i <= 1`` and ``sum p_i <= m``, and a dual certificate (``fedtheory.sampling.certificate``) must
    show that their objective is within ``rtol`` of the optimum.

    The checks are ``runs``, ``shape``, ``box``, ``budget``, ``unused budget``, ``optimal``, ``saturated clients``,
    ``ties``, ``zero norms``, ``all norms zero``, ``full budget``, ``one client``, ``relabeling``, ``scaling``
    (by 1e-100 and 1e100), ``inputs``, ``own answers``, ``same answer``. Only their instances are random.

    Parameters
    ----------
    function
        Maps norms, shape (n,), and a budget m in (0, n] to probabilities, shape (n,).
    rng
        Seed or SeedSequence of the random instances.
    rtol
        Largest relative distance of the objective from its optimum, and ten times that of the sum from m; 1e-5 for code
        in single precision, which also needs an exception for ``scaling``.
    exceptions
        Names of checks to skip, each with the reason.

    Examples
    --------
    Probabilities proportional to the norms may exceed 1:

    >>> def proportional(norms, expected_size):
    ...     return expected_size * norms / norms.sum()
    >>> found = check_probabilities(proportional)
    >>> found.failures[0].check, found.failures[0].case["norms"]
    ('box', array([ 1.,  1.,  1., 10.]))
    """
    rtol = validate.double("rtol", validate.positive("rtol", rtol))
    rule = _Rule(validate.function("function", function, "norms and an expected size"), rtol / 10)
    optimal = partial(_optimal, rtol)
    usual = _usual(np.random.default_rng(validate.seed_sequence(rng)))
    demands: dict[str, tuple[Demand, list[Instance]]] = {
        "runs": (_Rule.raw, usual[:1]),
        "shape": (_Rule.probabilities, usual),
        "box": (_box, usual),
        "budget": (_budget, usual),
        "unused budget": (_unused, usual),
        "optimal": (optimal, usual),
        "saturated clients": (optimal, [_of([1, 1, 1, 10], 2), _of([1, 2, 2, 100, 1000], 3), _of([1, 1, 4], 2)]),
        "ties": (_tied, [_of([3, 3], 1), _of([1, 1, 1, 1], 2.5), _of([2, 2, 5, 5, 5], 3)]),
        "zero norms": (optimal, [_of([0, 1], 1), _of([0, 0, 1, 3], 1.5), _of([0, 0, 2], 2), _of([0, 1, 9, 0], 1)]),
        "all norms zero": (_feasible, [_of([0, 0], 1), _of([0, 0, 0], 3)]),
        "full budget": (optimal, [_of([1, 3], 2), _of([5, 1, 1, 100], 4)]),
        "one client": (optimal, [_of([7], 1), _of([7], 0.25)]),
        "relabeling": (_relabeled, usual),
        "scaling": (optimal, [Instance(one.norms * by, one.budget) for one in usual for by in (1e-100, 1e100)]),
        "inputs": (_untouched, usual[:8]),
        "own answers": (_own_answers, usual[:8]),
        "same answer": (_again, usual[:8]),
    }
    return excused([Check(name, partial(_each, *demand, rule)) for name, demand in demands.items()], exceptions)


def _each(demand: "Demand", instances: list["Instance"], rule: "_Rule") -> None:
    for instance in instances:
        demand(rule, instance)


class Instance(NamedTuple):
    """Norms and a budget."""

    norms: Array
    budget: float

    @property
    def given(self) -> dict[str, Any]:
        """Arguments by name, for messages."""
        return {"norms": self.norms, "expected_size": self.budget}


class _Rule(NamedTuple):
    """The function under check, and the relative rounding error of its probabilities and their sum."""

    function: Callable[..., Any]
    rounding: float

    def raw(self, instance: Instance) -> Any:
        """Call the function without validation of the answer."""
        return ask(self.function, instance.norms.copy(), instance.budget, case=instance.given)

    def probabilities(self, instance: Instance) -> Array:
        """Call the function; the answer must be finite and have one entry per norm."""
        return numbers(self.raw(instance), instance.norms.shape, instance.given)


Demand = Callable[[_Rule, Instance], Any]


def _of(norms: Sequence[float], budget: float) -> Instance:
    return Instance(np.array(norms, dtype=np.float64), budget)


def _usual(rng: np.random.Generator) -> list[Instance]:
    """Return instances of increasing size, with integer and fractional budgets."""
    fixed = [_of([1, 3], 1), _of([1, 2, 5], 1), _of([1, 1, 1, 10], 2), _of([1, 2, 4, 8], 2.5)]
    drawn = [
        Instance(rng.lognormal(0, 2, n).round(3) + 0.001, m) for n in (5, 8, 30, 200) for m in (1, 0.37 * n, n - 1)
    ]
    return [*fixed, *drawn]


def _box(rule: _Rule, instance: Instance) -> None:
    p = rule.probabilities(instance)
    worst = max(p.max(), 1 - p.min())
    if worst > 1 + rule.rounding:
        raise Failed(f"probabilities must be in [0, 1], got {p[np.abs(p - 0.5).argmax()]:.6g}", **instance.given)


def _budget(rule: _Rule, instance: Instance) -> None:
    total = float(rule.probabilities(instance).sum())
    if total > instance.budget * (1 + rule.rounding):
        raise Failed(f"probabilities must sum to at most {instance.budget:g}, got {total:.9g}", **instance.given)


def _feasible(rule: _Rule, instance: Instance) -> None:
    _box(rule, instance)
    _budget(rule, instance)


def _unused(rule: _Rule, instance: Instance) -> None:
    positive = instance.norms > 0
    usable = min(instance.budget, float(positive.sum()))
    spent = float(rule.probabilities(instance)[positive].sum())
    if spent < usable * (1 - max(1e-6, rule.rounding)):
        raise Failed(
            f"probabilities must use the whole budget of {usable:g}, got a sum of {spent:.9g}", **instance.given
        )


def _optimal(rtol: float, rule: _Rule, instance: Instance) -> None:
    _feasible(rule, instance)
    p = rule.probabilities(instance)
    # Without the values that are outside [0, 1] by rounding, which the certificate does not cover.
    gap = float(certificate(instance.norms, np.clip(p, 0.0, 1.0), instance.budget).relative_gap)
    if not gap <= rtol:
        sentence = f"sum t_i^2 / p_i must be within {rtol:g} of its minimum, got {p.tolist()}"
        raise Failed(f"{sentence}, up to {gap:.3g} above it", **instance.given)


def _tied(rule: _Rule, instance: Instance) -> None:
    p = rule.probabilities(instance)
    for norm in np.unique(instance.norms):
        if np.ptp(p[instance.norms == norm]) > _FLAT:
            raise Failed(f"equal norms must have equal probabilities, got {p.tolist()}", **instance.given)


def _relabeled(rule: _Rule, instance: Instance) -> None:
    p = rule.probabilities(instance)
    backward = rule.probabilities(Instance(instance.norms[::-1].copy(), instance.budget))[::-1]
    if np.abs(p - backward).max() > _FLAT:
        sentence = f"the order of the norms must not matter, got {p.tolist()} and, reversed, {backward.tolist()}"
        raise Failed(sentence, **instance.given)


def _untouched(rule: _Rule, instance: Instance) -> None:
    leaves_inputs(rule.function, instance.given, instance.given)


def _own_answers(rule: _Rule, instance: Instance) -> None:
    one, two = rule.raw(instance), rule.raw(instance)
    if isinstance(one, np.ndarray) and np.shares_memory(one, two):
        raise Failed("answers must be new arrays, got the same array twice", **instance.given)


def _again(rule: _Rule, instance: Instance) -> None:
    one, two = rule.probabilities(instance), rule.probabilities(instance)
    if np.abs(one - two).max() > _FLAT:
        raise Failed(
            f"equal norms must give equal probabilities, got {one.tolist()} and {two.tolist()}", **instance.given
        )
