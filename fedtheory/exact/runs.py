"""The constants that a theorem has on one federation, one strategy and one run: from a bound to its arguments."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support.wording import short
from fedtheory.engine._received import placeholder, settings_of
from fedtheory.engine.schedule import Schedule
from fedtheory.engine.simulation import fedavg
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import AssumptionViolated
from fedtheory.exact._run import OPTIONS, Run, described
from fedtheory.federation.protocol import Federation
from fedtheory.selection.rules import Strategy
from fedtheory.theorem.paper import Bound
from fedtheory.theorem.scheme import ANY_SCHEME

__all__ = ["for_run"]

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
    """Arguments that a bound has for a run of ``fedavg``, each on its safe side.

    Nothing is taken for granted. Every hypothesis of the bound is checked on the run or its numbers, and a text that
    nothing checks refuses the run. Every option of ``fedavg`` that changes what happens is refused unless the bound
    names it: as an argument, by a hypothesis (``gradient_noise`` by one on noise) or in its statement. What is accepted
    is bounded by ``bound(**arguments)`` as its docstring says.

    Parameters
    ----------
    bound
        One of ``fedtheory.bounds``. Also written ``bound.for_run(fed, strategy, ...)``.
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
    if isinstance(fed, Trajectory):
        return for_run(bound, **{**_made_with(fed, strategy), **settings})
    run = described(bound, fed, strategy, {"num_rounds": num_rounds, "step_size": step_size, **settings})
    reasons = (check(run) for check in (_other_scheme, _broken_hypothesis, _other_option, _other_steps, _other_count))
    reason = next(filter(None, reasons), None)
    if reason is not None:
        message = f"{bound.statement.number} {reason}"
        raise AssumptionViolated(message)
    defaults = {name for name, one in inspect.signature(bound).parameters.items() if one.default is not one.empty}
    arguments = {
        name: run.argument(name)
        for name in bound.domains
        if name in run.given or run.is_readable(name) or name not in defaults
    }
    bound.terms(**arguments)
    return arguments


def _made_with(run: Trajectory, strategy: Strategy | None) -> dict[str, Any]:
    """Return the arguments of ``fedavg`` that a run was made with, its strategy perhaps as it is given."""
    arguments = settings_of(run, fedavg, {} if strategy is None else {"strategy": strategy})
    for name in set(run.recipe.form if run.recipe else ()) - set(arguments):
        kept = placeholder(run.recipe.form[name]) if run.recipe else ""
        message = f"a run keeps parts of fedtheory only, got {name} as {kept}: give fed, strategy and settings instead"
        raise ValueError(message)
    return arguments


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
