"""Interface of client selection strategies.

``RULES`` declares the rules in the order of a round, and ``ARGUMENTS`` their arguments. Signatures, buffers, error
messages and the page *Contracts* of the documentation are generated from these two.

A rule may write only into the arguments that are declared for this; the others are read-only. The results are checked
in every round, and a fault ends the run with a ValueError that names the strategy, the rule, the round and the value:
numbers of clients must fit the buffers, clients must be in ``0..K-1``, and coefficients must be finite. Entries of
``candidates`` and ``chosen`` are -1, and those of ``coefficients`` NaN, until they are written. The arguments are the
arrays of the loop, which writes into them in the next round: a rule that keeps one must copy it. A rule must draw from
``rng`` only; draws from a global generator are not reproducible.

If clients are absent, ``weights`` are those of the available clients divided by their sum, and -1 for absent clients.
A rule can use this to avoid absent clients; the loop removes them from the results of other rules.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, final, get_args

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.valuation.games import check_num_players

__all__ = ["Rules", "Strategy"]

Rule = Callable[..., Any]
Clients = npt.NDArray[np.int64]


class Argument(NamedTuple):
    """Argument of a rule: type, shape and meaning.

    Shapes consist of K clients, at most d candidates and m chosen clients, and v coordinates; L is any length.
    """

    kind: str
    shape: tuple[str, ...]
    says: str


class Slot(NamedTuple):
    """Signature of a rule: its arguments in order, those that it writes, and the type of its result."""

    arguments: tuple[str, ...]
    writes: tuple[str, ...]
    returns: str
    says: str

    def __str__(self) -> str:
        """Arguments and result."""
        return f"({', '.join(self.arguments)}) -> {self.returns}"


ARGUMENTS = {
    "round_index": Argument("int64", (), "the round, counted from 0"),
    "table": Argument("float64", ("L",), "the strategy's constants, shared by all replicates"),
    "memory": Argument("float64", ("L",), "the strategy's state, one copy per replicate"),
    "weights": Argument("float64", ("K",), "objective weights of the available clients, -1 for the absent"),
    "rng": Argument("generator", (), "the rule's random stream"),
    "present": Argument("bool", ("K",), "available clients"),
    "candidates": Argument("int64", ("d",), "clients whose losses are evaluated"),
    "losses": Argument("float64", ("d",), "the candidates' losses"),
    "chosen": Argument(
        "int64", ("m",), "clients that train; copies act as different clients, not in methods with states"
    ),
    "model": Argument("float64", ("v",), "the server's model"),
    "server_model": Argument("float64", ("v",), "the server's model before the round, where the local steps start"),
    "updates": Argument("float64", ("m", "v"), "model differences of the chosen clients"),
    "coefficients": Argument("float64", ("m",), "coefficients of the updates; one with coefficient 0 is not sent"),
    "values": Argument("float64", ("m",), "values of the chosen in the game of the round; 0 without ``valuation``"),
    "mean_losses": Argument("float64", ("m",), "the chosen clients' losses, averaged over their local steps"),
}

RULES = {
    "attend": Slot(
        ("round_index", "table", "memory", "rng", "present"),
        ("memory", "present"), "int64",
        "determines the available clients and returns their number; has a separate table, memory and random stream",
    ),
    "propose": Slot(
        ("round_index", "table", "memory", "weights", "rng", "candidates"),
        ("memory", "candidates"), "int64",
        "determines the clients whose losses are evaluated and returns their number; none without this rule",
    ),
    "select": Slot(
        ("round_index", "table", "memory", "weights", "candidates", "losses", "rng", "chosen"),
        ("memory", "candidates", "losses", "chosen"), "int64",
        "selects the clients that train and returns their number; may overwrite candidates and losses",
    ),
    "weigh": Slot(
        ("round_index", "table", "memory", "weights", "chosen", "updates", "rng", "coefficients"),
        ("memory", "coefficients"), "float64",
        "sets the coefficients of the updates and returns the number of floats sent in addition to updates and "
        "losses; without it each coefficient is 1/m",
    ),
    "value": Slot(
        ("round_index", "table", "memory", "weights", "chosen", "coefficients", "values", "updates", "server_model",
         "model", "rng"),
        ("memory",), "void",
        "values the chosen clients after the server's step; their local models are server_model + updates",
    ),
    "observe": Slot(
        ("round_index", "table", "memory", "weights", "chosen", "coefficients", "mean_losses"),
        ("memory",), "void",
        "updates the memory at the end of the round",
    ),
}  # fmt: skip


def _nothing() -> Array:
    return np.empty(0)


ValuationMethod = Literal["exact", "gtg"]
"""All coalitions, or truncated random orders (``valuation.gtg_shapley`` with its default tolerance)."""
CandidateLoss = Literal["exact", "minibatch", "mistakes", "minibatch mistakes"]


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a strategy for one federation and one number of rounds.

    Attributes
    ----------
    select
        The rule that selects clients; the other rules are optional.
    max_selected, max_candidates
        Largest numbers of selected clients and of candidates in a round.
    candidate_loss
        ``exact`` for F_k at the server's model, ``minibatch`` for an estimate from one mini-batch; ``mistakes`` and
        ``minibatch mistakes`` for the share of misclassified samples.
    table, memory
        Flat float64 arrays: the constants, and the state before round 0.
    weigh_present
        The rule for weighing if clients can be absent, if it differs.
    attend, attend_table, attend_memory
        The rule for availability (see ``Available``), with separate constants and state.
    min_present
        Smallest number of available clients; a round with fewer ends the run with a ValueError.
    valuation
        Shapley values of the chosen clients before ``value`` is called, ``exact`` or ``gtg``; None for none. The
        utility of a coalition is the negative loss, on the validation samples, of the average of its models with the
        coefficients of the aggregation; that of the empty coalition is that of the model before the round.
    """

    select: Rule
    max_selected: int
    propose: Rule | None = None
    weigh: Rule | None = None
    value: Rule | None = None
    observe: Rule | None = None
    max_candidates: int = 0
    candidate_loss: CandidateLoss = "exact"
    table: Array = field(default_factory=_nothing)
    memory: Array = field(default_factory=_nothing)
    weigh_present: Rule | None = None
    attend: Rule | None = None
    attend_table: Array = field(default_factory=_nothing)
    attend_memory: Array = field(default_factory=_nothing)
    min_present: int = 0
    valuation: ValuationMethod | None = None

    def __post_init__(self) -> None:
        for name, slot in RULES.items():
            rule = getattr(self, name)
            if not (callable(rule) or (rule is None and name != "select")):
                message = f"{name} must be a function {name}{slot}, got {truncate(rule)}"
                raise TypeError(message)
        for name in ("table", "memory", "attend_table", "attend_memory"):
            _flat(name, getattr(self, name))
        validate.count("max_selected", self.max_selected)
        validate.count("max_candidates", self.max_candidates, 0)
        validate.count("min_present", self.min_present, 0)
        validate.choice("candidate_loss", self.candidate_loss, get_args(CandidateLoss))
        if self.valuation is not None:
            validate.choice("valuation", self.valuation, get_args(ValuationMethod))
            check_num_players(self.max_selected)


def _flat(name: str, value: Any) -> None:
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 1:
        got = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        message = f"{name} must be a flat array of float64, got {got}"
        raise TypeError(message)


class Strategy(Protocol):
    """Interface of strategies: a frozen dataclass of parameters with a method that returns rules.

    Those of this package also have ``scheme``, the pair (selection law, aggregation weights) for bounds,
    ``law(weights)``, the known law as a value (``selection.laws``) or None, and ``inclusion_probabilities(weights,
    losses)`` if these are known exactly.
    """

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Validate the parameters for the federation and return the rules."""


@final
@dataclass(frozen=True)
class _FromFunction:
    """A strategy that calls a function ``(rng, weights, losses) -> clients`` in each round; plain mean.

    If clients are absent, the function sees the weights and losses of the available clients only, which are then
    numbered from 0.
    """

    function: Callable[..., Any]

    def __repr__(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__name__", self.function))

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return rules in plain Python; all clients report their losses."""
        return Rules(propose=_propose_all, select=self.select, max_selected=weights.size, max_candidates=weights.size)

    def select(
        self, round_index: int, table: Array, memory: Array, weights: Array, candidates: Clients, losses: Array,
        rng: np.random.Generator, chosen: Clients,
    ) -> int:  # fmt: skip
        """Call the function with copies of its arguments."""
        clients = client_numbers(self.function(rng, weights[candidates], losses.copy()))
        if clients.size > chosen.size:
            message = f"at most {chosen.size} clients can be selected, got {clients.size}"
            raise ValueError(message)
        if (clients < 0).any() or (clients >= candidates.size).any():
            message = f"clients must be in 0..{candidates.size - 1}, got {clients.tolist()}"
            raise ValueError(message)
        chosen[: clients.size] = candidates[clients]
        return clients.size


def _propose_all(
    round_index: int, table: Array, memory: Array, weights: Array, rng: np.random.Generator, candidates: Clients
) -> int:
    candidates[:] = np.arange(candidates.size)
    return candidates.size


def client_numbers(answer: object) -> Clients:
    """Return what a selection function returned as client numbers, shape (m,); TypeError if it is no list of these."""
    try:
        clients = np.asarray(list(answer) if isinstance(answer, set | frozenset) else answer)
    except Exception as error:
        message = f"must return client numbers, got {truncate(answer)}"
        raise TypeError(message) from error
    if clients.ndim != 1 or (clients.size > 0 and clients.dtype.kind not in "iu"):
        kind = f"an array of {clients.dtype} of shape {clients.shape}" if clients.ndim else type(answer).__name__
        message = f"must return a one-dimensional list of client numbers, got {kind}"
        raise TypeError(message)
    return clients.astype(np.int64)


def checked_strategy(strategy: Any) -> Any:
    """Return a value with a method ``rules``, made from a function if necessary; TypeError for anything else."""
    if not isinstance(strategy, type):
        if callable(getattr(strategy, "rules", None)):
            return strategy
        if callable(strategy):
            return _FromFunction(strategy)
    known = f"the class {strategy.__name__}" if isinstance(strategy, type) else truncate(strategy)
    message = (
        "strategy must be a value with a method rules(weights, num_rounds), or a function (rng, weights, losses) -> "
        f"clients, got {known}"
    )
    raise TypeError(message)


def rules_of(strategy: Strategy | Callable[..., Any], weights: Array, num_rounds: int) -> Rules:
    """Return the rules of a strategy, or of a selection function, for objective weights of shape (K,)."""
    rules: object = checked_strategy(strategy).rules(np.array(weights), num_rounds)
    if not isinstance(rules, Rules):
        message = f"the rules of {strategy} must be fedtheory.selection.Rules, got {type(rules).__name__}"
        raise TypeError(message)
    return rules


def pack(*parts: Any) -> Array:
    """Concatenate numbers and arrays; the strategy's ``_read`` restores their names."""
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])
