"""FedALIGN's counterexamples equal those derived by hand, and wrong bounds, rules and draws are refuted."""

# mypy: allow-untyped-calls

from dataclasses import replace
from fractions import Fraction as Q

import pytest

from fedtheory.bounds import fedalign as fa
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.fedalign import appendix_a, theorems
from fedtheory.instances import runs
from fedtheory.instances.run_draws import DrawnAlignment, draw_alignment
from fedtheory.instances.runs import AlignedRun, two_parabolas
from fedtheory.instances.step_sizes import short_steps
from fedtheory.instances.vectors import vector
from fedtheory.sampling import cohorts as selections
from fedtheory.verification.verdicts import examine
from tests.claims.refutation import refuted, scaled

CLAIMS = {key: claim for key, claim in known_claims().items() if key.startswith("fedalign:")}


def test_the_printed_theorem_fails_by_the_hand_computed_gaps():
    # w_1 = 0 + (1/4)(1/2) = 1/8, then (1 - 2/9)/8 = 7/72 and (1 - 2/10) 7/72 = 7/90.
    claim = CLAIMS["fedalign:theorem-1-printed-one-step"]
    worst = examine(claim).worst
    assert (worst.measured, worst.predicted, worst.instance["step"]) == (Q(1, 8) ** 2 / 2, 0, 1)
    gaps = ", ".join(str(w**2 / 2) for w in (Q(1, 8), Q(7, 72), Q(7, 90)))
    assert worst.instance["F(w_T) - F*"] == gaps == "1/128, 49/10368, 49/16200"


@pytest.mark.parametrize("local_steps", [2, 3])
def test_the_same_instance_is_within_the_printed_bound_for_more_local_steps(local_steps):
    run = replace(two_parabolas(vector(1, 0, 0)), local_steps=local_steps)
    drawn = DrawnAlignment(run, {})
    assert theorems.gaps_after_rounds(drawn, fa.full_participation_gap.printed, Q(8), 1).holds
    assert theorems.gaps_after_rounds(drawn, fa.full_participation_gap, Q(8), 0).holds


def test_drawn_priority_clients_hide_the_first_step_up_to_two_hundred_twenty_seven():
    # At T = 1: 1/128 against 16/(9 K).
    assert theorems.many_draws(227).holds is True
    worst = theorems.many_draws(228)
    assert worst.holds is False
    assert (worst.measured, worst.predicted) == (Q(1, 128), Q(16, 9 * 228))


def one_step(bound, most_draws):
    """Return a check of a one-step bound: at arbitrary short steps, or with drawn priority clients."""
    if most_draws:
        return theorems.decaying_one_step(bound, most_draws=most_draws)
    return lambda rng: theorems.refined_steps(draw_alignment(rng, step_size=short_steps(rng)), bound)


def theorem(bound, most_draws):
    return theorems.against_theorem(bound, most_draws=most_draws)


def with_less_noise(bound):
    mutant = scaled(bound, "noise", factor=Q(9, 10))
    mutant.printed = bound.printed
    return mutant


ONE, DRAWN = (theorems.lemma_a6_refined, one_step, 0, 600), (theorems.equation_59, one_step, 2, 1000)
ALL, SOME = (theorems.theorem_1, theorem, 0, 400), (theorems.theorem_a9, theorem, 2, 400)


@pytest.mark.parametrize(
    ("about", "summands", "factor"),
    [
        (ONE, ["contraction"], Q(9, 10)),
        (ONE, ["noise"], Q(9, 10)),
        pytest.param(ONE, ["bias"], Q(1, 2), marks=pytest.mark.slow),
        # Either of the two covers what the other one is for on small instances, but not both can go.
        (ONE, ["drift", "heterogeneity"], 0),
        (DRAWN, ["contraction"], Q(9, 10)),
        (DRAWN, ["bias"], Q(1, 2)),
        # G2 counts the noise, and 2 L Gamma the spread of the gradients at w*: one term covers for another.
        (DRAWN, ["sampling", "noise"], 0),
        pytest.param(DRAWN, ["sampling", "heterogeneity"], 0, marks=pytest.mark.slow),
        pytest.param(ALL, ["noise"], 0, marks=pytest.mark.slow),
        (ALL, ["initial"], Q(1, 2)),
        (ALL, ["bias"], 0),
        (SOME, ["initial"], Q(1, 2)),
        (SOME, ["bias"], 0),
    ],
    ids=lambda value: value[0].key if isinstance(value, tuple) else str(value),
)
def test_one_step_inequalities_and_theorems_need_their_terms(about, summands, factor):
    claim, check, most_draws, num_instances = about
    assert refuted(claim, check(scaled(claim.bound, *summands, factor=factor), most_draws), num_instances)


def test_uniform_draws_of_unequal_priority_clients_are_biased(monkeypatch):
    def uniform(shares, num_draws):
        share = Q(1, len(shares))
        return honest([share] * len(shares), num_draws)

    honest = selections.with_replacement
    monkeypatch.setattr(runs, "with_replacement", uniform)
    assert refuted(appendix_a.lemma_a7, appendix_a.lemma_a7.check)


@pytest.mark.parametrize(
    ("key", "home", "name", "wrong"),
    [
        ("lemma-a5", fa, "gradient_variance", with_less_noise),
        ("threshold-zero", fa, "theta", lambda honest: lambda *a, **k: [value * Q(9, 10) for value in honest(*a, **k)]),
        ("threshold-zero", fa, "rho", lambda honest: lambda *a, **k: [value + Q(1, 10) for value in honest(*a, **k)]),
        ("priority-alone", AlignedRun, "weights", lambda _: lambda run, chosen: (Q(1, len(chosen)),) * len(chosen)),
        ("priority-alone", AlignedRun, "included", lambda _: lambda run, *_: (run.federation.num_clients - 1,)),
        ("theta-range", fa, "theta", lambda honest: lambda *a, **k: [2 * value for value in honest(*a, **k)]),
        ("opposite-ways-corrected", fa, "rho", lambda honest: lambda *a, **k: [-value for value in honest(*a, **k)]),
    ],
)
def test_what_a_claim_is_about_cannot_change_unseen(key, home, name, wrong, monkeypatch):
    monkeypatch.setattr(home, name, wrong(getattr(home, name)))
    claim = CLAIMS[f"fedalign:{key}"]
    assert refuted(claim, claim.check)


def test_the_corrected_theorem_with_sums_from_one_is_refuted():
    check = theorems.against_theorem(fa.full_participation_gap, first_step=1, longest_round=1)
    assert refuted(theorems.theorem_1, check, 400)


def test_an_included_client_is_one_whose_loss_is_closer_than_the_threshold():
    run = two_parabolas(vector("1/2"))
    # |F_2(0) - F_1(0)| = 1/2 is not less than 1/2.
    assert run.included(vector(0), Q(1, 2)) == ()
    assert run.included(vector(0), Q(51, 100)) == (1,)
