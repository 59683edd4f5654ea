"""The door to simulation: federated averaging, or another method, with any strategy on any problem family."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._storage.recipes import Recipe, recipe_of
from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import short
from fedtheory.engine._execution import execute
from fedtheory.engine._fleet import noise_variances, own_steps
from fedtheory.engine._replicates import Job, Replicate
from fedtheory.engine.contract import RECORDS, Family, LocalWork
from fedtheory.engine.families import layout, refuse_unknown
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.engine.trajectory import Trajectory
from fedtheory.federation.client_data import FederatedData, test_samples
from fedtheory.federation.prioritized import unwrapped
from fedtheory.federation.protocol import Federation
from fedtheory.methods.rules import Method, MethodRules, method_rules_of
from fedtheory.selection.rules import Rules, Strategy, rules_of

__all__ = ["fedavg"]

# What a result does not depend on, and the seed, which is written down for itself.
_EXECUTION = ("rng", "num_threads", "progress", "checkpoint", "checkpoint_every")


@validate.names
def fedavg(
    fed: Federation,
    strategy: Strategy,
    *,
    num_rounds: int,
    local_steps: int | npt.ArrayLike | Stragglers = 1,
    step_size: float | npt.ArrayLike | Schedule,
    initial: npt.ArrayLike | None = None,
    num_replicates: int = 1,
    rng: RNGLike = 0,
    batch_size: int | None = None,
    batches: str = "step",
    num_batches: int | None = None,
    gradient_noise: float = 0.0,
    relative_noise: float = 0.0,
    server_step_size: float = 1.0,
    proximal_weight: float = 0.0,
    momentum: float = 0.0,
    returned_noise: float | npt.ArrayLike = 0.0,
    method: Method | None = None,
    validation: Federation | None = None,
    test: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    record: Sequence[str] = ("gap",),
    record_every: int = 1,
    num_threads: int | None = None,
    progress: bool | Callable[[int], Any] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 30.0,
) -> Trajectory:
    """Run federated averaging.

    In each round the strategy selects clients; each takes ``local_steps`` gradient steps from the server's model; the
    server adds ``server_step_size`` times the weighted sum of their model differences (with weights 1/m and step 1 that
    is the mean of their models).

    Parameters
    ----------
    fed, strategy
        The problem, and who takes part. A prioritized federation is its ``federation``, of all clients.
    num_rounds, local_steps
        Communication rounds (0 is allowed), and local steps tau in each: one number, or one per client, shape (K,), or
        per round and client, shape (T, K), of which the largest is tau (a client that takes fewer takes the first of
        the round's), or ``Stragglers``, which are drawn once or in each round.
    step_size
        A number, one number per local step, shape (num_rounds * tau,), or a schedule of ``fedtheory.engine.schedule``.
    initial
        Initial model, shape (v,); zeros by default.
    num_replicates, rng
        Independent replicates, and the seed (or SeedSequence, Generator) they are spawned from. Selection and training
        draw from separate streams, so that strategies compared with one seed share their gradient noise.
    batch_size, batches
        Samples per local step, drawn without replacement; None takes all of them (quadratics have no samples). They are
        drawn from all samples of the client for every ``step``, or in each ``epoch`` from those it has not seen: a new
        epoch begins with every participation and when fewer than a batch are left.
    num_batches
        Instead of ``batch_size``: mini-batches per epoch, of ``max(1, n_k // num_batches)`` samples of client k each.
    gradient_noise, relative_noise
        Gaussian noise added to each local gradient has the total variance ``sigma^2 + M |grad F_k|^2``, an equal share
        of it in each coordinate: ``gradient_noise`` is sigma^2, ``relative_noise`` is M, and the gradient is that of
        the local objective where the client stands (without a FedProx term).
    server_step_size, proximal_weight, momentum
        Server step, FedProx weight (the local loss gains ``proximal_weight / 2 ||w - w_server||^2``), local momentum.
    returned_noise
        Variance of Gaussian noise that a client adds to each parameter of the model it returns: one number, or one per
        client, shape (K,).
    method
        What clients and server do besides averaging, as ``fedtheory.methods.Scaffold()``; None for federated averaging.
    validation
        Whose loss values clients, for strategies that ask: a federation of the same family, for instance of one client
        with the server's samples; ``fed`` itself by default.
    test
        Features and labels on which ``accuracy`` is measured; by default all that ``fed`` holds out.
    record
        Any of ``gap``, ``loss``, ``accuracy`` (of a family that classifies), ``models``, ``uplink``, ``broadcasts``,
        ``evaluations``, ``selected`` (who trains in the round), ``coefficients`` (of their updates), ``values`` (theirs
        in its game, if the strategy asks), ``coalitions`` (evaluated for that), and ``states`` of the clients, which a
        method has; how often each was selected always.
    record_every
        Record every so many rounds, round 0 included.
    num_threads
        Threads over replicates; the result has the same bits for any number.
    progress
        True shows on standard error how many rounds are over, of all replicates together, and the time left, once two
        seconds have passed. A function is called with the number of finished replicates each time one finishes, or a
        few of very many.
    checkpoint, checkpoint_every
        File that keeps the finished replicates and those that are under way, written whole at the end, on Ctrl-C and
        after about so many seconds. The same call goes on from there, in the middle of a replicate, to the same bits,
        also after the program was killed. More replicates than before may be asked for: each has random streams of its
        own, spawned from the seed, so that the missing ones do not depend on those that are there.

    Returns
    -------
    Trajectory

    Raises
    ------
    ValueError, TypeError
        For arguments that make no sense, or the checkpoint of another run, in one sentence.
    KeyboardInterrupt
        On Ctrl-C, before the next round: an `Interrupted`, which holds the replicates that are finished.

    Examples
    --------
    One client, one step of size 1/2 on ``w^2 / 2`` from 1: the gap falls from 1/2 to 1/8.

    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> fedavg(fed, Full(), num_rounds=1, step_size=0.5, initial=[1.0]).gap
    array([[0.5  , 0.125]])
    """
    fed, validation = unwrapped(fed), unwrapped(validation)
    given = locals()  # before any of them is changed
    refuse_unknown(fed)
    num_rounds = validate.count("num_rounds", num_rounds, 0)
    tau, steps_of_clients = own_steps(local_steps, fed.num_clients, num_rounds)
    model = np.zeros(fed.dim) if initial is None else validate.array("initial", initial, shape=(fed.dim,))
    rules = rules_of(strategy, fed.weights, num_rounds)
    step_server = validate.double("server_step_size", validate.positive("server_step_size", server_step_size))
    methodical = None if method is None else method_rules_of(method, fed.weights, model)
    work = LocalWork(
        gradient_noise=validate.double("gradient_noise", validate.nonnegative("gradient_noise", gradient_noise)),
        relative_noise=validate.double("relative_noise", validate.nonnegative("relative_noise", relative_noise)),
        proximal_weight=validate.double("proximal_weight", validate.nonnegative("proximal_weight", proximal_weight)),
        momentum=validate.fraction("momentum", momentum),
        batch_size=0 if batch_size is None else int(validate.count("batch_size", batch_size)),
        by_epoch=validate.choice("batches", batches, ("step", "epoch")) == "epoch" or num_batches is not None,
        track_losses=rules.observe is not None,
        num_batches=0 if num_batches is None else int(validate.count("num_batches", num_batches)),
        correction=np.zeros(0 if methodical is None else fed.dim),
    )
    _check_batch(rules, work, strategy)
    if methodical is not None:
        _check_method(method, methodical, rules, strategy, tau, given)
    recorded = _recorded(record)
    family = _asking(layout(fed, work), rules, strategy)
    valuing = _valuing(fed, family, validation, work, rules)
    mistakes = family.mistakes if "accuracy" in recorded else None
    # Asked for before the run: a family may have to refuse, or to work for it.
    minimum = _minimum(fed) if "gap" in recorded else 0.0
    job = Job(
        strategy=strategy,
        family=replace(family, mistakes=mistakes, coalition=getattr(valuing, "coalition", None)),
        validation=valuing,
        test=_testing(fed, family, test, work) if "accuracy" in recorded else None,
        rules=rules,
        weights=np.array(fed.weights),
        work=work,
        initial=model,
        step_sizes=step_sizes(step_size, num_rounds, tau),
        local_steps=tau,
        own_steps=steps_of_clients,
        returned_noise=noise_variances(returned_noise, fed.num_clients),
        server_step_size=step_server,
        record=recorded,
        every=validate.size("record_every", record_every),
        method=method,
        method_rules=methodical,
    )
    sequence = validate.seed_sequence(rng)
    recipe = recipe_of(
        {name: value for name, value in given.items() if name not in _EXECUTION}, sequence, job.step_sizes
    )
    seeds = sequence.spawn(validate.size("num_replicates", num_replicates))
    collect = partial(_collect, job, minimum, _config(job, given, sequence), recipe)
    return execute(
        job, seeds, collect, num_threads=num_threads, progress=progress, checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
    )  # fmt: skip


def _minimum(fed: Federation) -> float:
    try:
        return fed.minimum
    except AttributeError as error:
        message = (
            f"fed must have a minimum, from which the gap is measured, got {short(fed)}, which has none: "
            "give it one, or record=('loss',)"
        )
        raise TypeError(message) from error


def _config(job: Job, given: dict[str, Any], sequence: np.random.SeedSequence) -> dict[str, Any]:
    one_by_one, work = isinstance(given["step_size"], np.ndarray | list | tuple), job.work._asdict()
    return {
        "strategy": job.name,
        "num_rounds": int(given["num_rounds"]),
        "local_steps": _in_config(given["local_steps"]),
        "returned_noise": job.returned_noise.tolist(),
        "step_size": "given one by one" if one_by_one else repr(given["step_size"]),
        "entropy": str(sequence.entropy),
        "spawn_key": list(sequence.spawn_key),
        "batches": given["batches"],
        **{name: value for name, value in work.items() if name not in ("by_epoch", "track_losses", "correction")},
        "server_step_size": job.server_step_size,
        **({} if job.method is None else {"method": repr(job.method)}),
    }


def _in_config(local_steps: Any) -> Any:
    if isinstance(local_steps, Stragglers):
        return repr(local_steps)
    return "given round by round" if np.ndim(local_steps) == 2 else np.asarray(local_steps).tolist()


def _check_batch(rules: Rules, work: LocalWork, strategy: Strategy) -> None:
    if rules.candidate_loss.startswith("minibatch") and not work.batch_size:
        message = f"batch_size must be given for losses estimated on mini-batches, got None with {strategy}"
        raise ValueError(message)


def _check_method(
    method: Method | None, methodical: MethodRules, rules: Rules, strategy: Strategy, tau: int, given: dict[str, Any]
) -> None:
    """Raise ValueError where a method does not go with the rest of the run."""
    most = methodical.max_local_steps
    if most and tau > most:
        message = f"local_steps must be at most {most} with {method}, got {tau}"
        raise ValueError(message)
    for name in (*methodical.options, *(("server_step_size",) if methodical.combine else ())):
        neutral = inspect.signature(fedavg).parameters[name].default
        if np.any(np.asarray(given[name]) != neutral):
            message = f"{name} must be {neutral} with {method}, got {short(given[name])}"
            raise ValueError(message)
    if rules.valuation is not None or rules.value is not None:
        message = f"method must be None with {strategy}, which values what federated averaging makes, got {method}"
        raise ValueError(message)


def _asking(family: Family, rules: Rules, strategy: Strategy) -> Family:
    """Let candidates be asked for their mistakes where the rules want these."""
    if not rules.candidate_loss.endswith("mistakes"):
        return family
    if family.mistakes is None:
        message = (
            f"fed must classify samples, since {strategy} asks candidates for their mistakes, got a family of losses"
        )
        raise TypeError(message)
    return replace(family, losses=family.mistakes)


def _recorded(record: Any) -> tuple[str, ...]:
    if isinstance(record, str) or not isinstance(record, Iterable):
        message = f"record must be a sequence of names, as ('gap', 'loss'), got {short(record)}"
        raise TypeError(message)
    return tuple(validate.choice("record", name, tuple(RECORDS)) for name in record)


def _valuing(
    fed: Federation, family: Family, validation: Federation | None, work: LocalWork, rules: Rules
) -> Family | None:
    """Lay out the federation that values clients, if anything does; it needs no batches."""
    if validation is None:
        return None if rules.valuation is None else _sharing(family, rules)
    if type(validation) is not type(fed):
        message = f"validation must be a {type(fed).__name__} as fed is, got a {type(validation).__name__}"
        raise TypeError(message)
    if rules.valuation is None:
        return None
    found = layout(validation, work._replace(batch_size=0, num_batches=0))
    # As many parameters may be arranged otherwise.
    wanted, got = _form(fed, family), _form(validation, found)
    if wanted != got:
        message = f"validation must take the models of fed, {wanted}, got {got}"
        raise ValueError(message)
    if found.excess is not family.excess:
        message = "validation must have the losses of fed, got others: other functions, or curvatures of another form"
        raise ValueError(message)
    return _sharing(found, rules)


def _sharing(family: Family, rules: Rules) -> Family:
    """Let the coalitions of a round share what the family knows to share."""
    return family if family.sharing is None else family.sharing(family, rules.max_selected)


def _testing(fed: Any, family: Family, test: Any, work: LocalWork) -> Family:
    """Lay out the test samples as those of one client."""
    if family.mistakes is None:
        message = f"record must leave out accuracy, where nothing is classified, got it for a {type(fed).__name__}"
        raise TypeError(message)
    own = fed.data
    pair = (own.test_features, own.test_labels) if test is None else test_samples(test, own.num_features)
    if not len(pair[1]):
        message = f"test must hold samples where accuracy is recorded and fed holds none out, got {short(test)}"
        raise ValueError(message)
    data = FederatedData.from_clients([pair], num_classes=own.num_classes)
    return layout(replace(fed, data=data, weights=None), work._replace(batch_size=0, num_batches=0))


def _form(fed: Federation, family: Family) -> str:
    arranged = f" in matrices of shapes {family.shapes}" if family.shapes else ""
    return f"{fed.dim} parameters{arranged}"


def _collect(
    job: Job, minimum: float, config: dict[str, Any], recipe: Recipe, replicates: list[Replicate]
) -> Trajectory:
    def stacked(name: str) -> Array:
        return np.stack([getattr(replicate.recording, name) for replicate in replicates])

    records: dict[str, Array] = {}
    for name in job.record:
        records[name] = stacked(RECORDS[name].buffer)
        if name == "loss":
            records[name] += job.family.reference
        elif name == "gap":
            records[name] = _gap(records[name], job.family.reference, minimum)
    return Trajectory(
        rounds=np.arange(job.num_recorded, dtype=np.int64) * job.every,
        records=records,
        counts=np.stack([replicate.counts for replicate in replicates]),
        diverged_at=np.array([replicate.diverged_at for replicate in replicates], dtype=np.int64),
        config={**config, "num_replicates": len(replicates)},
        recipe=replace(recipe, form={**recipe.form, "num_replicates": len(replicates)}),
    )


def _gap(excess: Array, reference: float, minimum: float) -> Array:
    gap: Array = excess + (reference - minimum)
    # A family that computes its minimum may find a model that is better by a few roundings.
    slack = 64 * np.finfo(np.float64).eps * max(abs(minimum), abs(reference), 1.0)
    return np.where((gap < 0) & (gap >= -slack), 0.0, gap)
