"""The constants that a theorem has on one federation, one strategy and one run: from a bound to its arguments."""

from typing import Any

import numpy as np

from fedtheory import _validate
from fedtheory.assumptions import Hypothesis
from fedtheory.errors import AssumptionViolated
from fedtheory.exact._run import Run, Theorem

__all__ = ["for_run"]

# Step sizes made by another formula than the theorem's differ in their last digits.
_SAME_STEPS = 1e-12


def for_run(
    bound: Theorem,
    fed: Any,
    strategy: Any,
    *,
    num_rounds: int,
    local_steps: int = 1,
    step_size: Any = None,
    initial: Any = None,
    gradient_noise: float = 0.0,
    relative_noise: float = 0.0,
    server_step_size: float = 1.0,
    **known: Any,
) -> dict[str, Any]:
    """Arguments that a bound has for a run of ``fedavg``, each on its safe side.

    The bound must speak about the strategy's scheme and about every option of the run, and its hypotheses about step
    sizes, weights and constants must hold; then ``bound(**arguments)`` bounds what its docstring says, for this run.

    Parameters
    ----------
    bound
        One of ``fedtheory.bounds``. Also written ``bound.for_run(fed, strategy, ...)``.
    fed, strategy
        The problem, and who takes part, with its ``scheme``.
    num_rounds, local_steps, step_size, initial, gradient_noise, relative_noise, server_step_size
        As in ``fedavg``. Where a theorem prescribes its step sizes they may be left out.
    known
        Arguments of the bound that are known otherwise: of one step (``distance2``), measured (``theta``), or of a
        federation whose G2 or skews have no closed form. They are taken as they are.

    Returns
    -------
    dict
        One value for each argument of the bound; of certified intervals, the side that keeps the bound true.

    Raises
    ------
    AssumptionViolated
        If the theorem does not speak about this run, or a hypothesis does not hold.
    TypeError, ValueError
        If an argument can be read off neither the federation nor the run, or makes no sense.

    Examples
    --------
    Two clients ``(w -+ 1)^2 / 2``, one of them drawn, from w = 3 with one step 1/5 a round:

    >>> from fedtheory import QuadraticFederation
    >>> from fedtheory.bounds import power_of_choice as poc
    >>> from fedtheory.selection.proportional import Proportional
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> arguments = for_run(poc.fixed_step_gap, fed, Proportional(1), num_rounds=50, step_size=0.2, initial=[3.0])
    >>> {name: round(value, 9) for name, value in arguments.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'num_steps': 50, 'step_size': 0.2, 'mu': 1.0, 'L': 1.0, 'local_steps': 1, 'num_selected': 1, 'G2': 16.0,
     'sigma2': 0.0, 'objective_gap': 0.5, 'rho_diagonal': 1.0, 'rho_tilde': 1.0, 'initial_gap': 4.5}
    """
    run = Run(
        fed,
        strategy,
        num_rounds=_validate.count("num_rounds", num_rounds, 0),
        local_steps=_validate.count("local_steps", local_steps),
        given_step_size=step_size,
        initial=np.zeros(fed.dim) if initial is None else _validate.array("initial", initial, shape=(fed.dim,)),
        gradient_noise=_validate.double("gradient_noise", _validate.nonnegative("gradient_noise", gradient_noise)),
        relative_noise=_validate.double("relative_noise", _validate.nonnegative("relative_noise", relative_noise)),
        server_step_size=_validate.double("server_step_size", _validate.positive("server_step_size", server_step_size)),
        bound=bound,
    )
    _speaks_about(bound, run)
    unknown = [name for name in known if name not in bound.domains]
    if unknown:
        message = f"{bound.__name__} has no argument {unknown[0]}; it has {', '.join(bound.domains)}"
        raise TypeError(message)
    arguments = {name: known[name] if name in known else run.read(name) for name in bound.domains}
    bound.terms(**arguments)
    return arguments


def _speaks_about(bound: Theorem, run: Run) -> None:
    """Raise unless the theorem covers the scheme, the options, the weights and the step sizes of the run."""
    if not bound.statement.accepts(run.scheme):
        mine = " or ".join(map(str, bound.statement.schemes))
        message = f"{bound.statement.number} speaks about {mine}, got {run.scheme}"
        raise AssumptionViolated(message)
    for name, plain in _plain_options(bound).items():
        if getattr(run, name) != plain:
            message = f"{bound.statement.number} speaks about {name} = {plain:g}, got {getattr(run, name):g}"
            raise AssumptionViolated(message)
    for hypothesis in (each for each in bound.hypotheses if isinstance(each, Hypothesis)):
        if hypothesis.of_weights is not None and not hypothesis.of_weights(run.fed.weights):
            least, most = min(run.fed.weights), max(run.fed.weights)
            message = f"{bound.statement.number} needs: {hypothesis.text}, got weights from {least:g} to {most:g}"
            raise AssumptionViolated(message)
    if bound.step_sizes is not None and run.given_step_size is not None:
        _same_steps(bound, run)


def _plain_options(bound: Theorem) -> dict[str, float]:
    """Return what a theorem without such an argument takes for granted; a lemma about no steps takes nothing."""
    has = set(bound.domains)
    if not has & {"step_size", "num_steps", "num_rounds"}:
        return {}
    plain = {"local_steps": 1, "relative_noise": 0, "server_step_size": 1}
    if "elapsed_step_size" in has:
        del plain["local_steps"]
    return {name: value for name, value in plain.items() if name not in has}


def _same_steps(bound: Theorem, run: Run) -> None:
    wrong = np.flatnonzero(abs(run.taken_steps / run.prescribed_steps - 1) > _SAME_STEPS)
    if wrong.size:
        t = wrong[0]
        message = (
            f"{bound.statement.number} prescribes the step size {run.prescribed_steps[t]} at step {t}, got "
            f"{run.taken_steps[t]}"
        )
        raise AssumptionViolated(message)
