"""Tables of the errata in the four papers, folded by kind and sorted by severity."""

from functools import cache
from itertools import groupby

from false_elsewhere import ENTRIES, MISPRINT, STATEMENT, THEOREM
from reference import anchor
from statements import PAPERS
from verdicts import verdicts

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim
from fedtheory.verification.records import Row
from fedtheory.verification.renderings import escaped

STEP = "false step, the result holds"
HYPOTHESIS = "needs a hypothesis"
NEW = "not ranked yet"
KINDS = (THEOREM, STATEMENT, STEP, HYPOTHESIS, MISPRINT, NEW)
WRONG_AS = {
    THEOREM: {
        "power-of-choice": (
            "equation-85-single-client equation-85-unbalanced equation-85-as-printed "
            "equation-81-single-client equation-81-as-printed"
        ),
        "fedalign": "theorem-1-as-printed theorem-1-printed-one-step theorem-a9-printed-one-step",
    },
    STATEMENT: {
        "power-of-choice": (
            "equation-85-bias rho-bar-as-printed rho-bar-grows-with-candidates candidates-equal-selected "
            "candidates-equal-selected-as-printed candidates-equal-selected-bias "
            "small-steps-bias-unbiased"
        ),
        "fedalign": "opposite-ways li-et-al theta-one",
        "greedyfed": "printed-counter printed-turns vanishing-values base-case",
        "optimal-client-sampling": "lemma-1-left",
        "proxskip": "noise-at-the-minimizer",
    },
    STEP: {
        "power-of-choice": "step-54-55 step-80-printed equation-80-single-client equation-16-pathwise",
        "fedalign": "equation-34-printed equation-16",
        "fedavg": "transformed-gradients",
    },
    HYPOTHESIS: {
        "power-of-choice": (
            "equation-20-marginal equation-30-mini-batch-seen equation-41-common-noise "
            "equation-66-any-gamma equation-74-unbalanced theorem-a.1-pathwise equation-65-falling-steps "
            "equation-81-falling-steps lemma-b2-falling-steps"
        ),
        "fedalign": "equation-49-printed",
    },
    MISPRINT: {
        "power-of-choice": "equation-38-printed",
        "fedalign": (
            "comparison assumption-1-printed assumption-2-printed equation-36-printed lemma-a4-unweighted "
            "equation-35 equation-44-printed equation-43-printed equations-46-51-printed"
        ),
    },
}
HEAD = """\
| Where | Times | What is printed, and why it is not so | Counterexample |
| --- | --: | --- | --- |
"""
_LONGEST = 90


def kind_of(claim: Claim) -> str:
    """Return as what a printed statement is wrong."""
    paper, _, name = claim.key.partition(":")
    return next((kind for kind, papers in WRONG_AS.items() if name in papers.get(paper, "").split()), NEW)


@cache
def errata() -> list[tuple[Claim, Row]]:
    """Return the errata with the rows of their verdicts, sorted by severity, then by how far they are from true."""
    mine = [one for one in known_claims().values() if one.kind == "erratum" and one.key not in ENTRIES]
    found = [(one, verdicts()[one.key]) for one in mine]
    return sorted(found, key=lambda each: (KINDS.index(kind_of(each[0])), -_times(each[1])))


def _times(found: Row) -> float:
    """By how many times the truth is what is printed; of an equality either side may be the larger one."""
    ratio = float(found["worst_ratio"])
    return 1 / ratio if found["relation"] == "==" and 0 < ratio < 1 else ratio


def _instance(found: Row) -> str:
    text = ", ".join(f"{name} = {value}" for name, value in found["instance"].items())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(',', 1)[0]}, ..."


def row(claim: Claim, found: Row, repaired: dict[Bound, str]) -> str:
    """Return the line of an erratum."""
    title = PAPERS.get(claim.statement.topic.key, claim.statement.topic.authors).split(" (", maxsplit=1)[0]
    where = ", ".join(filter(None, (claim.statement.number, claim.statement.equation)))
    times = _times(found)
    more = f" *{escaped(claim.remark[:1].upper() + claim.remark[1:].rstrip('.'))}.*" if claim.remark else ""
    better = f" Repaired: `{repaired[claim.bound]}`." if claim.bound in repaired else ""
    cells = (
        f'{title}, <a href="claims.html#{anchor(claim.key)}">{escaped(where)}</a>',
        f"{times:.3g}" if times > 1 else "",
        f"{escaped(claim.title)}.{more}{better}",
        escaped(_instance(found)),
    )
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """Return a folded table for each kind of error."""
    repaired = {bound.printed: name for name, bound in known_bounds().items() if bound.printed is not bound}
    parts = []
    for kind, group in groupby(errata(), key=lambda each: kind_of(each[0])):
        rows = [row(*each, repaired) for each in group]
        parts.append(folded(f"{kind} ({len(rows)})", HEAD + "\n".join(rows)))
    return "\n".join(parts)


def folded(title: str, text: str) -> str:
    """Return text that is folded until the reader opens it."""
    return f":::{{proof}} {title[:1].upper()}{title[1:]}\n{text}\n:::\n"
