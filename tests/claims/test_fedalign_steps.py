"""Every step of FedALIGN's proofs is refuted if one of its constants is changed by one percent."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import pytest

from fedtheory.bounds import fedalign as fa
from fedtheory.bounds import fedavg
from fedtheory.claims.fedalign import appendix_a, one_step
from fedtheory.claims.fedalign.one_step import State
from fedtheory.instances.federations import RationalQuadratics, opposite_clients
from fedtheory.instances.runs import AlignedRun, Snapshot
from fedtheory.instances.vectors import vector
from tests.claims.refutation import multiply, refuted

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


def test_two_opposite_clients_one_short_step_ahead_attain_the_bound_on_the_priority_clients():
    # With L = mu = 1, w = w* = 0 and w_k = eta (or -eta): A_4 = eta^2 (8 - O(eta)) Gamma against eta^2 (2 + 6) Gamma.
    eta = Q(1, 4096)
    at = Snapshot(vector(0), (0, 1), vector("1/2", "1/2"), (vector(eta), vector(-eta)), vector(0))
    state = State(opposite_clients(), at, eta, {})
    bound = state.spread("priority") + 6 * eta**2 * state.E
    assert bound == 8 * eta**2 * Q(1, 2)
    assert Q(999, 1000) < state.left_over("priority") / bound < 1
