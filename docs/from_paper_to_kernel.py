"""Headline theorems from the printed sentence to the theorem in Coq. A cell whose check fails stops the build."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from fractions import Fraction as Q
from itertools import chain
from typing import Any

import numpy as np
import sympy
from headlines import HEADLINES, LETTERS, Headline, Without, closed_form, cost, theorem_of
from looseness import comparisons
from reference import linked

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims.catalogue import one_claim
from fedtheory.formal import FOLDER, PRINTED, Theorem
from fedtheory.instances.constants import draw_constants
from fedtheory.sampling import optimal_probabilities
from fedtheory.theorem.bound import Bound, override
from fedtheory.theorem.findings import Finding
from fedtheory.theorem.letters import latex
from fedtheory.theorem.paper import BASES
from fedtheory.verification.instances import regression_examples, replay, reproduce
from fedtheory.verification.renderings import escaped

HEAD = """\
| Theorem | Basis of the print | Closest instance | Counterexamples | Not needed |
| --- | --- | --- | --: | --: |
"""
WITHOUT = """
**Without a hypothesis**

| Hypothesis | Counterexample, or why it is not needed | True value | Right side |
| --- | --- | --: | --: |
"""
_SENTENCE = re.compile(
    r"(?:^|(?<=\s))(Section|End|Variables?|Hypothes[ie]s|Context|Let|Definition)\b.*?\.(?=\s)", re.DOTALL
)


_NAME = re.compile(r"\w+(?:\\_\w+)+")


def _as_code(name: re.Match[str]) -> str:
    return "`" + name[0].replace("\\", "") + "`"


def check(holds: object, what: str) -> None:
    """Raise ValueError if a cell of the page is wrong."""
    if not holds:
        message = f"a cell of the page must be true, got a false one: {what}"
        raise ValueError(message)


def number(value: Any) -> str:
    """Return a short number unchanged, and a longer one with four digits."""
    text = str(value)
    if len(text) <= 14:
        return text
    return f"≈ {float(value):.0f}" if abs(value) > 10**4 else f"≈ {float(value):.4g}"


def in_print(headline: Headline) -> str:
    """Return the sentence and the formula of the paper, which has the value of the bound at drawn constants."""
    if headline.bound is None or headline.printed is None:
        return f"{headline.words}.\n"
    bound, rng = headline.bound.printed, np.random.default_rng(0)
    letters = {**LETTERS, **headline.own}
    used = list(inspect.signature(headline.printed).parameters)
    for _ in range(3):
        given = draw_constants(bound, rng)
        values = ((name, letters[name][1]) for name in used)
        known = {name: sympy.nsimplify(of(given) if callable(of) else given[of]) for name, of in values}
        value = sympy.Rational(*Q(bound(**given)).as_integer_ratio())
        check(headline.printed(**known) == value, f"{headline.title}, printed formula at {given}")
    signs = {name: sympy.Symbol(name) for name in used}
    with sympy.evaluate(False):
        formula = flat(headline.printed(**signs))
    names = {sign: letters[name][0] for name, sign in signs.items()}
    written = sympy.latex(formula, order="none", symbol_names=names)
    left = headline.left or (bound.left.latex if bound.left else "")
    return f"{headline.words}:\n\n$$\n{left} \\le {written}\n$$\n"


def flat(term: Any) -> Any:
    """Return a term in which sums are not nested."""
    parts = [flat(part) for part in term.args]
    if term.is_Add:
        parts = [*chain.from_iterable(part.args if part.is_Add else (part,) for part in parts)]
    return term.func(*parts, evaluate=False) if parts else term


def summands(bound: Bound) -> str:
    """Return the left-hand side and the summands of a bound, from its code, each in its own line."""
    terms = bound.symbolic_terms()
    check(sympy.simplify(sum(terms.values()) - bound.symbolic()) == 0, f"{bound.__name__}, the sum of the summands")
    left = f"{bound.left.latex} \\le" if bound.left else ""
    first, *others = (latex(bound, term) for term in terms.values())
    rows = [left, first, *(one if one.startswith("-") else f"+ {one}" for one in others)]
    lines = " \\\\\n".join(f"& {{}} {row}" for row in rows)
    return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}\n$$\n"


def in_python(function: Callable[..., Any]) -> str:
    """Return the code of a function without its docstring, and of the private functions of its module that it calls."""
    todo, code = [function], []
    for one in todo:
        text = textwrap.dedent(inspect.getsource(one))
        [tree] = ast.parse(text).body
        body = tree.body[1] if ast.get_docstring(tree) else tree.body[0]
        head = f"def {tree.name}({ast.unparse(tree.args)}):"
        code.append(
            "\n".join([*textwrap.wrap(head, 100, subsequent_indent=" " * 8), *text.splitlines()[body.lineno - 1 :]])
        )
        called = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id[0] == "_"})
        todo += [other for other in map(one.__globals__.get, called) if inspect.isfunction(other) and other not in todo]
    return "```python\n" + "\n\n\n".join(code) + "\n```\n"


def in_coq(theorem: Theorem) -> tuple[str, str]:
    """Return the statement of a theorem, and the variables, hypotheses and definitions of the sections around it."""
    text = (FOLDER / theorem.file).read_text(encoding="utf-8")
    found = re.search(rf"^ *Theorem {theorem.name}\b.*?\.(?=\s*^Proof)", text, re.DOTALL | re.MULTILINE)
    check(theorem.file in (FOLDER / "_CoqProject").read_text(encoding="utf-8").split(), f"{theorem.file} is compiled")
    check(not re.search(r"\b(Admitted|admit|Axiom|Parameter)\b", text), f"{theorem.file} proves what it states")
    if found is None:
        message = f"{theorem.file} must have a theorem {theorem.name}"
        raise ValueError(message)
    sections: list[list[str]] = [[]]
    for sentence in _SENTENCE.finditer(re.sub(r"\(\*.*?\*\)", "", text[: found.start()], flags=re.DOTALL)):
        if sentence[1] == "Section":
            sections.append([])
        elif sentence[1] == "End":
            sections.pop()
        elif len(sections) > 1:
            sections[-1].append(sentence[0])
    return found[0], "\n".join(chain.from_iterable(sections[1:]))


def recorded(bound: Bound, find: Callable[[], Finding]) -> tuple[Finding, dict[str, Any]]:
    """Return a finding, and the constants at which the bound has its value there."""
    calls: list[tuple[Any, dict[str, Any]]] = []

    def record(*args: Any, **given: Any) -> Any:
        names = inspect.signature(bound).parameters
        calls.append((bound(*args, **given), dict(zip(names, args, strict=False)) | given))
        return calls[-1][0]

    with override(bound, record):
        found = find()
    return found, next(given for value, given in calls if value == found.predicted)


def cells_of(headline: Headline, found: Finding, given: dict[str, Any]) -> tuple[str, str, str]:
    """Return an instance, the constants, and both sides; all hypotheses hold, and the comparison is exact."""
    check(found.applicable and found.holds and found.side == "exact", f"{headline.title}, a true instance")
    check(headline.bound and headline.bound(**given) == found.predicted, f"{headline.title}, the value at {given}")
    relation = "<" if found.measured < found.predicted else "="
    return (
        ", ".join(f"{escaped(name)} = {escaped(str(value))}" for name, value in found.instance.items()),
        ", ".join(f"{escaped(name)} = {number(value)}".replace("= ≈", "≈") for name, value in given.items()),
        f"{number(found.measured)} {relation} {number(found.predicted)}",
    )


def instances(headline: Headline) -> tuple[str, str]:
    """Return an instance that satisfies all hypotheses next to the closest known one, and how close it comes."""
    if headline.bound is None:
        return optimum(headline), "attained"
    claim = one_claim(headline.claim)
    first = recorded(headline.bound, lambda: reproduce(claim, 0, headline.index))
    last = recorded(headline.bound, lambda: replay(claim, regression_examples()[claim.key]))
    share = "attained" if last[0].ratio == 1 else f"{last[0].ratio:.3f} of the bound"
    names = ("Instance", "Constants", "Both sides")
    columns = zip(names, cells_of(headline, *first), cells_of(headline, *last), strict=True)
    lines = [
        "**Instances**\n",
        f"| | Number {headline.index} of `{claim.key}`, where all hypotheses hold | Closest one of a hunt: {share} |",
        "| --- | --- | --- |",
        *(f"| {' | '.join(column)} |" for column in columns),
        "",
    ]
    if headline.attained:
        found = [reproduce(one_claim(headline.attained), 0, index).ratio for index in range(2)]
        check(set(found) == {1.0}, f"{headline.attained}, an equality")
        lines.append(f"`{headline.attained}` has further federations that attain the bound.\n")
    elif claim.remark:
        lines.append(f"What keeps instances from the bound: {escaped(claim.remark)}.\n")
    return "\n".join([*lines, worst_case(headline)]), share


def optimum(headline: Headline) -> str:
    """Return probabilities that are better than uniform ones; the library returns those of the closed form."""
    for norms, budget in (((1, 1, 4), 2), ((1, 2, 5), 1), ((1, 9), Q(3, 2))):
        best = closed_form(norms, budget)
        check(best == list(map(Q, optimal_probabilities(norms, float(budget)))), f"{headline.title}, norms {norms}")
        check(cost(norms, best) < cost(norms, [budget / Q(len(norms))] * len(norms)), f"{headline.title}, {norms}")
    half, norms = [Q(1, 2), Q(1, 2), Q(1)], (1, 1, 4)
    check(closed_form(norms, Q(2)) == half, f"{headline.title}, probabilities of the page")
    check((cost(norms, half), cost(norms, [Q(2, 3)] * 3)) == (20, 27), f"{headline.title}, costs of the page")
    return (
        "**Instances**. For the norms 1, 1 and 4 and the budget m = 2, p = (1/2, 1/2, 1) and the sum of t\\_i^2/p\\_i "
        "is 20; for uniform probabilities it is 27. The minimum is attained.\n"
    )


def worst_case(headline: Headline) -> str:
    """Return the ratio of the bound to its exact worst case at the constants of the table of all bounds."""
    case, found = next(pair for pair in comparisons() if pair[0].bound is headline.bound)
    check(found.looseness >= 1, f"{headline.title}, a bound of the worst case")
    remark = f" ({escaped(found.remark)})" if found.remark else ""
    return (
        f"Over all federations of the class, the bound is {found.looseness:.4g} times the "
        f"[exact worst case](looseness.md) for {case.words}{remark}.\n"
    )


def assumed(headline: Headline) -> list[str]:
    """Return the hypotheses of a theorem, and what Coq assumes in addition."""
    if headline.bound is None:
        return [*headline.assumes]
    return [*(one.text for one in headline.bound.hypotheses), *filter(None, [theorem_of(headline).assumes])]


def without_each(headline: Headline) -> list[str]:
    """Return the lines of the table of hypotheses, which has a line or more for each of them."""
    texts = assumed(headline)
    found = [(one, text) for one in headline.without for text in texts if one.hypothesis in text]
    check(list(dict.fromkeys(text for _, text in found)) == texts, f"{headline.title}, all hypotheses in order")
    check(len(found) == len(headline.without), f"{headline.title}, one hypothesis for each line")
    told = ["", *(text for _, text in found)]
    return [
        f"| {'' if text == before else escaped(text)} | {without(headline, one, text)} |"
        for before, (one, text) in zip(told, found, strict=False)
    ]


def without(headline: Headline, one: Without, text: str) -> str:
    """Return a counterexample that violates only one hypothesis, or why the hypothesis is not needed."""
    if one.sides is None:
        check(one.needless and one.needless(), f"{headline.title}, {one.words}")
        return f"{escaped(one.words)} | – | –"
    sides = one.sides()
    # What the hypotheses jointly imply may fail with one of them.
    implied = [other.text for other in headline.bound.consequences] if headline.bound else []
    others = [unmet for unmet in sides.unmet if not unmet.startswith((text, *implied))]
    check(not others, f"{headline.title} without {one.hypothesis} alone, {others}")
    check(sides.truth > sides.bound, f"{headline.title} without {one.hypothesis}, {sides.truth} > {sides.bound}")
    return f"{escaped(one.words)} | {number(sides.truth)} | {number(sides.bound)}"


def source_of(headline: Headline) -> str:
    """Return the numbers of the statement in print, and what the statement rests on."""
    if headline.bound is None:
        return f"Section 2, eq. (7); {BASES['remembered']}"
    statement = headline.bound.printed.statement
    where = ", ".join(filter(None, (statement.number, statement.equation)))
    if statement.related:
        where = f"related to {statement.related[1]}"
    return f"{where}; {BASES[statement.basis]}"


def anchor(title: str) -> str:
    """Return the anchor of a title, as MyST makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def section(headline: Headline, name: str) -> tuple[str, str]:
    """Return the line of the first table about a theorem, and its section; ``name`` is a link to the function."""
    theorem, bound = theorem_of(headline), headline.bound
    (statement, around), (found, share), rows = in_coq(theorem), instances(headline), without_each(headline)
    form = PRINTED[bound.statement.function] if bound and bound.printed is not bound else None
    parts = (
        f"## {headline.title}\n",
        f"**In print** ({source_of(headline)}). {in_print(headline)}",
        f"**In Python**, {name}" + (f" ({bound.statement.label})" if bound else "") + ":\n",
        summands(bound) if bound else "",
        in_python(headline.function or bound.__wrapped__),  # type: ignore[union-attr] # one of the two is given
        f"**In Coq**, `{theorem.file}`:\n\n```coq\n{statement}\n```\n",
        f":::{{proof}} Variables, hypotheses and definitions of its sections\n```coq\n{around}\n```\n:::\n",
        f"The printed form in Coq: {_NAME.sub(_as_code, escaped(str(form)))}.\n" if form else "",
        found,
        WITHOUT + "\n".join(rows) + "\n",
    )
    needed = sum(one.sides is not None for one in headline.without)
    basis = source_of(headline).rpartition("; ")[2]
    cells = (f"[{headline.title}](#{anchor(headline.title)})", basis, share, str(needed), str(len(rows) - needed))
    return f"| {' | '.join(cells)} |", "\n".join(parts)


def table() -> str:
    """Return the content of the page."""
    names = {bound: linked(name, bound) for name, bound in known_bounds().items()}
    optimal = (
        "in rational arithmetic; {py:func}`fedtheory.sampling.optimal.optimal_probabilities` returns these numbers"
    )
    made = [section(one, names[one.bound] if one.bound else optimal) for one in HEADLINES]
    return HEAD + "\n".join(line for line, _ in made) + "\n\n" + "\n".join(text for _, text in made)
