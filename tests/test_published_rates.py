"""Files of studies/theorems, and the study that is made from them."""

import math
import sys
from fractions import Fraction as Q
from typing import Any, NamedTuple

import pytest

from fedtheory.referee import referee
from fedtheory.referee.subject import subject_of_file
from tests.environment import ROOT
from tests.quick_studies import loaded, stored_data

FILES = sorted((ROOT / "studies" / "theorems").glob("*.py"))
REFUTED = ("planted",)
# tests/referee/test_referee.py has the reviews of these.
REVIEWED = ("fedlin", "local_gradient_descent", *REFUTED)


@pytest.fixture
def module() -> Any:
    loaded("published_rates")
    return sys.modules["studies.published_rates"]


class Cell(NamedTuple):
    value: Q
    lower: Q
    upper: Q


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_a_theorem_has_at_most_60_lines(file) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 60


def test_every_theorem_without_a_planted_error_is_a_row(module) -> None:
    assert {row.file for row in module.ROWS} == {file.stem for file in FILES} - set(REFUTED)


def test_a_bound_on_half_of_the_steps_promises_half_of_the_progress(module) -> None:
    half, whole = Q(9, 10) ** 3, Q(9, 10) ** 6
    assert module.share_of(5, Cell(5 * half, 5 * whole, 5 * whole)) == pytest.approx(1 / 2, rel=1e-12)
    assert module.share_of(5, Cell(5 * whole, 5 * whole, 5 * whole)) == 1
    assert module.share_of(5, Cell(Q(5), 5 * whole, 5 * whole)) == 0
    assert math.isnan(module.share_of(0, Cell(Q(2), Q(1), Q(1))))


def test_a_bound_on_a_decrease_promises_its_part_of_the_decrease(module) -> None:
    assert module.share_of(0, Cell(Q(-3), Q(-4), Q(-4))) == 3 / 4


def test_only_printed_statements_have_findings_about_a_paper(module) -> None:
    data = stored_data(module.STUDY)
    printed = {row.file for row, _ in module.parts(data, printed=True)}
    others = {row.file for row, _ in module.parts(data, printed=False)}
    assert {*module.STUDY.findings(data)} == {"all", *printed}
    assert printed | others == {row.file for row in module.ROWS}
    local = {"scaffold", "scaffnew", "scaffnew_stochastic", "field_guide", "fedlin", "fedsplit"}
    assert others == local | {"ef21", "ef21_smooth", "optimal_client_sampling"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_a_theorem_has_constants_for_which_its_hypotheses_hold(file) -> None:
    assert subject_of_file(file, None, 0).points


@pytest.mark.slow
@pytest.mark.parametrize("file", [file for file in FILES if file.stem not in REVIEWED], ids=lambda file: file.stem)
def test_the_referee_finds_no_counterexample_to_a_published_theorem(file) -> None:
    assert referee(file, seconds=30.0).exit_code == 0
