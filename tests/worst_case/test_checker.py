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
    assert len(text.splitlines()) <= 300
    imported = {
        line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
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


MANY = [30, pytest.param(1000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("number", MANY)
def test_changed_certificates_are_all_refused(certificate: Path, number: int) -> None:
    document, rng = json.loads(certificate.read_text(encoding="utf-8")), random.Random(1)
    for _ in range(number):
        with pytest.raises(checker.Refused):
            checker.check(changed(document, rng))


@pytest.mark.parametrize("number", MANY)
def test_a_forged_certificate_is_refused_unless_it_is_true_of_the_problem_in_it(certificate: Path, number: int) -> None:
    """What survives has a slack that the change does not use up, or drops what the proof does not need."""
    document, rng = json.loads(certificate.read_text(encoding="utf-8")), random.Random(2)
    first = checker.check(document)
    survivors = []
    for _ in range(number):
        forged = sealed(changed(document, rng))
        with contextlib.suppress(checker.Refused):
            survivors.append(checker.check(forged))
    assert len(survivors) < 0.7 * number
    assert set(survivors) <= {first}


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


def trivial(blocks: list[Any], **parts: Any) -> str:
    """Write a certificate whose objective is 0, with other parts."""
    form: dict[str, Any] = {"entries": [], "values": []}
    document = {"format": checker.FORMAT, "blocks": blocks, "num_values": 0, "objective": form, "equalities": []}
    document |= {"inequalities": [], "upper": "0", "multipliers": {"equalities": [], "inequalities": []}}
    return json.dumps(sealed(document | parts))


def dense(size: int, digits: int, over: str = "") -> str:
    """Write a certificate of a block whose entries are long."""
    rng = random.Random(size)
    entries = [[0, i, j, f"{over}{rng.randrange(10**digits)}"] for i in range(size) for j in range(i, size)]
    return trivial([size], objective={"entries": entries, "values": []})


def with_a_number(text: str) -> str:
    return trivial([1])[:-1] + f', "more": {text}}}'


TWICE = {"entries": [[0, 0, 0, "-1"], [0, 0, 0, "-1"]], "values": []}
NOT_READ: dict[str, tuple[str | bytes, str]] = {
    "nothing but a space": (" ", "it is no JSON: Expecting value"),
    "UTF-16": ("{}".encode("utf-16"), "it is no text in UTF-8"),
    "deep lists": ("[" * 100_000, "its lists and objects are nested too deeply"),
    "deep objects": ('{"a":' * 100_000, "its lists and objects are nested too deeply"),
    "many lists": ("[" + "[]," * 2_000_000, "it has 4000001 parts, and at most 3000000 are checked"),
    "a key twice": (trivial([1])[:-1] + ', "upper": "1"}', "a key of an object occurs twice"),
    "NaN": (with_a_number("NaN"), "'NaN' is no number of a certificate"),
    "infinity": (with_a_number("-Infinity"), "'-Infinity' is no number of a certificate"),
    "a large exponent": (with_a_number("1e999999999"), "'1e999999999' is no number of a certificate"),
    "a long place": (with_a_number("1" * 5000), "'11111111111111111111' is no number of a certificate"),
    "many blocks": (trivial([200] * 20_000), "it has 800000000 entries in its blocks, and at most 1000000"),
    "a large block": (trivial([201]), "it has 201 rows in a block, and at most 200 are checked"),
    "many values": (trivial([1], num_values=10**8), "it has 100000000 values, and at most 1000000 are checked"),
    "a long number": (trivial([1], upper="1" * 5000), "it has 5000 characters in a number, and at most 4000"),
    "long entries": (dense(60, 300), "steps, of some digits each, in the elimination of its blocks"),
    "denominators": (dense(60, 300, over="1/1"), "binary digits in a common denominator, and at most 6000 are checked"),
}
NOT_PROVED: dict[str, tuple[str, str]] = {
    "a list": ("[]", "its format is not"),
    "a text": ('"x"', "its format is not"),
    "no digest": ('{"format": "fedtheory certificate 1"}', "it was changed"),
    "a negative size": (trivial([-3]), "a block is no number from 0"),
    "a size that is true": (trivial([True]), "a block is no number from 0"),
    "a text as a size": (trivial(["1"]), "a block is no number from 0"),
    "no form": (trivial([1], objective=None), "a form is no object"),
    "an entry twice": (trivial([1], objective=TWICE), "an entry of a form occurs twice"),
    "a decimal": (trivial([1], upper="0.5"), "upper is no rational number"),
    "an exponent": (trivial([1], upper="1e999999999"), "upper is no rational number"),
    "a number": (trivial([1], upper=0), "upper is no rational number"),
    "another bound": (trivial([1], upper="1"), "which is not what it says"),
}


@pytest.mark.parametrize("case", [*NOT_READ, *NOT_PROVED])
def test_what_is_no_certificate_is_one_sentence(case: str, tmp_path: Path) -> None:
    content, sentence = NOT_READ[case] if case in NOT_READ else NOT_PROVED[case]
    (tmp_path / "file.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    said, code = told(tmp_path / "file.json")
    assert said.startswith("not read: " if case in NOT_READ else "not proved: ")
    assert code == (2 if case in NOT_READ else 1)
    assert sentence in said
    assert "\n" not in said


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert told(tmp_path / "none.json") == ("not read: No such file or directory", 2)
    assert checker.main(["a\0b"]) == ("not read: 'a\\x00b' is no name of a file", 2)
    assert checker.main([]) == ("usage: checker.py certificate.json, got 0 arguments", 2)
