"""What a client selection strategy is made of: parameters, and up to five compiled rules with one fixed signature each.

Every rule sees ``table`` (the strategy's constants, shared by all replicates) and ``memory`` (its state, one copy per
replicate), both flat float arrays that the strategy lays out as it likes, and ``weights``, the objective weights (K,).

========== ===================================================================================== ===================
rule       arguments                                                                             returns
========== ===================================================================================== ===================
propose    (round_index, table, memory, weights, rng, candidates)                                number of candidates
select     (round_index, table, memory, weights, candidates, losses, rng, chosen)                number chosen
weigh      (round_index, table, memory, weights, chosen, updates, rng, coefficients)             extra floats uplinked
observe    (round_index, table, memory, weights, chosen, coefficients, mean_losses)              nothing
attend     (round_index, table, memory, rng, present)                                            number present
========== ===================================================================================== ===================

``propose`` writes the clients whose losses the server asks for into ``candidates``; ``select`` gets them with their
``losses`` and writes the clients that train into ``chosen`` (copies act as different clients); ``weigh`` runs after the
local work and writes the aggregation coefficient of each update (0 = not sent; without the rule each gets 1/m);
``observe`` may keep what the round taught in ``memory``.

``attend`` begins the round: it has a table, a memory and a random stream of its own and writes into ``present`` (K,)
who is there. When somebody is not, ``weights`` are those of the present divided by their sum, and -1 for the absent: a
rule that looks never proposes or chooses these, and the loop takes them out of what the other rules return.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fedtheory._validate import Array

__all__ = ["Rules", "Strategy"]

Rule = Callable[..., Any]


def _nothing() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Rules:
    """A strategy made ready for one federation and one number of rounds.

    Attributes
    ----------
    select
        The rule that chooses; the other rules are optional.
    max_selected, max_candidates
        The most clients a round can choose, and propose.
    candidate_loss
        ``exact`` for F_k at the server's model, ``minibatch`` for an estimate from one mini-batch.
    table, memory
        Flat float64 arrays: the constants, and the state before round 0.
    attend, attend_table, attend_memory
        The rule that says who is there (see ``Available``), with its own constants and state.
    min_present
        A round with fewer clients present ends the run with a ValueError.
    """

    select: Rule
    max_selected: int
    propose: Rule | None = None
    weigh: Rule | None = None
    observe: Rule | None = None
    max_candidates: int = 0
    candidate_loss: str = "exact"
    table: Array = field(default_factory=_nothing)
    memory: Array = field(default_factory=_nothing)
    attend: Rule | None = None
    attend_table: Array = field(default_factory=_nothing)
    attend_memory: Array = field(default_factory=_nothing)
    min_present: int = 0


class Strategy(Protocol):
    """A client selection strategy: a frozen dataclass of parameters that makes its rules on demand.

    Those of this package also have ``scheme``, the pair (selection law, aggregation weights) that a bound may assume;
    ``law(weights)``, what is known of their law as a value (``selection.laws``), or None; and
    ``inclusion_probabilities(weights, losses)`` where these are known exactly.
    """

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Check the parameters against the federation and return the rules."""
