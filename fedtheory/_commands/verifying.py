"""``verify``: verdicts on claims."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from fedtheory._commands.background import interrupted
from fedtheory._commands.documents import document, print_json
from fedtheory._commands.refusals import mention_processors, refuse, refuse_unless_new
from fedtheory._storage.files import deliver, json_bytes
from fedtheory._support.console import say, show_table, warn
from fedtheory.verification.catalogue import select_claims
from fedtheory.verification.renderings import console_rows, html_report, notes, numeric, rows, summary
from fedtheory.verification.verdicts import Verdict, verdicts_of

__all__ = ["verify_claims"]

_STANDARD_OUTPUT = Path("-")


def verify_claims(arguments: argparse.Namespace) -> int:
    """Show verdicts; 1 if one is not the expected one, 130 if interrupted, with the verdicts reached until then."""
    _refuse_wrong_values(arguments)
    try:
        selected = select_claims(arguments.keys or None, arguments.paper, arguments.kind, arguments.source)
    except ValueError as error:
        refuse(str(error))
    hunt_seconds = 0.0 if arguments.source is None else arguments.hunt
    verdicts = verdicts_of(
        selected,
        arguments.budget,
        arguments.seed,
        arguments.jobs,
        num_instances=arguments.instances,
        hunt_seconds=hunt_seconds,
    )
    mention_processors("--jobs", min(arguments.jobs, len(selected)))
    total = None if isinstance(arguments.budget, float) or hunt_seconds > 0 else len(selected)
    reached: dict[str, Verdict] = {}
    ended_early = interrupted(verdicts, lambda verdict: reached.update({verdict.key: verdict}), "claims", total)
    if ended_early:
        warn(f"interrupted after {len(reached)} of {len(selected)} claims")
    _show(list(reached.values()), arguments, ended_early=ended_early)
    return 130 if ended_early else 0 if all(verdict.as_expected for verdict in reached.values()) else 1


def _refuse_wrong_values(arguments: argparse.Namespace) -> None:
    refuse_unless_new(None if arguments.json == _STANDARD_OUTPUT else arguments.json, "--json", force=arguments.force)
    refuse_unless_new(arguments.report, "--report", force=arguments.force)
    for option, least in (("seed", 0), ("instances", 1), ("jobs", 1)):
        value = getattr(arguments, option)
        if value is not None and value < least:
            refuse(f"--{option} must be at least {least}, got {value}")
    if not 0 <= arguments.hunt < float("inf"):
        refuse(f"--hunt must be finite and at least 0, got {arguments.hunt}")


def _show(verdicts: Sequence[Verdict], arguments: argparse.Namespace, *, ended_early: bool) -> None:
    found = rows(verdicts)
    content = document(
        seed=arguments.seed,
        budget=arguments.budget,
        instances=arguments.instances,
        interrupted=ended_early,
        expected_false_alarms=sum(row["risk"] for row in found),
        verdicts=[numeric(row) for row in found],
    )
    if arguments.report is not None:
        # The summary of the page says the false alarms.
        others = ("machine", "verdicts", "expected_false_alarms")
        header = {
            name.replace("_", " "): value
            for name, value in {**content, **content["machine"]}.items()
            if name not in others and value is not None and value is not False
        }
        page = html_report(verdicts, header)
        deliver(arguments.report, page.encode("utf-8"))
    if arguments.json == _STANDARD_OUTPUT:
        print_json(content)
        return
    if found:
        show_table(console_rows(found), caption=summary(found))
    say(*notes(found))
    if arguments.json is not None:
        deliver(arguments.json, json_bytes(content))
