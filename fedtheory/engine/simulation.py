"""Simulation of federated averaging and other methods."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.engine.contract import RECORDS, Recorded
from fedtheory.engine.execution import execute
from fedtheory.engine.heterogeneity import Stragglers
from fedtheory.engine.replicates import Job, Replicate
from fedtheory.engine.schedule import Schedule
from fedtheory.engine.settings import Settings
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import DivergenceWarning
from fedtheory.federation.protocol import Federation
from fedtheory.methods.rules import Method
from fedtheory.selection.rules import Strategy

__all__ = ["fedavg"]

# Memory of a replicate besides its records: a seed sequence and some objects.
_OWN_BYTES = 1000


@validate.names
def fedavg(
    fed: Federation,
    strategy: Strategy | Callable[..., Any],
    *,
    num_rounds: int,
    local_steps: int | npt.ArrayLike | Stragglers = 1,
    step_size: float | npt.ArrayLike | Schedule,
    initial: npt.ArrayLike | None = None,
    num_replicates: int = 1,
    rng: RNGLike = 0,
    batch_size: int | None = None,
    batches: Literal["step", "epoch"] = "step",
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
    record: Sequence[Recorded] = ("gap",),
    record_every: int = 1,
    num_threads: int | None = None,
    progress: bool | Callable[[int], Any] | None = None,
) -> Trajectory:
    """Run federated averaging or another method.

    In each round the strategy selects clients; each takes ``local_steps`` gradient steps from the server's model; the
    server adds ``server_step_size`` times the weighted sum of their model differences (with weights 1/m and step 1 that
    is the mean of their models).

    Parameters
    ----------
    fed, strategy
        The federation, and a client selection strategy or a function ``(rng, weights, losses) -> clients``, whose runs
        are not compiled and therefore slower. Of a prioritized federation, pass its ``federation``.
    num_rounds, local_steps
        Number of communication rounds, which may be 0, and number of local steps tau per round: one number, one number
        per client, shape (K,), or one per round and client, shape (T, K), or ``Stragglers``. With several numbers tau
        is the largest, and a client with fewer steps takes the first steps of the round.
    step_size
        Local step size: a number, one number per local step, shape (num_rounds * tau,), or a schedule of
        ``fedtheory.engine.schedule``.
    initial
        Initial model, shape (v,); zeros by default.
    num_replicates, rng
        Number of independent replicates, and the seed, SeedSequence or Generator from which their streams are spawned.
        Selection and training use separate streams: strategies that are compared with one seed have the same gradient
        noise.
    batch_size, batches, num_batches
        Number of samples per local step, drawn without replacement; None takes all samples, as does a client that has
        fewer. With ``step`` each batch is drawn from all samples of the client. With ``epoch`` it is drawn from the
        samples that the client has not used in the epoch; an epoch begins with every participation, and when fewer
        samples than a batch are left. ``num_batches`` per epoch, in place of ``batch_size``, gives client k batches of
        ``max(1, n_k // num_batches)`` samples.
    gradient_noise, relative_noise
        ``sigma^2`` and ``M`` of the Gaussian noise that is added to each local gradient. Its total variance is
        ``sigma^2 + M |grad F_k|^2``, with equal shares for all coordinates, without a FedProx term.
    server_step_size, proximal_weight, momentum
        Server step size, weight of FedProx (the local loss gains ``proximal_weight / 2 ||w - w_server||^2``), and local
        momentum.
    returned_noise
        Variance of the Gaussian noise that a client adds to each parameter of the model that it returns: one number, or
        one per client, shape (K,).
    method
        Method of clients and server, such as ``fedtheory.methods.Scaffold()``; None for federated averaging.
    validation
        Federation of the same family whose loss values the clients, for strategies that use values; ``fed`` by default.
    test
        Features and labels for ``accuracy``; by default all samples that ``fed`` holds out.
    record, record_every
        Names of the recorded quantities, those of ``Trajectory.records``, and number of rounds between records; round 0
        is recorded.
    num_threads
        Number of threads over replicates. Results are bit-identical for any number.
    progress
        If True, the finished rounds of all replicates and the remaining time are shown on standard error after two
        seconds. A function is called with the number of finished replicates whenever it has grown.

    Warns
    -----
    fedtheory.errors.DivergenceWarning
        If the model of a replicate stops being finite. Its records are NaN from that round on.

    Examples
    --------
    One step of size 1/2 of a single client on ``w^2 / 2`` from 1 decreases the gap from 1/2 to 1/8.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> fedavg(fed, ft.selection.Full(), num_rounds=1, step_size=0.5, initial=[1.0]).gap
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
    _check_memory(job, settings.num_replicates)

    seeds = sequence.spawn(settings.num_replicates)
    run = _trajectory(job, settings, execute(job, seeds, num_threads=num_threads, progress=progress))
    lost = run.diverged_at[run.diverged_at >= 0]
    if lost.size:
        text = f"{lost.size} of {run.diverged_at.size} replicates diverged, the first in round {lost.min()}: "
        warnings.warn(f"{text}their records are NaN from then on (run.status)", DivergenceWarning, stacklevel=3)
    return run


def _check_memory(job: Job, num_replicates: int) -> None:
    """Raise ValueError if the records of all replicates, and a copy while they are stacked, exceed the memory."""
    entries = job.weights.size + sum(math.prod(shape) for shape in job.recorded_shapes.values())
    needed, memory = num_replicates * (16 * entries + _OWN_BYTES), _memory()
    if needed > memory:
        message = (
            f"the records of all replicates must fit into the memory of {memory / 1e9:,.0f} GB, got num_replicates = "
            f"{num_replicates}, which need {needed / 1e9:,.0f} GB (record= and record_every= keep less)"
        )
        raise ValueError(message)


def _memory() -> float:
    """Bytes of the machine's memory, or of the largest arrays of the library where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8.0 * validate.LARGEST_SIZE


def _trajectory(job: Job, settings: Settings, replicates: list[Replicate]) -> Trajectory:
    def stacked(name: str) -> Array:
        return np.stack([replicate.recording[name] for replicate in replicates])

    records: dict[str, Array] = {}
    for name in settings.record:
        records[name] = stacked(RECORDS[name].buffer)
        if name == "loss":
            records[name] += job.family.reference
        elif name == "gap":
            records[name] = _gap(records[name], job.family.reference, job.minimum)
    return Trajectory(
        rounds=np.arange(job.num_recorded, dtype=np.int64) * settings.record_every,
        records=records,
        counts=np.stack([replicate.counts for replicate in replicates]),
        diverged_at=np.array([replicate.diverged_at for replicate in replicates], dtype=np.int64),
        config=settings.config,
        settings=settings,
    )


def _gap(excess: Array, reference: float, minimum: float) -> Array:
    gap: Array = excess + (reference - minimum)
    # The recorded gap may be slightly negative if the family computes its minimum numerically.
    slack = 64 * np.finfo(np.float64).eps * max(abs(minimum), abs(reference), 1.0)
    return np.where((gap < 0) & (gap >= -slack), 0.0, gap)
