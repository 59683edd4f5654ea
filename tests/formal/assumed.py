"""Comparison of the constants that a theorem allows with those that its bound allows."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from fedtheory.formal import PROVED
from fedtheory.verification import known_bounds
from tests.bounds import worlds
from tests.formal.letters import reader
from tests.formal.reading import comparisons, definitions, spaced, split

# What a premise about functions, draws or steps within a round contains; all others are about constants.
OF_FUNCTIONS = re.compile(
    r"\b(?:E|sum|sq|same|proper|adapted|information|setting|improvement|\w*smooth|\w*convex|minimizer|bounded_below|"
    r"contractive|\w*noise|skewed\w*|follows\w*|draws_\w+|independent_sampling|dsgd_round|local_round|mean_steps|"
    r"s <= tau|j <= tau)\b"
)


# Premises of step sizes that no argument of the bound is.
OF_STEPS = {"optimal_client_sampling.fedavg_second_moment": {"0 < eta_l"}}


def unmet(bound: str, arguments: Mapping[str, Any]) -> bool:
    """Whether constants break a hypothesis of a bound, or are none of its."""
    try:
        return bool(known_bounds()[bound](**arguments, strict=False)[1])
    except (ValueError, ZeroDivisionError, OverflowError):
        return True


def edges(bound: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Constants that fulfill all hypotheses of a bound, and change one of them as far as these allow, up to 1 in 64."""
    if unmet(bound, arguments):
        return
    yield arguments
    for name, value in arguments.items():
        if isinstance(value, list) or not value or name in {"num_rounds", "num_steps"}:
            continue
        for factor in (Fraction(1, 8), Fraction(8)):
            near, far = Fraction(1), factor
            for _ in range(6):
                middle = (near + far) / 2
                changed = arguments | {name: round(value * middle) if isinstance(value, int) else value * middle}
                near, far = (near, middle) if unmet(bound, changed) else (middle, far)
            yield arguments | {name: round(value * near) if isinstance(value, int) else value * near}


def about_constants(bound: str, premises: Iterable[str]) -> Iterator[str]:
    """The comparisons of constants among premises, definitions written out."""
    file, name, *_ = PROVED[bound]
    known = definitions(file, name)
    for premise in premises:
        written_out = known.get(premise.partition(" ")[0], "")
        text = written_out if " /\\ " in written_out and not written_out.startswith("fun ") else premise
        for part in split(spaced(text), " /\\ "):
            one = re.sub(r"^\((.*)\)%nat$", r"\1", part)
            if not one.startswith(("forall ", "(forall ")) and not OF_FUNCTIONS.search(one):
                yield one


def assumed_beyond(bound: str, premises: Iterable[str]) -> list[str]:
    """The premises about constants that are false for some constants that fulfill all hypotheses of the bound."""
    found = []
    constants = set(about_constants(bound, premises)) - OF_STEPS.get(bound, set())
    assert all(comparisons(premise) for premise in constants), constants
    for arguments in edges(bound, worlds.draw(bound, known_bounds()[bound], worlds.generator(bound))):
        read = reader(bound, arguments)
        for premise in sorted(constants):
            for left, relation, right in comparisons(premise):
                one, other = read.value(left), read.value(right)
                if not {"<=": one <= other, "<": one < other, "=": one == other}[relation]:
                    found.append(f"{premise} for {arguments}")
    return found
