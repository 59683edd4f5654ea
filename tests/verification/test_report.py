"""The report of verdicts is complete, self-contained and escaped, and works in a browser."""

import json
import math
import re
import shutil
import subprocess
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.bounds import power_of_choice
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.report import bars, bars_of, html_report
from fedtheory.verification.verdicts import Verdict, examine

HOSTILE = """</td><script>alert("x")</script>&amp;' onload="y" """
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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


def test_every_claim_has_a_place_of_its_own_to_be_linked_to() -> None:
    reader = Reader(PAGE)
    assert len(reader.ids) == len(set(reader.ids))
    assert {found.key for found in FOUND} <= set(reader.ids)
    assert {f"about-{found.key}" for found in FOUND} <= set(reader.ids)
    for link in re.findall(r'href="#([^"]*)"', PAGE):
        assert link.replace("%3A", ":") in reader.ids


def test_the_page_names_nothing_outside_itself_and_forbids_to_ask_for_it() -> None:
    assert "default-src 'none'" in PAGE
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?!["'#]|data:,)""", PAGE)
    assert not re.search(r"https?:|//|@import|url\(", PAGE.replace("<!doctype html>", ""))


def drawn(finding: Finding) -> tuple[float, float, float]:
    """Position of zero, and ends of the measured and the predicted bar, in percent of the width."""
    row = {name: getattr(finding, name) for name in ("measured", "predicted", "relation", "baseline")}
    found = bars_of(row)
    assert found is not None
    return found.zero, found.measured.end, found.predicted.end


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


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_bars_are_in_the_order_of_the_sides_and_within_the_picture(measured: float, predicted: float) -> None:
    found = bars(measured, predicted)
    for side, bar in ((measured, found.measured), (predicted, found.predicted)):
        assert 0 <= bar.start <= bar.start + bar.length <= 100.01
        assert bar.length == pytest.approx(abs(bar.end - found.zero), abs=0.01)
        assert (bar.end >= found.zero) if side > 0 else (bar.end <= found.zero)
        assert bar.infinite is math.isinf(side)
    if measured < predicted:
        assert found.measured.end <= found.predicted.end
    if math.isinf(measured) and math.isfinite(predicted):
        assert found.measured.length > found.predicted.length


def test_a_row_without_sides_has_no_bars() -> None:
    assert bars_of({"relation": None, "measured": None, "predicted": None, "baseline": None}) is None


def test_the_page_draws_the_bars_of_its_rows() -> None:
    [body] = re.findall(r'<tbody [^>]*data-key="other:surprise".*?</tbody>', PAGE, re.DOTALL)
    found = bars(5.0, 4.0)
    for name, bar in (("measured", found.measured), ("predicted", found.predicted)):
        drawn = re.findall(rf'<rect class="{name}" x="([\d.]+)" y="\d+" width="([\d.]+)"', body)
        assert {(float(x), float(width)) for x, width in drawn} == {(bar.start, bar.length)}
        assert len(drawn) == 2  # small in the table, large in the details
    assert 'aria-label="measured 5, should be &lt;= 4 (floating point)"' in body
    assert PAGE.count('class="sides"') == 2 * 3  # one claim has no sides


TRIAL = """<script>
const told = {}, shown = () => [...table.tBodies].filter(b => !b.hidden).map(b => b.dataset.key);
const ask = (name, value, as) => {
  field(name).value = value;
  field(name).dispatchEvent(new Event("input", {bubbles: true}));
  told[as] = shown();
};
told.all = shown();
ask("words", "Curvature x", "words"); ask("words", "", "again");
ask("paper", "other", "paper"); ask("paper", "", "again");
ask("verdict", "unexpected", "unexpected"); ask("verdict", "fails", "fails"); ask("verdict", "", "again");
ask("kind", "erratum", "kind"); told.count = field("count").textContent; ask("kind", "", "again");
const heading = document.querySelector("th[data-field=ratio]"), button = heading.querySelector("button");
button.click(); told.rising = [...table.tBodies].map(b => b.dataset.key); told.sort = heading.getAttribute("aria-sort");
button.click(); told.falling = [...table.tBodies].map(b => b.dataset.key);
location.hash = "#toy%3Ahostile"; follow();
told.linked = [...document.querySelectorAll(".detail:not([hidden])")].map(d => d.id);
told.pressed = document.querySelector("tr[id='toy:hostile'] .open").getAttribute("aria-expanded");
told.focusable = [...document.querySelectorAll("button, input, select")].every(e => e.tabIndex === 0);
document.querySelectorAll(".open[aria-expanded=false]").forEach(opener => opener.click());
told.overhang = document.documentElement.scrollWidth - innerWidth;
const out = document.createElement("output");
out.id = "told"; out.textContent = JSON.stringify(told); document.body.append(out);
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="needs a Chromium to try the page in")
@pytest.mark.parametrize("width", [500])
def test_a_browser_filters_sorts_expands_and_follows_links_without_scrolling_sideways(
    tmp_path: Path, width: int
) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE.replace("</body>", TRIAL), encoding="utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    sized = [*command, f"--window-size={width},900", page.as_uri()]
    ran = subprocess.run(sized, capture_output=True, text=True, timeout=120, check=True)
    [written] = re.findall(r'<output id="told">(.*?)</output>', ran.stdout, re.DOTALL)
    told = json.loads(written.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    keys = [found.key for found in FOUND]
    assert sorted(told["all"]) == sorted(told["again"]) == sorted(keys)
    assert told["words"] == ["toy:hostile"]
    assert sorted(told["paper"]) == ["other:rare", "other:surprise"]
    assert sorted(told["unexpected"]) == ["other:rare", "other:surprise"]
    assert sorted(told["fails"]) == ["other:surprise", "toy:hostile"]
    assert told["kind"] == ["toy:hostile"]
    assert told["count"] == "1 of 4 claims"
    assert told["rising"] == ["other:rare", "toy:true", "other:surprise", "toy:hostile"]
    assert told["falling"] == told["rising"][::-1]
    assert told["sort"] == "ascending"
    # Counterexamples and unexpected verdicts are open from the beginning.
    assert sorted(told["linked"]) == ["about-other:rare", "about-other:surprise", "about-toy:hostile"]
    assert told["pressed"] == "true"
    assert told["focusable"] is True
    assert told["overhang"] <= 0
    assert "CONSOLE" not in ran.stderr
