"""Papers, numbered statements, and what each statement rests on."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from fedtheory import formal
from fedtheory._support.validate import choice, count
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import SYMBOLS, Symbol

if TYPE_CHECKING:
    from fedtheory.formal import Theorem

BASES: Mapping[str, str] = MappingProxyType(
    {
        "printed": "compared with the text of the paper",
        "quoted": "as another text quotes it",
        "abstract": "from the abstract of the paper",
        "remembered": "from memory",
        "own": "a result of this project",
    }
)
"""What a statement rests on, with descriptions."""


@dataclass(frozen=True)
class Paper:
    """A paper: title, authors, year and address.

    ``basis`` is what its statements rest on, one of ``BASES``, unless a statement has its own. ``symbols`` are the rows
    of the glossary that are specific to the paper, or that it writes with other letters.
    """

    key: str
    title: str
    authors: str
    year: int
    url: str = ""
    basis: str = "printed"
    symbols: tuple[Symbol, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def glossary(self) -> Mapping[str, Symbol]:
        """The symbols of its theorems by name, including those that all papers share."""
        return {**SYMBOLS, **{row.name: row for row in self.symbols}}

    def __post_init__(self) -> None:
        count("year", self.year)
        choice("basis", self.basis, tuple(BASES))


FEDTHEORY = Paper(
    key="fedtheory",
    title="fedtheory: theory verification for federated optimization",
    authors="The fedtheory developers",
    year=2026,
    basis="own",
)
"""The source of results of this project."""


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a paper, in a given form, or a result of this project.

    ``form`` is ``printed`` or ``corrected`` for a statement of the paper, and ``derived``, ``refined`` or ``variant``
    for a result of this project: its ``paper`` is `FEDTHEORY`, and its ``number`` a title in words or empty. The fields
    are arguments of ``states``; ``function`` is the function of ``fedtheory.bounds`` that states it, as
    ``paper.function``, or empty.
    """

    paper: Paper
    number: str
    equation: str = ""
    form: str = "printed"
    schemes: tuple[Scheme, ...] = field(default=(ANY_SCHEME,))
    side: str = "upper"
    options: tuple[str, ...] = ()
    function: str = ""
    basis: str = ""
    related: tuple[Paper, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "basis", choice("basis", self.basis or self.paper.basis, tuple(BASES)))

    def __str__(self) -> str:
        source = "fedtheory" if self.basis == "own" else f"{self.paper.authors} ({self.paper.year})"
        proof = self.formal_proof
        proved = f", proved in Coq for finite randomness ({proof.file}, {proof.name})" if proof else ""
        text = ", ".join(filter(None, (source, self.number, self.equation)))
        if self.related is not None:
            paper, number = self.related
            text += f"; related to {paper.authors} ({paper.year}), {number}"
        return f"{text} [{self.label}]{proved}"

    @property
    def formal_proof(self) -> "Theorem | None":
        """The theorem of ``fedtheory.formal`` that Coq has checked, or None."""
        return formal.proof_of(self.function)

    @property
    def label(self) -> str:
        """The form and, unless it was compared with the print or is a result of this project, what it rests on."""
        if self.basis in ("printed", "own"):
            return self.form
        return self.basis if self.form == "printed" else f"{self.form}, {self.basis}"

    @property
    def topic(self) -> Paper:
        """The paper that the statement is about: its own, or the one to which it is related."""
        return self.paper if self.related is None else self.related[0]

    def accepts(self, scheme: Scheme) -> bool:
        """Whether the statement covers this pair of selection law and aggregation weights.

        Selection with memory is covered only if a scheme of the statement allows it.
        """
        return any(
            mine.selection in ("any", scheme.selection)
            and mine.aggregation in ("any", scheme.aggregation)
            and mine.memoryless <= scheme.memoryless
            for mine in self.schemes
        )
