"""Two identities are equal only if nothing that determines the results differs."""

import copy
import dataclasses
import functools
import importlib
import json
import os
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict, deque
from enum import Enum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage import identity as module
from fedtheory._storage.identity import UnidentifiedError, identity, source_digest
from tests.environment import ROOT


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


@dataclasses.dataclass(frozen=True)
class OtherPoint:
    x: float
    y: float = 0.0


class Color(Enum):
    RED = 1
    BLUE = 2


class Mine(dict[str, int]):
    pass


# All of these are told apart.
VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 0.0, -0.0, 1.0, float("inf"), float("nan"), 1j, "", "1", b"", b"1", "a", ..., (), (1,),
    (1, 2), (2, 1), ((1,), 2), [1, 2], [], {}, {"a": 1}, {"a": 1.0}, {"b": 1}, {1: "a"}, set(), {1}, {1, 2},
    frozenset({1}), range(3), range(4), slice(1), slice(2), Fraction(1, 2), Fraction(2, 3), PurePosixPath("a"),
    PurePosixPath("b"), Color.RED, Color.BLUE, Point(1.0), Point(1), Point(-0.0), Point(0.0), OtherPoint(1.0),
    np.float64(1.0), np.float32(1.0), np.int64(1), np.int32(1), np.bool_(True), np.array(1.0), np.array([1.0]),
    np.array([[1.0]]), np.array([1]), np.array([1], np.int32), np.array([-0.0]), np.array([0.0]), np.array(["a"]),
    np.array(["b"]), np.array([1.0, 2.0]), np.array([]), np.array([], int), np.zeros((0, 2)), np.zeros((2, 0)),
    np.array([1, None], object), np.array([2, None], object), np.ma.masked_array([1.0], [False]),
    np.ma.masked_array([1.0], [True]), np.random.default_rng(0), np.random.default_rng(1), np.random.SeedSequence(0),
    deque([1]), deque([2]), deque([1], 3), OrderedDict(a=1), Mine(a=1), Mine(a=2), bytearray(b"1"), np.dtype("f8"),
    np.dtype("f4"), int, float, Point, OtherPoint, Color, len, max, np.sum, np.add, np.mean, np.linalg.norm, np, json,
    [].append, [1].append, functools.partial(max, 1), functools.partial(max, 2), functools.partial(min, 1),
    functools.partial(max, key=len), ft.selection.Uniform(1), ft.selection.Uniform(2), ft.selection.Proportional(1),
    ft.selection.PowerOfChoice(1, 2), ft.selection.PowerOfChoice(1, 2, loss="last"),
]  # fmt: skip


def test_values_that_differ_in_type_sign_shape_or_order_have_identities_of_their_own() -> None:
    digests = [identity(value) for value in VALUES]
    alike = [(i, j) for i, one in enumerate(digests) for j in range(i) if digests[j] == one]
    assert [(VALUES[i], VALUES[j]) for i, j in alike] == []


def test_a_copy_of_a_value_has_its_identity() -> None:
    for value in (
        Point(1.0),
        [1, {"a": np.array([1.0])}],
        np.random.default_rng(0),
        {3, 1, 2},
        Fraction(1, 3),
        Mine(a=1),
    ):
        assert identity(copy.deepcopy(value)) == identity(value)


class AnyName(dict[str, Any]):
    """A configuration whose entries are attributes, and which raises KeyError for all other names."""

    __getattr__ = dict.__getitem__


def test_an_object_that_raises_for_unknown_attributes_has_the_identity_of_its_content() -> None:
    assert identity(AnyName(a=1)) == identity(AnyName(a=1)) != identity(AnyName(a=2))


def test_state_that_two_names_share_is_told_from_copies() -> None:
    shared = np.zeros(2)
    assert identity([shared, shared]) != identity([shared, shared.copy()])


def test_cycles_end() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    other: list[Any] = [2]
    other.append(other)
    assert identity(loop) != identity(other)


def test_a_value_that_is_only_kept_by_a_property_does_not_count() -> None:
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    before = identity(fed)
    assert fed.minimum >= 0
    assert identity(fed) == before


def holding(lock: Any) -> Any:
    return lambda x: (lock, x)


def nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


UNKNOWN: dict[str, Any] = {
    "a lock": threading.Lock(),
    "a generator": (i for i in range(3)),
    "a file": sys.stdout,
    "a frame": sys._getframe(),
    "a weak reference": weakref.ref(Point),
    "a thread's own": threading.local(),
    "eval": lambda x: eval(x) + 1,
    "exec": lambda x: [exec, x],
    "globals": lambda: globals()["a"],
    "an import by name": lambda x: __import__(x).a,
    "a lock in a closure": holding(threading.Lock()),
    "a lock in a dictionary": {"a": [threading.Lock()]},
    "deep nesting": nested(100_000),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_has_no_value_that_can_be_read_has_no_identity(what: str) -> None:
    with pytest.raises(UnidentifiedError, match=r"cannot be identified") as refused:
        identity(UNKNOWN[what])
    assert "\n" not in str(refused.value)


# Files of a user, what is imported from them, and one change that changes a result.
HELPER = """
def helper(x):
    return x + 1
"""


class Case(NamedTuple):
    """Files of a user, what is identified of them, and one edit that changes a result."""

    name: str
    file: str
    before: str
    after: str
    files: dict[str, str]


def case(before: str, after: str, *, edited: str = "m", name: str = "m.f", **files: str) -> Case:
    """Describe a case; ``p__h`` is the file h of the package p."""
    texts = {one.replace("__", "/", 1) if one[0] == "p" else one: text for one, text in files.items()}
    packages = {"p/__init__": ""} if any(one.startswith("p/") for one in texts) else {}
    return Case(name, edited, before, after, {**packages, **texts})


CASES = {
    "an index": case(
        "argmin",
        "argmax",
        m="""
import numpy as np
def f(x):
    return np.argmin(x)
""",
    ),
    "a sign": case(
        "-x",
        "+x",
        m="""
def f(x):
    return -x
""",
    ),
    "a number": case(
        "1",
        "1.0",
        m="""
def f(x):
    return x + 1
""",
    ),
    "a global": case(
        "G = 1",
        "G = 2",
        m="""
G = 1
def f(x):
    return x + G
""",
    ),
    "a number in a global table": case(
        "x + 1",
        "x - 1",
        m="""
T = {'a': lambda x: x + 1}
def f(x):
    return T['a'](x)
""",
    ),
    "a default": case(
        "y=1",
        "y=2",
        m="""
def f(x, y=1):
    return x + y
""",
    ),
    "a keyword default": case(
        "y=1",
        "y=2",
        m="""
def f(x, *, y=1):
    return x + y
""",
    ),
    "a closure": case(
        "make(1)",
        "make(2)",
        m="""
def make(c):
    def f(x):
        return x + c
    return f
f = make(1)
""",
    ),
    "a comprehension": case(
        "< 3",
        "<= 3",
        m="""
def f(x):
    return [i < 3 for i in x]
""",
    ),
    "a helper": case(
        "+",
        "-",
        edited="h",
        m="""
from h import helper
def f(x):
    return helper(x)
""",
        h=HELPER,
    ),
    "a helper of a module": case(
        "+",
        "-",
        edited="h",
        m="""
import h
def f(x):
    return h.helper(x)
""",
        h=HELPER,
    ),
    "a helper that is imported within": case(
        "+",
        "-",
        edited="h",
        m="""
def f(x):
    import h
    return h.helper(x)
""",
        h=HELPER,
    ),
    "a helper of a helper": case(
        "+",
        "-",
        edited="k",
        m="""
import h
def f(x):
    return h.g(x)
""",
        h="""
from k import helper as g
""",
        k=HELPER,
    ),
    "a helper in a package": case(
        "+",
        "-",
        edited="p/h",
        m="""
from p import h
def f(x):
    return h.helper(x)
""",
        p__h=HELPER,
    ),
    "a helper beside it": case(
        "+",
        "-",
        edited="p/h",
        name="p.m.f",
        p__m="""
from .h import helper
def f(x):
    return helper(x)
""",
        p__h=HELPER,
    ),
    "a helper that is looked up by text": case(
        "+",
        "-",
        edited="h",
        m="""
import h
def f(x):
    return getattr(h, 'hel' + 'per')(x)
""",
        h=HELPER,
    ),
    "a helper named as a library's module": case(
        "+",
        "-",
        edited="statistics",
        m="""
import statistics
def f(x):
    return statistics.helper(x)
""",
        statistics=HELPER,
    ),
    "a method": case(
        "return 1",
        "return 2",
        m="""
class C:
    def g(self):
        return 1
f = C().g
""",
    ),
    "a method of a base": case(
        "return 1",
        "return 2",
        edited="h",
        m="""
from h import B
class C(B):
    def __call__(self):
        return self.g()
f = C()
""",
        h="""
class B:
    def g(self):
        return 1
""",
    ),
    "state": case(
        "C(1)",
        "C(2)",
        m="""
class C:
    def __init__(self, a):
        self.a = a
    def __call__(self):
        return self.a
f = C(1)
""",
    ),
    "slots": case(
        "C(1)",
        "C(2)",
        m="""
class C:
    __slots__ = ('a',)
    def __init__(self, a):
        self.a = a
f = C(1)
""",
    ),
    "an attribute of a class": case(
        "A = 1",
        "A = 2",
        m="""
class C:
    A = 1
f = C()
""",
    ),
    "a property": case(
        "return 1",
        "return 2",
        m="""
class C:
    @property
    def a(self):
        return 1
f = C()
""",
    ),
    "a static method": case(
        "return 1",
        "return 2",
        m="""
class C:
    @staticmethod
    def a():
        return 1
f = C
""",
    ),
    "a metaclass": case(
        "return 1",
        "return 2",
        m="""
class M(type):
    def a(cls):
        return 1
class C(metaclass=M):
    pass
f = C
""",
    ),
    "what is wrapped": case(
        "x + 1",
        "x + 2",
        m="""
import functools
def twice(g):
    @functools.wraps(g)
    def w(x):
        return g(g(x))
    return w
@twice
def f(x):
    return x + 1
""",
    ),
    "what wraps": case(
        "n * g(x)",
        "n + g(x)",
        edited="h",
        m="""
import functools
from h import times
@times(2)
def f(x):
    return x + 1
""",
        h="""
import functools
def times(n):
    def wrap(g):
        @functools.wraps(g)
        def w(x):
            return n * g(x)
        return w
    return wrap
""",
    ),
    "what is cached": case(
        "x + 1",
        "x + 2",
        m="""
import functools
@functools.cache
def f(x):
    return x + 1
""",
    ),
    "a part of a partial one": case(
        "(g, 1)",
        "(g, 2)",
        m="""
from functools import partial
def g(a, b):
    return a - b
f = partial(g, 1)
""",
    ),
    "a compiled helper": case(
        "x + 1",
        "x - 1",
        edited="h",
        m="""
import numba
from h import g
@numba.njit
def f(x):
    return g(x)
""",
        h="""
import numba
@numba.njit
def g(x):
    return x + 1
""",
    ),
    "an option of the compiler": case(
        "False",
        "True",
        m="""
import numba
@numba.njit(fastmath=False)
def f(x):
    return x
""",
    ),
    "a vectorized function": case(
        "x + 1",
        "x - 1",
        m="""
import numba
@numba.vectorize
def f(x):
    return x + 1
""",
    ),
    "a field of a named tuple": case(
        "= 1",
        "= 2",
        m="""
from typing import NamedTuple
class N(NamedTuple):
    a: int = 1
f = N()
""",
    ),
    "a default of a dataclass": case(
        "= 1",
        "= 2",
        m="""
from dataclasses import dataclass
@dataclass
class D:
    a: int = 1
f = D
""",
    ),
}


NAMES = ("m", "h", "k", "p", "p.m", "p.h", "statistics")
SEEN_IN_TEXT_ONLY = {"a helper that is looked up by text"}


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)


def forget() -> dict[str, Any]:
    """Let names of modules be free, as in a new process; return what had them."""
    for cached in (module._version, module._distribution):
        cached.cache_clear()
    importlib.invalidate_caches()
    return {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}


def identified(folder: Path, name: str, *, sources: bool = True) -> str:
    """Identity of what is in a folder, as a new process would import it."""
    before = forget()
    sys.path.insert(0, str(folder))
    try:
        home, _, attribute = name.rpartition(".")
        return identity(getattr(importlib.import_module(home), attribute), here=sources)
    finally:
        sys.path.remove(str(folder))
        forget()
        sys.modules.update(before)


@pytest.mark.parametrize("sources", [True, False], ids=["with texts", "without"])
@pytest.mark.parametrize("what", CASES)
def test_a_change_of_a_function_or_of_what_it_refers_to_is_another_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, sources: bool
) -> None:
    one = CASES[what]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert one.before in one.files[one.file]
    written(tmp_path / "before", one.files)
    written(tmp_path / "after", {**one.files, one.file: one.files[one.file].replace(one.before, one.after)})
    before, after, again = (
        identified(tmp_path / version, one.name, sources=sources) for version in ("before", "after", "before")
    )
    assert before == again
    assert (before != after) == (sources or what not in SEEN_IN_TEXT_ONLY)


PROGRAM = """
import json, sys
from pathlib import Path
from tests.test_identity import CASES, VALUES, identified, identity
found = [identified(Path(sys.argv[1], str(i)), case.name) for i, case in enumerate(CASES.values())]
print(json.dumps(found + [identity(value) for value in VALUES]))
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


def test_an_edit_elsewhere_in_the_file_is_another_identity_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "before", {"m": "def f(x):\n    return x\n"})
    written(tmp_path / "after", {"m": "def f(x):\n    return x\n\n\ndef other():\n    return 1\n"})
    digests = [identified(tmp_path / version, "m.f") for version in ("before", "after")]
    assert digests[0] != digests[1]


TABLE = np.array([1.0, 2.0])
LIST = [1, 2]


def reads_globals(x: float) -> float:
    return x * TABLE[0] + LIST[0]


def test_a_global_that_is_changed_while_the_program_runs_is_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [identity(reads_globals)]
    TABLE[0] = 3.0
    seen.append(identity(reads_globals))
    LIST.append(3)
    seen.append(identity(reads_globals))
    TABLE[0] = 1.0
    LIST.pop()
    assert len(set(seen)) == 3
    assert identity(reads_globals) == seen[0]


def uses_libraries(x: Any) -> Any:
    return np.linalg.norm(x) + json.loads("1") + ft.sampling.variance([1.0], [1.0])


def test_a_function_of_a_library_that_is_replaced_is_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity(uses_libraries)
    for owner, name in ((np.linalg, "norm"), (json, "loads"), (ft.sampling, "variance")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda *_: 0.0)
            assert identity(uses_libraries) != before
    assert identity(uses_libraries) == before


def test_versions_of_libraries_and_their_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [identity(uses_libraries, here=one) for one in (True, False)]
    for name, count in (("code_version", [True, True]), ("_files", [True, False]), ("processor", [True, False])):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda *_: "another")
            module._version.cache_clear()
            found = [identity(uses_libraries, here=one) for one in (True, False)]
        assert [one != two for one, two in zip(found, before, strict=True)] == count
    module._version.cache_clear()


def test_a_compiled_function_of_the_user_is_known_by_its_python() -> None:
    def made(number: int) -> Any:
        @numba.njit
        def function(x: float) -> float:
            return x + number

        return function

    assert identity(made(1)) == identity(made(1))
    assert identity(made(1)) != identity(made(2))


def test_the_text_of_a_study_counts_and_that_of_its_helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digest() -> str:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(tmp_path))
            for name in ("own_study", "own_helper"):
                patch.delitem(sys.modules, name, raising=False)
            import own_study  # type: ignore[import-not-found]

            return source_digest(functools.partial(own_study.run, 3))

    study = "from own_helper import helper\n\n\ndef run(config, progress):\n    return helper(1)\n"
    written(tmp_path, {"own_study": study, "own_helper": HELPER})
    seen = [digest(), digest()]
    written(tmp_path, {"own_helper": HELPER.replace("+", "-")})
    seen.append(digest())
    written(tmp_path, {"own_study": study + "\n# a remark\n"})
    seen.append(digest())
    assert len(set(seen)) == 3
