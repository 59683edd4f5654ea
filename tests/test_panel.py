"""The picture of the README shows what the study found."""

import json
import runpy
from pathlib import Path

import pytest

from tests.environment import ROOT


def test_the_lines_end_as_far_above_the_error_as_the_table_of_the_study_says(tmp_path: Path) -> None:
    rows = json.loads((ROOT / "docs/full_size/bound_versus_error/table.json").read_text(encoding="utf-8"))["rows"]
    [row] = [row for row in rows if (row["step sizes"], row["strategy"]) == ("decaying", "pow-d, d = 9")]
    above = runpy.run_path(str(ROOT / "docs" / "panel.py"))["draw"](tmp_path / "panel.png")
    wanted = {form: row[form] / row["error F - F*"] for form in ("printed", "corrected", "recursion", "round lemma")}
    assert {form: 10**power for form, power in above.items()} == pytest.approx(wanted)
    assert (tmp_path / "panel.png").stat().st_size > 10_000
