"""The file that keeps the finished replicates of a run, and tells which run that is."""

import hashlib
import inspect
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._files import bytes_writer, place
from fedtheory._releases import made_by
from fedtheory.engine._replicates import Job, Replicate
from fedtheory.engine.contract import recording

__all__ = ["keep", "kept"]

Seeds = Sequence[np.random.SeedSequence]


def keep(path: Path, job: Job, seeds: Seeds, finished: Sequence[Replicate]) -> None:
    """Write the finished replicates, whole or not at all."""
    about = {"run": _identity(job, seeds), "made_by": made_by(), "finished": len(finished)}
    names = [name for name in finished[0].recording._fields if name != "every"]
    arrays: dict[str, Any] = {
        name: np.stack([getattr(replicate.recording, name) for replicate in finished]) for name in names
    }
    stream = io.BytesIO()
    np.savez(
        stream, about=np.array(json.dumps(about)), counts=np.stack([replicate.counts for replicate in finished]),
        diverged_at=np.array([replicate.diverged_at for replicate in finished]), **arrays,
    )  # fmt: skip
    place(path, bytes_writer(stream.getvalue()))


def kept(path: Path, job: Job, seeds: Seeds) -> list[Replicate]:
    """Return the replicates that a file keeps, as many as are wanted; none if there is no file.

    Raises
    ------
    ValueError
        If it is no checkpoint, or one of another run or of another fedtheory, whose bits may differ.
    """
    if not path.exists():
        return []
    about, arrays = _read(path)
    for name, wanted in (("made_by", made_by()), ("run", _identity(job, seeds))):
        if about[name] != wanted:
            what = f"of fedtheory {wanted}" if name == "made_by" else "of this run"
            got = f"that of {about[name]}" if name == "made_by" else "that of another"
            message = f"checkpoint must be {what}, got {got} in {path}: remove it, or name another file"
            raise ValueError(message)
    number = min(len(seeds), about["finished"])
    counts, diverged_at = arrays.pop("counts"), arrays.pop("diverged_at")
    blank = recording(job.record, job.every, job.num_recorded, job.sizes)
    return [
        Replicate(
            blank._replace(**{name: values[i] for name, values in arrays.items()}), counts[i], int(diverged_at[i])
        )
        for i in range(number)
    ]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return json.loads(str(arrays.pop("about"))), arrays
    except (EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        message = f"checkpoint must be one that a run wrote, got {path}, which cannot be read: remove it"
        raise ValueError(message) from error


def _identity(job: Job, seeds: Seeds) -> str:
    """Digest of all that the bits of the first replicate depend on; the others follow from the same seed."""
    digest = hashlib.sha256()
    parts = (
        job.family.arrays, job.family.reference, job.family.losses, job.family.train, job.family.excess,
        None if job.validation is None else job.validation.arrays, tuple(vars(job.rules).items()), job.weights,
        tuple(job.work), job.initial, job.step_sizes, job.local_steps, job.own_steps, job.returned_noise,
        job.server_step_size, job.record, job.every, seeds[0].entropy, seeds[0].spawn_key,
    )  # fmt: skip
    _absorb(digest, parts)
    return digest.hexdigest()


def _absorb(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        digest.update(f"{len(value)}(".encode())
        for part in value:
            _absorb(digest, part)
    elif callable(value):
        # A strategy has no text of its own that is the same in every process; what its rules do is compared instead.
        code = getattr(value, "py_func", value)
        code = code.__code__ if inspect.isfunction(code) else type(code).__call__.__code__
        constants = [constant for constant in code.co_consts if isinstance(constant, int | float | str)]
        digest.update(f"{code.co_name}{code.co_code.hex()}{constants}".encode())
    else:
        digest.update(f"{value!r};".encode())
