"""Closed-form multipliers that prove bounds without bounded gradients for any rational constants.

The numerical multipliers of a semidefinite program hold for given constants only. The closed forms here were found from
such numbers or from a proof. The certificate checker verifies them against the program like any other multipliers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from fedtheory.bounds import fedavg as li
from fedtheory.bounds import power_of_choice as poc
from fedtheory.worst_case._arguments import Constants, constants
from fedtheory.worst_case._certificates import Multipliers, verify_upper
from fedtheory.worst_case.federated_averaging import Sampling, averaged_rounds
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.skewed_selection import skewed_round, skews

__all__: list[str] = []

_MINIMUM, _HOME, _START = range(3)
# One constant is 1 and the other 0, so that the value of the bound is its coefficient.
_EACH: Mapping[str, Mapping[str, Fraction]] = {
    "distance2": {"distance2": Fraction(1), "objective_gap": Fraction(0)},
    "objective_gap": {"distance2": Fraction(0), "objective_gap": Fraction(1)},
}
Pairs = Mapping[tuple[int, int], Fraction]
"""Multiplier of ``f_i >= f_j + ...`` by the indices (i, j) of points: the minimizer, w*, and the points of the path."""


def prove_one_round(
    local_steps: int, step_size: Any, *, mu: Any, L: Any, distance2: Any, objective_gap: Any
) -> Fraction:
    """Prove ``fedavg.one_round`` by the multipliers ``2 eta c^(2 tau - 1 - 2 s)``; return the proved value.

    Examples
    --------
    >>> proved = prove_one_round(2, Fraction(1, 4), mu=1, L=3, distance2=256, objective_gap=7)
    >>> proved == 81 + Fraction(567, 1024)
    True
    """
    given = _given(local_steps, step_size, mu, L, distance2, objective_gap)
    p = averaged_rounds(given)
    by = {name: [li.one_round(**one, local_steps=local_steps, **_units(given))] for name, one in _EACH.items()}
    return _proved(p, by, _along_the_path(given, by["objective_gap"][0]))


def prove_sampled_step(
    num_clients: int, num_selected: int, step_size: Any, *, mu: Any, L: Any, distance2: Any, objective_gap: Any
) -> Fraction:
    """Prove ``fedavg.sampled_step`` by the multiplier ``2 eta c``; return the proved value.

    Examples
    --------
    >>> prove_sampled_step(5, 2, Fraction(1, 4), mu=1, L=3, distance2=16, objective_gap=7)
    Fraction(81, 8)
    """
    given = _given(1, step_size, mu, L, distance2, objective_gap)
    p = averaged_rounds(given, Sampling("distinct", num_clients, num_selected))
    counts = {"num_clients": num_clients, "num_selected": num_selected}
    by = {name: [li.sampled_step(**one, **counts, **_units(given))] for name, one in _EACH.items()}
    return _proved(p, by, _along_the_path(given, by["objective_gap"][0]))


def prove_gap_after_step(step_size: Any, *, mu: Any, L: Any, distance2: Any, objective_gap: Any) -> Fraction:
    """Prove ``fedavg.gap_after_step`` by the multipliers 1, c and c; return the proved value.

    Examples
    --------
    >>> prove_gap_after_step(Fraction(1, 2), mu=1, L=2, distance2=28, objective_gap=3)
    Fraction(4, 1)
    """
    given = _given(1, step_size, mu, L, distance2, objective_gap)
    p = averaged_rounds(given, objective="gap")
    by = {"distance2": [li.gap_after_step(Fraction(1), **_units(given))], "objective_gap": [Fraction(0)]}
    c, end = 1 - given.steps[0] * given.mu, _START + 1
    return Fraction(L) * _proved(p, by, {(_HOME, end): Fraction(1), (_START, end): c, (end, _START): c})


def prove_skewed_round(
    step_sizes: Sequence[Any], *, mu: Any, L: Any, distance2: Any, objective_gap: Any, rho_diagonal: Any, rho_tilde: Any
) -> Fraction:
    """Prove Lemma W, ``power_of_choice.round_coefficients``, step by step; return the proved value.

    Lemma F transfers the multipliers of the losses along the path to the loss at the round's start.

    Examples
    --------
    >>> prove_skewed_round([Fraction(1, 4)], mu=Fraction(1, 10), L=1, distance2=1, objective_gap=Fraction(1, 2),
    ...                    rho_diagonal=Fraction(6, 5), rho_tilde=2)
    Fraction(491, 400)
    """
    given = _given(len(step_sizes), step_sizes, mu, L, distance2, objective_gap)
    ratios = skews(given, rho_diagonal, rho_tilde)
    p = skewed_round(given, ratios)
    known: dict[str, Any] = {
        "mu": given.mu,
        "L": Fraction(1),
        "rho_diagonal": ratios.rho,
        "rho_tilde": ratios.rho_tilde,
    }
    charged, pairs = _down_the_path(given)
    at_home = sum((pairs[_HOME, s] for s in range(_START, _START + len(given.steps))), start=Fraction(0))
    by = {
        "distance2": [poc.round_coefficients(given.steps, num_selected=1, **known).distance2],
        "objective_gap": [at_home, charged],
    }
    return _proved(p, by, pairs)


def _down_the_path(given: Constants) -> tuple[Fraction, Pairs]:
    """Return the multiplier of the loss at the round's start and those of pairs of points, last step first."""
    charged, later, pairs = Fraction(0), Fraction(1), dict[tuple[int, int], Fraction]()
    for s, eta in reversed(list(enumerate(given.steps, start=_START))):
        # Lemma F: (1 - eta) times the step's descent, eta times the next loss, and |g|^2 <= 2 F at its start.
        pairs |= {(s + 1, s): (1 - eta) * charged, (s + 1, _MINIMUM): eta * charged + pairs.get((s + 1, _MINIMUM), 0)}
        pairs |= {(_HOME, s): 2 * eta * later, (s, _MINIMUM): 2 * eta**2 * later + eta * (1 - eta) * charged}
        charged = 2 * eta * (1 - eta) * later + (1 - eta) ** 2 * charged
        later *= 1 - eta * given.mu
    return charged, pairs


def _given(local_steps: int, step_size: Any, mu: Any, L: Any, distance2: Any, objective_gap: Any) -> Constants:
    """Return the constants in units in which L is 1."""
    high = Fraction(L)
    sizes = [size * high for size in step_size] if isinstance(step_size, Sequence) else step_size * high
    gap = Fraction(objective_gap) / high
    return constants(local_steps, sizes, mu=mu / high, L=Fraction(1), distance2=distance2, objective_gap=gap)


def _units(given: Constants) -> dict[str, Fraction]:
    return {"step_size": given.steps[0], "mu": given.mu, "L": Fraction(1)}


def _along_the_path(given: Constants, by_gap: Fraction) -> Pairs:
    """Return the multipliers that cancel products of means and bound the gradients at w* by the objective gap."""
    eta, tau = given.steps[0], len(given.steps)
    pairs = {(_HOME, _MINIMUM): by_gap}
    for s in range(tau):
        weight = 2 * eta * (1 - eta * given.mu) ** (2 * tau - 1 - 2 * s)
        pairs |= {(_HOME, _START + s): weight, (_START + s, _HOME): weight}
    return pairs


def _proved(p: Problem, by_name: Mapping[str, Sequence[Fraction]], by_pair: Pairs) -> Fraction:
    """Check multipliers of the class constraints, in order, and of pairs of points; return the proved value."""
    [clients], program = p.record.declared, p.program()
    gap, pairs = by_name["objective_gap"], [*permutations(range(len(clients.calls)), 2)]
    if not clients.calls[0].at.coordinates:  # w* is the clients' minimizer, so that both are one point
        gap, by_pair = gap[1:], _united(by_pair)
    # If the objective gap is 0, its constraint is an unnamed "at most 0".
    named = {"distance2": iter(by_name["distance2"]), "objective_gap": iter(gap), "": iter(gap)}
    own = [next(named[one.name]) for one in program.inequalities[: -len(pairs)]]
    found = (*own, *(by_pair.get((i, j), Fraction(0)) for i, j in pairs))
    return verify_upper(program, Multipliers(found))


def _united(by_pair: Pairs) -> Pairs:
    """Merge the minimizer into w* and renumber the points."""
    found = defaultdict[tuple[int, int], Fraction](Fraction)
    for (one, other), multiplier in by_pair.items():
        found[max(one - 1, 0), max(other - 1, 0)] += multiplier
    return found
