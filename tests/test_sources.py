"""The identity of a function changes with every source, variable and version that may determine its results."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fedtheory._storage import identity as module
from fedtheory._storage.identity import UnidentifiedError, source_digest
from tests.environment import ROOT
from tests.test_identity import VALUES, identity


class Case(NamedTuple):
    """Sources by name, and the edit of one that may change a result of ``f`` in the module ``m``."""

    files: dict[str, str]
    edited: str
    name: str = "m.f"


def calling(call: str, imports: str = "") -> str:
    """Source of a function ``f``."""
    return f"{imports}\ndef f(x):\n    return {call}\n"


HELPER = "def helper(x):\n    return x + 1\n"
PACKAGE = {"p/__init__": "x = 0 + 1\n", "p/h": HELPER}
CASES = {
    "the function": Case({"m": calling("x + 1")}, "m"),
    "another function of the file": Case({"m": calling("x") + HELPER}, "m"),
    "a helper": Case({"m": calling("helper(x)", "from h import helper"), "h": HELPER}, "h"),
    "a helper of a module": Case({"m": calling("h.helper(x)", "import h"), "h": HELPER}, "h"),
    "a helper that is imported within": Case(
        {"m": "def f(x):\n    import h\n    return h.helper(x)\n", "h": HELPER}, "h"
    ),
    "a helper of a helper": Case({"m": calling("h.helper(x)", "import h"), "h": "from k import *", "k": HELPER}, "k"),
    "a helper looked up by text": Case({"m": calling("getattr(h, 'hel' + 'per')(x)", "import h"), "h": HELPER}, "h"),
    "a helper in a package": Case({"m": calling("h.helper(x)", "from p import h"), **PACKAGE}, "p/h"),
    "a package around a helper": Case({"m": calling("p.h.helper(x)", "import p.h"), **PACKAGE}, "p/__init__"),
    "a helper beside it": Case({"p/m": calling("helper(x)", "from .h import helper"), **PACKAGE}, "p/h", "p.m.f"),
    "a helper above it": Case(
        {"p/q/__init__": "", "p/q/m": calling("helper(x)", "from ..h import helper"), **PACKAGE}, "p/h", "p.q.m.f"
    ),
    "a helper named as a library's module": Case(
        {"m": calling("statistics.helper(x)", "import statistics"), "statistics": HELPER}, "statistics"
    ),
    "the class of an object": Case({"m": "from h import C\nf = C()\n", "h": "class C:\n    a = 0 + 1\n"}, "h"),
    "a base of its class": Case(
        {"m": "from h import B\nclass C(B):\n    pass\nf = C()\n", "h": "class B:\n    a = 0 + 1\n"}, "h"
    ),
    "an object": Case({"m": "class C:\n    def __init__(self, a):\n        self.a = a\nf = C(0 + 1)\n"}, "m"),
}
NAMES = ("m", "h", "k", "p", "p.m", "p.h", "p.q", "p.q.m", "statistics")


def written(folder: Path, files: dict[str, str]) -> None:
    """Write sources as if it was long ago."""
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        os.utime(path, (0, 0))


def forget() -> dict[str, Any]:
    """Let names of modules be free, as in a new process; return what had them."""
    importlib.invalidate_caches()
    return {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}


def imported(folder: Path, name: str) -> Any:
    """Import what is in a folder, as a new process would; its modules stay until the next call."""
    forget()
    home, _, attribute = name.rpartition(".")
    sys.path.insert(0, str(folder))
    try:
        return getattr(importlib.import_module(home), attribute)
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow modules of any names to be imported and replaced."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = forget()
    yield
    forget()
    sys.modules.update(before)


def identified(folder: Path, name: str) -> str:
    """Identity of what is in a folder; modules that are imported later must be found."""
    found = imported(folder, name)
    sys.path.insert(0, str(folder))
    try:
        return identity(found)
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("what", CASES)
@pytest.mark.usefixtures("modules")
def test_any_edit_of_a_module_or_of_what_it_imports_is_another_identity(tmp_path: Path, what: str) -> None:
    one = CASES[what]
    written(tmp_path / "before", one.files)
    text = one.files[one.edited]
    edited = text.replace("+ 1", "+ 2")
    assert edited != text
    written(tmp_path / "after", {**one.files, one.edited: edited})
    before, after, again = (identified(tmp_path / version, one.name) for version in ("before", "after", "before"))
    assert before == again
    assert before != after


@pytest.mark.usefixtures("modules")
def test_two_helpers_that_change_places_are_another_identity(tmp_path: Path) -> None:
    user = {"m": calling("h.a", "import h, k")}
    written(tmp_path / "before", user | {"h": "a = 1\n", "k": "a = 2\n"})
    written(tmp_path / "after", user | {"h": "a = 2\n", "k": "a = 1\n"})
    assert identified(tmp_path / "before", "m.f") != identified(tmp_path / "after", "m.f")
    digests = [source_digest(imported(tmp_path / version, "m.f")) for version in ("before", "after")]
    assert digests[0] != digests[1]


SETTINGS = """
import time
import h
SCALE, TABLE, LIST, STARTED = 1.0, {"a": [1, lambda: 2]}, [1], time.time()
class Config:
    rate = 1.0
CONFIG = Config()
def f(x):
    return x * SCALE + len(TABLE) + LIST[0] + CONFIG.rate + h.SHIFT
"""


@pytest.mark.usefixtures("modules")
def test_variables_that_functions_read_count_although_a_program_sets_them_and_others_do_not(tmp_path: Path) -> None:
    written(tmp_path, {"m": SETTINGS, "h": "SHIFT = OTHER = 1\n"})
    function = imported(tmp_path, "m.f")
    m, h = sys.modules["m"], sys.modules["h"]
    seen = [identity(function)]
    for change in (
        lambda: setattr(m, "SCALE", 2.0),
        lambda: m.TABLE["a"].append(3),
        lambda: m.LIST.append(2),
        lambda: setattr(m.CONFIG, "rate", 2.0),
        lambda: setattr(h, "SHIFT", 2),
    ):
        change()
        seen.append(identity(function))
    assert len(set(seen)) == 6
    vars(m)["STARTED"], vars(h)["OTHER"] = 0.0, 2
    assert identity(function) == seen[-1]


UNSEEN = {
    "an import by name": calling("importlib.import_module(x).a", "import importlib"),
    "another import by name": calling("__import__(x).a"),
    "eval": calling("eval(x)"),
    "exec elsewhere": calling("h.a", "import h"),
}


@pytest.mark.parametrize("what", UNSEEN)
@pytest.mark.usefixtures("modules")
def test_modules_that_run_text_or_import_by_text_have_no_identity(tmp_path: Path, what: str) -> None:
    written(tmp_path, {"m": UNSEEN[what], "h": "exec('a = 1')\n"})
    with pytest.raises(UnidentifiedError, match=r"cannot be identified, since it calls .*, which may use anything"):
        identified(tmp_path, "m.f")
    assert identity(sys.modules["m"].f, "1")


@pytest.mark.usefixtures("modules")
def test_a_module_that_was_edited_after_the_process_started_has_no_identity(tmp_path: Path) -> None:
    written(tmp_path, {"m": "from h import helper as f\n", "h": HELPER})
    function = imported(tmp_path, "m.f")
    assert identity(function)
    (tmp_path / "h.py").write_text(HELPER)
    with pytest.raises(
        UnidentifiedError, match="h cannot be identified, since it was edited after this process started"
    ):
        identity(function)


NOTEBOOK = """
from fedtheory._storage.identity import UnidentifiedError, identities
def f(x):
    return x
try:
    identities([f])
except UnidentifiedError as error:
    print(error)
print(len(identities([f], "1")))
"""


@pytest.mark.slow  # starts a program
def test_a_function_of_a_notebook_needs_a_version() -> None:
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == (
        "__main__ cannot be identified, since it has no file, as in a notebook: "
        "give version=, a text that changes when it does\n1\n"
    )


@pytest.mark.usefixtures("modules")
def test_versions_of_libraries_and_the_processor_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"m": calling("x", "import hypothesis")})
    before = identified(tmp_path, "m.f")
    for name in ("code_version", "processor", "_distribution_version"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda *_: "another")
            assert identified(tmp_path, "m.f") != before
    for name in ("platform.python_version", "importlib.metadata.version"):
        with monkeypatch.context() as patch:
            patch.setattr(name, lambda *_: "another")
            assert identified(tmp_path, "m.f") != before
    assert identified(tmp_path, "m.f") == before


PROGRAM = """
import json, sys
from pathlib import Path
from fedtheory._storage.identity import identities
from tests.test_identity import VALUES
from tests.test_sources import CASES, identified
found = [identified(Path(sys.argv[1], str(i)), case.name) for i, case in enumerate(CASES.values())]
print(json.dumps(found + identities(VALUES)))
"""


@pytest.mark.slow
def test_identities_are_those_of_another_process_with_another_hash_seed(tmp_path: Path) -> None:
    for i, one in enumerate(CASES.values()):
        written(tmp_path / str(i), one.files)
    found = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert len(set(found[0])) == len(CASES) + len(VALUES)


@pytest.mark.usefixtures("modules")
def test_the_text_of_a_study_counts_and_that_of_its_helpers_but_not_its_name(tmp_path: Path) -> None:
    text = "from h import helper\n\n\ndef run(config, progress):\n    return helper(1)\n"
    versions = [
        {"m": text, "h": HELPER},
        {"k": text, "h": HELPER},
        {"m": text, "h": HELPER + "\n"},
        {"m": text + "\n", "h": HELPER},
    ]
    digests = []
    for i, files in enumerate(versions):
        written(tmp_path / str(i), files)
        digests.append(source_digest(imported(tmp_path / str(i), f"{next(iter(files))}.run")))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
