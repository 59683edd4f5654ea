"""The first turns of GreedyFed."""

import numpy as np

from fedtheory.claims.greedyfed._games import GREEDYFED
from fedtheory.engine.play import after_round, play_round
from fedtheory.rational.draws import whole
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, equal_to

_ALGORITHM_1 = "Algorithm 1"


@claim(
    "greedyfed:turns",
    "after ceil(N/M) rounds every client was valued, and not before",
    Statement(GREEDYFED, _ALGORITHM_1, form="corrected"),
    "identity",
    hypotheses=("everybody is available",),
)
def turns(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 12)
    num_selected = whole(rng, 1, num_clients)
    weights = np.full(num_clients, 1 / num_clients)
    rules = GreedyShapley(num_selected).rules(weights, num_clients)
    memory, draw, seen, t = rules.memory.copy(), np.random.default_rng(whole(rng, 0, 999)), set[int](), 0
    nothing = np.empty(0)
    while len(seen) < num_clients:
        played = play_round(rules, memory, weights, t, draw, lambda _: nothing, lambda who: np.zeros((who.size, 1)))
        values = draw.standard_normal(played.chosen.size)
        after_round(rules, memory, weights, t, draw, played, values=values, server_model=nothing, model=nothing)
        seen |= set(played.chosen.tolist())
        t += 1
    return equal_to(t, -(-num_clients // num_selected), instance={"N": num_clients, "M": num_selected})


@claim(
    "greedyfed:printed-turns",
    "the printed groups {t, ..., t + M - 1}, t < ceil(N/M), reach every client",
    Statement(GREEDYFED, _ALGORITHM_1),
    "erratum",
    instances=(1, 1),
    remark="They overlap: four clients in pairs give {0, 1} and {1, 2}.",
)
def printed_turns(_: np.random.Generator) -> Finding:
    num_clients, num_selected = 4, 2
    reached = {t + i for t in range(-(-num_clients // num_selected)) for i in range(num_selected)}
    return equal_to(len(reached), num_clients, instance={"N": num_clients, "M": num_selected})
