"""``verify``: verdicts on claims."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedtheory._commands.background import in_background
from fedtheory._commands.documents import document, print_json
from fedtheory._commands.origins import own_claims
from fedtheory._commands.refusals import mention_processors, refuse, writable
from fedtheory._storage.files import deliver, json_bytes
from fedtheory._support.console import live_progress, say, show_table, warn
from fedtheory.verification._evidence import after_hunts
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.claims import Claim
from fedtheory.verification.conclusions import Verdict
from fedtheory.verification.plain_rows import numeric, rows
from fedtheory.verification.renderings import console_rows, notes, summary
from fedtheory.verification.verdicts import examined, verdicts_of

__all__ = ["verify_claims"]

_STANDARD_OUTPUT = Path("-")


def verify_claims(arguments: argparse.Namespace) -> int:
    """Show verdicts; 1 if one is not the expected one, 130 if interrupted, with the verdicts reached until then."""
    target = arguments.json
    writable(None if target == _STANDARD_OUTPUT else target, "--json", force=arguments.force)
    writable(arguments.report, "--report", force=arguments.force)
    for option, value, least in (
        ("--seed", arguments.seed, 0),
        ("--instances", arguments.instances, 1),
        ("--jobs", arguments.jobs, 1),
    ):
        if value is not None and value < least:
            refuse(f"{option} must be at least {least}, got {value}")
    if not 0 <= arguments.hunt < float("inf"):
        refuse(f"--hunt must be finite and at least 0, got {arguments.hunt}")
    try:
        own = own_claims(arguments)
        selected = select_claims(arguments.keys or None, arguments.paper, arguments.kind, own)
    except ValueError as error:
        refuse(str(error))
    mention_processors("--jobs", min(arguments.jobs, len(selected)))
    verdicts, interrupted = _collect(selected, arguments)
    if interrupted:
        warn(f"interrupted after {len(verdicts)} of {len(selected)} claims")
    _report(verdicts, arguments, target, interrupted=interrupted)
    return 130 if interrupted else 0 if all(verdict.as_expected for verdict in verdicts) else 1


def _collect(selected: Sequence[Claim], arguments: argparse.Namespace) -> tuple[list[Verdict], bool]:
    """Return the verdicts, and whether Ctrl-C came before the last of them."""
    reached: dict[str, Verdict] = {}
    hunts = arguments.source is not None and arguments.hunt > 0
    total = None if isinstance(arguments.budget, float) or hunts else len(selected)
    try:
        with live_progress() as wrap:
            for _ in wrap(in_background(_reached(selected, arguments, reached)), "claims", total):
                pass
    except KeyboardInterrupt:
        return list(reached.values()), True
    return list(reached.values()), False


def _reached(
    selected: Sequence[Claim], arguments: argparse.Namespace, reached: dict[str, Verdict]
) -> Iterator[Verdict]:
    count, seed, jobs = arguments.instances, arguments.seed, arguments.jobs
    if count is None:
        verdicts = verdicts_of(selected, arguments.budget, seed, jobs)
    else:
        verdicts = examined([(claim, count) for claim in selected], seed, jobs)
    for verdict in verdicts:
        # Kept here, where it is made: Ctrl-C may come while it is handed over.
        reached[verdict.key] = verdict
        yield verdict
    if arguments.source is not None and arguments.hunt > 0:
        for verdict in after_hunts(list(reached.values()), arguments.hunt, jobs):
            reached[verdict.key] = verdict
            yield verdict


def _report(
    verdicts: Sequence[Verdict], arguments: argparse.Namespace, target: Path | None, *, interrupted: bool
) -> None:
    found = rows(verdicts)
    content = document(
        seed=arguments.seed,
        budget=arguments.budget,
        instances=arguments.instances,
        interrupted=interrupted,
        expected_false_alarms=sum(verdict.risk for verdict in verdicts),
        verdicts=[numeric(row) for row in found],
    )
    if arguments.report is not None:
        _write_page(verdicts, content, arguments.report)
    if target == _STANDARD_OUTPUT:
        print_json(content)
        return
    if found:
        show_table(console_rows(found), caption=summary(found))
    say(*notes(found))
    if target is not None:
        deliver(target, json_bytes(content))


def _write_page(verdicts: Sequence[Verdict], content: Mapping[str, Any], target: Path) -> None:
    from fedtheory.verification.report import html_report

    # The summary below tells the false alarms.
    header = {
        name: value
        for name, value in content.items()
        if name not in ("machine", "verdicts", "expected_false_alarms") and value is not None and value is not False
    }
    told = {name.replace("_", " "): value for name, value in {**header, **content["machine"]}.items()}
    page = html_report(verdicts, told)
    deliver(target, page.encode("utf-8"))
