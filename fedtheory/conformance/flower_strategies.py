"""Adapters that connect server strategies of Flower to the conformance kit.

Flower (``flwr``) is not needed to import this; ``pip install "fedtheory[flower]"`` brings it.
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
        ``(rng, vectors, weights) -> estimate``, for ``check_aggregation``: the change of the server's model, shape
        (v,), when client k, if it is selected, adds ``vectors[k]`` to the model and reports as many examples as are
        proportional to ``weights[k]``.
    select
        ``(rng, weights, losses) -> client numbers``, for ``check_strategy``: who is asked to train in round 1. Flower
        shows strategies neither weights nor losses.
    """

    aggregate: Callable[..., Any]
    select: Callable[..., list[int]]


def flower(
    strategy: Any, *, num_rounds: int = 1, metrics: Metrics | None = None, dtype: Any = np.float64
) -> FlowerRounds:
    """Wrap a strategy of ``flwr.serverapp.strategy`` for the conformance checks.

    Each call starts with a copy of the strategy and with the model 0, so that calls do not remember each other. Replies
    arrive in an order that is drawn anew. What Flower draws from the global generators of Python and NumPy is made to
    follow ``rng``; both generators are put back.

    Parameters
    ----------
    strategy
        A message-based strategy, such as ``flwr.serverapp.strategy.FedAvg()``.
    num_rounds
        Rounds in a call of ``aggregate``, each with the same vectors; more than one for strategies with a memory.
    metrics
        What clients report besides their examples, a function ``(vectors, weights) -> {name: values}``, values of
        shape (n,) in the order of the clients; QFedAvg wants a ``train_loss``. None for nothing else.
    dtype
        Of the arrays of the model, which clients keep.

    Returns
    -------
    FlowerRounds
        The two functions, named after the strategy's class.

    Raises
    ------
    ImportError
        If Flower is not installed.
    TypeError
        If it is no message-based strategy of Flower.
    ValueError
        If there is less than one round.

    Examples
    --------
    If not all clients are in a round, FedAvg divides by the examples of those who are. Such a ratio is not unbiased:

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
        message = f"strategy must be one of flwr.serverapp.strategy, got {short(strategy)}"
        raise TypeError(message)
    played = _Played(strategy, validate.size("num_rounds", num_rounds), metrics, np.dtype(dtype))

    def aggregate(rng: np.random.Generator, vectors: Array, weights: Array) -> Array:
        with _alone(rng):
            return played.change(rng, np.asarray(vectors, float), np.asarray(weights, float))

    def select(rng: np.random.Generator, weights: Array, losses: Array) -> list[int]:  # noqa: ARG001 (not shown to it)
        with _alone(rng):
            return [client for client, _ in played.asked(copy.deepcopy(strategy), 1, np.zeros(1), len(weights))]

    for function in (aggregate, select):
        function.__qualname__ = f"{type(strategy).__name__}.{function.__name__}"
    return FlowerRounds(aggregate, select)


class _Played(NamedTuple):
    """A strategy and how its clients answer."""

    strategy: Any
    num_rounds: int
    metrics: Metrics | None
    dtype: np.dtype[Any]

    def change(self, rng: np.random.Generator, vectors: Array, weights: Array) -> Array:
        """Play the rounds, and return how far the model went."""
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
        """Return the selected clients' numbers, each with the message to it; node numbers of Flower start at 1."""
        least = max(getattr(strategy, name, 0) for name in ("min_available_nodes", "min_train_nodes"))
        if num_clients < least:  # for which Flower would wait
            message = f"{type(strategy).__name__} must have {least} clients or more, got {num_clients}"
            raise ValueError(message)
        config = _flower().app.ConfigRecord()
        messages = strategy.configure_train(server_round, self.arrays(model), config, _Grid(num_clients))
        return [(message.metadata.dst_node_id - 1, message) for message in messages]

    def reply(self, asked: tuple[int, Any], model: Array, vectors: Array, reported: Mapping[str, Any]) -> Any:
        """Return what a client sends back."""
        app, (client, message) = _flower().app, asked
        numbers = {name: np.asarray(values)[client].item() for name, values in reported.items()}
        record = {"arrays": self.arrays(model + vectors[client]), "metrics": app.MetricRecord(numbers)}
        return app.Message(app.RecordDict(record), reply_to=message)

    def arrays(self, model: Array) -> Any:
        """Cut a model into two layers, as rules that look at one layer at a time may differ from those that do not."""
        app = _flower().app
        layers = np.array_split(model.astype(self.dtype), min(2, model.size))
        return app.ArrayRecord({f"layer{place}": app.Array(layer) for place, layer in enumerate(layers)})

    @property
    def weight_name(self) -> str:
        """Under which name examples are reported; wrappers leave that to the strategy inside."""
        return str(getattr(self.strategy, "weighted_by_key", "num-examples"))


class _Grid(NamedTuple):
    """As much of Flower's grid as a strategy needs to select."""

    num_clients: int

    def get_node_ids(self) -> list[int]:
        """Return the nodes, all of them connected."""
        return list(range(1, self.num_clients + 1))


def _examples(weights: Array) -> list[int]:
    """Return whole numbers in the proportions of the weights."""
    shares = [Fraction(float(weight)).limit_denominator(10**6) for weight in weights]
    common = math.lcm(*(share.denominator for share in shares))
    return [int(share * common) for share in shares]


@contextmanager
def _alone(rng: np.random.Generator) -> Iterator[None]:
    """Make global randomness follow ``rng``, keep Flower's log quiet, and pretend to be a run of Flower's server."""
    from flwr.supercore.task_identity import TaskIdentity

    log = logging.getLogger("flwr")
    names = ("_task_id", "_run_id", "_node_id")
    before = random.getstate(), np.random.get_state(), log.level, [getattr(TaskIdentity, name) for name in names]  # noqa: NPY002
    seed = int(rng.integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (Flower's noise is drawn from there)
    log.setLevel(logging.CRITICAL)
    gc.freeze()  # QFedAvg and Bulyan collect garbage after each reply, which looks at every object that is not frozen
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
        message = 'flower needs Flower\'s strategies that take messages: pip install "fedtheory[flower]"'
        raise ImportError(message) from error
    return flwr
