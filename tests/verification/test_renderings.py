"""Rows are plain data, from which console, description, Markdown and JSON are formatted."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most, equal_to, not_applicable
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification._trials import Effort, Trials
from fedtheory.verification.records import rows
from fedtheory.verification.renderings import console_rows, description, markdown_table, notes, summary
from fedtheory.verification.verdicts import Verdict, examine, verdict_on

STATEMENT = Statement(Paper("toy", "A toy", "Nobody", 2000), "Theorem 0", "eq. (1)")


def verdict_of(*findings: Finding, expected: str = "holds", key: str = "toy:claim", rng: Any = 0) -> Verdict:
    """Verdict of a claim of the package whose instances show these findings; without any, its check raises."""

    def check(_: np.random.Generator) -> Finding:
        raise LookupError

    check.__module__ = "fedtheory.claims.toy"
    about: dict[str, Any] = {"hypotheses": ("x is small",), "expected": expected, "remark": "a remark"}
    claim = Claim(key, "x_1 * x_2 <= 1", STATEMENT, "inequality", check, **about)
    if not findings:
        return examine(claim, 1, rng)
    seeds = np.random.SeedSequence(rng) if isinstance(rng, int) else rng
    return verdict_on(claim, seeds, Effort(len(findings)), Trials(dict(enumerate(findings)), 0.25))


def row_of(*findings: Finding, **more: Any) -> dict[str, Any]:
    """The one row, sent through JSON that knows no NaN."""
    row: dict[str, Any] = json.loads(json.dumps(rows([verdict_of(*findings, **more)]), allow_nan=False))[0]
    return row


EXACT = at_most(Fraction(1, 3), Fraction(1, 2), instance={"x": Fraction(2, 7)})
FAILING = at_most(3.0, 2.0)
AGAIN = "fedtheory show toy:claim --instance 0"
UNMET = not_applicable("too rare")


def test_a_row_says_everything_that_can_be_shown() -> None:
    row = row_of(EXACT, EXACT, rng=np.random.SeedSequence(5, spawn_key=(1, 2)))
    assert row.pop("seconds") > 0
    assert row == {
        "key": "toy:claim",
        "title": "x_1 * x_2 <= 1",
        "paper": "toy",
        "source": "Nobody (2000), Theorem 0, eq. (1) [printed]",
        "kind": "inequality",
        "hypotheses": ["x is small"],
        "remark": "a remark",
        "home": "",
        "verdict": "holds",
        "expected": "holds",
        "as_expected": True,
        "reason": "",
        "num_instances": 2,
        "num_applicable": 2,
        "risk": 0.0,
        "evidence": [],
        "hunted": 0,
        "hunted_applicable": 0,
        "ranges": {"x": ["2/7", "2/7"]},
        "detectable": 1.5,
        "worst_ratio": float(Fraction(2, 3)),
        "measured": "1/3",
        "relation": "<=",
        "predicted": "1/2",
        "side": "exact",
        "slack": 0,
        "baseline": None,
        "instance": {"x": "2/7"},
        "worst_index": 0,
        "choices": None,
        "entropy": 5,
        "spawn_key": [1, 2],
        "reproduce": "reproduce(claim, np.random.SeedSequence(5, spawn_key=(1, 2)), 0)",
    }


def test_numbers_are_numbers_in_json() -> None:
    numbers = {
        "float": np.float64(0.5),
        "int": np.int64(3),
        "flag": np.True_,
        "array": np.array([[1.0, 2.0]]),
        "whole": Fraction(6, 2),
        "nested": ({"y": (1, 2)},),
        "nothing": None,
        "word": "pow-d",
    }
    row = row_of(equal_to(np.float64(2.0), 2.0, instance=numbers))
    assert (row["measured"], row["predicted"], row["slack"]) == (2.0, 2.0, 2e-9)
    assert row["instance"] == {
        "float": 0.5,
        "int": 3,
        "flag": True,
        "array": [[1.0, 2.0]],
        "whole": 3,
        "nested": [{"y": [1, 2]}],
        "nothing": None,
        "word": "pow-d",
    }


def test_what_json_has_no_number_for_is_text_or_nothing() -> None:
    infinite = row_of(at_most(math.inf, 1.0))
    assert (infinite["measured"], infinite["worst_ratio"]) == ("inf", "inf")
    assert row_of(at_most(1.0, math.inf))["worst_ratio"] is None
    unmet = row_of(UNMET)
    assert [unmet[name] for name in ("measured", "relation", "predicted", "worst_ratio")] == [None] * 4


def test_exact_numbers_of_thousands_of_digits_are_shown_about() -> None:
    third, huge = Fraction(10**5000 + 1, 3 * 10**5000), 2**20000
    row = row_of(at_most(third, 1, instance={"huge": huge, "tiny": Fraction(1, huge), "small": 10**30}))
    assert (row["measured"], row["worst_ratio"]) == (f"about {1 / 3!r}", 1 / 3)
    assert row["instance"] == {"huge": "about 2^20000", "tiny": "about 0.0", "small": 10**30}
    assert row_of(at_most(huge, 1))["worst_ratio"] == "inf"
    assert row_of(at_most(-huge, 1))["measured"] == "about -2^20000"


def table_of(*found: dict[str, Any]) -> list[list[str]]:
    """Cells of the Markdown table, without its head."""
    lines = markdown_table(found, prefix="toy:").splitlines()
    return [[cell.strip() for cell in line.split(" | ")] for line in lines[2:]]


def test_every_output_says_why_a_verdict_is_neither_yes_nor_no() -> None:
    row = row_of(EXACT, *[UNMET] * 4)
    assert row["reason"].startswith("the hypotheses hold on 1 of 5 instances, 5 are needed; --instances 25 ")
    assert notes([row]) == [f"toy:claim: inconclusive: {row['reason']} ({AGAIN})"]
    assert ("because", row["reason"]) in description(row)
    assert f"inconclusive, **unexpected**: {row['reason']}" in markdown_table([row]).replace("\\_", "_")
    assert notes([row_of(EXACT), row_of(FAILING, expected="fails")]) == []


def test_a_failure_that_nobody_expected_is_noted_with_its_instance_and_the_command_that_checks_it_again() -> None:
    assert notes([row_of(EXACT, at_most(3, 2, instance={"x": 5}), rng=4)]) == [
        "toy:claim: fails: x_1 * x_2 <= 1",
        "  measured        3, should be <= 2 (exact)",
        "  ratio           1.5",
        "  counterexample",
        "    x             5",
        "  fedtheory show toy:claim --seed 4 --instance 1",
    ]


def test_what_no_command_can_name_is_checked_again_in_python() -> None:
    child = np.random.SeedSequence(4, spawn_key=(7,))
    assert row_of(FAILING, rng=child)["reproduce"] == "reproduce(claim, np.random.SeedSequence(4, spawn_key=(7,)), 0)"
    mine = Claim("toy:mine", "a toy", STATEMENT, "inequality", lambda _: FAILING)
    [row] = rows([examine(mine, 1, rng=3)])
    assert row["reproduce"] == "reproduce(claim, 3, 0)"


def test_a_loose_check_says_so_beside_its_verdict() -> None:
    for finding, factor, sentence in (
        (at_most(1, 32), "x32", "a constant wrong by a factor of less than 32 goes unnoticed"),
        (at_most(1.0, 2048.0), "x2048", "a constant wrong by a factor of less than 2048 goes unnoticed"),
        (at_most(0, 2), "nothing", "every wrong constant goes unnoticed"),
    ):
        row = row_of(finding)
        assert row["verdict"] == "holds"
        assert console_rows([row])[0]["detects"] == table_of(row)[0][3] == factor
        assert row["evidence"] == [f"the check is loose: {sentence}"]
        assert ("evidence", f"the check is loose: {sentence}") in description(row)
        assert summary([row, row_of(EXACT)]).endswith("2 or more for 1")
    sharp = row_of(at_most(1, 1))
    assert (console_rows([sharp])[0]["detects"], sharp["evidence"]) == ("x1", [])
    assert console_rows([row_of(FAILING)])[0]["detects"] == ""


def test_a_markdown_table_escapes_mathematics_and_rounds_ratios() -> None:
    cells = table_of(row_of(EXACT), row_of(FAILING, expected="fails"), row_of(at_most(math.inf, 1.0)))
    assert cells[0] == ["| `claim`<br>x\\_1 \\* x\\_2 \\<= 1", "holds", "0.67", "x1.5", "1 of 1 |"]
    assert [row[1] for row in cells[1:]] == ["fails, as expected", "fails, **unexpected**"]
    assert [row[2] for row in cells[1:]] == ["1.5", "inf"]


def test_sides_are_written_with_the_digits_that_count() -> None:
    def compared(measured: Any, predicted: Any, **rtol: Any) -> str:
        return dict(description(row_of(at_most(measured, predicted, **rtol))))["measured"]

    assert compared(38.70402368763217, 61.03919312044739) == "38.7, should be <= 61.04 (floating point)"
    assert compared(8.621699070094573, 8.621699070097106) == (
        "8.622, should be <= 8.622 (floating point, equal up to 8.622e-9)"
    )
    assert compared(1.0000000000000007, 1.0) == "1, should be <= 1 (floating point, equal up to 1e-9)"
    assert compared(1.5e-20, 2e-09) == "1.5e-20, should be <= 2e-9 (floating point)"
    assert compared(Fraction(1, 3), Fraction(1001, 2003)) == "1/3, should be <= 1001/2003 = 0.4998 (exact)"
    assert compared(Fraction(10**5000, 3), 10**6000).startswith("about 2^")
