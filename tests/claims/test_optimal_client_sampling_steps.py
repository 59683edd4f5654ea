"""Wrong constants in the steps, remarks and multi-round bounds of Optimal Client Sampling are refuted."""

# mypy: allow-untyped-calls

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims import fedavg as fedavg_claims
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.optimal_client_sampling import dsgd, fedavg, lemma1, many_rounds
from fedtheory.claims.optimal_client_sampling._situations import QuadraticRound
from fedtheory.instances.federations import RationalQuadratics, Wells
from fedtheory.instances.sampled_rounds import SampledRound, draw_quadratic_round
from fedtheory.sampling.cohorts import with_replacement
from fedtheory.theorem.findings import equal_to
from tests.claims.refutation import multiply, refuted, scaled

LESS, MORE = Q(99, 100), Q(101, 100)


@pytest.mark.parametrize(
    ("claim", "home", "name", "factor"),
    [
        (dsgd.equations_8_9, RationalQuadratics, "strong_convexity", MORE),
        (dsgd.equations_8_9, RationalQuadratics, "smoothness", LESS),
        (dsgd.smooth_wells, Wells, "smoothness", LESS),
        (dsgd.remark_10, Wells, "dissimilarity", LESS),
        (dsgd.equation_34, SampledRound, "second_moment", LESS),
        (dsgd.equation_37, QuadraticRound, "after", MORE),
        (dsgd.equation_37, SampledRound, "second_moment", Q(1, 2)),
        (dsgd.equation_37, SampledRound, "second_moment", Q(3)),
        (dsgd.equation_38, QuadraticRound, "eta", MORE),
        (dsgd.equation_38, SampledRound, "gamma", Q(1, 4)),
        (fedavg.remark_14, ocs, "full_participation", MORE),
        (fedavg.remark_14, ocs, "dsgd_contraction", MORE),
        (fedavg.remark_14_uniform, SampledRound, "gamma", MORE),
        (fedavg.algorithm_3_is_dsgd, SampledRound, "local_step_size", MORE),
        (many_rounds.equation_22, ocs, "full_participation_distance", LESS),
        (lemma1.equation_30, lemma1, "estimator_variance", MORE),
    ],
    ids=lambda value: getattr(value, "key", str(value)),
)
def test_a_step_with_one_number_changed_is_refuted(claim, home, name, factor, monkeypatch):
    multiply(monkeypatch, home, name, factor)
    assert refuted(claim, claim.check, 100)


@pytest.mark.parametrize("name", ["relative_noise", "sigma2"])
def test_the_noise_of_the_rounds_is_what_assumption_7_says(name, monkeypatch):
    honest = vars(SampledRound)["constants"].fget
    wrong = property(lambda self: honest(self) | {name: MORE * honest(self)[name]})
    monkeypatch.setattr(SampledRound, "constants", wrong)
    assert refuted(dsgd.assumption_7, dsgd.assumption_7.check)


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        (fedavg.remark_14_between, "dsgd_strongly_convex"),
        (fedavg.remark_16, "dsgd_nonconvex"),
        (fedavg.remark_19, "fedavg_strongly_convex"),
        (fedavg.remark_19, "fedavg_nonconvex"),
    ],
    ids=lambda value: getattr(value, "key", value),
)
def test_a_bound_that_grows_with_gamma_is_not_between_the_extreme_cases(claim, name, monkeypatch):
    honest = getattr(ocs, name)
    monkeypatch.setattr(ocs, name, lambda *args, gamma, **known: gamma**2 * honest(*args, gamma=gamma, **known))
    assert refuted(claim, claim.check)


@pytest.mark.parametrize(
    ("claim", "summand", "factor", "local_steps"),
    [
        (many_rounds.dsgd_average, "start", LESS, 1),
        (many_rounds.dsgd_average, "noise", Q(0), 1),
        (many_rounds.fedavg_average, "start", Q(1, 16), 2),
    ],
    ids=lambda value: getattr(value, "key", str(value)),
)
def test_a_weakened_mean_over_rounds_is_refuted(claim, summand, factor, local_steps):
    weakened = scaled(claim.bound, summand, factor=factor)
    assert refuted(claim, many_rounds.against_average(weakened, local_steps))


def test_the_recursion_with_the_mean_of_gamma_fails_and_with_the_mean_of_its_inverse_is_attained(monkeypatch):
    # eta^2 (E[1/gamma] - 1)/2 with E[1/gamma] = 3/2, and with 4/3 = 1/E[gamma] in its place.
    claim = many_rounds.contraction_mean_of_gamma
    wrong = claim.check(np.random.default_rng(0))
    assert (wrong.measured, wrong.predicted) == (Q(1, 64), Q(1, 96))
    honest = ocs.dsgd_contraction
    monkeypatch.setattr(ocs, "dsgd_contraction", lambda *a, **k: honest(*a, **k | {"mean_inverse_gamma": Q(3, 2)}))
    right = claim.check(np.random.default_rng(0))
    assert (right.holds, right.ratio) == (True, 1)


def test_uniform_draws_of_unequal_clients_are_biased(monkeypatch):
    def uniform(weights, count):
        return with_replacement((Q(1, len(weights)),) * len(weights), count)

    monkeypatch.setattr(fedavg_claims, "with_replacement", uniform)
    assert refuted(fedavg_claims.lemma_4, fedavg_claims.lemma_4.check)


def test_algorithm_3_with_several_steps_is_not_dsgd():
    claim = fedavg.algorithm_3_is_dsgd

    def check(rng):
        drawn, _, _ = draw_quadratic_round(rng, longest_round=2)
        mine, one_step = fedavg.algorithm_3(drawn), replace(drawn, local_steps=1)
        return equal_to(int(mine == one_step.models), 1)

    assert refuted(claim, check)
    assert claim.key in known_claims()
