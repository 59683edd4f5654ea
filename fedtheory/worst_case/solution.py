"""The answer to a worst-case problem: an enclosure with its proofs, what they consist of, and points that attain it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from fedtheory._storage.files import place
from fedtheory._support.wording import outward
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._certificates import FeasiblePoint
from fedtheory.worst_case._gram import Program, Vector
from fedtheory.worst_case._written import Known, as_latex, as_text
from fedtheory.worst_case.enclosures import Proof, shares_of
from fedtheory.worst_case.points import Points, every_point, points_of

__all__ = ["Solution"]

FORMAT = "fedtheory certificate 1"


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """What is proved of the largest value.

    Attributes
    ----------
    lower, upper
        The value is at least the one and at most the other; a side without a proof is None.
    labels
        Of the inequalities of the program.
    relaxed
        What is demanded in part only: functions and operators for whose class, or for whose points (of several clients,
        or of outcomes of a noise), sufficient conditions are not known, or on which a line was searched; geometric
        means that should be small; and conditions that were left out. Then only an upper bound is proved.
    """

    lower: Fraction | None
    upper: Fraction | None
    labels: tuple[str, ...]
    relaxed: tuple[str, ...]
    _proof: Proof = field(repr=False)
    _points: Mapping[str, Vector] = field(repr=False)
    _known: tuple[Known, ...] = field(repr=False)

    @property
    def enclosure(self) -> tuple[Fraction, Fraction]:
        """Both sides.

        Raises
        ------
        OracleError
            If one of them has no proof.
        """
        if self.lower is None or self.upper is None:
            message = f"an enclosure must have two sides, got {self._sides()}"
            raise OracleError(message)
        return self.lower, self.upper

    @property
    def value(self) -> float:
        """The middle of the enclosure, or the side that is proved."""
        sides = [side for side in (self.lower, self.upper) if side is not None]
        return float(sum(sides) / len(sides))

    @property
    def relative_width(self) -> float:
        """Width of the enclosure as a share of its upper end."""
        lower, upper = self.enclosure
        return float((upper - lower) / abs(upper)) if upper else float(upper - lower)

    @property
    def multipliers(self) -> dict[str, Fraction]:
        """By name of a number: the value is at most the sum of multiplier times number, whatever the numbers are."""
        return shares_of(self._proof, self._proof.multipliers) if self._proof.multipliers else {}

    @property
    def active(self) -> dict[str, Fraction]:
        """The inequalities that the upper side is proved from, with their multipliers, the largest first."""
        inequalities = self._proof.multipliers.inequalities if self._proof.multipliers else ()
        used = [(label, y) for label, y in zip(self.labels, inequalities, strict=False) if y]
        return dict(sorted(used, key=lambda pair: -pair[1]))

    def verify(self) -> tuple[Fraction | None, Fraction | None]:
        """Check both proofs again, from the program alone, and return what they prove."""
        found = self._proof.checked()
        return (None if self.relaxed else found.lower), found.upper

    def proof(self, *, latex: bool = False) -> str:
        """Write the proof of the upper side down: the inequalities to add up, and the squares that remain.

        The objective is at most the sum of multiplier times bound, as the sum of multiplier times inequality less the
        objective is a sum of squares of the vectors. Where fractions with small denominators prove as much, they are
        taken.

        Parameters
        ----------
        latex
            As ``align*`` environments of LaTeX's package amsmath, in the place of text.

        Returns
        -------
        str
            The proof.
        """
        if self._proof.multipliers is None:
            return "nothing is proved of the upper side"
        write = as_latex if latex else as_text
        return write(self._proof.program, self._proof.multipliers, self.labels, self._points, self._known)

    def instance(self) -> Points:
        """Return where the points lie in a worst case, approximately.

        Returns
        -------
        Points
            The named points and those of the functions by their names, with a picture on request.

        Raises
        ------
        ValueError
            If the lower side has no proof.
        """
        if self._proof.point is None or self.relaxed:
            message = "points of a worst case must come from a proof of the lower side, got none"
            raise ValueError(message)
        return points_of(self._proof.program, self._proof.point, self._points, self._known)

    def save(self, path: str | Path) -> None:
        """Write the problem and both proofs in rationals: ``checker.py`` checks them with Python alone.

        Parameters
        ----------
        path
            A JSON file, which is replaced.
        """
        content = _document(self._proof, self.labels, lower=not self.relaxed)
        sealed = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        document = json.dumps({**content, "digest": sealed})
        place(Path(path), document.encode())

    def __repr__(self) -> str:
        more = f" and {len(self.relaxed) - 2} more" if len(self.relaxed) > 2 else ""
        note = f"; upper bound only, for {' and '.join(self.relaxed[:2])}{more}" if self.relaxed else ""
        # Rounded so that the sum stays above the value for all numbers of the same signs.
        constraints = (*self._proof.program.equalities, *self._proof.program.inequalities)
        negative = {one.name for one in constraints if one.bound * one.share < 0}
        lemma = " + ".join(
            f"{outward(c, 6, up=name not in negative)} {name}" for name, c in self.multipliers.items() if c
        ).replace("+ -", "- ")
        return f"Solution({self._sides()}{'; at most ' + lemma if lemma else ''}{note})"

    def _sides(self) -> str:
        sides = [f"at least {outward(self.lower, 10, up=False)}"] if self.lower is not None else []
        sides += [f"at most {outward(self.upper, 10, up=True)}"] if self.upper is not None else []
        return " and ".join(sides)


def solved(
    proof: Proof,
    labels: tuple[str, ...],
    points: Mapping[str, Vector],
    known: tuple[Known, ...] = (),
    relaxed: tuple[str, ...] = (),
) -> Solution:
    """Return what a proof says, or refuse a problem that is empty or has no largest value."""
    if proof.contradiction is not None:
        named = sorted(proof.contradicting)
        if not named:
            named = [label for label, y in zip(labels, proof.contradiction.inequalities, strict=True) if y]
        message = (
            f"a problem must have points and functions that fulfill it, got contradictions of {' and '.join(named[:4])}"
        )
        raise AssumptionViolated(message)
    if proof.direction is not None and relaxed:
        too_little = " and ".join(relaxed)
        message = f"an upper bound must follow from what is demanded, got too little that is known of {too_little}"
        raise OracleError(message)
    if proof.direction is not None:
        far = [name for name, vector in every_point(points, known).items() if _grows(vector, proof.direction)]
        message = f"the worst case must be finite, got one that grows without end with {', '.join(far[:4]) or 'values'}"
        raise AssumptionViolated(message)
    if proof.upper is None and (proof.lower is None or relaxed):
        message = "a worst case must be proved from one side at least, got no proof"
        raise OracleError(message)
    return Solution(None if relaxed else proof.lower, proof.upper, labels, relaxed, proof, points, known)


def _grows(vector: Vector, direction: FeasiblePoint) -> bool:
    """Whether the squared length of a vector grows along a direction."""
    square = Fraction(0)
    for (block, row), c in vector.coordinates.items():
        for (other, column), d in vector.coordinates.items():
            if block == other:
                square += c * d * direction.grams[block][row][column]
    return square > 0


def _document(proof: Proof, labels: Sequence[str], *, lower: bool) -> dict[str, Any]:
    """Return a program and its proofs in whole numbers, fractions as text."""
    program = proof.program
    forms = _written_forms(program)
    constraints = (*program.equalities, *program.inequalities)
    names = [*(one.name for one in program.equalities), *labels]
    written = [
        {"name": name, "bound": str(one.bound), **form}
        for name, one, form in zip(names, constraints, forms[1:], strict=True)
    ]
    count = len(program.equalities)
    document: dict[str, Any] = {
        "format": FORMAT,
        "blocks": list(program.sizes),
        "num_values": len(program.values),
        "objective": forms[0],
        "equalities": written[:count],
        "inequalities": written[count:],
    }
    if proof.multipliers is not None:
        document["upper"] = str(proof.upper)
        document["multipliers"] = {
            "equalities": [*map(str, proof.multipliers.equalities)],
            "inequalities": [*map(str, proof.multipliers.inequalities)],
        }
    if proof.point is not None and lower:
        document["lower"] = str(proof.lower)
        document["point"] = {
            "grams": [[[*map(str, row)] for row in gram] for gram in proof.point.grams],
            "values": [*map(str, proof.point.values)],
        }
    return document


def _written_forms(program: Program) -> list[dict[str, Any]]:
    """Return of each form its entries ``[block, row, column, number]`` of upper triangles, and ``[value, number]``."""
    forms: list[dict[str, Any]] = [{"entries": [], "values": []} for _ in program.forms]
    for number, block in enumerate(program.rows.blocks):
        for form, row, column, whole in zip(block.forms, block.rows, block.columns, block.wholes, strict=True):
            entry = [number, int(row), int(column), str(Fraction(int(whole), program.rows.denominator))]
            forms[form]["entries"].append(entry)
    for form, number, c in program.levels:
        forms[form]["values"].append([number, str(c)])
    return forms
