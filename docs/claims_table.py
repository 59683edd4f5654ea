"""One table of all claims and of the numbered statements without a claim; the script ``claims.js`` filters it."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from reference import anchor
from statements import PAPERS, claims_about, numbered, ratio
from verdicts import verdicts

from fedtheory._support.discover import members
from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.bound import is_bound
from fedtheory.theorem.claims import Claim
from fedtheory.verification.instances import regression_examples, replay
from fedtheory.verification.renderings import detects, escaped, text_of

HEAD = "| Claim | Paper | Kind | Verdict | Ratio | Detects |\n| --- | --- | --- | --- | --: | --: |\n"
STRAINED, NEARLY, ATTAINED = 0.5, 0.95, 0.99


def table() -> str:
    """Return the table of the page inside an element that the filter finds by its name."""
    homes = {bound: name for name, bound in members(import_module("fedtheory.bounds"), is_bound)}
    ranked = sorted(known_claims().values(), key=lambda claim: (_rank(_paper(claim)), claim.key))
    rows = [*(row(claim, homes) for claim in ranked), *unclaimed()]
    return ":::{container} claims\n" + HEAD + "\n".join(rows) + "\n:::\n"


def _paper(claim: Claim) -> str:
    return claim.key.partition(":")[0]


def _rank(paper: str) -> tuple[int, str]:
    return (list(PAPERS).index(paper) if paper in PAPERS else len(PAPERS), paper)


def row(claim: Claim, homes: Mapping[Any, str]) -> str:
    """Return the line of a claim: what it says, and in a part that opens on a click what belongs to it."""
    found = verdicts()[claim.key]
    reason = f": {escaped(found['reason'])}" if found["reason"] else ""
    more = "<br>".join(details(claim, homes, float(found["worst_ratio"] or 0)))
    title = f'<span id="{anchor(claim.key)}"></span>`{claim.key}`<br>{escaped(claim.title)}'
    cells = (
        f'{title}<span class="more"><br>{more}</span>',
        _paper(claim),
        claim.kind,
        f"{text_of(found)}{'' if found['as_expected'] else ', **unexpected**'}{reason}",
        ratio(claim),
        detects(found),
    )
    return f"| {' | '.join(cells)} |"


def details(claim: Claim, homes: Mapping[Any, str], at_random: float) -> Iterator[str]:
    """Yield source, bound, hypotheses, remark and instances of a claim."""
    yield f"Source: {escaped(str(claim.statement))}"
    if claim.bound in homes:
        yield f"Bound: {{py:func}}`{claim.bound.__name__} <{homes[claim.bound]}>`"
    if claim.hypotheses:
        yield f"Under: {escaped('; '.join(claim.hypotheses))}"
    if claim.remark:
        yield f"Remark: {escaped(claim.remark)}"
    quick, thorough = claim.instances
    refuted = "" if claim.looseness is None else f"; refuted if tightened by {claim.looseness:g}"
    yield f"Instances: {f'{quick}, thorough {thorough}' if quick < thorough else quick}{refuted}"
    if claim.looseness is not None and not claim.is_single and at_random < STRAINED:
        yield f"Tightness: random instances reach {at_random:.2g} of the bound{hunted(claim)}"


def hunted(claim: Claim) -> str:
    """Return how much of the bound the best instance of a hunt needs, and the share that no instance may need."""
    example = regression_examples().get(claim.key)
    if example is None:
        return "; not hunted yet"
    reached = replay(claim, example).ratio
    if reached >= ATTAINED:
        return ", hunts attain it"
    share = f", hunts {reached:.3g}; {1 - reached:.0%} may be inherent"
    return share if reached >= NEARLY or not claim.remark else f"{share}, see the remark"


def unclaimed() -> Iterator[str]:
    """Yield the lines of the numbered statements of the papers that no claim is about."""
    for paper in PAPERS:
        for at in numbered(paper):
            if (paper, at.number) not in claims_about():
                yield f"| {at.number}<br>{escaped(at.words)}: {escaped(at.reason)} | {paper} | no claim | | | |"
