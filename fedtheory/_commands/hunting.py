"""``hunt``: the instance that strains a claim most; ``replay``: one instance again."""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory._commands.background import in_background
from fedtheory._commands.documents import document, print_json
from fedtheory._commands.origins import own_claims
from fedtheory._commands.refusals import mention_processors, refuse
from fedtheory._commands.showing import write_pairs
from fedtheory._support.console import live_progress, warn
from fedtheory.verification.catalogue import known_tapes, one_claim
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import FAILS, HOLDS, Finding
from fedtheory.verification.hunts import Hunt, hunting
from fedtheory.verification.plain_rows import numeric, of_finding
from fedtheory.verification.renderings import finding_pairs
from fedtheory.verification.tapes import replay
from fedtheory.verification.trials import reproduce

__all__ = ["hunt_claim", "replay_instance"]


def hunt_claim(arguments: argparse.Namespace) -> int:
    """Show the worst instance that a hunt finds; 1 if it breaks a claim that should hold, 130 if interrupted."""
    claim = _claim(arguments)
    for option, value in (
        ("seconds", arguments.seconds),
        ("evaluations", arguments.evaluations),
        ("jobs", arguments.jobs),
    ):
        if value is not None and not value > 0:
            refuse(f"--{option} must be above 0, got {value}")
    if arguments.seed < 0:
        refuse(f"--seed must be at least 0, got {arguments.seed}")
    mention_processors("--jobs", min(arguments.jobs, arguments.evaluations or arguments.jobs))
    found: list[Hunt] = []
    interrupted = False
    try:
        with live_progress() as wrap:
            for _ in wrap(in_background(_kept(claim, arguments, found)), claim.key, arguments.evaluations):
                pass
    except KeyboardInterrupt:
        interrupted = True
    except Exception as error:  # a check may raise anything, and that is news
        return _complain(error)
    if interrupted:
        warn(f"interrupted after {found[-1].num_instances if found else 0} instances")
    if found:
        _tell(claim, found[-1], arguments, interrupted=interrupted)
    return 130 if interrupted else _code(claim, found[-1].worst)


def _kept(claim: Claim, arguments: argparse.Namespace, found: list[Hunt]) -> Iterator[Hunt]:
    options = {"evaluations": arguments.evaluations, "rng": arguments.seed, "jobs": arguments.jobs}
    for state in hunting(claim, arguments.seconds, **options):
        # Only the last is needed; it is kept here, where it is made.
        found[:] = [state]
        yield state


def _complain(error: Exception) -> int:
    notes = getattr(error, "__notes__", [])
    warn(", ".join([f"{type(error).__name__}: {error}", *notes]))
    return 1


def _claim(arguments: argparse.Namespace) -> Claim:
    try:
        return one_claim(arguments.key, own_claims(arguments))
    except ValueError as error:
        refuse(str(error))


def _code(claim: Claim, finding: Finding) -> int:
    return int(finding.holds is False and claim.expected == HOLDS)


def _tell(claim: Claim, hunt: Hunt, arguments: argparse.Namespace, *, interrupted: bool) -> None:
    told = {"instances": hunt.num_instances, "reproduce": hunt.command}
    if arguments.json:
        content = {"seed": arguments.seed, "evaluations": arguments.evaluations, "interrupted": interrupted}
        found = {"claim": claim.key, "tape": list(hunt.tape), "expected": claim.expected}
        print_json(document(**content, **found, **told, **numeric(_row(hunt.worst))))
        return
    best = {}
    if claim.key in known_tapes():
        best = {"best known": f"{replay(claim, known_tapes()[claim.key]).ratio:.6g}"}
    write_pairs([*_pairs(claim, hunt.worst), *((name, str(text)) for name, text in (best | told).items())])


def _row(finding: Finding) -> dict[str, Any]:
    return {"verdict": FAILS if finding.holds is False else "", **of_finding(finding)}


def _pairs(claim: Claim, finding: Finding) -> list[tuple[str, str]]:
    shows = {True: "holds", False: "breaks the claim", None: f"decides nothing: {finding.reason}"}[finding.holds]
    head = [("claim", claim.key), ("title", claim.title), ("source", str(claim.statement)), ("instance", shows)]
    return [*head, *(finding_pairs(_row(finding)) if finding.applicable else [])]


def replay_instance(arguments: argparse.Namespace) -> int:
    """Show one instance again; 1 if it breaks a claim that should hold."""
    claim = _claim(arguments)
    key = min(arguments.spawn_key, default=0)
    for option, least in (("seed", arguments.seed), ("instance", arguments.instance), ("spawn-key", key)):
        if least is not None and least < 0:
            refuse(f"--{option} must be at least 0, got {least}")
    try:
        finding = _replayed(claim, arguments)
    except Exception as error:  # a check may raise anything, and that is what is to be seen again
        return _complain(error)
    if arguments.json:
        print_json(document(claim=claim.key, expected=claim.expected, **numeric(_row(finding))))
    else:
        write_pairs(_pairs(claim, finding))
    return _code(claim, finding)


def _replayed(claim: Claim, arguments: argparse.Namespace) -> Finding:
    if arguments.tape is not None:
        return replay(claim, arguments.tape)
    if arguments.instance is not None:
        return reproduce(
            claim, np.random.SeedSequence(arguments.seed, spawn_key=arguments.spawn_key), arguments.instance
        )
    if claim.is_single:
        return reproduce(claim, arguments.seed, 0)
    tapes = known_tapes()
    if claim.key not in tapes:
        refuse(f"{claim.key} has no stored instance: --tape or --instance is needed")
    return replay(claim, tapes[claim.key])
