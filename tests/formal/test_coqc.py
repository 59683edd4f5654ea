"""coqc accepts every file of the Coq development, with the axioms of the reals only.

coqc is Debian's package ``coq``. All files are compiled once, by the commands that the page about them shows.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedtheory.__main__ import main
from fedtheory.formal import AXIOMS, FOLDER, PROVED
from fedtheory.worst_case.formal_theorems import HEAD, file_of
from tests.formal.assumed import assumed_beyond
from tests.formal.reading import premises, source
from tests.formal.test_exported import (
    SOME,
    STATED,
    exported,
    gradient_step,
    worst_of,
)
from tests.formal.test_formal import FILES, code, code_of_page

MISSING = [program for program in ("coqc", "coq_makefile", "make") if shutil.which(program) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed (Debian: packages coq and make): {', '.join(MISSING)}"),
]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def coqc(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "coqc", "-q", "-R", ".", "FedTheory", file)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files, which coqc has accepted."""
    folder = tmp_path_factory.mktemp("coq")
    for file in [*FILES, "_CoqProject"]:
        shutil.copyfile(FOLDER / file, folder / file)
    for command in (["coq_makefile", "-f", "_CoqProject", "-o", "Makefile"], ["make", "-j2"]):
        answer = run(folder, *command)
        assert answer.returncode == 0, answer.stderr
    return folder


@pytest.fixture
def folder(compiled: Path, tmp_path: Path) -> Path:
    """A copy of the compiled files, to add to."""
    return shutil.copytree(compiled, tmp_path / "copy")


def theorems(file: str) -> list[str]:
    """The full names of a file's theorems; lemmas are what they need."""
    names = re.findall(r"^ *Theorem (\w+)", code(source(file)), re.MULTILINE)
    return [f"FedTheory.{Path(file).stem}.{name}" for name in names]


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
    assert {f"FedTheory.{Path(file).stem}.{name}" for file, name, *_ in PROVED.values()} <= set(names)
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


def exported_with_coqc(folder: Path, examples: list[Any]) -> None:
    """Export the worst cases of examples, compile them as one file, and look at what they rest on."""
    texts = []
    for number, example in enumerate(examples):
        worst = worst_of(example)
        texts.append(file_of([case.in_short_numbers().document() for case in worst.cases], f"exported_{number}"))
    (folder / "Exported.v").write_text(HEAD + "".join(text.removeprefix(HEAD) for text in texts), encoding="utf-8")
    accepted = coqc(folder, "Exported.v")
    assert accepted.returncode == 0, accepted.stderr
    found = re.findall(r"^Theorem (\w+)", "".join(texts), re.MULTILINE)
    assert len(found) == len(examples)
    assert assumptions(folder, [f"FedTheory.Exported.{name}" for name in found]) <= AXIOMS


def test_exported_theorems_rest_on_the_axioms_of_the_reals_only(folder: Path) -> None:
    exported_with_coqc(folder, SOME)


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
    text = exported(gradient_step().solve())
    (folder / "Exported.v").write_text(re.sub(right, wrong, text), encoding="utf-8")
    assert re.search(right, text)
    assert coqc(folder, "Exported.v").returncode != 0


def test_a_certificate_is_checked_by_coq(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gradient_step().solve().save(tmp_path / "certificate.json")
    assert main(["check", "--coq", str(tmp_path / "certificate.json")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("proved: Coq ")
    assert "  f0 x1 - f0 xs <= " in said
