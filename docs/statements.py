"""The numbered statements of the papers: the claims that check each, or why none does, and the worst known ratios.

The numbers stand in ``docs/theory/numbered``, one line each; which claims are about a number is read off their sources.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import REFUTED, Claim
from fedtheory.theorem.findings import Finding
from fedtheory.theorem.paper import Statement
from fedtheory.verification.instances import regression_examples, replay
from fedtheory.verification.verdicts import examine

PAPERS = {
    "power-of-choice": "Power-of-Choice",
    "optimal-client-sampling": "Optimal Client Sampling",
    "fedalign": "FedALIGN",
    "fedavg": "Federated averaging (Li et al., the cited statements)",
    "scaffold": "SCAFFOLD (its algorithm; the theorems of its main part are in O-notation)",
    "proxskip": "ProxSkip and Scaffnew (the theorem on the rate)",
    "fedprox": "FedProx (the theorem on a round and its corollaries)",
    "greedyfed": "GreedyFed (its equations have no numbers; claims of its sections are on its page)",
}
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?"
_NAMED = re.compile(
    r"(Theorem|Lemma|Corollary|Remark|Definition|Assumption|Algorithm|Footnote)s? "
    rf"({_NUMBER}(?:(?:, | and | to |-){_NUMBER})*)",
    re.IGNORECASE,
)
_EQUATION = re.compile(r"\((\d+)\)(?:(?:-| to )\((\d+)\))?")


class Numbered(NamedTuple):
    """A numbered statement of a paper: what it says, and why it needs no claim, if it needs none."""

    number: str
    words: str
    reason: str = ""


@cache
def numbered(paper: str) -> tuple[Numbered, ...]:
    """All numbered statements of a paper."""
    lines = (Path(__file__).parent / "theory" / "numbered" / f"{paper}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(Numbered(*line.split(" :: ")) for line in lines)


def numbers_in(text: str) -> set[str]:
    """Return the numbers that a source names."""
    equations = {f"({n})" for first, last in _EQUATION.findall(text) for n in range(int(first), int(last or first) + 1)}
    return equations | {f"{kind.capitalize()} {n}" for kind, listed in _NAMED.findall(text) for n in _listed(listed)}


def _listed(text: str) -> Iterator[str]:
    for part in re.split(", | and ", text):
        first, _, last = part.replace(" to ", "-").partition("-")
        head, _, low = first.rpartition(".")
        high = (last or first).rpartition(".")[-1]
        yield from (f"{head}.{n}" if head else str(n) for n in range(int(low), int(high) + 1))


def cited(statement: Statement) -> set[str]:
    """Return the numbers of its paper, or of the related one, that a statement cites."""
    number = f"{statement.number}, {statement.equation}" if statement.related is None else statement.related[1]
    return numbers_in(number)


@cache
def claims_about() -> dict[tuple[str, str], list[Claim]]:
    """All claims by paper and number."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for claim in known_claims().values():
        for number in cited(claim.statement):
            found.setdefault((claim.statement.topic.key, number), []).append(claim)
    return found


@cache
def strained(key: str) -> Finding | None:
    """Return what the worst known instance of an inequality shows, or the counterexample of a claim that must fail."""
    claim, examples = known_claims()[key], regression_examples()
    if key in examples:
        return replay(claim, examples[key])
    return examine(claim).worst if claim.kind in REFUTED else None


def ratio(claim: Claim) -> str:
    """Worst known ratio, to three digits."""
    if claim.kind == "identity":
        return "1"
    finding = strained(claim.key)
    if finding is None or math.isnan(finding.ratio):
        return ""
    # The last digit of a number computed in floats must not drift.
    return f"{finding.ratio:.3g}"
