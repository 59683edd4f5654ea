"""Counterexamples to statements of other papers, computed again without the library or in floats, and their page."""

import itertools
import math
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from fedtheory.claims import fedprox, other_papers
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.other_papers import (
    adaptive_steps,
    biased_directions,
    heavy_ball,
    local_gd,
    products_of_matrices,
    proximal_steps,
)
from fedtheory.theorem.claims import REFUTED
from fedtheory.theorem.findings import Finding
from tests.environment import ROOT

CLAIMS = known_claims()
MINE = {key: claim for key, claim in CLAIMS.items() if claim.check.__module__.startswith(other_papers.__name__)}
with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(ROOT / "docs")  # whose files import each other
    page = import_module("false_elsewhere")


def found(key: str) -> Finding:
    return CLAIMS[key].check(np.random.default_rng(0))


def sides(key: str) -> tuple[object, object]:
    return found(key).measured, found(key).predicted


def test_each_false_claim_is_on_the_page_and_each_entry_names_claims_with_that_verdict() -> None:
    assert {key for key, claim in MINE.items() if claim.expected == "fails"} <= set(page.ENTRIES)
    assert {CLAIMS[key].kind for key in page.ENTRIES} == set(REFUTED)
    verified = [CLAIMS[entry.verified_by] for entry in page.ENTRIES.values() if entry.verified_by]
    assert {claim.expected for claim in verified} == {"holds"}
    assert {key for key, claim in MINE.items() if claim.expected == "holds"} <= {claim.key for claim in verified}


@pytest.mark.parametrize("key", page.ENTRIES)
def test_only_what_is_not_printed_as_a_statement_is_a_belief_or_a_conjecture(key: str) -> None:
    unprinted = page.ENTRIES[key].kind in (page.BELIEF, page.CONJECTURE)
    assert unprinted is (CLAIMS[key].kind == "refuted conjecture")


def test_the_page_has_all_parts_of_each_entry_and_the_most_serious_come_first() -> None:
    entries = page.table().split("</a> — ")[1:]
    kinds = [entry.split("\n", 1)[0] for entry in entries]
    assert len(entries) == len(page.ENTRIES)
    assert kinds == sorted(kinds, key=page.KINDS.index)
    parts = ("Why not", "Counterexample", "What is true", "What was read")
    assert all(entry.count(f"\n  - {part}: ") == 1 for entry in entries for part in parts)


def adam(gradients: list[float], beta_2: float) -> list[float]:
    """Iterates of Adam with alpha_t = 1/t^(1/2) and beta_1 = 0, from 0, in floats."""
    w, moment, iterates = 0.0, 0.0, []
    for t, g in enumerate(gradients, 1):
        iterates.append(w)
        moment = beta_2 * moment + (1 - beta_2) * g**2
        w -= g / math.sqrt(t * moment / (1 - beta_2**t))
    return iterates


def test_the_regret_of_adam_exceeds_its_theorem() -> None:
    gradients = [8.0, -1.0, -1.0] * 25
    iterates = adam(gradients, 1 / 65)
    assert -5 <= min(iterates) <= max(iterates) <= 3
    regret = sum(g * (w + 5) for g, w in zip(gradients, iterates, strict=True))
    weights = [(64 / 65) * (1 / 65) ** (75 - j) for j in range(1, 76)]
    moment = sum(weight * g**2 for weight, g in zip(weights, gradients, strict=True)) / (1 - (1 / 65) ** 75)
    norm = math.sqrt(sum(g**2 for g in gradients))
    terms = 64 / 2 * math.sqrt(75 * moment), 8 * norm / math.sqrt(64 / 65), 64 * 8 * math.sqrt(64 / 65) / 2 / 0.999**2
    assert sides("adam:theorem-4.1") == pytest.approx((regret, sum(terms)), rel=1e-9)
    assert regret > sum(terms)


def test_the_run_of_adam_must_stay_in_its_interval() -> None:
    with pytest.raises(ValueError, match=r"iterates must stay in \[-5, 2\]"):
        adaptive_steps._regret(8, 75, -5, 2)


def test_a_small_gradient_contradicts_the_first_lemma_of_adam() -> None:
    assert sides("adam:lemma-10.3") == (Fraction(1, 4), Fraction(1, 8))


def test_slowly_falling_gradients_contradict_the_second_lemma_of_adam() -> None:
    beta_2, moment, left = 1e-3, 0.0, 0.0
    for t in range(1, 41):
        moment = beta_2 * moment + (1 - beta_2) / t
        left += 1 / t / math.sqrt(t * moment / (1 - beta_2**t))
    right = 2 * math.sqrt(sum(1 / t for t in range(1, 41)) / (1 - beta_2))
    assert sides("adam:lemma-10.4") == pytest.approx((left, right), rel=1e-9)
    assert left > right


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(10**9, 7)])
def test_roots_are_enclosed(square: Fraction) -> None:
    below, above = (adaptive_steps._root(square, above=side) for side in (False, True))
    assert below**2 <= square <= above**2
    assert above - below == Fraction(1, 10**12)


def test_decreasing_momentum_makes_the_weights_of_the_telescoping_sum_decrease() -> None:
    # 1/(1 - 1/2)^2 = 4 and 2/(1 - 1/4)^2 = 32/9.
    assert sides("amsgrad:telescoping-sum") == (Fraction(32, 9), Fraction(4))


@pytest.mark.parametrize(("step_size", "beta"), [(0.3, 0.0), (2.0, 0.5), (0.01, 0.99)])
def test_opposite_signs_hold_the_model_for_all_parameters(step_size: float, beta: float) -> None:
    w, momenta = 0.0, np.zeros(2)
    for _ in range(50):
        momenta = beta * momenta + (1 - beta) * np.array([3 * (w - 1), w + 1])
        w -= step_size * np.sign(momenta).mean()
    assert w == 0.0
    assert sides("ssdm:heterogeneous") == (1, Fraction(1, 2))


def test_the_expected_sign_points_uphill() -> None:
    slopes = [4, -1, -1, -1]
    drift = -sum(math.copysign(1, slope) for slope in slopes) / 4
    assert float(found("sign-descent:one-sample").measured) == pytest.approx(sum(slopes) / 4 * drift / 10)
    assert found("sign-descent:one-sample").measured == Fraction(1, 80)


@pytest.mark.parametrize(("ratio", "error"), [(1, 3 / 4), (10, 3), (10**6, (1 + 10**6 / 2) / 2)])
def test_the_stored_error_grows_with_the_ratio_of_the_learning_rates(ratio: int, error: float) -> None:
    stored = 0.0
    for scale in (1, ratio):
        message = 1 + scale * stored
        stored = message - message / 2
    assert stored == pytest.approx(error)
    rates = [Fraction(1), Fraction(1, ratio)]
    assert float(biased_directions._stored(rates, [Fraction(1)] * 2, [Fraction(1, 2)] * 2)) == pytest.approx(error)
    assert sides("dist-ef-sgd:stored-error") == (3, 1)


@pytest.mark.parametrize("v", [1, 7, 1000, 2000])
def test_an_update_of_admm_has_no_minimizer(v: int) -> None:
    grid = np.linspace(0, 1.2, 120001)
    assert (grid**2 / v + (grid - 1) ** 2 / 2).min() == pytest.approx(1 / (v + 2), rel=1e-6)
    assert proximal_steps._best_update(v) == Fraction(1, v + 2)
    assert sides("admm-review:solvable-updates") == (Fraction(1, 1002), Fraction(1, 2002))


def test_clipped_gradients_vanish_elsewhere() -> None:
    centers = np.array([0, 0, 3])
    mean = [np.clip(w - centers, -1, 1).mean() for w in (1, 0.5)]
    assert mean == pytest.approx([1 / 3, 0])
    assert found("clipping:short-steps").measured == Fraction(1, 3)


def test_the_cycle_of_heavy_ball_has_three_points_and_avoids_the_rounded_kinks() -> None:
    points = [Fraction(n, 1225) for n in (792, -2208, 2592)]
    for before, w, after in (points, points[1:] + points[:1], points[2:] + points[:2]):
        # Where no kink is: 25 w below 1, 25 w - 24 beyond 2.
        gradient = 25 * w - (24 if w > 2 else 0)
        assert after == w - gradient / 9 + Fraction(4, 9) * (w - before)
        assert min(abs(w - 1), abs(w - 2)) > Fraction(1, 10)
        assert heavy_ball.slope(w) == gradient
    assert found("heavy-ball:faster-than-nesterov").ratio == 2


def test_the_loss_of_heavy_ball_is_smooth_and_strongly_convex_with_a_continuous_second_derivative() -> None:
    grid = [Fraction(k, 200) for k in range(-100, 600)]
    slopes = [heavy_ball.slope(w) for w in grid]
    second = [200 * (after - before) for before, after in itertools.pairwise(slopes)]
    assert min(second) == 1
    assert max(second) == 25
    # Its largest change is 24 times 1/200 over the width 1/5 of a rounded kink.
    assert max(abs(after - before) for before, after in itertools.pairwise(second)) == 24 * Fraction(1, 40)
    assert heavy_ball.slope(Fraction(0)) == 0


def test_feddyn_as_printed_grows_by_a_half_and_as_corrected_reaches_the_minimizer() -> None:
    paths = {}
    for once in (True, False):
        w, state, gradients, path = 0.0, 0.0, np.zeros(2), []
        for _ in range(10):
            models = (np.array([0, 2]) + gradients + w) / 2
            gradients = gradients - (models - w)
            state -= (models.sum() - (w if once else 2 * w)) / 2
            w = models.mean() - state
            path.append(w)
        paths[once] = path
    assert paths[True] == pytest.approx([1.5**t for t in range(10)])
    assert paths[False] == pytest.approx([1.0] * 10)
    assert found("feddyn:server-state").measured == (Fraction(3, 2) ** 9 - 1) ** 2


def theorem_4_of_fedprox(mu: float, B: float, K: int, less: float = 0.0) -> float:
    """Rho for L = 1 and gamma = 0."""
    bar = mu - less
    rho = 1 / mu - B * math.sqrt(2) / (bar * math.sqrt(K)) - B / (bar * mu) - B**2 / (2 * bar**2)
    return rho - B**2 / (bar**2 * K) * (2 * math.sqrt(2 * K) + 2)


def test_the_decrease_that_fedprox_expects_of_exact_devices_is_not_that_of_all_draws() -> None:
    exact, mu, K = 1 / 4, 1000, 8
    decrease = 0.0
    for drawn in range(K + 1):
        chance = math.comb(K, drawn) * exact**drawn * (1 - exact) ** (K - drawn)
        w = (drawn * mu / (mu + 1) + K - drawn) / K
        decrease += chance * (1 - w**2) / 2
    claimed = theorem_4_of_fedprox(mu, 1, K, less=1e-3)
    assert sides("fedprox:corollary-9") == pytest.approx((-decrease, -claimed))
    assert claimed / decrease == pytest.approx(1.9913, abs=1e-4)
    assert 1 / exact**K == 65536


def test_fedprox_does_not_reach_the_progress_of_its_corollary() -> None:
    rho, wanted = theorem_4_of_fedprox(6 * 700**2, 700, 2_000_000), 1 / (24 * 700**2)
    assert math.sqrt(2_000_000) / 2 >= 700
    assert sides("fedprox:corollary-7") == pytest.approx((rho, wanted))
    assert rho / wanted == pytest.approx(0.864, abs=1e-3)
    factors = [24 * B**2 * theorem_4_of_fedprox(6 * B**2, B, 4 * B**2) for B in (2, 3, 10, 100, 10**6)]
    assert factors == sorted(factors)
    assert factors[0] < 0 < factors[1]
    assert factors[-1] == pytest.approx(4 * (11 / 12 - 1 / math.sqrt(2)), abs=1e-5)
    assert factors[-1] == pytest.approx(0.838, abs=1e-3)


@pytest.mark.parametrize("mu", [0.1, 1, 10, 1e3, 1e6, 1e12])
def test_no_weight_makes_rho_of_fedprox_positive_for_half_the_devices_that_it_needs(mu: float) -> None:
    assert mu * theorem_4_of_fedprox(mu, 5 / 2, 8) <= 1 - 5 / 2 * math.sqrt(2 / 8) < 0
    assert found("fedprox:proof-of-corollary-7").measured == pytest.approx(-1 / 4)


@pytest.mark.parametrize("step_size", [0.5, 0.1, 0.01])
def test_different_numbers_of_local_steps_are_not_the_weights_of_the_limit_of_averaging(step_size: float) -> None:
    w = 0.0
    for _ in range(1200):
        models = []
        for center, steps in ((0, 1), (1, 4)):
            y = w
            for _ in range(steps):
                y -= step_size * (y - center)
            models.append(y)
        w = float(np.mean(models))
    pulls = [1 - (1 - step_size) ** steps for steps in (1, 4)]
    assert w == pytest.approx(pulls[1] / sum(pulls))
    assert w < 0.8
    if step_size == 0.01:
        assert sides("stationary:lemma-1") == pytest.approx((w, 0.8))


def test_a_long_step_of_local_gradient_descent_leaves_more_than_the_error_that_is_promised() -> None:
    # L = sigma = 1 and eps = 3/100, so that max{L, sigma (3 L/eps)^(1/2)} = 10 and H = 1/10 for gamma = 1/4.
    term = 24 * (1 / 4) ** 2
    assert term / 0.03 == pytest.approx(50)
    assert sides("local-gd:any-step-size") == pytest.approx((2 * 3 / (1600 / 4) + term, 0.03))


def test_the_limit_of_fedprox_is_a_limit() -> None:
    w = 5.0
    for _ in range(100):
        w = float(np.mean([(h * c + w) / (h + 1) for h, c in ((1, 0), (3, 1))]))
    assert w == pytest.approx(3 / 5)
    assert sides("fedsplit:fedprox-limit") == (Fraction(3, 5), Fraction(3, 4))


def test_fedexprox_is_faster_where_its_guarantee_is_worse() -> None:
    hessians = np.array([[4.0, 1.0], [1.0, 9.0]])
    envelope, mean = (hessians / (1 + hessians)).mean(axis=0), hessians.mean(axis=0)
    assert (envelope.max() * (1 + hessians.max()), mean.max()) == pytest.approx((7, 5))
    assert sides("fedexprox:better-than-gradient-descent") == (7, 5)
    assert (envelope.max() / envelope.min(), mean.max() / mean.min()) == pytest.approx((14 / 13, 2))


def test_three_blocks_diverge_and_two_do_not() -> None:
    matrix = np.array([[1.0, 1, 1], [1, 1, 2], [1, 2, 2]])
    lower, gram = np.tril(matrix.T @ matrix), matrix.T @ matrix
    # A sweep of Gauss and Seidel: lower x_+ = A' multiplier - (gram - lower) x, multiplier_+ = multiplier - A x_+.
    after = np.linalg.solve(lower, np.hstack([lower - gram, matrix.T]))
    sweep = np.vstack([after, np.hstack([np.zeros((3, 3)), np.eye(3)]) - matrix @ after])
    assert max(abs(np.linalg.eigvals(sweep))) == pytest.approx(1.0278, abs=1e-4)
    trace = np.trace(np.linalg.matrix_power(sweep, 64))
    assert float(found("admm:three-blocks").measured) == pytest.approx(trace)


def test_the_mean_product_over_all_orders_exceeds_the_power_of_the_mean() -> None:
    scale, matrices = 10 / 9, []
    for k in range(5):
        y = scale * (np.eye(5)[k] - 1 / 5)
        matrices.append(np.block([[np.ones((1, 1)), y[None]], [y[:, None], np.eye(5)]]))
    assert min(np.linalg.eigvalsh(matrix).min() for matrix in matrices) > 0
    assert np.mean(matrices, axis=0) == pytest.approx(np.eye(6), abs=1e-12)
    orders = [np.linalg.multi_dot(order) for order in itertools.permutations(matrices)]
    assert float(found("reshuffling:matrix-means").measured) == pytest.approx(abs(np.mean(orders, axis=0)[0, 0]))
    assert np.linalg.norm(np.mean(orders, axis=0), 2) > 1.16
    assert found("reshuffling:matrix-means").measured == Fraction(7639, 6561)


def test_a_sampled_round_of_scaffold_leaves_the_minimizer_that_a_full_one_keeps() -> None:
    models = [1 - (1 - center) / 2 for center in (0, 2)]
    assert np.mean(models) == 1
    assert sides("scaffold:client-sampling") == (np.mean([(w - 1) ** 2 for w in models]), 0)


def test_the_stationary_point_of_averaging_is_a_limit_and_not_the_minimizer() -> None:
    w = 0.0
    for _ in range(50):
        w = float(np.mean([c + (1 - h / 4) ** 2 * (w - c) for h, c in ((1, 0), (3, 1))]))
    assert w == pytest.approx(15 / 22)
    assert sides("stationary:averaging-guess") == (Fraction(15, 22), Fraction(3, 4))


@pytest.mark.parametrize(
    ("module", "name", "mutant", "key"),
    [
        (adaptive_steps, "_harmonic", Fraction, "adam:lemma-10.4"),
        (adaptive_steps, "_harmonic", lambda count: Fraction(1), "adam:scaled-sum"),
        (adaptive_steps, "_regret", lambda *_: (Fraction(800), Fraction(1)), "adam:theorem-4.1"),
        (biased_directions, "_stored", lambda *_: Fraction(1), "dist-ef-sgd:stored-error"),
        (biased_directions, "_stored", lambda *_: Fraction(99), "dist-ef-sgd:stored-error-in-steps"),
        (biased_directions, "_mean_sign", lambda entry, size: entry, "ssdm:norms-sent"),
        (biased_directions, "_sign", lambda x: x, "ssdm:heterogeneous"),
        (biased_directions, "_sign", lambda x: x, "sign-descent:one-sample"),
        (biased_directions, "_clipped", lambda x: x, "clipping:short-steps"),
        (proximal_steps, "_best_update", Fraction, "admm-review:solvable-updates"),
        (products_of_matrices, "product", lambda a, b: a, "admm:three-blocks"),
        (heavy_ball, "slope", lambda w: 25 * w, "heavy-ball:faster-than-nesterov"),
        (heavy_ball, "parameters", lambda mu, L: (4 / (L + mu) ** 2, Fraction(1, 99)), "heavy-ball:quadratics"),
        (proximal_steps, "_guarantee", lambda *_: (Fraction(4), Fraction(5)), "fedexprox:guarantee"),
        (products_of_matrices, "_sweep", lambda a, x, y: (2 * x, 2 * y), "admm:two-blocks"),
        (fedprox, "_rho", lambda **known: Fraction(1, 8000), "fedprox:corollary-9"),
        (fedprox, "_rho", lambda **known: Fraction(1), "fedprox:corollary-7"),
        (fedprox, "_rho", lambda **known: Fraction(1), "fedprox:proof-of-corollary-7"),
        (
            local_gd,
            "_prescribed",
            lambda a, b, **known: (1 / (2 * a * b), Fraction(10**9)),
            "local-gd:short-step-sizes",
        ),
        (local_gd, "_guarantee", lambda *_, **known: Fraction(1, 100), "local-gd:any-step-size"),
    ],
)
def test_a_wrong_part_changes_the_verdict(module, name, mutant, key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, mutant)
    seeds = range(1 if CLAIMS[key].is_single else 20)
    holds = {CLAIMS[key].check(np.random.default_rng(seed)).holds for seed in seeds}
    assert (CLAIMS[key].expected == "fails") in holds
