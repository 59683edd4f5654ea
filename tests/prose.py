"""Numbers in the texts of studies, and which of them the studies compute from their data."""

import re
from collections.abc import Iterable, Iterator

# What names a thing or cites it, and measures nothing.
_NAMES = re.compile(
    "|".join(
        (
            r":\w+:`[^`]*`|``[^`]*``|\{[\w:]+\}`[^`]*`|\$[^$]*\$|`[^`]*`|\]\([^)]*\)",
            r"\((?:19|20)\d\d\)|\((?:eq\. )?\(?\d+[a-z]?\)?(?:-\(\d+\))?\)",
            r"(?:Figure|Table|Theorem|Lemma|Section|Appendi|row)[sx]? [\dA-Z][\d.]*[a-z]?(?:(?:,| and| or| to) \d+)*",
            r"Synthetic\([^)]*\)|Dir_K\([^)]*\)|CIFAR-?\d+|AVX-?\d+|U\(\d+, \d+\)|95%",
            r"\b[A-Za-z]+ = (?:\d[\d,.]*\d|\d|[a-zA-Z]+)[A-Za-z]?(?:/\d)?(?:(?:,| and| or) \d+\b(?![.%]))*",
            r"\b[dmKEN]/\d|\bm - 1\b|\b\d*m\b|\d+ x \d+",
        )
    )
)
_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|(?:a |one )?hundred"
    "|(?:a |one )?thousand"
)
_NUMBER = re.compile(
    rf"(?<![A-Za-z\d])\d+(?:[.,]\d+)*(?:e-?\d+)?|\b(?:{_WORDS})\b(?= (?:times|points?|percent|orders of magnitude))"
    rf"|(?<=loss by )(?:{_WORDS})\b"
    rf"|(?<=factor of )(?:about )?(?:{_WORDS})\b"
)


def plain(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def numbers(text: str) -> Iterator[tuple[int, str]]:
    """Places and words of the numbers that a text measures, on one line; names of things are left out."""
    line = plain(text)
    named = [range(*found.span()) for found in _NAMES.finditer(line)]
    for found in _NUMBER.finditer(line):
        if not any(found.start() in span for span in named):
            yield found.start(), found[0]


def unexplained(text: str, phrases: Iterable[str]) -> list[str]:
    """Numbers that no phrase covers where it stands in the text, each with the words about it."""
    line = plain(text)
    covered = [range(*found.span()) for phrase in phrases for found in re.finditer(re.escape(plain(phrase)), line)]
    return [
        f"{number} in '...{line[max(0, place - 40) : place + 30]}...'"
        for place, number in numbers(line)
        if not any(place in span for span in covered)
    ]


def reading(page: str) -> str:
    """What a page says of its results: the answer that it opens with, and all that follows the word Reading."""
    answer = page.partition("**Question.**")[0].partition("**")[2]
    return answer + page[page.index("**Reading.**") :] if "**Reading.**" in page else answer
