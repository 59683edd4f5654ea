"""What the parameters of a bound mean and may be, read off its docstring, or off that of a sibling it points to."""

import inspect
import re
from collections.abc import Mapping
from typing import NamedTuple

from fedtheory.theorem.domains import Domain
from fedtheory.theorem.paper import Bound

__all__ = ["Parameter", "parameters"]

_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\S.*)\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)
_POINTER = re.compile(r"As in ``([\w.]+)``[,;]?\s*(.*)", re.DOTALL)


class Parameter(NamedTuple):
    """A parameter of a bound: its name, what it means, what it may be, and whether it must be given."""

    name: str
    meaning: str
    domain: str
    required: bool


def parameters(name: str, known: Mapping[str, Bound]) -> list[Parameter]:
    """Return the parameters of a bound in the order of its signature.

    >>> from fedtheory.verification import known_bounds
    >>> [mu] = [entry for entry in parameters("fedavg.one_step", known_bounds()) if entry.name == "mu"]
    >>> mu.meaning, mu.domain
    ('Strong convexity and smoothness of every client.', 'number > 0')
    """
    bound = known[name]
    given = {key: value for key, value in inspect.signature(bound).parameters.items() if key != "strict"}
    return [
        Parameter(key, _meaning(key, name, known), _domain(bound.domains[key]), value.default is value.empty)
        for key, value in given.items()
    ]


def _domain(domain: Domain) -> str:
    if domain.is_sequence:
        return "sequence, from Python only"
    assumed = domain.assumptions
    if assumed.get("integer"):
        return "whole number >= 1" if assumed.get("positive") else "whole number >= 0"
    return "number > 0" if assumed.get("positive") else "number >= 0" if assumed.get("nonnegative") else "number"


def _meaning(parameter: str, name: str, known: Mapping[str, Bound]) -> str:
    """Return what the bound says of the parameter, else what that bound of its paper says that is most like it."""
    own = _entries(known[name]).get(parameter)
    if own is not None:
        return _followed(own, parameter, name, known)
    siblings = [other for other in known if other.startswith(f"{name.partition('.')[0]}.")]
    for other in sorted(siblings, key=lambda other: -_likeness(known[name], known[other])):
        text = _entries(known[other]).get(parameter, "")
        # A pointer may lead back to where we come from; what it points to is among the siblings, if it is of the paper.
        if text and not _POINTER.fullmatch(text):
            return text
    return ""


def _likeness(bound: Bound, other: Bound) -> float:
    """Return the share of the parameters of either that both have."""
    own, others = set(bound.domains), set(other.domains)
    return len(own & others) / len(own | others)


def _followed(text: str, parameter: str, name: str, known: Mapping[str, Bound]) -> str:
    pointer = _POINTER.fullmatch(text)
    if pointer is None:
        return text
    target, rest = pointer.groups()
    paper = name.partition(".")[0]
    meaning = _meaning(parameter, target if "." in target else f"{paper}.{target}", known)
    # What the pointer adds is about those parameters that it names, or about skews.
    concerned = parameter in rest or ("skews" in rest and parameter.startswith("rho"))
    return f"{meaning.rstrip('.')}; {rest}" if rest and concerned else meaning


def _entries(bound: Bound) -> dict[str, str]:
    section = _SECTION.search(inspect.getdoc(bound) or "")
    found = _ENTRY.findall(section[1] + "\n") if section else []
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}
