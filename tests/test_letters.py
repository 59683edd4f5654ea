"""Formulas on pages: each argument of a bound has its own sign, and squares are squares."""

import re
from html import unescape

import pytest

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem import POSITIVE, Paper, states
from fedtheory.theorem.letters import mathml

PAPER = Paper("mine", "My theorem", "Me", 2026)


@states(PAPER, "Theorem 1", domains={"eta_l": POSITIVE})
def named(num_rounds, *, eta_l, sigma2, step_size):
    """Arguments with and without letters."""
    return {"noise": sigma2**2 * step_size * eta_l, "rounds": num_rounds}


PAGE = unescape(mathml(named))


def signs(page: str) -> set[str]:
    """Names in a formula, with their indices."""
    return {"".join(part) for part in re.findall(r"<msub><mi>(.+?)</mi><mi>(.+?)</mi></msub>|<mi>(.+?)</mi>", page)}


def test_an_argument_has_the_letter_of_its_paper_or_its_name_and_a_square_is_a_power() -> None:
    assert signs(PAGE) == {"num rounds", "ηl", "σ", "η"}
    assert "<msup><mi>σ</mi><mn>4</mn></msup>" in PAGE


@pytest.mark.parametrize("name", ["power_of_choice.decaying_steps_gap", "fedalign.partial_one_step", "sgd.subset_step"])
def test_two_arguments_never_have_the_same_sign(name: str) -> None:
    bound = known_bounds()[name]
    assert len(signs(mathml(bound))) == len(bound.symbolic().free_symbols)
