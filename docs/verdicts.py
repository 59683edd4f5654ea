"""Verdicts of the quick budget on all claims, as rows of plain data that are stored.

A stored verdict has a digest of the sources of the library. Where the digest is missing or another one, the claim is
verified again. A slow test verifies all. ``python docs/verdicts.py`` stores the verdicts whose digest
is another one, and with ``--all`` all of them.
"""

import hashlib
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import fedtheory
from fedtheory.theorem.claims import REFUTED, Claim
from fedtheory.verification import known_claims, rows
from fedtheory.verification.verdicts import Verdict, verdicts_of

FILE = Path(__file__).with_name("verdicts.json")
# What pages show of a verdict; the rest is in the claim.
_SHOWN = (
    "verdict", "as_expected", "reason", "num_instances", "num_applicable", "detectable", "worst_ratio", "relation",
)  # fmt: skip


@cache
def verdicts() -> dict[str, dict[str, Any]]:
    """Return the rows of all claims by key, completed by what the claims say about themselves."""
    rows_by_key, claims = valid(), known_claims()
    return {key: {**_about(claim), **rows_by_key[key]} for key, claim in claims.items()}


def valid() -> dict[str, dict[str, Any]]:
    """Return the rows of all claims to store; claims without a stored row are verified on all processors."""
    claims = known_claims()
    found = {key: row for key, row in stored().items() if key in claims and row["digest"] == digest()}
    new = [claim for key, claim in claims.items() if key not in found]
    return found | {one.key: stored_row(one) for one in verdicts_of(new, jobs=os.cpu_count() or 1)}


def stored() -> dict[str, dict[str, Any]]:
    """Return the stored rows by key."""
    rows_by_key: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return rows_by_key


def stored_row(verdict: Verdict) -> dict[str, Any]:
    """Return the row to store of a verdict; instances are shown of what is false."""
    [row] = rows([verdict])
    names = [*_SHOWN, "instance"] if verdict.claim.kind in REFUTED else _SHOWN
    return {"digest": digest()} | {name: row[name] for name in names}


def _about(claim: Claim) -> dict[str, Any]:
    return {"key": claim.key, "title": claim.title, "kind": claim.kind, "source": str(claim.statement)}


@cache
def digest() -> str:
    """Return a digest of all sources of the library, since a verdict may depend on any of them."""
    files = sorted(Path(fedtheory.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(one.read_bytes() for one in files)).hexdigest()[:12]


def main() -> None:
    """Store the verdicts whose digest is another one, or all."""
    if "--all" in sys.argv:
        FILE.write_text("{}\n", encoding="utf-8")
    lines = (f"{json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in sorted(valid().items()))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
