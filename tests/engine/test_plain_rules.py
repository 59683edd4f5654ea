"""Rules in plain Python own their arguments and have no side effects."""

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.rules import Rules
from tests.environment import PLAIN_PYTHON

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2])


@dataclass
class Keeping:
    """Chooses the two of three with the largest losses, keeps all that it is handed, and spoils it later on."""

    spoils: bool = False
    kept: list[Any] = field(default_factory=list)
    copies: list[Any] = field(default_factory=list)

    def keep(self, *handed: Any) -> None:
        if self.spoils:
            for array in self.kept:
                if array.flags.writeable:
                    array[...] = 0
        arrays = [value for value in handed if isinstance(value, np.ndarray)]
        self.kept += arrays
        self.copies += [array.copy() for array in arrays]

    def rules(self, weights: Any, num_rounds: int) -> Rules:
        def propose(round_index, table, memory, weights, rng, candidates):  # type: ignore[no-untyped-def]
            candidates[:3] = rng.permutation(3)
            memory[0] += 1.0
            self.keep(table, memory, weights, candidates)
            return 3

        def select(round_index, table, memory, weights, candidates, losses, rng, chosen):  # type: ignore[no-untyped-def]
            chosen[:2] = candidates[np.argsort(-losses, kind="stable")[:2]]
            memory[1] += losses.sum()
            self.keep(table, memory, weights, candidates, losses, chosen)
            return 2

        def weigh(round_index, table, memory, weights, chosen, updates, rng, coefficients):  # type: ignore[no-untyped-def]
            coefficients[:] = 0.5
            self.keep(table, memory, weights, chosen, updates, coefficients)
            return memory[0]

        def observe(round_index, table, memory, weights, chosen, coefficients, mean_losses):  # type: ignore[no-untyped-def]
            memory[2] += mean_losses.sum()
            self.keep(table, memory, weights, chosen, coefficients, mean_losses)

        return Rules(
            select, propose=propose, weigh=weigh, observe=observe, max_selected=2, max_candidates=3,
            memory=np.zeros(3), table=np.ones(2),
        )  # fmt: skip


def run(strategy: Any, **changes: Any) -> Any:
    settings = {"num_rounds": 9, "step_size": 0.1, "gradient_noise": 0.5, "record": ("gap", "selected", "uplink")}
    return ft.fedavg(FED, strategy, **settings | changes)


@pytest.mark.slow
def test_rules_in_threads_and_within_rules_are_not_taken_for_each_other() -> None:
    alone = run(Keeping(), num_replicates=4, num_threads=1)

    @dataclass
    class Asking(Keeping):
        def keep(self, *handed: Any) -> None:
            assert run(ft.selection.Full(), num_rounds=1).gap.size == 2
            assert run(Keeping(), num_rounds=1).gap.size == 2

    within = run(Asking(), num_replicates=4, num_threads=2)
    assert (alone.gap == within.gap).all()


GROWING = """
import sys
from pathlib import Path
from tests.engine.test_plain_rules import Keeping, run

def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

for _ in range(5):
    run(Keeping())
before = pages()
for _ in range(60):
    run(Keeping())
sys.stdout.write(str((pages() - before) * 4096 / 60))
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON or sys.platform != "linux", reason="needs a compiler, and pages as Linux counts them")
def test_a_rule_that_is_made_for_every_run_leaves_nothing_behind() -> None:
    done = subprocess.run([sys.executable, "-c", GROWING], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1e5  # 2.4e6 for each rule when its code was compiled in
