"""What an open package offers is what its modules say, no name twice, and type checkers are told the same."""

import gc
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import fedtheory
from fedtheory.__main__ import _show_warning
from fedtheory._support.discover import BrokenModuleWarning, lazy_modules, lazy_names, modules, surface
from tests import stubs
from tests.environment import ROOT


def package(folder: Path, **sources: str) -> Path:
    """Write a package of modules."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder


def test_a_module_offers_what_its_all_lists_and_without_one_its_functions_and_classes(tmp_path: Path) -> None:
    listed = "__all__ = ['f']\ndef f(): ...\ndef g(): ...\nX = 1"
    package(
        tmp_path,
        listed=listed,
        bare="def h(): ...\nclass C: ...\nY = 2\nimport os\ndef _z(): ...",
        _private="def p(): ...",
    )
    assert surface(str(tmp_path)) == {"f": "listed", "h": "bare", "C": "bare"}


def test_a_name_that_two_modules_offer_is_refused(tmp_path: Path) -> None:
    package(tmp_path, first="def f(): ...", second="def f(): ...")
    with pytest.raises(ImportError, match=r"f must be offered by one module of .*, got first.py and second.py"):
        surface(str(tmp_path))


@pytest.fixture
def _threads_take_turns_while_garbage_is_collected() -> Iterator[None]:
    def let_others_run(*_: object) -> None:
        sum(range(200))

    before, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(500, 5, 5)
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*before)
    gc.callbacks.remove(let_others_run)


@pytest.mark.usefixtures("_threads_take_turns_while_garbage_is_collected")
def test_threads_that_ask_at_once_are_all_told() -> None:
    folder = fedtheory.study.__path__[0]  # type: ignore[attr-defined]
    with ThreadPoolExecutor(20) as threads:
        told = list(threads.map(surface.__wrapped__, [folder] * 100, ["Check"] * 100))
    assert told == [surface(folder, "Check")] * 100


def test_names_outside_the_surface_do_not_exist(tmp_path: Path) -> None:
    package(tmp_path, module="__all__ = ['f']\ndef f(): ...\ndef g(): ...")
    get, names = lazy_names("toy", str(tmp_path))
    assert names() == ["f", "module"]
    with pytest.raises(AttributeError, match="module 'toy' has no attribute 'g'"):
        get("g")


def test_modules_whose_names_are_not_offered_may_use_the_same_one(tmp_path: Path) -> None:
    package(tmp_path, first="def f(): ...", second="def f(): ...")
    get, names = lazy_modules("toy", str(tmp_path))
    assert names() == ["first", "second"]
    with pytest.raises(AttributeError, match="module 'toy' has no attribute 'f'"):
        get("f")


def test_claims_are_asked_for_by_their_keys_so_that_no_two_names_can_clash() -> None:
    for folder in (fedtheory.claims, fedtheory.claims.power_of_choice, fedtheory.claims.fedalign):
        assert {type(getattr(folder, name)) for name in dir(folder)} == {ModuleType}


PAPERS = [name for name in dir(fedtheory.bounds) if hasattr(getattr(fedtheory.bounds, name), "__path__")]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_bound_is_reached_through_its_paper_only(paper: str) -> None:
    folder = getattr(fedtheory.bounds, paper)
    assert not {name for name in dir(folder) if name.endswith(("gap", "step"))} & set(dir(fedtheory.bounds))
    for name in dir(folder):
        assert getattr(folder, name) is not None
    with pytest.raises(AttributeError):
        _ = fedtheory.bounds.one_step  # type: ignore[attr-defined]


def test_a_star_takes_the_names_that_are_listed() -> None:
    assert sorted(fedtheory.bounds.__all__) == dir(fedtheory.bounds)  # type: ignore[attr-defined]


def test_the_roof_names_every_package() -> None:
    rooms = {file.parent.name for file in (ROOT / "fedtheory").glob("[!_]*/__init__.py")}
    assert rooms <= set(dir(fedtheory))


@pytest.mark.parametrize("package", stubs.open_packages(), ids=lambda package: package.__name__)
def test_type_checkers_are_told_of_nothing_that_an_open_package_does_not_offer(package: ModuleType) -> None:
    today = stubs.stub(package).splitlines()
    told = stubs.path(package).read_text(encoding="utf-8").splitlines() if stubs.path(package).exists() else []
    assert [line for line in told if line not in today] == []
    untold = [line.split()[-1] for line in today if line not in told and " import " in line]
    if untold:
        pytest.skip(
            f"until `python -m tests.stubs`, type checkers do not know {', '.join(untold)} of {package.__name__}"
        )


@pytest.mark.slow  # mypy reads the library and NumPy from nothing; that the stubs are current takes no time, above
def test_no_name_of_the_package_and_no_argument_of_a_bound_is_unknown_to_a_type_checker(tmp_path: Path) -> None:
    script = package(tmp_path, user=USER_SCRIPT) / "user.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    revealed = [line.split("Revealed type is ")[1] for line in done.stdout.splitlines() if "Revealed" in line]
    # Strictly, a comment that ignores no error is one: a wrong keyword and a missing one are seen.
    assert "error:" not in done.stdout, done.stdout
    assert len(revealed) == USER_SCRIPT.count("reveal_type(")
    assert '"Any"' not in revealed
    assert [one.split("[")[0].strip('"') for one in revealed[-4:]] == [
        "float",
        "fractions.Fraction",
        "numpy.ndarray",
        "tuple",
    ]


USER_SCRIPT = """
from fractions import Fraction

import numpy

import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc

fed = ft.datasets.power_of_choice_quadratics(num_clients=3)
strategy = ft.selection.PowerOfChoice(1, 2)
run = ft.fedavg(fed, strategy, num_rounds=1, step_size=ft.engine.InverseTime(1.0, 8.0))
reveal_type(fed)
reveal_type(strategy)
reveal_type(run)
reveal_type(ft.exact.error_floor(fed, strategy).value)
reveal_type(ft.verification.verify("power-of-choice:lemma-b1")[0].verdict)
reveal_type(poc.one_step.statement)
reveal_type(poc.decaying_step_sizes)
drift = {"step_size": 0.5, "local_steps": 3}
reveal_type(poc.client_drift(G2=1.0, **drift))
reveal_type(poc.client_drift(Fraction(1, 2), local_steps=3, G2=1))
reveal_type(poc.client_drift(numpy.array([0.5, 0.25]), local_steps=3, G2=1.0))
reveal_type(poc.client_drift(0.5, local_steps=3, G2=1.0, strict=False))
poc.client_drift(0.5, local_steps=3, G2=1.0, wrong=2)  # type: ignore[call-overload]
poc.client_drift(0.5, local_steps=3)  # type: ignore[call-overload]
recursion: ft.theorem.paper.Bound = poc.one_step
"""


@pytest.mark.slow  # pyright reads the library and NumPy from nothing, too
def test_every_family_of_losses_is_a_federation_to_pyright_and_a_bound_knows_its_arguments(tmp_path: Path) -> None:
    if not shutil.which("pyright"):
        pytest.skip("pyright is not installed: the extra dev has it")
    script = package(tmp_path, user=FAMILIES_SCRIPT) / "user.py"
    command = ["pyright", "--pythonpath", sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "0 errors" in done.stdout, done.stdout + done.stderr


FAMILIES_SCRIPT = """
# pyright: reportUnnecessaryTypeIgnoreComment=true
import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc

data = ft.datasets.synthetic(1, 1, num_clients=3, rng=0)
strategy = ft.selection.PowerOfChoice(1, 2)
quadratic = ft.datasets.power_of_choice_quadratics(num_clients=3)
ft.fedavg(quadratic, strategy, num_rounds=1, step_size=0.1)
ft.fedavg(ft.SoftmaxFederation(data, l2=0.1), strategy, num_rounds=1, step_size=0.1)
ft.fedavg(ft.PerceptronFederation(data, (5,)), strategy, num_rounds=1, step_size=0.1, record=("loss",))
print(ft.exact.selection_skew(quadratic, strategy).rho_bar.upper)
print(poc.client_drift(0.5, local_steps=3, G2=1.0))
poc.client_drift(0.5, local_steps=3, G2=1.0, wrong=2)  # pyright: ignore[reportCallIssue]
poc.client_drift(0.5, local_steps=3)  # pyright: ignore[reportCallIssue]
"""


def test_a_broken_file_is_named_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "toy_with_a_broken_file"
    folder.mkdir()
    package(folder, __init__="", good="def f(): ...", stumbles="raise TypeError('a domain\\nis needed')", torn="def (")
    monkeypatch.syspath_prepend(tmp_path)
    toy = importlib.import_module("toy_with_a_broken_file")
    with pytest.warns(BrokenModuleWarning) as told:
        assert [module.__name__ for module in modules(toy)] == ["toy_with_a_broken_file.good"]
    first, second = (str(warning.message) for warning in told)
    assert first == f"{folder / 'stumbles.py'} is left out: TypeError: a domain is needed"
    assert second.startswith(f"{folder / 'torn.py'} is left out: SyntaxError")
    with pytest.warns(BrokenModuleWarning, match=r"torn\.py is left out"):
        assert surface(str(folder)) == {"f": "good"}


def test_commands_say_a_warning_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    _show_warning(UserWarning("mine.py is left out"), UserWarning, "file.py", 3)
    assert capsys.readouterr().err == "warning: mine.py is left out\n"
