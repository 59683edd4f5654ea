"""Defects of public code are detected within a minute, corrected code passes, and the page agrees."""

import time
from typing import Any

import pytest

from fedtheory.conformance import check_method
from tests.conformance.defects.public_issues import ISSUES, Issue
from tests.test_readme import read

CHEAPER = {"num_draws": 500}


@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.project)
def test_a_defect_of_public_code_is_caught_in_a_minute_and_the_mended_code_is_not_refused(issue: Issue) -> None:
    started, options = time.process_time(), issue.options | ({} if issue.check is check_method else CHEAPER)
    found = issue.check(issue.wrong, **options)
    assert time.process_time() - started < 60.0
    assert issue.caught_by in [failure.check for failure in found.failures], found
    mended = issue.check(issue.right, **options)
    assert mended.holds, mended


def row(issue: Issue) -> str:
    return f"| [{issue.project}]({issue.address}) | {issue.told} | `{issue.caught_by}` |"


def test_the_page_names_every_issue_and_the_check_that_catches_it() -> None:
    page: Any = read("docs/api/conformance.md")
    assert [row(issue) for issue in ISSUES if row(issue) not in page] == []
