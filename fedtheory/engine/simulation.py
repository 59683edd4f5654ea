"""Simulation of federated averaging and other methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.engine._execution import execute
from fedtheory.engine._replicates import Job, Replicate
from fedtheory.engine.contract import RECORDS
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.engine.schedule import Schedule
from fedtheory.engine.settings import Settings
from fedtheory.engine.trajectory import Trajectory
from fedtheory.federation.protocol import Federation
from fedtheory.methods.rules import Method
from fedtheory.selection.rules import Strategy

__all__ = ["fedavg"]


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
    """Run federated averaging or another method.

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
        File that keeps the finished replicates, written whole at the end, on Ctrl-C, and while others run after at
        least so many seconds. The same call runs the missing replicates only, also after the program was killed. More
        replicates than before are allowed, since each has its own random streams, spawned from the seed. The
        checkpoint of another run is refused: of other arguments, or with a rule whose source, or what it refers to,
        has changed.

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
    sequence = validate.seed_sequence(rng)
    settings = Settings(
        fed, strategy, num_rounds=num_rounds, local_steps=local_steps, step_size=step_size, initial=initial,
        num_replicates=num_replicates, rng=sequence, batch_size=batch_size, batches=batches, num_batches=num_batches,
        gradient_noise=gradient_noise, relative_noise=relative_noise, server_step_size=server_step_size,
        proximal_weight=proximal_weight, momentum=momentum, returned_noise=returned_noise, method=method,
        validation=validation, test=test, record=record, record_every=record_every,
    )  # fmt: skip
    job = settings.job()

    def collect(replicates: list[Replicate]) -> Trajectory:
        return _trajectory(job, settings, replicates)

    seeds = sequence.spawn(settings.num_replicates)
    return execute(
        job, seeds, collect, num_threads=num_threads, progress=progress, checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
    )  # fmt: skip


def _trajectory(job: Job, settings: Settings, replicates: list[Replicate]) -> Trajectory:
    def stacked(name: str) -> Array:
        return np.stack([replicate.recording[name] for replicate in replicates])

    records: dict[str, Array] = {}
    for name in job.record:
        records[name] = stacked(RECORDS[name].buffer)
        if name == "loss":
            records[name] += job.family.reference
        elif name == "gap":
            records[name] = _gap(records[name], job.family.reference, job.minimum)
    return Trajectory(
        rounds=np.arange(job.num_recorded, dtype=np.int64) * job.every,
        records=records,
        counts=np.stack([replicate.counts for replicate in replicates]),
        diverged_at=np.array([replicate.diverged_at for replicate in replicates], dtype=np.int64),
        config={**settings.in_words, "num_replicates": len(replicates)},
        settings=replace(settings, num_replicates=len(replicates)),
    )


def _gap(excess: Array, reference: float, minimum: float) -> Array:
    gap: Array = excess + (reference - minimum)
    # A family that computes its minimum may find a model that is better by a few roundings.
    slack = 64 * np.finfo(np.float64).eps * max(abs(minimum), abs(reference), 1.0)
    return np.where((gap < 0) & (gap >= -slack), 0.0, gap)
