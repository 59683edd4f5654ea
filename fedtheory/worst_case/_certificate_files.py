"""Certificates as text: problems and their proofs, from which ``checker`` builds the semidefinite programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.worst_case._record import Declared, Record, Step
from fedtheory.worst_case._semidefinite import semidefinite_program
from fedtheory.worst_case._vectors import Basis, Form, Value, Vector
from fedtheory.worst_case.proofs import Proof

FORMAT = "fedtheory certificate 3"


def document_of(cases: Iterable[dict[str, Any]]) -> str:
    """Return the document of a certificate with its checksum."""
    content = {"format": FORMAT, "cases": [*cases]}
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "checksum": checksum})


def case_document(record: Record, objectives: Sequence[Form], proof: Proof, *, lower: bool) -> dict[str, Any]:
    """Return a problem and its proofs as lists, strings and integers; fractions are strings."""
    write = Writer(record)
    problem = problem_document(record, objectives, write)
    # Constraints that were left out have the multiplier 0.
    labels = [one.label for one in semidefinite_program(record, objectives).inequalities]
    kept = [one.label for one in proof.program.inequalities]

    def multipliers(some: Any) -> Mapping[str, list[str]]:
        factors = dict(zip(kept, map(str, some.inequalities), strict=True))
        return {"equalities": [*map(str, some.equalities)], "inequalities": [factors.get(one, "0") for one in labels]}

    found: dict[str, Any] = {}
    if proof.contradiction is not None:
        found["empty"] = multipliers(proof.contradiction)
    elif proof.multipliers is not None:
        found |= {"upper": str(proof.upper), "multipliers": multipliers(proof.multipliers)}
    if lower and proof.point is not None and proof.contradiction is None:
        numbers = {write.values.setdefault(value, len(write.values)): k for value, k in proof.program.values.items()}
        values = [str(proof.point.values[numbers[k]]) if k in numbers else "0" for k in range(len(write.values))]
        grams = [[[*map(str, row)] for row in gram] for gram in proof.point.grams]
        found |= {"lower": str(proof.lower), "point": {"grams": grams, "values": values}}
    return {"problem": problem, "proof": found}


def problem_document(record: Record, objectives: Sequence[Form], write: Writer) -> dict[str, Any]:
    """Return a problem as lists, strings and integers."""
    return {
        "sources": [{"owner": s.owner, "behind": sorted(s.behind), "noise": s.is_noise} for s in record.sources],
        "vectors": [*map(write.step, record.steps)],
        "functions": [*map(write.function, record.declared)],
        "constraints": [
            {
                "name": one.name,
                "form": write.form(one.form),
                "relation": "=" if one.is_equality else "<=",
                "bound": write.number(one.bound),
                "share": write.number(one.share),
            }
            for one in record.constraints
        ],
        "objectives": [write.form(form) for form in objectives],
    }


class Writer:
    """Numbering of a record's basis vectors and function values; ``number`` returns what a fraction is written as."""

    def __init__(self, record: Record, number: Callable[[Fraction], Any] = str) -> None:
        self.record, self.names, self.number = record, record.point_names(), number
        self.places: dict[Basis, int] = {
            place: number for number, step in enumerate(record.steps) for place in step.made.coordinates
        }
        called = [call.value for one in record.declared for call in one.calls if call.value not in record.zeros]
        self.values: dict[Value, int] = {value: number for number, value in enumerate(dict.fromkeys(called))}

    def step(self, step: Step) -> dict[str, Any]:
        """Return the operation that made a vector, and the blocks of the vector."""
        blocks = [block for block, _ in step.made.coordinates]
        found = {"name": self.names.get(step.made.key, ""), "verb": step.verb, "of": [name for _, name in step.of]}
        return found | {"inputs": [*map(self.vector, step.inputs)], "blocks": blocks}

    def vector(self, vector: Vector) -> list[list[Any]]:
        """Return the coefficients and numbers of vectors, with a block for a part of a vector."""
        parts: dict[int, dict[int, Fraction]] = {}
        for (block, row), c in vector.coordinates.items():
            parts.setdefault(self.places[block, row], {})[block] = c
        found: list[list[Any]] = []
        for number, own in sorted(parts.items()):
            whole = {block for block, _ in self.record.steps[number].made.coordinates}
            c = next(iter(own.values()))
            found += (
                [[self.number(c), number]]
                if own.keys() == whole and all(other == c for other in own.values())
                else [[self.number(c), number, block] for block, c in sorted(own.items())]
            )
        return found

    def form(self, form: Form) -> dict[str, Any]:
        """Return the coefficients of products of vectors and of function values."""
        products = [
            [self.number(c), self.vector(u), self.vector(v)]
            for (u, v), c in form.products.items()
            if c and u.coordinates and v.coordinates
        ]
        values = [
            [self.number(c), self.values.setdefault(value, len(self.values))]
            for value, c in form.values.items()
            if c and value not in self.record.zeros
        ]
        return {"products": products, "values": values}

    def function(self, one: Declared) -> dict[str, Any]:
        """Return a function or an operator with its calls: points, gradients and numbers of values, -1 for 0."""
        of = {name: c for name, c in one.of.parameters.items() if c is not None}
        kept = {name: c if isinstance(c, bool) else self.number(c) for name, c in of.items()}
        calls = [
            [
                self.names.get(call.at.key, ""),
                self.vector(call.at),
                self.vector(call.gradient),
                self.values.get(call.value, -1),
            ]
            for call in one.calls
        ]
        found: dict[str, Any] = {"name": one.name, "kind": one.of.kind, "class": kept}
        found |= {"blocks": [*one.blocks], "clients": one.num_clients, "calls": calls}
        return found | {"minimum": one.minimum, "least": one.least is not None}
