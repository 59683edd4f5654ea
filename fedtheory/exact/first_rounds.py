"""Many first rounds of a strategy at given losses: who is selected, and with which coefficients."""

# mypy: allow-untyped-defs, allow-untyped-calls

from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import float64, int64

from fedtheory._support import validate
from fedtheory._support.jit import compiled, compiled_for, is_compiled
from fedtheory._support.validate import Array
from fedtheory.engine.contract import function_type
from fedtheory.engine.defaults import DEFAULTS
from fedtheory.engine.loop import is_impossible
from fedtheory.engine.play import play_round
from fedtheory.engine.replicates import compiled_rule
from fedtheory.selection.rules import Rules

__all__ = ["first_rounds"]


def first_rounds(
    rules: Rules, weights: Array, losses: Array, dim: int, num_draws: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the chosen clients and their coefficients in each draw, shape (num_draws, m), padded with zeros.

    Every draw is a first round with fresh memory, in which all updates, of ``dim`` coordinates, are 0. The weights and
    losses of the clients have the shape (K,). A ValueError is raised if a rule names a client that does not exist or
    writes a coefficient that is not finite.
    """
    validate.instance("rules", rules, Rules, "the Rules of a strategy")
    validate.instance("rng", rng, np.random.Generator, "a numpy.random.Generator")
    weights = validate.array("weights", weights, ndim=1)
    losses = validate.array("losses", losses, shape=weights.shape)
    dim, num_draws = validate.size("dim", dim), validate.size("num_draws", num_draws)
    most, number = rules.max_selected, weights.size
    chosen, coefficients = np.zeros((num_draws, most), dtype=np.int64), np.zeros((num_draws, most))
    own = [rule for rule in (rules.propose, rules.select, rules.weigh) if rule is not None]
    is_fast = is_compiled(_draw) and all(map(is_compiled, own))
    still = np.zeros((number, dim))
    # The first draw in plain Python names the rule that makes a mistake.
    for i in range(1 if is_fast else num_draws):
        played = play_round(rules, rules.memory.copy(), weights, 0, rng, losses.__getitem__, still.__getitem__)
        chosen[i, : played.chosen.size], coefficients[i, : played.chosen.size] = played.chosen, played.coefficients
    if is_fast:
        given = {name: getattr(rules, name) or DEFAULTS[name] for name in ("propose", "select", "weigh")}
        finished = _loop()(
            *(compiled_rule(name, rule) for name, rule in given.items()), np.array(rules.table), np.array(rules.memory),
            rules.memory.copy(), np.array(weights), np.array(losses), np.zeros((most, dim)), rng,
            np.empty(rules.max_candidates, dtype=np.int64), np.empty(rules.max_candidates),
            np.empty(most, dtype=np.int64), np.empty(most), chosen[1:], coefficients[1:],
        )  # fmt: skip
        if finished < num_draws - 1:
            message = (
                f"the rules of a strategy must name clients in 0..{number - 1} and write finite coefficients in every "
                f"draw, got others in draw {finished + 1}"
            )
            raise ValueError(message)
    return chosen, coefficients


@compiled
def _draw(
    propose, select, weigh, table, first_memory, memory, weights, known_losses, still, rng, candidates, losses, cohort,
    shares, chosen, coefficients,
):  # fmt: skip
    """Write the draws, a row for each; return how many there were before a rule returned something impossible."""
    for i in range(chosen.shape[0]):
        for j in range(memory.size):
            memory[j] = first_memory[j]
        candidates[:] = -1
        cohort[:] = -1
        asked = propose(0, table, memory, weights, rng, candidates)
        if is_impossible(candidates, asked, weights.size):
            return i
        for j in range(asked):
            losses[j] = known_losses[candidates[j]]
        size = select(0, table, memory, weights, candidates[:asked], losses[:asked], rng, cohort)
        if is_impossible(cohort, size, weights.size):
            return i
        for j in range(size):
            shares[j] = np.nan
        extra = weigh(0, table, memory, weights, cohort[:size], still[:size], rng, shares[:size])
        wrong = not 0.0 <= extra < np.inf
        for j in range(size):
            wrong |= not np.isfinite(shares[j])
            chosen[i, j], coefficients[i, j] = cohort[j], shares[j]
        if wrong:
            return i
    return chosen.shape[0]


@cache
def _loop() -> Any:
    """Compile the draws once for all rules, which are arguments of fixed types."""
    floats, whole, rng = float64[::1], int64[::1], numba.typeof(np.random.default_rng(0))
    rules = (function_type(name) for name in ("propose", "select", "weigh"))
    signature = int64(
        *rules, floats, floats, floats, floats, floats, float64[:, ::1], rng, whole, floats, whole, floats,
        int64[:, ::1], float64[:, ::1],
    )  # fmt: skip
    return compiled_for(signature, _draw)
