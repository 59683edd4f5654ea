"""What a run was made from, as words and arrays that a file can keep, and made again from these."""

import dataclasses
import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory._storage.digests import digest_of
from fedtheory._storage.provenance import provenance
from fedtheory._support.wording import short

__all__ = ["Recipe", "arrays_of", "is_restorable", "recipe_of", "restored", "serialized"]

_OWN = "fedtheory."


@dataclass(frozen=True, eq=False)
class Recipe:
    """The federation, the strategy and the settings of a run: a form in words, and the arrays that it names.

    ``made_by`` says on what the run was made, where that is known, and otherwise it is made here.
    """

    form: Mapping[str, Any]
    arrays: Mapping[str, Any]
    made_by: Mapping[str, str] | None = None

    @property
    def provenance(self) -> dict[str, str]:
        """Versions, machine and commit of the run."""
        return provenance() if self.made_by is None else dict(self.made_by)

    @property
    def by_content(self) -> "Recipe":
        """The same recipe whose arrays have digests of what they hold for names."""
        names = {name: digest_of(array)[:32] for name, array in self.arrays.items()}
        arrays = {names[name]: array for name, array in self.arrays.items()}
        return dataclasses.replace(self, form=_renamed(self.form, names), arrays=arrays)

    def digest(self, part: str) -> str:
        """Digest of a part of the form with its arrays, by which a federation that is not kept is known again."""
        form = self.by_content.form[part]
        if isinstance(form, dict) and "digest" in form:
            return str(form["digest"])
        return hashlib.sha256(json.dumps(form, sort_keys=True).encode()).hexdigest()

    def without(self, part: str) -> "Recipe":
        """Return the recipe with the digest of a part in its place."""
        form = {**self.form, part: {"digest": self.digest(part)}}
        used = arrays_of(form)
        return dataclasses.replace(self, form=form, arrays={n: a for n, a in self.arrays.items() if n in used})


def recipe_of(settings: Mapping[str, Any], seed: np.random.SeedSequence, step_sizes: Any) -> Recipe:
    """Write down the arguments of a run; a seed sequence as it is before it spawns.

    A schedule of the user's own is written down as its step sizes.
    """
    arrays: dict[str, Any] = {}
    form = {name: serialized(value, arrays) for name, value in settings.items()}
    if not is_restorable(form["step_size"]):
        form["step_size"] = serialized(step_sizes, arrays)
    names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
    form["rng"] = {"seed": {name: serialized(getattr(seed, name), arrays) for name in names}}
    return Recipe(form, arrays)


def serialized(value: Any, arrays: dict[str, Any]) -> Any:
    """Return a value in words, numbers, lists and dictionaries; arrays get a name and are put into ``arrays``.

    >>> serialized((1, 0.5, "x", None), {})
    {'list': [1, 0.5, 'x', None]}
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        name = f"array_{len(arrays)}"
        arrays[name] = value.copy() if value.flags.writeable else value
        return {"array": name}
    if isinstance(value, tuple | list):
        return {"list": [serialized(part, arrays) for part in value]}
    kind = f"{type(value).__module__}:{type(value).__qualname__}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"of": kind, "fields": {name: serialized(part, arrays) for name, part in parts.items()}}
    return {"unknown": kind}


def is_restorable(form: Any) -> bool:
    """Whether what was written down can be made again: it has no parts from outside this package."""
    if isinstance(form, dict):
        if "unknown" in form or "digest" in form or not str(form.get("of", _OWN)).startswith(_OWN):
            return False
        return all(map(is_restorable, form.values()))
    return all(map(is_restorable, form)) if isinstance(form, list) else True


def restored(form: Any, arrays: Mapping[str, Any]) -> Any:
    """Make a value again from what was written down; classes are taken from this package only."""
    if not isinstance(form, dict):
        return form
    if "array" in form:
        return arrays[form["array"]]
    if "list" in form:
        return tuple(restored(part, arrays) for part in form["list"])
    if "seed" in form:
        return np.random.SeedSequence(**{name: restored(part, arrays) for name, part in form["seed"].items()})
    module, _, name = str(form["of"]).partition(":")
    kind = getattr(importlib.import_module(module), name, None) if module.startswith(_OWN) else None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        message = f"a recipe must be made of dataclasses of fedtheory, got {short(form['of'])}"
        raise ValueError(message)
    return kind(**{name: restored(part, arrays) for name, part in form["fields"].items()})


def arrays_of(form: Any) -> set[str]:
    """Names of the arrays that a form needs."""
    if isinstance(form, Mapping):
        return {form["array"]} if "array" in form else arrays_of(list(form.values()))
    return set().union(*map(arrays_of, form)) if isinstance(form, list) else set()


def _renamed(form: Any, names: Mapping[str, str]) -> Any:
    if isinstance(form, list):
        return [_renamed(part, names) for part in form]
    if not isinstance(form, Mapping):
        return form
    if "array" in form:
        return {"array": names[form["array"]]}
    return {name: _renamed(part, names) for name, part in form.items()}
