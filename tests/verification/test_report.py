"""The report of verdicts is self-contained and escaped, and its bars have the right lengths."""

import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.report import bars, bars_of, html_report
from fedtheory.verification.verdicts import Verdict, examine

HOSTILE = """</td><script>alert("x")</script>&amp;' onload="y" """


def verdict(key: str, finding: Finding, **more: Any) -> Verdict:
    paper = Paper(key.split(":", maxsplit=1)[0], "A toy", "Nobody", 2000)
    about = {"title": "x <= 1", "kind": "inequality", "hypotheses": ("x is small",), **more}
    return examine(Claim(key=key, statement=Statement(paper, "Theorem 0"), check=lambda _: finding, **about), 1, 0)


FALSE = at_most(3.0, 2.0, instance={"curvature": HOSTILE})
FOUND = [
    verdict("toy:true", at_most(1.0, 1000.0), bound=power_of_choice.gradient_norm),
    verdict("toy:hostile", FALSE, title=HOSTILE, remark=HOSTILE, expected="fails", kind="erratum", home=40 * "far/"),
    verdict("other:surprise", at_most(5.0, 4.0)),
    verdict("other:rare", not_applicable("too rare")),
]
PAGE = html_report(FOUND, {"seed": 0, "platform": HOSTILE})


class Reader(HTMLParser):
    """Reads ids, texts, scripts and attributes, and keeps count of what is open."""

    # Of these HTML needs no end, and SVG closes its own as XML does.
    LONE = frozenset(("meta", "link", "input"))

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.scripts += tag == "script"
        if tag not in self.LONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_whatever_stands_in_titles_remarks_and_instances_stays_text() -> None:
    reader = Reader(PAGE)
    assert reader.open == []
    assert reader.scripts == 1  # the page's own
    assert not {name for name in reader.attributes if name.startswith("on")}
    for place in (".title", "remark", "instance", "header"):
        assert HOSTILE.strip() in "".join(reader.texts), place
    assert len([text for text in reader.texts if HOSTILE.strip() in text]) == 4


def test_the_page_names_nothing_outside_itself_and_forbids_to_ask_for_it() -> None:
    assert "default-src 'none'" in PAGE
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?!["'#]|data:,)""", PAGE)
    assert not re.search(r"https?:|//|@import|url\(", PAGE.replace("<!doctype html>", ""))


def drawn(finding: Finding) -> tuple[float, float, float]:
    """Position of zero, and ends of the measured and the predicted bar, in percent of the width."""
    row = {name: getattr(finding, name) for name in ("measured", "predicted", "relation", "baseline")}
    found = bars_of(row)
    assert found is not None
    zero, ((measured, _), (predicted, _)) = found
    return zero, measured, predicted


@pytest.mark.parametrize(
    ("finding", "zero", "measured", "predicted"),
    [
        (at_most(1.0, 4.0), 0, 25, 100),
        (at_most(5.0, 4.0), 0, 100, 80),
        (at_most(0, 2), 0, 0, 100),
        (at_most(3, 0), 0, 100, 0),
        (at_most(1.0, -3.0), 75, 100, 0),  # a negative prediction extends to the left, and measured is beyond it
        (at_most(-3, -2), 100, 0, 33.33),
        (at_most(0, 0), 50, 50, 50),
        (at_most(Fraction(1, 3), Fraction(2, 3)), 0, 50, 100),
        (at_most(99, 98, baseline=100), 100, 50, 0),  # -1 and -2 beyond what both share
        (at_most(1e308, -1e308), 50, 100, 0),
        (at_most(5e-324, 1e308), 0, 0, 100),
        (at_most(1.0, math.inf), 0, 44.44, 100),
        (at_most(math.inf, 1.0), 0, 100, 44.44),
        (at_least(-math.inf, 1.0), 55.56, 0, 100),
        (at_least(-math.inf, math.inf), 50, 0, 100),
        (equal_to(math.inf, math.inf), 0, 100, 100),
    ],
)  # fmt: skip
def test_bars_extend_from_zero_to_the_sides_on_one_scale(
    finding: Finding, zero: float, measured: float, predicted: float
) -> None:
    assert drawn(finding) == pytest.approx((zero, measured, predicted), abs=0.01)


@pytest.mark.parametrize("values", [(1.0, -3.0), (1.0, -3.0, math.inf), (-1.0, 2.0, -math.inf, math.inf), (0.0, 2.0)])
def test_bars_of_the_opposite_numbers_are_mirrored(values: tuple[float, ...]) -> None:
    zero, ends = bars(*values)
    mirrored_zero, mirrored_ends = bars(*(-value for value in values))
    assert mirrored_zero == pytest.approx(100 - zero, abs=0.01)
    assert [end for end, _ in mirrored_ends] == pytest.approx([100 - end for end, _ in ends], abs=0.01)


def test_a_row_without_sides_has_no_bars() -> None:
    assert bars_of({"relation": None, "measured": None, "predicted": None, "baseline": None}) is None


def test_a_documented_counterexample_is_called_so_on_the_page() -> None:
    words = {"toy:hostile": "refuted, as documented", "other:surprise": "fails"}
    for key, word in words.items():
        row = PAGE.partition(f'id="{key}"')[2].partition("</tr>")[0]
        assert f">{word}</span>" in row
        assert ("UNEXPECTED" in row) == (word == "fails")
