"""Claims from outside the package are found, replayed, or rejected with the name of their source."""

import re
import sys
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory.claims.catalogue import claims_of
from fedtheory.verification import examine
from fedtheory.verification.records import rows
from fedtheory.verification.verdicts import verdicts_of

MINE = """
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import at_most, claim

STATEMENT = Statement(Paper("mine", "Mine", "Me", 2026), "Theorem 1")

@claim("mine:half", "u <= 1/2", STATEMENT, looseness=2)
def half(rng):
    return at_most(float(rng.random()), 0.5)

same = half
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "my claims.py"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_claim_under_two_names_is_one_and_says_where_it_is_from(tmp_path: Path) -> None:
    file = written(tmp_path, MINE)
    [own] = claims_of(file).values()
    assert (own.key, own.home) == ("mine:half", str(file))
    [row] = rows([examine(own, 20)])
    assert row["verdict"] == "fails"
    assert row["reproduce"].startswith(f"fedtheory show mine:half --from '{file}' --instance ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", r"must define one with @claim, got none in .*my claims\.py$"),
        ("x = 1/0", r"a file that runs, got .*my claims\.py, which raises ZeroDivisionError: division by zero$"),
        (
            f"{MINE}\nfrom dataclasses import replace\nother = replace(half)",
            r"claim keys must be unique, got 'mine:half' twice",
        ),
    ],
)
def test_a_file_without_claims_is_refused_in_one_sentence_that_names_it(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        claims_of(written(tmp_path, text))
    assert "\n" not in str(refused.value)


def test_the_commands_take_them_in_the_place_of_the_packages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = written(tmp_path, MINE), tmp_path / "page.html"
    assert main(["verify", "--from", str(file), "--report", str(page)]) == 1
    told = capsys.readouterr().out
    [number] = re.findall(r"fedtheory show mine:half --from '[^']*' --instance (\d+)", told)
    assert f"--instance {number}" in page.read_text(encoding="utf-8")
    assert main(["show", "mine:half", "--from", str(file), "--instance", number]) == 1
    assert "breaks the claim" in capsys.readouterr().out
    assert main(["hunt", "mine:half", "--from", str(file), "--evaluations", "30"]) == 1
    assert "breaks the claim" in capsys.readouterr().out
    assert main(["list", "--from", str(file)]) == 0
    assert "mine:half  u <= 1/2" in capsys.readouterr().out


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages, as an installer leaves them, one of which has its claims in a module."""
    points = "[fedtheory.claims]\ntheirs = their_package\n"
    (tmp_path / "theirs-1.0.dist-info").mkdir()
    (tmp_path / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (tmp_path / "theirs-1.0.dist-info" / "entry_points.txt").write_text(points)
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "__init__.py").write_text("")
    (tmp_path / "their_package" / "steps.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("their_package", "their_package.steps"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_package_is_found_by_its_entry_point_by_its_name_and_by_that_of_its_module(installed: Path) -> None:
    for source in ("theirs", "their_package", "their_package.steps"):
        [own] = claims_of(source).values()
        assert (own.key, own.home) == ("mine:half", source)


def test_other_processes_receive_the_claims_of_a_file_also_when_it_has_changed(tmp_path: Path) -> None:
    for least, verdict in (("0.5", "fails"), ("1.0", "no counterexample")):
        [own] = claims_of(written(tmp_path, MINE.replace("0.5)", f"{least})"))).values()
        alone, together = (next(verdicts_of([own], jobs=jobs, num_instances=12)) for jobs in (1, 2))
        assert together.verdict == alone.verdict == verdict
        assert together.worst == alone.worst


RARE = """
from fedtheory.theorem.paper import Paper, Statement
from fedtheory.verification import at_least, at_most, claim

STATEMENT = Statement(Paper("mine", "Mine", "Me", 2026), "Theorem 1")

@claim("mine:dice", "eight dice show at most 46", STATEMENT)
def dice(rng):
    return at_most(sum(int(rng.integers(1, 7)) for _ in range(8)), 46)

@claim("mine:loose", "u <= 2", STATEMENT, looseness=1.5)
def loose(rng):
    return at_most(float(rng.random()), 2.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verify_hunts_and_the_hunt_that_finds_a_counterexample_is_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    file = str(written(tmp_path, RARE))
    assert main(["verify", "mine:dice", "--from", file, "--hunt", "0"]) == 0
    assert "mine:dice: no counterexample in 20 instances\n" in capsys.readouterr().out
    assert main(["verify", "mine:dice", "mine:loose", "--from", file, "--jobs", jobs, "--hunt", "0.5"]) == 1
    told = capsys.readouterr().out
    assert re.search(r"mine:loose: no counterexample in \d+ instances: 20 drawn, \d+ in a hunt of [\d.]+ s\n", told)
    assert "holds" not in told.replace("not holds", "")
    [number] = re.findall(r"fedtheory hunt mine:dice --from '[^']*' --evaluations (\d+)", told)
    assert main(["hunt", "mine:dice", "--from", file, "--evaluations", number]) == 1
    assert re.findall(r"measured .*", capsys.readouterr().out)[0].split() == re.findall(r"measured .*", told)[0].split()
