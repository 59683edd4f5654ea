"""Left-hand sides of bounds: declared, and the same in data, docstring and hypotheses."""

import re

import pytest

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem import assumptions
from fedtheory.theorem.left_side import MODELS, LeftSide
from fedtheory.theorem.letters import formula, inequality

BOUNDS = known_bounds()
LEFT = {name: bound.left for name, bound in BOUNDS.items() if bound.left is not None}


def first_paragraph(bound) -> str:
    return " ".join((bound.__doc__ or "").split("\n\n")[0].split())


@pytest.mark.parametrize("name", LEFT)
def test_the_docstring_begins_with_the_formula_of_the_left_side(name):
    assert f"``{LEFT[name].text}" in first_paragraph(BOUNDS[name])


@pytest.mark.parametrize("name", LEFT)
def test_only_an_expected_left_side_is_random_and_the_expectation_is_written(name):
    left = LEFT[name]
    assert bool(left.over) == bool(re.search(r"\bE\b (?!\+)", left.text))


@pytest.mark.parametrize("name", LEFT)
def test_a_bound_on_noisy_gradients_expects_over_noise_and_one_on_exact_gradients_does_not(name):
    bound = BOUNDS[name]
    if assumptions.EXACT_GRADIENTS in bound.hypotheses:
        assert "noise" not in LEFT[name].over
    if any(isinstance(one, assumptions.Noise) for one in bound.hypotheses):
        assert "noise" in LEFT[name].over


@pytest.mark.parametrize("name", LEFT)
def test_a_bound_with_a_horizon_is_about_the_whole_run(name):
    bound = BOUNDS[name]
    assert (LEFT[name].after == "run") == bool({"num_steps", "num_rounds"} & set(bound.domains))


@pytest.mark.parametrize("name", LEFT)
def test_the_name_of_a_bound_on_a_gap_or_a_distance_says_so(name):
    quantity = LEFT[name].quantity
    last = name.rpartition("_")[-1]
    if last in ("gap", "distance", "variance", "drift", "potential", "gradient2"):
        words = {"gap": "gap", "distance": "squared distance", "gradient2": "squared gradient"}.get(last, last)
        assert quantity.startswith(words)


def test_a_printed_form_has_the_left_side_of_its_corrected_form():
    for bound in BOUNDS.values():
        assert bound.printed.left == bound.left


def test_every_left_side_is_latex_with_balanced_braces_and_without_words_of_plain_text():
    for left in LEFT.values():
        latex = left.latex
        assert latex.count("{") == latex.count("}")
        assert "\\\\" not in latex  # a line break
        assert not re.search(
            r"(?<!\\)\b(grad|sum|eta|tau|inf|mean|step_size)\b", latex.replace("operatorname{mean}", "")
        )
        assert "|" not in latex.replace(r"\|", "")


@pytest.mark.parametrize("name", LEFT)
def test_the_formula_of_a_docstring_is_the_right_side_alone(name):
    for bound in {BOUNDS[name], BOUNDS[name].printed}:
        # Definitions of letters follow; indices of sums are in subscripts.
        right = re.sub(r"_\{[^}]*\}|_\w", "", re.split(r",\s*(?:\\quad|\\\\)", formula(bound))[0])
        assert not re.search(r"=|\\ge", right)


def test_a_bound_in_latex_is_an_inequality():
    assert inequality(BOUNDS["power_of_choice.loss_after_step"]).startswith(
        r"F_k(y - \eta \nabla F_k(y)) - F_k^* \ge (1-\eta L)^2"
    )
    assert inequality(BOUNDS["optimal_client_sampling.estimator_error"]).startswith(r"\mathbb E\,\|G - \nabla f\|^2 = ")
    assert r"\sum_{k\in S} w_k" in inequality(BOUNDS["fedavg.with_replacement_variance"])


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="quantity must be one of"):
        LeftSide("gaps", "F(w) - F*")
    with pytest.raises(ValueError, match=f"model must be one of '{next(iter(MODELS))}'"):
        LeftSide("gap", "F(w) - F*", model="latest")


def test_a_gap_after_the_whole_run_is_comparable_with_the_recorded_gap_and_nothing_else_is():
    assert LeftSide("gap", "F(w_T) - F*").measured == "run.gap"
    assert LeftSide("gap", "F(w_+) - F*", after="step").measured == ""
    assert LeftSide("gap", "F(w~) - F*", model="average").measured == ""
    assert "run.models" in LeftSide("squared distance", "|w_T - w*|^2").measured
