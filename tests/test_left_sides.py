"""Left-hand sides of bounds: declared, and the same in data, docstring and hypotheses."""

import re

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem import assumptions
from fedtheory.theorem.left_side import LeftSide

BOUNDS = known_bounds()
LEFT = {name: bound.left for name, bound in BOUNDS.items() if bound.left is not None}


def test_only_an_expected_left_side_is_random_and_the_expectation_is_written():
    wrong = [name for name, left in LEFT.items() if bool(left.over) != bool(re.search(r"\bE\b (?!\+)", left.text))]
    assert wrong == []


def test_a_bound_on_noisy_gradients_expects_over_noise_and_one_on_exact_gradients_does_not():
    for name, left in LEFT.items():
        hypotheses = BOUNDS[name].hypotheses
        assert "noise" not in left.over or assumptions.EXACT_GRADIENTS not in hypotheses, name
        assert "noise" in left.over or not any(isinstance(one, assumptions.Noise) for one in hypotheses), name


def test_a_bound_with_a_horizon_is_about_the_whole_run():
    for name, left in LEFT.items():
        assert (left.after == "run") == bool({"num_steps", "num_rounds"} & set(BOUNDS[name].domains)), name


def test_a_printed_form_has_the_left_side_of_its_corrected_form():
    assert all(bound.printed.left == bound.left for bound in BOUNDS.values())


def test_a_gap_after_the_whole_run_is_comparable_with_the_recorded_gap_and_nothing_else_is():
    assert LeftSide("gap", "F(w_T) - F*").measured == "run.gap"
    assert LeftSide("gap", "F(w_+) - F*", after="step").measured == ""
    assert LeftSide("gap", "F(w~) - F*", model="average").measured == ""
    assert "run.models" in LeftSide("squared distance", "|w_T - w*|^2").measured
