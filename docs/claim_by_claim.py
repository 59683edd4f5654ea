"""Of every claim what it claims, under which hypotheses and with which verdict."""

from collections.abc import Iterator

from statements import PAPERS

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim
from fedtheory.verification.renderings import escaped

REST = "Beyond the papers"


def table() -> str:
    """Return the lists of the page, one for each paper."""
    found: dict[str, list[Claim]] = {title: [] for title in [*PAPERS.values(), REST]}
    for claim in known_claims().values():
        found[PAPERS.get(claim.statement.topic.key, REST)].append(claim)
    return "\n".join(line for title, claims in found.items() if claims for line in section(title, claims))


def section(title: str, claims: list[Claim]) -> Iterator[str]:
    """Yield the lines about the claims of a paper."""
    yield f"## {title.split(' (', maxsplit=1)[0]}\n"
    for claim in claims:
        quick, thorough = claim.instances
        yield f"`{claim.key}` — {claim.kind}, {claim.expected}"
        yield f": {escaped(claim.title)}"
        yield f"  - Source: {escaped(str(claim.statement))}"
        if claim.hypotheses:
            yield f"  - Under: {escaped('; '.join(claim.hypotheses))}"
        if claim.remark:
            yield f"  - Remark: {escaped(claim.remark)}"
        looseness = "" if claim.looseness is None else f"; refuted if tightened by {claim.looseness:g}"
        yield f"  - Instances: {f'{quick}, {thorough}' if quick < thorough else quick}{looseness}\n"
