"""Numbers on the page of lessons agree with stored results, verdicts and the page of figures."""

import json
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.catalogue import known_claims
from fedtheory.verification import verify
from tests.conformance.defects.public_issues import ISSUES
from tests.environment import ROOT
from tests.quick_studies import SCRIPTS
from tests.test_readme import read
from tests.test_reproduction import PAGE as FIGURES
from tests.test_reproduction import PAPERS, named, numbers, section, status

PAGE = " ".join(read("docs/lessons.md").split())


def table(study: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((ROOT / "docs" / "full_size" / study / "table.json").read_text())["rows"]
    return rows


def test_every_claim_that_is_named_exists_and_fails_as_is_said() -> None:
    keys = set(re.findall(r"`((?:power-of-choice|optimal-client-sampling|fedalign|greedyfed):[\w.-]+)`", PAGE))
    assert len(keys) == 7
    assert {known_claims()[key].kind for key in keys} == {"erratum"}


def test_studies_that_are_named_exist() -> None:
    assert named(PAGE) <= {script.stem for script in SCRIPTS}


def test_the_false_step_is_as_false_as_is_said() -> None:
    [verdict] = verify("power-of-choice:step-54-55")
    assert verdict.worst_ratio == float(Fraction(17, 32) / Fraction(9, 32))
    assert "17/32 where 9/32 is true, 1.89 times" in PAGE
    assert f"{verdict.worst_ratio:.2f}" == "1.89"


def test_the_counterexamples_are_those_of_the_theory_pages() -> None:
    # E F - F* = tau T / (2 (T + 7)^2) against 3 / (T + 8), and (1/4 * 1/2)^2 / 2
    ten, hundred = (Fraction(T * T, 2 * (T + 7) ** 2) for T in (10, 100))
    assert (ten, Fraction(3, 18), Fraction(1, 8) ** 2 / 2) == (Fraction(50, 289), Fraction(1, 6), Fraction(1, 128))
    assert "the error is 50/289, and the bound is 1/6" in PAGE
    assert "makes an error of 1/128" in PAGE
    assert f"{float(hundred):.3f} against {3 / 108:.3f}" in PAGE


def test_the_looseness_is_that_of_the_stored_study() -> None:
    above = {row["what"]: math.log10(row["rand"]) for row in table("closing_the_gap") if row["rand"] > 0}
    shown = [float(number) for number in re.findall(r"\| (\d\.\d\d) \|", PAGE)]
    worst = above["worst case"]
    over = [above[name] - worst for name in ("theorem", "refined theorem", "Theorem P", "Lemma W")]
    assert shown == [round(power, 2) for power in (*over, worst)]


def test_the_lines_that_lose_most_are_those_of_the_stored_study() -> None:
    losses = {row["what"]: row["rand"] for row in table("closing_the_gap") if row["what"].startswith("(")}
    million = [f"{loss / 1e6:.1f}" for loss in sorted(losses.values(), reverse=True)[:5]]
    assert million == ["3.6", "3.6", "1.6", "0.7", "0.7"]
    kinds = {name.split("  ")[1] for name in sorted(losses, key=lambda name: -losses[name])[:5]}
    assert kinds == {"step sizes by 2 eta_t", "induction", "gradients by G2"}
    assert all(text in PAGE for text in ("3.6 million", "1.6 million", "0.7 million", f"of the {len(losses)} inequal"))
    assert losses["(54)  cohort independent of the model"] < 0


def test_the_counts_of_figures_are_those_of_the_page_of_figures() -> None:
    found: Counter[str] = Counter()
    for paper in PAPERS:
        for row in section(paper, FIGURES):
            found[status(row)[0]] += sum(len(numbers([row], kind)) for kind in ("Figure", "Table"))
    shown = {word: int(count) for word, count in re.findall(r"\| ([a-z ]+) \| (\d+) \|", PAGE)}
    assert shown == dict(found)


def test_the_underflow_of_all_ten_classes_is_computed_by_two_roads() -> None:
    chance = (2.0 ** (-1022e-4) / math.gamma(1 + 1e-4)) ** 10
    assert f"= {chance:.4f}$ at" in PAGE
    rng, size = np.random.default_rng(0), (20_000, 10)
    # In logarithms: a gamma variable of shape a is one of shape 1 + a times u^(1/a), and nothing underflows.
    logs = np.log(rng.standard_gamma(1 + 1e-4, size)) - rng.standard_exponential(size) / 1e-4
    below = (logs.max(axis=1) < -1022 * math.log(2)).mean()
    assert abs(below - chance) < 5 * math.sqrt(chance * (1 - chance) / size[0])


def test_the_number_of_public_defects_is_that_of_the_kit() -> None:
    assert len(ISSUES) == 14
    assert "finds fourteen defects" in PAGE
