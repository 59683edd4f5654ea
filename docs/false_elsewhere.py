"""What is false beyond the four papers: printed statements and widespread beliefs, with what is true instead."""

from collections.abc import Iterator
from typing import NamedTuple

from reference import anchor
from verdicts import verdicts

from fedtheory.claims.catalogue import known_claims
from fedtheory.theorem.claims import Claim
from fedtheory.verification.renderings import escaped

THEOREM = "false theorem"
LEMMA = "false lemma"
STEP = "false step"
STATEMENT = "false statement"
MISPRINT = "misprint"
CONJECTURE = "false conjecture"
BELIEF = "false belief"
KINDS = (THEOREM, LEMMA, STEP, STATEMENT, MISPRINT, CONJECTURE, BELIEF)


class Entry(NamedTuple):
    """What a statement is wrong as, what is true instead, the claim that verifies it, and what text was read."""

    kind: str
    true: str
    read: str
    verified_by: str = ""


ENTRIES = {
    "adam:theorem-4.1": Entry(
        THEOREM,
        "It needs that v_t^(1/2)/alpha_t does not decrease, which AMSGrad enforces",
        "the paper, and the paper of Reddi et al., whose Theorem 1 is the source of the losses",
    ),
    "ssdm:heterogeneous": Entry(
        THEOREM,
        "It holds if all clients have the same loss, as the sixth version on arXiv says; if the norms are sent too, "
        "the mean direction is right for different losses",
        "the abstract of the sixth version, and its footnote on the correction up to the middle of a sentence",
        "ssdm:norms-sent",
    ),
    "fedprox:corollary-9": Entry(
        THEOREM,
        "It holds with the maximum over all devices; then it is Theorem 4",
        "the paper with its appendix",
        "fedprox:loss-change",
    ),
    "adam:lemma-10.3": Entry(
        LEMMA,
        "The factor is the square root of a harmonic number, without G",
        "the paper",
        "adam:scaled-sum",
    ),
    "adam:lemma-10.4": Entry(
        LEMMA,
        "The right side needs a further factor of the order (log T)^(1/2)",
        "the paper, and the abstract of Akrout and Tweed (2021), arXiv 2111.08162, who refute a lemma of the proof",
        "adam:scaled-sum",
    ),
    "dist-ef-sgd:stored-error": Entry(
        LEMMA,
        "It is bounded in terms of the learning rates; with equal ones the constant is right",
        "the abstract of Phuong and Phong (2020), arXiv 2003.04706, who refute the bound, and a program of the method",
        "dist-ef-sgd:stored-error-in-steps",
    ),
    "stationary:lemma-1": Entry(
        LEMMA,
        "It holds in the limit of short steps",
        "the paper without its appendix, which has a more general version and the proof",
        "stationary:short-steps",
    ),
    "fedprox:proof-of-corollary-7": Entry(
        STEP,
        "It holds if B < (K/2)^(1/2); with the bound derived here, there is progress for every B",
        "the paper with its appendix",
        "fedprox:corollary-7-derived",
    ),
    "amsgrad:telescoping-sum": Entry(
        STEP,
        "The step holds if the momentum does not decrease; Phuong and Phong (2019) give a proof for a decreasing one",
        "the paper without its appendix, and the first page of Phuong and Phong, who found the step",
        "amsgrad:constant-momentum",
    ),
    "heavy-ball:faster-than-nesterov": Entry(
        STATEMENT,
        "It holds on quadratics, and near the minimizer of a loss that is C^2",
        "the introduction, and the paper of Lessard, Recht and Packard (2016) without its formulas",
        "heavy-ball:quadratics",
    ),
    "fedprox:corollary-7": Entry(
        STATEMENT,
        "The bound derived here yields at least three times this progress, for every B and K",
        "the paper with its appendix",
        "fedprox:corollary-7-derived",
    ),
    "local-gd:any-step-size": Entry(
        STATEMENT,
        "It holds for gamma at most 1/(4 max{L, sigma (3 L/eps)^(1/2)})",
        "the paper without its proofs",
        "local-gd:short-step-sizes",
    ),
    "scaffold:client-sampling": Entry(
        STATEMENT,
        "It holds in the limit, in which the control variates are the gradients at the minimizer",
        "the abstract: the method “is not affected by data heterogeneity or client sampling”",
        "scaffold:client-sampling-in-the-limit",
    ),
    "admm-review:solvable-updates": Entry(
        STATEMENT,
        "It has one if A'A is invertible, or if f has bounded sublevel sets",
        "a summary of the section, a formalization that notes the error, and the abstract of Chen, Sun and Toh (2015), "
        "arXiv 1507.02051, who found it",
    ),
    "feddyn:server-state": Entry(
        MISPRINT,
        "The difference is taken for each client",
        "the formula, as issues of the authors' repository and of two others quote it",
        "feddyn:server-state-corrected",
    ),
    "reshuffling:matrix-means": Entry(
        CONJECTURE,
        "It holds for two matrices",
        "the first page of De Sa (2020), and the abstract of Lai and Lim (2020), who refute the conjecture too",
    ),
    "admm:three-blocks": Entry(
        BELIEF,
        "It converges with two blocks, and under further conditions with three, of which one is strongly convex",
        "the abstract, and that of a paper on strong convexity; the matrix is that of a program to a textbook",
        "admm:two-blocks",
    ),
    "fedexprox:better-than-gradient-descent": Entry(
        BELIEF,
        "It is never better; the method can be",
        "the abstract of arXiv 2410.15368, and a summary that quotes the constant",
        "fedexprox:guarantee",
    ),
    "sign-descent:one-sample": Entry(
        BELIEF, "It does if the sign is right with probability above 1/2, or with error feedback", "the abstract"
    ),
    "error-feedback:cgd-of-three-clients": Entry(
        BELIEF,
        "A single client converges, and several do with error feedback",
        "the abstract of Beznosikov et al. (2020), arXiv 2002.12410",
        "error-feedback:cgd-gap-worst-case",
    ),
    "clipping:short-steps": Entry(BELIEF, "It holds for exact gradients of the mean loss", "the abstract"),
    "fedsplit:fedprox-limit": Entry(
        BELIEF,
        "It holds if all clients have the same minimizer; in general the limit minimizes the mean Moreau envelope",
        "the abstract",
    ),
    "stationary:averaging-guess": Entry(
        BELIEF,
        "It holds for one local step, and for equal Hessians",
        "no text; Li et al. (2020) state that the steps must decrease",
        "stationary:unbiased",
    ),
    "stationary:fednova-guess": Entry(
        BELIEF,
        "It holds in the limit of short steps",
        "the abstract: the method “eliminates objective inconsistency”",
        "stationary:normalized",
    ),
}


def lines(claim: Claim, entry: Entry) -> Iterator[str]:
    """Yield the lines about a false statement."""
    paper = claim.statement.topic
    number = "" if entry.kind in (BELIEF, CONJECTURE) else f", {claim.statement.number}"
    link = f'<a href="claims.html#{anchor(claim.key)}">{escaped(f"{paper.authors} ({paper.year}){number}")}</a>'
    verified = f" See `{entry.verified_by}`." if entry.verified_by else ""
    yield link
    yield f": {escaped(claim.title)}."
    yield f"  - Why not: {_sentence(claim.remark)}"
    yield f"  - Counterexample: {escaped(_instance(claim))}."
    yield f"  - What is true: {_sentence(entry.true)}{verified}"
    yield f"  - What was read: {_sentence(entry.read)}\n"


def _sentence(text: str) -> str:
    return f"{escaped(text[:1].upper() + text[1:])}."


def _instance(claim: Claim) -> str:
    return ", ".join(f"{name} = {value}" for name, value in verdicts()[claim.key]["instance"].items())


def table() -> str:
    """Return a folded list for each kind of error, the most serious first."""
    known = known_claims()
    parts = []
    for kind in KINDS:
        mine = {key: entry for key, entry in ENTRIES.items() if entry.kind == kind}
        text = "\n".join(line for key, entry in mine.items() for line in lines(known[key], entry))
        parts.append(f":::{{proof}} {kind.capitalize()} ({len(mine)})\n{text}\n:::\n")
    return "\n".join(parts)
