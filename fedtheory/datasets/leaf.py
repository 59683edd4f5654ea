"""Reader of LEAF's JSON files.

Each file contains some of the users,
``{"users": [...], "num_samples": [...], "user_data": {user: {"x": [...], "y": [...]}}}``,
with a row of numbers per sample. Nothing is downloaded, and invalid files are reported with the file and the position.
"""

from codecs import BOM_UTF8
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedtheory._storage.files import OtherFileError, parsed_json, regular
from fedtheory.federation.client_data import FederatedData

__all__ = ["read_leaf"]

_LARGEST_LABEL = 10**6


class _Samples(NamedTuple):
    file: Path
    features: Any
    labels: Any


def read_leaf(folder: str | Path, *, num_classes: int | None = None) -> FederatedData:
    """Clients of a LEAF folder, one per user, sorted by file name and by order within a file.

    The folder contains ``train`` and possibly ``test``, each with any number of ``.json`` files. Samples of the users
    of ``train`` in ``test`` (LEAF's split by sample) are held out by their clients; samples of other users (split by
    user) are a common test set. ``num_classes`` is by default one more than the largest label. Images nested as lists
    of rows are flattened. A ValueError names the file and the position of what is wrong.

    Caldas et al. (2018), "LEAF: a benchmark for federated settings".

    >>> import pathlib, tempfile
    >>> shard = '{"users": ["a"], "num_samples": [2], "user_data": {"a": {"x": [[0.5], [1]], "y": [0, 1]}}}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (pathlib.Path(folder) / "train").mkdir()
    ...     _ = (pathlib.Path(folder) / "train" / "shard.json").write_text(shard)
    ...     read_leaf(folder)
    FederatedData(num_clients=1, num_samples=2, num_features=1, num_classes=2, num_test_samples=0)
    """
    root = Path(folder)
    train, test = _users(root / "train"), _users(root / "test")
    if not train:
        message = f"{root / 'train'} must contain at least one user in .json files, got none"
        raise FileNotFoundError(message)
    others = [user for user in test if user not in train]
    if 0 < len(others) < len(test):
        wanted = "hold users of the train folder (a split by sample) or no user of it (a split by user)"
        raise _broken(test[others[0]].file, f"{wanted}, got {others[0]!r} in addition to some of them")
    width = next(iter(train.values())).features.shape[-1]
    for user, samples in [*train.items(), *test.items()]:
        if samples.labels.size and samples.features.shape[1] != width:
            raise _broken(samples.file, f"have {width} features, got {samples.features.shape[1]} for user {user!r}")
        if samples.labels.size == 0 and samples is train.get(user):
            raise _broken(samples.file, f"hold a sample of each user, got none for {user!r}")
    nothing = np.empty((0, width)), np.empty(0)
    held_out = [_pair(test[user]) if user in test and test[user].labels.size else nothing for user in train]
    data = FederatedData.from_clients(list(map(_pair, train.values())), test=held_out, num_classes=num_classes)
    common = [test[user] for user in others if test[user].labels.size]
    return replace(
        data, num_classes=num_classes,  # type: ignore[arg-type] # None stands for the number of all labels
        test_features=np.concatenate([data.test_features, *(samples.features for samples in common)]),
        test_labels=np.concatenate([data.test_labels, *(samples.labels for samples in common)]),
    )  # fmt: skip


def _pair(samples: _Samples) -> tuple[Any, Any]:
    return samples.features, samples.labels


def _users(folder: Path) -> dict[str, _Samples]:
    users: dict[str, _Samples] = {}
    for file in sorted(folder.glob("*.json")):
        for user, samples in _shard(file).items():
            if user in users:
                raise _broken(file, f"hold users of no other file, got {user!r} of {users[user].file.name} again")
            users[user] = samples
    return users


def _shard(file: Path) -> dict[str, _Samples]:
    content = _parsed(file)
    if not isinstance(content, dict) or not {"users", "user_data"} <= content.keys():
        raise _broken(file, "be an object with the entries 'users' and 'user_data'")
    users, data = content["users"], content["user_data"]
    counts = content.get("num_samples", [None] * len(users) if isinstance(users, list) else None)
    if not (isinstance(users, list) and isinstance(data, dict) and all(isinstance(user, str) for user in users)):
        raise _broken(file, "hold a list of names in 'users' and an object in 'user_data'")
    if not isinstance(counts, list) or len(counts) != len(users):
        raise _broken(file, f"hold one number per user in 'num_samples', got {len(users)} users and {counts!r:.60}")
    if len(set(users)) < len(users):
        twice = next(user for user in users if users.count(user) > 1)
        raise _broken(file, f"name each user once in 'users', got {twice!r} again")
    if set(users) != data.keys():
        odd = min(set(users) ^ data.keys())
        raise _broken(file, f"hold the same users in 'users' and 'user_data', got {odd!r} in one of them only")
    return {user: _samples(file, user, data[user], count) for user, count in zip(users, counts, strict=True)}


def _samples(file: Path, user: str, entry: Any, count: Any) -> _Samples:
    if not isinstance(entry, dict) or not isinstance(entry.get("x"), list) or not isinstance(entry.get("y"), list):
        raise _broken(file, f"hold lists 'x' and 'y' for user {user!r}")
    rows, labels = entry["x"], entry["y"]
    if len(rows) != len(labels) or count not in (None, len(rows)):
        got = f"{len(rows)} rows, {len(labels)} labels, num_samples {count}"
        raise _broken(file, f"hold one label per row for user {user!r}, got {got}")
    flat = [_row(file, user, i, row) for i, row in enumerate(rows)]
    for i, row in enumerate(flat):
        if row.size != flat[0].size:
            raise _broken(
                file, f"hold rows of equal length for user {user!r}, got {row.size} after {flat[0].size} in row {i}"
            )
    for i, label in enumerate(labels):
        if not _is_label(label):
            raise _broken(
                file, f"hold whole labels in 0..{_LARGEST_LABEL} for user {user!r}, got {label!r:.60} in row {i}"
            )
    return _Samples(file, np.array(flat, dtype=np.float64).reshape(len(flat), -1 if flat else 0), np.array(labels))


def _is_label(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= _LARGEST_LABEL and value % 1 == 0


def _row(file: Path, user: str, i: int, row: Any) -> np.ndarray[Any, Any]:
    try:
        numbers = np.asarray(row, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        numbers = np.asarray(None)
    # NumPy converts true to 1 if it is among numbers.
    if numbers.ndim == 0 or numbers.size == 0 or not _types(row) <= {int, float}:
        raise _broken(file, f"hold a row of numbers per sample, got {row!r:.60} in row {i} of user {user!r}")
    if not np.isfinite(numbers).all():
        raise _broken(file, f"hold finite numbers, got {row!r:.60} in row {i} of user {user!r}")
    return numbers.ravel()


def _types(row: list[Any]) -> set[type]:
    found = set(map(type, row))
    return found if list not in found else set().union(*map(_types, row))


def _parsed(file: Path) -> Any:
    try:
        return parsed_json(regular(file).read_bytes().removeprefix(BOM_UTF8))
    except OtherFileError as error:
        raise _broken(file, f"be a JSON file, got one {error}") from error


def _broken(file: Path, wanted: str) -> ValueError:
    return ValueError(f"{file} must {wanted}")
