"""Coq theorem with proof, made from a problem and multipliers of a certificate.

The statement describes the method in readable form. For each nonzero multiplier, the proof refers to the lemma of
``fedtheory/formal/Calls.v`` whose instance the inequality is. The checker in ``Certificate.v``, which is proved to be
sound, verifies the sum.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import reduce
from math import lcm
from pathlib import Path
from typing import Any

from fedtheory.worst_case import _coq_terms as coq
from fedtheory.worst_case._constants import hashable, key_of
from fedtheory.worst_case._coq_classes import Fact
from fedtheory.worst_case._coq_names import NotStated, theorem_names
from fedtheory.worst_case._coq_statement import Statement, claim_text, minimum
from fedtheory.worst_case._sums_of_squares import Square, sum_of_squares
from fedtheory.worst_case.checker._conditions import of_function
from fedtheory.worst_case.checker._forms import Constraint, says_nothing
from fedtheory.worst_case.checker._problem import Problem
from fedtheory.worst_case.checker._reading import read

__all__ = ["file_of", "file_of_certificate"]

LONGEST_FILE = 2_000_000
"""Largest number of characters of a file, which Coq reads within minutes."""
LONGEST_BOUND = 24
"""Largest number of characters of a bound that is stated exactly; longer bounds are rounded up to eight digits."""
HEAD = """From FedTheory Require Import Families.
Require Import QArith List.
Import ListNotations.
Open Scope R_scope.
"""
SIDES = ("equalities", "inequalities")
Weighted = tuple[Fraction, Fact]
_WIDTH = 118


def file_of(cases: Sequence[Any], name: str) -> str:
    """Return a file with one theorem for each case of a certificate."""
    names = theorem_names(name, len(cases))
    found = "\n".join([HEAD, *(_theorem(case, one) for case, one in zip(cases, names, strict=True))])
    if len(found) > LONGEST_FILE:
        raise NotStated(f"a proof of {len(found)} characters, more than {LONGEST_FILE}")
    return found


def file_of_certificate(path: Path, name: str) -> str:
    """Return a file with the theorems of a certificate that the checker has accepted."""
    return file_of(read(str(path))["cases"], name)


def _theorem(case: Any, name: str) -> str:
    problem, proof = Problem(case["problem"]), case["proof"]
    if not {"multipliers", "empty"} & {*proof}:
        raise NotStated("an upper side without a proof")
    stated, is_empty = Statement(problem), "empty" in proof
    multipliers = proof["empty" if is_empty else "multipliers"]
    facts = weighted(stated, {side: [*map(Fraction, multipliers[side])] for side in SIDES})
    if is_empty:
        claim: Any = coq.Fixed(sum((y * coq.coefficients(fact.says).constant for y, fact in facts), Fraction(0)))
        conclusion = "False"
    else:
        goal, upper = stated.goals[0], _stated_bound(Fraction(proof["upper"]))
        conclusion = claim_text(stated.goals, upper)
        if len(stated.goals) > 1:
            goal = stated.number(minimum([coq.text(one) for one in stated.goals]), problem.num_values - 1)
            last = [*map(Fraction, multipliers["inequalities"])][-len(stated.goals) :]
            for k, (y, one) in enumerate(zip(last, stated.goals, strict=True)):
                facts += [(y, Fact(coq.minus(goal, one), f"(call_at_most _ _ {_below(k, len(last))})"))] * bool(y)
        claim = coq.minus(goal, coq.Fixed(upper))
    facts, squares = balanced(stated, facts, claim)
    return "\n".join([*statement(stated, name, conclusion), *_proof(stated, claim, facts, squares, is_empty), ""])


def balanced(
    stated: Statement, facts: list[Weighted], claim: Any, squares_of: Callable[[Any], Any] = sum_of_squares
) -> tuple[list[Weighted], list[Square]]:
    """Return facts that add up to a claim and squares, with those that all statements have, and the squares."""
    rest = _sum([*((y, fact.says) for y, fact in facts), (-coq.ONE, claim)], coq.Coefficients())
    for fact in (*stated.zeros, *stated.links.values()):
        [number] = coq.coefficients(fact.says).values
        if c := rest.values.get(number):
            facts.append((-c, fact))
            rest = _sum([(-c, fact.says)], rest)
    across = [*_apart(stated, rest)]
    rest = _sum([(y, fact.says) for y, fact in across], rest)
    squares = _squares(stated, rest, squares_of)
    if rest.values or rest.constant < 0 or squares is None:
        raise NotStated("multipliers that do not prove it")
    return [*facts, *across], squares


def _sum(terms: Sequence[tuple[Fraction, Any]], first: coq.Coefficients) -> coq.Coefficients:
    """Return the coefficients of a linear combination of numbers."""
    ordered = sorted(((c, coq.coefficients(one)) for c, one in terms if c), key=lambda term: term[0] < 0)
    return reduce(lambda found, term: found.plus(*term), ordered, first)


def _apart(stated: Statement, rest: coq.Coefficients) -> Iterator[tuple[Fraction, Fact]]:
    """Yield that the differences among clients are orthogonal to shared vectors, with the multiplicities in a sum."""
    families = {max(one.atom.at): one for one in stated.apart}
    for place, one in families.items():
        along: dict[int, Fraction] = {}
        for (i, j), c in rest.products.items():
            # products with this vector; in them, other vectors that differ among clients count by their means
            for mine, other in ((i, j), (j, i)):
                if mine == place:
                    mean = coq.coordinates(families[other].mean) if other in families else {other: coq.ONE}
                    for number, x in mean.items():
                        along[number] = along.get(number, Fraction(0)) + c * x
        apart = coq.minus(one.atom, one.mean)
        for number, c in along.items():
            shared = stated.atoms[number]
            proof = (
                f"(call_apart _ {coq.argument(shared)} {stated.term(one.atom)} {coq.argument(one.mean)} {one.proof})"
            )
            if c:
                yield -c, Fact(coq.Product(shared, apart), proof, is_equality=True)


def _squares(stated: Statement, rest: coq.Coefficients, squares_of: Callable[[Any], Any]) -> list[Square] | None:
    """Return a decomposition of a form into squares: of shared vectors, and of differences among clients."""
    size = len(stated.atoms)
    # Coordinates in which vectors of clients are replaced by their differences from their means.
    onto = [{number: coq.ONE} for number in range(size)]
    for one in stated.apart:
        onto[max(one.atom.at)] |= {**coq.coordinates(one.mean)}
    gram = [[Fraction(0)] * size for _ in range(size)]
    for (i, j), c in rest.products.items():
        for k, a in onto[i].items():
            for m, b in onto[j].items():
                gram[k][m] += c * a * b / 2
                gram[m][k] += c * a * b / 2
    squares: list[Square] | None = squares_of(gram)
    for one in stated.apart if squares else ():
        for _, row in squares or ():
            for number, x in coq.coordinates(one.mean).items():
                row[number] -= x * row[max(one.atom.at)]
    return squares


def _stated_bound(upper: Fraction) -> Fraction:
    """Return a bound; a bound with many digits is rounded up."""
    if len(str(upper)) <= LONGEST_BOUND:
        return upper
    context = Context(prec=8, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Fraction(context.divide(Decimal(upper.numerator), Decimal(upper.denominator)))


def _below(number: int, count: int) -> str:
    """Return the proof that the minimum of some numbers is at most one of them."""
    if count == 1:
        return "(Rle_refl _)"
    return "(Rmin_l _ _)" if not number else f"(Rle_trans _ _ _ (Rmin_r _ _) {_below(number - 1, count - 1)})"


# The facts to which the multipliers belong, in the order of the certificate.


def weighted(stated: Statement, multipliers: Mapping[str, Sequence[Fraction]]) -> list[Weighted]:
    """Return the facts that a proof adds up, each with its multiplier."""
    sides = dict(zip((True, False), (iter(multipliers[side]) for side in SIDES), strict=True))
    constraints = iter(stated.problem.constraints)
    zeros = {number for fact in stated.zeros for number in coq.coefficients(fact.says).values}
    found: list[Weighted] = []

    def following() -> tuple[Constraint, Fraction]:
        constraint = next(constraints)
        return constraint, next(sides[constraint.is_equality])

    found += [(following()[1], fact) for fact in stated.demands]
    for one in stated.functions:
        known: dict[Any, list[Fact]] = {}
        for fact in one.facts():
            known.setdefault(_key(zeros, fact.says), []).append(fact)
        for condition in of_function(one.of, stated.problem.noises):
            if not says_nothing(condition.form):
                constraint, y = following()
                says = coq.minus(stated.form(constraint.form, stated=False), coq.Fixed(constraint.bound))
                among = known.get(_key(zeros, says), []) if y else []
                match = next((fact for fact in among if fact.is_equality == constraint.is_equality), None)
                if y and match is None:
                    raise NotStated(f"a condition on {one.of.name} that has no formal proof yet")
                found += [] if match is None else [(y, match)]
    return [(y, fact) for y, fact in found if y]


def _key(zeros: Collection[int], says: Any) -> Any:
    """Return a key that equal numbers have in common, given the function values that are 0."""
    found = coq.coefficients(says)
    values = key_of({number: c for number, c in found.values.items() if number not in zeros})
    return key_of(found.products), values, hashable(found.constant)


# Text of the theorem.


def folded(line: str, indent: int) -> list[str]:
    """Return a line as lines of an editor's width."""
    return textwrap.wrap(
        line, _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def statement(stated: Statement, name: str, conclusion: str, constants: str = "", domain: str = "") -> Iterator[str]:
    """Yield the statement of a theorem, which may be about named constants of a domain."""
    points = [f"({' '.join(stated.free)} : V)"] * bool(stated.free)
    binders = [constants] * bool(constants) + ["{V : space}", *stated.binders, *points]
    yield from folded(f"Theorem {name} {' '.join(binders)} :", 0)
    yield from folded(f"{domain} ->", 2) if domain else ()
    for kind, what, said in stated.items:
        yield from folded(f"{said} ->" if kind == "hypothesis" else f"let {what} := ({said})%V in", 2)
    yield from folded(f"{conclusion}.", 2)


def _proof(
    stated: Statement, claim: Any, facts: Sequence[tuple[Fraction, Fact]], squares: Sequence[Square], is_empty: bool
) -> Iterator[str]:
    yield "Proof."
    if stated.items:
        yield from folded(f"intros {' '.join(what for _, what, _ in stated.items)}.", 2)
    for line in stated.before:
        yield from folded(line, 2)
    listed = "; ".join(stated.term(one) if stated.has_clients else one.text for one in stated.atoms)
    kind = "(L2 p V)" if stated.has_clients else "V"
    yield from folded(f"pose (vec := (fun i => nth i [{listed}] (@zero {kind})) : nat -> vec {kind}).", 2)
    yield from folded(f"pose (val := fun i => nth i [{'; '.join(stated.values)}] 0).", 2)
    yield from folded(" ".join(f"pose ({name} := {made})." for name, made in stated.codes()), 2)
    yield (
        f"  enough (small : {coq.real(coq.coefficients(claim).constant)} <= 0) by lra."
        if is_empty
        else "  apply Rminus_le."
    )
    yield f"  change (number vec val {coq.code(claim)} <= 0)."
    # A multiple with integer coefficients, so that the checker need not compute common denominators.
    wholes = [lcm(*(c.denominator for c in row)) for _, row in squares]
    factors = [d / whole**2 for (d, _), whole in zip(squares, wholes, strict=True)]

    unit = lcm(
        *((y * c).denominator for y, fact in facts for c in _coefficients(fact.says)), *(d.denominator for d in factors)
    )
    yield f"  apply (check_sound_scaled vec val {unit} ["
    for k, (_, fact) in enumerate(facts):
        end = ";" if k + 1 < len(facts) else ""
        yield from folded(f"{'Zero' if fact.is_equality else 'AtMost'} {coq.code(fact.says)}{end}", 4)
    yield f"    ] {coq.code(claim)}"
    yield from folded(f"[{'; '.join(coq.rational(unit * y) for y, _ in facts)}]", 4)
    rows = [
        f"({coq.rational(unit * d)}, [{'; '.join(coq.rational(whole * c) for c in row)}])"
        for d, whole, (_, row) in zip(factors, wholes, squares, strict=True)
    ]
    yield from folded(f"[{'; '.join(rows)}])%Q.", 4)
    yield "  - vm_compute. reflexivity."
    for k, (_, fact) in enumerate(facts):
        yield from folded(f"{' ' if k else '-'} apply Forall_cons; [exact {fact.proof} |].", 2)
    yield f"  {' ' if facts else '-'} apply Forall_nil."
    yield "Qed."


def _coefficients(says: Any) -> Iterator[Fraction]:
    found = coq.coefficients(says)
    yield from (coq.ONE, found.constant, *found.products.values(), *found.values.values())
