"""Hypothesis strategies for federations: quadratic ones, in floats and in rationals, and with priority clients."""

# mypy: warn_return_any = false
# (Hypothesis is loaded when used, and what is then called has no types here)

from typing import TYPE_CHECKING

import numpy as np

from fedtheory._support import validate
from fedtheory.federation.prioritized import Prioritized, prioritize
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.rational.draws import draw_federation
from fedtheory.testing._hypothesis import strategies

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fedtheory.rational.quadratics import RationalQuadratics

__all__ = ["prioritized_federations", "quadratic_federations", "rational_federations", "seeds"]

_FORMS = ("isotropic", "diagonal", "matrix")


def seeds() -> "SearchStrategy[int]":
    """Seeds of generators.

    Returns
    -------
    SearchStrategy
        Of whole numbers from 0 to 2^32 - 1.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(seeds(), lambda seed: seed > 6)
    7
    """
    return strategies().integers(0, 2**32 - 1)


def quadratic_federations(
    form: str | None = None, min_clients: int = 1, max_clients: int = 6, min_dim: int = 1, max_dim: int = 4
) -> "SearchStrategy[QuadraticFederation]":
    """Quadratic federations of condition number at most 10, with minima and weights of their own.

    Sizes shrink; the numbers come from a seed, so that they are of moderate size and in general position.

    Parameters
    ----------
    form
        Of the curvatures: ``isotropic``, ``diagonal`` or ``matrix``; None for any.
    min_clients, max_clients, min_dim, max_dim
        Limits of K and of the dimension.

    Returns
    -------
    SearchStrategy
        Of ``QuadraticFederation``.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(quadratic_federations(min_clients=2), lambda fed: True).num_clients
    2
    """
    st = strategies()
    forms = st.sampled_from(_FORMS) if form is None else st.just(validate.choice("form", form, _FORMS))
    fewest, most = validate.size("min_clients", min_clients), validate.size("max_clients", max_clients)
    dims = st.integers(validate.size("min_dim", min_dim), validate.size("max_dim", max_dim))
    return st.builds(draw_quadratics, forms, seeds(), st.integers(fewest, most), dims)


def draw_quadratics(form: str, seed: int, num_clients: int = 4, dim: int = 3) -> QuadraticFederation:
    """Draw the quadratic federation that belongs to a seed.

    >>> draw_quadratics("matrix", seed=0, num_clients=2, dim=3).centers.shape
    (2, 3)
    """
    validate.choice("form", form, _FORMS)
    num_clients, dim = validate.size("num_clients", num_clients), validate.size("dim", dim)
    rng = np.random.default_rng(validate.count("seed", seed, 0))
    diagonals = rng.uniform(0.5, 5, (num_clients, dim))
    curvatures = diagonals[:, 0] if form == "isotropic" else diagonals
    if form == "matrix":
        turned = np.linalg.qr(rng.normal(size=(num_clients, dim, dim)))[0]
        curvatures = np.einsum("kij,kj,klj->kil", turned, diagonals, turned)
        curvatures = (curvatures + curvatures.transpose(0, 2, 1)) / 2
    centers, minima = rng.normal(size=(num_clients, dim)), rng.normal(size=num_clients)
    return QuadraticFederation(curvatures, centers, rng.uniform(0.1, 1, num_clients), minima, normalize=True)


def prioritized_federations(max_clients: int = 6) -> "SearchStrategy[Prioritized]":
    """Quadratic federations of which some clients, at least one, have priority (FedALIGN).

    Parameters
    ----------
    max_clients
        Largest K.

    Returns
    -------
    SearchStrategy
        Of ``Prioritized``.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.

    Examples
    --------
    >>> from hypothesis import find
    >>> fed = find(prioritized_federations(3), lambda fed: not fed.priority.all())
    >>> 1 <= fed.priority.sum() < fed.priority.size <= 3
    True
    """
    st = strategies()

    def with_priority(fed: QuadraticFederation) -> "SearchStrategy[Prioritized]":
        masks = st.lists(st.booleans(), min_size=fed.num_clients, max_size=fed.num_clients).filter(any)
        return masks.map(lambda mask: _prioritized(fed, mask))

    return quadratic_federations(max_clients=max_clients).flatmap(with_priority)


def _prioritized(fed: QuadraticFederation, mask: list[bool]) -> Prioritized:
    return prioritize(fed, np.array(mask))


def rational_federations() -> "SearchStrategy[RationalQuadratics]":
    """Two or three quadratics in one or two dimensions, in exact arithmetic (``fedtheory.rational``).

    Returns
    -------
    SearchStrategy
        Of ``RationalQuadratics``.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(rational_federations(), lambda fed: fed.dim == 2).num_clients in (2, 3)
    True
    """
    return seeds().map(lambda seed: draw_federation(np.random.default_rng(seed)))
