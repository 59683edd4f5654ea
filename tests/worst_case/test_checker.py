"""Certificates that are saved are checked by a file that knows nothing of the library, and changed ones are refused."""

import contextlib
import copy
import hashlib
import json
import os
import random
import subprocess
import sys
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest

from fedtheory.__main__ import main as run_command
from fedtheory.worst_case import Problem, checker


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two steps of gradient descent, on a quadratic in one problem, so that there are equalities, too."""
    path = tmp_path_factory.mktemp("certificates") / "certificate.json"
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1, quadratic=True)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(2):
        x = x - Q(3, 2) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    worst = p.solve()
    assert worst.verify() == worst.enclosure
    worst.save(path)
    return path


def told(path: Path) -> tuple[str, int]:
    return checker.main([str(path)])


def test_the_file_alone_says_between_what_the_value_lies(certificate: Path, tmp_path: Path) -> None:
    alone = tmp_path / "checker.py"
    alone.write_text(Path(str(checker.__file__)).read_text(encoding="utf-8"), encoding="utf-8")
    # -I: nothing but the standard library can be imported.
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), str(certificate)], capture_output=True, text=True, check=False
    )
    lower, upper = checker.check(json.loads(certificate.read_text(encoding="utf-8")))
    assert lower is not None
    assert upper is not None
    least, most = (Q(words) for words in done.stdout.removeprefix("proved: value between ").split(" and "))
    # Twelve digits, rounded so that both numbers are proved.
    assert lower - Q(1, 10**11) * lower < least <= lower
    assert upper <= most < upper + Q(1, 10**11) * upper
    assert done.returncode == 0


def test_the_command_says_the_same(certificate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said, code = told(certificate)
    assert run_command(["check", str(certificate)]) == code
    assert capsys.readouterr().out == said + "\n"


def test_the_file_is_short_and_imports_the_standard_library_only() -> None:
    text = Path(str(checker.__file__)).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    imported = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("power", [-400, 400])
def test_no_size_of_a_number_makes_what_is_said_false(certificate: Path, tmp_path: Path, power: int) -> None:
    document, factor = json.loads(certificate.read_text(encoding="utf-8")), Q(10) ** power

    def times(number: str) -> str:
        return str(factor * Q(number))

    # All that is linear in the program's bounds.
    for one in (*document["inequalities"], *document["equalities"]):
        one["bound"] = times(one["bound"])
    document |= {side: times(document[side]) for side in ("lower", "upper")}
    point = document["point"]
    point["grams"] = [[[*map(times, row)] for row in gram] for gram in point["grams"]]
    point["values"] = [*map(times, point["values"])]
    path = tmp_path / "scaled.json"
    path.write_text(json.dumps(sealed(document)), encoding="utf-8")
    said, code = told(path)
    least, most = (Q(words) for words in said.removeprefix("proved: value between ").split(" and "))
    assert code == 0
    assert 0 < least <= Q(document["lower"]) <= Q(document["upper"]) <= most


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert told(pipe) == told(tmp_path) == ("not read: it must be a regular file of 1 to 50000000 bytes", 2)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Return all (container, key) of numbers and constraints on which the proofs rest."""
    found: list[tuple[Any, Any]] = []
    forms = [document["objective"], *document["equalities"], *document["inequalities"]]
    for form in forms:
        found += [(entry, 3) for entry in form["entries"]] + [(pair, 1) for pair in form["values"]]
    found += [(form, "bound") for form in forms[1:]]
    found += [(document, "upper"), (document, "lower")]
    for kind in ("equalities", "inequalities"):
        found += [(document["multipliers"][kind], number) for number in range(len(document["multipliers"][kind]))]
        found += [(document[kind], number) for number in range(len(document[kind]))]
    return found


def changed(document: Any, rng: random.Random) -> Any:
    """Change a number that counts, or drop a constraint with its multiplier."""
    while True:
        spoiled = copy.deepcopy(document)
        container, key = rng.choice(places(spoiled))
        if isinstance(container[key], dict):
            factors = spoiled["multipliers"]["equalities" if container is spoiled["equalities"] else "inequalities"]
            if Q(factors[key]) == 0:
                continue
            del container[key], factors[key]
            return spoiled
        number = Q(container[key])
        shift = rng.choice([Q(1), Q(-1), Q(1, 10**6), Q(-1, 10**9), number])
        if shift:
            container[key] = str(number + shift)
            return spoiled


def sealed(document: Any) -> Any:
    """Give a changed document the digest that belongs to it, as who forges one would."""
    content = {key: part for key, part in document.items() if key != "digest"}
    return {**content, "digest": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}


def test_a_thousand_changed_certificates_are_all_refused(certificate: Path) -> None:
    document, rng = json.loads(certificate.read_text(encoding="utf-8")), random.Random(1)
    for _ in range(1000):
        with pytest.raises(checker.Refused):
            checker.check(changed(document, rng))


def test_a_forged_certificate_is_refused_unless_what_it_says_is_true_of_the_problem_in_it(certificate: Path) -> None:
    """What survives has a slack that the change does not use up, or drops what the proof does not need."""
    document, rng = json.loads(certificate.read_text(encoding="utf-8")), random.Random(2)
    first = checker.check(document)
    survivors = []
    for _ in range(1000):
        forged = sealed(changed(document, rng))
        with contextlib.suppress(checker.Refused):
            survivors.append(checker.check(forged))
    assert len(survivors) < 400
    assert set(survivors) == {first}


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("shift", [Q(1, 10**12), Q(-1, 10**12)])
def test_no_side_may_be_said_to_be_otherwise_by_anything(certificate: Path, side: str, shift: Q) -> None:
    document = json.loads(certificate.read_text(encoding="utf-8"))
    with pytest.raises(checker.Refused, match="which is not what it says"):
        checker.check(sealed({**document, side: str(Q(document[side]) + shift)}))


def test_a_negative_multiplier_proves_nothing(certificate: Path) -> None:
    document = json.loads(certificate.read_text(encoding="utf-8"))
    document["multipliers"]["inequalities"][0] = "-1"
    with pytest.raises(checker.Refused, match="negative"):
        checker.check(sealed(document))


def test_a_point_outside_proves_nothing(certificate: Path) -> None:
    document = json.loads(certificate.read_text(encoding="utf-8"))
    grams = document["point"]["grams"]
    document["point"]["grams"] = [[[str(2 * Q(x)) for x in row] for row in gram] for gram in grams]
    with pytest.raises(checker.Refused, match="does not fulfill"):
        checker.check(sealed(document))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" ", "not proved: Expecting value"),
        ("[" * 100000, "not proved:"),
        ("[]", "not proved: its format is not"),
        ('{"format": "fedtheory certificate 1"}', "not proved: it was changed"),
    ],
)
def test_what_is_no_certificate_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text)
    said, code = told(tmp_path / "file.json")
    assert said.startswith(sentence)
    assert "\n" not in said
    assert code == 1


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert told(tmp_path / "none.json") == ("not read: No such file or directory", 2)
    assert checker.main([]) == ("usage: checker.py certificate.json, got 0 arguments", 2)
