"""Runs within the rules of other runs, in threads, give the results that they have alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.rules import Rules

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2])


@dataclass
class Plain:
    """Chooses the two of three with the largest losses."""

    def asked(self) -> None:
        """Do nothing more in a rule."""

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        def propose(round_index, table, memory, weights, rng, candidates):  # type: ignore[no-untyped-def]
            candidates[:3] = rng.permutation(3)
            memory[0] += 1.0
            self.asked()
            return 3

        def select(round_index, table, memory, weights, candidates, losses, rng, chosen):  # type: ignore[no-untyped-def]
            chosen[:2] = candidates[np.argsort(-losses, kind="stable")[:2]]
            memory[1] += losses.sum()
            self.asked()
            return 2

        def weigh(round_index, table, memory, weights, chosen, updates, rng, coefficients):  # type: ignore[no-untyped-def]
            coefficients[:] = 0.5
            self.asked()
            return memory[0]

        def observe(round_index, table, memory, weights, chosen, coefficients, mean_losses):  # type: ignore[no-untyped-def]
            memory[2] += mean_losses.sum()
            self.asked()

        return Rules(
            select, propose=propose, weigh=weigh, observe=observe, max_selected=2, max_candidates=3,
            memory=np.zeros(3), table=np.ones(2),
        )  # fmt: skip


def run(strategy: Any, **changes: Any) -> Any:
    settings = {"num_rounds": 9, "step_size": 0.1, "gradient_noise": 0.5, "record": ("gap", "selected", "uplink")}
    return ft.fedavg(FED, strategy, **settings | changes)


@pytest.mark.slow
def test_rules_in_threads_and_within_rules_are_not_taken_for_each_other() -> None:
    alone = run(Plain(), num_replicates=4, num_threads=1)

    @dataclass
    class Asking(Plain):
        def asked(self) -> None:
            assert run(ft.selection.Full(), num_rounds=1).gap.size == 2
            assert run(Plain(), num_rounds=1).gap.size == 2

    within = run(Asking(), num_replicates=4, num_threads=2)
    assert (alone.gap == within.gap).all()
