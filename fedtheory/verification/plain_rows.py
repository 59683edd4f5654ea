"""Verdicts as rows of plain data, which files can hold and templates show."""

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from fedtheory.verification.findings import Finding
from fedtheory.verification.verdicts import Verdict

__all__ = ["rows"]

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
    >>> from fedtheory.verification.examination import verify
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
