"""An unknown attribute of a package names the nearest public one, and costs nothing until the message is read."""

import importlib
import operator
import subprocess
import sys

import pytest

import fedtheory as ft


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("PowerOfChoice", "fedtheory.selection.PowerOfChoice"),
        ("verify", "fedtheory.verification.verify"),
        ("simulate", "fedtheory.fedavg"),
        ("fedagv", "fedtheory.fedavg"),
        ("bounds.fixed_step_gap", "fedtheory.bounds.power_of_choice.fixed_step_gap"),
        ("bounds.fedavg.one_runde", "fedtheory.bounds.fedavg.one_round"),
        ("datasets.digit", "fedtheory.datasets.digits"),
        ("selection.Powerofchoice", "fedtheory.selection.PowerOfChoice"),
    ],
)
def test_the_nearest_public_name_is_named(path: str, nearest: str) -> None:
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(path)(ft)
    assert str(caught.value).endswith(f"did you mean {nearest}?")


@pytest.mark.parametrize("name", ["xyzzy", "_private"])
def test_a_name_with_nothing_near_gets_no_suggestion(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"fedtheory has no attribute '{name}'$"):
        getattr(ft, name)


PACKAGES = [
    *(name for name in ft.__all__ if name.islower() and name not in ("errors", "fedavg", "referee", "sweep")),
    *(f"bounds.{paper}" for paper in ("fedalign", "fedavg", "optimal_client_sampling", "power_of_choice")),
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_package_answers_so(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^fedtheory.{name} has no attribute '_xyzzy'$"):
        _ = importlib.import_module(f"fedtheory.{name}")._xyzzy


def test_asking_whether_there_is_such_a_name_imports_nothing() -> None:
    program = "import sys, fedtheory; hasattr(fedtheory, 'PowerOfChoice'); print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "False\n"
