"""Claims about Optimal Client Sampling with wrong constants or code are refuted; counterexamples are right."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling import dsgd, fedavg, lemma1, probabilities
from fedtheory.claims.optimal_client_sampling._situations import Norms
from fedtheory.instances.sampled_rounds import optimal_law
from fedtheory.instances.vectors import vector
from fedtheory.sampling import approximate_probabilities, rational_probabilities, variance
from fedtheory.theorem.claims import Claim
from tests.claims.refutation import broken, scaled


@pytest.mark.parametrize(
    ("claim", "name", "summand", "factor"),
    [
        (dsgd.dsgd_second_moment, "dsgd_second_moment", "clients", Q(99, 100)),
        (dsgd.theorem_13, "dsgd_strongly_convex", "noise", Q(9, 10)),
        pytest.param(dsgd.theorem_13, "dsgd_strongly_convex", "descent", Q(11, 10), marks=pytest.mark.slow),
        (dsgd.equation_21, "full_participation", "noise", Q(99, 100)),
        pytest.param(dsgd.theorem_15, "dsgd_nonconvex", "noise", Q(2, 3), marks=pytest.mark.slow),
        pytest.param(dsgd.theorem_15, "dsgd_nonconvex", "heterogeneity", Q(1, 4), marks=pytest.mark.slow),
        (fedavg.lemma_21, "perturbed_inner_product", "convexity", Q(2)),
        (fedavg.drift, "client_drift", "noise", Q(1, 3)),
        (fedavg.second_moment, "estimator_second_moment", "sampling", Q(99, 100)),
        (fedavg.fedavg_second_moment, "fedavg_second_moment", "noise", Q(1, 2)),
        (fedavg.theorem_17, "fedavg_strongly_convex", "noise", Q(1, 2)),
        (fedavg.theorem_18, "fedavg_nonconvex", "descent", Q(4)),
        (lemma1.identity_3, "estimator_error", "updates", Q(99, 100)),
    ],
    ids=lambda value: getattr(value, "key", None) or str(value),
)
def test_a_wrong_constant_is_caught(monkeypatch, claim: Claim, name, summand, factor) -> None:
    wrong = scaled(getattr(ocs, name), summand, factor=factor)
    monkeypatch.setattr(ocs, name, wrong)
    if hasattr(lemma1, name):
        monkeypatch.setattr(lemma1, name, wrong)
    assert broken(claim, 60)


def off_by_one(norms, budget):
    """The closed form read one client too far."""
    t = sorted(norms)
    n = len(t)
    length = max(k for k in range(1, n + 1) if budget + k - n > 0 and (budget + k - n) * t[k - 1] <= sum(t[:k]))
    cut = t[min(length, n - 1)]
    rest = sum(t[:length])
    return [(budget + length - n) * x / rest if rest and x <= cut else Q(1) for x in norms]


def always_uniform(norms, budget):
    return np.full(len(norms), budget / len(norms))


def once_rescaled(norms, budget):
    return approximate_probabilities(norms, budget, max_iterations=1)


def test_wrong_probabilities_are_caught(monkeypatch) -> None:
    for wrong in (always_uniform, once_rescaled):
        mutant = Claim(**(vars(probabilities.rounded) | {"check": probabilities.rounding_check(wrong)}))
        assert broken(mutant, 200)
    monkeypatch.setattr(probabilities, "rational_probabilities", off_by_one)
    assert broken(probabilities.closed_form, 200)


def test_the_per_client_variant_fails_by_these_numbers() -> None:
    s = dsgd.unequal_pair("1/2", "1/10")
    assert dsgd.per_client_variant(s) == (Q(43, 1800), "<=", Q(767, 32400))
    assert ocs.dsgd_strongly_convex(**s.known, objective_gap=s.Gamma) == Q(29, 1200) > Q(43, 1800) > Q(767, 32400)
    # At the longest step the R^k term vanishes.
    measured, _, predicted = dsgd.per_client_variant(dsgd.unequal_pair("5/6", "3/5"))
    assert (round(float(measured), 6), round(float(predicted), 6)) == (0.152222, 0.135556)
    # Weighted gradients 2/3 * 1/2 and 1/3 * 1/2 in length, one client expected: p = (2/3, 1/3), gamma = 5/9.
    s = dsgd.unequal_pair("1/2", "1/10", law=optimal_law(Q(1)), noise_factor=0)
    assert s.round.gamma == Q(5, 9)
    measured, _, predicted = dsgd.per_client_variant(s)
    assert (round(float(measured), 7), round(float(predicted), 7)) == (0.0236111, 0.0235123)


def test_correlated_samplings_beat_independent_ones_by_these_numbers() -> None:
    variances = []
    for updates, law in lemma1.counterexamples().values():
        budget = Q(len(next(iter(law))))
        best = rational_probabilities(updates, budget)
        variances.append(variance(np.array(updates, dtype=object), np.array(best, dtype=object)))
    assert variances == [Q(1, 2), Q(11, 18), Q(1, 6)]
    assert probabilities.alpha(Norms(vector(3, 1, 2), Q(1))) == Q(11, 14)
