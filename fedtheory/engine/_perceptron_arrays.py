"""The arrays of a perceptron and its samples, as the kernels read and write them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.engine._products import LANES, ROWS
from fedtheory.engine._softmax_blocks import BLOCK
from fedtheory.federation.perceptron import PerceptronFederation
from fedtheory.federation.softmax import SoftmaxFederation

__all__ = ["PerceptronArrays", "laid_out"]

Rooms = np.ndarray[tuple[int, int, int, int], np.dtype[np.float64]]
Whole = npt.NDArray[np.int64]


class PerceptronArrays(NamedTuple):
    """What the kernels read and, from ``order`` on, what each replicate writes.

    ``features`` (N, P) end with the constant 1 and zeros; ``labels`` and ``rows`` (0..N-1) are (N,). ``layers`` (L, 6)
    hold the units and inputs (the constant among them) of each layer, its rows and columns padded with zeros as tiles
    need them, and where its matrix and its block begin; ``dropout`` (L,) is the share of each layer's outputs that is
    dropped in training, 0 for the last. ``order`` holds each client's rows as batches shuffle them.
    ``known_losses`` (K,) are the losses at ``known_model`` (v,). ``padded`` (4, total) holds weights, gradient,
    velocity and the server's weights; ``blocks`` a layer's outputs (rows + 2, BLOCK), the two below the classes being
    scratch; ``hidden`` (L, BLOCK, widest) the inputs of each layer beyond the first, sample by sample, and in the
    first's place their slopes; ``batch`` the numbers of the samples in the block, and ``counting`` 0, 1, 2, ...
    ``products`` (M + 1, blocks, rows, BLOCK) are the first layer's outputs of the server's model and of M updates, of
    all samples; empty unless coalitions are valued.
    """

    features: Array
    labels: Whole
    offsets: Whole
    weights: Array
    rows: Whole
    layers: Whole
    l2: float
    counting: Whole
    dropout: Array
    order: Whole
    known_losses: Array
    known_model: Array
    padded: Array
    blocks: Array
    hidden: Array
    batch: Whole
    products: Rooms


def laid_out(fed: SoftmaxFederation | PerceptronFederation, shapes: Sequence[tuple[int, int]]) -> PerceptronArrays:
    """Arrange the samples and the rooms of all passes."""
    units, inputs = np.array(shapes, dtype=np.int64).T
    rows, columns = -(-units // ROWS) * ROWS, -(-inputs // LANES) * LANES
    matrices, blocks = np.cumsum([0, *(rows * columns)]), np.cumsum([0, *(rows + 2)])
    num_samples, width = fed.inputs.shape
    features = np.zeros((num_samples, columns[0]))
    features[:, :width] = fed.inputs
    hidden = np.zeros((len(shapes), BLOCK, columns[1:].max(initial=0)))
    hidden[np.arange(1, len(shapes)), :, inputs[1:] - 1] = 1.0
    return PerceptronArrays(
        features=features,
        labels=np.array(fed.data.labels),
        offsets=np.array(fed.data.offsets),
        weights=np.array(fed.weights),
        rows=np.arange(num_samples),
        layers=np.column_stack([units, inputs, rows, columns, matrices[:-1], blocks[:-1]]),
        l2=fed.l2,
        counting=np.arange(max(BLOCK, rows.max())),
        dropout=np.array([*(fed.dropout if isinstance(fed, PerceptronFederation) else ()), 0.0]),
        order=np.arange(num_samples),
        known_losses=np.zeros(fed.num_clients),
        known_model=np.full(fed.dim, np.nan),
        padded=np.zeros((4, matrices[-1])),
        blocks=np.zeros((blocks[-1], BLOCK)),
        hidden=hidden,
        batch=np.zeros(BLOCK, dtype=np.int64),
        products=np.zeros((0, 0, 0, 0)),
    )
