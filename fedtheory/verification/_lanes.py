"""Several climbs side by side, which take turns: what strains a claim by its ratio, and what may hide behind it.

The ratio of a one-step bound tends to 1 as the step vanishes, so that a climb on it ends there and sees no wrong
constant. Other lanes climb on what is beyond a part that both sides share, as far as it can be guessed, or hold some
numbers fixed; they begin at corners, where numbers lie at the ends of their ranges.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.theorem.paper import overheard
from fedtheory.verification._climbs import Step, climb, height
from fedtheory.verification._moves import cornered
from fedtheory.verification.claims import Claim, is_own
from fedtheory.verification.findings import Finding

__all__ = ["beyond", "lanes"]

_FIRST, _GUESSING = 2**31, 15
# Turns of a round: half of the instances belong to the climb on the ratio.
_TURNS = (0, 1, 0, 2, 0, 3)


def lanes(claim: Claim, seeds: np.random.SeedSequence, start: Sequence[float] = ()) -> Iterator[Step]:
    """Yield the worst instance so far after each one tried, by climbs that take turns until the last one ends.

    The library's own claims have been hunted at length, and their corners are large: they get the climb on the ratio
    only.
    """
    if not is_own(claim):
        yield from climb(claim, seeds, start)
        return
    children = [np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, _FIRST + k)) for k in range(3)]
    climbs: list[Iterator[Step] | None] = [
        climb(claim, seeds, start),
        _beyond_shared(claim, children[0], 0),
        _holding_some(claim, children[1]),
        _beyond_shared(claim, children[2], 1),
    ]
    counts, best, turn = [0] * len(climbs), None, 0
    while any(climbs):
        number, turn = _TURNS[turn % len(_TURNS)], turn + 1
        lane = climbs[number]
        step = next(lane, None) if lane is not None else None
        if step is None:
            climbs[number] = None
            continue
        counts[number] = step.num_instances
        if best is None or step.worst.holds is False or height(step.worst) > height(best.worst):
            best = step
        best = best._replace(num_instances=sum(counts))
        yield best
        if best.worst.holds is False or not best.reads:
            return


def beyond(finding: Finding, shared: Any) -> float:
    """How near a finding is to breaking an inequality, measured against what is beyond a shared part; 1 at equality.

    >>> from fedtheory.verification.findings import at_most
    >>> beyond(at_most(99, 98), 100), beyond(at_most(98, 99), 100), beyond(at_most(1, 2), 0)
    (1.5, 0.5, 0.5)
    """
    if finding.relation == "==" or not finding.is_finite:
        return height(finding)
    try:
        left, right, base = (_exact(side) for side in (finding.measured, finding.predicted, shared))
        small, large = (right, left) if finding.relation == ">=" else (left, right)
        size = max(abs(small - base), abs(large - base))
        # What rounding hides is no gain: a violation must be larger than the slack.
        return float(1 + (small - large - _exact(finding.slack)) / size) if size else -1.0
    except (OverflowError, ValueError):
        return height(finding)


def _exact(side: Any) -> Fraction:
    return Fraction(side) if isinstance(side, int | Fraction) else Fraction(float(side))


def _beyond_shared(claim: Claim, seeds: np.random.SeedSequence, rank: int) -> Iterator[Step]:
    """Climb on what is beyond a number that both sides seem to share: the likeliest one, or the next."""
    heard: dict[str, Any] = {}

    def check(rng: np.random.Generator) -> Finding:
        heard.clear()
        if claim.bound is None:
            return claim.check(rng)
        with overheard(claim.bound) as arguments:
            finding = claim.check(rng)
        heard.update(arguments)
        return finding

    seen: list[tuple[Finding, dict[str, Any]]] = []
    names: list[str] = []

    def aim(finding: Finding) -> float:
        if finding.baseline is not None or not finding.is_finite:
            return height(finding) if finding.baseline is None else beyond(finding, finding.baseline)
        known = _numbers(heard, finding)
        if len(seen) < _GUESSING:
            seen.append((finding, known))
            names[:] = _shared(seen)
        name = names[rank] if rank < len(names) else ""
        return beyond(finding, known.get(name, 0))

    yield from climb(replace(claim, check=check), seeds, afresh=cornered, aim=aim)


def _numbers(heard: Mapping[str, Any], finding: Finding) -> dict[str, int | float | Fraction]:
    """Numbers that an instance is made of: what its bound was given, and what it shows."""
    shown: dict[str, Any] = {f"shown {name}": value for name, value in finding.instance.items()}
    return {
        name: value
        for name, value in (shown | {**heard}).items()
        if isinstance(value, int | float | Fraction) and not isinstance(value, bool) and -math.inf < value < math.inf
    }


def _shared(seen: Sequence[tuple[Finding, Mapping[str, Any]]]) -> list[str]:
    """Names of numbers that both sides seem to share, the likeliest first: without them the sides are smaller."""
    names = set.intersection(*(set(known) for _, known in seen))
    left = {name: _left_over(seen, name) for name in names}
    return sorted((name for name in names if left[name] < 1), key=lambda name: (left[name], name))


def _left_over(seen: Sequence[tuple[Finding, Mapping[str, Any]]], name: str) -> float:
    """Return the median share of both sides that is left without a number."""
    parts = []
    for finding, known in seen:
        sides = [float(side) for side in (finding.measured, finding.predicted)]
        size = max(map(abs, sides))
        parts.append(max(abs(side - float(known[name])) for side in sides) / size if size else 1.0)
    return float(np.median(parts))


def _holding_some(claim: Claim, seeds: np.random.SeedSequence) -> Iterator[Step]:
    """Climb with some of the numbers held: whichever the ratio hides behind, it may be among them."""
    held: dict[int, float] = {}
    rng = np.random.default_rng(seeds.spawn(1)[0])

    def hold(numbers: Sequence[float], draws: np.random.Generator) -> list[float]:
        if not held:
            first = cornered(draws)
            held.update({place: number for place, number in enumerate(first) if rng.random() < 0.5})
        longest = max(held, default=-1) + 1
        filled = [*numbers, *(float(draws.random()) for _ in range(longest - len(numbers)))]
        return [held.get(place, number) for place, number in enumerate(filled)]

    yield from climb(claim, seeds, afresh=cornered, aim=lambda finding: beyond(finding, 0), hold=hold)
