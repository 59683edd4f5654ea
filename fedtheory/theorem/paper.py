"""Papers and numbered statements."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fedtheory._support.validate import boolean, count
from fedtheory.theorem.scheme import ANY_SCHEME, Scheme
from fedtheory.theorem.symbols import SYMBOLS, Symbol

UNSEEN = "as published, to our knowledge"


@dataclass(frozen=True)
class Paper:
    """A paper: title, authors, year and address.

    ``compared`` says whether the forms that are called printed were compared with its formulas as they stand in print.
    ``symbols`` are rows of the glossary that it has for itself, or writes with other letters.
    """

    key: str
    title: str
    authors: str
    year: int
    url: str = ""
    compared: bool = True
    symbols: tuple[Symbol, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def glossary(self) -> Mapping[str, Symbol]:
        """The symbols of its theorems, those that theorems share included, by name."""
        return {**SYMBOLS, **{row.name: row for row in self.symbols}}

    def __post_init__(self) -> None:
        count("year", self.year)
        boolean("compared", self.compared)


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a paper, in a given form (printed, corrected, refined or derived).

    ``side`` says which side of the truth the stated number is on: ``upper`` (or equal to it) or ``lower``. ``options``
    names further options of ``fedavg`` that the statement covers, in addition to its hypotheses and arguments.
    ``formal_proof`` is the file of ``fedtheory.formal`` with a proof that Coq has checked, or empty.
    """

    paper: Paper
    number: str
    equation: str = ""
    form: str = "printed"
    schemes: tuple[Scheme, ...] = field(default=(ANY_SCHEME,))
    side: str = "upper"
    options: tuple[str, ...] = ()
    formal_proof: str = ""

    def __str__(self) -> str:
        where = f"{self.number}, {self.equation}" if self.equation else self.number
        proved = f", formally proved ({self.formal_proof})" if self.formal_proof else ""
        return f"{self.paper.authors} ({self.paper.year}), {where} [{self.label}]{proved}"

    @property
    def label(self) -> str:
        """The form in words: nothing is called printed that was not compared with the print."""
        return UNSEEN if self.form == "printed" and not self.paper.compared else self.form

    def bibtex(self) -> str:
        """Return an entry for BibTeX that cites the paper, with the number of the statement as its note.

        Returns
        -------
        str
            The entry; its key is the key of the paper.

        Examples
        --------
        >>> paper = Paper("toy", "A toy of FedAvg", "Doe, Roe", 2000, "https://example.org")
        >>> print(Statement(paper, "Lemma 1").bibtex())
        @misc{toy,
          author = {Doe and Roe},
          title = {{A toy of FedAvg}},
          year = {2000},
          url = {https://example.org},
          note = {Lemma 1},
        }
        """
        paper = self.paper
        entries = {
            "author": paper.authors.replace(", ", " and "),
            "title": f"{{{paper.title}}}",
            "year": str(paper.year),
            "url": paper.url,
            "note": self.number,
        }
        lines = (f"  {name} = {{{_for_latex(name, value)}}}," for name, value in entries.items() if value)
        return "\n".join([f"@misc{{{paper.key},", *lines, "}"])

    def accepts(self, scheme: Scheme) -> bool:
        """Whether the statement speaks about this pair of selection law and aggregation weights.

        Selection with a memory is covered where that is said.
        """
        return any(
            mine.selection in ("any", scheme.selection)
            and mine.aggregation in ("any", scheme.aggregation)
            and mine.memoryless <= scheme.memoryless
            for mine in self.schemes
        )


def _for_latex(name: str, value: str) -> str:
    return value if name == "url" else re.sub(r"([&%$#_])", r"\\\1", value)
