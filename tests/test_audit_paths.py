"""Lines of the library that are loaded for one promise: what has to be read to check it."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fedtheory.claims.catalogue import known_claims
from fedtheory.verification import known_bounds
from tests.environment import ROOT

pytestmark = pytest.mark.slow

PROMISES = {
    "certificate checker": (1_000, "import sys\nsys.path.insert(0, 'fedtheory/worst_case')\nimport checker"),
    "optimal probabilities": (
        1_300,
        "from fedtheory.sampling.optimal import optimal_probabilities\noptimal_probabilities([1.0, 2.0, 3.0], 2)",
    ),
    "value of a bound": (
        4_000,
        """from fedtheory.bounds import power_of_choice as poc
poc.decaying_steps_gap(16, mu=1, L=4, local_steps=3, num_selected=2, G2=43, sigma2=32, objective_gap=3,
                       rho_diagonal=8/3, rho_tilde=4, initial_distance2=2)
""",
    ),
    "worst case": (
        8_500,
        """import fedtheory as ft
from fractions import Fraction as Q
ft.worst_case.fedavg(1, Q(1, 4), mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2)).enclosure
""",
    ),
    "lemma": (9_000, "import fedtheory as ft\nft.verification.verify('power-of-choice:lemma-b1')"),
    "check of a strategy": (
        14_000,
        "import fedtheory as ft\nft.conformance.check_strategy(lambda rng, weights, losses: [0])",
    ),
}
RUN = """import fedtheory as ft
fed = ft.QuadraticFederation([1.0, 1.0, 2.0], [[1.0], [-1.0], [0.0]], [0.5, 0.25, 0.25])
ft.fedavg(fed, ft.selection.{}, num_rounds=2, step_size=0.1)
"""
STRATEGIES = (
    "ActiveFederated(1, (4, 4, 4))", "Full()", "Independent(1.5)", "Periodic(((0.5, 0.5, 0), (0, 0, 1)))",
    "PowerOfChoice(1, 2)", "Proportional(2)", "SizeWeighted(ft.selection.Uniform(2))", "Uniform(2)",
)  # fmt: skip
EXAMPLE = """import doctest, sys
from fedtheory.bounds.{paper} import {name} as bound
doctest.run_docstring_examples(bound, vars(sys.modules[bound.__module__]))
"""
LOADED = """
import json, sys
loaded = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
print(json.dumps([file for name, file in loaded.items() if name.split(".")[0] in ("fedtheory", "checker") and file]))
"""


def lines_loaded(program: str) -> int:
    """Count the lines of the library's modules that a program loads."""
    ran = subprocess.run([sys.executable, "-c", program + LOADED], capture_output=True, text=True, check=True, cwd=ROOT)
    [listed] = ran.stdout.splitlines()  # an example that fails prints more
    files = {Path(file) for file in json.loads(listed) if file.endswith(".py")}
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def test_the_lines_of_loaded_modules_are_counted_and_no_others() -> None:
    package = (ROOT / "fedtheory/sampling/__init__.py").read_text(encoding="utf-8").count("\n")
    root = sum(
        (ROOT / f"fedtheory/{file}.py").read_text(encoding="utf-8").count("\n")
        for file in ("__init__", "_storage/__init__", "_support/__init__", "_support/lazy")
    )
    assert lines_loaded("import json, fedtheory.sampling") == package + root


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_loads_few_lines(promise: str) -> None:
    most, program = PROMISES[promise]
    assert lines_loaded(program) <= most


@pytest.mark.parametrize("bound", random.Random(0).sample(sorted(known_bounds()), 3))
def test_a_bound_loads_few_lines(bound: str) -> None:
    paper, name = bound.split(".")
    assert lines_loaded(EXAMPLE.format(paper=paper, name=name)) <= PROMISES["value of a bound"][0]


@pytest.mark.parametrize("strategy", ["PowerOfChoice(1, 2)", *random.Random(0).sample(STRATEGIES, 3)])
def test_a_run_of_a_strategy_loads_few_lines(strategy: str) -> None:
    assert lines_loaded(RUN.format(strategy)) <= 10_000


def claim_of(key: str) -> Any:
    """Return a claim as a case of the test; a limit that is missed is an expected failure."""
    missed = pytest.mark.xfail(strict=True, reason="loads the problem language: about 12,500 lines")
    return pytest.param(key, marks=missed if key.endswith("-worst-case") else ())


@pytest.mark.parametrize("claim", [claim_of(key) for key in random.Random(0).sample(sorted(known_claims()), 3)])
def test_a_claim_loads_few_lines(claim: str) -> None:
    assert lines_loaded(f"import fedtheory as ft\nft.verification.verify({claim!r})") <= PROMISES["lemma"][0]
