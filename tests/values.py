"""What public functions return on arguments that are like no other: nothing equal, nothing zero, no default.

``python -m tests.values`` writes ``values.json``. Laws and second derivations say what is right; they look at instances
where something is simple, and a change that only shows elsewhere goes unnoticed by them, not by a record.
"""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import estimates, exact, sampling, selection, valuation
from fedtheory.engine.heterogeneity import Stragglers, privacy_noise
from fedtheory.engine.schedule import Halving, InverseTime
from fedtheory.exact.moments import expected_gap
from fedtheory.sampling import availability, improvement_factors, probability_matrices, selections, variances
from fedtheory.selection import participation
from fedtheory.selection.matched_losses import matches
from fedtheory.valuation import axioms, cumulative, permutations
from tests import recorded_runs as runs
from tests.draws import numbers
from tests.recorded_runs import FED, STRATEGIES, WEIGHTS, aligned, quadratics

FILE = Path(__file__).with_suffix(".json")
NORMS = [0.3, 1.7, 2.9, 0.0, 5.3, 0.7, 11.0]
FAR = [3e-310, 1e-300, 1.3e-300, 7e-200, 2e-5, 1.1, 1.9, 3e120, 5e250]
LOSSES = np.array([1.9, 0.2, 3.1, 0.8, 2.3, 0.5, 1.1])
MATRIX = [[0.3, 0.13, 0.19], [0.13, 0.5, 0.37], [0.19, 0.37, 0.7]]
LAW = sampling.JointLaw([[True, False, True], [False, True, False], [True, True, False]], [0.2, 0.3, 0.5])


def record(value: Any) -> list[Any]:
    """Return how many numbers there are, their sum, and one that depends on their places."""
    found = [float(part) for part in numbers(value) if not isinstance(part, str)]
    finite = [part for part in found if math.isfinite(part)]
    placed = math.fsum(part * (1 + place / len(finite)) for place, part in enumerate(finite))
    return [len(found), len(finite), *(float(f"{total:.12g}") for total in (math.fsum(finite), placed))]


def game(coalition: frozenset[int]) -> float:
    """Return a worth in which no two players are alike and none is worth nothing."""
    return sum((player + 1) ** 0.5 for player in coalition) ** 1.7 - 0.3 * len(coalition & {1, 3}) ** 2


def skewed(strategy: Any, **options: Any) -> Any:
    """Return what is estimated of a selection skew."""
    models = estimates.sampled_models(FED, 4, spread=1.3, rng=2)
    at = estimates.selection_skew_at(FED, strategy, [0.7, -1.9], [0.3, 1.1], num_draws=60, rng=3)
    return [models, at, estimates.estimated_selection_skew(FED, strategy, models, num_draws=60, rng=3)]


def _estimates() -> dict[str, Callable[[], Any]]:
    steps = Halving(0.11, (2, 3, 5))
    drawn: dict[str, Callable[[], Any]] = {
        name: partial(skewed, STRATEGIES[name]) for name in ("uniform", "largest losses", "independent, uniform")
    }
    fields: dict[str, Callable[[], Any]] = {
        f"mean field, {form}": partial(
            estimates.mean_field_gap,
            quadratics(form),
            selection.PowerOfChoice(2, 4),
            6,
            3,
            steps,
            [0.7, -1.9],
            server_step_size=1.3,
        )
        for form in ("isotropic", "diagonal", "matrix")
    }
    return drawn | fields


def optimal() -> Any:
    """Return a law that compiled code finds, which takes seconds where it was never compiled: only when it is asked."""
    return sampling.optimal_probabilities(NORMS, 2.3)


def _sampling() -> dict[str, Callable[[], Any]]:
    updates = np.array([[[0.3, -1.1], [0.7, 0.2], [1.9, 0.5]], [[1.3, 0.4], [-0.6, 0.9], [0.1, 2.3]]])
    by_norms = lambda norms, _: sampling.optimal_probabilities(norms, 1.2, zero_norms="spread")  # noqa: E731
    return {
        "optimal": lambda: [
            optimal(),
            sampling.optimal_probabilities(NORMS, 2.3, zero_norms="spread"),
            sampling.certificate(NORMS, optimal(), 2.3),
        ],
        "rational": lambda: [sampling.rational_probabilities(NORMS, 2.3), sampling.optimal_value(NORMS, 2.3)],
        "approximate": lambda: [sampling.approximation(NORMS, 4.1, 2), sampling.approximation_path(NORMS, 4.1, 3)],
        "approximate, certified": lambda: sampling.certificate(
            NORMS, sampling.approximate_probabilities(NORMS, 4.1, 2), 4.1
        ),
        "far apart": lambda: [
            [sampling.optimal_probabilities(FAR, m), sampling.approximation(FAR, m, 2)]
            for m in (0.7, 1.9, 2.3, 3.8, 5.6)
        ],
        "variance": lambda: [
            variances.variance(NORMS, np.maximum(optimal(), 0.1)),
            sampling.improvement_factor(NORMS, 2.3),
        ],
        "improvement": lambda: [
            improvement_factors.improvement_factor_lower_bound([3.3, 4.7, 2.9, 5.1], 1.7),
            improvement_factors.relative_improvement_factor(0.3, 7, 2.3),
            improvement_factors.expected_improvement_factor(
                updates[..., 0] ** 2, 1.7, axis=1, sample_weights=[0.3, 0.5, 0.2]
            ),
        ],
        "available": lambda: availability.available_probabilities(
            NORMS, 1.7, [True] * 3 + [False] * 2 + [True] * 2, np.linspace(0.4, 0.9, 7)
        ),
        "parts of the error": lambda: availability.error_parts(updates, [0.3, 0.7], LAW, [0.4, 0.8], by_norms),
        "matrices": lambda: [
            probability_matrices.estimator_variance(MATRIX, updates[0]),
            probability_matrices.variance_bound([0.3, 1.7, 2.9], np.diag(MATRIX), [0.9, 0.7, 0.8]),
            probability_matrices.admissibility_margin(MATRIX, [0.9, 0.7, 0.8]),
            probability_matrices.smallest_uniform_v(MATRIX),
        ],
        "joint laws": lambda: [
            [law.matrix, [law.draw(rng) for rng in [np.random.default_rng(4)] for _ in range(20)]]
            for law in (
                LAW,
                sampling.ExactlyOne([0.2, 0.5, 0.3]),
                sampling.NiceSampling(5, 2),
                sampling.IndependentSampling([0.2, 0.9, 0.6]),
            )
        ],
        "inclusion": lambda: [
            sampling.successive_inclusion(WEIGHTS, 4),
            sampling.power_of_choice_inclusion(WEIGHTS, LOSSES, 2, 4),
            sampling.inclusion_by_losses(WEIGHTS, 3, 5)(LOSSES),
        ],
        "cohorts": lambda: [
            [sorted(members), chance]
            for law in (sampling.candidate_law(WEIGHTS, 4), sampling.cohort_law(WEIGHTS, LOSSES, 2, 4))
            for members, chance in sorted(dict(law).items(), key=lambda pair: sorted(pair[0]))
        ],
        "selections": lambda: [
            selections.frequencies(law, 7)
            for law in (
                selections.with_replacement(WEIGHTS, 2),
                selections.successive(WEIGHTS, 3),
                selections.uniform_subsets(7, 3),
                selections.independent(WEIGHTS),
                selections.power_of_choice(WEIGHTS, LOSSES, 2, 4),
            )
        ],
    }


def _valuation() -> dict[str, Callable[[], Any]]:
    table = valuation.utility_table(game, 4)
    drawn = np.random.default_rng(9).normal(size=(9, 8))
    return {
        "exact": lambda: [table, valuation.shapley(game, 4)],
        "truncated": lambda: [valuation.gtg_shapley(game, 5, tolerance=tolerance, rng=2) for tolerance in (0.0, 0.8)],
        "by orders": lambda: [
            valuation.permutation_shapley(game, 5, num_permutations=7, first=first, rng=2) for first in ("any", "each")
        ],
        "marginals": lambda: [
            valuation.marginals(valuation.Game(game), [2, 0, 3, 1], tolerance) for tolerance in (0.0, 1.5)
        ],
        "sweeps": lambda: list(permutations.sweep(5, np.random.default_rng(3))),
        "errors": lambda: valuation.mean_and_error(drawn[:, :4]),
        "axioms": lambda: [
            axioms.efficiency(table, [0.3, 1.7, 2.9, 0.8]),
            axioms.symmetry(table, [0.3, 1.7, 2.9, 0.8]),
            axioms.null_player(table, [0.3, 1.7, 2.9, 0.8]),
            axioms.linearity([7.1, 3.2], [2.4, 1.3], [3.5, 1.9], a=2, b=3),
        ],
        "accumulated": lambda: [
            cumulative.accumulate([3.1, 2.3, 4.7], [4, 1, 2], [7.3, 5.9, 1.1], averaging=averaging)
            for averaging in ("mean", 0.6)
        ],
        "softmax": lambda: valuation.softmax_utilities(
            drawn[0], drawn[1:4], [2, 5, 3], drawn[3:, :3], [0, 1, 1, 0, 1, 0]
        ),
    }


def _exact() -> dict[str, Callable[[], Any]]:
    choice = selection.PowerOfChoice(2, 4)
    return {
        "expected gaps": lambda: [
            expected_gap(
                quadratics(form),
                selection.Independent(2.3, "uniform"),
                4,
                3,
                Halving(0.11, (2, 3)),
                [0.7, -1.9],
                0.3,
                relative_noise=0.2,
                server_step_size=1.3,
            )
            for form in ("isotropic", "diagonal", "matrix")
        ],
        "frequencies": lambda: exact.selection_frequencies(choice, WEIGHTS, LOSSES),
        "floor": lambda: exact.error_floor(FED, choice).value,
        "skew": lambda: [
            exact.skew(FED, LOSSES / LOSSES.sum(), [0.3, 1.1]),
            exact.skew_extremes(FED, LOSSES / LOSSES.sum()),
        ],
        "skews": lambda: [[skew.lower, skew.upper] for skew in exact.selection_skew(FED, choice, num_models=50)],
        "rankings": lambda: exact.least_skew_over_rankings(
            np.array([0.9, 1.3, 0.8, 2.1]), np.array([0.2, 0.7, 1.1, 0.4])
        ),
    }


def _parts() -> dict[str, Callable[[], Any]]:
    return {
        "laws of strategies": lambda: [
            [getattr(strategy.law(WEIGHTS), part, 0.0) for part in ("mean", "alpha", "delta", "noise")]
            for strategy in STRATEGIES.values()
            if hasattr(strategy, "law")
        ],
        "step sizes": lambda: [
            schedule.step_sizes(5, 3) for schedule in (InverseTime(0.4, 30.0, 1.7), Halving(0.11, (2, 3)))
        ],
        "stragglers": lambda: [
            Stragglers(0.6, 4, 2, drawn=drawn, seed=3).local_steps(7, 5) for drawn in ("once", "each round")
        ],
        "privacy": lambda: privacy_noise(7, 0.9, rng=4),
        "matches": lambda: matches(
            [LOSSES, LOSSES[::-1]], [0.5, 0.0, 0.3, 0.0, 0.2, 0.0, 0.0], [0.9, 1.3], comparison="<="
        ),
        "thresholds": lambda: selection.thresholds(selection.AnnealedThreshold(0.9, 0.2), 7),
        "participation": lambda: [
            [part.attendances(7, 4), part.sizes(3, 4)]
            for part in (
                participation.UniformFraction(0.6),
                participation.PriorityDraws(2, 0.7),
                participation.Everyone(0.8),
            )
        ],
        "aligned": lambda: aligned(threshold=0.7),
        "aligned, annealed": lambda: aligned(threshold=selection.AnnealedThreshold(1.9, 0.4), warmup_rounds=1),
        "aligned, drawn": lambda: aligned(threshold=0.7, participation=participation.PriorityDraws(2, 0.7)),
    }


EXAMPLES = {**_estimates(), **_sampling(), **_valuation(), **runs.examples(), **_exact(), **_parts()}


def recorded() -> dict[str, list[Any]]:
    """Return the records by name."""
    known: dict[str, list[Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


if __name__ == "__main__":
    told = (f"{json.dumps(name)}: {json.dumps(record(value()))}" for name, value in EXAMPLES.items())
    FILE.write_text("{\n" + ",\n".join(told) + "\n}\n", encoding="utf-8")
