"""What commands print and write, with numbers to four digits, without what differs from machine to machine.

``python -m tests.transcripts`` writes ``transcripts.txt``.
"""

import contextlib
import io
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from fedtheory import __version__
from fedtheory.__main__ import main

FILE = Path(__file__).with_suffix(".txt")
STEP = "--step-size 1/9 --mu 2/7 --L 5/3 --local-steps 3 --num-selected 2 --sigma2 3/5"
ROUND = f"one_round --distance2 1 {STEP} --objective-gap 1/2 --rho-diagonal 6/5 --rho-tilde 2"
COMMANDS = (
    *(f"{command} --help" for command in ("list", "show", "bound", "worst", "verify", "hunt", "replay")),
    "study --help", "--help",
    "list lemma-b", "list 'fedavg.*_gap' --json", "list nothing-like-it",
    "show power_of_choice.gradient_norm", "show power_of_choice.gradient_norm --json",
    "show power_of_choice.gradient_norm --latex", "show power-of-choice:step-80-printed", "show fedavg:lemma",
    "bound power_of_choice.gradient_norm --excess 7/3 --L 5/2", "bound power_of_choice.gradient_norm --help",
    "bound power_of_choice.gradient_norm --excess 7/3 --L 5/2 --json", f"bound power_of_choice.{ROUND}",
    f"bound power_of_choice.{ROUND.replace('6/5', '3')} --loose", f"bound power_of_choice.{ROUND.replace('6/5', '3')}",
    f"bound power_of_choice.{ROUND.replace('6/5', '3')} --loose --json",
    f"worst power_of_choice.{ROUND.replace('--local-steps 3', '--local-steps 1').replace('3/5', '0')}",
    "hunt fedalign:theta- --evaluations 3", "hunt fedalign:equation-3 --evaluations 3", "hunt none", "replay lemma-b1",
    "bound fedavg. --mu 1", "bound power_of_choice.de --mu 1",
    "bound fedavg.one_step --mu", "bound fedavg.one_step --mu 1 --nu 2",
    "worst fedavg.l --mu 1",
    "bound power_of_choice.gradient_norm --printed --help", "bound power_of_choice.one_step --printed --help",
    "bound power_of_choice.gradient_norm --printed --excess 7/3 --L 5/2",
    "verify --jobs 0", "verify --seed -1", "verify --instances 0", "verify fedavg:lemma-4 --json OUT/none.json",
    "verify fedavg:lemma-4 --report OUT/none.html", "replay fedavg:lemma-4 --tape 1",
    "show fedalign:equation-3 --latex",
    "verify power-of-choice:lemma-b1 power-of-choice:step-80-printed --seed 3",
    "verify power-of-choice:lemma-b1 power-of-choice:step-80-printed --instances 7 --json -",
    "verify optimal-client-sampling:mean-of-alpha optimal-client-sampling:mean-of-gamma --instances 2 --json -",
    "hunt power-of-choice:lemma-b1 --evaluations 30 --seed 2",
    "hunt power-of-choice:step-80-printed --evaluations 30 --json",
    "replay power-of-choice:lemma-b1", "replay power-of-choice:lemma-b1 --seed 3 --instance 7 --json",
    "replay power-of-choice:lemma-b1 --tape 0.25,0.75,0.5",
)  # fmt: skip


def transcript(command: str) -> list[str]:
    """Return what a command prints, its complaints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", {"COLUMNS": "120"}):
        words = [word.replace("OUT", f"{folder}/out") for word in shlex.split(command)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code: object = main(words)
            except SystemExit as left:
                code = left.code
        shown = [*_plain(out.getvalue(), folder), *(f"! {line}" for line in _plain(err.getvalue(), folder))]
    return [*shown, f"exit code {code}"]


def _plain(text: str, folder: str) -> Iterator[str]:
    """Leave out folders, times, progress and what the machine is, and round numbers."""
    text = re.sub(
        r'(?s)"machine": \{.*?\}', '"machine": {}', text.replace(folder, "FOLDER").replace(__version__, "VERSION")
    )
    for line in re.split(r"[\n\r]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)):
        bare = re.sub(r"(?<![.\w])(?=\d*[a-f])[0-9a-f]{16,}|[\d.e-]+ s\b|\d:\d\d:\d\d", "TIME", line.rstrip())
        if bare and not re.search(r"\d of \d+|seconds|\"date\"", bare):
            yield re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.4g}", bare)


def written() -> dict[str, list[str]]:
    """Return the transcripts that are written down, by command."""
    found: dict[str, list[str]] = {}
    for part in FILE.read_text(encoding="utf-8").split("\n\n"):
        command, *rest = part.strip().splitlines()
        found[command.removeprefix("$ ")] = rest
    return found


if __name__ == "__main__":
    texts = ("\n".join([f"$ {command}", *transcript(command)]) for command in COMMANDS)
    FILE.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
