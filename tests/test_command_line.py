"""The command line: output, exit codes, one-line errors, and few imports at the start."""

import contextlib
import importlib
import json
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import fedtheory
from fedtheory.__main__ import main, run
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims import catalogue
from fedtheory.claims.power_of_choice import appendix_b, appendix_c
from fedtheory.cli.parsing import parser_of_commands
from fedtheory.cli.refusals import program
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, not_applicable
from tests.environment import ROOT

GAP = [
    *("bound", "power_of_choice.decaying_steps_gap", "--num-steps", "12", "--mu", "1", "--L", "1"),
    *("--local-steps", "1", "--num-selected", "1", "--G2", "3", "--sigma2", "0", "--objective-gap", "0"),
    *("--rho-tilde", "1", "--initial-distance2", "0"),
]
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
    assert all(command in done.stdout for command in ("list", "show", "bound", "verify"))


def test_verifying_imports_no_plotting_nor_solvers() -> None:
    script = (
        "import sys\n"
        "from fedtheory.verification.verdicts import verify\n"
        "verify('power-of-choice:lemma-b1')\n"
        "print(sorted({'cvxpy', 'matplotlib', 'sympy', 'scipy.stats', 'xarray'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
    assert "2 claims: 1 holds, 1 fails; 0 not as expected" in " ".join(shown.split())


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
    assert "2 claims: 1 fails, 1 error; 1 not as expected" in " ".join(shown.split())
    written = json.loads(
        file.read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    rows = written["verdicts"]
    assert [(row["verdict"], row["as_expected"]) for row in rows] == [("error", False), ("fails", True)]
    assert rows[0]["reason"] == "LookupError: no such matrix"


def rarely(share: float, claim: Claim) -> Claim:
    """The claim, on this share of its instances."""

    def check(rng: np.random.Generator) -> Finding:
        return claim.check(rng) if rng.random() < share else not_applicable()

    return replace(claim, check=check)


def test_a_true_claim_that_rarely_applies_is_drawn_until_it_does(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    key = appendix_b.lemma_b1.key
    known[key] = rarely(0.2, known[key])
    assert main(["verify", key]) == 0
    assert re.search(r" 20 of \d\d+ ", capsys.readouterr().out)


def test_a_claim_that_hardly_applies_is_unexpected_and_names_the_option_that_draws_more(
    known: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    key = appendix_b.lemma_b1.key
    known[key] = rarely(0.005, known[key])
    assert main(["verify", key]) == 1
    found = re.search(
        rf"{key}: inconclusive: the hypotheses hold on (\d) of 400 instances, 5 are needed", shown(capsys)
    )
    assert found is not None
    assert main(["verify", key, "--instances", "100"]) == 0
    assert main(["show", key]) == 1
    assert "--instances 100 (num_instances=100 in Python) draws up to 2000" in shown(capsys)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, in one line."""
    return " ".join(capsys.readouterr().out.split())


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


def test_a_thorough_budget_tries_more_instances(known: dict[str, Claim], tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    key = appendix_b.lemma_b1.key
    assert main(["verify", key, "--budget", "thorough", "--json", str(file)]) == 0
    [row] = json.loads(file.read_text(encoding="utf-8"))["verdicts"]
    assert row["num_instances"] == known[key].instances[1] + 1  # and the regression example


def test_a_dash_writes_the_verdicts_alone_with_numbers_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "power-of-choice:step-54-55", "--json", "-"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert set(written) >= {"fedtheory", "date", "machine", "seed"}
    [row] = written["verdicts"]
    assert (row["measured"], row["predicted"]) == (9 / 32, 17 / 32)
    assert row["exact"] == {"measured": "9/32", "predicted": "17/32"}


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


def test_list_as_json_has_a_header_and_the_same_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert set(written) == {"fedtheory", "date", "machine", "claims", "bounds", "elsewhere"}
    assert [row["claim"] for row in written["claims"]] == list(catalogue.known_claims())
    assert [row["bound"] for row in written["bounds"]] == list(known_bounds())
    assert {type(row["printed form differs"]) for row in written["bounds"]} == {bool}


@pytest.mark.parametrize(
    ("options", "first"),
    [([], ["bound", "left side", "rests on", "source", "printed form differs"]), (["--json"], ["{"])],
)
def test_a_pipe_gets_plain_columns_and_may_be_closed_early(options: list[str], first: list[str]) -> None:
    command = [sys.executable, "-m", "fedtheory", "list", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert re.split(r"  +", running.stdout.readline().strip()) == first
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 0


def test_show_takes_a_beginning_in_capitals_and_shows_all_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "Power-of-Choice:Lemma-B2-Re"]) == 0
    assert "power-of-choice:lemma-b2-refined" in capsys.readouterr().out
    assert main(["show", "power_of_choice.weighted_"]) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"^name +(\S+)", shown, re.MULTILINE) == [
        "power_of_choice.weighted_average_gap",
        "power_of_choice.weighted_one_step",
    ]


def test_show_writes_the_inequality_in_latex_and_refuses_where_there_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["show", "power_of_choice.client_drift", "--latex"]) == 0
    left = r"\mathbb E\,\frac1m \sum_k \|\bar w_t - w_{k,t}\|^2"
    assert capsys.readouterr().out == left + " \\le 4\\eta_t^2(\\tau-1)^2G^2\n"
    assert "has no formula" in refused(["show", "power-of-choice:step-54-55", "--latex"], capsys)


def test_show_as_json_has_the_verdict_or_the_formula_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "power-of-choice:step-54-55", "--json"]) == 0
    [claim] = json.loads(capsys.readouterr().out)["claims"]
    assert (claim["verdict"], claim["measured"]) == ("fails", 9 / 32)
    assert main(["show", "power_of_choice.gradient_norm", "--json"]) == 0
    [bound] = json.loads(capsys.readouterr().out)["bounds"]
    assert (bound["formula"], bound["latex"]) == ("2*L*excess", "2L(F_k(w)-F_k^*)")
    assert [entry["name"] for entry in bound["parameters"]] == ["excess", "L"]


def test_show_prints_a_claim_with_hypotheses_bound_and_worst_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "power-of-choice:lemma-b2-refined"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "step sizes do not increase",
        "4*G2*step_size**2*(local_steps - 1)**2",
        "printed as",
        "worst instance",
    ):
        assert part in shown
    assert "fedtheory show power-of-choice:lemma-b2-refined\n" in shown


def test_show_prints_a_bound_with_its_formula_and_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "power_of_choice.gradient_norm"]) == 0
    shown = capsys.readouterr().out
    assert "2*L*excess" in shown
    assert "power-of-choice:lemma-b1" in shown
    assert "printed as" not in shown


def test_bound_prints_the_value_and_its_summands(capsys: pytest.CaptureFixture[str]) -> None:
    # max(0, 4 * 96 / 3) / (12 + 4) = 8, as in the bound's docstring
    assert main([*GAP, "--rho-diagonal", "1"]) == 0
    cells = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    assert ["vanishing", "8"] in cells
    assert ["bias", "0"] in cells
    assert ["total", "8"] in cells


def test_bound_prints_the_printed_form_and_exact_fractions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GAP, "--rho-bar=1", "--printed"]) == 0
    assert "[printed]" in capsys.readouterr().out
    assert main(["bound", "power_of_choice.gradient_norm", "--excess", "1/3", "--L", "3/2"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[-2:]] == [["smoothness", "1"], ["total", "1"]]
    main(["bound", "power_of_choice.gradient_norm", "--excess", "1/3", "--L", "1/2"])
    assert "1/3 = 0.333333" in capsys.readouterr().out


def test_bound_refuses_an_unmet_hypothesis_unless_it_may_be_loose(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Theorem 3.1 needs rho_diagonal > 0: got 0.0 <= 0" in refused([*GAP, "--rho-diagonal", "0"], capsys)
    assert main([*GAP, "--rho-diagonal", "0", "--loose"]) == 0
    shown = capsys.readouterr().out
    assert "unmet hypothesis" in shown
    assert "inf" in shown


def test_bound_as_json_keeps_the_summands_of_a_loose_bound(capsys: pytest.CaptureFixture[str]) -> None:
    # step_size <= 1/L is unmet at 2; (1 - 2/2) * 3 would be the value were the hypothesis not there
    command = ["bound", "power_of_choice.loss_after_step", "--excess", "1/3", "--step-size", "2/1", "--L", "1/1"]
    strict = refused(command, capsys)
    assert main([*command, "--loose", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    [unmet] = written["unmet"]
    assert unmet in strict
    assert written["arguments"] == {"excess": 1 / 3, "step_size": 2.0, "L": 1.0}
    assert sum(written["summands"].values()) == pytest.approx(written["total"], rel=1e-15)
    bound = known_bounds()["power_of_choice.loss_after_step"]
    value, _ = bound(Fraction(1, 3), step_size=Fraction(2), L=Fraction(1), strict=False)
    assert written["total"] == pytest.approx(float(value), rel=1e-15)


def test_bound_help_lists_every_parameter_with_meaning_and_domain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "power_of_choice.weighted_one_step", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--mu (number > 0, in loss / distance^2) Strong convexity of every client." in shown
    assert "--squared-weights (number > 0, optional) Largest" in shown
    assert "assumes: every F_k is L-smooth" in shown
    assert main(["bound", "power_of_choice.averaged_distance", "--help"]) == 0
    assert "assumes:" not in capsys.readouterr().out  # it is true of all numbers
    assert main(["bound", "--help"]) == 0
    assert "examples:" in capsys.readouterr().out


def test_the_help_of_the_printed_form_lists_its_own_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bound", "power_of_choice.decaying_steps_gap", "--printed", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--rho-bar" in shown
    assert "--rho-diagonal" not in shown


@pytest.mark.parametrize("command", ["list", "show", "bound", "worst", "verify", "hunt"])
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


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"fedtheory {fedtheory.__version__}\n"


def test_the_script_is_the_module_under_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, function = scripts["fedtheory"].split(":")
    assert getattr(importlib.import_module(module), function) is run
    monkeypatch.setattr(sys, "argv", ["/usr/bin/fedtheory"])
    assert program() == "fedtheory"


def test_a_name_that_may_be_several_is_refused_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert "which may be power_of_choice.weighted_average_gap, power_of_choice.weighted_one_step" in refused(
        ["bound", "power_of_choice.weighted"], capsys
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["replay", "power-of-choice:lemma-b1"], "COMMAND must be one of list, show,"),
        (["list", "--all"], "unknown arguments --all"),
        (["show", "power-of-choice:lema-b1"], "(close: power-of-choice:lemma-b1"),
        (["bound", "power_of_choice.one_stp"], "(close: power_of_choice.one_step"),
        (["bound", "power_of_choice.gradient_norm", "--excess", "1"], "gradient_norm needs --L"),
        (
            ["bound", "power_of_choice.gradient_norm", "--excess", "1/0", "--L", "2"],
            "--excess must be a number such as",
        ),
        (["bound", "power_of_choice.gradient_norm", "--excess", "nan", "--L", "2"], "excess must be finite, got nan"),
        (["bound", "power_of_choice.gradient_norm", "--excess"], "parameters must come in pairs"),
        ([*GAP, "--rho-diagonal", "1", "--local-steps", "1.5"], "--local-steps must be a whole number, got '1.5'"),
        (["verify", "--budget", "nan"], "--budget: must be quick, thorough or seconds above 0, got 'nan'"),
        (["verify", "--kind", "guess"], "kind must be one of 'identity', 'inequality'"),
        (["verify", "--paper", "fed"], "paper must be one of"),
        (["verify", "--jobs", "0"], "--jobs must be at least 1, got 0"),
        (["verify", "--seed", "x"], "invalid int value: 'x'"),
        (["verify", "--instances", "3", "--budget", "thorough"], "not allowed with argument"),
        (["show", "power-of-choice:lemma-b1", "--instance", "-1"], "--instance must be at least 0, got -1"),
        (["show", "power_of_choice.gradient_norm", "--instance", "1"], "--instance needs the key of one claim"),
        (["bound", "power_of_choice.gradient_norm", "--l", "1"], "(close: --L)"),
        (["bound"], "the following arguments are required: NAME"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_two(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint in refused(arguments, capsys)


ONE_ROUND = (
    "worst power_of_choice.one_round --distance2 1 --step-size 1/4 --mu 1/10 --L 1 --local-steps 1 --num-selected 1 "
    "--sigma2 0 --objective-gap 1/2 --rho-diagonal 6/5 --rho-tilde 2"
)


DRAWN = "worst sgd.drawn_step --distance2 1 --mu 0.1 --L 1 --step-size 0.25 --num-selected 1 --zeta2 1"


def test_worst_prints_promise_enclosure_looseness_and_multipliers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "instance.json"
    assert main([*ONE_ROUND.split(), "--instance", str(target)]) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("bound value", "1.2275", "looseness", "sensitivity to objective_gap"))
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["objective"] == pytest.approx(1.2275, rel=1e-5)
    assert len(written["points"]["start"]) > 0


def test_worst_takes_decimals_for_the_rationals_that_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    line = "worst proxskip.refined_fixed_step_potential --num-steps 1 --step-size 0.25 --mu 0.1 --L 1 --probability 0.5"
    assert main([*line.split(), "--initial-distance2", "1", "--control-error2", "0"]) == 0
    assert "0.950625" in capsys.readouterr().out  # (1 - 1/40)^2


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("worst power_of_choice.lemma", "NAME must be a bound whose worst case is known"),
        (ONE_ROUND.replace("--rho-tilde 2", "--rho-tilde 1"), "rho_tilde >= rho_diagonal"),
        (ONE_ROUND.replace("--mu 1/10", "--mu 1"), "mu must be below L"),
        (DRAWN.replace("--distance2 1", "--distance2 1e400"), "--distance2 must be a number such as 0.5, 1e-3 or 2/3"),
    ],
)
def test_worst_refuses_in_one_line(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(line.split())
    assert stop.value.code == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1
