"""Kernels of softmax regression on clients that are made when they are touched: a desk for one client at a time.

A client's samples are written over those of the one before, then all is done as if it were the only client there.
Making them takes about as long as a few passes over them, and no memory beyond the desk.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# (slots take what engine/contract.py says)

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.compiling import compiled
from fedtheory._support.validate import Array
from fedtheory.engine._kernels_perceptron import (
    check_batches,
    draw_batch,
    mean_loss,
    ridge_term,
    train_one,
)
from fedtheory.engine._perceptron_passes import PerceptronArrays, laid_out, pad
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.federation._client_streams import write_client
from fedtheory.federation.lazy_softmax import LazySoftmaxFederation

__all__ = ["LazyArrays", "lazy_family"]

Whole = npt.NDArray[np.int64]


class LazyArrays(NamedTuple):
    """What the kernels read, and the desk that they write: the arrays of a perceptron with one client.

    ``streams`` (2,), ``spreads`` (2,), ``scales`` (f,) and ``sizes`` (K,) make the clients; ``audited`` are those
    behind a recorded loss. ``model`` (f + 1, C) and ``center`` (f,) are those of the client on the desk.
    """

    desk: PerceptronArrays
    streams: npt.NDArray[np.uint64]
    spreads: Array
    scales: Array
    sizes: Whole
    audited: Whole
    model: Array
    center: Array


def lazy_family(fed: LazySoftmaxFederation, work: LocalWork) -> Family:
    """Lay out the desk, large enough for the largest client."""
    data = fed.data
    check_batches(work, int(data.sample_counts.min()))
    shape = (data.num_classes, data.num_features + 1)
    arrays = LazyArrays(
        desk=laid_out(fed.clients([int(data.sample_counts.argmax())]), [shape]),
        streams=np.array(data.streams),
        spreads=np.array(data.spreads),
        scales=np.array(data.scales),
        sizes=np.array(data.sample_counts),
        audited=np.array(fed.audited),
        model=np.zeros(shape[::-1]),
        center=np.zeros(data.num_features),
    )
    slots: tuple[Any, Any, Any] = (_losses, _train, _excess)
    return Family(arrays, *slots, reference=0.0, private=("desk", "model", "center"), shapes=(shape,))


@compiled
def _seat(problem, client):
    """Write the samples of a client onto the desk; return how many they are."""
    size, desk = problem.sizes[client], problem.desk
    write_client(
        problem.streams, problem.spreads, problem.scales, client, problem.model, problem.center, desk.features,
        desk.labels[:size],
    )  # fmt: skip
    desk.offsets[1] = size
    for i in range(size):
        desk.order[i] = i
    return size


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    desk = problem.desk
    pad(model, desk.layers, desk.padded[0])
    for j in range(candidates.size):
        size, rows = _seat(problem, candidates[j]), desk.rows
        if batch_size > 0:
            draw_batch(desk.order, 0, size, batch_size, rng)
            size, rows = batch_size, desk.order
        losses[j] = mean_loss(desk, rows, 0, size) + ridge_term(desk, model)


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    for i in range(chosen.size):
        _seat(problem, chosen[i])
        mean_losses[i] = train_one(problem.desk, 0, server_model, step_sizes, work, rng, updates[i])


@compiled
def _excess(problem, model):
    desk = problem.desk
    pad(model, desk.layers, desk.padded[0])
    total = 0.0
    for client in problem.audited:
        total += mean_loss(desk, desk.rows, 0, _seat(problem, client))
    return total / problem.audited.size + ridge_term(desk, model)
