"""The Coq development: what it names, what it rests on, and that coqc accepts it and nothing else.

coqc is Debian's package ``coq``. Where it is not installed, the tests that need it are skipped; they are slow.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from fedtheory.formal import FOLDER, PROVED, REFUTED
from fedtheory.verification import known_bounds
from tests.environment import ROOT
from tests.formal.reading import source, statement

FILES = sorted(file.name for file in FOLDER.glob("*.v"))
# The axioms of Coq's classical real numbers.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
# Sentences that leave something unproved, or add an axiom.
UNPROVED = re.compile(r"\b(?:Admitted|admit|Abort|Axioms?|Conjectures?|Parameters?|Unset|bypass_check)\b")


def code(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL)


def test_every_bound_has_a_verdict() -> None:
    assert {*PROVED, *REFUTED} == set(known_bounds())
    assert not {*PROVED} & {*REFUTED}


@pytest.mark.parametrize("bound", sorted({**PROVED, **REFUTED}))
def test_the_theorem_of_a_bound_is_there_and_has_its_name(bound: str) -> None:
    theorem = {**PROVED, **REFUTED}[bound]
    assert theorem.name == bound.replace(".", "_") + "_false" * (bound in REFUTED)
    assert statement(*theorem)
    assert ("~ forall" in statement(*theorem)) == (bound in REFUTED)


def test_the_project_lists_every_file() -> None:
    assert (FOLDER / "_CoqProject").read_text(encoding="utf-8").split("\n") == ["-R . FedTheory", *FILES, ""]


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_assumed_without_being_said(file: str) -> None:
    text = code(source(file))
    assert UNPROVED.findall(text) == []
    # Outside of a section a hypothesis is an axiom.
    depth = 0
    for line in text.splitlines():
        depth += line.lstrip().startswith("Section ") - line.startswith("End ")
        assert depth > 0 or not re.match(r"\s*(?:Hypothes[ie]s|Variables?|Context)\b", line), line


@pytest.mark.parametrize("sentence", ["Admitted.", "Axiom a : False.", "Parameter a : False.", "Unset Guard Checking."])
def test_what_is_unproved_is_seen(sentence: str) -> None:
    assert UNPROVED.search(code(f"Lemma x : True. (* Qed *) {sentence}"))


def code_of_page() -> list[str]:
    """The Coq code on the page about machine-checked theorems."""
    page = (ROOT / "docs" / "theory" / "machine_checked.md").read_text(encoding="utf-8")
    return re.findall(r"^```coq\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def test_the_page_shows_what_is_in_the_files() -> None:
    theorem, example, _ = code_of_page()
    assert theorem in source("Gradients.v")
    assert example == source("Examples.v")


needs_coqc = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian: package coq)")


def coqc(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    command = ["coqc", "-q", "-R", ".", "FedTheory", file]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def needed(file: str) -> list[str]:
    """The files that a file needs and itself, each after those it requires."""
    found: dict[str, None] = {}
    for required in re.findall(r"^From FedTheory Require (?:Export|Import) ([\w ]+)\.", source(file), re.MULTILINE):
        for other in required.split():
            found |= dict.fromkeys(needed(f"{other}.v"))
    return [*found, file]


def accept(folder: Path, files: Iterable[str]) -> None:
    """Have coqc accept files in a folder."""
    for file in files:
        (folder / file).write_text(source(file), encoding="utf-8")
        answer = coqc(folder, file)
        assert answer.returncode == 0, answer.stderr


def theorems(file: str) -> list[str]:
    """The full names of a file's theorems; lemmas are what they need."""
    names = re.findall(r"^ *Theorem (\w+)", code(source(file)), re.MULTILINE)
    return [f"FedTheory.{Path(file).stem}.{name}" for name in names]


def assumptions(folder: Path, names: list[str], before: str = "") -> set[str]:
    """What all of these rest on together: asked at once, since each question reads the whole of the reals again."""
    modules = sorted({name.split(".")[1] for name in names if name.startswith("FedTheory.")})
    together = ", ".join(f"@{name}" for name in names)
    question = f"From FedTheory Require {' '.join(modules)}.\n{before}Definition all := ({together}).\n"
    (folder / "Question.v").write_text(f"{question}Print Assumptions all.\n", encoding="utf-8")
    answer = coqc(folder, "Question.v")
    assert answer.returncode == 0, answer.stderr
    title, _, listed = answer.stdout.partition("\n")
    assert title == "Axioms:", answer.stdout
    return set(re.findall(r"^([\w.]+)(?: :|$)", listed, re.MULTILINE))


@needs_coqc
@pytest.mark.slow
def test_coqc_accepts_every_file_and_theorems_rest_on_the_axioms_of_the_reals_only(tmp_path: Path) -> None:
    accept(tmp_path, dict.fromkeys(one for file in FILES for one in needed(file)))
    names = [name for file in FILES for name in theorems(file)]
    assert {f"FedTheory.{Path(file).stem}.{name}" for file, name in PROVED.values()} <= set(names)
    assert assumptions(tmp_path, names) <= AXIOMS


@needs_coqc
@pytest.mark.slow
def test_an_own_theorem_may_use_these_and_another_axiom_is_seen(tmp_path: Path) -> None:
    accept(tmp_path, needed("Gradients.v"))
    found = assumptions(tmp_path, [*theorems("Gradients.v"), "lucky"], "Axiom lucky : 1 = 2.\n")
    assert found - AXIOMS == {"lucky"}
    # The page's example of a development of one's own needs the same files.
    (tmp_path / "Mine.v").write_text(code_of_page()[2], encoding="utf-8")
    assert coqc(tmp_path, "Mine.v").stdout.startswith("Axioms:\nClassicalDedekindReals.sig_forall_dec")


@needs_coqc
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "changes"),
    [
        (
            "Gradients.v",
            {
                "sq (g w) <= 2 * L * (f w - low)": "sq (g w) <= 199 / 100 * L * (f w - low)",
                "mu / 4 * sq (y - z) - L * sq (z - x)": "mu * sq (y - z) - L * sq (z - x)",
            },
        ),
        ("Averages.v", {"<= 4 * last^2 * (INR tau - 1)^2 * G2": "<= 3 * last^2 * (INR tau - 1)^2 * G2"}),
        (
            "Examples.v",
            {
                "1 / 10 * sq (x0 - xs)": "1 / 11 * sq (x0 - xs)",
                "[1 # 4; 2 # 3; 1 # 4; 5 # 12; 1 # 3]": "[1 # 4; 2 # 3; 1 # 4; 5 # 12; 1 # 4]",
            },
        ),
    ],
)
def test_a_wrong_constant_is_refused(tmp_path: Path, file: str, changes: dict[str, str]) -> None:
    accept(tmp_path, needed(file))
    for right, wrong in changes.items():
        assert right in source(file)
        (tmp_path / file).write_text(source(file).replace(right, wrong), encoding="utf-8")
        answer = coqc(tmp_path, file)
        assert answer.returncode != 0
        assert "Error" in answer.stderr
