"""Verdicts as rows of plain data."""

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from shlex import quote
from typing import Any

from fedtheory.theorem.claims import Claim, is_own
from fedtheory.theorem.findings import NO_COUNTEREXAMPLE, Finding
from fedtheory.verification.verdicts import HUNTED, Verdict

__all__ = ["rows"]

Row = Mapping[str, Any]

LOOSE = 2.0
"""Detectable factor from which a check is called loose."""


def rows(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Return verdicts as rows of plain data.

    Numbers are numbers if JSON allows it. Exact fractions and infinities are text (``1/3``, ``inf``), as are exact
    numbers of thousands of digits (``about 0.25``). Missing values are None, for example a ratio without applicable
    instances.

    Returns
    -------
    list of dict
        For each verdict ``key``, ``title``, ``paper``, ``source``, ``kind``, ``hypotheses``, ``remark``, ``home``;
        ``verdict``, ``expected``, ``as_expected``, ``reason``, ``evidence`` (sentences); ``num_instances``,
        ``num_applicable``, ``hunted`` and ``hunted_applicable`` (the same numbers for a hunt), ``ranges`` (smallest and
        largest numbers in the instances); ``detectable`` (factor by which the bound can be sharpened until the worst
        instance refutes it); for the worst instance ``worst_ratio``, ``measured``, ``relation``, ``predicted``,
        ``side``, ``slack``, ``baseline``, ``instance``; ``worst_index``, ``entropy``, ``spawn_key``, ``choices`` and
        ``reproduce``, which identify it; ``risk``, ``seconds``.

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
        "paper": claim.statement.topic.key,
        "source": str(claim.statement),
        "kind": claim.kind,
        "hypotheses": list(claim.hypotheses),
        "remark": claim.remark,
        "home": claim.home,
    }


def _of_instances(verdict: Verdict) -> dict[str, Any]:
    hunted = verdict.hunted
    return {
        "verdict": verdict.verdict,
        "expected": verdict.expected,
        "as_expected": verdict.as_expected,
        "reason": verdict.reason,
        "evidence": evidence(verdict),
        "num_instances": verdict.num_instances,
        "num_applicable": verdict.num_applicable,
        "hunted": hunted.num_instances if hunted else 0,
        "hunted_applicable": hunted.num_applicable if hunted else 0,
        "ranges": {name: [plain(end) for end in ends] for name, ends in verdict.ranges.items()},
        "detectable": plain(verdict.detectable),
        "risk": verdict.risk,
        "seconds": verdict.seconds,
    }


def _of_worst(verdict: Verdict) -> dict[str, Any]:
    hunt = verdict.hunted.hunt if verdict.hunted and verdict.worst_index == HUNTED else None
    return {
        **of_finding(verdict.worst),
        "worst_index": verdict.worst_index,
        "choices": list(hunt.choices) if hunt else None,
        "entropy": verdict.entropy,
        "spawn_key": list(verdict.spawn_key),
        "reproduce": _reproduce(verdict),
    }


def of_finding(worst: Finding) -> dict[str, Any]:
    """Return the part of a row that describes the worst instance."""
    return {
        "worst_ratio": plain(worst.ratio),
        "measured": plain(worst.measured),
        "relation": worst.relation if worst.applicable else None,
        "predicted": plain(worst.predicted),
        "side": worst.side,
        "slack": plain(worst.slack),
        "baseline": plain(worst.baseline),
        "instance": {name: plain(value) for name, value in worst.instance.items()},
    }


def evidence(verdict: Verdict) -> list[str]:
    """Return sentences on the evidence for a positive verdict and on its limits."""
    found, factor, hunted = [], verdict.detectable, verdict.hunted
    if verdict.verdict == NO_COUNTEREXAMPLE:
        number = verdict.num_applicable + (hunted.num_applicable if hunted else 0)
        searched = f": {verdict.num_applicable} drawn" if hunted else ""
        searched += f", {hunted.num_applicable} in a hunt of {hunted.seconds:.1f} s" if hunted else ""
        found.append(f"no counterexample in {number} instance{'s' * (number != 1)}{searched}")
        tried = [f"{name} from {plain(low)} to {plain(high)}" for name, (low, high) in verdict.ranges.items()]
        found.append(f"tried {', '.join(tried)}" if tried else "")
    if factor is not None and factor >= LOOSE:
        wrong = f"a constant wrong by a factor of less than {factor_text(factor)}"
        wrong = "every wrong constant" if factor == math.inf else wrong
        found.append(f"the check is loose: {wrong} goes unnoticed")
    declared = verdict.claim.looseness
    if is_own(verdict.claim) and factor is not None and declared is not None and factor > declared:
        found.append(f"the bound divided by looseness={declared:g} has no counterexample among these instances")
    return list(filter(None, found))


def factor_text(factor: float) -> str:
    """Write a factor with three digits, or as a whole number."""
    return f"{factor:.0f}" if factor >= 100 else f"{factor:.3g}"


def _reproduce(verdict: Verdict) -> str:
    """Return the shell command that checks the worst instance again, or Python code if no command can."""
    claim, index = verdict.claim, verdict.worst_index
    if verdict.hunted and verdict.hunted.fault:
        index = HUNTED
    if verdict.spawn_key or (is_own(claim) and not claim.home):
        seed = f"np.random.SeedSequence({verdict.entropy}, spawn_key={verdict.spawn_key})"
        seeds = seed if verdict.spawn_key else str(verdict.entropy)
        return f"hunt(claim, rng={seeds})" if index == HUNTED else f"reproduce(claim, {seeds}, {index})"
    if index == HUNTED and verdict.hunted:
        return hunt_command(claim, verdict.entropy, verdict.hunted.num_instances)
    return f"fedtheory show {_named(claim, verdict.entropy)}{f' --instance {index}' if index >= 0 else ''}"


def hunt_command(claim: Claim, seed: int, evaluations: int) -> str:
    """Return the shell command that repeats a hunt."""
    return f"fedtheory hunt {_named(claim, seed)} --evaluations {evaluations}"


def _named(claim: Claim, seed: int) -> str:
    source = f" --from {quote(claim.home)}" if claim.home else ""
    return f"{claim.key}{source}" + (f" --seed {seed}" if seed else "")


def plain(value: Any) -> Any:
    """Convert a value for JSON."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Fraction):
        return _exact(value)
    if isinstance(value, float):
        return None if math.isnan(value) else float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    # Arrays and scalars of NumPy are converted to one of the above.
    return plain(value.tolist()) if type(value).__module__ == "numpy" else str(value)


def _exact(value: int | Fraction) -> int | str:
    try:
        text = str(value)
    except ValueError:  # Python does not print integers of more than 4,300 digits
        try:
            return f"about {float(value)!r}"
        except OverflowError:
            exponent = value.numerator.bit_length() - value.denominator.bit_length()
            return f"about {'-' * (value < 0)}2^{exponent}"
    return int(value) if value.denominator == 1 else text


def number_of(value: Any) -> float:
    """Convert a number in a row to a double; numbers beyond the range of doubles become infinite.

    >>> [number_of(value) for value in (2, "9/32", "-inf", "about 0.25", "about -2^5000")]
    [2.0, 0.28125, -inf, 0.25, -inf]
    """
    text = str(value).removeprefix("about ")
    try:
        return float(Fraction(text) if "/" in text else float(text))
    except (ValueError, OverflowError):
        return -math.inf if text.startswith("-") else math.inf


def numeric(row: Row) -> dict[str, Any]:
    """Return a row with fractions as doubles; ``exact`` contains their exact values as text."""
    exact = {name: row[name] for name in ("measured", "predicted", "slack", "worst_ratio") if _is_fraction(row[name])}
    doubles = {name: float(Fraction(text)) for name, text in exact.items()}
    return {**row, **doubles, "exact": exact}


def _is_fraction(value: Any) -> bool:
    # Numerator and denominator are within the range of doubles.
    return isinstance(value, str) and bool(re.fullmatch(r"-?\d{1,300}/\d{1,300}", value))
