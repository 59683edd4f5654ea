"""Say of every inequality that random instances hardly strain how far a hunt gets, and what keeps it from the bound.

``python -m tests.tightness_table`` writes the page ``docs/theory/tightness.md``.
"""

from collections.abc import Iterator

from fedtheory.verification.catalogue import known_claims, known_tapes
from fedtheory.verification.claims import Claim
from fedtheory.verification.examination import examine
from fedtheory.verification.instances import replay
from tests.environment import ROOT

PAGE = ROOT / "docs" / "theory" / "tightness.md"
STRAINED, NEARLY, ATTAINED = 0.5, 0.95, 0.99
HEAD = """# How tight are the inequalities?

An inequality whose instances stay far below its bound is hardly tested: a wrong constant would go unnoticed. Written by
`python -m tests.tightness_table`, this page lists every inequality that the instances of the quick budget strain to
less than half. *Quick* is the largest ratio of measured to predicted among those, *hunted* what
[hunts](index.md#hunts) have reached; the instance is stored, and every verdict replays it. *Inherent* is what hunts
left, the largest share of the bound that no instance may need, with the reason. A bound that is attained gives nothing
away.

Hunts see the instances that claims draw, small ones. What **every** federation of a class leaves, with proofs, stands
among the [loosenesses](looseness.md), for the bounds whose worst case is known.

| Claim | Quick | Hunted | Inherent | Why |
| --- | --: | --: | --: | --- |
"""


def inequalities() -> list[Claim]:
    """Inequalities that hold and have more instances than one."""
    return [claim for claim in known_claims().values() if claim.looseness is not None and not claim.is_single]


def quick(claim: Claim) -> float:
    """Largest ratio among the instances of the quick budget."""
    return examine(claim).worst_ratio


def hunted(claim: Claim) -> float:
    """Ratio of the worst known instance."""
    return replay(claim, known_tapes()[claim.key]).ratio


def row(claim: Claim, at_random: float) -> str:
    """Return one line of the table."""
    reached = hunted(claim)
    inherent = "" if reached >= ATTAINED else f"{1 - reached:.0%}"
    why = "attained" if reached >= ATTAINED else "nearly attained" if reached >= NEARLY else claim.remark
    return f"| `{claim.key}` | {at_random:.2g} | {reached:.3g} | {inherent} | {_escaped(why)} |"


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    for claim in inequalities():
        at_random = quick(claim)
        if at_random < STRAINED:
            yield row(claim, at_random)


def page() -> str:
    """Return the text of the page."""
    return HEAD + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
