"""The mutants are what they should be, and a mutant survives exactly where nothing looks."""

import ast
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import mutate
from tests.environment import ROOT
from tests.mutants import mutants
from tests.nearness import CLAIMS, MOST_TESTS, REFUSALS, SURFACE, VALUES

FILES = sorted(str(file.relative_to(ROOT)) for part in ("fedtheory", "studies") for file in (ROOT / part).rglob("*.py"))


def changed_to(text: str, kind: str) -> set[str]:
    """Sources that the mutants of one kind make of a source."""
    return {mutant.apply(text) for mutant in mutants("a.py", text) if mutant.kind == kind}


@pytest.mark.parametrize(
    ("kind", "text", "changed"),
    [
        ("constant", "x = 2", {"x = 3"}),
        ("constant", "x = 0.5", {"x = 1.0"}),
        ("constant", "x = 0.0", {"x = 1.0"}),
        ("constant", "x = f(keepdims=True)", {"x = f(keepdims=False)"}),
        ("exponent", "y = x**2", {"y = x**3"}),
        ("sign", "y = -(a + b)", {"y = (a + b)"}),
        ("operator", "y = (a + b) * (c)", {"y = (a - b) * (c)", "y = (a + b) / (c)"}),
        ("operator", "x += 1", {"x -= 1"}),
        ("operator", "y = a @ b", set()),
        ("operator", 'y = "a" + b', set()),
        ("comparison", "y = a <= b", {"y = a < b", "y = a >= b"}),
        ("comparison", "y = a not in b", {"y = a in b"}),
        ("summand", "y = (a * b) - c", {"y = (a * b)", "y = -c"}),
        ("summand", 'def f(): return {"a": (x), "b": y**2}', None),
        ("factor", "y = a * b / c", {"y = a / c", "y = (a * b)"}),
        ("hypothesis", "@states(PAPER, assumes=(f(), g(2)))\ndef h(): ...", None),
        ("hypothesis", "X = (SMOOTH, *_NOISE)", {"X = (*_NOISE,)", "X = (SMOOTH,)"}),
        ("hypothesis", "LANES, ROWS = 16, 8", set()),
        ("branch", "y = a if b else c", {"y = a if not b else c"}),
        ("branch", "y = a and b or c", {"y = a or b or c", "y = a and b and c"}),
        ("branch", "y = not a", {"y =  a"}),
        ("branch", "y = [x for x in z if x > 0]", {"y = [x for x in z if True]"}),
        ("refusal", "if a:\n    m = 1\n    raise E(m)", {"if False:\n    m = 1\n    raise E(m)"}),
        ("refusal", "check(x)", {"pass"}),
        ("function", "y = any(x)", {"y = all(x)"}),
        ("function", "y = sum(x)", {"y = max(x)"}),
        ("function", "y = sum(x, Fraction(0))", set()),
        ("function", "y = x.sum()", {"y = x.prod()"}),
        ("function", "y = x.min()", {"y = x.max()"}),
        ("function", "y = np.argmax(x)", {"y = np.argmin(x)"}),
        ("function", "y = np.sqrt(a + b)", {"y = (a + b)"}),
        ("function", "y = f(min)", set()),
    ],
)
def test_each_kind_changes_one_thing(kind: str, text: str, changed: set[str] | None) -> None:
    spelled_out = {
        "summand": {text.replace("(x)", "(0.0)"), text.replace("y**2", "0.0")},
        "hypothesis": {text.replace("f(), g(2)", "f(),"), text.replace("f(), g(2)", "g(2),")},
    }
    assert changed_to(text, kind) == (spelled_out[kind] if changed is None else changed)


def test_what_computes_nothing_is_left_alone() -> None:
    text = """
        from a import b
        __all__ = ["X", "Y"]
        if TYPE_CHECKING:
            X = 1
        def f(x: Literal[1] = None) -> Array[2]:
            "Three: 3."
            message = f"{3 + x}"
            raise ValueError(1 + x, f"{4}")
        """
    assert mutants("a.py", textwrap.dedent(text)) == []


def test_places_are_right_behind_letters_of_several_bytes() -> None:
    assert changed_to('y = "µ→", -x, "é"\n', "sign") == {'y = "µ→", x, "é"\n'}


def test_every_mutant_of_the_library_is_another_program() -> None:
    rng = random.Random(0)
    for file in rng.sample(FILES, 40):
        text = (ROOT / file).read_text(encoding="utf-8")
        found = mutants(file, text)
        for mutant in rng.sample(found, min(5, len(found))):
            assert ast.dump(ast.parse(mutant.apply(text))) != ast.dump(ast.parse(text)), mutant
            assert mutant.diff(text)


def test_a_seed_gives_the_same_mutants_again_of_every_kind_and_none_twice() -> None:
    files = [file for file in FILES if file.startswith("fedtheory/sampling/")]
    drawn = mutate.sample(files, 60, seed=3)
    assert drawn == mutate.sample(reversed(files), 60, seed=3)
    assert drawn != mutate.sample(files, 60, seed=4)
    assert len(set(drawn)) == 60
    assert {mutant.kind for mutant in drawn} == {mutant.kind for file in files for mutant in mutate.of_file(file)}


@pytest.mark.parametrize("file", FILES)
def test_every_file_has_tests_that_exist(file: str) -> None:
    checks = mutate.checks_of(file)
    assert [check for check in checks if not (ROOT / check.split("::")[0]).exists()] == []
    assert any(check.startswith("tests") for check in checks)


def test_a_part_of_studies_is_judged_by_those_that_have_it() -> None:
    quick = (
        "tests/test_studies.py::test_the_quick_study_keeps_its_checks_and_draws_the_same_figures_from_what_it_stored"
    )
    assert mutate.checks_of("studies/_cohorts.py")[0] == f"{quick}[proof_slack]"
    # Those of another part that have it are asked, too.
    tables = mutate.checks_of("studies/_greedyfed_runs.py")
    assert tables[:2] == (f"{quick}[greedyfed_tables]", f"{quick}[greedyfed_lead]")
    parts = [f"studies/{part.name}" for part in sorted((ROOT / "studies").glob("_*.py"))]
    alone = [part for part in parts if not mutate.checks_of(part)[0].startswith(quick)]
    assert alone == ["studies/_performance_floor.py"]  # a script


def test_the_nearest_tests_come_first() -> None:
    floor = mutate.checks_of("fedtheory/exact/floor.py")
    assert floor[:2] == ("fedtheory/exact/floor.py", "tests/exact/test_floor.py")
    package = {str(test.relative_to(ROOT)) for test in (ROOT / "tests" / "exact").glob("test_*.py")}
    assert set(floor[1:-1]) == package | {SURFACE, VALUES, *REFUSALS}
    assert SURFACE in mutate.checks_of("fedtheory/exact/_forms.py")  # it tells constants of private modules, too
    assert floor[-1] == "tests/claims/test_exact_quadratics_claims.py"  # of others what imports from the very file
    assert mutate.checks_of("fedtheory/valuation/cumulative.py")[-2] == REFUSALS[-1]
    recursion = mutate.checks_of("fedtheory/bounds/recursion.py")
    assert recursion[1] == "tests/bounds/test_recursion.py"
    assert "tests/claims/test_claims.py" in recursion
    assert mutate.checks_of("fedtheory/paper.py")[1] == "tests/test_paper.py"
    assert mutate.checks_of("fedtheory/_commands/letters.py")[1] == "tests/test_command_line.py"
    assert mutate.checks_of("fedtheory/__init__.py") == ("fedtheory/__init__.py", "tests/test_discover.py", SURFACE)


def test_a_file_without_tests_of_its_own_has_those_that_import_it_before_those_that_import_what_does() -> None:
    checks = mutate.checks_of("fedtheory/_semidefinite.py")
    direct, through_another = "tests/exact/test_certificates.py", "tests/worst_case/test_enclosures.py"
    assert checks[1] == direct
    assert checks[2] == SURFACE
    assert through_another in checks[3:]
    assert len(checks) == 2 + MOST_TESTS


def test_the_verdicts_on_its_own_claims_come_first_for_a_file_of_claims() -> None:
    verdict = "tests/claims/test_claims.py::test_the_verdict_is_the_expected_one_on_the_instances_on_record"
    theorems = tuple(f"{verdict}[fedavg:theorem-{number}]" for number in (1, 2, 3))
    assert mutate.checks_of("fedtheory/claims/fedavg/theorems.py")[1:4] == theorems
    sharpened = "tests/claims/test_looseness.py::test_the_worst_known_instance_refutes"
    page, first_sharpened = mutate.checks_of("fedtheory/claims/fedavg/theorems.py")[4:6]
    assert page == CLAIMS
    assert first_sharpened.startswith(sharpened)
    assert mutate.checks_of("fedtheory/claims/fedavg/_checks.py")[1].startswith(f"{verdict}[fedavg:")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one function; its test looks at positive numbers only."""
    (tmp_path / "fedtheory" / "toy").mkdir(parents=True)
    (tmp_path / "tests" / "toy").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    for package in ("fedtheory", "fedtheory/toy"):
        (tmp_path / package / "__init__.py").write_text("")
    loop = "    while x > 9 + 1:\n        x -= 1\n"
    (tmp_path / "fedtheory" / "toy" / "sizes.py").write_text(f"def size(x):\n{loop}    return x if x >= 0 else -x\n")
    check = "from fedtheory.toy.sizes import size\n\ndef test_size():\n    assert (size(3), size(12)) == (3, 10)\n"
    (tmp_path / "tests" / "toy" / "test_sizes.py").write_text(check)
    return tmp_path


def test_what_no_test_looks_at_survives_and_an_endless_loop_is_ended(project: Path, tmp_path_factory) -> None:
    laboratory = mutate.Laboratory(tmp_path_factory.mktemp("scratch"), project, patience=1)
    checks = mutate.checks_of("fedtheory/toy/sizes.py", project)
    text = (project / "fedtheory" / "toy" / "sizes.py").read_text()
    found = {mutant.apply(text): mutant for mutant in mutants("fedtheory/toy/sizes.py", text)}

    def verdict(old: str, new: str) -> str:
        return mutate.killer(laboratory.judge(found[text.replace(old, new, 1)], checks))

    assert verdict("-x", "x") == "SURVIVED"
    assert verdict("9 + 1", "9 - 1") == "FAILED tests/toy/test_sizes.py::test_size"
    assert verdict("-= 1", "+= 1") == "ended with code -9"
    assert (laboratory.folder / "fedtheory" / "toy" / "sizes.py").read_text() == text
    assert (project / "fedtheory" / "toy" / "sizes.py").read_text() == text


def test_a_limit_is_lowered_and_never_raised() -> None:
    script = (
        "import resource as r; from tests.mutate import lower; "
        "[lower(r.RLIMIT_CPU, most) for most in (50, 40, 36_000)]; print(r.getrlimit(r.RLIMIT_CPU))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(40, 40)"


def test_a_mutant_of_a_kernel_that_dies_as_plain_python_is_not_compiled(project: Path, tmp_path_factory) -> None:
    (project / ".ci").mkdir()
    (project / ".ci" / "run").write_text("kernels='tests/toy/test_plain.py'\n")
    kernel = "def compiled(f):\n    return f\n\n\n@compiled\ndef double(x):\n    return 2 * x\n"
    (project / "fedtheory" / "toy" / "kernel.py").write_text(kernel)
    (project / "fedtheory" / "toy" / "plain.py").write_text(kernel.replace("@compiled\n", ""))
    plain = "import os\nfrom fedtheory.toy import kernel, plain\n\ndef test_plain():\n"
    looks = "    seen = (kernel.double(2), plain.double(2)) if os.environ['NUMBA_DISABLE_JIT'] == '1' else (4, 4)\n"
    (project / "tests" / "toy" / "test_plain.py").write_text(f"{plain}{looks}    assert seen == (4, 4)\n")
    laboratory = mutate.Laboratory(tmp_path_factory.mktemp("scratch"), project)
    for name, dies in {"kernel": True, "plain": False}.items():
        doubled = mutants(f"fedtheory/toy/{name}.py", (project / "fedtheory" / "toy" / f"{name}.py").read_text())[0]
        report = laboratory.judge(doubled, ["tests/toy/test_plain.py"])
        assert (mutate.killer(report) == "FAILED tests/toy/test_plain.py::test_plain") is dies


def test_the_tests_that_take_kernels_as_plain_python_are_those_of_the_script() -> None:
    named = mutate.plain_python_tests()
    assert "tests/selection/test_contract.py" in named
    assert all((ROOT / name).exists() for name in named)


def test_tests_that_fail_without_a_mutant_are_no_judges(project: Path, tmp_path_factory) -> None:
    (project / "tests" / "toy" / "test_sizes.py").write_text("def test_size():\n    assert False\n")
    (mutant,) = mutate.sample(["fedtheory/toy/sizes.py"], 1, 0, project)
    laboratory = mutate.Laboratory(tmp_path_factory.mktemp("scratch"), project)
    with pytest.raises(SystemExit, match="these tests fail without any mutant"):
        laboratory.judge(mutant, mutate.checks_of(mutant.file, project))
