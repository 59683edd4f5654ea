"""Type checkers see the names of the package and the arguments of a bound."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT

SCRIPT = """
# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# (arguments of bounds have names, but no types)
from fractions import Fraction

import numpy as np

import fedtheory as ft
from fedtheory.bounds import power_of_choice as poc
from fedtheory.theorem import Bound

data = ft.datasets.synthetic(1, 1, num_clients=3, rng=0)
strategy = ft.selection.PowerOfChoice(1, 2)
quadratic = ft.datasets.power_of_choice_quadratics(num_clients=3)
run = ft.fedavg(quadratic, strategy, num_rounds=1, step_size=ft.engine.Halving(1.0, (8,)))
ft.fedavg(ft.SoftmaxFederation(data, l2=0.1), strategy, num_rounds=1, step_size=0.1)
ft.fedavg(ft.PerceptronFederation(data, (5,)), strategy, num_rounds=1, step_size=0.1, record=("loss",))
print(run.gap, ft.exact.selection_skew(quadratic, strategy).rho_bar.upper)
print(ft.exact.error_floor(quadratic, strategy).value)
print(ft.verification.verify("power-of-choice:lemma-b1")[0].verdict)
exact: Fraction = poc.client_drift(Fraction(1, 2), local_steps=3, G2=1)
print(poc.client_drift(np.array([0.5, 0.25]), local_steps=3, G2=1.0), poc.decaying_step_sizes(3, mu=1.0, L=2.0))
value, unmet = poc.client_drift(0.5, local_steps=3, G2=1.0, strict=False)
print(poc.client_drift.terms(0.5, local_steps=3, G2=1.0), poc.client_drift.statement.number, unmet[:1])
recursion: Bound = poc.one_step
poc.client_drift(0.5, local_steps=3, G2=1.0, wrong=2)  # type: ignore[call-overload]
poc.client_drift(0.5, local_steps=3)  # type: ignore[call-overload]
poc.client_drift.terms(0.5, local_steps=3)  # type: ignore[call-overload]
ft.fedavg(quadratic, strategy, num_rounds=1)  # type: ignore[call-arg]
ft.bounds.power_of_choice.no_such_bound  # type: ignore[attr-defined]
ft.theorem.no_such_name  # type: ignore[attr-defined]
ft.verification.no_such_name  # type: ignore[attr-defined]
ft.fedavgg  # type: ignore[attr-defined]
loss: float = quadratic.loss([0.0] * 5)
losses: list[float] = quadratic.loss(np.zeros((3, 5))).tolist()
ft.selection.PowerOfChoice(1, 2, loss="lost")  # type: ignore[arg-type]
ft.fedavg(quadratic, strategy, num_rounds=1, step_size=0.1, record=["gaps"])  # type: ignore[list-item]
ft.fedavg(quadratic, strategy, num_rounds=1, step_size=0.1, batches="steps")  # type: ignore[arg-type]
ft.sweep(3, {"d": [3, 9]})  # type: ignore[arg-type]
ft.worst_case.compare(poc.gradient_norm, excess=0.5, L=1)  # type: ignore[arg-type]
ft.methods.Scaffold(control_variates={})  # type: ignore[arg-type]
ft.selection.LossMatching([True, False], [1.0, 1.0], threshold="large")  # type: ignore[arg-type]
ft.selection.LossMatching([True, False], [1.0, 1.0], match="losses")  # type: ignore[arg-type]
"""


@pytest.mark.slow  # mypy reads the library and NumPy from nothing
def test_mypy_finds_each_mistake_of_a_script_and_nothing_else(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(SCRIPT, encoding="utf-8")
    # Strict, mypy reports a comment that ignores no error: so each line that is wrong is seen.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "Success" in done.stdout, done.stdout + done.stderr
