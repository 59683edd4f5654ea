"""The convex solver never beats the closed form, and inaccurate solutions are rejected."""

# mypy: allow-untyped-calls

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.sampling import (
    certificate,
    optimal_probabilities,
    rational_probabilities,
    reference_probabilities,
    solver_probabilities,
)


@pytest.mark.parametrize("spread", [1, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_solver_never_beats_the_closed_form_and_comes_close(seed, spread) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    t = rng.lognormal(0, spread, n) * 10.0 ** rng.integers(-8, 9)
    m = float(rng.uniform(0.3, n - 0.5))
    best = (t**2 / optimal_probabilities(t, m)).sum()
    p = reference_probabilities(t, m)
    assert best <= (t**2 / p).sum() * (1 + 1e-8)
    assert (t**2 / p).sum() <= best * (1 + 2e-8)
    assert certificate(t, p, m).infeasibility <= 1e-8


def test_zero_norms_and_idle_problems() -> None:
    assert reference_probabilities([0.0, 0.0], 1).tolist() == [0, 0]
    np.testing.assert_allclose(reference_probabilities([0.0, 3.0, 5.0], 1), [0, 3 / 8, 5 / 8], atol=1e-6)


def test_a_sloppy_answer_is_an_error_and_not_a_result(monkeypatch) -> None:
    import fedtheory.sampling.reference as module

    monkeypatch.setattr(module, "CLARABEL", {"tol_gap_abs": 1e-1, "tol_gap_rel": 1e-1, "tol_feas": 1e-1})
    with pytest.raises(OracleError, match="gap and an infeasibility"):
        reference_probabilities([1.0, 2.0, 3.0, 10.0], 2)
    monkeypatch.setattr(module, "CLARABEL", {"max_iter": 1})
    with pytest.raises(OracleError, match="the solver must"):
        reference_probabilities([1.0, 2.0, 3.0, 10.0], 2)


def test_an_unknown_solver_is_an_oracle_error() -> None:
    with pytest.raises(OracleError, match="the solver must answer"):
        solver_probabilities([1.0, 2.0], 1, "NO_SUCH_SOLVER")


def test_rationals_come_from_rationals_integers_and_floats() -> None:
    assert rational_probabilities([0.5, Fraction(3, 2)], 1) == [Fraction(1, 4), Fraction(3, 4)]
    assert rational_probabilities([0, 0], 1) == [0, 0]
