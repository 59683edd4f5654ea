"""Certified sides against rational arithmetic and ball arithmetic: valid, and tight for exact cases."""

# mypy: allow-untyped-calls, allow-untyped-defs

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq, fmpq_mat

from fedtheory.arithmetic.matrices import is_semidefinite
from fedtheory.exact._integer_forms import integer_forms
from fedtheory.exact._problem import problem_of
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skews import skew_extremes
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.uniform import Uniform
from tests.exact.judge import Judge, crossings, rational

CENTERS = {
    "on a grid": lambda c, rng: np.round(c),
    "anywhere": lambda c, rng: c,
    "shared by some": lambda c, rng: c[rng.integers(0, max(2, len(c) // 2), len(c))],
    "shared by all": lambda c, rng: np.tile(c[0], (len(c), 1)),
    "far away": lambda c, rng: c + 1000.0,
    "close together": lambda c, rng: c[0] + 1e-6 * c,
}
MINIMA = {
    "zero": lambda rng, size: np.zeros(size),
    "half numbers": lambda rng, size: rng.integers(0, 3, size) / 2,
    "anything": lambda rng, size: rng.random(size),
    "large": lambda rng, size: 100 * rng.random(size),
}


def curvatures(kind, h, dim, rng):
    if kind == "equal":
        return np.ones_like(h)
    if kind == "isotropic":
        return h
    diagonals = h[:, None] * rng.uniform(0.3, 2, (h.size, dim))
    if kind == "diagonal":
        return diagonals
    rotations = np.linalg.qr(rng.standard_normal((h.size, dim, dim)))[0]
    full = (rotations * diagonals[:, None, :]) @ rotations.transpose(0, 2, 1)
    return 0.5 * (full + full.transpose(0, 2, 1))


def drawn(seed):
    """Draw a federation with ties of all kinds, and m and d."""
    rng = np.random.default_rng([11, seed])
    num_clients, dim = int(rng.integers(2, 6)), int(rng.choice([1, 1, 2, 3]))
    kind = str(rng.choice(["equal", "isotropic", "isotropic", "diagonal", "full"]))
    h = rng.integers(1, 4, num_clients).astype(float) if rng.random() < 0.3 else 10 ** rng.uniform(-1.5, 1, num_clients)
    centers = CENTERS[str(rng.choice(list(CENTERS)))](rng.standard_normal((num_clients, dim)), rng)
    minima = MINIMA[str(rng.choice(list(MINIMA)))](rng, num_clients)
    weights = np.ones(num_clients) if rng.random() < 0.3 else rng.random(num_clients) + 0.02
    fed = QuadraticFederation(curvatures(kind, h, dim, rng), centers, weights / weights.sum(), minima)
    d = num_clients if rng.random() < 0.3 else int(rng.integers(1, num_clients + 1))
    return fed, int(rng.integers(1, d + 1)), d, rng


def visited(fed, judge, rng):
    """Centers, midpoints, w*, models at all distances, and in one dimension all crossings."""
    pairs = [0.5 * (a + b) for a in fed.centers for b in fed.centers]
    spread = float(np.abs(fed.centers - fed.minimizer).max()) or 1.0
    around = fed.minimizer + spread * rng.standard_normal((6, fed.dim)) * 10 ** rng.uniform(-2, 3, (6, 1))
    return [*map(rational, [*pairs, *around]), *(crossings(judge) if fed.dim == 1 else [])]


def extremes_found(judge, models):
    """rho_bar, rho_tilde and the diagonal skew over these models, and good w' for each selection law met."""
    by_law = {tuple(q): q for q in map(judge.frequencies, models)}
    bar = [judge.skew(q, w) for q in by_law.values() for w in [*judge.least_models(q), *models[:30]]]
    tilde = [judge.skew(q, judge.minimizer()) for q in by_law.values()]
    diagonal = [judge.skew(judge.frequencies(w), w) for w in models]
    return [[value for value in values if value is not None] for values in (bar, tilde, diagonal)]


@pytest.mark.parametrize("seed", range(24))
def test_no_certified_side_is_on_the_wrong_side_of_a_value_in_rational_arithmetic(seed):
    fed, m, d, rng = drawn(seed)
    rho_bar, rho_tilde, rho_diagonal = selection_skew(fed, PowerOfChoice(m, d), num_models=40)
    judge = Judge(fed, m, d)
    bar, tilde, diagonal = extremes_found(judge, visited(fed, judge, rng))
    assert Fraction(rho_bar.lower) <= min(bar)
    assert Fraction(rho_diagonal.lower) <= min(diagonal)
    assert all(np.isinf(rho_tilde.upper) or value <= Fraction(rho_tilde.upper) for value in tilde)
    if fed.dim == 1:
        # All crossings were visited, and the models found for w' are good to half the digits squared.
        assert float(min(bar)) <= rho_bar.upper * (1 + 1e-9) + 1e-15
        assert np.isinf(rho_tilde.upper) or rho_tilde.lower <= float(max(tilde))
        assert rho_bar.width <= 1e-12 * max(1.0, rho_bar.upper)
        assert rho_diagonal.width <= 1e-12 * max(1.0, rho_diagonal.upper)


def least_in_balls(fed, q):
    """Infimum over w' for fixed frequencies: the least root of the characteristic polynomial of ``D^-1 N``."""
    judge = Judge(fed, 1, 1)
    center = judge.minimizer()
    forms = []
    for H, c in zip(judge.H, judge.centers - center, strict=True):
        pull = H @ c
        forms.append(np.block([[H, -pull[:, None]], [-pull[None], np.array([[pull @ c]])]]))
    N, D = (np.tensordot(factors, forms, 1) for factors in (rational(q), judge.p))
    exact = [fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in part]) for part in (N, D)]
    roots = (exact[1].inv() * exact[0]).charpoly().numer().complex_roots()
    return min((root.real for root, _ in roots), key=lambda ball: float(ball.mid()))


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full"])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_sides_for_fixed_frequencies_enclose_the_eigenvalue_in_ball_arithmetic(kind, shift):
    rng = np.random.default_rng(5)
    for size, dim in ((3, 1), (5, 2), (6, 4)):
        h = 10 ** rng.uniform(-2, 1, size)
        centers = rng.standard_normal((size, dim)) + shift
        fed = QuadraticFederation(curvatures(kind, h, dim, rng), centers, rng.dirichlet(np.ones(size)), normalize=True)
        strategy = Uniform(2)
        truth = least_in_balls(fed, strategy.law(fed.weights).mean)
        lower, upper = selection_skew(fed, strategy).rho_bar
        assert arb(lower) < truth < arb(upper)
        assert upper - lower < 1e-12 * upper


def test_eigenvalues_in_doubles_alone_would_be_above_the_infimum_for_centers_far_from_the_origin():
    rng = np.random.default_rng(0)
    q, wrong = np.array([0.6, 0.1, 0.1, 0.1, 0.1]), 0
    for _ in range(20):
        fed = QuadraticFederation(rng.uniform(0.5, 2, 5), rng.standard_normal((5, 2)) + 1e6, np.full(5, 0.2))
        naive = skew_extremes(fed, q)[0]
        wrong += not is_semidefinite(integer_forms(fed).skew(q).above(naive * (1 - 1e-12)))
        assert is_semidefinite(integer_forms(fed).skew(q).above(problem_of(fed).proved(q, naive)))
    assert wrong > 0


def test_clients_with_one_center_tie_there_and_nowhere_else_and_the_tie_counts():
    # Clients 0 and 5 share the center -1, clients 1, 3 and 4 share 0: beside these models one ranks above the other.
    fed = QuadraticFederation(
        (0.3206900819646812, 0.09608714763302653, 0.05709002902423314, 4.245690660319528, 0.7031300449235156,
         0.739977824054365), [[-1.0], [0.0], [1.0], [0.0], [0.0], [-1.0]],
        (0.13391850547004427, 0.19455839024291202, 0.21998633411669524, 0.08393913056744289, 0.13220027603750653,
         0.23539736356539898),
    )  # fmt: skip
    judge = Judge(fed, 2, 3)
    tied, beside = (judge.frequencies(rational([w])) for w in (-1.0, -1.0 + 1e-9))
    at_the_tie, near_it = (min(judge.skew(q, w) for w in judge.least_models(q)) for q in (tied, beside))
    assert float(at_the_tie) == pytest.approx(0.338193, abs=1e-6)
    assert near_it > 1.3 * at_the_tie
    rho_bar = selection_skew(fed, PowerOfChoice(2, 3)).rho_bar
    assert rho_bar.lower <= at_the_tie
    assert rho_bar.upper == pytest.approx(float(at_the_tie), rel=1e-12)


def test_losses_that_touch_tie_at_one_model_which_counts():
    # F_0 - F_1 = (w + 5/8 - ...)^2 / 2 touches 0; elsewhere client 0 is above. With both candidates q = (1, 0), and
    # (1/2, 1/2) at the tie. At w* = -23/40 the excess losses are 441/6400 and 21609/3200, Gamma = 46305/51200, so the
    # tie has the skew 43659/12800 / Gamma = 132/35.
    fed = QuadraticFederation((2.0, 1.0), [[-0.3125], [-4.25]], (0.875, 0.125), (15.50390625, 0.0))
    rho_tilde = selection_skew(fed, PowerOfChoice(1, 2)).rho_tilde
    assert rho_tilde.lower <= Fraction(132, 35) <= rho_tilde.upper
    assert rho_tilde.width < 1e-12


def test_clients_with_one_minimizer_and_other_minima_have_no_bound_by_the_corrected_forms():
    # The order at w* is by the minima; with curvatures (1, 3) and minima (1, 0) client 0 ranks first near w*: skew 1/2.
    fed = QuadraticFederation([1.0, 3.0], np.zeros((2, 2)), [0.5, 0.5], [1.0, 0.0])
    rho_diagonal = selection_skew(fed, PowerOfChoice(1, 2), num_models=60).rho_diagonal
    assert rho_diagonal.lower <= 0.5
    assert rho_diagonal.upper == pytest.approx(0.5, rel=1e-9)
