"""Pairs of selection law and aggregation weights."""

from typing import NamedTuple


class Scheme(NamedTuple):
    """The pair (selection law, aggregation weights) that a theorem assumes or a strategy has.

    ``memoryless`` is whether a round's selection depends on the past only through the round's starting model.
    """

    selection: str
    aggregation: str
    memoryless: bool = True

    def __str__(self) -> str:
        memory = "" if self.memoryless else ", with memory"
        return f"selection {self.selection!r} with aggregation {self.aggregation!r}{memory}"


ANY_SCHEME = Scheme("any", "any", memoryless=False)
