"""Formatting of the numbers that define an instance, for the findings of claims."""

from collections.abc import Iterable
from typing import Any

from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.runs import Run
from fedtheory.instances.vectors import Vector

__all__: list[str] = []


def format_vectors(vectors: Iterable[Vector]) -> str:
    """Format some vectors."""
    return ", ".join(map(str, vectors))


def format_federation(fed: RationalQuadratics) -> dict[str, str]:
    """Format the numbers that define a federation."""
    return {
        "curvatures": format_vectors(fed.curvatures),
        "centers": format_vectors(fed.centers),
        "weights": str(fed.weights),
        "minima": str(fed.minima),
    }


def format_run(run: Run, **more: Any) -> dict[str, Any]:
    """Format the numbers that define a run; ``more`` describes the selection."""
    return {
        **format_federation(run.federation),
        **more,
        "local_steps": run.local_steps,
        "num_steps": run.num_steps,
        "first_step_size": str(run.step_size(0)),
        "initial": str(run.initial),
        "noise": "; ".join(f"{value} with probability {chance}" for value, chance in run.noise.items()),
    }
