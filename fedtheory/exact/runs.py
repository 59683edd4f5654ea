"""The constants of a theorem for a federation, a strategy and a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import suggest, truncate
from fedtheory.engine.heterogeneity import own_steps
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.engine.simulation import fedavg
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.constant_steps import average_drift
from fedtheory.exact.participation import participation_imbalance
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.federation.constants import gradient_bound
from fedtheory.federation.prioritized import federation_given
from fedtheory.federation.protocol import Federation
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.federation.softmax import SoftmaxFederation
from fedtheory.selection.periodic import Periodic
from fedtheory.selection.rules import Strategy, rules_of
from fedtheory.theorem.assumptions import unmet
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import SYMBOLS

__all__ = ["UnknownConstant", "for_run"]


class UnknownConstant(AssumptionViolated):
    """A constant of a theorem is unknown for a run and must be given as an argument."""


# The number of replicates and the records do not matter to a theorem. Every other option does: all bounds reject a new
# option until a hypothesis, an argument or a statement names it.
_KEPT = ("record", "record_every", "test")
_WITHOUT_EFFECT = ("num_replicates", "rng", "num_threads", "progress", *_KEPT)
OPTIONS = {name: option.default for name, option in inspect.signature(fedavg).parameters.items() if name != "fed"}
OWN_STEPS = "local_steps of each client"

_CHECKED = {
    "gradient_noise": validate.nonnegative,
    "relative_noise": validate.nonnegative,
    "server_step_size": validate.positive,
}
# For families other than quadratics most constants have only one known side; these are the exceptions.
_KNOWN_OF_ANY = ("sigma2", "weighted_sigma2", "max_weight", "sum_squared_weights", "squared_weights")
_ROUNDING = 1e-12


def described(
    bound: Bound,
    fed: Federation,
    strategy: Strategy | None,
    settings: Mapping[str, Any],
    shared: dict[str, Any] | None = None,
) -> Run:
    """Separate options of ``fedavg`` from arguments of the bound, and validate those that determine constants.

    ``shared`` keeps constants that are expensive and the same for all bounds.
    """
    unknown = [name for name in settings if name not in OPTIONS and name not in bound.domains]
    if unknown:
        close = suggest(unknown[0], [*bound.domains, *OPTIONS])
        message = f"{bound.__name__} has no argument {unknown[0]}{close}; it has {', '.join(bound.domains)}"
        raise TypeError(message)
    options = OPTIONS | {name: value for name, value in settings.items() if name in OPTIONS} | {"strategy": strategy}
    rounds = options["num_rounds"] = validate.count("num_rounds", options["num_rounds"], 0)
    if strategy is not None and callable(getattr(strategy, "rules", None)):
        rules_of(strategy, fed.weights, rounds)  # raises if fedavg would reject the strategy
    tau, own = own_steps(options["local_steps"], fed.num_clients, rounds)
    options["local_steps"] = options["local_steps"] if (own != tau).any() else tau
    options["initial"] = (
        np.zeros(fed.dim)
        if options["initial"] is None
        else validate.array("initial", options["initial"], shape=(fed.dim,))
    )
    for name, check in _CHECKED.items():
        options[name] = validate.double(name, check(name, options[name]))
    given = {name: value for name, value in settings.items() if name not in OPTIONS}
    return Run(bound, fed, options, given, tau, {} if shared is None else shared)


@dataclass(frozen=True, eq=False)
class Run:
    """A run of ``fedavg``: its options, the arguments of the bound that the user stated, and expensive constants.

    ``steps_of_round`` is the largest number of local steps if clients differ.
    """

    bound: Bound
    fed: Any
    options: Mapping[str, Any]
    given: Mapping[str, Any]
    steps_of_round: int
    shared: dict[str, Any]

    @cached_property
    def changed(self) -> dict[str, Any]:
        """Options with an effect that differ from their defaults, except rounds, initial model and step sizes."""
        ignored = {*_WITHOUT_EFFECT, "strategy", "num_rounds", "initial", "step_size"}
        changed = {
            name: value
            for name, value in self.options.items()
            if name not in ignored and not _is_same(value, OPTIONS[name])
        }
        return (
            changed
            if isinstance(self.options["local_steps"], int)
            else {OWN_STEPS: changed.pop("local_steps"), **changed}
        )

    @cached_property
    def named(self) -> set[str]:
        """Options that the bound covers: its arguments, and the options of its statement and of its hypotheses.

        A hypothesis covers an option if the bound takes the corresponding constant.
        """
        options = (item for each in self.bound.hypotheses for item in getattr(each, "options", {}).items())
        assumed = {option for option, constant in options if self.is_readable(constant)}
        named = {*self.bound.domains, *self.bound.statement.options, *assumed}
        return {*OPTIONS, OWN_STEPS} if "any" in named else named

    def argument(self, name: str) -> Any:
        return self.given[name] if name in self.given else self.read(name)

    def read(self, name: str) -> Any:
        """Compute an argument of the bound from the run."""
        if not self.is_readable(name):
            message = f"{self.bound.__name__} needs {name}, which federation and run do not determine: give {name}="
            raise TypeError(message)
        of_run = self._of_run(name)
        return CONSTANTS[of_run](self) if of_run in CONSTANTS else self.options[of_run]

    def is_readable(self, name: str) -> bool:
        of_run = self._of_run(name)
        return of_run in CONSTANTS or of_run in OPTIONS

    def _of_run(self, name: str) -> str:
        domain = self.bound.domains.get(name)
        return "" if domain is None else domain.of_run or (name if name in SYMBOLS else "")

    def contradiction(self, name: str, relation: str) -> str | None:
        """Describe how a stated argument contradicts the run; None if it was not stated, or if nothing is known."""
        is_known = self.is_readable(name) and (self.is_quadratic or self._of_run(name) in _KNOWN_OF_ANY)
        if name not in self.given or not is_known:
            return None
        return unmet(f"{name} {relation} that of the run", self.given[name], relation, self.read(name), _ROUNDING)

    @property
    def is_quadratic(self) -> bool:
        return isinstance(self.fed, QuadraticFederation)

    @property
    def strategy(self) -> Any:
        return self.options["strategy"]

    @property
    def num_steps(self) -> int:
        return int(self.options["num_rounds"]) * self.steps_of_round

    @property
    def num_clients(self) -> int:
        return int(self.fed.num_clients)

    @cached_property
    def scheme(self) -> Scheme:
        scheme = getattr(self.strategy, "scheme", None)
        if not isinstance(scheme, Scheme):
            message = f"strategy must have a scheme, a fedtheory.theorem.scheme.Scheme, got {truncate(self.strategy)}"
            raise TypeError(message)
        return scheme

    @property
    def selects_all(self) -> bool:
        return self.scheme.selection == "all"

    @property
    def is_mean(self) -> bool:
        """Whether the coefficients are nonnegative and sum to one, possibly as weights of all or of equal clients."""
        shares = self.fed.weights
        if self.scheme.aggregation != "weighted":
            return self.scheme.aggregation in ("mean", "renormalized", "mean by size", "shares")
        are_equal = bool(np.ptp(shares) <= _ROUNDING * np.max(shares))
        return self.selects_all or (self.scheme.selection == "uniform without replacement" and are_equal)

    @property
    def first_gradients2(self) -> Array:
        """Squared norms of all clients' gradients at the first model, shape (K,)."""
        squares: Array = np.square(self.fed.gradients(self.options["initial"])).sum(axis=-1)
        return squares

    @cached_property
    def step_sizes(self) -> Array | None:
        """Step sizes of all local steps; None if the theorem prescribes them and the user did not."""
        if self.options["step_size"] is None:
            return None
        return step_sizes(self.options["step_size"], max(self.options["num_rounds"], 1), self.steps_of_round)

    @cached_property
    def prescribed_steps(self) -> Array:
        """The step sizes that the theorem prescribes; at least one, even for a run without steps."""
        prescribe = self.bound.step_sizes
        assert prescribe is not None
        names = list(inspect.signature(prescribe).parameters)[1:]
        sizes: Array = prescribe(max(self.num_steps, 1), **{name: self.argument(name) for name in names})
        return sizes

    @property
    def skew(self) -> SelectionSkew:
        """The certified skews, computed once for all bounds."""
        if "skew" not in self.shared:
            try:
                # The search tightens sides that no bound uses.
                self.shared["skew"] = selection_skew(self.fed, self.strategy, num_models=1)
            except TypeError as error:
                message = f"the skews are unknown ({error}): give rho_tilde= and the others"
                raise UnknownConstant(message) from error
        skew: SelectionSkew = self.shared["skew"]
        return skew


def _num_selected(run: Run) -> int:
    if run.selects_all:
        return run.num_clients
    strategy = run.strategy
    while not hasattr(strategy, "num_selected") and hasattr(strategy, "strategy"):
        strategy = strategy.strategy
    if not hasattr(strategy, "num_selected"):
        message = f"strategy must have num_selected, got {truncate(run.strategy)}"
        raise TypeError(message)
    return int(strategy.num_selected)


def _compression_error(run: Run) -> float:
    """Square root of the compressor's epsilon, ``|C(v) - v|^2 <= epsilon |v|^2``."""
    compressor = getattr(run.options.get("method"), "compressor", None)
    if compressor is None:
        message = f"a method with a compressor must be given, got method = {run.options.get('method')!r}"
        raise AssumptionViolated(message)
    return float(np.sqrt(compressor.compress(run.fed.dim).epsilon))


def _require_quadratics(run: Run, name: str) -> None:
    """Raise for clients of which a constant at w* is unknown."""
    if not run.is_quadratic:
        message = f"{name} of a {type(run.fed).__name__} is unknown: give {name}="
        raise UnknownConstant(message)


def _zeta2(run: Run) -> float:
    """``sum_k p_k |grad F_k(w*)|^2``."""
    _require_quadratics(run, "zeta2")
    gradients = run.fed.gradients(run.fed.minimizer)
    return float(run.fed.weights @ np.sum(np.square(gradients), axis=-1))


def _drift2(run: Run) -> float:
    _require_quadratics(run, "drift2")
    return float(np.sum(average_drift(run.fed, run.steps_of_round, _step_size(run)) ** 2))


def _imbalance2(run: Run) -> float:
    """Squared imbalance of participation, for all clients and for periodic participation."""
    _require_quadratics(run, "imbalance2")
    if run.selects_all:
        return participation_imbalance(run.fed, [run.fed.weights], run.steps_of_round, 1)
    if not isinstance(run.strategy, Periodic):
        message = f"imbalance2 depends on the clients that {truncate(run.strategy)} selects: give imbalance2="
        raise UnknownConstant(message)
    rounds = max(int(run.options["num_rounds"]), 1)
    return participation_imbalance(run.fed, run.strategy.shares, run.steps_of_round, rounds)


def _sum_squared_weights(run: Run) -> float:
    return float(np.sum(np.square(run.fed.weights)))


def _squared_weights(run: Run) -> float:
    """``sum_k q_k^2`` for a mean or for all clients."""
    return _sum_squared_weights(run) if run.selects_all else 1 / _num_selected(run)


def _control_error2(run: Run) -> float:
    """Mean of ``|c_k - c - grad F_k(w*)|^2``, weighted by p_k, for the initial control variates of the method."""
    gradients = run.fed.gradients(run.fed.minimizer)
    variates = getattr(run.options["method"], "control_variates", None)
    known = np.zeros_like(gradients) if variates is None else np.asarray(variates, dtype=np.float64)
    errors = known - run.fed.weights @ known - gradients
    return float(run.fed.weights @ np.square(errors).sum(axis=1))


def _step_size(run: Run) -> float:
    sizes = np.unique([] if run.step_sizes is None else run.step_sizes)
    if sizes.size != 1:
        message = f"{run.bound.__name__} needs one step_size for all steps, got {truncate(run.options['step_size'])}"
        raise ValueError(message)
    return float(sizes[0])


def _delay(run: Run) -> float:
    """Return the gamma of step sizes ``1/(mu (t + gamma))``, from the first of them."""
    if run.step_sizes is None:
        message = f"{run.bound.__name__} needs gamma, which sets its step sizes: give gamma= or step_size="
        raise TypeError(message)
    return float(1 / (run.argument("mu") * run.step_sizes[0]))


def _G2(run: Run) -> float:  # noqa: N802
    steps = run.step_sizes if run.bound.step_sizes is None else run.prescribed_steps
    is_plain = run.is_mean and set(run.changed) <= {"gradient_noise", "local_steps"}
    if isinstance(run.fed, SoftmaxFederation) and is_plain and steps is not None and _stays_in_ball(run, steps):
        return run.fed.gradient_bound(run.options["initial"])
    if not run.is_quadratic or steps is None or not is_plain:
        what = f"a {type(run.fed).__name__}" + ("" if is_plain else " in such a run")
        message = f"a bound on the gradients of {what} is unknown: give G2="
        raise UnknownConstant(message)
    return gradient_bound(run.fed, run.options["initial"], steps, CONSTANTS["sigma2"](run)).G2


def _stays_in_ball(run: Run, steps: Array) -> bool:
    """Whether no step leaves the ball of the gradient bound of softmax clients."""
    return not run.options["gradient_noise"] and bool(np.max(steps) * run.fed.strong_convexity <= 1)


def _rho_tilde(run: Run) -> float:
    """For objective gap 0, any number whose product with it bounds ``F_k(w*) - F_k*``, such as 1/p_k for each k."""
    sides = run.skew.rho_tilde
    if sides.lower == np.inf:
        message = (
            "rho_tilde times objective_gap must be finite, got objective_gap = 0 and other minimizers of idle clients"
        )
        raise AssumptionViolated(message)
    if sides.upper < np.inf:
        return sides.upper
    return max(1 / float(min(p for p in run.fed.weights if p > 0)), run.skew.rho_diagonal.lower)


def _improvement(run: Run) -> float:
    """1 for all clients; b/n for b clients in expectation that are sampled uniformly or better."""
    if run.selects_all:
        return 1.0
    if getattr(run.strategy, "probabilities", None) not in ("uniform", "optimal"):
        strategy = truncate(run.strategy)
        message = f"the improvement of {strategy} over uniform sampling is unknown: give gamma= or the like"
        raise UnknownConstant(message)
    return float(run.strategy.expected_size / run.num_clients)


def _dissimilarity(run: Run) -> float:
    """``sum_i w_i |grad f_i - grad f|^2``, which is constant if all clients have equal curvatures."""
    if run.is_quadratic:
        if np.ptp(run.fed.matrices, axis=0).any():
            message = "dissimilarity is unbounded unless all curvatures are equal, got unequal ones"
            raise AssumptionViolated(message)
        return _zeta2(run)
    known = getattr(run.fed, "dissimilarity", None)
    if known is None:
        message = f"dissimilarity of a {type(run.fed).__name__} is unknown: give dissimilarity="
        raise UnknownConstant(message)
    return float(known)


# The constants that a run determines, by symbol or by the ``of_run`` of an argument's domain. An option of ``fedavg``
# that is not in the table is its own constant.
CONSTANTS: Mapping[str, Callable[[Run], Any]] = {
    # The federation.
    "num_clients": lambda run: run.num_clients,
    "mu": lambda run: float(run.fed.strong_convexity),
    "L": lambda run: float(run.fed.smoothness),
    "objective_gap": lambda run: float(run.fed.objective_gap),
    "max_weight": lambda run: float(np.max(run.fed.weights)),
    "sum_squared_weights": _sum_squared_weights,
    "zeta2": _zeta2,
    "dissimilarity": _dissimilarity,
    # The strategy.
    "num_selected": _num_selected,
    "num_draws": lambda run: int(run.strategy.num_draws),
    "squared_weights": _squared_weights,
    "improvement": _improvement,
    "inverse_improvement": lambda run: 1 / _improvement(run),
    "rho_bar": lambda run: run.skew.rho_bar.lower,
    "rho_diagonal": lambda run: run.skew.rho_diagonal.lower,
    "rho_tilde": _rho_tilde,
    "imbalance2": _imbalance2,
    # The steps.
    "num_steps": lambda run: run.num_steps,
    "step_size": _step_size,
    "whole_move": lambda run: _step_size(run) * run.steps_of_round * float(run.options["server_step_size"]),
    "delay": _delay,
    "drift2": _drift2,
    # The initial model and the gradients.
    "initial_distance2": lambda run: float(np.sum((run.options["initial"] - run.fed.minimizer) ** 2)),
    "initial_gap": lambda run: float(run.fed.excess(run.options["initial"])),
    "G2": _G2,
    "sigma2": lambda run: float(run.options["gradient_noise"]),
    "weighted_sigma2": lambda run: float(run.options["gradient_noise"]) * _sum_squared_weights(run),
    # The method.
    "coin": lambda run: float(run.options["method"].probability),
    "adaptive_step_size": lambda run: float(run.options["method"].server_step_size),
    "epsilon": lambda run: float(run.options["method"].epsilon),
    "largest_delay": lambda run: run.options["method"].largest_delay,
    "compression_error": _compression_error,
    "control_error2": _control_error2,
}


def _is_same(value: Any, default: Any) -> bool:
    """Whether an option has its default value, possibly as an array of that number."""
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        return bool(np.all(np.asarray(value, dtype=object) == default))
    return value is default or bool(value == default)


# Step sizes from a formula other than the theorem's differ in their last digits.
_SAME_STEPS = 1e-12
# Constants that the run determines; if stated, they must be equal, or at least as large.
_COUNTED = ("num_steps", "num_clients", "num_selected", "num_draws")
_AT_LEAST = ("max_weight", "sum_squared_weights", "squared_weights")


def for_run(
    bound: Bound,
    fed: Federation | Trajectory,
    strategy: Strategy | None = None,
    *,
    num_rounds: int | None = None,
    step_size: npt.ArrayLike | Schedule | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Arguments of a bound for a run of ``fedavg``; of certified intervals, the side on which the bound remains valid.

    Every hypothesis of the bound is checked; one that cannot be checked rejects the run. An option of ``fedavg`` that
    changes the result is rejected unless an argument, a hypothesis or the statement of the bound covers it.

    Parameters
    ----------
    bound
        A bound of ``fedtheory.bounds``.
    fed, strategy, num_rounds
        As in ``fedavg``: the problem, the strategy (with its ``scheme``), and the number of rounds. A ``Trajectory`` in
        place of ``fed`` contains all three and its settings.
    step_size
        As in ``fedavg``. It may be omitted if the theorem prescribes step sizes.
    settings
        All other options of ``fedavg``, and arguments of the bound that the user knows, such as ``distance2``, G2 or
        skews. They are used unless they contradict the run.

    Raises
    ------
    AssumptionViolated
        If the theorem does not cover this run, or a hypothesis is violated or cannot be checked.
    TypeError
        If neither the federation nor the run determines an argument.

    Examples
    --------
    Two clients ``(w -+ 1)^2 / 2``, one of them drawn per round, from w = 3 with one step of 1/5 per round:

    >>> from fedtheory import QuadraticFederation
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> from fedtheory.selection.proportional import Proportional
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> run = {"num_rounds": 50, "step_size": 0.2, "initial": [3.0]}
    >>> arguments = for_run(poc.fixed_step_gap, fed, Proportional(1), **run)
    >>> {name: round(value, 9) for name, value in arguments.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'num_steps': 50, 'step_size': 0.2, 'mu': 1.0, 'L': 1.0, 'local_steps': 1, 'num_selected': 1, 'G2': 16.0,
     'sigma2': 0.0, 'objective_gap': 0.5, 'rho_diagonal': 1.0, 'rho_tilde': 1.0, 'initial_gap': 4.5}
    """
    validate.instance("bound", bound, Bound, "a bound of fedtheory.bounds")
    if isinstance(fed, Trajectory):
        return for_run(bound, **{**made_with(fed, strategy, num_rounds=num_rounds, step_size=step_size), **settings})
    run = described(
        bound, federation_given(fed), strategy, {"num_rounds": num_rounds, "step_size": step_size, **settings}
    )
    reason = refusal(run)
    if reason is not None:
        message = f"{bound.short_name} {reason}"
        raise AssumptionViolated(message)
    arguments = {name: run.argument(name) for name in wanted(run)}
    bound.terms(**arguments)
    return arguments


def refusal(run: Run) -> str | None:
    """Return why a theorem does not apply to a run, whatever its constants are, or None."""
    checks = (_other_scheme, _broken_hypothesis, _other_option, _other_steps, _other_count)
    return next(filter(None, (check(run) for check in checks)), None)


def wanted(run: Run) -> list[str]:
    """Return the arguments of the bound that are given, are known, or have no default."""
    defaults = {name for name, one in inspect.signature(run.bound).parameters.items() if one.default is not one.empty}
    return [name for name in run.bound.domains if name in run.given or run.is_readable(name) or name not in defaults]


def made_with(run: Trajectory, strategy: Strategy | None = None, **others: Any) -> dict[str, Any]:
    """Return the arguments of ``fedavg`` for a run; a strategy and others that are not None replace its own."""
    if run.settings is None:
        message = "a run that was loaded from a file contains data only: give fed, strategy and settings"
        raise ValueError(message)
    given = {name: value for name, value in {"strategy": strategy, **others}.items() if value is not None}
    return vars(run.settings) | given


def _other_scheme(run: Run) -> str | None:
    """Report a scheme that the theorem does not cover, or a theorem that does not state which schemes it covers."""
    schemes = run.bound.statement.schemes
    if schemes == (ANY_SCHEME,) and "strategy" not in run.named:
        return f"does not state which selection and aggregation it covers, got {run.scheme}"
    if run.bound.statement.accepts(run.scheme):
        return None
    return f"covers {' or '.join(map(str, schemes))}, got {run.scheme}"


def _broken_hypothesis(run: Run) -> str | None:
    """Report the first hypothesis that the run violates or that cannot be checked."""
    for hypothesis in run.bound.hypotheses:
        check = getattr(hypothesis, "violation_by", None)
        violation = f"{hypothesis.text}, which cannot be checked on a run" if check is None else check(run)
        if violation is not None:
            return f"needs {violation}"
    return None


def _other_option(run: Run) -> str | None:
    """Report the first option with an effect that the theorem does not cover."""
    for name, value in run.changed.items():
        if name not in run.named:
            plain = f"{name} = {_written(OPTIONS[name])}" if name in OPTIONS else "equal local_steps for all clients"
            return f"covers {plain}, got {_written(value)}"
    return None


def _other_steps(run: Run) -> str | None:
    """Report the first step size that differs from the prescribed one, or a theorem that does not cover step sizes."""
    if run.bound.step_sizes is None:
        is_about_many = bool({"num_steps", "num_rounds"} & set(run.bound.domains))
        return "does not state which step sizes it covers" if is_about_many and "step_size" not in run.named else None
    if run.step_sizes is None:
        return None
    prescribed = run.prescribed_steps
    wrong = np.flatnonzero(abs(run.step_sizes / prescribed - 1) > _SAME_STEPS)
    if not wrong.size:
        return None
    t = wrong[0]
    return f"prescribes the step size {prescribed[t]} at step {t}, got {run.step_sizes[t]}"


def _other_count(run: Run) -> str | None:
    """Report a stated count that differs from that of the run, or a stated measure of weights that is too small."""
    for name in _COUNTED:
        if name in run.given and run.given[name] != run.read(name):
            return f"has {name} = {run.read(name)} for this run, got {truncate(run.given[name])}"
    smaller = next(filter(None, (run.contradiction(name, ">=") for name in _AT_LEAST)), None)
    return None if smaller is None else f"needs {smaller}"


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else truncate(value)
