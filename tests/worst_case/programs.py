"""The programs whose solutions are worst cases, number by number, and what is refused instead; nothing is solved.

``python -m tests.worst_case.programs`` writes ``programs.json``: a checksum for each case of the table of loosenesses,
for its neighbors, in which one constant is another, and for each worst case with known digits. All numbers are exact.
"""

import contextlib
import itertools
import json
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction as Q
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from fedtheory import worst_case
from fedtheory.worst_case import (
    aligned_selection,
    biased_selection,
    confrontations,
    floors,
    full_or_uniform,
    optimal_sampling,
    skewed_selection,
)  # fmt: skip
from fedtheory.worst_case.enclosures import Enclosure
from fedtheory.worst_case.gram import Program
from fedtheory.worst_case.promises import compared
from tests.looseness_table import CASES
from tests.worst_case.test_fixtures import FIXTURES

FILE = Path(__file__).with_suffix(".json")
SOLVING = (
    aligned_selection, biased_selection, confrontations, floors, full_or_uniform, optimal_sampling, skewed_selection,
)  # fmt: skip
CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": Q(1), "distance2": Q(1), "objective_gap": Q(1, 2)}
SIZES = ((2, 2, 1), (3, 3, 1), (3, 3, 2), (4, 4, 2), (3, 2, 1), (4, 3, 2))


def told(call: Callable[[], Any]) -> str:
    """Return the checksum of the programs that a call states, or the sentence by which it refuses to."""
    programs, refusal = stated(call)
    texts = [_text(program) for program in programs]
    return f"{len(texts)} {zlib.crc32(repr(texts).encode()):08x}" if texts else f"{type(refusal).__name__}: {refusal}"


def stated(call: Callable[[], Any]) -> tuple[list[Program], Exception | None]:
    """Return the programs that a call states and would solve, and what it raises where they have no solution."""
    programs: list[Program] = []

    def state(program: Program, *_: Any) -> Enclosure:
        programs.append(program)
        return Enclosure(Q(len(programs)), Q(len(programs)), mock.Mock(), mock.Mock())

    with contextlib.ExitStack() as patched:
        for module in SOLVING:
            patched.enter_context(mock.patch.object(module, "enclose", state))
        try:
            call()
        except (ValueError, TypeError, ArithmeticError) as refusal:
            return programs, refusal
    return programs, None


def _text(program: Program) -> str:
    constraints = (*program.equalities, *program.inequalities)
    names = [(one.bound, one.name, one.share) for one in constraints]
    blocks = [vector.coordinates for vector in program.vectors]
    zeros = len(program.zeros)
    return str((program.sizes, len(program.equalities), names, blocks, zeros, program.products, program.levels))


def neighbors(given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield constants of which one is another."""
    yield "", given
    for name, value in given.items():
        others: tuple[Any, ...] = ()
        if isinstance(value, int):
            others = (value + 1,)
        elif isinstance(value, Q):
            others = (2 * value, value / 3, Q(0)) if value else (Q(1, 7),)
        yield from ((f"{name} = {other}", {**given, name: other}) for other in others)


def combinations(**options: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Yield all combinations of options."""
    yield from (dict(zip(options, chosen, strict=True)) for chosen in itertools.product(*options.values()))


def doors() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls with combinations of options, of which many are refused."""
    everybody = {"objective": ("distance", "gap"), "functions": ("all", "quadratic")}
    uniform = {"sampling": ("all", "distinct", "independent"), "num_selected": (None, 1, 3), "num_clients": (None, 3)}
    for given in combinations(**uniform, **everybody, num_rounds=(1, 2), gradient_noise=(0, Q(1, 3))):
        yield f"fedavg {given}", partial(worst_case.fedavg, 2, Q(1, 4), **CLASS, **given)
    skews = {"rho_diagonal": Q(6, 5), "rho_tilde": Q(2)}
    for given in combinations(
        gradient_noise=(0, Q(1, 3)), num_selected=(1, 2), G2=(None, Q(3)), functions=("all", "quadratic")
    ):
        yield f"skew_class {given}", partial(worst_case.skew_class, 2, Q(1, 4), **CLASS, **skews, **given)
    for given in combinations(
        minima=("equal", "free"), objective=("distance", "gap"), threshold=(Q(1, 5), 0), share=(0.5, 0.2)
    ):
        yield f"fedalign {given}", partial(worst_case.fedalign, 1, Q(1, 4), **CLASS, client_gap=Q(1, 2), **given)
    for given in combinations(probabilities=("optimal", "uniform"), expected_size=(1, Q(3, 2), 3), max_block=(50, 3)):
        weights = [Q(1, 2), Q(1, 3), Q(1, 6)]
        yield (
            f"sampling {given}",
            partial(worst_case.optimal_client_sampling, weights, step_size=Q(1, 4), **CLASS, **given),
        )


def examples() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield names and calls."""
    for number, case in enumerate(CASES):
        for change, given in neighbors(case.given):
            name = f"{case.bound.statement.paper.key} {case.bound.__name__} {number} {change}"
            yield name, partial(compared, case.bound, given)
    yield from ((f"fixture {name}", call) for name, (call, _) in FIXTURES.items())
    yield from doors()
    for sizes in SIZES:
        for minima in ("equal", "free"):
            for tau in (1, 2):
                call = partial(worst_case.power_of_choice, *sizes, tau, Q(1, 4), **CLASS, minima=minima)
                yield f"selection {sizes} {minima} {tau}", call


def recorded() -> dict[str, str]:
    """Return the records by name."""
    known: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


if __name__ == "__main__":
    records = {name: told(call) for name, call in examples()}
    FILE.write_text(json.dumps(records, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
