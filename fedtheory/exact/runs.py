"""The constants of a theorem for a federation, a strategy and a run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import close_to, short
from fedtheory.engine._fleet import own_steps
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.engine.simulation import fedavg
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import AssumptionViolated
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skew_intervals import SelectionSkew
from fedtheory.federation.constants import gradient_bound
from fedtheory.federation.prioritized import federation_given
from fedtheory.federation.protocol import Federation
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.rules import Strategy, rules_of
from fedtheory.theorem.assumptions import unmet
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import SYMBOLS

__all__ = ["UnknownConstant", "for_run"]


class UnknownConstant(AssumptionViolated):
    """A constant of a theorem is not known for a run and must be given as an argument."""


# How often a run is made and what is kept of it change nothing that a theorem speaks about. Every other option does: a
# new one is refused by all bounds until a hypothesis, an argument or a statement names it.
_KEPT = ("record", "record_every", "test", "checkpoint", "checkpoint_every")
_WITHOUT_EFFECT = ("num_replicates", "rng", "num_threads", "progress", *_KEPT)
OPTIONS = {name: option.default for name, option in inspect.signature(fedavg).parameters.items() if name != "fed"}
OWN_STEPS = "local_steps of each client"

_CHECKED = {
    "gradient_noise": validate.nonnegative,
    "relative_noise": validate.nonnegative,
    "server_step_size": validate.positive,
}
# Of the constants of other families than quadratics only one side is known, but for these.
_KNOWN_OF_ANY = ("sigma2", "weighted_sigma2", "max_weight", "sum_squared_weights", "squared_weights")
_ROUNDING = 1e-12


def described(bound: Bound, fed: Federation, strategy: Strategy | None, settings: Mapping[str, Any]) -> Run:
    """Tell options of ``fedavg`` from arguments of the bound, and check those that constants are read off."""
    unknown = [name for name in settings if name not in OPTIONS and name not in bound.domains]
    if unknown:
        close = close_to(unknown[0], [*bound.domains, *OPTIONS])
        message = f"{bound.__name__} has no argument {unknown[0]}{close}; it has {', '.join(bound.domains)}"
        raise TypeError(message)
    options = OPTIONS | {name: value for name, value in settings.items() if name in OPTIONS} | {"strategy": strategy}
    rounds = options["num_rounds"] = validate.count("num_rounds", options["num_rounds"], 0)
    if strategy is not None and callable(getattr(strategy, "rules", None)):
        rules_of(strategy, fed.weights, rounds)  # what fedavg refuses is no run
    tau, own = own_steps(options["local_steps"], fed.num_clients, rounds)
    options["local_steps"] = options["local_steps"] if (own != tau).any() else tau
    options["initial"] = (
        np.zeros(fed.dim)
        if options["initial"] is None
        else validate.array("initial", options["initial"], shape=(fed.dim,))
    )
    for name, check in _CHECKED.items():
        options[name] = validate.double(name, check(name, options[name]))
    return Run(bound, fed, options, {name: value for name, value in settings.items() if name not in OPTIONS}, tau)


@dataclass(frozen=True, eq=False)
class Run:
    """A run, with a property for each argument of a bound that the run determines.

    ``options`` are all of ``fedavg``, ``given`` the arguments of the bound that are known otherwise; ``steps_of_round``
    is the largest number of local steps where clients have their own.
    """

    bound: Bound
    fed: Any
    options: Mapping[str, Any]
    given: Mapping[str, Any]
    steps_of_round: int

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The options that are not as by default and have an effect, but for the rounds, the start and the steps."""
        ignored = {*_WITHOUT_EFFECT, "strategy", "num_rounds", "initial", "step_size"}
        changed = {
            name: value
            for name, value in self.options.items()
            if name not in ignored and not _is_same(value, OPTIONS[name])
        }
        return changed if isinstance(self.local_steps, int) else {OWN_STEPS: changed.pop("local_steps"), **changed}

    @cached_property
    def named(self) -> set[str]:
        """The options that the bound speaks about: its arguments, and those of its statement and its hypotheses.

        Hypotheses name those whose constants the bound takes and a run tells.
        """
        options = (item for each in self.bound.hypotheses for item in getattr(each, "options", {}).items())
        assumed = {option for option, constant in options if self.is_readable(constant)}
        named = {*self.bound.domains, *self.bound.statement.options, *assumed}
        return {*OPTIONS, OWN_STEPS} if "any" in named else named

    def argument(self, name: str) -> Any:
        """Return an argument of the bound, as it was given or as it is read off."""
        return self.given[name] if name in self.given else self.read(name)

    def read(self, name: str) -> Any:
        """Read an argument of the bound off the run."""
        if not self.is_readable(name):
            message = (
                f"{self.bound.__name__} needs {name}, which cannot be read off the federation and the run: give {name}="
            )
            raise TypeError(message)
        of_run = self._of_run(name)
        return getattr(self, of_run) if hasattr(type(self), of_run) else self.options[of_run]

    def is_readable(self, name: str) -> bool:
        """Whether it is known what an argument of the bound is of a run."""
        of_run = self._of_run(name)
        return bool(of_run) and (hasattr(type(self), of_run) or of_run in OPTIONS)

    def _of_run(self, name: str) -> str:
        domain = self.bound.domains.get(name)
        return "" if domain is None else domain.of_run or (name if name in SYMBOLS else "")

    def contradiction(self, name: str, relation: str) -> str | None:
        """Say how a given argument differs from what is known; None if it was read off, or nothing is known."""
        is_known = self.is_readable(name) and (
            isinstance(self.fed, QuadraticFederation) or self._of_run(name) in _KNOWN_OF_ANY
        )
        if name not in self.given or not is_known:
            return None
        return unmet(f"{name} {relation} that of the run", self.given[name], relation, self.read(name), _ROUNDING)

    @property
    def strategy(self) -> Any:
        return self.options["strategy"]

    @property
    def local_steps(self) -> Any:
        """One number if all clients take as many."""
        return self.options["local_steps"]

    @property
    def num_steps(self) -> int:
        return int(self.options["num_rounds"]) * self.steps_of_round

    @property
    def num_clients(self) -> int:
        return int(self.fed.num_clients)

    @property
    def num_selected(self) -> int:
        if self.scheme.selection == "all":
            return self.num_clients
        strategy = self.strategy
        while not hasattr(strategy, "num_selected") and hasattr(strategy, "strategy"):
            strategy = strategy.strategy
        if not hasattr(strategy, "num_selected"):
            message = f"strategy must say num_selected, got {short(self.strategy)}"
            raise TypeError(message)
        return int(strategy.num_selected)

    @property
    def num_draws(self) -> int:
        """Draws of priority clients."""
        return int(self.strategy.participation.num_draws)

    @cached_property
    def scheme(self) -> Scheme:
        scheme = getattr(self.strategy, "scheme", None)
        if not isinstance(scheme, Scheme):
            message = f"strategy must say its scheme, a fedtheory.theorem.scheme.Scheme, got {short(self.strategy)}"
            raise TypeError(message)
        return scheme

    @property
    def is_mean(self) -> bool:
        """Whether coefficients are never negative and sum to one: also where they are the shares of all, or equal."""
        shares = self.fed.weights
        if self.scheme.aggregation != "weighted":
            return self.scheme.aggregation in ("mean", "renormalized", "mean by size")
        are_equal = bool(np.ptp(shares) <= _ROUNDING * np.max(shares))
        return self.scheme.selection == "all" or (self.scheme.selection == "uniform without replacement" and are_equal)

    @property
    def first_gradients2(self) -> Array:
        """Squared norms of all clients' gradients at the first model, shape (K,)."""
        squares: Array = np.square(self.fed.gradients(self.options["initial"])).sum(axis=-1)
        return squares

    @property
    def mu(self) -> float:
        return float(self.fed.strong_convexity)

    @property
    def L(self) -> float:  # noqa: N802
        return float(self.fed.smoothness)

    @property
    def objective_gap(self) -> float:
        return float(self.fed.objective_gap)

    @property
    def compression_error(self) -> float:
        """The root of the epsilon of the method's compressor, ``|C(v) - v|^2 <= epsilon |v|^2``."""
        compressor = getattr(self.options.get("method"), "compressor", None)
        if compressor is None:
            message = f"a method with a compressor must be given, got method = {self.options.get('method')!r}"
            raise AssumptionViolated(message)
        return float(np.sqrt(compressor.compress(self.fed.dim).epsilon))

    @property
    def zeta2(self) -> float:
        """``sum_k p_k |grad F_k(w*)|^2``."""
        if not isinstance(self.fed, QuadraticFederation):
            message = f"zeta2 of a {type(self.fed).__name__} is not known: give zeta2="
            raise UnknownConstant(message)
        gradients = self.fed.gradients(self.fed.minimizer)
        return float(self.fed.weights @ np.sum(np.square(gradients), axis=-1))

    @property
    def sigma2(self) -> float:
        return float(self.options["gradient_noise"])

    @property
    def weighted_sigma2(self) -> float:
        return self.sigma2 * self.sum_squared_weights

    @property
    def max_weight(self) -> float:
        return float(np.max(self.fed.weights))

    @property
    def sum_squared_weights(self) -> float:
        return float(np.sum(np.square(self.fed.weights)))

    @property
    def squared_weights(self) -> float:
        """``sum_k q_k^2``, of a mean or of all clients."""
        return self.sum_squared_weights if self.scheme.selection == "all" else 1 / self.num_selected

    @property
    def initial_distance2(self) -> float:
        return float(np.sum((self.options["initial"] - self.fed.minimizer) ** 2))

    @property
    def control_error2(self) -> float:
        """Weighted mean of ``|c_k - c - grad F_k(w*)|^2`` for the control variates that the method begins with."""
        gradients = self.fed.gradients(self.fed.minimizer)
        variates = getattr(self.options["method"], "control_variates", None)
        known = np.zeros_like(gradients) if variates is None else np.asarray(variates, dtype=np.float64)
        errors = known - self.fed.weights @ known - gradients
        return float(self.fed.weights @ np.square(errors).sum(axis=1))

    @property
    def coin(self) -> float:
        """The probability with which the method communicates."""
        return float(self.options["method"].probability)

    @property
    def initial_gap(self) -> float:
        return float(self.fed.excess(self.options["initial"]))

    @property
    def step_size(self) -> float:
        sizes = np.unique([] if self.step_sizes is None else self.step_sizes)
        if sizes.size != 1:
            message = f"{self.bound.__name__} needs one step_size for all steps, got {short(self.options['step_size'])}"
            raise ValueError(message)
        return float(sizes[0])

    @property
    def whole_move(self) -> float:
        """The step of the server after all local steps, ``R eta_l eta_g``."""
        return self.step_size * self.steps_of_round * float(self.options["server_step_size"])

    @cached_property
    def step_sizes(self) -> Array | None:
        """The step sizes of all local steps; None if they are left to the theorem."""
        if self.options["step_size"] is None:
            return None
        return step_sizes(self.options["step_size"], max(self.options["num_rounds"], 1), self.steps_of_round)

    @property
    def delay(self) -> float:
        """The gamma of step sizes ``1/(mu (t + gamma))``, off the first of them."""
        if self.step_sizes is None:
            message = f"{self.bound.__name__} needs gamma, which sets its step sizes: give gamma= or step_size="
            raise TypeError(message)
        return float(1 / (self.argument("mu") * self.step_sizes[0]))

    @cached_property
    def prescribed_steps(self) -> Array:
        """The step sizes of a theorem that has its own, one more than the run has if it has none."""
        prescribe = self.bound.step_sizes
        assert prescribe is not None
        names = list(inspect.signature(prescribe).parameters)[1:]
        sizes: Array = prescribe(max(self.num_steps, 1), **{name: self.argument(name) for name in names})
        return sizes

    @property
    def G2(self) -> float:  # noqa: N802
        steps = self.step_sizes if self.bound.step_sizes is None else self.prescribed_steps
        is_plain = self.is_mean and set(self.changed) <= {"gradient_noise", "local_steps"}
        if not isinstance(self.fed, QuadraticFederation) or steps is None or not is_plain:
            what = f"a {type(self.fed).__name__}" + ("" if is_plain else " in such a run")
            message = f"a bound on the gradients of {what} is not known: give G2="
            raise UnknownConstant(message)
        return gradient_bound(self.fed, self.options["initial"], steps, self.sigma2).G2

    @cached_property
    def skew(self) -> SelectionSkew:
        try:
            # The search sharpens the sides that no bound needs.
            return selection_skew(self.fed, self.strategy, num_models=1)
        except TypeError as error:
            message = f"the skews are not known ({error}): give rho_tilde= and the others"
            raise UnknownConstant(message) from error

    @property
    def rho_bar(self) -> float:
        return self.skew.rho_bar.lower

    @property
    def rho_diagonal(self) -> float:
        return self.skew.rho_diagonal.lower

    @property
    def rho_tilde(self) -> float:
        """With objective gap 0 any number whose product with it bounds ``F_k(w*) - F_k*``, as 1/p_k does for each k."""
        sides = self.skew.rho_tilde
        if sides.lower == np.inf:
            message = (
                "rho_tilde times objective_gap must be finite, got objective_gap = 0 and clients of weight 0 that are "
                "selected although their minimizers are others"
            )
            raise AssumptionViolated(message)
        if sides.upper < np.inf:
            return sides.upper
        return max(1 / float(min(p for p in self.fed.weights if p > 0)), self.rho_diagonal)

    @property
    def improvement(self) -> float:
        """1 for all clients; b/n for b expected clients, chosen uniformly or better."""
        if self.scheme.selection == "all":
            return 1.0
        if getattr(self.strategy, "probabilities", None) not in ("uniform", "optimal"):
            message = (
                f"the improvement of {short(self.strategy)} over uniform sampling is not known: give gamma= or the like"
            )
            raise UnknownConstant(message)
        return float(self.strategy.expected_size / self.num_clients)

    @property
    def inverse_improvement(self) -> float:
        return 1 / self.improvement

    @property
    def dissimilarity(self) -> float:
        """``sum_i w_i |grad f_i - grad f|^2`` everywhere: the same if all clients have the same curvature."""
        fed = self.fed
        if not isinstance(fed, QuadraticFederation):
            known = getattr(fed, "dissimilarity", None)
            if known is None:
                message = f"dissimilarity of a {type(fed).__name__} is not known: give dissimilarity="
                raise UnknownConstant(message)
            return float(known)
        if np.ptp(fed.matrices, axis=0).any():
            message = "dissimilarity is unbounded unless all clients have one curvature, got a federation of several"
            raise AssumptionViolated(message)
        return self.zeta2


def _is_same(value: Any, default: Any) -> bool:
    """Whether an option is as by default, also where it is an array of that number."""
    if isinstance(value, np.ndarray | list | tuple):
        return bool(np.all(np.asarray(value, dtype=object) == default))
    return value is default or bool(value == default)


# Step sizes made by another formula than the theorem's differ in their last digits.
_SAME_STEPS = 1e-12
# What the run itself fixes may be given, but not otherwise, or not as less.
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
    """Arguments of a bound for a run of ``fedavg``, each rounded to the side on which the bound remains valid.

    Nothing is taken for granted. Every hypothesis of the bound is checked on the run or its numbers, and a text that
    nothing checks refuses the run. Every option of ``fedavg`` that changes what happens is refused unless the bound
    names it: as an argument, by a hypothesis (``gradient_noise`` by one on noise) or in its statement. What is accepted
    is bounded by ``bound(**arguments)`` as its docstring says.

    Parameters
    ----------
    bound
        One of ``fedtheory.bounds``.
    fed, strategy, num_rounds
        As in ``fedavg``: the problem, who takes part (with its ``scheme``), and communication rounds. A ``Trajectory``
        in the place of ``fed`` has all three, and the settings it was made with.
    step_size
        As in ``fedavg``. Where a theorem prescribes its step sizes they may be left out.
    settings
        All other options of ``fedavg``, and arguments of the bound that are known otherwise: of one step
        (``distance2``), measured (``theta``), or of a federation whose G2 or skews have no closed form. Such arguments
        are taken as they are unless the run contradicts them.

    Returns
    -------
    dict
        One value for each argument of the bound that has no default; of certified intervals, the side that keeps the
        bound true.

    Raises
    ------
    AssumptionViolated
        If the theorem does not speak about this run, or a hypothesis does not hold or cannot be checked.
    TypeError, ValueError
        If an argument can be read off neither the federation nor the run, or makes no sense.

    Examples
    --------
    Two clients ``(w -+ 1)^2 / 2``, one of them drawn, from w = 3 with one step 1/5 a round:

    >>> from fedtheory import QuadraticFederation
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> from fedtheory.selection.proportional import Proportional
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> run = {"num_rounds": 50, "step_size": 0.2, "initial": [3.0]}
    >>> arguments = for_run(poc.fixed_step_gap, fed, Proportional(1), **run)
    >>> {name: round(value, 9) for name, value in arguments.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'num_steps': 50, 'step_size': 0.2, 'mu': 1.0, 'L': 1.0, 'local_steps': 1, 'num_selected': 1, 'G2': 16.0,
     'sigma2': 0.0, 'objective_gap': 0.5, 'rho_diagonal': 1.0, 'rho_tilde': 1.0, 'initial_gap': 4.5}
    >>> from fedtheory.engine.simulation import fedavg
    >>> for_run(poc.fixed_step_gap, fedavg(fed, Proportional(1), **run)) == arguments
    True
    >>> for_run(poc.fixed_step_gap, fed, Proportional(1), momentum=0.9, **run)
    Traceback (most recent call last):
    fedtheory.errors.AssumptionViolated: Theorem A.1 speaks about momentum = 0, got 0.9
    """
    validate.instance("bound", bound, Bound, "one of fedtheory.bounds")
    if isinstance(fed, Trajectory):
        return for_run(bound, **{**made_with(fed, strategy), **settings})
    run = described(
        bound, federation_given(fed), strategy, {"num_rounds": num_rounds, "step_size": step_size, **settings}
    )
    reason = refusal(run)
    if reason is not None:
        message = f"{bound.statement.number} {reason}"
        raise AssumptionViolated(message)
    arguments = {name: run.argument(name) for name in wanted(run)}
    bound.terms(**arguments)
    return arguments


def refusal(run: Run) -> str | None:
    """Say why a theorem does not apply to a run, as far as its constants do not matter."""
    checks = (_other_scheme, _broken_hypothesis, _other_option, _other_steps, _other_count)
    return next(filter(None, (check(run) for check in checks)), None)


def wanted(run: Run) -> list[str]:
    """Return the arguments of the bound that are given, are known, or have no default."""
    defaults = {name for name, one in inspect.signature(run.bound).parameters.items() if one.default is not one.empty}
    return [name for name in run.bound.domains if name in run.given or run.is_readable(name) or name not in defaults]


def made_with(run: Trajectory, strategy: Strategy | None) -> dict[str, Any]:
    """Return the arguments of ``fedavg`` that a run was made with, its strategy perhaps as it is given."""
    if run.settings is None:
        message = (
            "a run that was loaded from a file holds data only: give for_run the fed, the strategy and the settings"
        )
        raise ValueError(message)
    return vars(run.settings) | ({} if strategy is None else {"strategy": strategy})


def _other_scheme(run: Run) -> str | None:
    """Say that the theorem does not cover the strategy's scheme, or does not say that any will do."""
    schemes = run.bound.statement.schemes
    if schemes == (ANY_SCHEME,) and "strategy" not in run.named:
        return f"does not say about which selection and aggregation it speaks, got {run.scheme}"
    if run.bound.statement.accepts(run.scheme):
        return None
    return f"speaks about {' or '.join(map(str, schemes))}, got {run.scheme}"


def _broken_hypothesis(run: Run) -> str | None:
    """Name the first hypothesis that the run breaks, or that nothing checks on it."""
    for hypothesis in run.bound.hypotheses:
        check = getattr(hypothesis, "violation_by", None)
        violation = f"{hypothesis.text}, which nothing checks on a run" if check is None else check(run)
        if violation is not None:
            return f"needs {violation}"
    return None


def _other_option(run: Run) -> str | None:
    """Name the first option with an effect that the theorem does not speak about."""
    for name, value in run.changed.items():
        if name not in run.named:
            plain = f"{name} = {_written(OPTIONS[name])}" if name in OPTIONS else "the same local_steps for all clients"
            return f"speaks about {plain}, got {_written(value)}"
    return None


def _other_steps(run: Run) -> str | None:
    """Name the first step that is not as long as the theorem prescribes; one about many must speak about their size."""
    if run.bound.step_sizes is None:
        is_about_many = bool({"num_steps", "num_rounds"} & set(run.bound.domains))
        return (
            "does not say about which step sizes it speaks" if is_about_many and "step_size" not in run.named else None
        )
    if run.step_sizes is None:
        return None
    prescribed = run.prescribed_steps
    wrong = np.flatnonzero(abs(run.step_sizes / prescribed - 1) > _SAME_STEPS)
    if not wrong.size:
        return None
    t = wrong[0]
    return f"prescribes the step size {prescribed[t]} at step {t}, got {run.step_sizes[t]}"


def _other_count(run: Run) -> str | None:
    """Name a count that was given and is another one on this run, or a measure of weights that is larger."""
    for name in _COUNTED:
        if name in run.given and run.given[name] != run.read(name):
            return f"has {name} = {run.read(name)} on this run, got {short(run.given[name])}"
    smaller = next(filter(None, (run.contradiction(name, ">=") for name in _AT_LEAST)), None)
    return None if smaller is None else f"needs {smaller}"


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else short(value)
