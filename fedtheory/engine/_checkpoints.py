"""The file that keeps the replicates of a run, finished or under way, and tells which run that is."""

import hashlib
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage.archives import archive_bytes, archive_content
from fedtheory._storage.files import bytes_writer, place, read_bytes, writable
from fedtheory._storage.releases import made_by
from fedtheory.engine._replicates import Blank, Course, Job, Replicate, UnderWay, begun

__all__ = ["keep", "kept"]

Seeds = Sequence[np.random.SeedSequence]


def keep(path: Path, blank: Blank, seeds: Seeds, course: Course) -> None:
    """Write what there is of a run, whole or not at all."""
    places = sorted(course.finished)
    finished = [course.finished[i] for i in places]
    about = {
        "run": _identity(blank.job, seeds), "made_by": made_by(), "finished": places,
        "under_way": {i: [rng.bit_generator.state for rng in state.streams] for i, state in course.under_way.items()},
    }  # fmt: skip
    arrays: dict[str, Any] = {}
    if finished:
        arrays = {name: np.stack([getattr(one.recording, name) for one in finished]) for name in _recorded(blank)}
        arrays["counts"] = np.stack([one.counts for one in finished])
        arrays["diverged_at"] = np.array([one.diverged_at for one in finished])
    for i, state in course.under_way.items():
        arrays |= {f"{i}:{j}": written for j, written in enumerate(state.written(blank.job))}
    place(path, bytes_writer(archive_bytes(about, arrays)))


def _recorded(blank: Blank) -> list[str]:
    return [name for name in blank.recording._fields if name != "every"]


def kept(path: Path, blank: Blank, seeds: Seeds) -> Course:
    """Return what a file keeps of a run, as much as is wanted; nothing if there is no file.

    Raises
    ------
    ValueError
        If it cannot be written, is no checkpoint, or one of another run or of another fedtheory, whose bits may differ.
    """
    try:
        writable(path)
    except OSError as error:
        message = f"checkpoint must be a file that can be written, got {path} ({error.strerror or error})"
        raise ValueError(message) from error
    if not path.exists():
        return Course({}, {})
    with _readable(path):
        about, arrays = archive_content(read_bytes(path))
        found = {name: about[name] for name in ("made_by", "run")}
    for name, wanted in (("made_by", made_by()), ("run", _identity(blank.job, seeds))):
        if found[name] != wanted:
            what = f"of fedtheory {wanted}" if name == "made_by" else "of this run"
            got = f"that of {found[name]}" if name == "made_by" else "that of another"
            message = f"checkpoint must be {what}, got {got} in {path}: remove it, or name another file"
            raise ValueError(message)
    with _readable(path):
        under_way = {int(i): states for i, states in about["under_way"].items() if int(i) < len(seeds)}
        return Course(
            {i: one for i, one in _finished(blank, about["finished"], arrays) if i < len(seeds)},
            {i: _restored(begun(blank, seeds[i]), blank.job, i, arrays, states) for i, states in under_way.items()},
        )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever archives, JSON and generators say of bytes that are not theirs
        message = f"checkpoint must be one that a run wrote, got {path}, which cannot be read: remove it"
        raise ValueError(message) from error


def _finished(blank: Blank, places: list[int], arrays: dict[str, Any]) -> Iterator[tuple[int, Replicate]]:
    for row, i in enumerate(places):
        recorded = {name: arrays[name][row] for name in _recorded(blank)}
        yield i, Replicate(blank.recording._replace(**recorded), arrays["counts"][row], int(arrays["diverged_at"][row]))


def _restored(state: UnderWay, job: Job, i: int, arrays: dict[str, Any], states: list[Any]) -> UnderWay:
    """Overwrite all that rounds leave in a replicate that is about to begin."""
    for j, written in enumerate(state.written(job)):
        written[...] = arrays[f"{i}:{j}"]
    for rng, left in zip(state.streams, states, strict=True):
        rng.bit_generator.state = left
    return state


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
