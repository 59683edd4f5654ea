"""Adapters that connect server strategies of Flower to the conformance kit.

Flower (``flwr``) is not needed for the import of this module; ``pip install "fedtheory[flower]"`` installs it.
"""

import copy
import gc
import logging
import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import short

__all__ = ["flower"]

Metrics = Callable[..., Mapping[str, Any]]


class FlowerRounds(NamedTuple):
    """Selection and aggregation of a Flower strategy as functions for the kit.

    Attributes
    ----------
    aggregate
        ``(rng, vectors, weights) -> estimate``, for ``check_aggregation``. The estimate is the change of the server's
        model, shape (v,), if each selected client k adds ``vectors[k]`` to the model and reports a number of examples
        proportional to ``weights[k]``.
    select
        ``(rng, weights, losses) -> client numbers``, for ``check_strategy``: the clients that train in round 1.
        Flower's strategies receive neither weights nor losses.
    """

    aggregate: Callable[..., Any]
    select: Callable[..., list[int]]


def flower(
    strategy: Any, *, num_rounds: int = 1, metrics: Metrics | None = None, dtype: Any = np.float64
) -> FlowerRounds:
    """Wrap a strategy of ``flwr.serverapp.strategy`` for the conformance checks.

    Each call starts with a copy of the strategy and with the model 0, so that calls are independent. Replies arrive in
    random order. The global generators of Python and NumPy, which Flower uses, are seeded from ``rng`` and restored.

    Parameters
    ----------
    strategy
        A message-based strategy, such as ``flwr.serverapp.strategy.FedAvg()``.
    num_rounds
        Number of rounds in a call of ``aggregate``, each with the same vectors; more than one for strategies with
        memory.
    metrics
        Further metrics that clients report, a function ``(vectors, weights) -> {name: values}`` with values of shape
        (n,) in the order of the clients; QFedAvg needs a ``train_loss``. None for no further metrics.
    dtype
        Data type of the model's arrays.

    Returns
    -------
    FlowerRounds
        The two functions, named after the strategy's class.

    Raises
    ------
    ImportError
        If Flower is not installed.
    TypeError
        If ``strategy`` is no message-based strategy of Flower.
    ValueError
        If ``num_rounds`` is less than 1.

    Examples
    --------
    If only some clients are in a round, FedAvg divides by the number of their examples. This ratio is biased:

    >>> from flwr.serverapp.strategy import FedAvg  # doctest: +SKIP
    >>> from fedtheory.conformance.aggregation import check_aggregation
    >>> check_aggregation(flower(FedAvg()).aggregate, exact=True, min_clients=2).holds  # doctest: +SKIP
    True
    >>> one = flower(FedAvg(fraction_train=0.01, min_train_nodes=1)).aggregate  # doctest: +SKIP
    >>> check_aggregation(one, min_clients=2).holds  # doctest: +SKIP
    False
    """
    base = _flower().serverapp.strategy.Strategy
    if not isinstance(strategy, base):
        message = f"strategy must be a strategy of flwr.serverapp.strategy, got {short(strategy)}"
        raise TypeError(message)
    played = _Played(strategy, validate.size("num_rounds", num_rounds), metrics, np.dtype(dtype))

    def aggregate(rng: np.random.Generator, vectors: Array, weights: Array) -> Array:
        with _alone(rng):
            return played.change(rng, np.asarray(vectors, float), np.asarray(weights, float))

    def select(rng: np.random.Generator, weights: Array, losses: Array) -> list[int]:  # noqa: ARG001 (Flower does not use them)
        with _alone(rng):
            return [client for client, _ in played.asked(copy.deepcopy(strategy), 1, np.zeros(1), len(weights))]

    for function in (aggregate, select):
        function.__qualname__ = f"{type(strategy).__name__}.{function.__name__}"
    return FlowerRounds(aggregate, select)


class _Played(NamedTuple):
    """A strategy, and the settings of its clients."""

    strategy: Any
    num_rounds: int
    metrics: Metrics | None
    dtype: np.dtype[Any]

    def change(self, rng: np.random.Generator, vectors: Array, weights: Array) -> Array:
        """Play the rounds, and return the change of the model."""
        strategy, model = copy.deepcopy(self.strategy), np.zeros(vectors.shape[1])
        reported = {**(self.metrics(vectors, weights) if self.metrics else {}), self.weight_name: _examples(weights)}
        for server_round in range(1, self.num_rounds + 1):
            asked = self.asked(strategy, server_round, model, len(weights))
            replies = [self.reply(asked[place], model, vectors, reported) for place in rng.permutation(len(asked))]
            arrays, _ = strategy.aggregate_train(server_round, replies)
            if arrays is None:
                message = f"{type(strategy).__name__} returned no model for {len(replies)} replies"
                raise ValueError(message)
            model = np.concatenate([array.numpy().ravel() for array in arrays.values()]).astype(np.float64)
        return model

    def asked(self, strategy: Any, server_round: int, model: Array, num_clients: int) -> list[tuple[int, Any]]:
        """Return the numbers of the selected clients with their messages; Flower's node numbers start at 1."""
        least = max(getattr(strategy, name, 0) for name in ("min_available_nodes", "min_train_nodes"))
        if num_clients < least:  # Flower would wait for more clients
            message = f"{type(strategy).__name__} must have at least {least} clients, got {num_clients}"
            raise ValueError(message)
        config = _flower().app.ConfigRecord()
        messages = strategy.configure_train(server_round, self.arrays(model), config, _Grid(num_clients))
        return [(message.metadata.dst_node_id - 1, message) for message in messages]

    def reply(self, asked: tuple[int, Any], model: Array, vectors: Array, reported: Mapping[str, Any]) -> Any:
        """Return the reply of a client."""
        app, (client, message) = _flower().app, asked
        numbers = {name: np.asarray(values)[client].item() for name, values in reported.items()}
        record = {"arrays": self.arrays(model + vectors[client]), "metrics": app.MetricRecord(numbers)}
        return app.Message(app.RecordDict(record), reply_to=message)

    def arrays(self, model: Array) -> Any:
        """Split a model into two layers, since some rules treat each layer separately."""
        app = _flower().app
        layers = np.array_split(model.astype(self.dtype), min(2, model.size))
        return app.ArrayRecord({f"layer{place}": app.Array(layer) for place, layer in enumerate(layers)})

    @property
    def weight_name(self) -> str:
        """Name under which examples are reported; wrappers leave it to the wrapped strategy."""
        return str(getattr(self.strategy, "weighted_by_key", "num-examples"))


class _Grid(NamedTuple):
    """The part of Flower's grid that strategies use for selection."""

    num_clients: int

    def get_node_ids(self) -> list[int]:
        """Return the nodes, all of which are connected."""
        return list(range(1, self.num_clients + 1))


def _examples(weights: Array) -> list[int]:
    """Return integers proportional to the weights, rounded."""
    shares = [Fraction(float(weight)).limit_denominator(10**6) for weight in weights]
    common = math.lcm(*(share.denominator for share in shares))
    return [int(share * common) for share in shares]


@contextmanager
def _alone(rng: np.random.Generator) -> Iterator[None]:
    """Seed global randomness from ``rng``, silence Flower's log, and set the task identity of a Flower server run."""
    from flwr.supercore.task_identity import TaskIdentity

    log = logging.getLogger("flwr")
    names = ("_task_id", "_run_id", "_node_id")
    before = random.getstate(), np.random.get_state(), log.level, [getattr(TaskIdentity, name) for name in names]  # noqa: NPY002
    seed = int(rng.integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (Flower draws its noise from there)
    log.setLevel(logging.CRITICAL)
    gc.freeze()  # QFedAvg and Bulyan collect garbage after each reply, which visits all objects that are not frozen
    for name in names:
        setattr(TaskIdentity, name, 1)
    try:
        yield
    finally:
        gc.unfreeze()
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        log.setLevel(before[2])
        for name, value in zip(names, before[3], strict=True):
            setattr(TaskIdentity, name, value)


def _flower() -> Any:
    try:
        import flwr.app
        import flwr.serverapp.strategy
    except ImportError as error:
        message = 'flower needs a Flower version with message-based strategies: pip install "fedtheory[flower]"'
        raise ImportError(message) from error
    return flwr
