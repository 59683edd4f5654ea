"""Arrays and compiled kernels of a federation for the round loop.

For a user-defined loss, use ``LossFederation``. A user-defined family with its own kernels registers a function with
``@families.layout.register``, which lays out a federation of this family. The federation itself does not depend on the
engine.
"""

from functools import singledispatch

from fedtheory.engine.contract import Family, LocalWork
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.nonconvex import NonconvexFederation
from fedtheory.federation.own_losses import LossFederation
from fedtheory.federation.perceptron import PerceptronFederation
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.federation.softmax import SoftmaxFederation

__all__ = ["layout"]


@singledispatch
def layout(fed: object, work: LocalWork) -> Family:
    """Lay out a federation for the round loop, with kernels for the requested local work.

    The type of the federation determines the layout; a TypeError is raised if none is registered for it.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [4.0]], [0.5, 0.5])
    >>> work = LocalWork(0.0, 0.0, 0.0, 0.0, batch_size=0, by_epoch=False, track_losses=False)
    >>> layout(fed, work).reference == fed.minimum
    True
    """
    raise _unknown(fed)


def refuse_unknown(fed: object) -> None:
    """Raise TypeError if no layout is registered for this type of federation."""
    if layout.dispatch(type(fed)) is layout.dispatch(object):
        raise _unknown(fed)


def _unknown(fed: object) -> TypeError:
    hint = " (SoftmaxFederation(data) is a family)" if isinstance(fed, FederatedData) else ""
    if callable(getattr(fed, "rules", None)):
        hint = ", a strategy, which is the second argument"
    known = f"the class {fed.__name__}" if isinstance(fed, type) else type(fed).__name__
    return TypeError(
        f"fed must be of a family whose kernels are registered with fedtheory.engine.layout.register, got {known}{hint}"
    )


@layout.register
def _(fed: QuadraticFederation, work: LocalWork) -> Family:
    from fedtheory.engine import _kernels_quadratic

    return _kernels_quadratic.quadratic_family(fed, work)


@layout.register
def _(fed: SoftmaxFederation, work: LocalWork) -> Family:
    from fedtheory.engine import _kernels_perceptron

    shape = (fed.data.num_classes, fed.data.num_features + 1)
    return _kernels_perceptron.perceptron_family(fed, [shape], work)


@layout.register
def _(fed: PerceptronFederation, work: LocalWork) -> Family:
    from fedtheory.engine import _kernels_perceptron

    return _kernels_perceptron.perceptron_family(fed, fed.shapes, work)


@layout.register
def _(fed: NonconvexFederation, work: LocalWork) -> Family:
    from fedtheory.engine import _kernels_nonconvex

    return _kernels_nonconvex.nonconvex_family(fed, work)


@layout.register
def _(fed: LossFederation, work: LocalWork) -> Family:
    from fedtheory.engine import _kernels_own

    return _kernels_own.own_family(fed, work)
