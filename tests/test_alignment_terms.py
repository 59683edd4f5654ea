"""theta_T and rho_T with limits: they bracket what many replicates average to, and make a valid bound."""

# mypy: allow-untyped-calls

import numpy as np
import pytest
from _alignment_terms import alignment_terms

import fedtheory as ft
from fedtheory.bounds import fedalign as fa
from fedtheory.engine.inclusion import inclusions
from fedtheory.federation.prioritized import prioritize
from fedtheory.selection.loss_matching import LossMatching


@pytest.fixture(scope="module")
def noisy():
    fed = ft.QuadraticFederation([1.0, 1.5, 0.5, 2.0], [[0.0], [1.0], [0.7], [3.0]], [0.25] * 4)
    aligned = prioritize(fed, [True, True, False, False])
    strategy = LossMatching(aligned.priority, aligned.shares, 0.3)
    mu, L, tau = aligned.federation.strong_convexity, aligned.federation.smoothness, 3
    gamma = max(8 * L / mu, tau)
    sizes = fa.decaying_step_sizes(40 * tau, mu=mu, L=L, local_steps=tau)
    run = ft.fedavg(
        aligned.federation, strategy, num_rounds=40, local_steps=tau, step_size=sizes, initial=[3.0],
        gradient_noise=2.0, num_replicates=400, record=("gap", "models", "selected", "coefficients"),
    )  # fmt: skip
    return aligned, run, inclusions(aligned, strategy, run), {"mu": mu, "L": L, "gamma": gamma, "local_steps": tau}


def part(found, rows):
    return type(found)(
        found.weights[rows], found.willing[rows], found.matched[rows], found.priority_weights[rows],
        found.included_gaps[rows],
    )  # fmt: skip


def test_limits_of_few_replicates_bracket_the_mean_of_many(noisy):
    _, _, found, known = noisy
    few = alignment_terms(part(found, slice(0, 30)), **known, confidence=0.999)
    many = alignment_terms(found, **known)
    for interval, precise in zip(few, many, strict=True):
        center = (precise.lower + precise.upper) / 2
        assert np.all(interval.lower <= center + 1e-12)
        assert np.all(center - 1e-12 <= interval.upper)
        assert np.any(interval.upper > interval.lower)
    printed = alignment_terms(found, **known, first_step=1)
    assert np.all(printed.theta.upper < many.theta.upper)


def test_the_upper_limits_make_a_bound_on_the_measured_error(noisy):
    aligned, run, found, known = noisy
    terms = alignment_terms(found, **known)
    horizons = known["local_steps"] * np.arange(1, 41)
    # Gradients at the models of active clients are smaller than here: all iterates stay within [-3, 6].
    G2 = 2.0**2 * 6.0**2 + 2.0
    bound = fa.full_participation_gap(
        horizons, mu=known["mu"], L=known["L"], local_steps=3, G2=G2, sigma2=2.0,
        objective_gap=aligned.objective_gap, initial_distance2=float((3 - aligned.federation.minimizer[0]) ** 2),
        theta=terms.theta.upper, rho=terms.rho.upper,
    )  # fmt: skip
    assert np.all(run.band().upper[1:] < bound)


def test_inclusions_without_gaps_are_refused(noisy):
    _, _, found, known = noisy
    bare = type(found)(found.weights, found.willing, found.matched, found.priority_weights, None)
    with pytest.raises(ValueError, match="included gaps"):
        alignment_terms(bare, **known)
