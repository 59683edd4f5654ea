"""``--from SOURCE``: claims of somebody's own in the place of the package's."""

import argparse
from collections.abc import Mapping

from fedtheory._commands.refusals import refuse
from fedtheory.theorem.paper import Bound
from fedtheory.verification import catalogue
from fedtheory.verification.claims import Claim
from fedtheory.verification.own_claims import claims_of

__all__ = ["known_things", "own_claims"]


def own_claims(arguments: argparse.Namespace) -> dict[str, Claim] | None:
    """Return the claims of the file or package that was named, None if there is none.

    Raises
    ------
    ValueError
        If it holds no claims; the sentence names it.
    """
    return None if arguments.source is None else claims_of(arguments.source)


def known_things(arguments: argparse.Namespace) -> tuple[Mapping[str, Claim], Mapping[str, Bound]]:
    """Return the claims and bounds that can be named: somebody's own claims alone, or all of the package; or refuse."""
    try:
        own = own_claims(arguments)
    except ValueError as error:
        refuse(str(error))
    return (catalogue.known_claims(), catalogue.known_bounds()) if own is None else (own, {})
