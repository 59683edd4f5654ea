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
from fedtheory._support.wording import truncate

__all__ = ["flower"]

Metrics = Callable[..., Mapping[str, Any]]


class FlowerRounds(NamedTuple):
    """Selection and aggregation of a Flower strategy as functions for the kit.

    ``aggregate``, for ``check_aggregation``, returns the change of the server's model, shape (v,), if each selected
    client k adds ``vectors[k]`` to the model and reports a number of examples proportional to ``weights[k]``.
    ``select``, for ``check_strategy``, returns the clients that train in round 1; it uses neither weights nor losses.
    """

    aggregate: Callable[..., Any]
    select: Callable[..., list[int]]


def flower(
    strategy: Any, *, num_rounds: int = 1, metrics: Metrics | None = None, dtype: Any = np.float64
) -> FlowerRounds:
    """Wrap a strategy of ``flwr.serverapp.strategy`` or ``flwr.server.strategy`` for the conformance checks.

    Each call starts with a copy of the strategy and with the model 0, so that calls are independent. Replies arrive in
    random order. The global generators of Python and NumPy, which Flower uses, are seeded from ``rng`` and restored.

    Parameters
    ----------
    strategy
        A message-based strategy, such as ``flwr.serverapp.strategy.FedAvg()``, or an older one with ``configure_fit``
        and ``aggregate_fit``, such as ``flwr.server.strategy.FedAvg()``.
    num_rounds
        Number of rounds in a call of ``aggregate``, at least 1, each with the same vectors; more than one for
        strategies with memory.
    metrics
        Further metrics that clients report, a function ``(vectors, weights) -> {name: values}`` with values of shape
        (n,) in the order of the clients; QFedAvg needs a ``train_loss``. None for no further metrics.
    dtype
        Data type of the model's arrays.

    Raises
    ------
    ImportError
        If Flower is not installed.

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
    flwr = _flower()
    if isinstance(strategy, flwr.serverapp.strategy.Strategy):
        player: Any = _Messages
    elif isinstance(strategy, flwr.server.strategy.Strategy):
        player = _Fits
    else:
        message = f"strategy must be one of flwr.serverapp.strategy or flwr.server.strategy, got {truncate(strategy)}"
        raise TypeError(message)
    rounds, kind = validate.size("num_rounds", num_rounds), np.dtype(dtype)

    def played() -> Any:
        return player(copy.deepcopy(strategy), kind)

    def aggregate(rng: np.random.Generator, vectors: Array, weights: Array) -> Array:
        with _alone(rng):
            return _change(played(), rounds, metrics, rng, np.asarray(vectors, float), np.asarray(weights, float))

    def select(rng: np.random.Generator, weights: Array, losses: Array) -> list[int]:  # noqa: ARG001 (Flower does not use them)
        with _alone(rng):
            return [client for client, _ in played().asked(1, np.zeros(1), len(weights))]

    for function in (aggregate, select):
        function.__qualname__ = f"{type(strategy).__name__}.{function.__name__}"
    return FlowerRounds(aggregate, select)


def _change(
    played: Any, num_rounds: int, metrics: Metrics | None, rng: np.random.Generator, vectors: Array, weights: Array
) -> Array:
    """Play the rounds, and return the change of the model."""
    model = np.zeros(vectors.shape[1])
    reported = dict(metrics(vectors, weights)) if metrics else {}
    examples = _examples(weights)
    for server_round in range(1, num_rounds + 1):
        asked = played.asked(server_round, model, len(weights))
        replies = []
        for client, message in (asked[place] for place in rng.permutation(len(asked))):
            numbers = {name: np.asarray(values)[client].item() for name, values in reported.items()}
            replies.append(played.reply(message, model + vectors[client], examples[client], numbers))
        layers = played.aggregated(server_round, replies)
        if layers is None:
            message = f"{type(played.strategy).__name__} returned no model for {len(replies)} replies"
            raise ValueError(message)
        model = np.concatenate([layer.ravel() for layer in layers]).astype(np.float64)
    return model


def _layers(model: Array, dtype: np.dtype[Any]) -> list[Array]:
    """Cut a model into two layers, since some rules treat each layer separately."""
    return np.array_split(model.astype(dtype), min(2, model.size))


def _refuse_few(strategy: Any, num_clients: int, names: tuple[str, str]) -> None:
    least = max(getattr(strategy, name, 0) for name in names)
    if num_clients < least:  # Flower would wait for more
        message = f"{type(strategy).__name__} must have at least {least} clients, got {num_clients}"
        raise ValueError(message)


class _Messages(NamedTuple):
    """A strategy of ``flwr.serverapp.strategy``, which exchanges messages."""

    strategy: Any
    dtype: np.dtype[Any]

    def asked(self, server_round: int, model: Array, num_clients: int) -> list[tuple[int, Any]]:
        """Return the selected clients' numbers, each with the message to it; node numbers of Flower start at 1."""
        _refuse_few(self.strategy, num_clients, ("min_available_nodes", "min_train_nodes"))
        config = _flower().app.ConfigRecord()
        messages = self.strategy.configure_train(server_round, self._arrays(model), config, _Grid(num_clients))
        return [(message.metadata.dst_node_id - 1, message) for message in messages]

    def reply(self, message: Any, model: Array, examples: int, numbers: Mapping[str, Any]) -> Any:
        """Return a client's reply; a wrapper's inner strategy determines the name of the number of examples."""
        app, name = _flower().app, str(getattr(self.strategy, "weighted_by_key", "num-examples"))
        record = {"arrays": self._arrays(model), "metrics": app.MetricRecord({**numbers, name: examples})}
        return app.Message(app.RecordDict(record), reply_to=message)

    def aggregated(self, server_round: int, replies: list[Any]) -> list[Array] | None:
        """Return the layers of the new model, or None."""
        arrays, _ = self.strategy.aggregate_train(server_round, replies)
        return None if arrays is None else [array.numpy() for array in arrays.values()]

    def _arrays(self, model: Array) -> Any:
        app = _flower().app
        layers = _layers(model, self.dtype)
        return app.ArrayRecord({f"layer{place}": app.Array(layer) for place, layer in enumerate(layers)})


class _Fits(NamedTuple):
    """A strategy of ``flwr.server.strategy``, with ``configure_fit`` and ``aggregate_fit``."""

    strategy: Any
    dtype: np.dtype[Any]

    def asked(self, server_round: int, model: Array, num_clients: int) -> list[tuple[int, Any]]:
        """Return the selected clients' numbers, each with its proxy."""
        from flwr.server.client_manager import SimpleClientManager

        _refuse_few(self.strategy, num_clients, ("min_available_clients", "min_fit_clients"))
        manager = SimpleClientManager()
        for client in range(num_clients):
            manager.register(_proxy(client))
        configured = self.strategy.configure_fit(server_round, self._parameters(model), manager)
        return [(int(proxy.cid), proxy) for proxy, _ in configured]

    def reply(self, message: Any, model: Array, examples: int, numbers: Mapping[str, Any]) -> Any:
        """Return a proxy with its client's reply."""
        from flwr.common import Code, FitRes, Status

        return message, FitRes(Status(Code.OK, ""), self._parameters(model), examples, dict(numbers))

    def aggregated(self, server_round: int, replies: list[Any]) -> list[Array] | None:
        """Return the layers of the new model, or None."""
        from flwr.common import parameters_to_ndarrays

        # Strategies such as FedAdam take steps from their initial model.
        parameters, _ = self.strategy.aggregate_fit(server_round, replies, [])
        return None if parameters is None else parameters_to_ndarrays(parameters)

    def _parameters(self, model: Array) -> Any:
        from flwr.common import ndarrays_to_parameters

        return ndarrays_to_parameters(_layers(model, self.dtype))


def _proxy(client: int) -> Any:
    """Return a placeholder for a client's connection; only its presence matters."""
    from flwr.server.client_proxy import ClientProxy

    kind = type("Client", (ClientProxy,), dict.fromkeys(ClientProxy.__abstractmethods__))
    return kind(str(client))


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
    names = ("task_id", "run_id", "node_id")
    before = random.getstate(), np.random.get_state(), log.level, [_identity(TaskIdentity, name) for name in names]  # noqa: NPY002
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


def _identity(task: Any, name: str) -> int | None:
    """Return a part of the identity of Flower's task, None if it is not set."""
    try:
        part: int = getattr(task, name)
    except RuntimeError:
        return None
    return part


def _flower() -> Any:
    try:
        import flwr.app
        import flwr.server.strategy
        import flwr.serverapp.strategy
    except ImportError as error:
        message = 'flower needs a Flower version with message-based strategies: pip install "fedtheory[flower]"'
        raise ImportError(message) from error
    return flwr
