"""Tables of the pages about bounds: each bound stands in them once, with what it rests on and under what it bounds."""

import re
from importlib import import_module

import pytest

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.formal import REFUTED
from fedtheory.theorem.left_side import MODELS, TIMES
from fedtheory.theorem.paper import BASES
from tests.environment import ROOT

with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    sources, which_bound = import_module("sources"), import_module("which_bound")
BOUNDS = known_bounds()


def named(line: str) -> str:
    """Return the bound that a line names."""
    [name] = re.findall(r"`(\w+\.\w+)(?: <|\.printed`)", line)
    return str(name)


def test_each_bound_and_each_printed_form_that_differs_has_one_line_with_its_basis_and_form() -> None:
    lines = [line for line in sources.table().splitlines() if "`" in line]
    found = {(named(line), ".printed`" in line): line for line in lines}
    printed = {bound.printed for bound in BOUNDS.values() if bound.printed is not bound}
    assert len(found) == len(lines) == len(BOUNDS) + len(printed)
    for (name, is_printed), line in found.items():
        statement = (BOUNDS[name].printed if is_printed else BOUNDS[name]).statement
        assert f"| {BASES[statement.basis]} | {statement.form} |" in line


def test_the_numbers_above_the_table_add_up_to_all_bounds() -> None:
    counts = {
        basis: int(count) for count, basis in re.findall(r"^- (\d+): .*\(\*(\w+)\*\)$", sources.table(), re.MULTILINE)
    }
    assert sum(counts.values()) == len(BOUNDS)
    assert counts["own"] == sum(bound.statement.basis == "own" for bound in BOUNDS.values())


def test_each_bound_that_is_not_refuted_stands_once_under_what_it_bounds() -> None:
    under = {}
    for part in which_bound.table().split("### ")[1:]:
        title, *lines = part.splitlines()
        for line in lines:
            if "`" in line:
                assert named(line) not in under
                under[named(line)] = title
    lefts = {name: bound.left for name, bound in BOUNDS.items() if name not in REFUTED and bound.left is not None}
    assert set(under) == set(lefts)
    for name, left in lefts.items():
        assert under[name].casefold().startswith(left.quantity)
        assert under[name].endswith(TIMES[left.after])
        assert MODELS[left.model] in under[name] or left.model == "none"
