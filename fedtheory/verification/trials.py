"""Trials: the check of a claim on numbered instances, each drawn from the seed, the key of the claim and its number."""

import time
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from shlex import quote
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory.verification.catalogue import known_tapes
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, not_applicable
from fedtheory.verification.tapes import replay

__all__ = ["STORED", "Trials", "reproduce"]

STORED = -1
"""Number of the worst known instance, which is stored with the package."""


@final
@dataclass(frozen=True)
class Trials:
    """What instances of one claim showed, by number.

    Attributes
    ----------
    findings
        In the order in which they were tried; the last one is a placeholder if its check raised an exception.
    fault
        What the check raised, in one line, or empty; no instance was tried after that.
    seconds
        Time spent.
    """

    findings: dict[int, Finding]
    fault: str
    seconds: float

    def then(self, later: "Trials") -> "Trials":
        """Return these trials and later ones together."""
        return Trials(self.findings | later.findings, later.fault, self.seconds + later.seconds)


def reproduce(claim: Claim, rng: Any, index: int) -> Finding:
    """Check one numbered instance of a claim again, -1 for the stored one; what the check raises is raised again.

    Parameters
    ----------
    claim
        Whose check to make.
    rng
        Seed or SeedSequence of the verdict.
    index
        Number of the instance, -1 for the stored one.

    Returns
    -------
    Finding
        What the instance shows.

    Raises
    ------
    ValueError
        If the index is below -1, or -1 for a claim without a stored instance.
    Exception
        Whatever the check raises.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> reproduce(one_claim("power-of-choice:lemma-b1"), rng=0, index=3).holds
    True
    """
    if validate.count("index", index, STORED) == STORED:
        return _found(replay(claim, _stored(claim)))
    seeds = validate.seed_sequence(rng)
    own = (*seeds.spawn_key, zlib.crc32(claim.key.encode()), validate.horizon("index", index))
    return _found(claim.check(np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=own))))


def replay_command(
    key: str, *, home: str = "", tape: Iterable[float] | None = None, number: int = STORED, seed: Any = None
) -> str:
    """Return the line for a shell that checks an instance again: that of a tape, or a numbered one of a seed.

    Parameters
    ----------
    key
        Of the claim.
    home
        Where claims of the user's own come from.
    tape
        Of the instance, if it is on one.
    number
        Of the instance, if it is one of a seed.
    seed
        A SeedSequence.

    Returns
    -------
    str
        Words quoted where a shell needs it.

    Examples
    --------
    >>> replay_command("a:b", tape=[0.0, 0.5])
    'python -m fedtheory replay a:b --tape 0.0,0.5'
    >>> replay_command("a:b", number=7, seed=np.random.SeedSequence(3, spawn_key=(1, 2)))
    'python -m fedtheory replay a:b --seed 3 --spawn-key 1,2 --instance 7'
    >>> replay_command("a:b", home="my claims.py")
    "python -m fedtheory replay a:b --from 'my claims.py'"
    """
    words = [f"python -m fedtheory replay {key}", *([f"--from {quote(home)}"] if home else [])]
    if tape is not None:
        words.append(f"--tape {','.join(map(repr, tape)) or 'none'}")
    elif number != STORED:
        spawned = f" --spawn-key {','.join(map(str, seed.spawn_key))}" if seed.spawn_key else ""
        words.append(f"--seed {seed.entropy}{spawned} --instance {number}")
    return " ".join(words)


def _stored(claim: Claim) -> tuple[float, ...]:
    tapes = known_tapes()
    if claim.key not in tapes:
        message = f"claim must be one whose worst instance is stored, got {claim.key!r}"
        raise ValueError(message)
    return tapes[claim.key]


def _found(finding: Any) -> Finding:
    if not isinstance(finding, Finding):
        message = f"a check must return a Finding, got {finding!r}"
        raise TypeError(message)
    return finding


def tried(
    claim: Claim, seeds: np.random.SeedSequence, numbers: Iterable[int], tape: Sequence[float] | None = None
) -> Trials:
    """Check numbered instances, then that of a tape if given, up to the first one whose check raises an exception.

    Parameters
    ----------
    claim
        Whose check to make.
    seeds
        Of the verdict.
    numbers
        Of the instances to draw.
    tape
        Of one more instance.

    Returns
    -------
    Trials
        Findings by number, what was raised (or nothing), and the seconds.

    Examples
    --------
    >>> from fedtheory.verification.catalogue import one_claim
    >>> found = tried(one_claim("power-of-choice:lemma-b1"), np.random.SeedSequence(0), range(3))
    >>> sorted(found.findings), found.fault
    ([0, 1, 2], '')
    """
    started = time.perf_counter()
    findings: dict[int, Finding] = {}
    draws = {number: partial(reproduce, claim, seeds, number) for number in numbers}
    if tape is not None:
        draws[STORED] = partial(replay, claim, tape)
    for number, draw in draws.items():
        try:
            findings[number] = _found(draw())
        except Exception as error:  # whatever a check raises is news about this claim only
            fault = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
            findings[number] = not_applicable(fault)
            return Trials(findings, fault, time.perf_counter() - started)
    return Trials(findings, "", time.perf_counter() - started)
