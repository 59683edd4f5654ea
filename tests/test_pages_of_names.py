"""The first page of the API refers to existing paths."""

import re
from functools import reduce
from importlib import import_module

import pytest

import fedtheory
from tests.environment import ROOT

LINKS = re.findall(
    r"\{py:(\w+)\}`([\w.]+) <([\w.]+)>`", (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
)


def found(kind: str, path: str) -> object:
    """Return what a full name stands for; a method is found in its class."""
    if kind == "mod":
        return import_module(path)
    home, *inside = path.rsplit(".", 2 if kind == "meth" else 1)
    return reduce(getattr, inside, import_module(home))


@pytest.mark.parametrize(("kind", "short", "full"), LINKS)
def test_a_name_leads_where_its_short_path_does(kind: str, short: str, full: str) -> None:
    value = found(kind, full)
    named = reduce(getattr, short.split(".")[1:], fedtheory) if short.startswith("ft.") else value
    assert named is value
    assert full.endswith(short.rpartition(".")[2])
