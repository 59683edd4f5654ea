"""What the laboratory of rational numbers knows of runs and rounds, on draws of several steps, clients and paths."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fedtheory.rational import alignment_draws, constants, paths, round_draws, rounds, run_draws
from fedtheory.rational.alignment import drawn_averages
from fedtheory.rational.averaging import RationalRun
from fedtheory.rational.sampled_rounds import SampledRound

RUNS = 10


def of_run(run: Any) -> list[Any]:
    """Return the constants of a run, and where it stands after each step."""
    steps, after = range(run.num_steps + 1), min(run.local_steps, run.num_steps - 1)
    snapshots = [law for law in run.snapshots if law is not None]
    return [
        constants.constants_of(run),
        constants.initial_distance2(run),
        constants.active_gradient_bound(run, 0, run.num_steps),
        constants.observed_gradient_bound(run),
        constants.observed_gradient_bound(run, after, run.num_steps),
        constants.client_gradient_bound(run),
        constants.client_gradient_bound(run, (run.federation.minimizer, run.initial)),
        [[value(run, step) for step in steps] for value in (rounds.distance2, rounds.gap, rounds.elapsed)],
        [[law.mean(lambda at: at.drift), law.mean(lambda at: at.displacement)] for law in snapshots],
        [law.mean(lambda at: at.spread(run.initial)) for law in snapshots],
    ]


def of_averaging(run: RationalRun) -> list[Any]:
    """Return the skews of a run, too, and how much of its first round there is to follow."""
    at = run.federation.rounded()
    return [*of_run(run), constants.observed_skews(run), len(paths.first_round(run)), at.curvatures, at.centers]


def of_alignment(run: Any) -> list[Any]:
    """Return whom a run includes, too."""
    averages = [drawn_averages(run, at) for at in run.snapshots[-1]]
    return [*of_run(run), run.priority_weights, run.included_gaps, run.squared_weights, averages]


def of_round(drawn: SampledRound) -> list[Any]:
    """Return the moments of a round."""
    moments = [drawn.second_moment, drawn.squared_weight_update2, drawn.mean_update2, drawn.gamma, drawn.drift]
    return [*moments, drawn.local_step_size, drawn.constants, drawn.gradients(), drawn.estimates.mean(lambda g: g[0])]


def drawn(draw: Callable[..., Any], of: Callable[[Any], Any], part: str, **options: Any) -> list[Any]:
    """Return what is known of some that are drawn."""
    rng = np.random.default_rng(11)
    return [of(getattr(draw(rng, **options), part)) for _ in range(RUNS)]


def examples() -> dict[str, Callable[[], Any]]:
    """Return what is known by name."""
    weighted = {"laws": run_draws.WEIGHTED_LAWS, "smallest_cohort": 2, "longest_round": 2}
    runs = {
        "runs": partial(drawn, run_draws.draw_run, of_averaging, "run"),
        "runs with weights": partial(drawn, run_draws.draw_run, of_averaging, "run", **weighted),
        "alignment": partial(drawn, alignment_draws.draw_alignment, of_alignment, "run", most_draws=2),
        "rounds": partial(drawn, round_draws.draw_quadratic_round, of_round, "round", longest_round=2),
        "rounds of wells": partial(drawn, round_draws.draw_phi_round, of_round, "round", longest_round=2),
    }
    return {f"known of rational {name}": known for name, known in runs.items()}
