"""Every step of FedALIGN's proofs is refuted if one of its constants is changed by one percent."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.fedalign import appendix_a, one_step
from fedtheory.claims.fedalign.one_step import State, noisy_pair
from fedtheory.instances.federations import RationalQuadratics, opposite_clients
from fedtheory.instances.runs import AlignedRun, Snapshot
from fedtheory.instances.vectors import vector
from fedtheory.verification.verdicts import examine
from tests.claims.refutation import multiply, refuted

CLAIMS = known_claims()
LESS, MORE = Q(99, 100), Q(101, 100)


@pytest.mark.parametrize(
    ("claim", "home", "name", "factor"),
    [
        (one_step.equations_37_38, AlignedRun, "sigma2", LESS),
        (one_step.equations_37_38, one_step, "distance2", MORE),
        (one_step.equations_39_41, State, "g", MORE),
        (one_step.equations_39_41, State, "A_1", LESS),
        (one_step.equation_40, fa, "gradient_norm", LESS),
        (one_step.equation_40, State, "g", MORE),
        (one_step.equations_42_43, RationalQuadratics, "strong_convexity", MORE),
        (one_step.equations_42_43, one_step, "norm2", LESS),
        (one_step.equation_44, State, "A_1", MORE),
        (one_step.equation_44, RationalQuadratics, "smoothness", LESS),
        (one_step.equation_44, one_step, "right_of_44", LESS),
        (one_step.equations_45_49, State, "nu", LESS),
        (one_step.equations_45_49, State, "E", LESS),
        (one_step.equations_45_49, State, "D", LESS),
        (one_step.equations_46_51, State, "spread", LESS),
        (one_step.equations_46_51, RationalQuadratics, "smoothness", LESS),
        (one_step.equations_47_52, State, "nu", MORE),
        (one_step.equations_47_52, State, "spread", Q(1, 2)),
        (one_step.equations_47_52, State, "E", MORE),
        pytest.param(one_step.equations_48_53, State, "D", LESS, marks=pytest.mark.slow),
        (one_step.equations_48_53, State, "E", Q(1, 2)),
        (one_step.equations_48_53, State, "nu", MORE),
        (appendix_a.equation_58, appendix_a.RoundEnd, "variance", MORE),
        (appendix_a.equation_58, fa, "sampling_variance", Q(1, 2)),
        (appendix_a.equations_33_34, fa, "one_step", MORE),
        (appendix_a.equations_33_34, appendix_a.Course, "_B_and_D", LESS),
        (appendix_a.equation_36, fa, "full_participation_gap", LESS),
        (appendix_a.equation_36, fa, "theta", LESS),
        (appendix_a.equation_36, fa, "rho", LESS),
        (appendix_a.equation_36, RationalQuadratics, "smoothness", LESS),
        (appendix_a.li_et_al_corrected, fedavg, "full_participation_gap", MORE),
    ],
    ids=lambda value: getattr(value, "key", str(value)),
)
def test_a_step_with_one_number_changed_is_refuted(claim, home, name, factor, monkeypatch):
    multiply(monkeypatch, home, name, factor)
    assert refuted(claim, claim.check, 400)


def test_every_new_inequality_of_the_proof_has_a_mutant_above() -> None:
    mark = test_a_step_with_one_number_changed_is_refuted.pytestmark[0]
    tried = {getattr(row, "values", row)[0].key for row in mark.args[1]}
    homes = (one_step, appendix_a)
    own = {at.key for home in homes for at in vars(home).values() if getattr(at, "key", "") in CLAIMS}
    steps = {key for key in own if not key.startswith("fedalign:lemma-")}
    assert {key for key in steps if CLAIMS[key].kind != "erratum"} <= tried


@pytest.mark.parametrize(
    ("key", "measured", "predicted"),
    [
        # w_1 = 1/8, and no sum has a term of step 0.
        ("equation-34-printed", Q(1, 64), 0),
        # 4 |w_0 - w*|^2/10 and the same without the 10 = T + gamma.
        ("equation-36-printed", 4, Q(2, 5)),
        # 12 (7/14)/16 and 12/16.
        ("li-et-al", Q(3, 8), Q(3, 4)),
        # Two steps of 1/4 along a mean gradient of 2/3, against (1/16) (2/3) (1 + 1).
        ("equation-44-printed", Q(1, 9), Q(1, 12)),
        ("equation-43-printed", Q(17), Q(1)),
        # 2 (1 - 2/8).
        ("equations-46-51-printed", Q(3, 2), 1),
        # D_t = 2 (1/2) (1/2) (1/2) on average, times the step 2/9.
        ("equation-49-printed", 0, Q(1, 18)),
    ],
)
def test_a_misprint_fails_by_hand_computed_numbers(key, measured, predicted):
    worst = examine(CLAIMS[f"fedalign:{key}"]).worst
    assert (worst.measured, worst.predicted) == (measured, predicted)


def test_two_opposite_clients_one_short_step_ahead_attain_the_bound_on_the_priority_clients():
    # With L = mu = 1, w = w* = 0 and w_k = eta (or -eta): A_4 = eta^2 (8 - O(eta)) Gamma against eta^2 (2 + 6) Gamma.
    eta = Q(1, 4096)
    at = Snapshot(vector(0), (0, 1), vector("1/2", "1/2"), (vector(eta), vector(-eta)), vector(0))
    state = State(opposite_clients(), at, eta, {})
    bound = state.spread("priority") + 6 * eta**2 * state.E
    assert bound == 8 * eta**2 * Q(1, 2)
    assert Q(999, 1000) < state.left_over("priority") / bound < 1


def test_noise_decides_who_is_included():
    run = noisy_pair()
    assert sorted(len(at.chosen) for at in run.snapshots[1]) == [1, 2]
    assert run.priority_weights == [1, Q(3, 4)]


def test_drawn_courses_have_constants_on_both_sides_of_one_and_rounds_that_include_nobody():
    rng = np.random.default_rng(5)
    cases = [case for _ in range(100) for case in appendix_a.course(rng)]
    known = [case.known for case in cases]
    assert {one["mu"] for one in known} == {Q(1, 2), Q(1), Q(2)}
    assert {one["L"] / one["mu"] for one in known} == {1, 2, 32}
    assert {weight for case in cases for weight in case.priority_weights} == {Q(4, 4 + n) for n in range(9)}
    assert {gap for case in cases for gap in case.included_gaps} == {Q(n, 4) for n in range(9)}
    implied = [
        one["mu"] ** 2 * case.initial_distance2 + 2 * one["mu"] * one["objective_gap"] + one["sigma2"]
        for one, case in zip(known, cases, strict=True)
    ]
    assert {one["G2"] - least for one, least in zip(known, implied, strict=True)} == {0, 1, 2, 3, 4}
