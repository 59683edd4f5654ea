"""The command line: output, exit codes, one-line errors, and few imports at the start."""

import contextlib
import json
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fedtheory.__main__ import main
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims import catalogue
from fedtheory.claims.power_of_choice import appendix_b, appendix_c
from fedtheory.cli.parsing import parser_of_commands
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, not_applicable

FAST = {"power-of-choice:lemma-b1": appendix_b.lemma_b1, "power-of-choice:step-38": appendix_c.equation_38_printed}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    """Two fast claims in the place of all."""
    claims = {claim.key: claim for claim in FAST.values()}
    monkeypatch.setattr(catalogue, "known_claims", lambda: claims)
    monkeypatch.setattr(catalogue, "_with_that_key", claims.get)
    return claims


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """One line of complaint."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    return complaint


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from fedtheory.__main__ import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as left:\n    assert left.code == 0\n"
        "print(','.join(sorted({name.split('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split(","))
    assert loaded.isdisjoint(
        {"numpy", "numba", "cvxpy", "matplotlib", "sympy", "scipy", "xarray", "rich", "pandas", "sklearn"}
    )
    assert all(command in done.stdout for command in ("list", "show", "verify", "check"))


def test_the_module_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "fedtheory", "verify", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "python -m fedtheory: error: keys must name claims, got 'nonsense'\n"


def test_verify_leaves_with_zero_when_every_verdict_is_expected(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify"]) == 0
    shown = capsys.readouterr().out
    assert all(key in shown for key in known)
    assert "2 claims: 1 holds; 1 refuted, as documented; 0 not as expected" in " ".join(shown.split())


def test_verify_leaves_with_one_when_a_verdict_is_unexpected(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    key = appendix_c.equation_38_printed.key
    known[key] = replace(appendix_c.equation_38_printed, expected="holds")
    assert main(["verify", key]) == 1
    assert "UNEXPECTED, not holds" in " ".join(capsys.readouterr().out.split())


def raising(rng: object) -> Finding:
    """A check with a bug."""
    message = "no such\nmatrix"
    raise LookupError(message)


def test_a_check_that_raises_stops_neither_the_other_verdicts_nor_the_file(
    known: dict[str, Claim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = appendix_b.lemma_b1.key
    known[first] = replace(known[first], check=raising)
    file = tmp_path / "verdicts.json"
    assert main(["verify", "--json", str(file)]) == 1
    shown = capsys.readouterr().out
    assert f"{first}: error: LookupError: no such matrix (" in shown
    assert "2 claims: 1 refuted, as documented; 1 error; 1 not as expected" in " ".join(shown.split())
    written = json.loads(
        file.read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    rows = written["verdicts"]
    assert [(row["verdict"], row["as_expected"]) for row in rows] == [("error", False), ("fails", True)]
    assert rows[0]["reason"] == "LookupError: no such matrix"


def test_verify_writes_the_verdicts_and_does_not_overwrite(
    known: dict[str, Claim], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "verdicts.json"
    assert main(["verify", "--seed", "3", "--json", str(file)]) == 0
    capsys.readouterr()
    written = json.loads(file.read_text(encoding="utf-8"))
    rows = written["verdicts"]
    assert (written["seed"], written["budget"], written["interrupted"]) == (3, "quick", False)
    assert [row["key"] for row in rows] == list(known)
    assert {row["entropy"] for row in rows} == {3}
    assert "--force overwrites" in refused(["verify", "--json", str(file)], capsys)
    assert main(["verify", "--json", str(file), "--force"]) == 0
    assert "existing folder" in refused(["verify", "--json", str(tmp_path / "no" / "file")], capsys)


def test_a_dash_writes_the_verdicts_alone_with_numbers_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "power-of-choice:step-54-55", "--json", "-"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert set(written) >= {"fedtheory", "date", "machine", "seed"}
    [row] = written["verdicts"]
    assert (row["measured"], row["predicted"]) == (9 / 32, 17 / 32)
    assert row["exact"] == {"measured": "9/32", "predicted": "17/32"}


def test_a_report_begins_with_what_makes_it_again_and_where_it_was_made(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["verify", "power-of-choice:lemma-b1", "--seed", "3", "--instances", "4", "--report", str(page)]) == 0
    header = page.read_text(encoding="utf-8").partition("</header>")[0]
    told = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", header))
    machine = ["platform", "processor", "num processors", "python"]
    assert list(told) == ["fedtheory", "date", "seed", "budget", "instances", *machine]
    assert (told["seed"], told["instances"]) == ("3", "4")


def test_the_false_alarms_to_expect_are_the_sum_of_the_risks_of_all_verdicts(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    for risk, claim in zip((0.25, 0.125), FAST.values(), strict=True):

        def risky(rng: np.random.Generator, risk: float = risk, claim: Claim = claim) -> Finding:
            return replace(claim.check(rng), risk=risk)

        known[claim.key] = replace(claim, check=risky)
    main(["verify", "--instances", "1", "--json", "-"])
    written = json.loads(capsys.readouterr().out)
    risks = [row["risk"] for row in written["verdicts"]]
    assert min(risks) > 0
    assert written["expected_false_alarms"] == sum(risks)


def test_interrupted_verification_shows_what_it_has_at_once_and_leaves_with_130(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    key = appendix_c.equation_38_printed.key

    def endless(rng: np.random.Generator) -> Finding:
        signal.raise_signal(signal.SIGINT)
        return not_applicable()

    known[key] = replace(known[key], check=endless)
    assert main(["verify"]) == 130
    told = capsys.readouterr()
    assert appendix_b.lemma_b1.key in told.out
    assert key not in told.out
    assert "interrupted after 1 of 2 claims" in told.err


def test_list_names_every_claim_and_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in [*catalogue.known_claims(), *known_bounds()])


def test_list_names_what_a_part_of_a_key_a_title_or_a_pattern_fits(capsys: pytest.CaptureFixture[str]) -> None:
    for pattern in ("gradient_norm", "GRADIENT_norm", "*.gradient_norm"):
        assert main(["list", pattern]) == 0
        shown = capsys.readouterr().out
        assert "power_of_choice.gradient_norm" in shown
        assert "one_step" not in shown
    assert "PATTERN must name claims or bounds, got 'nothing-at-all'" in refused(["list", "nothing-at-all"], capsys)


@pytest.mark.parametrize(
    ("pattern", "bound", "claim"),
    [
        ("Theorem 3.1", "power_of_choice.decaying_steps_gap", "power-of-choice:theorem-3.1"),
        ("3.1", "power_of_choice.decaying_steps_gap", "power-of-choice:theorem-3.1"),
        ("lemma b.1", "power_of_choice.gradient_norm", None),
    ],
)
def test_what_has_the_number_of_the_pattern_is_listed_first(pattern, bound, claim, capsys) -> None:
    assert main(["list", pattern]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line]
    first = dict(pairwise(names))
    assert first["bound"] == bound
    assert claim is None or first["claim"] == claim


def test_a_bound_is_shown_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "theorem 3.1"]) == 0
    assert "power_of_choice.decaying_steps_gap" in capsys.readouterr().out


def test_a_pipe_gets_plain_columns_and_may_be_closed_early() -> None:
    first = ["bound", "left side", "rests on", "source", "printed form differs"]
    command = [sys.executable, "-m", "fedtheory", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert re.split(r"  +", running.stdout.readline().strip()) == first
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 0


def test_show_writes_the_inequality_in_latex_and_refuses_where_there_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", "power_of_choice.client_drift", "--latex"]) == 0
    left = r"\mathbb E\,\frac1m \sum_k \|\bar w_t - w_{k,t}\|^2"
    assert capsys.readouterr().out == left + " \\le 4\\eta_t^2(\\tau-1)^2G^2\n"
    assert "has no formula" in refused(["show", "power-of-choice:step-54-55", "--latex"], capsys)


def test_show_describes_a_bound_with_each_hypothesis_and_each_parameter_in_its_domain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bound = known_bounds()["power_of_choice.decaying_steps_gap"]
    assert main(["show", "power_of_choice.decaying_steps_gap"]) == 0
    shown = capsys.readouterr().out
    assert all(f" {symbol.name} ({symbol.kind}" in shown for symbol in bound.symbols.values())
    assert all(hypothesis.text in shown for hypothesis in bound.hypotheses)


@pytest.mark.parametrize("command", ["list", "show", "verify", "hunt"])
def test_the_examples_of_every_help_run(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    examples = shown.partition("examples:\n")[2].replace("\\\n", " ").splitlines()
    lines = [shlex.split(line.partition("fedtheory ")[2]) for line in examples]
    parser = parser_of_commands()
    assert all(parser.parse_known_args(line)[0].command == command for line in lines)
    known = [*catalogue.known_claims(), *known_bounds()]
    keys = [line[1] for line in lines if len(line) > 1 and command != "list" and not line[1].startswith("-")]
    assert all(catalogue.matching(key, known) for key in keys)
    assert len(lines) >= 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["replay", "power-of-choice:lemma-b1"], "COMMAND must be one of list, show,"),
        (["list", "--all"], "unrecognized arguments: --all"),
        (["show", "power-of-choice:lema-b1"], "(close: power-of-choice:lemma-b1"),
        *(([command, "power_of_choice.one_round"], "COMMAND must be one of") for command in ("bound", "worst")),
        *((["verify", "--budget", word], f"got '{word}'") for word in ("nan", "0", "inf", "slowly")),
        (["verify", "--kind", "guess"], "kind must be one of 'identity', 'inequality'"),
        (["verify", "--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["verify", "--instances", "3", "--budget", "thorough"], "not allowed with argument"),
        (["show", "power-of-choice:lemma-b1", "--instance", "-1"], "--instance must be at least 0, got -1"),
        (["show", "power_of_choice.gradient_norm", "--instance", "1"], "--instance needs the key of one claim"),
        (["hunt", "power-of-choice:lemma"], "must name one claim"),
        (["hunt", "power-of-choice:lemma-b1", "--seconds", "inf"], "--seconds must be finite"),
        (["study", "eror_floor"], "(close: error_floor)"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_two(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint in refused(arguments, capsys)
