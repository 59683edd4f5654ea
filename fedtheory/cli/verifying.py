"""``verify``: verdicts on claims."""

import argparse
import datetime as dt
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from fedtheory import __version__
from fedtheory._storage.files import deliver, json_bytes
from fedtheory._support.console import say, show_table, warn
from fedtheory.claims.catalogue import select_claims
from fedtheory.cli.documents import collected
from fedtheory.cli.hunting import complain
from fedtheory.cli.refusals import mention_processors, refuse, refuse_below, refuse_unless_new
from fedtheory.verification.records import numeric, rows
from fedtheory.verification.renderings import console_rows, notes, summary
from fedtheory.verification.report import html_report
from fedtheory.verification.verdicts import Verdict, verdicts_of

__all__ = ["verify_claims"]

_STANDARD_OUTPUT = Path("-")


def verify_claims(arguments: argparse.Namespace) -> int:
    """Print verdicts; 1 if one is not the expected one, 130 if interrupted, with the verdicts so far."""
    _refuse_wrong_values(arguments)
    try:
        selected = select_claims(arguments.keys or None, arguments.paper, arguments.kind, arguments.source)
    except ValueError as error:
        refuse(str(error))
    verdicts = verdicts_of(
        selected,
        arguments.budget,
        arguments.seed,
        arguments.jobs,
        num_instances=arguments.instances,
        hunt_seconds=0.0 if arguments.source is None else arguments.hunt,
    )
    mention_processors(min(arguments.jobs, len(selected)))
    try:
        reached, ended_early = collected(verdicts, "claims", len(selected))
    except Exception as error:  # a killed process, or a claim that cannot be pickled
        return complain(error)
    if ended_early:
        warn(f"interrupted after {len(reached)} of {len(selected)} claims")
    _show(reached, arguments, ended_early=ended_early)
    return 130 if ended_early else 0 if all(verdict.as_expected for verdict in reached) else 1


def _refuse_wrong_values(arguments: argparse.Namespace) -> None:
    refuse_unless_new(None if arguments.json == _STANDARD_OUTPUT else arguments.json, "--json", force=arguments.force)
    refuse_unless_new(arguments.report, "--report", force=arguments.force)
    refuse_below(arguments, seed=0, instances=1, jobs=1)
    if not 0 <= arguments.hunt < float("inf"):
        refuse(f"--hunt must be finite and at least 0, got {arguments.hunt}")


def _show(verdicts: Sequence[Verdict], arguments: argparse.Namespace, *, ended_early: bool) -> None:
    found = rows(verdicts)
    content = {
        "fedtheory": __version__,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": {
            "platform": platform.platform(), "processor": platform.machine(), "num_processors": os.cpu_count(),
            "python": platform.python_version(),
        },
        "seed": arguments.seed,
        "budget": arguments.budget,
        "instances": arguments.instances,
        "interrupted": ended_early,
        "expected_false_alarms": sum(row["risk"] for row in found),
        "verdicts": [numeric(row) for row in found],
    }  # fmt: skip
    if arguments.report is not None:
        others = ("machine", "verdicts", "expected_false_alarms")  # the summary of the page contains the false alarms
        header = {
            name.replace("_", " "): value
            for name, value in {**content, **content["machine"]}.items()
            if name not in others and value is not None and value is not False
        }
        deliver(arguments.report, html_report(verdicts, header).encode("utf-8"))
    if arguments.json == _STANDARD_OUTPUT:
        sys.stdout.write(json_bytes(content).decode())
        return
    if found:
        show_table(console_rows(found), caption=summary(found))
    say(*notes(found))
    if arguments.json is not None:
        deliver(arguments.json, json_bytes(content))
