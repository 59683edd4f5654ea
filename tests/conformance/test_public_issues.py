"""Defects of public code are detected within a minute, corrected code passes, and the page agrees."""

from typing import Any

import pytest

from fedtheory.conformance import check_method
from tests.conformance.defects.public_issues import ISSUES, Issue
from tests.test_readme import read


def cheaper(issue: Issue, num_draws: int) -> dict[str, Any]:
    return issue.options | ({} if issue.check is check_method else {"num_draws": num_draws})


LONG = {"FedLab"}  # its check follows whole runs
CASES = [pytest.param(issue, marks=[pytest.mark.slow] * (issue.project in LONG)) for issue in ISSUES]


@pytest.mark.parametrize("issue", CASES, ids=[issue.project for issue in ISSUES])
def test_one_check_catches_a_defect_of_public_code_and_does_not_refuse_the_mended_code(issue: Issue) -> None:
    options = cheaper(issue, 125)
    wrong, right = (
        {check.name: check for check in issue.check.checks(function, **options)}[issue.caught_by]
        for function in (issue.wrong, issue.right)
    )
    with pytest.raises(AssertionError):
        wrong()
    right()


@pytest.mark.slow
@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.project)
def test_a_defect_of_public_code_is_caught_and_the_mended_code_is_not_refused(issue: Issue) -> None:
    options = cheaper(issue, 500)
    found = issue.check(issue.wrong, **options)
    assert issue.caught_by in [failure.check for failure in found.failures], found
    mended = issue.check(issue.right, **options)
    assert mended.holds, mended


def row(issue: Issue) -> str:
    return f"| [{issue.project}]({issue.address}) | {issue.told} | `{issue.caught_by}` |"


def test_the_page_names_every_issue_and_the_check_that_catches_it() -> None:
    page: Any = read("docs/api/conformance.md")
    assert [row(issue) for issue in ISSUES if row(issue) not in page] == []
