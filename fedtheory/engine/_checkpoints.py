"""The checkpoint of a run: its replicates, finished or running, and a digest that tells which run that is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory._storage.archives import archive_bytes, archive_content
from fedtheory._storage.digests import digest_of
from fedtheory._storage.files import place, read_bytes, writable
from fedtheory._storage.releases import made_by
from fedtheory.engine._replicates import Job, Replicate, Replicates, Running, Template, start

__all__ = ["load_checkpoint", "save_checkpoint"]

Seeds = Sequence[np.random.SeedSequence]


def save_checkpoint(path: Path, template: Template, seeds: Seeds, replicates: Replicates) -> None:
    """Write the replicates of a run, whole or not at all."""
    places = sorted(replicates.finished)
    finished = [replicates.finished[i] for i in places]
    about = {
        "run": _identity(template.job, seeds), "made_by": made_by(), "finished": places,
        "running": {i: [rng.bit_generator.state for rng in state.streams] for i, state in replicates.running.items()},
    }  # fmt: skip
    arrays: dict[str, Any] = {}
    if finished:
        arrays = {name: np.stack([getattr(one.recording, name) for one in finished]) for name in _recorded(template)}
        arrays["counts"] = np.stack([one.counts for one in finished])
        arrays["diverged_at"] = np.array([one.diverged_at for one in finished])
    for i, state in replicates.running.items():
        arrays |= {f"{i}:{j}": written for j, written in enumerate(state.written(template.job))}
    place(path, archive_bytes(about, arrays))


def _recorded(template: Template) -> list[str]:
    return [name for name in template.recording._fields if name != "every"]


def load_checkpoint(path: Path, template: Template, seeds: Seeds) -> Replicates:
    """Return the replicates in a checkpoint that have a seed; none if there is no file.

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
        return Replicates({}, {})
    with _readable(path):
        about, arrays = archive_content(read_bytes(path))
        found = {name: about[name] for name in ("made_by", "run")}
    for name, wanted in (("made_by", made_by()), ("run", _identity(template.job, seeds))):
        if found[name] != wanted:
            what = f"of fedtheory {wanted}" if name == "made_by" else "of this run"
            got = f"that of {found[name]}" if name == "made_by" else "that of another"
            message = f"checkpoint must be {what}, got {got} in {path}: remove it, or name another file"
            raise ValueError(message)
    with _readable(path):
        running = {int(i): states for i, states in about["running"].items() if int(i) < len(seeds)}
        return Replicates(
            {i: one for i, one in _finished(template, about["finished"], arrays) if i < len(seeds)},
            {i: _restored(start(template, seeds[i]), template.job, i, arrays, states) for i, states in running.items()},
        )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever archives, JSON and generators say of bytes that are not theirs
        message = f"checkpoint must be one that a run wrote, got {path}, which cannot be read: remove it"
        raise ValueError(message) from error


def _finished(template: Template, places: list[int], arrays: dict[str, Any]) -> Iterator[tuple[int, Replicate]]:
    for row, i in enumerate(places):
        recorded = {name: arrays[name][row] for name in _recorded(template)}
        yield (
            i,
            Replicate(template.recording._replace(**recorded), arrays["counts"][row], int(arrays["diverged_at"][row])),
        )


def _restored(state: Running, job: Job, i: int, arrays: dict[str, Any], states: list[Any]) -> Running:
    """Overwrite all that rounds leave in a replicate that is about to begin."""
    for j, written in enumerate(state.written(job)):
        written[...] = arrays[f"{i}:{j}"]
    for rng, left in zip(state.streams, states, strict=True):
        rng.bit_generator.state = left
    return state


def _identity(job: Job, seeds: Seeds) -> str:
    """Digest of all that the bits of the first replicate depend on; the others follow from the same seed."""
    return digest_of((
        job.family.arrays, job.family.reference, job.family.losses, job.family.train, job.family.excess,
        None if job.validation is None else job.validation.arrays, tuple(vars(job.rules).items()), job.weights,
        tuple(job.work), job.initial, job.step_sizes, job.local_steps, job.own_steps, job.returned_noise,
        tuple(vars(job.method_rules).items()) if job.method_rules else None, job.server_step_size,
        job.record, job.every, seeds[0].entropy, seeds[0].spawn_key,
    ))  # fmt: skip
