"""The inspection of pages detects each kind of fault, and the file of MathJax is self-contained."""

import importlib.util
import json
import runpy
import types
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.pages import BROWSER, faults, looked_at

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs a Chromium to look with")


def page(body: str, head: str = "") -> str:
    return f'<!doctype html><html><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'


FONT = "<style>@font-face{font-family:f;src:url(https://f.example.org/f)}body{font-family:f}</style>"
# As the theme does, a table, code or a formula scrolls inside its own frame.
INSIDE = '<div style="overflow-x:auto"><div style="width:{}px">x</div></div>'
FRAME = f'<article style="width:min(600px,100%)">{INSIDE}</article>'
FAULTY = {
    "raw.html": (page(r"<p>so \(\frac12\) it is</p>"), "raw TeX"),
    "dollars.html": (page("<p>so $x + 1$ it is</p>"), "raw TeX"),
    "wide.html": (page('<div style="width:3000px">x</div>'), "scrolls sideways"),
    "cut.html": (page(FRAME.format(900)), "wider than its column"),
    "fits.html": (page(FRAME.format(300)), ""),
    "empty.html": (page('<img src="nowhere.png">'), "empty pictures"),
    "outside.html": (page("x", '<script src="https://cdn.example.org/mathjax.js"></script>'), "asks for"),
    "font.html": (page("x", FONT), "asks for"),
    "fine.html": (page("<p>costs $5, <code>\\frac</code></p>"), ""),
}


@pytest.mark.slow
def test_each_fault_is_seen_and_nothing_else(tmp_path: Path) -> None:
    for name, (text, _) in FAULTY.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = faults(*looked_at(tmp_path, list(FAULTY)))
    for name, (_, expected) in FAULTY.items():
        mine = [fault for fault in found if name in fault]
        assert bool(mine) == bool(expected), name
        assert all(expected in fault for fault in mine), mine


@pytest.mark.slow
def test_formulas_are_drawn_from_one_file(tmp_path: Path, monkeypatch) -> None:
    if importlib.util.find_spec("sphinx-mathjax-offline") is None:
        pytest.skip("needs the extra docs")
    monkeypatch.syspath_prepend(ROOT / "docs")  # whose files import each other
    copy_mathjax = runpy.run_path(str(ROOT / "docs" / "house.py"))["copy_mathjax"]
    copy_mathjax(types.SimpleNamespace(outdir=tmp_path, config=types.SimpleNamespace(mathjax_path="mathjax.js")))
    assert [file.name for file in (tmp_path / "_static").iterdir()] == ["mathjax.js"]
    config = json.dumps(runpy.run_path(str(ROOT / "docs" / "conf.py"))["mathjax3_config"])
    script = f'<script>MathJax = {config}</script><script defer src="_static/mathjax.js"></script>'
    formulas = r"<p>\(\boldsymbol{x} \in \mathbb R, \bar\rho\) and \[\begin{aligned}a &= \frac12\end{aligned}\]</p>"
    (tmp_path / "formulas.html").write_text(page(formulas, script), encoding="utf-8")
    (tmp_path / "wrong.html").write_text(page(r"\(\nosuchcommand{1}\) and \(\frac\)", script), encoding="utf-8")
    seen, refused = looked_at(tmp_path, ["formulas.html", "wrong.html"], [390])
    assert [view["formulas"] for view in seen] == [2, 2]
    assert [len(view["wrong formulas"]) for view in seen] == [0, 2]
    assert [bool(faults([view], refused)) for view in seen] == [False, True]
