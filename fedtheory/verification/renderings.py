"""Verdicts as rows of plain data, which files can hold, and as texts, tables and pages."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._support.wording import short_exponent, told_apart, written
from fedtheory.theorem._letters import mathml
from fedtheory.verification.claims import replay_command
from fedtheory.verification.findings import ERROR, FAILS, HOLDS, Finding
from fedtheory.verification.verdicts import Verdict

__all__ = ["false_alarms", "markdown_table", "rows"]

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
        ``verdict``, ``expected``, ``as_expected``, ``reason``; ``num_instances``, ``num_applicable``, ``hunted``
        (how many instances a hunt tried besides), ``is_evidence``, ``remarks``; of the worst
        instance ``worst_ratio``, ``measured``, ``relation``, ``predicted``, ``side``, ``slack``, ``instance``;
        ``worst_index``, ``entropy``, ``spawn_key`` or ``tape``, which draw it again; ``risk``, ``seconds``.

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
        "is_evidence": verdict.is_evidence,
        "remarks": verdict.remarks,
        "hunted": verdict.hunted.num_instances if verdict.hunted else 0,
    }


def _of_worst(verdict: Verdict) -> dict[str, Any]:
    return {
        **of_finding(verdict.worst),
        "worst_index": verdict.worst_index,
        "tape": list(verdict.hunted.tape) if verdict.hunted and verdict.hunted.tape is not None else None,
        "entropy": verdict.entropy,
        "spawn_key": list(verdict.spawn_key),
    }


def of_finding(worst: Finding) -> dict[str, Any]:
    """Return the part of a row that tells of its worst instance.

    >>> from fedtheory.verification.findings import at_most
    >>> found = of_finding(at_most(Fraction(1, 3), Fraction(2, 3), instance={"x": Fraction(1, 7)}))
    >>> found["worst_ratio"], found["measured"], found["relation"], found["predicted"], found["instance"]
    (0.5, '1/3', '<=', '2/3', {'x': '1/7'})
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

    >>> numeric({"key": "a:b", "measured": "9/32", "predicted": 1, "slack": 0, "worst_ratio": "inf"})
    {'key': 'a:b', 'measured': 0.28125, 'predicted': 1, 'slack': 0, 'worst_ratio': 'inf', 'exact': {'measured': '9/32'}}
    """
    exact = {name: row[name] for name in ("measured", "predicted", "slack", "worst_ratio") if _is_fraction(row[name])}
    doubles = {name: float(Fraction(text)) for name, text in exact.items()}
    return {**row, **doubles, "exact": exact}


def _is_fraction(value: Any) -> bool:
    # Numerator and denominator within what a double holds, whatever they are.
    return isinstance(value, str) and bool(re.fullmatch(r"-?\d{1,300}/\d{1,300}", value))


# Smaller ratios are drawn as none: a promise a million times too large is as far off as one a billion times.
_LEAST_RATIO = 1e-6
_TEMPLATE = Path(__file__).with_name("report.html")


def console_rows(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of the table that the command line shows."""
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
    """
    return [line for row in found for line in (*_note(row), *(f"{row['key']}: {remark}" for remark in row["remarks"]))]


def _note(row: Row) -> list[str]:
    if row["reason"]:
        return [f"{row['key']}: {row['verdict']}: {row['reason']} ({replay_line(row)})"]
    if row["verdict"] != FAILS or row["as_expected"]:
        return []
    lines = [f"  {name:<15} {text}".rstrip() for name, text in finding_pairs(row)]
    return [f"{row['key']}: fails: {row['title']}", *lines, f"  {replay_line(row)}"]


def replay_line(row: Row) -> str:
    """Return the command that draws the worst instance of a row again.

    >>> from fedtheory.verification.verdicts import verify
    >>> replay_line(rows(verify("fedalign:theta-one"))[0])
    'python -m fedtheory replay fedalign:theta-one --seed 0 --instance 0'
    """
    if row["tape"] is not None:
        return replay_command(row["key"], home=row["home"], tape=row["tape"])
    seed = np.random.SeedSequence(row["entropy"], spawn_key=row["spawn_key"])
    return replay_command(row["key"], home=row["home"], number=row["worst_index"], seed=seed)


def summary(found: Sequence[Row]) -> str:
    r"""How many verdicts there are of which kind, in one line.

    >>> good, bad = {"verdict": "holds", "as_expected": True}, {"verdict": "error", "as_expected": False}
    >>> print(summary([good | {"risk": 0.001}, bad | {"risk": 0.0}]).replace("; ", "\n"))
    2 claims: 1 hold, 0 fail, 1 undecided (error), 1 not as expected
    expected false alarms: at most 0.001
    ratio = measured/predicted
    """
    others = [row["verdict"] for row in found if row["verdict"] not in (HOLDS, FAILS)]
    counts = {verdict: sum(row["verdict"] == verdict for row in found) for verdict in (HOLDS, FAILS)}
    undecided = f", {len(others)} undecided ({', '.join(sorted(set(others)))})" if others else ""
    return (
        f"{len(found)} claims: {counts[HOLDS]} hold, {counts[FAILS]} fail{undecided}, "
        f"{sum(not row['as_expected'] for row in found)} not as expected; "
        f"expected false alarms: {false_alarms(found)}; ratio = measured/predicted"
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
    ('0 (no verdict is statistical)', 'at most 0.021')
    """
    risk = sum(row["risk"] for row in found)
    return f"at most {risk:.3g}" if risk else "0 (no verdict is statistical)"


def description(row: Row) -> list[tuple[str, str]]:
    """Pairs (name, text) that tell all of one verdict: what was claimed, what was found, and where to find it again.

    >>> from fedtheory.verification.verdicts import verify
    >>> description(rows(verify("fedalign:theta-one"))[0])[:2]
    [('verdict', 'fails (expected: fails)'), ('instances', '1 of 1 applicable')]
    """
    pairs = [
        ("verdict", f"{row['verdict']} (expected: {row['expected']})"),
        *([("because", row["reason"])] if row["reason"] else []),
        ("instances", f"{_applicable(row)} applicable"),
        *(("remark", remark) for remark in row["remarks"]),
    ]
    if row["relation"] is not None:
        pairs += finding_pairs(row)
    if row["relation"] is not None or row["verdict"] == ERROR:
        pairs.append(("reproduce", replay_line(row)))
    return pairs


def finding_pairs(row: Row) -> list[tuple[str, str]]:
    """Pairs (name, text) that tell of the worst instance of a row, which must have one.

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
    >>> from fedtheory.verification.renderings import rows
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


def comparison(row: Row) -> str:
    """Write both sides of a comparison: long fractions with their decimals, doubles with the digits that count.

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
        # The slack of a comparison stands for rounding, so digits below it mean nothing.
        predicted, side = measured, f"{side}, equal up to {written(float(slack))}"
    texts = told_apart(measured, predicted) if "about" not in f"{measured}{predicted}" else (measured, predicted)
    left, right = (_beside(row[name], text) for name, text in zip(("measured", "predicted"), texts, strict=True))
    return f"{left}, should be {row['relation']} {right} ({side})"


def _beside(exact: Any, rounded: Any) -> str:
    text = short_exponent(str(rounded)).removesuffix(".0")
    return f"{exact} = {text}" if isinstance(exact, str) and "/" in exact and exact != text else text


def _value(side: Any) -> Any:
    """Return the number that a row holds, which may be text: a fraction, an infinity, or what it is about."""
    if not isinstance(side, str) or side.startswith("about"):
        return side
    return Fraction(side) if "/" in side else float(side)


def html_report(verdicts: Iterable[Verdict], header: Mapping[str, Any] | None = None) -> str:
    """Return verdicts as a page of HTML, claims by paper and counterexamples drawn.

    Whatever stands in titles and instances stays text. Formulas are MathML, pictures are SVG, and the page asks nobody
    for anything: a policy in its head forbids that.

    >>> from fedtheory.verification import verify
    >>> page = html_report(verify("power-of-choice:lemma-b2"), {"seed": 0})
    >>> page.startswith("<!doctype html>"), "power-of-choice:lemma-b2" in page
    (True, True)
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    found = list(verdicts)
    bounds: list[Any] = [verdict.claim.bound for verdict in found]
    formulas = {bound: Markup(mathml(bound)) for bound in {*bounds} - {None}}  # SymPy writes it, of parameters' names
    shown = [
        {**row, **_shown(row), "formula": formulas.get(bound, "")}
        for row, bound in zip(rows(found), bounds, strict=True)
    ]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    papers = sorted({row["paper"] for row in shown})
    return template.render(
        header=dict(header or {}),
        summary=summary(shown),
        papers={paper: [row for row in shown if row["paper"] == paper] for paper in papers},
        claims=shown,
        errata=[row for row in shown if row["verdict"] == FAILS],
        kinds=sorted({row["kind"] for row in shown}),
        verdicts=sorted({row["verdict"] for row in shown}),
    )


def _shown(row: Row) -> dict[str, Any]:
    """Return what the page shows of a row beside what it holds: texts of numbers, lengths of bars."""
    ratio = None if row["worst_ratio"] is None else _number(row["worst_ratio"])
    return {
        "ratio_text": "" if ratio is None else ratio_text(ratio),
        "ratio_sort": -1.0 if ratio is None else min(ratio, 1e300),
        "ratio_length": 0.0 if ratio is None else _length(ratio),
        "reproduce": replay_line(row),
        "pairs": finding_pairs(row) if row["relation"] is not None else [],
        "bars": _bars(row),
    }


def _length(ratio: float) -> float:
    """Length of the bar of a ratio in percent, on a logarithmic scale on which 1 is 80; only what is above goes beyond.

    >>> [_length(ratio) for ratio in (0.0, 1e-9, 1e-3, 1.0, 1.0019, 1e9)]
    [0.0, 0.0, 40.0, 80.0, 85.0, 100.0]
    """
    if ratio <= _LEAST_RATIO:
        return 0.0
    if ratio > 1.0:
        # Beyond the mark at 1 by what can be seen, however little it is.
        return round(min(85.0 - 15.0 * math.log(min(ratio, 1e300)) / math.log(_LEAST_RATIO), 100.0), 1)
    return round(80.0 * (1.0 - math.log(ratio) / math.log(_LEAST_RATIO)), 2)


def _bars(row: Row) -> list[dict[str, Any]]:
    """Measured and predicted number side by side, each with its length in percent of the longer, if both are finite."""
    if row["relation"] is None:
        return []
    measured, predicted = _number(row["measured"]), _number(row["predicted"])
    longest = max(abs(measured), abs(predicted))
    if not 0.0 < longest < math.inf:
        return []
    texts = f"{measured:.6g}", f"{predicted:.6g}"
    if texts[0] == texts[1] and measured != predicted:
        texts = told_apart(measured, predicted)
    sides = zip(("measured", "predicted"), (measured, predicted), texts, strict=True)
    return [
        {"name": name, "text": text, "length": round(100.0 * abs(value) / longest, 2)} for name, value, text in sides
    ]


def _number(value: Any) -> float:
    """Return a row's number as a double; what is no number, or too large to be written, as infinity.

    >>> [_number(value) for value in (2, "9/32", "inf", "about 2^5000", None)]
    [2.0, 0.28125, inf, inf, inf]
    """
    try:
        return float(Fraction(value)) if isinstance(value, str) else float(value)
    except (ValueError, TypeError, OverflowError):
        return math.inf
