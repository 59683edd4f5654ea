"""A cached kernel never runs an old version of a function that it calls, and is not recompiled without need."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from fedtheory._support.compiling import (
    _imports,
    _load_directly,
    _readable,
    compiled,
    compiled_with_reordering,
    inlined,
)
from fedtheory._support.strict import strict

import fedtheory
from fedtheory._support import compiling
from fedtheory._support.exponential import power
from fedtheory.errors import CacheWarning
from tests.environment import PLAIN_PYTHON, ROOT

INNER = """
from fedtheory._support.compiling import compiled
from fedtheory.numbers import NUMBER

@compiled
def inner(x):
    return x + {}
"""
CALLER = """
from fedtheory._support.compiling import compiled
from fedtheory.inner import inner

@compiled
def outer(x):
    return inner(x)
"""
LOADED = """
import sys
import numba
import numpy as np
from fedtheory.outer import outer

print(outer(np.ones(2)), sum(outer.stats.cache_hits.values()), "scipy.linalg" in sys.modules)
print(numba.njit(lambda x: outer(x) or x.size == 3)(np.array([3.0, np.inf])), "scipy.linalg" in sys.modules)
"""
WITH_ARRAYS = """
import numpy as np
from fedtheory._support.compiling import compiled

@compiled
def outer(x):
    return np.isfinite(x).all()
"""
NUMBERS = "from fedtheory.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"


def answer(folder: Path, program: str = NUMBERS) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_OPT": "1"}
    # Bytecode goes by time and size, which the tests leave as they were.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, cwd=folder
    )
    return done.stdout.strip()


def rewrite_unseen(file: Path, text: str) -> None:
    """Write a text of the same length and leave the time of the file as it was."""
    before = file.stat()
    file.write_text(text)
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_a_text_that_it_is_made_of_changes_and_only_then(tmp_path):
    package = tmp_path / "fedtheory"
    (package / "_support").mkdir(parents=True)
    for name in ("_support/compiling.py", "_support/progress.py", "_support/__init__.py", "errors.py"):
        shutil.copy(Path(fedtheory.__file__).parent / name, package / name)
    (package / "outer.py").write_text(CALLER)
    (package / "inner.py").write_text(INNER.format("NUMBER"))
    (package / "numbers.py").write_text("NUMBER = 1\n")
    (package / "stranger.py").write_text(INNER.format(1))
    (package / "__init__.py").write_text("")
    assert answer(tmp_path) == "2 0"
    # A constant in a file without kernels, which a function reads that the kernel calls.
    rewrite_unseen(package / "numbers.py", "NUMBER = 3\n")
    assert answer(tmp_path) == "4 0"
    (package / "inner.py").write_text(INNER.format(10))
    assert answer(tmp_path) == "11 0"
    # A checkout, and an edit elsewhere.
    for file in package.glob("*.py"):
        os.utime(file)
    (package / "stranger.py").write_text(INNER.format(20))
    assert answer(tmp_path) == "11 1"


@pytest.mark.slow
def test_cached_code_loads_without_what_only_a_compiler_needs_and_goes_into_other_code(tmp_path):
    package = tmp_path / "fedtheory"
    (package / "_support").mkdir(parents=True)
    for name in ("_support/compiling.py", "_support/progress.py", "_support/__init__.py", "errors.py"):
        shutil.copy(Path(fedtheory.__file__).parent / name, package / name)
    (package / "outer.py").write_text(WITH_ARRAYS)
    (package / "__init__.py").write_text("")
    assert answer(tmp_path, LOADED).splitlines() == ["True 0 True", "False True"]
    assert answer(tmp_path, LOADED).splitlines() == ["True 1 False", "False True"]


@pytest.mark.parametrize(
    "statement",
    [
        "from fedtheory.sampling._newton import newton",
        "from fedtheory.sampling import _newton",
        "import fedtheory.sampling._newton",
        "from fedtheory.sampling import (\n    certificates,\n    _newton,\n)",
    ],
)
def test_imports_are_found_however_they_are_written(tmp_path, statement):
    (tmp_path / "kernel.py").write_text(f"import numpy\n{statement}\nx = 1\n")
    newton = Path(fedtheory.__file__).parent / "sampling" / "_newton.py"
    assert newton in _imports(tmp_path / "kernel.py")
    assert newton not in _imports(newton.with_name("optimal.py").with_name("inclusion.py"))


FOREIGN = """
from typing import NamedTuple
import numpy as np
from numba import njit
import fedtheory as ft
from fedtheory.engine.contract import Family

class Arrays(NamedTuple):
    rows: np.ndarray
    objective: np.ndarray

@njit(cache=True, nogil=True)
def losses(problem, model, candidates, batch_size, rng, losses):
    losses[:] = 1.0

@njit(cache=True, nogil=True)
def train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    updates[:] = problem.rows[0]

@njit(cache=True, nogil=True)
def excess(problem, model):
    return model[0]

class Theirs:
    num_clients, dim, weights, minimum = 2, 1, np.array([0.5, 0.5]), 0.0

@ft.engine.layout.register
def lay_out(fed: Theirs, work):
    rows = np.ones((3, 1))
    rows.setflags(write=False)
    return Family(Arrays(rows, np.ones((1, 1))), losses, train, excess, reference=0.0)
"""
RUN = "print(ft.fedavg(fed, ft.selection.Uniform(1), num_rounds=2, step_size=0.5, record=('gap',)).gap)"
OURS = f"import fedtheory as ft; fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [0.0]], [0.5, 0.5]); {RUN}"


@pytest.mark.slow  # two processes compile the round loop anew; that an unreadable index is none takes no time, below
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_family_of_somebody_else_leaves_nothing_in_the_cache_that_another_process_cannot_read(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "family_of_somebody.py").write_text(FOREIGN)
    theirs = f"import fedtheory as ft, family_of_somebody; fed = family_of_somebody.Theirs(); {RUN}"
    for program, path, wanted in ((theirs, [tmp_path / "theirs"], "[[0. 1. 2.]]"), (OURS, [], "[[0. 0. 0.]]")):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *path])),
                       "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_OPT": "1"}  # fmt: skip
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert (done.stdout.strip(), done.returncode) == (wanted, 0), done.stderr
    # One compilation of the loop serves both families, whose arrays are alike.
    assert len(list((tmp_path / "cache").rglob("_rounds.run_rounds-*.nbc"))) == 1


def test_an_index_that_names_what_is_gone_is_as_good_as_none():
    def lost():
        raise ModuleNotFoundError("No module named 'renamed_since'")

    assert _readable(lost)() == {}
    assert _readable(lambda: {"signature": "file"})() == {"signature": "file"}


class OtherCache:
    """Numba's cache of a function where some part that is private to numba has another name."""

    def __init__(self) -> None:
        self._cache_file = self
        self.read = self._load_data = lambda name: f"numba's {name}"

    def load_overload(self, signature, context):
        return self._load_data(signature)


UTILITIES = """
import numpy as np
from fedtheory.valuation import softmax_utilities

for seed, num_players, num_classes in ((0, 6, 10), (3, 6, 10), (4, 3, 3)):
    rng = np.random.default_rng(seed)
    models = 0.3 * rng.standard_normal((num_players, 21 * num_classes))
    samples = rng.standard_normal((300, 20)), rng.integers(num_classes, size=300)
    found = softmax_utilities(0.0 * models[0], models, rng.uniform(1, 5, num_players), *samples)
    print(found.tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_code_that_was_just_compiled_gives_the_bits_of_code_that_was_kept(tmp_path):
    """Sums that may be reordered are optimized anew in each caller: which copy is called must not be chance."""
    other = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**other, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, again = (
        subprocess.run([sys.executable, "-c", UTILITIES], capture_output=True, check=True, env=environment, cwd=ROOT)
        for _ in range(2)
    )
    assert first.stdout
    assert first.stdout == again.stdout


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_numba_that_is_made_otherwise_loads_as_it_does_by_itself():
    known = OtherCache()
    _load_directly(known)
    assert known._load_data is not known.read
    assert known.load_overload("code", numba.core.registry.cpu_target.target_context) == "numba's code"


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_kernels_leave_the_interpreter_to_other_threads_and_only_some_go_into_their_callers_or_reorder_sums():
    def kernel(x):
        return x

    for make, more in (
        (compiled, {}),
        (inlined, {"inline": "always"}),
        (compiled_with_reordering, {"fastmath": {"contract", "reassoc", "nsz", "arcp"}, "forceinline": True}),
    ):
        made: Any = make(kernel)
        assert made.targetoptions == {"nopython": True, "boundscheck": None, "nogil": True, **more}


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_bounds_are_checked_of_functions_of_others_that_did_not_choose() -> None:
    def first(values: Any) -> Any:
        return values[0]

    chosen, open_to_us = numba.njit(boundscheck=False)(first), numba.njit(first)
    assert strict(power) is power
    assert strict(chosen).targetoptions["boundscheck"] is False
    assert strict(open_to_us).targetoptions["boundscheck"] is True


TWICE = """
from fedtheory._support.compiling import compiled

@compiled
def twice(x):
    return 2 * x
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
@pytest.mark.parametrize("is_named", [False, True])
def test_where_no_folder_can_be_written_code_is_compiled_with_one_warning(tmp_path: Path, is_named: bool) -> None:
    # Root may write anywhere, but not into what is no folder.
    shutil.copytree(ROOT / "fedtheory", tmp_path / "fedtheory", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (tmp_path / "fedtheory").rglob("*/"):
        (folder / "__pycache__").write_text("")
    for file in ("no folder", "fedtheory/__pycache__"):
        (tmp_path / file).write_text("")
    (tmp_path / "fedtheory" / "twice.py").write_text(TWICE)
    closed = {"HOME": str(tmp_path / "no folder"), "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    named = {"NUMBA_CACHE_DIR": str(tmp_path / "no folder" / "within")} if is_named else {}
    others = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    program = (
        "import fedtheory.twice, fedtheory._support.exponential as e; print(e.power(0.0), fedtheory.twice.twice(3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=others | closed | named,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("1.0 6\n", 0), done.stderr
    assert done.stderr.count("CacheWarning: compiled code cannot be cached") == 1
    assert "Traceback" not in done.stderr


def test_a_folder_that_fills_up_is_one_warning() -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    compiling.say_that_nothing_is_kept.cache_clear()
    with pytest.warns(CacheWarning, match="compiled code cannot be cached"):
        compiling._at_most_a_warning(full)("signature", "code")
    compiling._at_most_a_warning(full)("signature", "code")
    compiling.say_that_nothing_is_kept.cache_clear()
