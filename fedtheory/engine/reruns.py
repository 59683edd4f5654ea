"""Run a saved run again, from its file alone, and say whether the bits are the same."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._storage.digests import difference, unlike
from fedtheory._storage.provenance import changes, provenance
from fedtheory._storage.recipes import Recipe, recipe_of
from fedtheory._support.summary import Summary
from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.engine._received import placeholder, settings_of
from fedtheory.engine.simulation import fedavg
from fedtheory.engine.trajectory import Trajectory
from fedtheory.federation.protocol import Federation
from fedtheory.selection.rules import Strategy

__all__ = ["Rerun", "rerun"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Rerun:
    """A run that was made again.

    Attributes
    ----------
    run
        The new run.
    differences
        What differs from the saved one, a sentence for each record; none if all bits are the same.
    changes
        What is different now that bits can depend on: versions, machine, git commit.
    """

    run: Trajectory
    differences: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether every bit of the saved run came out again."""
        return not self.differences

    def __repr__(self) -> str:
        rows = {"differs": "; ".join(self.differences), "since then": "; ".join(self.changes)}
        title = "Rerun: the same bits" if self.identical else "Rerun: other bits"
        return Summary(title, {name: text for name, text in rows.items() if text}).text


def rerun(
    path: str | Path,
    *,
    fed: Federation | None = None,
    strategy: Strategy | None = None,
    num_threads: int | None = None,
    progress: bool | Callable[[int], Any] | None = None,
) -> Rerun:
    """Run a saved run again: federation, strategy, schedule, start and seed are in its file.

    On the same platform, with the same versions, all bits come out again; what changed is said otherwise.

    Parameters
    ----------
    path
        What `Trajectory.save` wrote.
    fed, strategy
        Needed only where the file does not hold them: a federation that was left out when the run was saved, and parts
        from outside fedtheory, of which the file knows a digest.
    num_threads, progress
        As for `fedavg`.

    Returns
    -------
    Rerun
        The new run, what differs from the saved one, and what changed since.

    Raises
    ------
    ValueError
        If the file holds no run that can be made again, or not the federation or strategy that was given. A file may be
        somebody else's: of what it holds, the settings of `fedavg` are taken that only compute, never a file to write,
        with as many rounds, replicates, clients and coordinates as its own records have, at most 1e8 local steps.

    Examples
    --------
    >>> import tempfile
    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fedavg(fed, Full(), num_rounds=1, step_size=0.5, initial=[1.0]).save(f"{folder}/run.nc")
    ...     again = rerun(f"{folder}/run.nc")
    >>> again, again.run.gap
    (Rerun: the same bits, array([[0.5  , 0.125]]))
    """
    saved = Trajectory.load(path)
    recipe = saved.recipe
    if recipe is None:
        message = f"path must be the file of a run that fedavg made, got {path}, which holds no recipe"
        raise ValueError(message)
    given = {name: value for name, value in (("fed", fed), ("strategy", strategy)) if value is not None}
    try:
        arguments = settings_of(saved, fedavg, given)
    except ValueError as error:
        message = f"path must be the file of a run that fedavg made, got {path}: {error}"
        raise ValueError(message) from error
    for name in ("fed", "strategy"):
        if name not in arguments:
            message = f"{name} must be given, as {path} holds {placeholder(recipe.form[name])} only"
            raise ValueError(message)
    for name in set(recipe.form) - set(arguments):
        message = f"a run can be made again from parts of fedtheory, got {name} as {placeholder(recipe.form[name])}"
        raise ValueError(message)
    _refuse_others(recipe, arguments)
    run = fedavg(**arguments, num_threads=num_threads, progress=progress)
    return Rerun(run, differences(saved, run), changes(recipe.provenance, provenance()))


def differences(saved: Trajectory, run: Trajectory) -> tuple[str, ...]:
    """Say in which records two runs differ, from which round on, and by how much.

    >>> from fedtheory.engine.simulation import fedavg
    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> once, longer = (fedavg(fed, Full(), num_rounds=2, step_size=size, initial=[8.0]) for size in (0.5, 0.25))
    >>> differences(once, once), len(differences(once, longer))
    ((), 1)
    """
    found = []
    for name, then in saved.records.items():
        now = run.recorded(name)
        since = f" from round {_first_round(then, now, saved.rounds)} on" if then.shape == now.shape else ""
        found.append(difference(name, then, now, since))
    found.append(difference("counts", saved.counts, run.counts))
    return tuple(filter(None, found))


def _first_round(then: Array, now: Array, rounds: npt.NDArray[np.int64]) -> int:
    other = unlike(then, now)
    return int(rounds[np.argmax(other.any(axis=(0, *range(2, other.ndim))))])


def _refuse_others(recipe: Recipe, arguments: Mapping[str, Any]) -> None:
    """Raise ValueError unless the federation and the strategy are those of the recipe."""
    known = {name: arguments[name] for name in ("fed", "strategy")}
    found = recipe_of({**known, "step_size": 1.0}, np.random.SeedSequence(0), 1.0)
    for name, value in known.items():
        if found.digest(name) != recipe.digest(name):
            message = f"{name} must be that of the saved run, got another one, {short(value)}"
            raise ValueError(message)
