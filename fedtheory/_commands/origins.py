"""``--from FILE``: claims of somebody's own in the place of the package's."""

import argparse

from fedtheory.verification.claims import Claim
from fedtheory.verification.own_claims import claims_of

__all__ = ["own_claims"]


def own_claims(arguments: argparse.Namespace) -> dict[str, Claim] | None:
    """Return the claims of the file that was named, None if there is none.

    Raises
    ------
    ValueError
        If the file holds no claims, or other processes, which do not have them, are to check them.
    """
    if arguments.file is None:
        return None
    if getattr(arguments, "jobs", 1) > 1:
        message = f"--jobs must be 1 with --from, got {arguments.jobs}: other processes do not have these claims"
        raise ValueError(message)
    return claims_of(arguments.file)
