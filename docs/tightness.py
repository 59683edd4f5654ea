"""Of every inequality that random instances hardly strain how far a hunt gets, and what keeps it from the bound."""

from collections.abc import Iterator

from verdicts import verdicts

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim
from fedtheory.verification.instances import regression_examples, replay

HEAD = "| Claim | Quick | Hunted | Inherent | Why |\n| --- | --: | --: | --: | --- |\n"
STRAINED, NEARLY, ATTAINED = 0.5, 0.95, 0.99


def inequalities() -> list[Claim]:
    """Inequalities that hold and have more instances than one."""
    return [claim for claim in known_claims().values() if claim.looseness is not None and not claim.is_single]


def row(claim: Claim, at_random: float) -> str:
    """Return one line of the table."""
    example = regression_examples().get(claim.key)
    if example is None:
        return f"| `{claim.key}` | {at_random:.2g} | | | not hunted yet |"
    reached = replay(claim, example).ratio
    inherent = "" if reached >= ATTAINED else f"{1 - reached:.0%}"
    why = "attained" if reached >= ATTAINED else "nearly attained" if reached >= NEARLY else claim.remark
    return f"| `{claim.key}` | {at_random:.2g} | {reached:.3g} | {inherent} | {_escaped(why)} |"


def _escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    for claim in inequalities():
        at_random = float(verdicts()[claim.key]["worst_ratio"])
        if at_random < STRAINED:
            yield row(claim, at_random)


def table() -> str:
    """Return the table of the page."""
    return HEAD + "\n".join(rows()) + "\n"
