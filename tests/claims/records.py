"""What the instances of every claim were when they were last looked at: their numbers, and both sides.

``python -m tests.claims.records [KEY ...]`` writes ``records.json``. Seeds and stored tapes stand for instances only as
long as claims draw what they drew: a line that changes asks whether that was meant, and for a new worst tape. Recorded
is every comparison that a check makes: of those that are not the worst of their instance a verdict says nothing. Short
exact numbers are told by a checksum; long ones, which may come from a solver, and floats by sums, with room for another
machine.
"""

import json
import math
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np

from fedtheory.verification.catalogue import known_claims, known_tapes
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding
from fedtheory.verification.trials import Trials, tried

FILE = Path(__file__).with_suffix(".json")
SHORT, LONGEST_WORDS = 2**40, 200
SEED = np.random.SeedSequence(1)
SOLVED = ("-worst-case", ":uniform-is-minimax")  # ends of the keys of claims whose rationals a solver has found
# Frequencies of softmax runs, which the last digits decide: what is far from the worst differs between processors.
SIMULATED = frozenset({"power-of-choice:cpow-d"})


def trials_of(claim: Claim) -> tuple[Trials, list[Finding]]:
    """Try the instances of the quick budget, and the stored one; return all comparisons, too."""
    tape = None if claim.is_single else known_tapes().get(claim.key)
    with _comparisons() as made:
        trials = tried(claim, SEED, range(claim.num_instances("quick")), tape)
    return trials, list(trials.findings.values()) if claim.key in SIMULATED else made


@contextmanager
def _comparisons() -> Iterator[list[Finding]]:
    """Collect all findings that are made in this thread, also those that a check keeps to itself.

    A hunt that somebody has interrupted may still be trying its last instance in a thread of its own.
    """
    made: list[Finding] = []
    checked, here = Finding.__post_init__, get_ident()

    def noted(finding: Finding) -> None:
        checked(finding)
        if get_ident() == here:
            made.append(finding)

    Finding.__post_init__ = noted  # type: ignore[assignment, method-assign]
    try:
        yield made
    finally:
        Finding.__post_init__ = checked  # type: ignore[method-assign]


def record(findings: Iterable[Finding], *, solved: bool = False) -> list[Any]:
    """Return the checksum of short exact numbers, the sum of logarithms of long ones, and the sums of floats by side.

    What a solver found, rounded and certified, is exact, but not the same everywhere, nor of as many digits.
    """
    told, logarithms, sums = [], 0.0, [0.0, 0.0]
    for finding in findings:
        exact = finding.side == "exact"
        reason, _, _ = finding.reason.partition(", got ")
        told.append(f"{finding.relation} {finding.applicable} {exact} {reason}")
        told += [f"{name} {_told(value, exact)}" for name, value in finding.instance.items()]
        for place, side in enumerate((finding.measured, finding.predicted)):
            if exact and _is_short(side) and not solved:
                told.append(_told(side, exact))
            elif exact:
                logarithms += _logarithm(side)
            elif finding.applicable and math.isfinite(side):
                sums[place] += float(side)
    numbers = (logarithms, *sums)
    return [f"{zlib.crc32(' '.join(told).encode()):08x}", *(float(f"{value:.9g}") for value in numbers)]


def _is_short(side: Any) -> bool:
    return max(abs(side.numerator), side.denominator) < SHORT


def _logarithm(side: Any) -> float:
    return math.log(abs(side.numerator)) - math.log(side.denominator) if side else 0.0


def _told(value: Any, exact: bool) -> str:
    # Numbers of any kind that are equal have one hash on all machines, which is short where they have many digits.
    if isinstance(value, int | Fraction):
        return str(hash(value))
    return value if exact and isinstance(value, str) and len(value) < LONGEST_WORDS else ""


def recorded() -> dict[str, list[Any]]:
    """Return the records by key."""
    known: dict[str, list[Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def main(keys: list[str]) -> None:
    """Write the records of some claims, or of all."""
    claims = known_claims()
    found = {}
    for key in keys or claims:
        _, made = trials_of(claims[key])
        found[key] = record(made, solved=key.endswith(SOLVED))
    all_of_them = (recorded() if keys else {}) | found
    lines = (f"{json.dumps(key)}: {json.dumps(all_of_them[key])}" for key in sorted(all_of_them) if key in claims)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
