"""The verdict on a certificate as text: a sentence, and the theorems that are proved."""

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from ._reading import NotRead, Refused, read
from ._statement import Writer
from ._verdicts import Case, check, digits

__all__ = ["main", "theorem"]


def theorem(case: Case) -> list[str]:
    """Return a problem and its proved bounds as lines of text."""
    proved = "nothing fulfills this" if case.is_empty else "the value lies " + between(case.lower, case.upper)
    return [*Writer(case.problem).lines(), proved]


def between(lower: Fraction | None, upper: Fraction | None) -> str:
    """Return the interval of a value as text."""
    least, most = digits(lower, ROUND_FLOOR), digits(upper, ROUND_CEILING)
    if least and most:
        return f"between {least} and {most}"
    return f"at least {least}" if least else f"at most {most}" if most else "anywhere"


def main(arguments: list[str]) -> tuple[str, int]:
    """Check a certificate; return the verdict or the error message, and the exit code."""
    if len(arguments) != 1:
        return f"usage: checker certificate.json, got {len(arguments)} arguments", 2
    try:
        lower, upper, cases = check(read(arguments[0]))
    except OSError as error:
        return f"not read: {error.strerror}", 2
    except NotRead as error:
        return f"not read: {error}", 2
    except Refused as error:
        return f"not proved: {error}", 1
    lines = [f"proved: value {between(lower, upper)}", *(line for case in cases for line in ("", *theorem(case)))]
    return "\n".join(lines), 0
