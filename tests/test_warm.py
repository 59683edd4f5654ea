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
