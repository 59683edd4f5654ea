"""Average drift of local steps at the minimizer of quadratics."""

import numpy as np

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory._support.wording import format_number
from fedtheory.exact._arguments import quadratic
from fedtheory.exact._local_moments import applied
from fedtheory.federation.quadratic import QuadraticFederation

# Local steps that are computed one by one within seconds.
_MOST_STEPS = 10**6

__all__ = ["average_drift"]


@pinned
def average_drift(fed: QuadraticFederation, local_steps: int, step_size: float) -> Array:
    r"""Average drift at the minimizer, ``sum_k p_k (w* - y_k) / (eta tau)``, shape (v,), in units of a gradient.

    The y_k are the models of the clients after tau steps of gradient descent from w*. A round of federated averaging
    moves the model from w* by ``-eta tau`` times the drift.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    local_steps, step_size
        Number tau of local steps, and their step size eta.

    Examples
    --------
    ``w^2/2`` and ``(w - 5)^2`` have w* = 10/3 and h = (10/3, -10/3). With step size 1/4 the second gradients are 3/4
    and 1/2 of the first, so that their mean is 5/12 and the drift of two steps is 5/24.

    >>> fed = QuadraticFederation([1.0, 2.0], [[0.0], [5.0]], [0.5, 0.5])
    >>> average_drift(fed, 2, 0.25).round(12).tolist(), average_drift(fed, 1, 0.25).tolist()
    ([0.208333333333], [0.0])
    """
    fed = quadratic(fed)
    tau = validate.count("local_steps", local_steps, high=_MOST_STEPS)
    eta = validate.double("step_size", validate.positive("step_size", step_size))
    curvatures = fed.diagonals if fed.is_diagonal else fed.matrices
    first = fed.gradients(fed.minimizer)
    # The mean of the gradients at w* is 0; only what each client has lost of it is added, so that no digits are lost.
    lost, total = np.zeros_like(first), np.zeros(fed.dim)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(tau - 1):
            lost = lost + eta * applied(curvatures, first - lost)
            total -= fed.weights @ lost
    if not np.isfinite(total).all():
        message = f"step_size must give a finite drift after {tau} local steps, got {format_number(eta)}"
        raise ValueError(message)
    return total / tau
