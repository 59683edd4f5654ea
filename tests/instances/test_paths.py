"""Local work on record is that of the run: its models have the run's law, its gradients lead from each to the next."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.rational._paths import first_round
from fedtheory.rational._run_draws import draw_run
from fedtheory.rational.vectors import difference, scaled


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_models_on_record_have_the_law_of_the_run(seed: int) -> None:
    drawn = draw_run(np.random.default_rng(seed), longest_round=4).run
    run = replace(drawn, num_steps=drawn.local_steps)
    recorded = first_round(run)
    (end,) = {len(work.models) - 1 for works in recorded for work in works}
    assert end == run.local_steps
    for step in range(run.local_steps):
        snapshot = run.snapshots[step].map(lambda at: at.local)
        assert recorded.map(lambda works, at=step: tuple(work.models[at] for work in works)) == snapshot


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_each_gradient_on_record_leads_to_the_next_model(seed: int) -> None:
    run = draw_run(np.random.default_rng(seed), longest_round=4).run
    for works in first_round(run):
        for work in works:
            moved = [scaled(run.step_size(step), gradient) for step, gradient in enumerate(work.gradients)]
            assert list(work.models[1:]) == list(map(difference, work.models, moved))
