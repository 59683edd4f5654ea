"""Verdicts as rows of plain data, and the templates that show rows: a console table, a description, Markdown."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.verification.findings import ERROR, FAILS, HOLDS
from fedtheory.verification.trials import STORED
from fedtheory.verification.verdicts import Verdict

__all__ = ["Row", "console_rows", "description", "markdown_table", "notes", "numeric", "rows", "summary"]

Row = Mapping[str, Any]


def rows(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Everything that can be shown of verdicts, as plain data that JSON can hold.

    Numbers are numbers, where JSON has them; exact fractions and infinities are text (``1/3``, ``inf``), and so are
    exact numbers of thousands of digits (``about 0.25``). What is not there is None, such as the ratio where no
    hypothesis held.

    Returns
    -------
    list of dict
        For each verdict ``key``, ``title``, ``paper``, ``source``, ``kind``, ``hypotheses``, ``remark``; ``verdict``,
        ``expected``, ``as_expected``, ``reason``; ``num_instances``, ``num_applicable``; ``worst_ratio``, ``measured``,
        ``relation``, ``predicted``, ``side``, ``slack``, ``instance`` of the worst instance; ``worst_index``,
        ``entropy``, ``spawn_key``, which draw it again; ``seconds``.
    """
    return [{**_of_claim(verdict), **_of_instances(verdict), **_of_worst(verdict)} for verdict in verdicts]


def _of_claim(verdict: Verdict) -> dict[str, Any]:
    claim = verdict.claim
    return {
        "key": claim.key,
        "title": claim.title,
        "paper": claim.statement.paper.key,
        "source": str(claim.statement),
        "kind": claim.kind,
        "hypotheses": list(claim.hypotheses),
        "remark": claim.remark,
    }


def _of_instances(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict,
        "expected": verdict.expected,
        "as_expected": verdict.as_expected,
        "reason": verdict.reason,
        "num_instances": verdict.num_instances,
        "num_applicable": verdict.num_applicable,
        "seconds": verdict.seconds,
    }


def _of_worst(verdict: Verdict) -> dict[str, Any]:
    worst = verdict.worst
    return {
        "worst_ratio": _plain(worst.ratio),
        "measured": _plain(worst.measured),
        "relation": worst.relation if worst.applicable else None,
        "predicted": _plain(worst.predicted),
        "side": worst.side,
        "slack": _plain(worst.slack),
        "instance": {name: _plain(value) for name, value in worst.instance.items()},
        "worst_index": verdict.worst_index,
        "entropy": verdict.entropy,
        "spawn_key": list(verdict.spawn_key),
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    >>> _plain({"x": (1, 2.5), "y": Fraction(1, 3), "z": [math.inf, math.nan]})
    {'x': [1, 2.5], 'y': '1/3', 'z': ['inf', None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Fraction):
        return _exact(value)
    if isinstance(value, float):
        return None if math.isnan(value) else float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    # Arrays and scalars of NumPy turn themselves into what is handled above.
    return _plain(value.tolist()) if type(value).__module__ == "numpy" else str(value)


def _exact(value: int | Fraction) -> int | str:
    try:
        text = str(value)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        try:
            return f"about {float(value)!r}"
        except OverflowError:
            return f"about 2^{value.numerator.bit_length() - value.denominator.bit_length()}"
    return int(value) if value.denominator == 1 else text


def numeric(row: Row) -> dict[str, Any]:
    """Return a row whose measured numbers are numbers throughout; what they are exactly stands in ``exact``, as text.

    Infinities, and what is too large for a double, stay text.

    >>> numeric({"key": "a:b", "measured": "9/32", "predicted": 1, "slack": 0, "worst_ratio": "inf"})
    {'key': 'a:b', 'measured': 0.28125, 'predicted': 1, 'slack': 0, 'worst_ratio': 'inf', 'exact': {'measured': '9/32'}}
    """
    exact = {name: row[name] for name in ("measured", "predicted", "slack", "worst_ratio") if _is_fraction(row[name])}
    doubles = {name: float(Fraction(text)) for name, text in exact.items()}
    return {**row, **doubles, "exact": exact}


def _is_fraction(value: Any) -> bool:
    # Numerator and denominator within what a double holds, whatever they are.
    return isinstance(value, str) and bool(re.fullmatch(r"-?\d{1,300}/\d{1,300}", value))


def console_rows(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of the table that the command line shows."""
    return [
        {
            "claim": row["key"],
            "verdict": row["verdict"],
            "expected": "as expected" if row["as_expected"] else f"UNEXPECTED, not {row['expected']}",
            "worst ratio": "" if row["worst_ratio"] is None else row["worst_ratio"],
            "applicable": _applicable(row),
            "certified side": row["side"],
            "seconds": _seconds(row["seconds"]),
        }
        for row in found
    ]


def _seconds(seconds: float) -> str:
    """Write a time as a person would.

    >>> _seconds(0.0012), _seconds(2.345), _seconds(123.4)
    ('< 0.1', '2.3', '123')
    """
    return "< 0.1" if seconds < 0.1 else f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


def _applicable(row: Row) -> str:
    return f"{row['num_applicable']} of {row['num_instances']}"


def notes(found: Sequence[Row]) -> list[str]:
    """One line for each verdict that has a reason: not applicable, inconclusive, error."""
    return [f"{row['key']}: {row['verdict']}: {row['reason']} ({_replay(row)})" for row in found if row["reason"]]


def _replay(row: Row) -> str:
    number = row["worst_index"]
    return "the stored instance" if number == STORED else f"seed {row['entropy']}, instance {number}"


def summary(found: Sequence[Row]) -> str:
    """How many verdicts there are of which kind.

    >>> summary([{"verdict": "holds", "as_expected": True}, {"verdict": "error", "as_expected": False}])
    '2 claims: 1 hold, 0 fail, 1 undecided (error), 1 not as expected; ratio = measured/predicted'
    """
    others = [row["verdict"] for row in found if row["verdict"] not in (HOLDS, FAILS)]
    counts = {verdict: sum(row["verdict"] == verdict for row in found) for verdict in (HOLDS, FAILS)}
    undecided = f", {len(others)} undecided ({', '.join(sorted(set(others)))})" if others else ""
    return (
        f"{len(found)} claims: {counts[HOLDS]} hold, {counts[FAILS]} fail{undecided}, "
        f"{sum(not row['as_expected'] for row in found)} not as expected; ratio = measured/predicted"
    )


def description(row: Row) -> list[tuple[str, str]]:
    """Pairs (name, text) that tell all of one verdict: what was claimed, what was found, and where to find it again."""
    pairs = [
        ("verdict", f"{row['verdict']} (expected: {row['expected']})"),
        *([("because", row["reason"])] if row["reason"] else []),
        ("instances", f"{_applicable(row)} applicable"),
    ]
    if row["relation"] is not None:
        pairs += [
            ("measured", f"{row['measured']}, should be {row['relation']} {row['predicted']} ({row['side']})"),
            ("ratio", "none" if row["worst_ratio"] is None else f"{float(row['worst_ratio']):.6g}"),
            ("counterexample" if row["verdict"] == FAILS else "worst instance", ""),
            *((f"  {part}", str(value)) for part, value in row["instance"].items()),
        ]
    if row["relation"] is not None or row["verdict"] == ERROR:
        pairs.append(("reproduce", _replay(row)))
    return pairs


def markdown_table(found: Sequence[Row], prefix: str = "") -> str:
    """Return a Markdown table, with keys shortened by a prefix."""
    lines = ["| Claim | Verdict | Ratio | Applicable |", "| --- | --- | --: | --: |"]
    for row in found:
        expectation = "" if row["verdict"] == HOLDS else ", as expected" if row["as_expected"] else ", **unexpected**"
        reason = f": {_escaped(row['reason'])}" if row["reason"] else ""
        ratio = "" if row["worst_ratio"] is None else f"{float(row['worst_ratio']):.2g}"
        lines.append(
            f"| `{row['key'].removeprefix(prefix)}`<br>{_escaped(row['title'])} "
            f"| {row['verdict']}{expectation}{reason} | {ratio} | {_applicable(row)} |"
        )
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    r"""Keep Markdown from reading signs of mathematics as markup.

    >>> _escaped("a_1 * |x|")
    'a\\_1 \\* \\|x\\|'
    """
    return re.sub(r"([\\`|*_<>\[\]])", r"\\\1", text)
