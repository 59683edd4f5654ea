"""The page of verdicts: complete, self-contained, and text stays text; a browser, where there is one, tries it out."""

import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, at_least, at_most, not_applicable
from fedtheory.verification.renderings import _shown, html_report, rows
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
    assert len([text for text in reader.texts if HOSTILE.strip() in text]) >= 5


def test_every_claim_has_a_place_of_its_own_to_be_linked_to() -> None:
    reader = Reader(PAGE)
    assert len(reader.ids) == len(set(reader.ids))
    assert {found.key for found in FOUND} <= set(reader.ids)
    assert {f"counterexample-{found.key}" for found in FOUND if found.verdict == "fails"} <= set(reader.ids)
    assert "counterexample-toy:true" not in reader.ids
    for link in re.findall(r'href="#([^"]*)"', PAGE):
        assert link.replace("%3A", ":") in reader.ids


def test_the_page_names_nothing_outside_itself_and_forbids_to_ask_for_it() -> None:
    assert "default-src 'none'" in PAGE
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?!["'#]|data:,)""", PAGE)
    assert not re.search(r"https?:|//|@import|url\(", PAGE.replace("<!doctype html>", ""))


def test_a_row_tells_verdict_ratio_formula_hypotheses_reason_and_how_to_replay() -> None:
    told = "".join(Reader(PAGE).texts)
    assert "python -m fedtheory replay other:surprise --seed 0 --instance 0" in told
    assert "x is small" in told
    assert "too rare" in told
    assert "not as expected" in told
    assert "<mn>2</mn>" in PAGE
    assert PAGE.count("<math") == 1
    # 1/1000 is half of the way from the mark at 1 down to a millionth.
    assert 'width="40.0"' in PAGE


def test_a_counterexample_without_a_scale_is_not_drawn() -> None:
    def drawn(measured: float, predicted: float) -> bool:
        return 'role="img"' in html_report([verdict("toy:one", at_least(measured, predicted))], {})

    assert drawn(1.0, 2.0)
    assert not drawn(-math.inf, 2.0)


def test_a_counterexample_is_drawn_to_scale() -> None:
    [drawn] = re.findall(r'<article id="counterexample-other:surprise">.*?</article>', PAGE, re.DOTALL)
    assert [float(width) for width in re.findall(r'<rect class="\w+" x="80" y="\d+" width="([\d.]+)"', drawn)] == [
        pytest.approx(320, rel=1e-12),
        pytest.approx(320 * 4 / 5, rel=1e-12),
    ]
    assert 'aria-label="measured 5, should be &lt;= predicted 4"' in drawn


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


@pytest.mark.skipif(BROWSER is None, reason="needs a Chromium to try the page in")
@pytest.mark.parametrize("width", [1280, 500])
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
    assert told["linked"] == ["about-toy:hostile"]
    assert told["pressed"] == "true"
    assert told["focusable"] is True
    assert told["overhang"] <= 0
    assert "CONSOLE" not in ran.stderr


def test_a_ratio_little_above_one_is_told_from_one_and_its_bar_passes_the_mark() -> None:
    shown = [_shown(row) for row in rows([examine(claim_of(ratio), 1) for ratio in (1.0, 1.0019, 1.0000001, 7.0)])]
    assert [row["ratio_text"] for row in shown] == ["1", "1.0019", "1.0000001", "7"]
    lengths = [row["ratio_length"] for row in shown]
    assert lengths[0] == 80.0
    assert all(80.0 < length < 100.0 for length in lengths[1:])


def claim_of(ratio: float) -> Claim:
    """One that reaches a ratio."""
    return Claim(
        "toy:ratio",
        "a ratio",
        Statement(Paper("toy", "A toy", "Nobody", 2000), "1"),
        "inequality",
        lambda _: at_most(ratio, 1.0),
    )
