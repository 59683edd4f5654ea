"""What a shell offers after Tab: asked in a real bash, and compared with what importing everything finds."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory._commands import completing
from fedtheory.verification import catalogue
from fedtheory.verification.claims import KINDS
from tests.environment import ROOT

# Readline hands a function the words, cut at colons too, and reads what the function puts into COMPREPLY.
ASK = r"""
source <(fedtheory completion bash)
for COMP_LINE in "$@"; do
  COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMPREPLY=()
  _python_argcomplete fedtheory
  printf '%s\n' "$COMP_LINE" "${COMPREPLY[@]}" ''
done
"""

# What stands before the colon is a word of its own.
LEMMAS = {"lemma-b1", "lemma-b1-worst-case", "lemma-b2", "lemma-b2-falling-steps", "lemma-b2-refined", "lemma-b3"}


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which ``fedtheory`` is this program, whether it is installed or not."""
    script = tmp_path / "fedtheory"
    script.write_text(f"#!{sys.executable}\nfrom fedtheory.__main__ import run\nrun()\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def test_a_shell_is_offered_commands_keys_parameters_and_studies(program: dict[str, str]) -> None:
    lines = {
        "fedtheory ver": {"verify"},
        "fedtheory show power-of-choice:lemma-b": LEMMAS,
        "fedtheory bound power_of_choice.gradient_n": {"power_of_choice.gradient_norm"},
        "fedtheory bound power_of_choice.gradient_norm --": {
            "--excess",
            "--L",
            "--printed",
            "--from",
            "--loose",
            "--json",
            "--help",
        },
        "fedtheory bound power_of_choice.gradient_norm --L 2 --ex": {"--excess"},
        "fedtheory verify --kind in": {"inequality"},
        "fedtheory verify --kind ref": {"refuted\\ conjecture"},  # the space is escaped
        "fedtheory verify --paper g": {"greedyfed"},
        "fedtheory completion f": {"fish"},
    }
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", *lines], env=program, cwd=ROOT, capture_output=True, text=True, check=True
    )
    blocks = [block.splitlines() for block in done.stdout.strip().split("\n\n")]
    assert {line: {word.strip() for word in offered} for line, *offered in blocks} == lines


def test_names_read_in_source_files_are_those_that_importing_finds() -> None:
    keys, names = sorted(catalogue.known_claims()), sorted(catalogue.known_bounds())
    read = [*completing.claim_keys(), *completing.bound_names()]
    assert completing.kinds() == list(KINDS)
    assert read == [name for name in [*keys, *names] if name in read]
    if unread := sorted({*keys, *names} - set(read)):
        pytest.skip(f"no shell offers what stands in no source file as it is: {', '.join(unread)}")


def test_parameters_read_in_source_files_are_those_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, bound in catalogue.known_bounds().items():
        monkeypatch.setenv("COMP_LINE", f"fedtheory bound {name}")
        assert completing.parameters() == [f"--{parameter.replace('_', '-')}" for parameter in bound.domains]


def test_a_shell_is_answered_without_importing_what_takes_time(program: dict[str, str]) -> None:
    asked = {**program, "COMP_LINE": "fedtheory show fed", "COMP_POINT": "18", "_ARGCOMPLETE": "1"}
    asked |= {"_ARGCOMPLETE_STDOUT_FILENAME": os.devnull, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(["fedtheory"], env=asked, capture_output=True, text=True, check=False)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "argcomplete" in loaded
    assert loaded.isdisjoint({"numpy", "numba", "sympy", "scipy", "rich", "matplotlib"})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", shell])
    assert "fedtheory" in capsys.readouterr().out
