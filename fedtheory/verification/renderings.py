"""Templates that show rows of verdicts: a console table, a description, Markdown."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory.verification._sides import comparison
from fedtheory.verification.findings import ERROR, FAILS, HOLDS
from fedtheory.verification.plain_rows import Row
from fedtheory.verification.trials import replay_command

__all__ = [
    "console_rows",
    "description",
    "false_alarms",
    "finding_pairs",
    "markdown_table",
    "notes",
    "ratio_text",
    "replay_line",
    "summary",
]


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

    Examples
    --------
    >>> from fedtheory.verification.plain_rows import rows
    >>> from fedtheory.verification.verdicts import verify
    >>> [row] = console_rows(rows(verify("power-of-choice:lemma-b1")))
    >>> row["verdict"], row["expected"], row["certified side"]
    ('holds', 'as expected', 'exact')
    """
    return [
        {
            "claim": row["key"],
            "verdict": row["verdict"],
            "expected": "no evidence yet"
            if row["as_expected"] and not row["is_evidence"]
            else "as expected"
            if row["as_expected"]
            else f"UNEXPECTED, not {row['expected']}",
            "worst ratio": "" if row["worst_ratio"] is None else row["worst_ratio"],
            "applicable": _applicable(row),
            "certified side": row["side"],
            "seconds": _seconds(row["seconds"]),
        }
        for row in found
    ]


def _seconds(seconds: float) -> str:
    """Write a time as a person would.

    >>> _seconds(0.0012), _seconds(0.13), _seconds(2.345), _seconds(9.7), _seconds(10.4), _seconds(123.4)
    ('< 0.1', '0.1', '2.3', '9.7', '10', '123')
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
    >>> from fedtheory.verification.plain_rows import rows
    >>> notes(rows(verify("power-of-choice:lemma-b1")))
    []
    """
    return [line for row in found for line in (*_note(row), *(f"{row['key']}: {said}" for said in row["remarks"]))]


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

    Examples
    --------
    >>> from fedtheory.verification.plain_rows import rows
    >>> from fedtheory.verification.verdicts import verify
    >>> replay_line(rows(verify("fedalign:theta-one"))[0])
    'python -m fedtheory replay fedalign:theta-one --seed 0 --instance 0'
    """
    if row["tape"] is not None:
        return replay_command(row["key"], home=row["home"], tape=row["tape"])
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

    Examples
    --------
    >>> from fedtheory.verification.plain_rows import rows
    >>> from fedtheory.verification.verdicts import verify
    >>> description(rows(verify("fedalign:theta-one"))[0])[:2]
    [('verdict', 'fails (expected: fails)'), ('instances', '1 of 1 applicable')]
    """
    pairs = [
        ("verdict", f"{row['verdict']} (expected: {row['expected']})"),
        *([("because", row["reason"])] if row["reason"] else []),
        ("instances", f"{_applicable(row)} applicable"),
        *(("remark", said) for said in row["remarks"]),
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

    Examples
    --------
    >>> from fedtheory.verification.plain_rows import rows
    >>> from fedtheory.verification.verdicts import verify
    >>> finding_pairs(rows(verify("fedalign:theta-one"))[0])[0]
    ('measured', '9/16, should be == 1 (exact)')
    """
    return [
        ("measured", comparison(row)),
        ("ratio", "none" if row["worst_ratio"] is None else ratio_text(row["worst_ratio"])),
        ("counterexample" if row["verdict"] == FAILS else "worst instance", ""),
        *((f"  {part}", str(value)) for part, value in row["instance"].items()),
    ]


def ratio_text(ratio: Any) -> str:
    """Write a ratio with five digits, or with as many as it takes to tell it from 1, where an inequality is attained.

    Parameters
    ----------
    ratio
        A number, or the text of one.

    Returns
    -------
    str
        Short.

    Examples
    --------
    >>> [ratio_text(ratio) for ratio in (1.0019, 1, 1.000000123, 0.33333333, "inf")]
    ['1.0019', '1', '1.0000001', '0.33333', 'inf']
    """
    number = float(ratio)
    texts = (f"{number:.{digits}g}" for digits in range(5, 18))
    return next((text for text in texts if text != "1"), "1") if number != 1 else "1"


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
    >>> from fedtheory.verification.plain_rows import rows
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
