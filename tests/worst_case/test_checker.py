"""Saved certificates are checked by files that share no code with the library, and forged ones are rejected."""

import contextlib
import copy
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest

from fedtheory.worst_case import Problem, checker
from fedtheory.worst_case.checker import printing
from tests.worst_case.gallery import GALLERY

FOLDER = Path(str(checker.__file__)).parent


def two_steps() -> Problem:
    """Two steps of gradient descent on a quadratic, whose program has equalities."""
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1, quadratic=True)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    for _ in range(2):
        x = x - Q(3, 2) * f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    return p


def noisy_clients() -> Problem:
    """A noisy step of some of ten clients."""
    p = Problem()
    c = p.clients(10, mu=Q(1, 10), L=1)
    best, w = c.minimizer(), p.point("start")
    p.at_most((w - best).square, 1, name="distance2")
    c.heterogeneity(zeta2=1)
    p.maximize(c.sample(4).square(c.step(w, Q(1, 4), variance=Q(1, 5)) - best))
    return p


def two_noisy_rounds() -> Problem:
    """Two steps of four clients with noise of their own, which is averaged."""
    p = Problem()
    c = p.clients(4, mu=Q(1, 10), L=1)
    best, w = c.minimizer(), p.point("start")
    p.at_most((w - best).square, 1, name="distance2")
    for _ in range(2):
        w = c.mean(w - Q(1, 4) * p.unbiased(c.gradient(w), 2))
    c.heterogeneity(zeta2=1)
    p.maximize((w - best).square)
    return p


def several_classes() -> Problem:
    """An operator with one hypothesis, an indicator, and a function with bounded subgradients."""
    p = Problem()
    T, C, f = p.operator(cocoercive=Q(1, 2)), p.indicator(diameter=Q(1, 2)), p.function(lipschitz=1)
    zero, x = T.zero(), p.point("start")
    p.at_most((x - zero).square, 1, name="distance2")
    apart = C.proximal(x, 1) - C.proximal(zero, 1)
    p.maximize((apart - Q(3, 2) * T(x) - Q(1, 4) * f.gradient(x)).square)
    return p


PROBLEMS = [two_steps, noisy_clients, two_noisy_rounds, several_classes]


MEANS: dict[str, Any] = {"owner": "", "behind": [], "noise": False}
NOTHING: dict[str, Any] = {"products": [], "values": []}
POINT: dict[str, Any] = {"name": "", "verb": "point", "of": [], "inputs": [], "blocks": [0]}


def saved(worst: Any, folder: Path) -> Path:
    worst.save(folder / "certificate.json")
    return folder / "certificate.json"


@pytest.fixture(
    scope="module",
    params=[*PROBLEMS[:2], *(pytest.param(one, marks=pytest.mark.slow) for one in PROBLEMS[2:])],
    ids=lambda problem: problem.__name__,
)
def certificate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    worst = request.param().solve()
    assert worst.verify() == worst.enclosure
    return saved(worst, tmp_path_factory.mktemp("certificates"))


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def checked(document: Any) -> tuple[Q | None, Q | None, list[list[str]]]:
    """Return what a certificate proves, with its theorems."""
    lower, upper, cases = checker.check(document)
    return lower, upper, [printing.theorem(case) for case in cases]


def told(path: Path) -> tuple[str, int]:
    return printing.main([str(path)])


def sides(said: str) -> tuple[Q, Q]:
    least, most = said.splitlines()[0].removeprefix("proved: value between ").split(" and ")
    return Q(least), Q(most)


def test_the_folder_alone_says_between_what_the_value_lies(certificate: Path, tmp_path: Path) -> None:
    (tmp_path / "checker").mkdir()
    for file in FOLDER.glob("*.py"):
        (tmp_path / "checker" / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    # -S: nothing but the standard library can be imported.
    done = subprocess.run(
        [sys.executable, "-E", "-s", "-S", "-m", "checker", str(certificate)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    lower, upper, _ = checked(read(certificate))
    assert lower is not None
    assert upper is not None
    least, most = sides(done.stdout)
    # Twelve digits, rounded so that both numbers are proved.
    assert lower - Q(1, 10**11) * lower < least <= lower
    assert upper <= most < upper + Q(1, 10**11) * upper
    assert done.returncode == 0


def test_the_checker_imports_the_standard_library_and_itself_only() -> None:
    for file in FOLDER.glob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
        assert imported <= {*sys.stdlib_module_names, ""}


def test_the_theorem_is_printed_with_classes_method_constants_and_objective(tmp_path: Path) -> None:
    said, _ = told(saved(two_steps().solve(), tmp_path))
    assert said.splitlines()[2:-1] == [
        "For all",
        "  f0: function (mu=1/10, L=1, quadratic=True)",
        "  x*: a minimizer of f0",
        "  x*: vector",
        "  start: vector",
        "  f0'(start): vector",
        "  f0'(x1): vector",
        "  f0'(x2): vector",
        "with",
        "  f0'(x*) = 0",
        "  x1 = start - 3/2 f0'(start)",
        "  x2 = start - 3/2 f0'(start) - 3/2 f0'(x1)",
        "  |-x* + start|^2 <= 1",
        "what is maximized is",
        "  f0(x2) - f0(x*)",
    ]


@pytest.mark.parametrize("problem", PROBLEMS[:3])
def test_what_a_file_says_that_is_no_part_of_the_proof_is_not_printed(
    problem: Callable[[], Problem], worst: dict[Any, Any], tmp_path: Path
) -> None:
    document = read(saved(worst[problem], tmp_path))
    honest = checked(document)
    for vector in problem_of(document)["vectors"]:
        if vector["verb"] not in ("noise", "mean", "deviation"):
            vector |= {"verb": "minimizer", "of": [], "inputs": []}
    for constraint in problem_of(document)["constraints"]:
        constraint |= {"name": "objective_gap", "share": "1/2"}
    assert checked(sealed(document)) == honest


def test_a_name_that_could_be_read_as_an_expression_is_printed_in_quotes(worst: dict[Any, Any], tmp_path: Path) -> None:
    document = read(saved(worst[two_steps], tmp_path))
    as_text = json.dumps(document).replace('"start"', '"x* - y"').replace('"f0"', '"f0\'"')
    _, _, [lines] = checked(sealed(json.loads(as_text)))
    assert '  |-x* + "x* - y"|^2 <= 1' in lines
    assert '  x1 = "x* - y" - 3/2 "f0\'"\'("x* - y")' in lines


def test_a_point_with_the_name_of_an_unnamed_vector_is_told_apart_from_it(tmp_path: Path) -> None:
    p = Problem()
    x, y = p.point(), p.point("v0")
    p.at_most(x.square, 1)
    p.at_most(y.square, 1)
    p.maximize(x @ y)
    said, _ = told(saved(p.solve(), tmp_path))
    assert "  <v[0], v0>" in said.splitlines()


def test_what_was_left_out_of_a_proof_is_still_in_the_problem(tmp_path: Path) -> None:
    p = Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    x = x - f.gradient(x)
    p.maximize(f.value(x) - f.value(best))
    worst = p.without("f0: x1, start", "f0: x1, x*", "f0: start, x*")
    assert checked(read(saved(worst, tmp_path)))[:2] == (None, worst.upper)


def test_the_least_of_two_forms_is_checked(tmp_path: Path) -> None:
    p = Problem()
    x, y = p.point("x"), p.point("y")
    p.at_most((x - y).square, 4)
    p.at_most(x.square, 1)
    p.maximize(y.square, 2 * y.square - x.square)
    worst = p.solve()
    assert checked(read(saved(worst, tmp_path)))[:2] == worst.enclosure


@pytest.mark.slow
@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_the_program_that_the_checker_builds_has_the_proofs_of_the_library(example: Any, tmp_path: Path) -> None:
    worst = example.problem().solve()
    assert checked(read(saved(worst, tmp_path)))[:2] == (worst.lower, worst.upper)


@pytest.mark.parametrize("power", [-300, 300])
def test_no_size_of_a_number_makes_what_is_said_false(certificate: Path, tmp_path: Path, power: int) -> None:
    document, factor = read(certificate), Q(10) ** power

    def times(number: str) -> str:
        return str(factor * Q(number))

    # All that is linear in the program's bounds.
    [case] = document["cases"]
    for one in case["problem"]["constraints"]:
        one["bound"] = times(one["bound"])
    for call in (call for one in case["problem"]["functions"] for call in one["calls"] if len(call) == 5):
        call[4] = times(call[4])
    # Lengths, whose squares are linear in these bounds.
    for kind in (one["class"] for one in case["problem"]["functions"] if one["kind"] == "function"):
        kind |= {name: str(Q(10) ** (power // 2) * Q(kind[name])) for name in ("diameter", "lipschitz") if name in kind}
    proof = case["proof"]
    proof |= {side: times(proof[side]) for side in ("lower", "upper")}
    point = proof["point"]
    point["grams"] = [[[*map(times, row)] for row in gram] for gram in point["grams"]]
    point["values"] = [*map(times, point["values"])]
    path = tmp_path / "scaled.json"
    path.write_text(json.dumps(sealed(document)), encoding="utf-8")
    said, code = told(path)
    assert code == 0
    least, most = sides(said)
    assert 0 < least <= Q(proof["lower"]) <= Q(proof["upper"]) <= most


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert told(pipe) == told(tmp_path) == ("not read: it must be a regular file of 1 to 50000000 bytes", 2)


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each number, word, and entry of a list."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, part in items:
        if isinstance(part, dict | list):
            yield from leaves(part, (*path, key))
        if not isinstance(part, dict):
            yield (*path, key)


def changed(document: Any, rng: random.Random, within: str) -> Any:
    """Change a number or a word of a problem or of a proof; drop, repeat or exchange entries of a list."""
    spoiled = copy.deepcopy(document)
    *way, key = rng.choice([path for path in leaves(spoiled["cases"][0]) if path[0] == within])
    container = spoiled["cases"][0]
    for step in way:
        container = container[step]
    part = container[key]
    if isinstance(part, list):
        place = rng.randrange(len(part) + 1)
        other = rng.randrange(len(part) + 1)
        action = rng.choice(["drop", "repeat", "exchange"])
        if action == "exchange" and max(place, other) < len(part):
            part[place], part[other] = part[other], part[place]
        elif action == "drop" and place < len(part):
            del part[place]
        else:
            part.append(copy.deepcopy(part[place - 1]) if part else "1")
    elif isinstance(part, bool) or part is None:
        container[key] = not part if part is not None else 0
    elif isinstance(part, int):
        container[key] = part + rng.choice([-1, 1])
    elif part.lstrip("-").replace("/", "").isdigit():
        shift = rng.choice([Q(1), Q(-1), Q(1, 10**6), Q(-1, 10**9), Q(part)])
        container[key] = str(Q(part) + shift)
    else:
        container[key] = rng.choice(["", "f0", "distance2", "start", "x*", "gradient", "point", "noise", "=", "<="])
    return spoiled


def sealed(document: Any) -> Any:
    """Give a changed document the checksum that belongs to it, as who forges one would."""
    content = {key: part for key, part in document.items() if key != "checksum"}
    return {**content, "checksum": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}


REFUSED = (checker.Refused, checker.NotRead)
MANY = [30, pytest.param(300, marks=pytest.mark.slow)]


@pytest.mark.parametrize("number", MANY)
def test_changed_certificates_are_all_refused(certificate: Path, number: int) -> None:
    document, rng = read(certificate), random.Random(1)
    for _ in range(number):
        spoiled = changed(document, rng, rng.choice(["problem", "proof"]))
        if spoiled != document:
            with pytest.raises(REFUSED):
                checked(spoiled)


@pytest.mark.parametrize("number", MANY)
def test_a_forged_proof_proves_no_other_value(certificate: Path, number: int) -> None:
    """What survives has a slack that the change does not use up."""
    document, rng = read(certificate), random.Random(2)
    first, survivors = checked(document), 0
    for _ in range(number):
        try:
            found = checked(sealed(changed(document, rng, "proof")))
        except REFUSED:
            continue
        survivors += 1
        assert found == first
    assert survivors < 0.7 * number


@pytest.mark.parametrize("number", MANY)
def test_a_forged_problem_is_refused_or_printed_as_what_it_is(certificate: Path, number: int) -> None:
    document, rng = read(certificate), random.Random(3)
    first, survivors = checked(document), 0
    for _ in range(number):
        spoiled = changed(document, rng, "problem")
        try:
            found = checked(sealed(spoiled))
        except REFUSED:
            continue
        survivors += 1
        assert found[2] != first[2] or in_order(spoiled) == in_order(document), spoiled
    assert survivors < 0.5 * number


def in_order(document: Any) -> Any:
    """Return a document without what means nothing.

    This is the order of calls and blocks, how vectors were made, names of constraints, and values of operators.
    """
    found = copy.deepcopy(document)
    for vector in found["cases"][0]["problem"]["vectors"]:
        vector["blocks"].sort()
        del vector["verb"], vector["of"], vector["inputs"]
    for constraint in found["cases"][0]["problem"]["constraints"]:
        del constraint["name"], constraint["share"]
    for function in found["cases"][0]["problem"]["functions"]:
        for call in function["calls"] if function["kind"] == "operator" else ():
            call[3] = -1
        function["minimum"] = function["minimum"] is not None and function["calls"][function["minimum"]]
        function["calls"].sort(key=str)
    return json.loads(json.dumps(found["cases"][0]["problem"]))


JUNK: list[Any] = [None, True, 0, -1, 10**8, "", "0", "x", "1/0", [], {}, [[]], ["1", 0], NOTHING]


@pytest.mark.parametrize("number", [100, pytest.param(3000, marks=[pytest.mark.slow, pytest.mark.long])])
def test_anything_in_any_place_is_read_or_refused(certificate: Path, number: int) -> None:
    document, rng = read(certificate), random.Random(4)
    paths = [*leaves(document)]
    for _ in range(number):
        spoiled = copy.deepcopy(document)
        *way, key = rng.choice(paths)
        container = spoiled
        for step in way:
            container = container[step]
        container[key] = copy.deepcopy(rng.choice(JUNK))
        with contextlib.suppress(*REFUSED):
            checked(sealed(spoiled))


def problem_of(document: Any) -> Any:
    return document["cases"][0]["problem"]


def another_objective(document: Any) -> None:
    problem_of(document)["objectives"] = [problem_of(document)["constraints"][0]["form"]]


def fewer_sources(document: Any) -> None:
    """Let gradients not depend on the clients."""
    for vector in problem_of(document)["vectors"]:
        if vector["verb"] == "gradient":
            vector["blocks"] = [0]


def two_steps_alike(document: Any) -> None:
    """Let both points be the first."""
    calls = problem_of(document)["functions"][0]["calls"]
    calls[2][:2] = calls[1][:2]


def summands_in_another_order(document: Any) -> None:
    problem_of(document)["objectives"][0]["products"][0][1].reverse()


def one_name_for_two_points(document: Any) -> None:
    for call in problem_of(document)["functions"][0]["calls"]:
        call[0] = "x1"


def two_calls_with_one_value(document: Any) -> None:
    """Let a point have the value of another, which no line of the theorem says."""
    calls = problem_of(document)["functions"][0]["calls"]
    calls[2][3] = calls[1][3]


def differences_of_a_function(document: Any) -> None:
    problem_of(document)["sources"].append({"owner": "f0", "behind": [], "noise": False})


def a_side_without_its_proof(document: Any) -> None:
    del document["cases"][0]["proof"]["point"]


def noise_that_is_averaged_away(document: Any) -> None:
    """Leave out how long a mean of noises is."""
    constraints = problem_of(document)["constraints"]
    constraints[:] = [one for one in constraints if one["relation"] == "<="]


def noise_beside_its_mean(document: Any) -> None:
    problem = problem_of(document)
    means = [number for number, one in enumerate(problem["vectors"]) if one["verb"] == "mean"]
    [[[_, noise]]] = problem["vectors"][means[0]]["inputs"]
    problem["objectives"][0]["products"].append(["1", [["1", noise]], [["1", means[0]]]])


def a_mean_of_another_noise(document: Any) -> None:
    problem = problem_of(document)
    first, second = (one for one in problem["vectors"] if one["verb"] == "mean")
    second["inputs"] = first["inputs"]


def noise_that_adds_the_same_to_all_clients(document: Any) -> None:
    """Leave out that clients differ in what the server's noise adds."""
    problem = problem_of(document)
    [crossed] = [k for k, one in enumerate(problem["sources"]) if one["owner"] == "f0" and not one["noise"] and k > 1]
    for vector in problem["vectors"]:
        vector["blocks"] = [block for block in vector["blocks"] if block != crossed]


def differences_without_a_noise(document: Any) -> None:
    for one in problem_of(document)["sources"][2:]:
        one["behind"] = [1] if one["owner"] == "f0" and not one["noise"] else one["behind"]


FORGERIES: dict[Callable[[Any], None], tuple[Callable[[], Problem], str]] = {
    another_objective: (two_steps, "its multipliers leave a function value"),
    one_name_for_two_points: (two_steps, "a vector does not have the name that it has where a function is called"),
    two_steps_alike: (two_steps, "is called twice at a point"),
    two_calls_with_one_value: (two_steps, "two calls have one value"),
    differences_of_a_function: (two_steps, "a source is one of clients that there are not"),
    a_side_without_its_proof: (two_steps, "a side has no proof"),
    fewer_sources: (noisy_clients, "a summand names a block that its vector does not have"),
    summands_in_another_order: (noisy_clients, "the summands of a combination are not in order"),
    noise_that_is_averaged_away: (two_noisy_rounds, "a mean of noises has not the length that independent noises have"),
    noise_beside_its_mean: (two_noisy_rounds, "a noise of clients is used together with its mean"),
    a_mean_of_another_noise: (two_noisy_rounds, "a mean over clients is not that of one noise"),
    noise_that_adds_the_same_to_all_clients: (two_noisy_rounds, "a vector does not depend on all that it is computed"),
    differences_without_a_noise: (two_noisy_rounds, "differences between clients are behind no noise of the server"),
}
# What an entry of a problem is replaced by; names of new entries are allowed.
REPLACED: list[tuple[Callable[[], Problem], str, Any, str]] = [
    (two_steps, "functions 0 class L", "11/10", "what is left of a block"),
    (two_steps, "functions 0 calls -1 3", -1, "a value is 0 that need not be"),
    (two_steps, "functions 0 minimum", 1, "the gradient at a minimizer is not 0"),
    (two_steps, "functions 0 class diameter", "1", "a function that is no indicator has a diameter"),
    (two_steps, "author", "x", "a problem does not consist of"),
    (noisy_clients, "functions 0 clients", 0, "the number of clients is not that of a function or of several"),
    (noisy_clients, "sources -1 behind", [], "a noise has no block of its own behind all that was drawn before"),
    (noisy_clients, "sources -1 owner", "the server's noise", "depends on two groups of clients, or on one and on"),
    (noisy_clients, "sources -1 noise", False, "differences between clients are behind no noise of the server"),
    (two_noisy_rounds, "functions 0 clients", 40, "a mean of noises has not the length that independent noises have"),
    (several_classes, "functions 0 class cocoercive", "-1", "a constant of a class is not positive"),
    (several_classes, "functions 0 class", {}, "an operator is not described"),
    (several_classes, "functions 0 least", True, "an operator has a minimizer or a least value"),
    (several_classes, "functions 0 class cocoercive", "1/3", "what is left of a block"),
    (several_classes, "functions 1 class diameter", "3", "which is not what it says"),
    (several_classes, "functions 1 class mu", "1", "the indicator of a set has another hypothesis"),
    (several_classes, "functions 1 class L", "1", "the indicator of a set has another hypothesis"),
    (several_classes, "functions 2 class lipschitz", "2", "which is not what it says"),
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_certificate_of_another_problem_is_refused(
    forge: Callable[[Any], None], worst: dict[Any, Any], tmp_path: Path
) -> None:
    problem, sentence = FORGERIES[forge]
    document = read(saved(worst[problem], tmp_path))
    forge(document)
    with pytest.raises(REFUSED, match=sentence):
        checked(sealed(document))


@pytest.mark.parametrize(("problem", "entry", "value", "sentence"), REPLACED)
def test_a_certificate_with_another_entry_is_refused(
    problem: Callable[[], Problem], entry: str, value: Any, sentence: str, worst: dict[Any, Any], tmp_path: Path
) -> None:
    document = read(saved(worst[problem], tmp_path))
    *way, last = (int(key) if key.lstrip("-").isdigit() else key for key in entry.split())
    container = problem_of(document)
    for key in way:
        container = container[key]
    container[last] = value
    with pytest.raises(REFUSED, match=sentence):
        checked(sealed(document))


def test_a_lower_side_needs_sufficient_conditions(tmp_path: Path) -> None:
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1, polyak=Q(1, 2))
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    p.maximize((x - f.gradient(x) - best).square)
    relaxed = p.solve()
    assert relaxed.lower is None
    path = saved(relaxed, tmp_path)
    document = read(path)
    point = relaxed.deciding.proof.point
    assert point is not None
    document["cases"][0]["proof"] |= {
        "lower": str(relaxed.deciding.proof.lower),
        "point": {
            "grams": [[[*map(str, row)] for row in gram] for gram in point.grams],
            "values": [*map(str, point.values)],
        },
    }
    with pytest.raises(checker.Refused, match="a point proves nothing where f0 is described in part only"):
        checked(sealed(document))


@pytest.fixture(scope="module")
def worst() -> dict[Any, Any]:
    return {problem: problem().solve() for problem in PROBLEMS}


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("shift", [Q(1, 10**12), Q(-1, 10**12)])
def test_no_side_may_be_said_to_be_otherwise_by_anything(certificate: Path, side: str, shift: Q) -> None:
    document = read(certificate)
    proof = document["cases"][0]["proof"]
    proof[side] = str(Q(proof[side]) + shift)
    with pytest.raises(checker.Refused, match="which is not what it says"):
        checked(sealed(document))


def test_a_negative_multiplier_proves_nothing(certificate: Path) -> None:
    document = read(certificate)
    document["cases"][0]["proof"]["multipliers"]["inequalities"][0] = "-1"
    with pytest.raises(checker.Refused, match="negative"):
        checked(sealed(document))


def test_a_point_outside_proves_nothing(certificate: Path) -> None:
    document = read(certificate)
    point = document["cases"][0]["proof"]["point"]
    point["grams"] = [[[str(2 * Q(x)) for x in row] for row in gram] for gram in point["grams"]]
    with pytest.raises(checker.Refused, match="does not fulfill"):
        checked(sealed(document))


def trivial(proof: Any = None, **parts: Any) -> str:
    """Write a certificate whose objective is 0, with other parts."""
    problem = {"sources": [MEANS], "vectors": [], "functions": [], "constraints": [], "objectives": [NOTHING]} | parts
    proof = {"upper": "0", "multipliers": {"equalities": [], "inequalities": []}} | (proof or {})
    return json.dumps(sealed({"format": checker.FORMAT, "cases": [{"problem": problem, "proof": proof}]}))


def dense(size: int, digits: int, over: str = "") -> str:
    """Write a certificate of a block whose entries are long."""
    rng = random.Random(size)
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    products = [[f"{over}{rng.randrange(10**digits)}", [["1", i]], [["1", j]]] for i, j in pairs]
    return trivial(vectors=[POINT] * size, objectives=[NOTHING | {"products": products}])


def with_long_sums(number: int) -> str:
    """Write a certificate whose multipliers add numbers without a common denominator of a usual length."""
    rng = random.Random(number)
    rows = [[f"1/{rng.randrange(10**999, 10**1000)}", [["1", 0]], [["1", 0]]] for _ in range(number)]
    constraint = {"name": "", "relation": "<=", "bound": "0", "share": "0"}
    constraints = [constraint | {"form": NOTHING | {"products": [row]}} for row in rows]
    multipliers = {"equalities": [], "inequalities": ["1"] * number}
    return trivial({"multipliers": multipliers}, vectors=[POINT], constraints=constraints)


SMOOTH: dict[str, Any] = {"mu": "0", "L": "1", "indicator": False, "quadratic": False}


def of_a_function(**parts: Any) -> str:
    """Write a certificate with a smooth function."""
    known = {"name": "f", "kind": "function", "class": SMOOTH, "blocks": [0], "clients": 1, "calls": []}
    return trivial(functions=[{**known, "minimum": None, "least": False, **parts}])


def with_a_number(text: str) -> str:
    return trivial()[:-1] + f', "more": {text}}}'


ONCE = ["1", [["1", 0]], [["1", 0]]]
NOT_READ: dict[str, tuple[str | bytes, str]] = {
    "nothing but a space": (" ", "it is no JSON: Expecting value"),
    "deep lists": ("[" * 100_000, "its lists and objects are nested too deeply"),
    "many lists": ("[" + "[]," * 2_000_000, "it has 4000001 parts, and at most 3000000 are checked"),
    "a key twice": (trivial()[:-1] + ', "cases": []}', "a key of an object occurs twice"),
    "NaN": (with_a_number("NaN"), "'NaN' is no number of a certificate"),
    "a large exponent": (with_a_number("1e999999999"), "'1e999999999' is no number of a certificate"),
    "many sources": (trivial(sources=[MEANS] * 20_000), "it has 20000 sources, and at most 200"),
    "a large block": (trivial(vectors=[POINT] * 201), "it has 201 rows in a block, and at most 200 are checked"),
    "many calls": (of_a_function(calls=[[]] * 301), "it has 301 calls of a function, and at most 300 are checked"),
    "a long number": (trivial({"upper": "1" * 5000}), "it has 5000 characters in a number, and at most 4000"),
    "long entries": (dense(60, 300), "steps, of some digits each, in the elimination of its blocks"),
    "denominators": (dense(60, 300, over="1/1"), "binary digits in a common denominator, and at most 6000 are checked"),
    "long sums": (with_long_sums(100), "binary digits in the denominator of a sum, and at most 24000 are checked"),
}
NOT_PROVED: dict[str, tuple[str, str]] = {
    "a list": ("[]", "its format is not"),
    "no checksum": (json.dumps({"format": checker.FORMAT}), "a certificate does not consist of"),
    "another checksum": (trivial().replace('checksum": "', 'checksum": "0'), "it was changed after it was written"),
    "no proof": (trivial().replace("multipliers", "factors"), "it was changed"),
    "a negative block": (trivial(vectors=[POINT | {"blocks": [-1]}]), "a block is no number from 0"),
    "another operation": (trivial(vectors=[POINT | {"verb": "guess"}]), "a vector is made by no operation"),
    "a name in two lines": (trivial(vectors=[POINT | {"name": "a\nb"}]), "a name is no name"),
    "no form": (trivial(objectives=[None]), "a form does not consist of products, values"),
    "no objective": (trivial(objectives=[]), "a problem has no objective"),
    "many values": (trivial(objectives=[NOTHING | {"values": [["1", 10**8]]}]), "a value is no number from 0 to"),
    "no vector": (trivial(objectives=[NOTHING | {"products": [ONCE]}]), "a vector is no number from 0 to -1"),
    "no class": (of_a_function(**{"class": {"mu": "0"}}), "a class is not described"),
    "another class": (of_a_function(**{"class": {"mu": "0", "nu": "1"}}), "a function is of no class that is known"),
    "an empty class": (of_a_function(**{"class": {**SMOOTH, "mu": "2"}}),
                       "the least curvature is not below the largest"),
    "blocks of others": (of_a_function(blocks=[0, 0], clients=2), "a function has blocks of others"),
    "a minimizer of an operator": (of_a_function(kind="operator", minimum=0, calls=[["", [], [], 0]],
                                                 **{"class": {"lipschitz": "1"}}),
                                   "an operator has a minimizer or a least value"),
    "a decimal": (trivial({"upper": "0.5"}), "upper is no rational number"),
    "another bound": (trivial({"upper": "1"}), "which is not what it says"),
    "more of a proof": (trivial({"remark": "1"}), "a proof has parts that are not read"),
}  # fmt: skip


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
    assert printing.main(["a\0b"]) == ("not read: 'a\\x00b' is no name of a file", 2)
    assert printing.main([]) == ("usage: checker certificate.json, got 0 arguments", 2)
