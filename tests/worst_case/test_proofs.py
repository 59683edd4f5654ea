"""Solutions: proofs that are consistent, subsets of conditions that suffice, and functions that can be plotted."""

import re
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem

ROUNDING = 1e-6
"""Printed numbers have eight digits, and there are some dozens of them."""


def one_step(mu: Q = Q(0)) -> Problem:
    p = Problem()
    f = p.function(mu=mu, L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most((x - best).square, 1, name="distance2")
    x = x - f.gradient(x)
    p.maximize((x - best).square if mu else f.value(x) - f.value(best))
    return p


def two_clients() -> Problem:
    p = Problem()
    c = p.clients(10, mu=Q(1, 10), L=1)
    best, w = c.minimizer(), p.point("w")
    p.at_most((w - best).square, 1, name="distance2")
    c.heterogeneity(zeta2=1)
    p.maximize((c.step(w, Q(1, 4)) - best).square)
    return p


def compressed() -> Problem:
    p = Problem()
    f = p.function(mu=Q(1, 10), L=1)
    best, x = f.minimizer(), p.point("start")
    p.at_most(f.value(x) - f.value(best), 1, name="gap")
    x = x - Q(1, 2) * p.compressed(f.gradient(x), Q(1, 4))
    p.maximize(f.value(x) - f.value(best))
    return p


def splitting() -> Problem:
    p = Problem()
    T = p.operator(nonexpansive=True)
    x = p.point("start")
    p.at_most((x - T.fixed_point()).square, 1, name="distance2")
    p.maximize((x - T(Q(1, 2) * x + Q(1, 2) * T(x))).square)
    return p


def contraction() -> Problem:
    return one_step(Q(1, 10))


PROBLEMS = [one_step, contraction, two_clients, compressed, splitting]
NAMED = {"ids": lambda problem: problem.__name__}


def written(worst: Any, *, latex: bool = False) -> str:
    """Return a proof that is folded to the width of a terminal, with each of its lines in one piece again."""
    proof: str = worst.proof(latex=latex)
    assert max(map(len, proof.splitlines())) <= 80
    return proof.replace("\n      ", " ")


class Read:
    """A printed proof, whose words are replaced by random vectors and numbers.

    The first three coordinates of a vector are its mean over clients, the others the difference from it.
    """

    words = re.compile(r"(?:mean|dev)\((?:[^()]|\([^()]*\))*\)|[A-Za-z]\w*'?\([^()]*\)|(?<![\d.])[A-Za-z]\w*\*?\d*")

    def __init__(self, rng: np.random.Generator, *, of_clients: bool) -> None:
        self.rng, self.of_clients = rng, of_clients
        self.said: dict[str, Any] = {}

    def word(self, name: str) -> str:
        """Give a word a number or a vector; points do not differ among clients, gradients do."""
        if found := re.fullmatch(r"(mean|dev)\((.*)\)", name):
            return f"{found[1]}({self.word(found[2])})"
        if name not in self.said:
            is_value = re.match(r"f\d+\(", name)
            self.said[name] = self.rng.normal(size=() if is_value else 6)
            if not is_value and self.of_clients and "'" not in name:
                self.said[name][3:] = 0
        return f"said[{name!r}]"

    def define(self, name: str, expression: str) -> None:
        """Let a word, or its mean, be what is said of it."""
        if name.startswith("mean("):
            inner = name.removeprefix("mean(").removesuffix(")")
            self.word(inner)
            self.said[inner][:3] = self.number(expression)
        else:
            self.said[name] = self.number(expression) + np.zeros(6)

    def number(self, expression: str) -> Any:
        """Work out what an expression is."""
        python = self.words.sub(lambda found: self.word(found[0]), expression)
        python = re.sub(r"\|(.+?)\|\^2", r"square(\1)", python)
        python = re.sub(r"<(.+?), (.+?)>", r"product(\1, \2)", python)
        python = re.sub(r"(\d) (?=[a-z])", r"\1 * ", python)
        first = np.repeat([1.0, 0.0], 3)
        meaning = {"said": self.said, "square": lambda v: v @ v, "product": lambda u, v: u @ v}
        return eval(python, meaning | {"mean": lambda v: first * v, "dev": lambda v: v - first * v})


def adds_up(proof: str, rng: np.random.Generator) -> float:
    """Return by how much the sum of a proof's inequalities, less the objective, is off its squares."""
    read = Read(rng, of_clients="clients, each" in proof)
    theorem, _, rest = proof.partition("Proof. ")
    for line in theorem.partition("and points with\n")[2].partition("that fulfill\n")[0].splitlines():
        read.define(*line.strip().split(" = "))
    found = re.search(r"^it holds that (.*) <= (\S+)\.$", theorem, flags=re.MULTILINE)
    assert found
    objective, upper = found.groups()
    bounds, forms, left = 0.0, 0.0, 0.0
    terms, _, squares = rest.partition("less the objective is a sum of squares:\n")
    for line in re.findall(r"^  (\S+) times \[.*?\] (.*) (?:<=|=) (\S+)$", terms, flags=re.MULTILINE):
        bounds += float(Q(line[0])) * float(Q(line[2]))
        forms += float(Q(line[0])) * float(read.number(line[1]))
    for line in squares.splitlines():
        left += float(read.number(line)) if line.startswith("  ") else 0.0
    assert bounds == pytest.approx(float(Q(upper)), rel=ROUNDING)
    return float(forms - read.number(objective) - left)


@pytest.mark.parametrize("problem", PROBLEMS, **NAMED)
def test_a_printed_proof_adds_up_for_all_vectors(problem: Callable[[], Problem]) -> None:
    rng, proof = np.random.default_rng(0), written(problem().solve())
    assert max(abs(adds_up(proof, rng)) for _ in range(5)) < 100 * ROUNDING


def test_a_printed_proof_with_a_wrong_number_does_not_add_up() -> None:
    rng, proof = np.random.default_rng(0), written(contraction().solve())
    assert abs(adds_up(proof.replace("-1/10 start", "-1/9 start"), rng)) > 1e-3


def test_fewer_conditions_give_the_proof_of_the_textbook() -> None:
    p = one_step()
    lower, upper = p.solve().enclosure
    worst = p.without("f0: x1, start", "f0: x1, x*", "f0: start, x*")
    assert worst.lower is None
    assert worst.upper is not None
    assert lower <= worst.upper <= upper + Q(1, 10**6)
    assert set(worst.active) == {"distance2", "f0: x*, start", "f0: x*, x1", "f0: start, x1"}
    assert "upper bound only" in repr(worst)
    # Drori and Teboulle 2014, for N = 1: lambda_1 = 1 / (2 N + 1 - 1) from the start to the model, tau_0 = lambda_1 and
    # tau_1 = 1 - lambda_1 from the minimizer to both, and the bound L / (4 N + 2).
    proof = written(worst)
    assert "it holds that f0(x1) - f0(x*) <= 1/6." in proof.splitlines()
    assert proof.count("  1/2 times") == 3
    assert proof.count("  1/6 times [distance2]") == 1


def test_what_is_left_out_must_be_there_and_must_not_be_needed() -> None:
    p = one_step()
    with pytest.raises(ValueError, match=r"a condition must be .*got 'f0: x9, x1'"):
        p.without("f0: x9, x1")
    for omitted in ("distance2", "f0: x*, x1"):
        with pytest.raises(OracleError, match=re.escape(f"too little that is known of f0: x*, start and {omitted}")):
            p.without("f0: x*, start", omitted)
    assert p.solve().lower is not None
