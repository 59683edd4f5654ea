"""Text renderings of verdicts: console tables, descriptions and Markdown."""

import math
import operator
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fedtheory._support.wording import format_pair, format_value, short_exponent
from fedtheory.theorem.findings import ERROR, FAILS, HOLDS, NO_COUNTEREXAMPLE, verdict_text
from fedtheory.verification.records import LOOSE, Row, factor_text, number_of

__all__ = ["false_alarms", "markdown_table"]


def console_rows(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of the command line's table, with columns for hunts only if there was one."""
    hunted = any(row["hunted"] for row in found)
    return [
        {
            "claim": row["key"],
            "verdict": text_of(row),
            "expected": expectation(row),
            "worst ratio": "" if row["worst_ratio"] is None else row["worst_ratio"],
            "detects": detects(row),
            "applicable": applicable(row),
            **({"hunted": f"{row['hunted_applicable']} of {row['hunted']}"} if hunted else {}),
            "comparison": row["side"],
            "seconds": round(row["seconds"], 1),
        }
        for row in found
    ]


def expectation(row: Row) -> str:
    """Return whether a verdict is the expected one, unless its text says so; no counterexample is no confirmation."""
    if not row["as_expected"]:
        return f"UNEXPECTED, not {row['expected']}"
    return "" if row["verdict"] in (NO_COUNTEREXAMPLE, FAILS) else "as expected"


def text_of(row: Row) -> str:
    """Return the verdict of a row in words."""
    return verdict_text(row["verdict"], as_expected=row["as_expected"])


def detects(row: Row) -> str:
    """Return the factor by which the bound must be sharpened until the worst instance of a row refutes it.

    >>> [detects({"detectable": factor}) for factor in (1.0, 1.306, 2048.0, "inf", None)]
    ['x1', 'x1.31', 'x2048', 'nothing', '']
    """
    if row["detectable"] is None:
        return ""
    factor = number_of(row["detectable"])
    return "nothing" if factor == math.inf else f"x{factor_text(factor)}"


def applicable(row: Row) -> str:
    """Return the number of instances on which the hypotheses held."""
    return f"{row['num_applicable']} of {row['num_instances']}"


def notes(found: Sequence[Row]) -> list[str]:
    """Return lines on verdicts with reasons, unexpected counterexamples, and the evidence for user-defined claims."""
    return [line for row in found for line in _notes(row)]


def _notes(row: Row) -> list[str]:
    if row["reason"]:
        return [f"{row['key']}: {row['verdict']}: {row['reason']} ({row['reproduce']})"]
    if row["verdict"] == FAILS and not row["as_expected"]:
        lines = [f"  {name:<15} {text}".rstrip() for name, text in finding_pairs(row)]
        return [f"{row['key']}: fails: {row['title']}", *lines, f"  {row['reproduce']}"]
    return [f"{row['key']}: {sentence}" for sentence in row["evidence"] if row["verdict"] == NO_COUNTEREXAMPLE]


def summary(found: Sequence[Row]) -> str:
    """Return the number of verdicts of each kind, and the meaning of the columns."""
    words = (HOLDS, verdict_text(FAILS, as_expected=True), FAILS, NO_COUNTEREXAMPLE)
    verdicts = [text_of(row) for row in found]
    order = sorted(set(verdicts), key=lambda verdict: (words.index(verdict) if verdict in words else 4, verdict))
    loose = sum(row["detectable"] is not None and number_of(row["detectable"]) >= LOOSE for row in found)
    return (
        f"{len(found)} claims: {'; '.join(f'{verdicts.count(verdict)} {verdict}' for verdict in order)}; "
        f"{sum(not row['as_expected'] for row in found)} not as expected; "
        f"expected false alarms: {false_alarms(found)}; ratio = measured/predicted; detects = smallest factor by which "
        f"the bound can be sharpened until the worst instance refutes it, {LOOSE:g} or more for {loose}"
    )


def false_alarms(found: Sequence[Row]) -> str:
    """Return an upper limit for the expected number of false alarms: the sum of all risks, as text.

    >>> false_alarms([{"risk": 0.0}, {"risk": 0.0}]), false_alarms([{"risk": 0.02}, {"risk": 0.001}])
    ('0 (no verdict is statistical)', 'at most 0.021')
    """
    risk = sum(row["risk"] for row in found)
    return f"at most {risk:.3g}" if risk else "0 (no verdict is statistical)"


def description(row: Row) -> list[tuple[str, str]]:
    """Return pairs (name, text) that describe a claim and its verdict."""
    about = [
        ("source", f"{row['source']} ({row['kind']})"),
        *(("assumes", text) for text in row["hypotheses"]),
        ("remark", row["remark"]),
        ("verdict", text_of(row)),
        ("expected", "" if row["as_expected"] else row["expected"]),
        ("because", row["reason"]),
        ("instances", f"{applicable(row)} applicable"),
        *(("evidence", sentence) for sentence in row["evidence"]),
        ("detects", detects(row)),
    ]
    again = [("reproduce", row["reproduce"])] if row["relation"] is not None or row["verdict"] == ERROR else []
    return [*filter(operator.itemgetter(1), about), *finding_pairs(row), *again]


def finding_pairs(row: Row) -> list[tuple[str, str]]:
    """Return pairs (name, text) that describe the worst instance of a row, if it has one."""
    if row["relation"] is None:
        return []
    return [
        ("measured", comparison(row)),
        ("ratio", "none" if row["worst_ratio"] is None else ratio_text(row["worst_ratio"])),
        ("counterexample" if row["verdict"] == FAILS else "worst instance", ""),
        *((f"  {part}", str(value)) for part, value in row["instance"].items()),
    ]


def ratio_text(ratio: Any) -> str:
    """Write a ratio with five digits, or with as many as distinguish it from 1, where an inequality is attained.

    >>> [ratio_text(ratio) for ratio in (1.0019, 1, 1.000000123, 0.33333333, "inf")]
    ['1.0019', '1', '1.0000001', '0.33333', 'inf']
    """
    number = float(ratio)
    texts = (f"{number:.{digits}g}" for digits in range(5, 18))
    return next((text for text in texts if text != "1"), "1") if number != 1 else "1"


def markdown_table(found: Sequence[Row], prefix: str = "") -> str:
    """Return a Markdown table of verdicts, with a common prefix removed from the keys.

    >>> from fedtheory.verification import rows, verify
    >>> markdown_table(rows(verify("power-of-choice:lemma-b1")), "power-of-choice:").splitlines()[0]
    '| Claim | Verdict | Ratio | Detects | Applicable |'
    """
    lines = ["| Claim | Verdict | Ratio | Detects | Applicable |", "| --- | --- | --: | --: | --: |"]
    for row in found:
        expected = "" if row["as_expected"] else ", **unexpected**"
        reason = f": {escaped(row['reason'])}" if row["reason"] else ""
        ratio = "" if row["worst_ratio"] is None else f"{float(row['worst_ratio']):.2g}"
        lines.append(
            f"| `{row['key'].removeprefix(prefix)}`<br>{escaped(row['title'])} "
            f"| {text_of(row)}{expected}{reason} | {ratio} | {detects(row)} "
            f"| {applicable(row)} |"
        )
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Escape mathematical signs that Markdown would read as markup."""
    return re.sub(r"([\\`|*_<>\[\]])", r"\\\1", text)


def comparison(row: Row) -> str:
    """Format both sides of a comparison: long fractions with decimals, doubles with their significant digits.

    >>> close = {"measured": 0.5000000001, "relation": "<=", "predicted": 0.5, "side": "floating point", "slack": 1e-9}
    >>> comparison(close)
    '0.5, should be <= 0.5 (floating point, equal up to 1e-9)'
    >>> comparison({**close, "slack": 0})
    '0.5000000001, should be <= 0.5 (floating point)'
    >>> comparison({"measured": "2/3001", "relation": "<=", "predicted": 1, "side": "exact", "slack": 0})
    '2/3001 = 0.0006664, should be <= 1 (exact)'
    """
    measured, predicted, slack = (_value(row[name]) for name in ("measured", "predicted", "slack"))
    side = row["side"]
    if isinstance(measured, float) and isinstance(predicted, float) and 0 < abs(measured - predicted) <= slack:
        # Digits below the slack, which allows for rounding, are meaningless.
        predicted, side = measured, f"{side}, equal up to {format_value(float(slack))}"
    texts = format_pair(measured, predicted) if "about" not in f"{measured}{predicted}" else (measured, predicted)
    left, right = (_beside(row[name], text) for name, text in zip(("measured", "predicted"), texts, strict=True))
    return f"{left}, should be {row['relation']} {right} ({side})"


def _beside(exact: Any, rounded: Any) -> str:
    text = short_exponent(str(rounded)).removesuffix(".0")
    return f"{exact} = {text}" if isinstance(exact, str) and "/" in exact and exact != text else text


def _value(side: Any) -> Any:
    """Return the value of a number in a row, which may be text: a fraction, an infinity, or an approximation."""
    if not isinstance(side, str) or side.startswith("about"):
        return side
    return Fraction(side) if "/" in side else float(side)
