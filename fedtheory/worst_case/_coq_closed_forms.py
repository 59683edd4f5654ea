"""A closed form as a theorem in Coq whose constants are variables.

A lemma says that the conditions, whatever they are about, add up to the claim: an identity of rational functions and
inner products that ``field`` proves. The theorem applies it to the conditions of its functions and points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.worst_case import _coq_terms as coq
from fedtheory.worst_case._certificate_files import Writer, problem_document
from fedtheory.worst_case._constants import Constant
from fedtheory.worst_case._coq_names import constants, theorem_names
from fedtheory.worst_case._coq_statement import Statement
from fedtheory.worst_case._domains import Combination, Domain, Sign
from fedtheory.worst_case.checker._problem import Problem
from fedtheory.worst_case.formal_theorems import SIDES, Weighted, balanced, folded, statement, weighted

HEAD = """From FedTheory Require Import Families.
Open Scope R_scope.
"""


def file_of(proofs: Sequence[Any], name: str) -> str:
    """Return a file with a theorem for each piece of a closed form."""
    names = theorem_names(name, len(proofs))
    made = [(_collected(one, word), word) for one, word in zip(proofs, names, strict=True)]
    return "\n".join([HEAD, *("\n".join([*_lemma(one, word), "", *_theorem(one, word), ""]) for one, word in made)])


class _Parts(NamedTuple):
    """What a theorem is made of; the domain's inequalities and the proofs of signs are text."""

    stated: Statement
    claim: Any
    value: Constant
    facts: Sequence[Weighted]
    squares: Sequence[Any]
    head: str
    where: str
    intros: list[str]
    signs: _Signs


def _collected(one: Any, name: str) -> _Parts:
    domain, program = one.domain, one.program
    names = constants(domain.names).values()
    written = problem_document(one.record, [one.objective], Writer(one.record, lambda c: c))
    stated, value = Statement(Problem(written), [*names, f"{name}_sum"]), one.constant(one.value)
    factors = dict(zip(one.active, map(one.constant, one.multipliers), strict=True))
    ys = [factors.get(k, Fraction(0)) for k in range(len(program.constraints))]
    first = len(program.equalities)
    claim = coq.minus(stated.goals[0], coq.Fixed(value))
    facts = weighted(stated, dict(zip(SIDES, (ys[:first], ys[first:]), strict=True)))
    facts, squares = balanced(stated, facts, claim, one.squares_of)
    where = " -> ".join(f"0 {'<' if strict else '<='} {coq.polynomial(g)}" for g, strict in domain.inequalities)
    intros = [f"d{k}" for k in range(len(domain.inequalities))]
    signs = _Signs(domain, [y for y, _ in facts] + [d for d, _ in squares])
    return _Parts(stated, claim, value, facts, squares, f"({' '.join(names)} : R)", where, intros, signs)


def _lemma(one: _Parts, name: str) -> Iterator[str]:
    """Yield the lemma that conditions on vectors ``e0, e1, ...`` and numbers ``t0, ...`` add up to the claim."""
    vectors = f"({' '.join(f'e{k}' for k in range(len(one.stated.atoms)))} : V)"
    numbers = f" ({' '.join(f't{k}' for k in range(len(one.stated.values)))} : R)" * bool(one.stated.values)
    yield from folded(f"Lemma {name}_sum {one.head} {{V : space}} {vectors}{numbers} : {one.where} ->", 0)
    bodies = [printed(fact.says) for _, fact in one.facts]
    for body, (_, fact) in zip(bodies, one.facts, strict=True):
        yield from folded(f"{body} {'=' if fact.is_equality else '<='} 0 ->", 2)
    claimed, hs = printed(one.claim), [f"h{k}" for k in range(len(bodies))]
    yield from folded(f"{claimed} <= 0.", 2)
    yield "Proof."
    yield from folded(f"intros {' '.join([*one.intros, *hs])}.", 2)
    yield from one.signs.proofs()
    total = "0"
    for d, row in one.squares:
        squared = " + ".join(f"{coq.real(c)} * e{k}" for k, c in enumerate(row) if c)
        total = f"({total} - {one.signs.text(d)} * sq ({squared})%V)"
    for (y, _), body in reversed([*zip(one.facts, bodies, strict=True)]):
        total = f"{one.signs.text(y)} * {body} + ({total})"
    yield from folded(f"assert (e : {claimed} = {total}) by (ips; field; differs).", 2)
    yield "  rewrite e."
    for (_, fact), h in zip(one.facts, hs, strict=True):
        yield f"  apply {'term_zero; [' if fact.is_equality else 'term_at_most; [pos | '}exact {h} |]."
    yield from ["  apply term_square; [pos |]."] * len(one.squares)
    yield "  lra."
    yield "Qed."


def _theorem(one: _Parts, name: str) -> Iterator[str]:
    """Yield the theorem about functions and points, which applies the lemma."""
    stated = one.stated
    yield from statement(stated, name, f"{coq.text(stated.goals[0])} <= {coq.real(one.value)}", one.head, one.where)
    yield "Proof."
    yield from folded(f"intros {' '.join([*one.intros, *(what for _, what, _ in stated.items)])}.", 2)
    yield from one.signs.proofs()
    for line in stated.before:
        yield from folded(_with_sides(line), 2)
    yield "  apply Rminus_le."
    vectors = " ".join(stated.term(v) for v in stated.atoms)
    values = " ".join(f"({one})" for one in stated.values)
    space = "L2 p V" if stated.has_clients else "V"
    constants = one.head[1:].partition(" :")[0]
    yield from folded(f"apply ({name}_sum {constants} (V := {space}) {vectors} {values}); try assumption.", 2)
    for _, fact in one.facts:
        yield from folded(f"- exact {_with_sides(fact.proof)}.", 2)
    yield "Qed."


def _with_sides(text: str) -> str:
    """Let conditions on constants be proved by what proves those on named ones, too."""
    return text.replace("ltac:(lra)", "ltac:(side)")


class _Signs:
    """Numbers as products of factors of known signs, and proofs of these signs."""

    def __init__(self, domain: Domain, numbers: Sequence[Fraction]) -> None:
        self.domain = domain
        self.known: dict[Any, Sign] = {}
        self.texts = {c.function: self._text(c.function) for c in numbers if isinstance(c, Constant)}

    def _text(self, function: Any) -> str:
        sides, total = [], 1
        for part in (function.numer, function.denom):
            signs = self.domain.signs(part)
            if signs is None:
                return ""  # the multiplier of an equality, which may have any sign
            content, _ = part.factor_list()
            total *= signs[0]
            words = [coq.real(Fraction(abs(int(content.numerator)), int(content.denominator)))]
            for factor, sign, power in signs[1]:
                if sign.total:
                    self.known[factor] = sign
                words.append(f"({coq.polynomial(factor)})" + f"^{power}" * (power > 1))
            sides.append(" * ".join(words[words[0] == "1" and len(words) > 1 :]))
        quotient = sides[0] if sides[1] == "1" else f"({sides[0]}) / ({sides[1]})"
        return f"({'- ' * (total < 0)}{f'({quotient})' if total < 0 else quotient})"

    def text(self, number: Fraction) -> str:
        """Return a number as a product of factors whose signs are known."""
        known = self.texts.get(number.function) if isinstance(number, Constant) else None
        return known or f"({coq.real(number)})"

    def proofs(self) -> Iterator[str]:
        """Yield proofs that the factors are positive, or at least 0."""
        for number, (factor, sign) in enumerate(self.known.items(), len(self.domain.inequalities)):
            text, relation = coq.polynomial(factor), "<" if sign.is_strict else "<="
            times, total = self._sum(sign.multiplier), self._sum(sign.total)
            how = f"replace ({text}) with ({total}) by field; pos"
            if times != "1":
                lemma = f"Rmult_{'lt' if sign.is_strict else 'le'}_reg_l"
                how = (
                    f"apply {lemma} with ({times}); [pos |]; rewrite Rmult_0_r; "
                    f"replace (({times}) * ({text})) with ({total}) by field; pos"
                )
            yield from folded(f"assert (d{number} : 0 {relation} {text}) by (first [lra | {how}]).", 2)

    def _sum(self, products: Combination) -> str:
        """Return a sum of products of the domain's inequalities."""
        parts = (
            [coq.real(c), *(f"({coq.polynomial(self.domain.inequalities[k][0])})" for k in ks)] for c, ks in products
        )
        return " + ".join(" * ".join(part[part[0] == "1" and len(part) > 1 :]) for part in parts)


def printed(term: Any) -> str:
    """Return an expression with the vectors ``e0, e1, ...`` and the numbers ``t0, ...``."""
    scope = "%V" * coq.is_vector(term)
    match term:
        case coq.Value() | coq.Fixed():
            return f"t{term.number}" if isinstance(term, coq.Value) else _constant(term.number)
        case coq.Times(factor, inner):
            return f"({_constant(factor)} * {printed(inner)}){scope}"
        case coq.Sum(left, sign, right):
            return f"({printed(left)} {sign} {printed(right)}){scope}"
        case coq.Product(u, v):
            return f"sq {printed(u)}" if coq.code(u) == coq.code(v) else f"ip {printed(u)} {printed(v)}"
    atom = f"e{min(term.at)}" if term.at else "zero"
    return atom if term.stands_for is None else printed(term.stands_for)


def _constant(number: Fraction) -> str:
    is_whole = isinstance(number, Constant) or number.denominator == 1
    return coq.real(number) if is_whole and (isinstance(number, Constant) or number >= 0) else f"({coq.real(number)})"
