"""Laws of selections: number of draws, seeds, reference laws, and first rounds."""

from typing import Any

import numpy as np

from fedtheory.conformance import check_strategy
from fedtheory.selection.power_of_choice import PowerOfChoice


def test_of_weights_of_ones_own_nothing_is_asked_that_needs_others() -> None:
    def largest(rng, weights, losses):
        return np.lexsort((rng.random(4), losses))[-2:]

    options: dict[str, Any] = {"like": PowerOfChoice(2, "all"), "num_clients": 4, "num_draws": 150}
    own = check_strategy.checks(largest, weights=[0.4, 0.3, 0.2, 0.1], **options)
    others = {"zero weights", "relabeling", "fair ties", "many clients"}
    assert {check.name for check in check_strategy.checks(largest, **options)} - {check.name for check in own} == others
    assert [check.failure() for check in own] == [None] * len(own)
