"""The Coq development: the theorems that it names, without admitted proofs; ``test_coqc.py`` runs coqc."""

import re
from fractions import Fraction
from typing import Any

import pytest

from fedtheory.formal import FOLDER, PRINTED, PROVED, REFUTED
from fedtheory.verification import known_bounds
from tests.formal.reading import source, statement

FILES = sorted(file.name for file in FOLDER.glob("*.v"))
# Sentences that leave something unproved, or add an axiom.
UNPROVED = re.compile(r"\b(?:Admitted|admit|Abort|Axioms?|Conjectures?|Parameters?|Unset|bypass_check)\b")


# Theorems about whole runs, one or more for each paper.
HEADLINES = [
    "power_of_choice_decaying_steps_gap", "power_of_choice_fixed_step_gap", "power_of_choice_weighted_average_gap",
    "fedavg_full_participation_gap", "fedavg_with_replacement_gap", "fedavg_without_replacement_gap",
    "fedalign_full_participation_gap", "fedalign_partial_participation_gap",
    "optimal_client_sampling_dsgd_strongly_convex", "optimal_client_sampling_fedavg_strongly_convex",
    "scaffold_fixed_step_potential", "proxskip_fixed_step_potential", "error_feedback_ef21_gradient2",
]  # fmt: skip


def code(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL)


def test_verdicts_are_about_bounds() -> None:
    assert {*PROVED, *REFUTED} <= set(known_bounds())
    assert not {*PROVED} & {*REFUTED}


@pytest.mark.parametrize("bound", sorted({**PROVED, **REFUTED}))
def test_the_theorem_of_a_bound_is_there_and_has_its_name(bound: str) -> None:
    theorem = {**PROVED, **REFUTED}[bound]
    assert theorem.name == bound.replace(".", "_") + "_false" * (bound in REFUTED)
    assert statement(theorem.file, theorem.name)
    assert ("~ forall" in statement(theorem.file, theorem.name)) == (bound in REFUTED)


def test_the_printed_form_of_a_bound_with_a_verdict_has_one_too_if_it_differs() -> None:
    differing = {name for name, bound in known_bounds().items() if bound.printed is not bound}
    assert set(PRINTED) == differing & {*PROVED, *REFUTED}
    assert all(form.proved or form.refuted for form in PRINTED.values())


@pytest.mark.parametrize("bound", sorted(PRINTED))
def test_a_theorem_about_a_printed_form_is_there_and_states_its_counterexample(bound: str) -> None:
    form = PRINTED[bound]
    assert bool(form.refuted) == bool(form.counterexample)
    assert not form.proved or "~ forall" not in statement(form.proved.file, form.proved.name)
    assert not form.refuted or "~ forall" in statement(form.refuted.file, form.refuted.name)
    assert not (form.proved and form.refuted) or form.holds_if


def steps_to_one(*step_sizes: Fraction) -> Fraction:
    """Model after steps from 0 on (w - 1)^2/2."""
    model = Fraction(0)
    for step_size in step_sizes:
        model += step_size * (1 - model)
    return model


# Constants of the counterexamples: one of the clients (w -+ 1)^2/2 is drawn, so that F* = 1/2 and the gap is w^2/2, or
# w^2/2 has priority and the client (w - 1)^2/2 takes part in the first step.
ONE = Fraction(1)
OPPOSITE = {"mu": ONE, "L": ONE, "num_selected": 1, "G2": 4 * ONE, "sigma2": 0, "objective_gap": ONE / 2,
            "rho_bar": ONE, "rho_tilde": ONE}  # fmt: skip
PRIORITY = {"num_steps": 1, "mu": ONE, "L": ONE, "local_steps": 1, "G2": 4 * ONE, "sigma2": 0, "objective_gap": 0,
            "initial_distance2": 0, "theta": 0, "rho": 0}  # fmt: skip
HUNDREDTH = ONE / 100
COUNTEREXAMPLES: dict[str, tuple[dict[str, Any], Fraction]] = {
    "power_of_choice.weighted_average_gap": (
        {**OPPOSITE, "num_steps": 10, "local_steps": 10, "initial_distance2": 0},
        steps_to_one(*(ONE / (t + 8) for t in range(10))) ** 2 / 2,
    ),
    "power_of_choice.weighted_one_step": (
        {**OPPOSITE, "distance2": steps_to_one(*[HUNDREDTH] * 2) ** 2, "step_size": HUNDREDTH, "local_steps": 3},
        steps_to_one(*[HUNDREDTH] * 3) ** 2,
    ),
    "fedalign.full_participation_gap": (PRIORITY, (steps_to_one(ONE / 4) / 2) ** 2 / 2),
    "fedalign.partial_participation_gap": ({**PRIORITY, "num_draws": 1000}, (steps_to_one(ONE / 4) / 2) ** 2 / 2),
}


@pytest.mark.parametrize("bound", sorted(name for name, form in PRINTED.items() if form.refuted))
def test_the_numbers_of_a_counterexample_are_its_error_and_the_printed_bound(bound: str) -> None:
    known, error = COUNTEREXAMPLES[bound.replace("derived_", "")]
    allowed: Any = known_bounds()[bound].printed(**known)
    assert error > allowed
    rounded = f"{float(error):.2e} > {float(allowed):.2e}".replace("e-0", "e-")
    assert PRINTED[bound].counterexample.endswith((f": {error} > {allowed}", f": {rounded}"))


def test_a_printed_form_is_called_proved_only_if_it_is_proved_for_all_constants() -> None:
    for name, form in PRINTED.items():
        proof = known_bounds()[name].printed.statement.formal_proof
        assert proof == (None if form.refuted else form.proved)


@pytest.mark.parametrize("headline", HEADLINES)
def test_a_headline_theorem_has_an_instance(headline: str) -> None:
    """Its hypotheses hold for a federation of parabolas."""
    assert re.search(rf"^Definition {headline}_instance\b", source("Instances.v"), re.MULTILINE)


def test_the_project_lists_every_file() -> None:
    assert (FOLDER / "_CoqProject").read_text(encoding="utf-8").split("\n") == ["-R . FedTheory", *FILES, ""]


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_assumed_without_being_said(file: str) -> None:
    text = code(source(file))
    assert UNPROVED.findall(text) == []
    # Outside of a section a hypothesis is an axiom.
    depth = 0
    for line in text.splitlines():
        depth += line.lstrip().startswith("Section ") - line.startswith("End ")
        assert depth > 0 or not re.match(r"\s*(?:Hypothes[ie]s|Variables?|Context)\b", line), line


@pytest.mark.parametrize("sentence", ["Admitted.", "Axiom a : False.", "Parameter a : False.", "Unset Guard Checking."])
def test_what_is_unproved_is_seen(sentence: str) -> None:
    assert UNPROVED.search(code(f"Lemma x : True. (* Qed *) {sentence}"))
