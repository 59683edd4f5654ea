"""Verdicts as rows of plain data, and the templates that show rows: a console table, a description, Markdown."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.verification.findings import ERROR, FAILS, HOLDS, Finding
from fedtheory.verification.trials import replay_command
from fedtheory.verification.verdicts import Verdict

__all__ = [
    "Row",
    "console_rows",
    "description",
    "false_alarms",
    "finding_pairs",
    "markdown_table",
    "notes",
    "numeric",
    "of_finding",
    "replay_line",
    "rows",
    "summary",
]

Row = Mapping[str, Any]


def rows(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Everything that can be shown of verdicts, as plain data that JSON can hold.

    Numbers are numbers, where JSON has them; exact fractions and infinities are text (``1/3``, ``inf``), and so are
    exact numbers of thousands of digits (``about 0.25``). What is not there is None, such as the ratio where no
    hypothesis held.

    Parameters
    ----------
    verdicts
        As ``verify`` returns them.

    Returns
    -------
    list of dict
        For each verdict ``key``, ``title``, ``paper``, ``source``, ``kind``, ``hypotheses``, ``remark``, ``home``;
        ``verdict``, ``expected``, ``as_expected``, ``reason``; ``num_instances``, ``num_applicable``; of the worst
        instance ``worst_ratio``, ``measured``, ``relation``, ``predicted``, ``side``, ``slack``, ``instance``;
        ``worst_index``, ``entropy``, ``spawn_key``, which draw it again; ``risk``, ``seconds``.

    Examples
    --------
    >>> from fedtheory.verification.verdicts import verify
    >>> [(row["key"], row["verdict"]) for row in rows(verify("power-of-choice:lemma-b1"))]
    [('power-of-choice:lemma-b1', 'holds')]
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
        "home": claim.home,
    }


def _of_instances(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict,
        "expected": verdict.expected,
        "as_expected": verdict.as_expected,
        "reason": verdict.reason,
        "num_instances": verdict.num_instances,
        "num_applicable": verdict.num_applicable,
        "risk": verdict.risk,
        "seconds": verdict.seconds,
    }


def _of_worst(verdict: Verdict) -> dict[str, Any]:
    return {
        **of_finding(verdict.worst),
        "worst_index": verdict.worst_index,
        "entropy": verdict.entropy,
        "spawn_key": list(verdict.spawn_key),
    }


def of_finding(worst: Finding) -> dict[str, Any]:
    """Return the part of a row that tells of its worst instance.

    Parameters
    ----------
    worst
        Of a verdict.

    Returns
    -------
    dict[str, Any]
        Ratio, sides, slack and instance.
    """
    return {
        "worst_ratio": _plain(worst.ratio),
        "measured": _plain(worst.measured),
        "relation": worst.relation if worst.applicable else None,
        "predicted": _plain(worst.predicted),
        "side": worst.side,
        "slack": _plain(worst.slack),
        "instance": {name: _plain(value) for name, value in worst.instance.items()},
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

    Parameters
    ----------
    row
        One of ``rows``.

    Returns
    -------
    dict[str, Any]
        A new row.

    Examples
    --------
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
    """Rows of the table that the command line shows.

    Parameters
    ----------
    found
        As ``rows`` returns them.

    Returns
    -------
    list[dict[str, Any]]
        A dictionary for each verdict, from headings to cells.
    """
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
    """Lines on each verdict that has a reason (not applicable, inconclusive, error), or fails and should not.

    A failing one is shown with its instance; the command that draws it again stands at the end of each.

    Parameters
    ----------
    found
        As ``rows`` returns them.

    Returns
    -------
    list[str]
        Empty if there is nothing to say.

    Examples
    --------
    >>> from fedtheory.verification.verdicts import verify
    >>> notes(rows(verify("power-of-choice:lemma-b1")))
    []
    """
    return [line for row in found for line in _note(row)]


def _note(row: Row) -> list[str]:
    if row["reason"]:
        return [f"{row['key']}: {row['verdict']}: {row['reason']} ({replay_line(row)})"]
    if row["verdict"] != FAILS or row["as_expected"]:
        return []
    told = [f"  {name:<15} {text}".rstrip() for name, text in finding_pairs(row)]
    return [f"{row['key']}: fails: {row['title']}", *told, f"  {replay_line(row)}"]


def replay_line(row: Row) -> str:
    """Return the command that draws the worst instance of a row again.

    Parameters
    ----------
    row
        One of ``rows``.

    Returns
    -------
    str
        For a shell.
    """
    seed = np.random.SeedSequence(row["entropy"], spawn_key=row["spawn_key"])
    return replay_command(row["key"], home=row["home"], number=row["worst_index"], seed=seed)


def summary(found: Sequence[Row]) -> str:
    r"""How many verdicts there are of which kind.

    Parameters
    ----------
    found
        As ``rows`` returns them.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> good, bad = {"verdict": "holds", "as_expected": True}, {"verdict": "error", "as_expected": False}
    >>> print(summary([good | {"risk": 0.001}, bad | {"risk": 0.0}]).replace("; ", "\n"))
    2 claims: 1 hold, 0 fail, 1 undecided (error), 1 not as expected
    false alarms to expect: at most 0.001
    ratio = measured/predicted
    """
    others = [row["verdict"] for row in found if row["verdict"] not in (HOLDS, FAILS)]
    counts = {verdict: sum(row["verdict"] == verdict for row in found) for verdict in (HOLDS, FAILS)}
    undecided = f", {len(others)} undecided ({', '.join(sorted(set(others)))})" if others else ""
    return (
        f"{len(found)} claims: {counts[HOLDS]} hold, {counts[FAILS]} fail{undecided}, "
        f"{sum(not row['as_expected'] for row in found)} not as expected; "
        f"false alarms to expect: {false_alarms(found)}; ratio = measured/predicted"
    )


def false_alarms(found: Sequence[Row]) -> str:
    """Say how many instances, at most, are expected to contradict true claims by bad luck.

    Parameters
    ----------
    found
        As ``rows`` returns them.

    Returns
    -------
    str
        The sum of all risks, in words.

    Examples
    --------
    >>> false_alarms([{"risk": 0.0}, {"risk": 0.0}]), false_alarms([{"risk": 0.02}, {"risk": 0.001}])
    ('0, no verdict rests on a confidence limit', 'at most 0.021')
    """
    risk = sum(row["risk"] for row in found)
    return f"at most {risk:.3g}" if risk else "0, no verdict rests on a confidence limit"


def description(row: Row) -> list[tuple[str, str]]:
    """Pairs (name, text) that tell all of one verdict: what was claimed, what was found, and where to find it again.

    Parameters
    ----------
    row
        One of ``rows``.

    Returns
    -------
    list[tuple[str, str]]
        In the order in which they are shown.
    """
    pairs = [
        ("verdict", f"{row['verdict']} (expected: {row['expected']})"),
        *([("because", row["reason"])] if row["reason"] else []),
        ("instances", f"{_applicable(row)} applicable"),
    ]
    if row["relation"] is not None:
        pairs += finding_pairs(row)
    if row["relation"] is not None or row["verdict"] == ERROR:
        pairs.append(("reproduce", replay_line(row)))
    return pairs


def finding_pairs(row: Row) -> list[tuple[str, str]]:
    """Pairs (name, text) that tell of the worst instance of a row.

    Parameters
    ----------
    row
        One of ``rows``, with a worst instance.

    Returns
    -------
    list[tuple[str, str]]
        In the order in which they are shown.
    """
    return [
        ("measured", f"{row['measured']}, should be {row['relation']} {row['predicted']} ({row['side']})"),
        ("ratio", "none" if row["worst_ratio"] is None else f"{float(row['worst_ratio']):.6g}"),
        ("counterexample" if row["verdict"] == FAILS else "worst instance", ""),
        *((f"  {part}", str(value)) for part, value in row["instance"].items()),
    ]


def markdown_table(found: Sequence[Row], prefix: str = "") -> str:
    """Return a Markdown table, with keys shortened by a prefix.

    Parameters
    ----------
    found
        As ``rows`` returns them.
    prefix
        Cut from the beginning of every key.

    Returns
    -------
    str
        Lines, each ended.

    Examples
    --------
    >>> from fedtheory.verification.verdicts import verify
    >>> markdown_table(rows(verify("power-of-choice:lemma-b1")), "power-of-choice:").splitlines()[0]
    '| Claim | Verdict | Ratio | Applicable |'
    """
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
