"""Claims of one's own: those of a Python file outside the package."""

import runpy
from dataclasses import replace
from pathlib import Path

from fedtheory.verification.claims import Claim

__all__ = ["claims_of"]


def claims_of(file: str | Path) -> dict[str, Claim]:
    """Run a Python file and return the claims that it makes, by key.

    Parameters
    ----------
    file
        A script whose names at top level stand for claims, each made by ``@claim``.

    Raises
    ------
    ValueError
        If there is no such file, it does not run, it makes no claim, or two of one key; one sentence names the file.

    Examples
    --------
    >>> claims_of("missing.py")
    Traceback (most recent call last):
    ValueError: claims must come from a Python file, got missing.py
    """
    path = Path(file)
    if not path.is_file():
        message = f"claims must come from a Python file, got {path}"
        raise ValueError(message)
    try:
        names = runpy.run_path(str(path), run_name=path.stem)
    except Exception as error:  # whatever somebody's file raises
        told = " ".join(f"{type(error).__name__}: {error}".split())
        message = f"claims must come from a file that runs, got {path}, which raises {told}"
        raise ValueError(message) from error
    found: dict[str, Claim] = {}
    for claim in {id(value): value for value in names.values() if isinstance(value, Claim)}.values():
        if claim.key in found:
            message = f"claims must have keys of their own, got {claim.key!r} twice in {path}"
            raise ValueError(message)
        found[claim.key] = replace(claim, home=str(path))
    if not found:
        message = f"a file of claims must make one by @claim, got none in {path}"
        raise ValueError(message)
    return found
