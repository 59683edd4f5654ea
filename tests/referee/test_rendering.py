"""A review as a page, as Markdown and as LaTeX: complete, escaped, and with the same numbers."""

import re
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory.referee import rendering
from fedtheory.referee.review import (
    Axis,
    Cell,
    Certificate,
    Citation,
    ClosedFormFound,
    Coefficient,
    CoqFile,
    Counterexample,
    ForAllConstants,
    LooseSummands,
    MachineCheck,
    Missing,
    RateFound,
    Review,
    StatedTheorem,
    Summand,
    Tightness,
    Verdict,
)
from tests.verification.test_report import Reader

HOSTILE = """</td><script>alert("x")</script>&amp;' onload="y" `a|b` [c](http://d) \\input{e} $f_1$ 50%\u202e"""
AT = {"mu": Q(1, 10), "L": 1, "step_size": Q(3, 7)}
NO_RESULT: Any = None


def review(text: str = "a sentence") -> Review:
    """A review whose texts from a file are all the same."""
    cells = (
        Cell((0, 0), AT, Q(1, 3), Q(1, 4), Q(1, 3), 1.0, "attained"),
        Cell((1, 0), AT, Q(11, 3), Q(1, 9), Q(1, 8), 33.25, "vacuous"),
        Cell((0, 1), AT, Q(1, 5), Q(1, 4), Q(1, 3), 0.8125, "refuted"),
        Cell((1, 1), {}, None, None, None, None, "unknown", text),
    )
    functions = {"functions": {text: [{"kind": "quadratic", "curvature": [[2.5]]}]}, "objective": 0.6875}
    return Review(
        text, text, 5, 120.0, 33.125,
        StatedTheorem(
            text, "remembered", text, "<=", (Summand(text, "2*L*excess", "<math><mi>L</mi></math>"),),
            (text,), (text,), AT, {text: (Q(1, 2), text)}, text,
        ),
        Verdict("refuted", 23, 7, {text: (Q(1, 16), Q(1, 2))},
                Counterexample(text, AT, Q(13, 16), Q(3, 4), "<=", functions), 1.31, (text,)),
        Tightness((Axis("kappa", (2, 100)), Axis(text, (1, 3))), cells, text, text),
        LooseSummands(AT, (Coefficient(text, (text,), Q(3, 4), Q(81, 100)),), text, text),
        ForAllConstants(
            ClosedFormFound(text, (text,), True, False, text, f"``` {text}", text, NO_RESULT),
            RateFound(Q(9, 10), AT, text),
        ),
        MachineCheck((Certificate(text, AT, False, text),), CoqFile(text, text, None, text)),
        Citation(text, "", (text,)),
    )  # fmt: skip


REVIEW = review()
PAGE, MARKDOWN = rendering.html(REVIEW), rendering.markdown(REVIEW)
BAD = review(HOSTILE)
SECTIONS = ("statement", "verdict", "tightness", "loose_summands", "for_all_constants", "machine_check", "citation")


def words(page: str) -> str:
    """The text of a page, without its style and its formulas."""
    return " ".join(Reader(re.sub(r"<(style|math)\b.*?</\1>", "", page, flags=re.DOTALL)).texts)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[./]\d+)*", text))


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_there_or_says_why_not(name: str) -> None:
    missing = REVIEW._replace(**{name: Missing("the reason is 4711")})
    for written in (words(rendering.html(missing)), rendering.markdown(missing)):
        assert written.count("This section is missing: the reason is 4711.") == 1
        assert all(f"{number}. " in written for number in range(1, 8))
    assert "missing" not in words(PAGE)


def test_page_and_markdown_name_the_same_numbers() -> None:
    assert {"13/16", "0.8125", "33.25", "0.6875", "23"} <= numbers(MARKDOWN)
    assert numbers(words(PAGE)) == numbers(MARKDOWN)


def test_text_of_a_file_stays_text_on_the_page() -> None:
    page = rendering.html(BAD)
    reader = Reader(page)
    assert reader.open == []
    assert reader.scripts == 0
    assert not {name for name in reader.attributes if name.startswith("on")}
    assert "\u202e" not in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?!["'#]|data:,)""", page.replace("http://d", ""))
    assert "default-src 'none'" in page


def test_text_of_a_file_stays_text_in_markdown() -> None:
    text = rendering.markdown(BAD)
    outside = re.sub(r"^(`{3,})\n.*?\n\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "alert" in outside
    assert not re.search(r"(?<!\\)[<`\[]", outside)
    assert text.count("\n````\n") == 2  # the fence is longer than that in the proof


def test_text_of_a_file_stays_text_in_latex() -> None:
    text = rendering.latex(BAD)
    assert r"\input" not in text
    assert not re.search(r"(?<!\\)[$%&_#]", text)
    assert rendering.latex(BAD._replace(citation=Missing("a\nb"))) == "% No appendix: a b\n"


@pytest.mark.parametrize("word", ["refuted", "proved on the domain", "no counterexample", "undecided"])
def test_the_word_of_the_verdict_stands_at_the_top(word: Any) -> None:
    assert isinstance(REVIEW.verdict, Verdict)
    found = REVIEW._replace(verdict=REVIEW.verdict._replace(word=word))
    assert f">{word}</span>" in rendering.html(found).partition("</header>")[0]
    assert rendering.markdown(found).splitlines()[2] == f"**{word}**"


def test_darker_cells_have_larger_ratios() -> None:
    shades = [float(shade) for shade in re.findall(r'class="cell (?!unknown)\w+"[^>]*fill-opacity="([\d.]+)"', PAGE)]
    assert shades == [0, 0.5, 0]


def test_a_review_is_saved_as_three_files(tmp_path: Path) -> None:
    files = rendering.save(REVIEW, tmp_path / "new")
    assert [file.name for file in files] == ["review.html", "review.md", "review.tex"]
    assert [file.read_text(encoding="utf-8") for file in files] == [PAGE, MARKDOWN, rendering.latex(REVIEW)]


def test_an_instance_may_hold_any_value() -> None:
    values = {
        "none": None,
        "dict": {"x": Q(1, 2)},
        "array": np.array([Q(1, 3), 2]),
        "float": np.float64(0.5),
        "flag": True,
    }
    assert isinstance(REVIEW.statement, StatedTheorem)
    written = rendering.markdown(REVIEW._replace(statement=REVIEW.statement._replace(instance=values)))
    assert "none=None" in written
    assert "array=(1/3, 2), float=0.5, flag=True" in written
