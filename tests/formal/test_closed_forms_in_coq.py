"""What coqc says of closed forms: theorems about all constants are accepted, and false ones are not."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from fedtheory.formal import AXIOMS
from fedtheory.worst_case import Problem, closed_form
from tests.formal.test_coqc import (
    accepted_with_reserved_names,
    all_compiled,
    assumptions,
    coqc,
    pytestmark,  # noqa: F401, which marks this module, too
)
from tests.worst_case.closed_form_methods import METHODS

STATED = [name for name in METHODS if name != "unbiased compressor"]
"""Those without noises, which have no formal statement yet."""
SOME = ["gradient descent", "partial participation"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all compiled files, to add to."""
    return shutil.copytree(all_compiled(tmp_path_factory), tmp_path_factory.mktemp("closed") / "copy")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[] if one in SOME else pytest.mark.long) for one in STATED])
def test_a_closed_form_is_a_theorem_about_all_constants(folder: Path, name: str) -> None:
    method, file = METHODS[name], folder / (name.title().replace(" ", "") + ".v")
    closed_form(method.program, method.domain).coq(file, "closed_form")
    accepted_with_reserved_names(folder, file.name)
    found = re.findall(r"^Theorem (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert assumptions(folder, [f"FedTheory.{file.stem}.{theorem}" for theorem in found]) <= AXIOMS


def step(mu: Any, s0: Any, e: Any, proj1: Any) -> Problem:
    """A gradient step whose constants and points have names that proofs use."""
    p = Problem()
    f = p.function(mu, 1)
    best, x = f.minimizer(name="d0"), p.point("odd_sum")
    p.at_most((x - best).square, 1, "distance2")
    p.maximize((x - s0 / (e * proj1) * f.gradient(x) - best).square)
    return p


def domain(mu: Any, s0: Any, e: Any, proj1: Any) -> list[Any]:
    return [mu > 0, mu < 1, s0 > 0, e > 0, proj1 > 0, s0 < e * proj1]


def test_constants_and_points_may_have_names_that_proofs_use(folder: Path) -> None:
    closed_form(step, domain).coq(folder / "Odd.v", "odd")
    accepted_with_reserved_names(folder, "Odd.v")


@pytest.fixture(scope="module")
def proximal_step(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The theorem about a proximal step."""
    method, file = METHODS["proximal point"], tmp_path_factory.mktemp("closed") / "Proximal.v"
    closed_form(method.program, method.domain).coq(file)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"sq \(x1 - xs\)%V <= \(1 / \(\(mu \* eta \+ 1\)\^2\)\)\.", "sq (x1 - xs)%V <= 1 / (mu * eta + 1)^2 - 1 / 9."),
        (r"\(1 / \(\(mu \* eta \+ 1\)\^2\)\)", "(1 / ((mu * eta + 1)^3))"),
        (r"0 < mu -> 0 < eta ->", "0 < eta ->"),
        (r"\(1 / eta\) \* \(x - x1\)", "(2 / eta) * (x - x1)"),
        (r"\(2 \* \(eta\)\)", "(3 * (eta))"),
        (r"sq \(x - xs\)%V <= 1 ->", "sq (x - xs)%V <= 2 ->"),
    ],
)
def test_a_closed_form_with_another_value_domain_step_or_multiplier_is_refused(
    folder: Path, proximal_step: str, right: str, wrong: str
) -> None:
    assert re.search(right, proximal_step)
    (folder / "Wrong.v").write_text(re.sub(right, wrong, proximal_step), encoding="utf-8")
    assert coqc(folder, "Wrong.v").returncode != 0
