"""Solutions: proofs that are consistent, subsets of conditions that suffice, and points that can be plotted."""

import re
from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem
from tests.worst_case.gallery import GALLERY

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


def as_text(latex: str) -> str:
    """Write the inequalities of a proof in LaTeX as those in text are."""
    found = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"\1/\2", latex)
    found = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", found)
    found = found.replace("\\lVert ", "|").replace(" \\rVert^2", "|^2")
    found = found.replace("\\langle ", "<").replace(" \\rangle", ">")
    found = found.replace("_{\\star}", "*").replace(" & && \\\\\n  && \\quad", "")
    found = re.sub(r"\\nabla (f_\{0\})", r"\1'", re.sub(r"\\mathrm\{(\w+)\}", r"\1", found))
    return re.sub(r"([A-Za-z])_\{(\d+)\}", r"\1\2", found)


@pytest.mark.parametrize("problem", [one_step, contraction], **NAMED)
def test_a_proof_in_latex_says_what_the_one_in_text_says(problem: Callable[[], Problem]) -> None:
    worst = problem().solve()
    # A form that takes several lines is put together again.
    latex = re.sub(r"(?<!colon) \\\\\n  & \\qquad ([+-])", r" \1", as_text(written(worst, latex=True)))
    rows = re.findall(
        r"^  & (\S+)\\ \\text\{\(.*\)\}\\colon \\\\\n  & \\qquad (.*) \\le (\S+?)(?: \\\\)?$", latex, flags=re.MULTILINE
    )
    lines = re.findall(r"^  (\S+) times \[.*?\] (.*) <= (\S+)$", written(worst), flags=re.MULTILINE)
    # Sides of a product are in the order of their names, which differ.
    assert [[y, sorted(re.findall(r"[\w'*]+|[+-]", form)), bound] for y, form, bound in rows] == [
        [y, sorted(re.findall(r"[\w'*]+|[+-]", form)), bound] for y, form, bound in lines
    ]
    assert rows


@pytest.mark.parametrize("example", [*GALLERY[:4], *GALLERY[-3:]], ids=lambda one: one.name)
def test_a_proof_in_latex_can_be_compiled(example: Any) -> None:
    latex = written(example.problem().solve(), latex=True)
    for environment in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", latex, flags=re.DOTALL):
        assert len({row.replace("\\&", "").count("&") for row in environment.split(" \\\\\n")}) == 1
    assert latex.count("\\begin{align*}") == latex.count("\\end{align*}") > 0
    depth = np.cumsum([(one == "{") - (one == "}") for one in re.sub(r"\\[{}]", "", latex)])
    assert depth.min() >= 0 == depth[-1]
    assert latex.count("\\lVert") == latex.count("\\rVert")
    assert latex.count("\\langle") == latex.count("\\rangle")
    known = {
        "begin", "end", "tfrac", "mathrm", "lVert", "rVert", "langle", "rangle", "nabla", "le", "colon", "text",
        "textasciicircum", "cdot", "min", "qquad", "star", "item", "paragraph", "overline", "widetilde",
        "allowdisplaybreaks",
    }  # fmt: skip
    assert set(re.findall(r"\\([A-Za-z]+)", latex)) <= known
    # What is no formula has nothing that LaTeX reads otherwise.
    assert not re.search(
        r"[_^#%&~]", re.sub(r"\\begin\{align\*\}.*?\\end\{align\*\}|\$.*?\$|\\\[.*?\\\]", "", latex, flags=re.DOTALL)
    )


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


def test_points_of_a_worst_case_are_said_in_a_line_and_reach_the_value() -> None:
    found = contraction().solve().instance()
    assert repr(found) == "Instance(1 function and 2 points in dimension 2: start, x*)"
    assert np.linalg.norm(found["start"] - found["x*"]) == pytest.approx(1, abs=1e-6)
    assert len(repr(GALLERY[0].problem().solve().instance())) < 100


def test_the_function_that_is_drawn_goes_through_the_points_and_stays_in_its_class() -> None:
    axes = one_step().solve().instance().plot_functions(Figure().add_subplot())
    curve, dots = (np.asarray(line.get_xydata()) for line in axes.get_lines())
    assert np.interp(dots[:, 0], *curve.T) == pytest.approx(dots[:, 1], abs=1e-3)
    step = curve[1, 0] - curve[0, 0]
    bend = np.diff(curve[:, 1], 2) / step**2
    assert bend.min() >= -1e-5
    assert bend.max() <= 1 + 1e-5


def test_points_in_the_plane_keep_their_distances_where_two_dimensions_are_enough() -> None:
    p = Problem()
    functions = [p.function(mu=Q(1, 10), L=1) for _ in range(2)]
    best, x = (functions[0] + functions[1]).minimizer(), p.point("start")
    p.at_most((x - best).square, 1)
    p.at_most(p.mean([f.gradient(best).square for f in functions]), 1)
    p.maximize(p.mean([(x - f.gradient(x) - best).square for f in functions]))
    found = p.solve().instance()
    axes = found.plot_plane(Figure().add_subplot())
    flat = np.asarray(axes.get_lines()[0].get_xydata())
    places = np.array([*found.values()])
    for k in range(len(places)):
        there = np.linalg.norm(places - places[k], axis=1)
        assert np.linalg.norm(flat - flat[k], axis=1) == pytest.approx(there, abs=1e-6)
    assert axes.get_xlabel() == "100% of the squared distances"


def test_a_function_without_a_curve_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="must be smooth and convex, got none"):
        splitting().solve().instance().plot_functions(Figure().add_subplot())


def averaged() -> Problem:
    """Two rounds of clients with noise, and an inexact gradient of another function; all has a name."""
    p = Problem()
    c, f = p.clients(3, mu=Q(1, 10), L=1, name="F"), p.function(L=1, name="h")
    best, w = c.minimizer(name="w*"), p.point("w0")
    p.at_most((w - best).square, 1, name="distance2")
    for k in (1, 2):
        w = p.name(c.mean(w - Q(1, 4) * c.stochastic_gradient(w, variance=1, name="sigma2")), f"w{k}")
    g = f.inexact_gradient(best, absolute=Q(1, 10), name="slope")
    p.at_most(g.square, 1)
    c.heterogeneity(zeta2=1)
    p.maximize((w - best - Q(1, 9) * g).square)
    return p


NOTED = {"mean", "dev", "v", "s1", "s2", "s3"}
"""Symbols that a note at the end of a proof explains."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", [*PROBLEMS, averaged, *(one.problem for one in GALLERY[::12])], ids=lambda one: one.__name__
)
def test_a_proof_introduces_every_symbol(problem: Callable[[], Problem]) -> None:
    worst = problem().solve()
    proof = re.sub(r"\[[^\]]*\]", "", re.sub(r"\n {6}", " ", worst.proof()))
    given, _, rest = proof.partition("it holds that")
    introduced = set(re.findall(r"^  ([^:=]+?)(?::| =)", given, flags=re.MULTILINE))
    introduced = {name.strip() for names in introduced for name in names.split(",")}
    symbols = set(re.findall(r"[A-Za-z]\w*\*?\d*", rest.partition("The space is")[0]))
    words = {
        "Proof",
        "The",
        "sum",
        "of",
        "times",
        "less",
        "the",
        "objective",
        "is",
        "a",
        "squares",
        "least",
        "e",
        "and",
    }
    unknown = {name for name in symbols - words - NOTED if name not in introduced}
    assert not unknown, (unknown, introduced)
