"""``hunt``: search for the instance closest to breaking a claim, or a counterexample."""

import argparse

from fedtheory._support.console import warn
from fedtheory.claims.catalogue import one_claim
from fedtheory.cli.documents import collected, write_pairs
from fedtheory.cli.refusals import refuse, refuse_below
from fedtheory.theorem.claims import Claim, is_own
from fedtheory.theorem.findings import FAILS, HOLDS, Finding
from fedtheory.verification.hunts import Hunt, hunting
from fedtheory.verification.instances import EXAMPLE, regression_examples, reproduce
from fedtheory.verification.records import hunt_command, of_finding
from fedtheory.verification.renderings import finding_pairs

__all__ = ["complain", "finding_code", "hunt_claim", "instance_pairs"]


def hunt_claim(arguments: argparse.Namespace) -> int:
    """Print the worst instance of a hunt; 1 if it breaks a claim that should hold, 130 if interrupted."""
    try:
        claim = one_claim(arguments.key, arguments.source)
    except ValueError as error:
        refuse(str(error))
    if not 0 < arguments.seconds < float("inf"):
        refuse(f"--seconds must be finite and above 0, got {arguments.seconds}")
    refuse_below(arguments, seed=0, evaluations=1)
    try:
        states = hunting(claim, arguments.seconds, arguments.seed, evaluations=arguments.evaluations)
        last, ended_early = collected(states, claim.key, arguments.evaluations, most=1)
    except Exception as error:  # a check may raise anything
        return complain(error)
    if ended_early:
        warn(f"interrupted after {last[0].num_instances if last else 0} instances")
    if last:
        _show(claim, last[0], arguments)
    return 130 if ended_early else finding_code(claim, last[0].worst)


def complain(error: Exception) -> int:
    """Write the exception of a check as one line."""
    warn(", ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]))
    return 1


def finding_code(claim: Claim, finding: Finding) -> int:
    """Return the exit code: 1 for a counterexample to a claim that should hold."""
    return int(finding.holds is False and claim.expected == HOLDS)


def _show(claim: Claim, hunt: Hunt, arguments: argparse.Namespace) -> None:
    again = hunt_command(claim, arguments.seed, arguments.evaluations or hunt.num_instances)
    searched = [("instances", str(hunt.num_instances)), ("reproduce", again)]
    if claim.key in regression_examples() and not is_own(claim):
        searched.insert(0, ("best known", f"{reproduce(claim, 0, EXAMPLE).ratio:.6g}"))
    write_pairs([*instance_pairs(claim, hunt.worst), *searched])


def instance_pairs(claim: Claim, finding: Finding) -> list[tuple[str, str]]:
    """Return pairs (name, text) that describe one instance of a claim."""
    shows = {True: "holds", False: "breaks the claim", None: f"decides nothing: {finding.reason}"}[finding.holds]
    head = [("claim", claim.key), ("title", claim.title), ("source", str(claim.statement)), ("instance", shows)]
    return [*head, *finding_pairs({"verdict": FAILS if finding.holds is False else "", **of_finding(finding)})]
