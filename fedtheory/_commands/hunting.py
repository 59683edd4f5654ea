"""``hunt``: the instance that strains a claim most; ``replay``: one instance again."""

import argparse
from collections import deque
from typing import Any

import numpy as np

from fedtheory._commands.background import interrupted
from fedtheory._commands.documents import document, print_json, write_pairs
from fedtheory._commands.refusals import mention_processors, refuse
from fedtheory._support.console import warn
from fedtheory.verification.catalogue import one_claim
from fedtheory.verification.claims import Claim, known_tapes, replay, reproduce
from fedtheory.verification.findings import FAILS, HOLDS, Finding
from fedtheory.verification.hunts import Hunt, hunting
from fedtheory.verification.renderings import finding_pairs, numeric, of_finding

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
    options = {"evaluations": arguments.evaluations, "rng": arguments.seed, "jobs": arguments.jobs}
    last: deque[Hunt] = deque(maxlen=1)
    try:
        states = hunting(claim, arguments.seconds, **options)
        ended_early = interrupted(states, last.append, claim.key, arguments.evaluations)
    except Exception as error:  # a check may raise anything, and that is news
        return _complain(error)
    if ended_early:
        warn(f"interrupted after {last[0].num_instances if last else 0} instances")
    if last:
        _show(claim, last[0], arguments, ended_early=ended_early)
    return 130 if ended_early else _code(claim, last[0].worst)


def _complain(error: Exception) -> int:
    notes = getattr(error, "__notes__", [])
    warn(", ".join([f"{type(error).__name__}: {error}", *notes]))
    return 1


def _claim(arguments: argparse.Namespace) -> Claim:
    try:
        return one_claim(arguments.key, arguments.source)
    except ValueError as error:
        refuse(str(error))


def _code(claim: Claim, finding: Finding) -> int:
    return int(finding.holds is False and claim.expected == HOLDS)


def _show(claim: Claim, hunt: Hunt, arguments: argparse.Namespace, *, ended_early: bool) -> None:
    again = {"instances": hunt.num_instances, "reproduce": hunt.command}
    if arguments.json:
        content = {"seed": arguments.seed, "evaluations": arguments.evaluations, "interrupted": ended_early}
        found = {"claim": claim.key, "tape": list(hunt.tape), "expected": claim.expected}
        print_json(document(**content, **found, **again, **numeric(_row(hunt.worst))))
        return
    best = {}
    if claim.key in known_tapes():
        best = {"best known": f"{replay(claim, known_tapes()[claim.key]).ratio:.6g}"}
    write_pairs([*_pairs(claim, hunt.worst), *((name, str(text)) for name, text in (best | again).items())])


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
