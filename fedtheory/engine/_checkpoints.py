"""File with the finished replicates of a run."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage.files import OtherFileError, place
from fedtheory._storage.identity import UnidentifiedError, identities
from fedtheory._storage.netcdf import file_bytes, read_file
from fedtheory._storage.provenance import code_version
from fedtheory.engine._replicates import Job, Replicate

__all__ = ["Checkpoint"]

_FORM = "fedtheory checkpoint 3"
# These follow from the strategy and the method.
_DERIVED = ("rules", "method_rules")


class Checkpoint:
    """Checkpoint file of one run; the file of another run is rejected.

    Raises
    ------
    ValueError
        If the run cannot be identified, or the file belongs to another run or cannot be read or written.
    """

    def __init__(self, path: Path, job: Job, seeds: Sequence[np.random.SeedSequence]) -> None:
        self.path, self.identity = path, _identity(job, seeds)
        self.shapes = {name: shape for name, shape in job.recorded_shapes.items() if np.prod(shape)}
        self.empty = {name: np.empty(shape) for name, shape in job.recorded_shapes.items() if not np.prod(shape)}
        try:
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            message = f"checkpoint must be a file that can be written, got {path} ({error.strerror or error})"
            raise ValueError(message) from error

    def load(self) -> dict[int, Replicate]:
        """Return the replicates by the index of their seeds; empty if there is no file."""
        if not self.path.exists():
            return {}
        try:
            found = read_file(self.path, _FORM)
            self._refuse_other(found.attrs)
            return self._replicates({str(name): one.values for name, one in found.variables.items()})
        except OtherFileError as error:
            message = f"checkpoint must be one that a run wrote, got {self.path}, {error}: remove it"
            raise ValueError(message) from error

    def save(self, finished: Mapping[int, Replicate]) -> None:
        """Write the replicates atomically; nothing is written if there are none."""
        if not finished:
            return
        import xarray

        ones = [finished[i] for i in sorted(finished)]
        arrays = {name: np.stack([one.recording[name] for one in ones]) for name in self.shapes}
        arrays |= {
            "replicate": np.array(sorted(finished)),
            "counts": np.stack([one.counts for one in ones]),
            "diverged_at": np.array([one.diverged_at for one in ones]),
        }
        variables = {
            name: (("replicate", *(f"{name}_{axis}" for axis in range(1, values.ndim))), values)
            for name, values in arrays.items()
        }
        attrs = {"identity": self.identity, "fedtheory": code_version()}
        place(self.path, file_bytes(xarray.Dataset(variables, attrs=attrs), _FORM))

    def _refuse_other(self, attrs: Mapping[str, Any]) -> None:
        if attrs.get("identity") == self.identity:
            return
        version = attrs.get("fedtheory")
        wanted, got = "of this run", "that of another"
        if version != code_version():
            wanted, got = f"of fedtheory {code_version()}", f"that of {version}"
        message = f"checkpoint must be {wanted}, got {got} in {self.path}: remove it, or name another file"
        raise ValueError(message)

    def _replicates(self, arrays: Mapping[str, Any]) -> dict[int, Replicate]:
        places = arrays.get("replicate", np.empty(0))
        shapes = {**self.shapes, "counts": arrays.get("counts", places).shape[1:], "diverged_at": ()}
        is_whole = places.ndim == 1 and places.dtype.kind == "i" and len(set(places.tolist())) == places.size
        if not is_whole or any(
            name not in arrays or arrays[name].shape != (places.size, *shape) for name, shape in shapes.items()
        ):
            message = "whose arrays are others than its run writes"
            raise OtherFileError(message)
        return {
            i: Replicate(
                {**self.empty, **{name: arrays[name][row] for name in self.shapes}},
                arrays["counts"][row],
                int(arrays["diverged_at"][row]),
            )
            for row, i in enumerate(places.tolist())
        }


def _identity(job: Job, seeds: Sequence[np.random.SeedSequence]) -> str:
    """Return a digest of everything that determines the replicates; their seeds are spawned from one sequence."""
    parts = {field.name: getattr(job, field.name) for field in fields(job) if field.name not in _DERIVED}
    try:
        [found] = identities([[parts, seeds[0].entropy, seeds[0].spawn_key, seeds[0].pool_size]])
    except UnidentifiedError as error:
        message = f"checkpoint must be None for a run that cannot be identified: {error}"
        raise ValueError(message) from error
    return found
