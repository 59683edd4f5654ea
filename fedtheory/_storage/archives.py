"""Arrays with words about them in one file (``.npz``): what a program keeps for itself, to go on from."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["archive_bytes", "archive_content"]


def archive_bytes(about: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return the content of a file that keeps arrays to the bit, and what JSON has words for.

    >>> about, arrays = archive_content(archive_bytes({"rounds": 3}, {"gap": np.array([0.5])}))
    >>> about, arrays["gap"]
    ({'rounds': 3}, array([0.5]))
    """
    stream = io.BytesIO()
    np.savez(stream, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def archive_content(content: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the words and the arrays of such a file; whatever NumPy and JSON raise for another one."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about: dict[str, Any] = json.loads(str(arrays.pop("about")))
    return about, arrays
