r"""Assumptions of theorems.

A bound lists its assumptions in ``bound.hypotheses``. Each of them has a ``text``; ``violation`` checks the arguments
of a bound, and ``violation_by`` a run of ``fedavg`` for which the value of a bound is requested
(``fedtheory.exact.for_run``). A hypothesis that cannot be checked rules out every run. ``options`` are the options of
``fedavg`` that an assumption covers, each with the name of the constant that a bound must then take.

``Hypothesis`` is an assumption of a single theorem; the other classes are shared by papers. Their argument ``of`` names
the function or the weights in question, and ``source`` cites the paper.

>>> print(Smooth("L").text, BoundedGradients("G2").text, sep="; ")
every F_k is L-smooth; E |g_k|^2 <= G2 for every client and iterate
"""

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, final

import numpy as np

from fedtheory._support.validate import boolean
from fedtheory._support.wording import format_pair, truncate
from fedtheory.theorem.scheme import Scheme

Sides = tuple[Any, str, Any]

_HOLDS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}
_OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}


def unmet(text: str, left: Any, relation: str, right: Any, rtol: float = 0.0) -> str | None:
    """Describe how two sides violate a relation, at the first such entry, or return None."""
    if relation not in _HOLDS:
        message = f"the hypothesis {text!r} must relate its sides by {', '.join(_HOLDS)}, got {truncate(relation)}"
        raise ValueError(message)
    limit = right
    if rtol and not are_exact((left, right)):
        limit = right * (1 + rtol if relation in ("<=", "<") else 1 - rtol)
    holds = _HOLDS[relation](left, limit)
    if np.all(holds) if isinstance(holds, np.ndarray) else holds:
        return None
    broken = np.logical_not(holds)
    left, right = (
        np.broadcast_to(np.asarray(side, dtype=object), np.shape(broken))[broken].flat[0] for side in (left, right)
    )
    first, second = format_pair(left, right)
    return f"{text}: got {first} {_OPPOSITE[relation]} {second}"


def are_exact(numbers: Sequence[Any]) -> bool:
    """Whether all numbers are rational, so that they are compared without tolerance."""
    return all(isinstance(number, int | Fraction) for number in numbers)


# Step sizes and weights are computed in two or three floating-point operations, sums of many weights in as many.
_ROUNDING, _SUM = 1 + 4 * float(np.finfo(np.float64).eps), 1e-12


class DescribedRun(Protocol):
    """Interface of the properties of a run that hypotheses check.

    ``changed`` contains the options that differ from their defaults, ``given`` the arguments of the bound that the user
    stated.
    """

    fed: Any
    changed: Mapping[str, Any]
    given: Mapping[str, Any]

    @property
    def scheme(self) -> Scheme:
        """The selection law and the aggregation weights of its strategy."""

    @property
    def is_mean(self) -> bool:
        """Whether the server's model is a mean of clients' models in every round."""

    @property
    def first_gradients2(self) -> Any:
        """Squared norms of all clients' gradients at the first model, shape (K,)."""

    @property
    def step_sizes(self) -> Any:
        """Step sizes of all local steps, shape (T,), or None for those that the theorem prescribes."""

    @property
    def steps_of_round(self) -> int:
        """Number of local steps per round, the largest one if clients differ."""

    def contradiction(self, name: str, relation: str) -> str | None:
        """Describe how a stated argument contradicts the run, or return None; the relation is ``<=`` or ``>=``."""


class Assumption(Protocol):
    """An assumption of theorems."""

    @property
    def text(self) -> str:
        """The assumption in words."""

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Describe how the numbers violate it; None if they do not, or if numbers cannot decide."""

    def violation_by(self, run: DescribedRun) -> str | None:
        """Describe how a run violates it, or why it cannot be checked; None if the run satisfies it."""


@final
@dataclass(frozen=True)
class Hypothesis:
    """An assumption of a single theorem.

    ``sides`` takes some of the theorem's arguments (``names``, by default its parameters) and returns (left, relation,
    right). Without ``sides`` numbers cannot violate it. ``rtol`` is the relative tolerance of the right-hand side for
    inexact numbers. ``of_run`` returns None if a run satisfies the hypothesis, and otherwise what the run has instead.

    >>> Hypothesis("clients are polite").violation_by(None)
    'clients are polite, which cannot be checked on a run'
    """

    text: str
    sides: Callable[..., Sides] | None = None
    names: tuple[str, ...] = ()
    rtol: float = 0.0
    of_run: Callable[[Any], str | None] | None = None

    @functools.cached_property
    def reads(self) -> tuple[str, ...]:
        """Names of the arguments of ``sides``."""
        return self.names or (() if self.sides is None else tuple(inspect.signature(self.sides).parameters))

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Describe how the numbers violate the hypothesis, or return None."""
        if self.sides is None:
            return None
        return unmet(self.text, *self.sides(*(arguments[name] for name in self.reads)), rtol=self.rtol)

    def violation_by(self, run: DescribedRun | None) -> str | None:
        """Describe what the run has instead; hypotheses about numbers only are checked on the numbers."""
        if self.of_run is None:
            return f"{self.text}, which cannot be checked on a run" if self.sides is None else None
        instead = self.of_run(run)
        return None if instead is None else f"{self.text}: got {instead}"


def _noise_of(run: DescribedRun) -> str | None:
    names = ("gradient_noise", "relative_noise", "batch_size", "num_batches")
    return next((f"{name} = {run.changed[name]}" for name in names if name in run.changed), None)


EXACT_GRADIENTS = Hypothesis("gradients are exact", of_run=_noise_of)
"""Neither noise nor mini-batches."""


def selected_by(law: str) -> Callable[[DescribedRun], str | None]:
    """Return a check of a run: clients are selected by a law, named as in the ``Scheme`` of a strategy.

    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(scheme=Scheme("all", "weighted"))
    >>> selected_by("multinomial")(run), selected_by("all")(run)
    ("selection 'all'", None)
    """
    return lambda run: None if run.scheme.selection == law else f"selection {run.scheme.selection!r}"


def method_is(name: str) -> Callable[[DescribedRun], str | None]:
    """Return a check of a run: clients and server run a method, named by its class in ``fedtheory.methods``.

    >>> from types import SimpleNamespace
    >>> method_is("Scaffold")(SimpleNamespace(changed={}))
    'federated averaging'
    """

    def other(run: DescribedRun) -> str | None:
        method = run.changed.get("method")
        if type(method).__qualname__ == name and type(method).__module__.startswith("fedtheory.methods."):
            return None
        return "federated averaging" if method is None else repr(method)

    return other


def knows(name: str) -> Callable[[DescribedRun], str | None]:
    """Return a check of a run: a constant of the federation, such as ``minimum``, exists and is known.

    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(fed=SimpleNamespace(minimum=3.0))
    >>> knows("minimum")(run), knows("infimum")(run)
    (None, 'a federation without infimum')
    """
    return lambda run: f"a federation without {name}" if getattr(run.fed, name, None) is None else None


def _below_zero(arguments: Mapping[str, Any], name: str, relation: str) -> str | None:
    return unmet(f"{name} {relation} 0", arguments[name], relation, 0) if name in arguments else None


def _of_federation(assumed: Any, run: DescribedRun, constant: str) -> str | None:
    """Report an assumption that is not about F or the F_k; reading the constant may raise AssumptionViolated."""
    if not (assumed.of.startswith("every") or assumed.of in ("F", "F_k", "f", "f_i")):
        return f"{assumed.text}, which cannot be checked on a run"
    getattr(run.fed, constant, None)
    return None


def _cited(text: str, source: str) -> str:
    return f"{text} ({source})" if source else text


@final
@dataclass(frozen=True)
class Smooth:
    """Smoothness, ``|grad F(u) - grad F(v)| <= L |u - v|`` for all u and v; ``parameter`` names L."""

    parameter: str = "L"
    of: str = "every F_k"
    source: str = ""

    @property
    def text(self) -> str:
        """The assumption in words."""
        return _cited(f"{self.of} is {self.parameter}-smooth", self.source)

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Report a constant that is not positive, or return None."""
        return _below_zero(arguments, self.parameter, ">")

    def violation_by(self, run: DescribedRun) -> str | None:
        """Report a larger constant of the federation; raises AssumptionViolated if it has none."""
        return _of_federation(self, run, "smoothness") or run.contradiction(self.parameter, ">=")


@final
@dataclass(frozen=True)
class StronglyConvex:
    """Strong convexity, ``F(v) >= F(u) + <grad F(u), v - u> + mu/2 |v - u|^2`` for all u and v; ``parameter`` names mu.

    It is an assumption about all clients if ``of`` begins with "every".
    """

    parameter: str = "mu"
    of: str = "every F_k"
    source: str = ""

    @property
    def text(self) -> str:
        """The assumption in words."""
        return _cited(f"{self.of} is {self.parameter}-strongly convex", self.source)

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Report a negative constant, or return None; 0 means convexity, which few theorems allow."""
        return _below_zero(arguments, self.parameter, ">=")

    def violation_by(self, run: DescribedRun) -> str | None:
        """Report a smaller constant of some client; raises AssumptionViolated if there is none."""
        unknown = _of_federation(self, run, "strong_convexity")
        return unknown or (run.contradiction(self.parameter, "<=") if self.of.startswith("every") else None)


@final
@dataclass(frozen=True)
class Convex:
    """Convexity."""

    of: str = "every F_k"

    @property
    def text(self) -> str:
        """The assumption in words."""
        return f"{self.of} is convex"

    def violation(self, arguments: Mapping[str, Any]) -> None:
        """Return None."""

    def violation_by(self, run: DescribedRun) -> str | None:
        """Return None, or raise AssumptionViolated if the clients are not known to be convex."""
        return _of_federation(self, run, "strong_convexity")


@final
@dataclass(frozen=True)
class BoundedGradients:
    """Bounded stochastic gradients, for each client or on average over the active clients.

    Attributes
    ----------
    parameter
        Name of the bound G2 on the squared norm.
    weights
        Weights of a mean over the active clients (``1/m``, ``q_k``), whose expectation is bounded. Without weights the
        gradients of every client are bounded.
    at_starts
        For a mean: whether every client's gradient is also bounded at the starting model of each round.
    given
        What the expectation is conditioned on, if anything.
    """

    parameter: str = "G2"
    weights: str = ""
    at_starts: bool = True
    given: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        boolean("at_starts", self.at_starts)

    @property
    def text(self) -> str:
        """The assumption in words."""
        G2, given = self.parameter, f", also given {self.given}" * bool(self.given)
        if not self.weights:
            return _cited(f"E |g_k|^2 <= {G2} for every client and iterate", self.source) + given
        starts = f", and E |grad F_k(u)|^2 <= {G2} for all k at every round's starting model u" * self.at_starts
        return f"E sum_k {self.weights} |g_k|^2 <= {G2} over the active clients{starts}{given}"

    @property
    def hold_at_the_start(self) -> bool:
        """Whether the gradients of all clients at the first model are bounded."""
        return not self.weights or self.at_starts

    @property
    def include_the_noise(self) -> bool:
        """Whether the bound also limits the variance in a theorem, which is false for unequal weights."""
        return self.weights in ("", "1/m")

    @property
    def options(self) -> dict[str, str]:
        """The noise of a run, as a part of the stochastic gradients, and the argument that bounds it."""
        return {"gradient_noise": self.parameter}

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Report a negative bound, or return None."""
        return _below_zero(arguments, self.parameter, ">=")

    def violation_by(self, run: DescribedRun) -> str | None:
        """Report a stated bound that is too small at the first model, or an unstated conditional one with noise."""
        if self.parameter not in run.given:
            unproved = self.given and "gradient_noise" in run.changed
            return f"{self.text}, which is not proved with gradient_noise: give {self.parameter}=" if unproved else None
        noise = run.changed.get("gradient_noise", 0.0)
        least = max(run.first_gradients2) if self.hold_at_the_start else 0.0
        least = max(least, noise) if self.weights else least + noise
        return unmet(f"{self.text}, also at the first model", run.given[self.parameter], ">=", least, rtol=_SUM)


@final
@dataclass(frozen=True)
class Noise:
    """Unbiased stochastic gradients of bounded variance, ``E |g_k - grad F_k|^2 <= M |grad F_k|^2 + sigma2``.

    ``parameter`` and ``relative`` name sigma2 and M; ``variance`` is the bound in words, if it differs.

    >>> Noise("sigma2", relative="M").text
    'stochastic gradients are unbiased, of variance at most M |grad|^2 + sigma2, and independent across active clients'
    """

    parameter: str = "sigma2"
    relative: str = ""
    variance: str = ""
    across: str = "independent across active clients"
    source: str = ""

    @property
    def text(self) -> str:
        """The assumption in words."""
        constants = f"{self.relative} |grad|^2 + {self.parameter}" if self.relative else self.parameter
        bound = self.variance or constants
        return _cited(f"stochastic gradients are unbiased, of variance at most {bound}, and {self.across}", self.source)

    @property
    def options(self) -> dict[str, str]:
        """The noise of a run and its part that grows with the gradient, with the arguments that bound them."""
        relative = {"relative_noise": self.relative} if self.relative else {}
        return {"gradient_noise": self.parameter, **relative}

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Report a negative constant, or return None."""
        names = (self.parameter, self.relative)
        return next(filter(None, (_below_zero(arguments, name, ">=") for name in names)), None)

    def violation_by(self, run: DescribedRun) -> str | None:
        """Report noise of the run that is larger than stated, or return None."""
        return run.contradiction(self.parameter, ">=")


@final
@dataclass(frozen=True)
class AggregationWeights:
    """Nonnegative aggregation weights of sum one; ``parameter`` names them."""

    of: str = "aggregation weights q_k"
    parameter: str = "weights"

    @property
    def text(self) -> str:
        """The assumption in words."""
        return f"{self.of} >= 0 with sum 1 over every selection"

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Describe how given weights violate it, or return None."""
        weights = arguments.get(self.parameter, (1,))
        total, smallest = sum(weights), min(weights, default=0)
        slack = 0 if are_exact(weights) else _SUM
        if smallest >= 0 and abs(total - 1) <= slack:
            return None
        return f"{self.text}: got the sum {total} and the smallest weight {smallest}"

    def violation_by(self, run: DescribedRun) -> str | None:
        """Return the scheme of a run whose server does not average, or None."""
        return None if run.is_mean else f"{self.text}: got {run.scheme}"


@final
@dataclass(frozen=True)
class HalvingSteps:
    """Step sizes that do not increase within a round and stay at least half of the round's first step size."""

    text: str = "step sizes do not increase, and at most halve within a round"

    def violation(self, arguments: Mapping[str, Any]) -> str | None:
        """Report a step that is too long or too short for its round, or return None."""
        if "step_sizes" not in arguments:
            return None
        sizes = np.asarray(arguments["step_sizes"])
        steps = np.arange(sizes.size)
        inside = steps % arguments.get("local_steps", 1)
        longer = (inside > 0) & (sizes > np.roll(sizes, 1) * _ROUNDING)
        shorter = 2 * sizes * _ROUNDING < sizes[steps - inside]
        wrong = np.flatnonzero(longer | shorter)
        if not wrong.size:
            return None
        t = int(wrong[0])
        return f"{self.text}: got {sizes[t]} at step {t} after {sizes[t - inside[t]]} at the round's start"

    def violation_by(self, run: DescribedRun) -> str | None:
        """Report a step of the run as ``violation`` does, or return None."""
        if run.step_sizes is None:
            return None
        return self.violation({"step_sizes": run.step_sizes, "local_steps": run.steps_of_round})
