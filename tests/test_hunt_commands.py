"""``hunt`` and ``replay``: what is found, the line that checks it again, exit codes, Ctrl-C."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from fedtheory.__main__ import main
from fedtheory.claims.power_of_choice import as_printed, lemmas
from fedtheory.verification import catalogue
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, at_most
from tests.test_command_line import patience, refused

FALSE, TRUE = as_printed.candidates_equal_selected, lemmas.lemma_b1


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    """Two fast claims in the place of all."""
    claims = {claim.key: claim for claim in (FALSE, TRUE)}
    monkeypatch.setattr(catalogue, "known_claims", lambda: claims)
    return claims


def field(shown: str, name: str) -> str:
    """The text beside a name."""
    [line] = [line for line in shown.splitlines() if line.startswith(f"{name} ")]
    return line.removeprefix(name).strip()


def test_a_hunt_shows_a_counterexample_and_the_command_that_replays_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", FALSE.key, "--evaluations", "300"]) == 0  # a false claim may be broken
    shown = capsys.readouterr().out
    assert field(shown, "instance") == "breaks the claim"
    command = shlex.split(field(shown, "reproduce"))
    again = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, check=True, timeout=60)
    for name in ("measured", "ratio", "  p", "  num_selected"):
        assert field(again.stdout, name) == field(shown, name)


def test_breaking_a_claim_that_should_hold_leaves_with_one(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    known[FALSE.key] = replace(FALSE, expected="holds", kind="identity")
    assert main(["hunt", FALSE.key, "--evaluations", "300"]) == 1
    _, *words = shlex.split(field(capsys.readouterr().out, "reproduce"))
    assert main(words[2:]) == 1
    assert field(capsys.readouterr().out, "instance") == "breaks the claim"


def test_a_hunt_that_breaks_nothing_shows_the_worst_beside_the_best_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", TRUE.key, "--evaluations", "40", "--seed", "2"]) == 0
    shown = capsys.readouterr().out
    assert (field(shown, "instance"), field(shown, "instances")) == ("holds", "40")
    assert float(field(shown, "ratio")) <= float(field(shown, "best known")) == 1.0


def test_a_hunt_as_json_holds_its_tape(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hunt", FALSE.key, "--evaluations", "100", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert (written["claim"], written["verdict"], written["interrupted"]) == (FALSE.key, "fails", False)
    tape = ",".join(map(repr, written["tape"]))
    assert main(["replay", FALSE.key, "--tape", tape, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [again[name] for name in ("measured", "instance")] == [written[name] for name in ("measured", "instance")]


def test_a_numbered_instance_and_the_stored_one_are_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", TRUE.key, "--seed", "3", "--instance", "7"]) == 0
    drawn = field(capsys.readouterr().out, "measured")
    child = ["--seed", "3", "--spawn-key", "1,2", "--instance", "7"]
    assert main(["replay", TRUE.key, *child]) == 0
    assert field(capsys.readouterr().out, "measured") != drawn
    assert main(["replay", TRUE.key]) == 0
    assert field(capsys.readouterr().out, "ratio") == "1"
    assert main(["replay", "power-of-choice:step-54-55"]) == 0
    assert field(capsys.readouterr().out, "instance") == "breaks the claim"


def test_what_cannot_be_replayed_or_hunted_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no stored instance" in refused(["replay", "power-of-choice:equation-16"], capsys)
    assert "must name one claim" in refused(["hunt", "power-of-choice:lemma"], capsys)
    assert "--evaluations must be above 0, got 0" in refused(["hunt", TRUE.key, "--evaluations", "0"], capsys)
    for tape in ("x", "1.0", "nan", "0.5,-0.1"):
        assert f"--tape: must be numbers from 0 to below 1 with commas, or none, got '{tape}'" in refused(
            ["replay", TRUE.key, "--tape", tape], capsys
        )


def test_a_check_that_raises_is_shown_with_its_tape_or_instance(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    def check(rng: np.random.Generator) -> Finding:
        return at_most(1, 1 / (int(rng.integers(0, 2)) - 1))

    known[TRUE.key] = replace(TRUE, check=check)
    assert main(["hunt", TRUE.key, "--evaluations", "50"]) == 1
    complaint = capsys.readouterr().err
    assert complaint == "ZeroDivisionError: division by zero, on the tape (0.5,)\n"
    assert main(["replay", TRUE.key, "--tape", "0.5"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_an_interrupted_hunt_shows_the_best_found_so_far_at_once(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    released, stopped, seen = threading.Event(), [], []

    def check(rng: np.random.Generator) -> Finding:
        seen.append(float(rng.random()))
        if len(seen) == 20:
            stopped.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)
            released.wait(timeout=30)
        return at_most(seen[-1], 2.0)

    known[TRUE.key] = replace(TRUE, check=check)
    assert main(["hunt", TRUE.key]) == 130
    reaction = time.monotonic() - stopped[0]
    released.set()
    shown = capsys.readouterr()
    assert "interrupted after 19 instances" in shown.err
    assert float(field(shown.out, "reproduce").split()[-1]) == max(seen[:19])
    assert reaction < 0.5 * patience()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C to send to a group of processes")
def test_ctrl_c_ends_a_hunt_with_several_jobs_and_their_processes_without_a_traceback() -> None:
    """Processes need seconds to begin."""
    command = [
        sys.executable,
        "-m",
        "fedtheory",
        "hunt",
        "power-of-choice:equation-62",
        "--jobs",
        "2",
        "--seconds",
        "60",
    ]
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
    assert shown == "" or "holds" in field(shown, "instance")
