"""Each finding of a study holds on the stored data of full size, and fails on data that are changed."""

import importlib
import re
from functools import cache
from typing import Any

import pytest

from fedtheory import study
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS, loaded, stored_data

CHANGES = {
    script.stem: importlib.import_module(f"tests.findings.{script.stem}").CHANGED
    for script in SCRIPTS
    if (ROOT / "tests" / "findings" / script.name).is_file()
}


@cache
def full(name: str) -> tuple[study.Study, Any]:
    found = loaded(name)
    return found, stored_data(found)


@pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
def test_every_finding_is_a_sentence_that_holds_on_the_stored_data_and_has_changed_data(name: str) -> None:
    if name not in CHANGES:
        pytest.skip(f"tests/findings/{name}.py is missing")
    study, data = full(name)
    found = study.findings(data)
    assert [one for one in found.values() if not one.holds] == []
    assert set(found) == set(CHANGES[name])
    assert all(re.fullmatch(r"[A-Z].*\.", one.sentence) for one in found.values())


@pytest.mark.parametrize(("name", "finding"), [(name, finding) for name, ones in CHANGES.items() for finding in ones])
def test_a_finding_fails_on_changed_data(name: str, finding: str) -> None:
    study, data = full(name)
    assert not study.findings(CHANGES[name][finding](data))[finding].holds
