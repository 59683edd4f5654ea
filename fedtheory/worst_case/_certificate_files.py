"""Certificates as text: recorded problems and their proofs, from which ``checker.py`` builds the programs anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from fedtheory.worst_case._certificates import FeasiblePoint, Multipliers
from fedtheory.worst_case._interpolation import FunctionClass
from fedtheory.worst_case._record import Declared, Record
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Basis, Form, Value, Vector

__all__: list[str] = []

FORMAT = "fedtheory certificate 2"


def document_of(cases: Iterable[dict[str, Any]]) -> str:
    """Return a file with a checksum."""
    content = {"format": FORMAT, "cases": [*cases]}
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "checksum": checksum})


def problem_document(record: Record, objectives: Sequence[Form]) -> dict[str, Any]:
    """Return a problem in lists, texts and whole numbers; fractions are texts."""
    write = _Writer(record)
    names = record.point_names()
    return {
        "sources": [{"owner": s.owner, "behind": sorted(s.behind), "noise": s.is_noise} for s in record.sources],
        "vectors": [
            {"name": names.get(step.made.key, ""), "blocks": [block for block, _ in step.made.coordinates]}
            for step in record.steps
        ],
        "functions": [write.function(one) for one in record.declared],
        "constraints": [
            {
                "name": one.name,
                "form": write.form(one.form),
                "relation": "=" if one.is_equality else "<=",
                "bound": str(one.bound),
                "share": str(one.share),
            }
            for one in record.constraints
        ],
        "objectives": [write.form(form) for form in objectives],
    }


class _Writer:
    """Numbers of a record's basis vectors and function values."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.places: dict[Basis, int] = {
            place: number for number, step in enumerate(record.steps) for place in step.made.coordinates
        }
        called = [call.value for one in record.declared for call in one.calls if call.value not in record.zeros]
        self.values: dict[Value, int] = {value: number for number, value in enumerate(dict.fromkeys(called))}

    def vector(self, vector: Vector) -> list[list[Any]]:
        """Return coefficients and numbers of vectors, with a block for a part of one."""
        parts: dict[int, dict[int, Fraction]] = {}
        for (block, row), c in vector.coordinates.items():
            parts.setdefault(self.places[block, row], {})[block] = c
        found: list[list[Any]] = []
        for number, own in sorted(parts.items()):
            whole = {block for block, _ in self.record.steps[number].made.coordinates}
            same = own.keys() == whole and len({*own.values()}) == 1
            found += (
                [[str(next(iter(own.values()))), number]]
                if same
                else [[str(c), number, block] for block, c in sorted(own.items())]
            )
        return found

    def form(self, form: Form) -> dict[str, Any]:
        """Return products of vectors, and function values, with coefficients."""
        products = [
            [str(c), self.vector(u), self.vector(v)]
            for (u, v), c in form.products.items()
            if c and u.coordinates and v.coordinates
        ]
        values = [
            [str(c), self.values.setdefault(value, len(self.values))]
            for value, c in form.values.items()
            if c and value not in self.record.zeros
        ]
        return {"products": products, "values": values}

    def function(self, one: Declared) -> dict[str, Any]:
        """Return a function or an operator with its calls: points, gradients and numbers of values, -1 for 0."""
        of = {part.name: getattr(one.of, part.name) for part in fields(one.of)}
        kept = {name: c if isinstance(c, bool) else str(c) for name, c in of.items() if c is not None}
        calls = [
            [self.vector(call.at), self.vector(call.gradient), self.values.get(call.value, -1)] for call in one.calls
        ]
        found: dict[str, Any] = {
            "name": one.name,
            "kind": "function" if isinstance(one.of, FunctionClass) else "operator",
            "class": kept,
        }
        found |= {"blocks": [*one.blocks], "clients": one.num_clients, "calls": calls}
        return found | {"minimum": one.minimum, "least": one.least is not None, "adjoint_of": one.adjoint_of}


def proof_document(
    record: Record,
    program: Program,
    upper: tuple[Fraction, Multipliers] | None,
    lower: tuple[Fraction, FeasiblePoint] | None,
    empty: Multipliers | None,
) -> dict[str, Any]:
    """Return multipliers, a point, or multipliers that show that nothing fulfills the problem."""
    found: dict[str, Any] = {}
    if empty is not None:
        found["empty"] = _multipliers(empty)
    if upper is not None:
        found |= {"upper": str(upper[0]), "multipliers": _multipliers(upper[1])}
    if lower is not None:
        numbers = _Writer(record).values
        values = {
            numbers.setdefault(value, len(numbers)): str(lower[1].values[k]) for value, k in program.values.items()
        }
        grams = [[[*map(str, row)] for row in gram] for gram in lower[1].grams]
        found |= {"lower": str(lower[0]), "point": {"grams": grams, "values": sorted(map(list, values.items()))}}
    return found


def _multipliers(some: Multipliers) -> Mapping[str, list[str]]:
    return {"equalities": [*map(str, some.equalities)], "inequalities": [*map(str, some.inequalities)]}
