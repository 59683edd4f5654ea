"""What a run takes from a file that may be somebody else's: settings that only compute, of stated sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory._storage.recipes import is_restorable, restored
from fedtheory._support.wording import plain, short
from fedtheory.engine.heterogeneity import Stragglers

if TYPE_CHECKING:
    from fedtheory.engine.trajectory import Trajectory

__all__ = ["placeholder", "settings_of"]

# Threads, whom to tell, and where to write: whoever runs the file says so, and the file never.
_OF_THE_CALLER = {"num_threads", "progress", "checkpoint", "checkpoint_every"}
_NEEDED = ("fed", "strategy", "num_rounds", "step_size", "num_replicates", "rng")
# Where classes come from that a setting may be made of; the other settings are numbers, words and arrays of the file.
_PACKAGES = {
    "fed": "fedtheory.federation.",
    "validation": "fedtheory.federation.",
    "strategy": "fedtheory.selection.",
    "method": "fedtheory.methods.",
    "local_steps": "fedtheory.engine.heterogeneity:",
    "step_size": "fedtheory.engine.schedule:",
}
_NO_PACKAGE = "<"
_SEED = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
# No whole number is larger, but in a seed; nor are there more local steps, or coordinates of a model.
_LARGEST, _LARGEST_POOL = 10**8, 1024


def settings_of(saved: Trajectory, function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function that a saved run holds, with those that are given in their place."""
    form = saved.recipe.form if saved.recipe is not None else {}
    allowed = set(inspect.signature(function).parameters) - _OF_THE_CALLER
    for name in form:
        if name not in allowed:
            message = f"a recipe must hold what a run computes and nothing else, got {short(name)}"
            raise ValueError(message)
    for name in _NEEDED:
        if name not in form:
            message = f"a recipe must hold {name}, got none"
            raise ValueError(message)
    arrays = saved.recipe.arrays if saved.recipe is not None else {}
    try:
        for name, part in form.items():
            _refuse_strange(name, part)
        found = {name: restored(part, arrays) for name, part in form.items() if is_restorable(part)} | dict(given)
    except Exception as error:  # classes of fedtheory say what is wrong with their fields, and Python what else is
        problem = plain(" ".join(str(error).split()))
        message = (
            problem if isinstance(error, ValueError) else f"a recipe must be one that fedtheory wrote, got {problem}"
        )
        raise ValueError(message) from error
    if set(form) <= set(found):
        _refuse_other_sizes(saved, found)
    return found


def placeholder(form: Any) -> str:
    """Say what stands in the place of a part that cannot be made again."""
    if "digest" in form:
        return "a digest of it"
    return f"the name {plain(str(form.get('of', form.get('unknown', 'of a part'))))}"


def _refuse_strange(name: str, form: Any, *, field: str = "") -> None:
    """Raise ValueError unless a setting is made of what such a setting may be made of."""
    if isinstance(form, dict) and "list" in form:
        for part in form["list"]:
            _refuse_strange(name, part, field=field or "list")
    elif isinstance(form, dict) and "of" in form:
        if is_restorable(form) and not str(form["of"]).startswith(_PACKAGES.get(name, _NO_PACKAGE)):
            message = f"a recipe must be made of dataclasses of fedtheory, got {short(form['of'])} as {name}"
            raise ValueError(message)
        for inner, part in form["fields"].items():
            _refuse_strange(name, part, field=inner)
    elif isinstance(form, dict) and "seed" in form:
        _refuse_strange_seed(name, form["seed"], field)
    elif isinstance(form, int) and field != "seed" and abs(form) > _LARGEST:
        message = f"a recipe must hold whole numbers up to {_LARGEST}, got {short(form)} as {name}"
        raise ValueError(message)


def _refuse_strange_seed(name: str, seed: Any, field: str) -> None:
    pool = seed["pool_size"] if set(seed) == _SEED else None
    if name != "rng" or field or not (isinstance(pool, int) and pool <= _LARGEST_POOL):
        message = f"a recipe must hold one seed, as rng, got {short(seed)} as {field or name}"
        raise ValueError(message)


def _refuse_other_sizes(saved: Trajectory, found: Mapping[str, Any]) -> None:
    """Raise ValueError unless a run with these settings has the records that are there."""
    fed, rounds, every = found["fed"], found["num_rounds"], found.get("record_every", 1)
    replicates, clients = saved.counts.shape
    _same("num_replicates", found["num_replicates"], replicates)
    _same("clients of fed", getattr(fed, "num_clients", None), clients)
    _same("record", sorted(map(str, found.get("record", ("gap",)))), sorted(saved.records))
    _same("the kind of num_rounds and record_every", {type(rounds), type(every)}, {int})
    if (
        every < 1
        or rounds // every + 1 != saved.rounds.size
        or (saved.rounds != every * np.arange(saved.rounds.size)).any()
    ):
        message = (
            f"a recipe must have the sizes of the records, got {rounds} rounds, of which every {every} is recorded"
        )
        raise ValueError(message)
    dim = getattr(fed, "dim", 0)
    if "models" in saved.records:
        _same("coordinates of a model", dim, saved.records["models"].shape[2])
    most = _most_steps(found.get("local_steps", 1), clients)
    if max(dim, rounds * most) > _LARGEST:
        message = (
            f"a recipe must ask for models of at most {_LARGEST} coordinates and as many local steps, got {dim} and "
            f"{rounds} rounds of {most}"
        )
        raise ValueError(message)


def _most_steps(local_steps: Any, clients: int) -> Any:
    if isinstance(local_steps, Stragglers):
        return max(local_steps.num_epochs * local_steps.num_batches, clients)  # each of whom may have a number a round
    steps = np.asarray(local_steps)
    return steps.max() if steps.size and steps.dtype.kind in "iu" else 0  # fedavg says what is wrong with others


def _same(name: str, asked: Any, recorded: Any) -> None:
    if asked != recorded:
        message = (
            f"a recipe must have the sizes of the records, got {short(asked)} as {name}, and records of {recorded}"
        )
        raise ValueError(message)
