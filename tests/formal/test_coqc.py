"""coqc accepts every file of the Coq development, with the axioms of the reals only.

coqc is Debian's package ``coq``. All files are compiled once, by the commands that the page about them shows.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from fedtheory.__main__ import main
from fedtheory.formal import AXIOMS, FOLDER, FOUNDATION, PRINTED, PROVED
from fedtheory.worst_case import Problem
from fedtheory.worst_case._coq_names import reserved
from fedtheory.worst_case.formal_theorems import HEAD, file_of
from tests.environment import ROOT
from tests.formal.assumed import assumed_beyond
from tests.formal.reading import premises, source
from tests.formal.test_exported import SOME, STATED, averaging, drawn_step, exported, gradient_step, worst_of
from tests.formal.test_formal import FILES, code
from tests.formal.test_names import KEYWORDS, USED

MISSING = [program for program in ("coqc", "coq_makefile", "make") if shutil.which(program) is None]
IS_REQUIRED = os.environ.get("FEDTHEORY_REQUIRE_COQ") == "1"
"""Whether these tests fail where coqc is missing; they are skipped otherwise."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING) and not IS_REQUIRED, reason=f"not installed (Debian: packages coq and make): {', '.join(MISSING)}"
    ),
]


def code_of_page() -> list[str]:
    """The Coq code on the page about machine-checked theorems."""
    page = (ROOT / "docs" / "theory" / "machine_checked.md").read_text(encoding="utf-8")
    return re.findall(r"^```coq\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def coqc(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "coqc", "-q", "-R", ".", "FedTheory", file)


@cache
def made(factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with all files after their compilation, and the complaint if one of them is refused."""
    folder = factory.mktemp("coq")
    for file in [*FILES, "_CoqProject"]:
        shutil.copyfile(FOLDER / file, folder / file)
    for command in (["coq_makefile", "-f", "_CoqProject", "-o", "Makefile"], ["make", "-j2"]):
        answer = run(folder, *command)
        if answer.returncode:
            return folder, answer.stderr
    return folder, ""


def all_compiled(factory: pytest.TempPathFactory) -> Path:
    """A folder with all files, which coqc has accepted; all tests of a process share it."""
    folder, complaint = made(factory)
    assert complaint == ""
    return folder


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of the compiled files, to add to."""
    return shutil.copytree(all_compiled(tmp_path_factory), tmp_path / "copy")


def theorems(file: str) -> list[str]:
    """The full names of a file's theorems and of their instances; lemmas are what they need."""
    names = re.findall(r"^ *(?:Theorem (\w+)|Definition (\w+_instance)\b)", code(source(file)), re.MULTILINE)
    return [f"FedTheory.{Path(file).stem}.{theorem or instance}" for theorem, instance in names]


def asked(folder: Path, question: str, names: list[str]) -> str:
    """What coqc answers to a question about theorems, the files of which are loaded."""
    modules = sorted({name.split(".")[1] for name in names if name.startswith("FedTheory.")})
    (folder / "Question.v").write_text(
        f"From FedTheory Require Import {' '.join(modules)}.\n{question}", encoding="utf-8"
    )
    answer = coqc(folder, "Question.v")
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def assumptions(folder: Path, names: list[str], before: str = "") -> set[str]:
    """What all of these rest on together: asked at once, since each question reads the whole of the reals again."""
    together = ", ".join(f"@{name}" for name in names)
    answer = asked(folder, f"{before}Definition all := ({together}).\nPrint Assumptions all.\n", names)
    title, _, listed = answer.partition("\n")
    assert title == "Axioms:", answer
    return set(re.findall(r"^([\w.]+)(?: :|$)", listed, re.MULTILINE))


def test_every_theorem_rests_on_the_axioms_of_the_reals_only(folder: Path) -> None:
    assert all((folder / file).with_suffix(".vo").is_file() for file in FILES)
    names = [name for file in FILES for name in theorems(file)]
    verdicts = [*PROVED.values(), *(theorem for form in PRINTED.values() for theorem in form[:2] if theorem)]
    assert {f"FedTheory.{Path(file).stem}.{name}" for file, name, *_ in verdicts} <= set(names)
    assert assumptions(folder, names) <= AXIOMS


def test_an_own_theorem_may_use_these_and_another_axiom_is_seen(folder: Path) -> None:
    found = assumptions(folder, [*theorems("Gradients.v"), "lucky"], "Axiom lucky : 1 = 2.\n")
    assert found - AXIOMS == {"lucky"}
    *_, exported_file, mine, corollary = code_of_page()
    (folder / "Mine.v").write_text(mine, encoding="utf-8")
    assert coqc(folder, "Mine.v").stdout.startswith("Axioms:\nClassicalDedekindReals.sig_forall_dec")
    for name, content in (("Projected_step.v", exported_file), ("Corollary.v", corollary)):
        (folder / name).write_text(content, encoding="utf-8")
        assert coqc(folder, name).returncode == 0


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("Gradients.v", "sq (g w) <= 2 * L * (f w - low)", "sq (g w) <= 199 / 100 * L * (f w - low)"),
        ("Averages.v", "<= 4 * last^2 * (INR tau - 1)^2 * G2", "<= 3 * last^2 * (INR tau - 1)^2 * G2"),
        ("Examples.v", "1 / 10 * sq (x0 - xs)", "1 / 11 * sq (x0 - xs)"),
        ("Examples.v", "[1 # 4; 2 # 3; 1 # 4; 5 # 12; 1 # 3]", "[1 # 4; 2 # 3; 1 # 4; 5 # 12; 1 # 4]"),
    ],
)
def test_a_wrong_constant_is_refused(folder: Path, file: str, right: str, wrong: str) -> None:
    assert right in source(file)
    (folder / file).write_text(source(file).replace(right, wrong), encoding="utf-8")
    answer = coqc(folder, file)
    assert answer.returncode != 0
    assert "Error" in answer.stderr


def test_theorems_assume_no_more_of_the_constants_than_their_bounds(folder: Path) -> None:
    names = [f"FedTheory.{Path(file).stem}.{name}" for file, name, *_ in PROVED.values()]
    question = "".join(f"Check @{name.removeprefix('FedTheory.')}.\n" for name in names)
    answers = re.split(r"^\S+\n? +: ", asked(folder, question, names), flags=re.MULTILINE)
    found = zip(PROVED, answers[1:], strict=True)
    assert {bound: more for bound, answer in found if (more := assumed_beyond(bound, premises(answer)))} == {}


def accepted_with_reserved_names(folder: Path, file: str) -> None:
    """Compile an exported file; the names of others that it refers to are none that a binder can have."""
    accepted = coqc(folder, file)
    assert accepted.returncode == 0, accepted.stderr
    assert names(folder, file, foreign=True) <= reserved()


def names(folder: Path, file: str, *, foreign: bool) -> set[str]:
    """The names that a compiled file defines, or those of other files that it refers to, as coqc lists them."""
    module, found = f"FedTheory.{Path(file).stem}", set()
    for line in (folder / file).with_suffix(".glob").read_text(encoding="utf-8").splitlines():
        first, *rest = line.split()
        if foreign and first.startswith("R") and rest[0] != module and rest[-1] not in {"lib", "mod", "not"}:
            found.add(rest[2])
        elif not foreign and first in {"def", "prf", "ind", "constr", "rec", "proj"}:
            found.add(rest[-1].partition(":")[0])
    return found


def exported_with_coqc(folder: Path, examples: list[Any]) -> None:
    """Export the worst cases of examples, compile them as one file, and look at what they rest on."""
    texts = []
    for number, example in enumerate(examples):
        worst = worst_of(example)
        texts.append(file_of([case.in_short_numbers().document() for case in worst.cases], f"exported_{number}"))
    (folder / "Exported.v").write_text(HEAD + "".join(text.removeprefix(HEAD) for text in texts), encoding="utf-8")
    accepted_with_reserved_names(folder, "Exported.v")
    found = re.findall(r"^Theorem (\w+)", "".join(texts), re.MULTILINE)
    assert len(found) == len(examples)
    assert assumptions(folder, [f"FedTheory.Exported.{name}" for name in found]) <= AXIOMS


def test_exported_theorems_rest_on_the_axioms_of_the_reals_only(folder: Path) -> None:
    exported_with_coqc(folder, SOME)


def named_step(point: str, function: str = "f0") -> Problem:
    """A gradient step with these names."""
    p = Problem()
    f = p.function(L=1, name=function)
    best, x = f.minimizer(), p.point(point)
    p.at_most((x - best).square, 1)
    p.maximize(f.value(x - f.gradient(x)) - f.value(best))
    return p


def test_points_and_functions_may_have_any_names(folder: Path) -> None:
    words = [
        *KEYWORDS[1:], *USED, "Variable", "call_convex", "AtMost", "Minus", "sq", "h0", "k0", "e1", "vec", "x*",
        "x'",
    ]  # fmt: skip
    pairs = [("grad_f", "f_"), ("grad_f_", "f_"), ("f_pairs", "f"), ("f", "f"), ("grad_f0", "forall"), ("E", "sq")]
    exported_with_coqc(folder, [partial(named_step, *pair) for pair in [*((word,) for word in words), *pairs]])


def test_what_the_foundation_defines_is_reserved(folder: Path) -> None:
    assert all(names(folder, f"{file}.v", foreign=False) <= reserved() for file in FOUNDATION)


def test_the_list_of_the_standard_library_is_complete(folder: Path) -> None:
    listed = {*(FOLDER / "standard_library.txt").read_text(encoding="utf-8").split()}
    assert {file.stem for file in Path(run(folder, "coqc", "-where").stdout.strip()).rglob("*.vo")} <= listed


@pytest.mark.long
def test_the_gallery_is_exported_where_it_has_a_formal_statement(folder: Path) -> None:
    exported_with_coqc(folder, STATED)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"1 / 6\.|1 # 6\)\)\)", lambda found: found[0].replace("6", "7")),
        (r"1 / 6\.", lambda _: "1 / 7."),
        (r"sq \(start - xs\)%V <= 1 ->", lambda _: "sq (start - xs)%V <= 2 ->"),
        (r"start - grad_f0 start", lambda _: "start - 1 / 2 * grad_f0 start"),
        (r"convex f0 grad_f0 ->\n", lambda _: ""),
    ],
)
def test_an_exported_theorem_with_another_constant_or_step_is_refused(
    folder: Path, right: str, wrong: Callable[[re.Match[str]], str]
) -> None:
    refused(folder, exported(gradient_step().solve()), right, wrong)


def refused(folder: Path, text: str, right: str, wrong: Callable[[re.Match[str]], str]) -> None:
    (folder / "Exported.v").write_text(re.sub(right, wrong, text), encoding="utf-8")
    assert re.search(right, text)
    assert coqc(folder, "Exported.v").returncode != 0


@pytest.mark.parametrize(
    ("problem", "right", "wrong"),
    [
        (partial(averaging, gap=1), r"draws_distinct p draw 3 c ->", "draws_with_replacement p draw 3 c ->"),
        (partial(averaging, gap=1), r"size p = 10%nat", "size p = 11%nat"),
        (partial(drawn_step, 2), r"(draws_with_replacement p draw|sampled_mean) 2", r"\1 3"),
    ],
)
def test_another_sample_is_refused(folder: Path, problem: Callable[[], Problem], right: str, wrong: str) -> None:
    refused(folder, exported(problem().solve()), right, lambda found: found.expand(wrong))


def test_a_certificate_is_checked_by_coq(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gradient_step().solve().save(tmp_path / "certificate.json")
    assert main(["check", "--coq", str(tmp_path / "certificate.json")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("proved: Coq ")
    assert "  f0 x1 - f0 xs <= " in said
