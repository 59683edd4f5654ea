"""Recorded local work equals that of the run: models have the run's law, and gradients give the next model."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.claims.power_of_choice.appendix_b import first_round
from fedtheory.instances.run_draws import draw_run


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
            for step, gradient in enumerate(work.gradients):
                assert work.models[step + 1] == work.models[step] - run.step_size(step) * gradient
