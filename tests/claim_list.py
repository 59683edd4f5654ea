"""Say of every claim what it claims, under which hypotheses and with which verdict.

``python -m tests.claim_list`` writes the page ``docs/theory/claim_by_claim.md``.
"""

from collections.abc import Iterator

from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.claims import Claim
from fedtheory.verification.renderings import _escaped
from tests.environment import ROOT
from tests.statements import PAPERS

PAGE = ROOT / "docs" / "theory" / "claim_by_claim.md"
HEAD = """# Claim by claim

Every claim of the package, as `python -m fedtheory verify` examines it; written by `python -m tests.claim_list`, and
compared with the claims by a test. The verdict is the one that the claim must reach: an erratum, which is false as
printed, must *fail*, and so must a refuted conjecture, which nobody printed. Instances are those of the quick and of
the thorough budget, beside the worst that is known. An inequality that is tightened by the last number is refuted by
one of them.
"""
REST = "Beyond the papers"


def page() -> str:
    """Return the text of the page."""
    found: dict[str, list[Claim]] = {title: [] for title in [*PAPERS.values(), REST]}
    for claim in known_claims().values():
        found[PAPERS.get(claim.statement.paper.key, REST)].append(claim)
    return "\n".join([HEAD, *(line for title, claims in found.items() if claims for line in section(title, claims))])


def section(title: str, claims: list[Claim]) -> Iterator[str]:
    """Yield the lines about the claims of a paper."""
    yield f"## {title.split(' (', maxsplit=1)[0]}\n"
    for claim in claims:
        quick, thorough = claim.instances
        yield f"`{claim.key}` — {claim.kind}, {claim.expected}"
        yield f": {_escaped(claim.title)}"
        yield f"  - Source: {_escaped(str(claim.statement))}"
        if claim.hypotheses:
            yield f"  - Under: {_escaped('; '.join(claim.hypotheses))}"
        if claim.remark:
            yield f"  - Remark: {_escaped(claim.remark)}"
        looseness = "" if claim.looseness is None else f"; refuted if tightened by {claim.looseness:g}"
        yield f"  - Instances: {f'{quick}, {thorough}' if quick < thorough else quick}{looseness}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
