"""Long runs that are kept in a folder as they end, so that a study that was stopped continues."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset


def kept(folder: str | None, name: str, function: "Callable[..., Dataset]", seed: int, **arguments: Any) -> "Dataset":
    """Return what a function returns, from a folder of that name and seed if the same call has ended before."""
    if folder is None:
        return function(seed=seed, **arguments)
    grid = {argument: [value] for argument, value in arguments.items()}
    found = ft.sweep(function, grid, seeds=[seed], backend="sequential", out=f"{folder}/{name}/{seed}")
    if found.failures:
        message = f"{folder}/{name}/{seed} must hold a run that ended, got {found.failures[0].error}"
        raise ValueError(message)
    return found.data.squeeze(drop=True)
