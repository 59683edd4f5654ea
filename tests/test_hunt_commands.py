"""``hunt`` and ``show --instance``: results, the command that repeats them, exit codes, Ctrl-C."""

import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from fedtheory.__main__ import main
from fedtheory.claims import catalogue
from fedtheory.claims.power_of_choice import appendix_b, skews
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.verification.instances import reproduce

FALSE, TRUE = skews.candidates_equal_selected_as_printed, appendix_b.lemma_b1


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    """Two fast claims in the place of all."""
    claims = {claim.key: claim for claim in (FALSE, TRUE)}
    monkeypatch.setattr(catalogue, "known_claims", lambda: claims)
    monkeypatch.setattr(catalogue, "_with_that_key", claims.get)
    return claims


def field(shown: str, name: str) -> str:
    """The text beside a name."""
    [line] = [line for line in shown.splitlines() if line.startswith(f"{name} ")]
    return line.removeprefix(name).strip()


def again(shown: str) -> list[str]:
    """The arguments of the command that a hunt prints."""
    return shlex.split(field(shown, "reproduce"))[1:]


@pytest.mark.parametrize("budget", [["--evaluations", "300"], ["--seconds", "1"]])
def test_a_hunt_shows_a_counterexample_and_the_command_that_finds_it_again(
    budget: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hunt", FALSE.key, "--seed", "1", *budget]) == 0  # a false claim may be broken
    shown = capsys.readouterr().out
    assert field(shown, "instance") == "breaks the claim"
    assert main(again(shown)) == 0
    repeated = capsys.readouterr().out
    for name in ("measured", "ratio", "  p", "  num_selected"):
        assert field(repeated, name) == field(shown, name)


def test_breaking_a_claim_that_should_hold_leaves_with_one(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    known[FALSE.key] = replace(FALSE, expected="holds", kind="identity")
    assert main(["hunt", FALSE.key, "--evaluations", "300"]) == 1
    assert main(again(capsys.readouterr().out)) == 1
    assert field(capsys.readouterr().out, "instance") == "breaks the claim"


def test_a_hunt_that_breaks_nothing_shows_the_worst_beside_the_best_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", TRUE.key, "--evaluations", "40", "--seed", "2"]) == 0
    shown = capsys.readouterr().out
    assert (field(shown, "instance"), field(shown, "instances")) == ("holds", "40")
    assert float(field(shown, "ratio")) <= float(field(shown, "best known")) == 1.0


def test_a_numbered_instance_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", TRUE.key, "--seed", "3", "--instance", "7"]) == 0
    finding = reproduce(TRUE, 3, 7)
    assert field(capsys.readouterr().out, "measured").startswith(str(finding.measured))
    assert main(["show", TRUE.key]) == 0
    assert field(capsys.readouterr().out, "ratio") == "1"  # of the regression example


def test_an_interrupted_hunt_shows_the_best_found_so_far(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    seen = list[float]()

    def check(rng: np.random.Generator) -> Finding:
        seen.append(float(rng.random()))
        if len(seen) == 20:
            signal.raise_signal(signal.SIGINT)
        return at_most(seen[-1], 2.0, instance={"u": seen[-1]})

    known[TRUE.key] = replace(TRUE, check=check)
    assert main(["hunt", TRUE.key]) == 130
    shown = capsys.readouterr()
    assert "interrupted after 19 instances" in shown.err
    assert float(field(shown.out, "  u")) == max(seen[:19])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C to send to a group of processes")
def test_ctrl_c_ends_several_jobs_and_their_processes_without_a_traceback() -> None:
    """Processes need seconds to begin."""
    words = "verify power-of-choice:equation-62 power-of-choice:equation-63 --jobs 2 --budget 60"
    command = [sys.executable, "-m", "fedtheory", *words.split()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        time.sleep(8)
        os.killpg(running.pid, signal.SIGINT)
        # Only the end of all processes closes the pipes.
        shown, complaints = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in complaints
    assert "interrupted after" in complaints
    assert shown == ""
