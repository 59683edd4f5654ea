"""Results of conformance checks: failed checks with the smallest case found."""

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from fedtheory._support.summary import html_table
from fedtheory._support.wording import truncate

__all__ = ["Conformance"]

_WIDTH = 80
_LONGEST = 400


@final
@dataclass(frozen=True)
class Failure:
    """A failed check: requirement and finding in one ``sentence``, and the smallest arguments found that show it."""

    check: str
    sentence: str
    case: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the sentence and the case."""
        return f"{self.check}: {self.sentence}{f' ({self.given})' if self.case else ''}"

    @property
    def given(self) -> str:
        """The case as text, truncated if it is long."""
        return ", ".join(f"{name}={_plain(value)}" for name, value in self.case.items())


@final
@dataclass(frozen=True, repr=False)
class Conformance:
    """Result of the checks of a function.

    It has the names of the ``checks`` that were run, in order, the ``failures``, which are empty if the code conforms,
    and the ``excepted`` checks, which were skipped, with the reasons.

    >>> found = Conformance("draw", ("runs", "range"), (Failure("range", "clients must be in 0..4, got 5"),))
    >>> found.holds
    False
    >>> found
    draw: fails 1 of 2 checks
      range: clients must be in 0..4, got 5
    """

    subject: str
    checks: tuple[str, ...]
    failures: tuple[Failure, ...] = ()
    excepted: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    def __repr__(self) -> str:
        lines = [self._title]
        for failure in self.failures:
            lines += _wrapped(f"{failure.check}: {failure.sentence}", "  ", "    ")
            lines += _wrapped(f"case: {failure.given}", "    ", "      ") if failure.case else []
        for name, reason in self.excepted.items():
            lines += _wrapped(f"skipped, {name}: {reason}", "  ", "    ")
        return "\n".join(lines)

    @property
    def _title(self) -> str:
        made = len(self.checks)
        said = f"passes {made} checks" if self.holds else f"fails {len(self.failures)} of {made} checks"
        return f"{textwrap.shorten(self.subject, _WIDTH - len(said) - 2, placeholder='...')}: {said}"

    def _repr_html_(self) -> str:
        """Return a table for notebooks; names and cases are escaped."""
        rows = [(failure.check, failure.sentence, failure.given) for failure in self.failures]
        rows += [(name, f"skipped: {reason}", "") for name, reason in self.excepted.items()]
        head = f"<p>{html.escape(self._title)}</p>"
        return head + html_table(("check", "found", "case"), rows) if rows else head


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def _plain(value: Any) -> str:
    text = repr(value.tolist()) if isinstance(value, np.ndarray | np.generic) else truncate(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
