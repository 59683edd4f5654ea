"""``fedtheory warm`` compiles everything that runs need in a later process."""

import os
import subprocess
import sys

import pytest

from tests.environment import ROOT

RUNS = """
import numpy as np
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, started): compiled.append(str(started.data.get("dispatcher")))
    def on_end(self, ended): pass
event.register("numba:compile", Listener())
import fedtheory as ft
data = ft.federation.FederatedData.from_clients([(np.ones((4, 2)) * k, [0, 1, 1, 0]) for k in range(9)])
for fed in (
    ft.QuadraticFederation(np.ones(9), np.arange(18.0).reshape(9, 2), np.full(9, 1 / 9)),
    ft.SoftmaxFederation(data, l2=0.2),
    ft.PerceptronFederation(data, hidden=(5,)),
):
    for strategy in (ft.selection.Full(), ft.selection.PowerOfChoice(3, 5), ft.selection.GreedyShapley(2)):
        validation = fed if isinstance(strategy, ft.selection.GreedyShapley) else None
        if validation is None or isinstance(fed, ft.SoftmaxFederation):
            ft.fedavg(fed, strategy, num_rounds=3, step_size=0.1, record=("loss",), validation=validation)
ft.sampling.optimal_probabilities(np.ones(20), 3.0)
ft.sampling.power_of_choice_inclusion(np.ones(20), np.arange(20.0), num_selected=2, num_candidates=3)
print(compiled)
"""


@pytest.mark.slow  # compiles everything: some minutes
@pytest.mark.long
def test_after_warm_nothing_is_compiled(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for command in (["-m", "fedtheory", "warm"], ["-c", RUNS]):
        done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


FIRST_RUN = """
import time
import fedtheory as ft
from fedtheory.engine.contract import LocalWork
from fedtheory.engine.families import layout
data = ft.federation.FederatedData.from_clients([([[0.0], [1.0]], [0, 1])] * 3)
fed = {"quadratic": lambda: ft.QuadraticFederation([1.0] * 3, [[0.0], [1.0], [2.0]], [1 / 3] * 3),
       "softmax": lambda: ft.SoftmaxFederation(data, l2=0.1)}[KIND]()
work = LocalWork(0.0, 0.0, 0.0, 0.0, batch_size=0, by_epoch=False, track_losses=False)
stated, start = layout(fed, work).compilation, time.process_time()
ft.fedavg(fed, ft.selection.PowerOfChoice(1, 2), num_rounds=1, step_size=0.1, record=("loss",))
print((time.process_time() - start) / stated)
"""


@pytest.mark.slow  # compiles two kinds of runs
@pytest.mark.long
def test_the_stated_times_of_compilation_are_proportional_to_the_measured_ones_within_a_factor_of_two(tmp_path):
    factors = []
    for kind in ("quadratic", "softmax"):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / kind), "PYTHONPATH": str(ROOT)}
        program = FIRST_RUN.replace("KIND", repr(kind))
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        factors.append(float(done.stdout))
    assert max(factors) < 2 * min(factors)
