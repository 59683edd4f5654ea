"""Left-hand sides of bounds: declared, and the same in data, docstring and hypotheses."""

import re

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.theorem import assumptions
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.letters import formula, inequality

BOUNDS = known_bounds()
LEFT = {name: bound.left for name, bound in BOUNDS.items() if bound.left is not None}
# Last words of names, and the quantities that they stand for.
WORDS = {"gap": "gap", "distance": "squared distance", "gradient2": "squared gradient"} | {
    word: word for word in ("variance", "drift", "potential")
}


def test_the_docstring_begins_with_the_formula_of_the_left_side():
    first = {name: " ".join((BOUNDS[name].__doc__ or "").split("\n\n")[0].split()) for name in LEFT}
    assert [name for name, left in LEFT.items() if f"``{left.text}" not in first[name]] == []


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


def test_the_name_of_a_bound_on_a_gap_or_a_distance_says_so():
    last = {name: name.rpartition("_")[-1] for name in LEFT}
    assert [name for name, word in last.items() if not LEFT[name].quantity.startswith(WORDS.get(word, ""))] == []


def test_a_printed_form_has_the_left_side_of_its_corrected_form():
    assert all(bound.printed.left == bound.left for bound in BOUNDS.values())


def test_every_left_side_is_latex_with_balanced_braces_and_without_words_of_plain_text():
    for left in LEFT.values():
        latex = left.latex
        assert latex.count("{") == latex.count("}")
        assert "\\\\" not in latex  # a line break
        assert not re.search(
            r"(?<!\\)\b(grad|sum|eta|tau|inf|mean|step_size)\b", latex.replace("operatorname{mean}", "")
        )
        assert "|" not in latex.replace(r"\|", "")


def test_the_formula_of_a_docstring_is_the_right_side_alone():
    for name in LEFT:
        for bound in {BOUNDS[name], BOUNDS[name].printed}:
            # Definitions of letters follow; indices of sums are in subscripts.
            right = re.sub(r"_\{[^}]*\}|_\w", "", re.split(r",\s*(?:\\quad|\\\\)", formula(bound))[0])
            assert not re.search(r"=|\\ge", right), name


def test_a_bound_in_latex_is_an_inequality():
    assert inequality(BOUNDS["power_of_choice.loss_after_step"]).startswith(
        r"F_k(y - \eta \nabla F_k(y)) - F_k^* \ge (1-\eta L)^2"
    )
    assert inequality(BOUNDS["optimal_client_sampling.estimator_error"]).startswith(r"\mathbb E\,\|G - \nabla f\|^2 = ")


def test_a_gap_after_the_whole_run_is_comparable_with_the_recorded_gap_and_nothing_else_is():
    assert LeftSide("gap", "F(w_T) - F*").measured == "run.gap"
    assert LeftSide("gap", "F(w_+) - F*", after="step").measured == ""
    assert LeftSide("gap", "F(w~) - F*", model="average").measured == ""
    assert "run.models" in LeftSide("squared distance", "|w_T - w*|^2").measured
