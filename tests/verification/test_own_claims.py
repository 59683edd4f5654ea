"""Claims of a file outside the package: found, refused in one sentence that names the file, replayed from there."""

import re
from pathlib import Path

import pytest

from fedtheory.__main__ import main
from fedtheory.verification import examine
from fedtheory.verification.own_claims import claims_of
from fedtheory.verification.renderings import replay_line, rows

MINE = """
from fedtheory.paper import Paper, Statement
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
    assert replay_line(row).startswith(f"python -m fedtheory replay mine:half --from '{file}' --seed 0 --instance ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", r"a file of claims must make one by @claim, got none in .*my claims\.py$"),
        ("x = 1/0", r"a file that runs, got .*my claims\.py, which raises ZeroDivisionError: division by zero$"),
        ("def (:", r"a file that runs, got .*my claims\.py, which raises SyntaxError: .*$"),
        (
            f"{MINE}\nfrom dataclasses import replace\nother = replace(half)",
            r"keys of their own, got 'mine:half' twice",
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
    [command] = re.findall(r"replay mine:half --from '[^']*' --seed 0 --instance (\d+)", told)
    assert f"--instance {command}" in page.read_text(encoding="utf-8")
    assert main(["replay", "mine:half", "--from", str(file), "--instance", command]) == 1
    assert main(["hunt", "mine:half", "--from", str(file), "--evaluations", "30"]) == 1
    assert "breaks the claim" in capsys.readouterr().out
    with pytest.raises(SystemExit) as refused:
        main(["verify", "--from", str(file), "--jobs", "2"])
    assert refused.value.code == 2
    assert "--jobs must be 1 with --from, got 2" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["verify", "--report", str(page)])
    assert "--report must name a new file" in capsys.readouterr().err
