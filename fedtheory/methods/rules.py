"""Interface of methods.

Federated averaging is the method without rules: a selected client starts at the server's model, descends along its
gradients and sends its model difference, and the server adds the weighted sum. ``METHOD_RULES`` declares the four
places in which a method may differ, in the order of a round.

A method has a table, a memory (the server's state), a state per client, and a separate random stream, so that a coin or
a random compressor changes neither the selection nor the noise of training. A rule may write only into the arguments
that are declared for this. The strategy's ``weigh`` is called between ``message`` and ``combine`` with the uncompressed
updates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.selection.rules import Argument, Slot

__all__ = ["Method", "MethodRules"]

Rule = Callable[..., Any]

METHOD_ARGUMENTS = {
    "all_weights": Argument("float64", ("K",), "objective weights p_k of all clients, available or not"),
    "states": Argument("float64", ("K", "s"), "the clients' states, a row per client, one copy per replicate"),
    "starts": Argument("float64", ("r", "v"), "initial models of the chosen clients, the server's unless overwritten"),
    "corrections": Argument("float64", ("r", "v"), "terms added to every local gradient of the chosen, initially 0"),
    "num_steps": Argument("int64", ("r",), "number of local steps of each chosen client"),
    "messages": Argument("float64", ("r", "v"), "messages of the chosen clients, their updates unless overwritten"),
    "message": Argument("float64", ("v",), "message of one client"),
}

METHOD_RULES = {
    "correct": Slot(
        ("round_index", "table", "memory", "states", "all_weights", "chosen", "step_sizes", "starts", "corrections"),
        ("memory", "states", "starts", "corrections"),
        "void",
        "sets the initial models and the corrections of the chosen clients",
    ),
    "message": Slot(
        ("round_index", "table", "memory", "states", "all_weights", "chosen", "step_sizes", "num_steps", "updates",
         "messages"),
        ("messages",),
        "void",
        "computes messages from updates",
    ),
    "compress": Slot(
        ("table", "rng", "message"),
        ("message",),
        "float64",
        "overwrites a message with the received one and returns the number of floats sent; has a separate table; "
        "without it messages are not changed, v floats each",
    ),
    "combine": Slot(
        ("round_index", "table", "memory", "states", "all_weights", "chosen", "coefficients", "step_sizes", "num_steps",
         "starts", "updates", "messages", "rng", "model"),
        ("memory", "states", "model"),
        "float64",
        "updates the model and all states and returns the number of such messages that each chosen client sent, 0 for "
        "none; messages with coefficient 0 are not sent. Without it the model moves by their weighted sum",
    ),
}  # fmt: skip


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class MethodRules:
    """The rules of a method for one federation and one initial model.

    Attributes
    ----------
    correct, message, compress, combine
        The rules; all are optional.
    state_size
        Number s of entries in the state of a client.
    states
        States before round 0, shape (K, s), or None for zeros, which take no memory until they are written.
    table, memory, compress_table
        Flat float64 arrays: the constants, the server's state before round 0, and the compressor's constants.
    max_local_steps
        Largest number of local steps in a round; 0 for any number.
    options
        Options of ``fedavg`` that the method does not allow, such as ``("momentum",)``.
    proximal_weight
        Weight alpha of the term ``alpha/2 |y - x|^2`` of every local loss. If it is positive, ``fedavg`` does not allow
        a ``proximal_weight``.
    all_clients
        Whether the method is defined only if all clients take part in every round with their objective weights.
    """

    correct: Rule | None = None
    message: Rule | None = None
    compress: Rule | None = None
    combine: Rule | None = None
    state_size: int = 0
    states: Array | None = None
    table: Array = field(default_factory=_nothing)
    memory: Array = field(default_factory=_nothing)
    compress_table: Array = field(default_factory=_nothing)
    max_local_steps: int = 0
    options: tuple[str, ...] = ()
    proximal_weight: float = 0.0
    all_clients: bool = False

    def __post_init__(self) -> None:
        for name, slot in METHOD_RULES.items():
            rule = getattr(self, name)
            if not (callable(rule) or rule is None):
                message = f"{name} must be a function {name}{slot}, got {truncate(rule)}"
                raise TypeError(message)
        validate.count("state_size", self.state_size, 0)
        validate.count("max_local_steps", self.max_local_steps, 0)
        validate.double("proximal_weight", validate.nonnegative("proximal_weight", self.proximal_weight))
        validate.boolean("all_clients", self.all_clients)
        for name in ("table", "memory", "compress_table"):
            validate.array(name, getattr(self, name), ndim=1)
        if self.states is not None:
            validate.array("states", self.states, shape=(None, self.state_size))
        for option in validate.sequence("options", self.options, "a sequence of names"):
            validate.text("options", option)


class Method(Protocol):
    """Interface of methods: a frozen dataclass of parameters with a method that returns rules."""

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Validate the parameters for the clients' weights (K,) and the initial model (v,); return the rules."""


def method_rules_of(method: Method, weights: Array, initial: Array) -> MethodRules:
    """Return the rules of a method for objective weights, shape (K,), and the model before round 0, shape (v,)."""
    if isinstance(method, type) or not callable(getattr(method, "method_rules", None)):
        known = f"the class {method.__name__}" if isinstance(method, type) else truncate(method)
        message = f"method must be a value with a method method_rules(weights, initial), got {known}"
        raise TypeError(message)
    rules: object = method.method_rules(
        validate.array("weights", weights, ndim=1), validate.array("initial", initial, ndim=1)
    )
    if not isinstance(rules, MethodRules):
        message = f"the rules of {method} must be fedtheory.methods.MethodRules, got {type(rules).__name__}"
        raise TypeError(message)
    return rules
