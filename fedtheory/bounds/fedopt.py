"""Adaptive server steps, as in FedAdam (Reddi et al. 2021)."""

from fedtheory.arithmetic.functions import maximum, short_of_one, square_root
from fedtheory.bounds.fedavg.paper import FULL_PARTICIPATION
from fedtheory.theorem.assumptions import EXACT_GRADIENTS, Hypothesis, Smooth, method_is
from fedtheory.theorem.bound import states
from fedtheory.theorem.domains import COUNT, POSITIVE
from fedtheory.theorem.left_side import LeftSide
from fedtheory.theorem.paper import FEDTHEORY, Paper
from fedtheory.theorem.symbols import Symbol

__all__ = ["PAPER", "mean_gradient2"]

PAPER = Paper(
    key="fedopt",
    title="Adaptive Federated Optimization",
    authors="Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan",
    year=2021,
    url="https://arxiv.org/abs/2003.00295",
    basis="abstract",
    symbols=(
        Symbol("adaptive_step_size", "Server step size s", POSITIVE._replace(of_run="adaptive_step_size"), "distance"),
        Symbol("epsilon", "Summand of the root; v is ``epsilon^2`` at first", POSITIVE._replace(of_run="epsilon"),
               "distance"),
    ),
)  # fmt: skip


def _other_method(run):
    """Return the method of a run unless it is FedAdam of the paper without momentum."""
    method = run.changed.get("method")
    wrong = method_is("FedOpt")(run)
    is_plain = wrong is None and method.rule == "adam" and method.momentum == 0 and method.initial_square is None
    return wrong or (None if is_plain and not (method.bias_correction or method.epsilon_inside) else repr(method))


_ADAM = Hypothesis("the server runs FedAdam with beta1 = 0 and v = epsilon^2 at first", of_run=_other_method)
_SHORT = Hypothesis(
    "adaptive_step_size step_size L < 2 epsilon",
    lambda adaptive_step_size, step_size, L, epsilon: (adaptive_step_size * step_size * L, "<", 2 * epsilon),
)


@states(
    FEDTHEORY,
    "mean squared gradient of FedAdam with one local step",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared gradient", "1/T sum_{t<T} |grad F(w_t)|^2", model="all"),
    assumes=(Smooth(), EXACT_GRADIENTS, _ADAM, _SHORT),
    schemes=FULL_PARTICIPATION,
    options=("method",),
    domains={"num_rounds": COUNT},
)
def mean_gradient2(num_rounds, *, step_size, L, adaptive_step_size, epsilon, initial_gap):
    r"""Bound on the mean of ``|grad F(w_t)|^2`` over T rounds of all clients; F need not be convex.

    .. math::
        \frac{(\varepsilon+\max\{\varepsilon,\eta\sqrt{2L\delta}\})\,\delta}{Ts\eta\,(1-s\eta L/(2\varepsilon))},
        \quad\delta=F(w_0)-F^*

    It holds for every beta2. The paper bounds gradients by a constant; here the loss does not increase, so that
    ``|grad F(w_t)|^2 <= 2 L delta``.

    Parameters
    ----------
    num_rounds
        Number T of rounds, at least 1.

    Notes
    -----
    The update is ``-eta grad F(w)``, and coordinate j moves by ``-s eta g_j/d_j`` with ``d_j = sqrt(v_j) + epsilon``.
    By smoothness F decreases by at least ``s eta (1 - s eta L/(2 d_j)) g_j^2/d_j``, summed over j. As a mean of
    ``epsilon^2`` and squares of updates, v_j is at most the larger of ``epsilon^2`` and ``eta^2 2 L delta``. Hence
    ``epsilon <= d_j``, and d_j is at most the first factor of the bound. The sum over the rounds telescopes.

    Examples
    --------
    With eta = 1/2, L = 1, s = 1, epsilon = 1/2 and delta = 2: the factors are ``1/2 + 1`` and ``1 - 1/2``, and for
    T = 3 the bound is ``(3/2) 2/(3 (1/2) (1/2))``.

    >>> mean_gradient2(3, step_size=1 / 2, L=1, adaptive_step_size=1, epsilon=1 / 2, initial_gap=2)
    4.0
    """
    divisor = epsilon + maximum(epsilon, step_size * square_root(2 * L * initial_gap))
    move = adaptive_step_size * step_size
    return {"initial": divisor * initial_gap / (num_rounds * move * short_of_one(move / (2 * epsilon), L))}
