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


UNMET = not_applicable("too rare")


def test_numbers_are_numbers_in_json() -> None:
    numbers = {
        "float": np.float64(0.5), "int": np.int64(3), "flag": np.True_, "array": np.array([[1.0, 2.0]]),
        "whole": Fraction(6, 2), "nested": ({"y": (1, 2)},), "nothing": None, "word": "pow-d",
    }  # fmt: skip
    row = row_of(equal_to(np.float64(2.0), 2.0, instance=numbers))
    assert (row["measured"], row["predicted"], row["slack"]) == (2.0, 2.0, 2e-9)
    found = {"float": 0.5, "int": 3, "flag": True, "array": [[1.0, 2.0]], "whole": 3, "nested": [{"y": [1, 2]}]}
    assert row["instance"] == {**found, "nothing": None, "word": "pow-d"}


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
