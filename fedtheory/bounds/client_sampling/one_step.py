r"""One step of gradients of sampled clients, for every unbiased sampling."""

from fedtheory.bounds.client_sampling.paper import PAPER
from fedtheory.bounds.fedavg.paper import BALANCED, SUBSETS, WITH_REPLACEMENT
from fedtheory.bounds.sgd import _worst_cases
from fedtheory.bounds.sgd.one_step import step_with_noise
from fedtheory.bounds.sgd.paper import ASSUMES
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, states


def _biased(run):
    """Report what makes the expected weights differ from p_k, or None."""
    assert BALANCED.of_run is not None
    return None if run.scheme.selection == "multinomial" else BALANCED.of_run(run)


_UNBIASED = Hypothesis(
    "the server takes the plain mean of the sampled clients, in which client k has the expected weight p_k",
    of_run=_biased,
)


@states(
    FEDTHEORY,
    "a step of clients that any unbiased sampling selects",
    related=(PAPER, "Abstract"),
    form="derived",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(*ASSUMES, _UNBIASED),
    schemes=(*WITH_REPLACEMENT, *SUBSETS),
    worst_case=_worst_cases.ANY_SAMPLING,
)
def one_step(distance2, *, step_size, mu, L, sampling_variance):
    r"""Bound on ``E |w_+ - w*|^2`` after a step of clients that any unbiased sampling selects.

    .. math::
        \Big(k\sqrt\Delta+\sqrt{a^2\Delta+\eta^2V}\Big)^2,\quad k=\frac{\eta(L-\mu)}2,\
        a=1-\frac{\eta(L+\mu)}2

    V is ``zeta2/m`` for multinomial sampling. Two quadratics attain the bound if one client is sampled.

    Examples
    --------
    With mu = 1, L = 3, eta = 1/4: k = 1/4, a = 1/2. With Delta = 4 and V = 9 the radicand is ``1 + 9/16``, and the
    bound is ``(1/4 * 2 + 5/4)^2``.

    >>> one_step(4, step_size=1 / 4, mu=1, L=3, sampling_variance=9)
    3.0625
    """
    return step_with_noise(distance2, step_size**2 * sampling_variance, step_size=step_size, mu=mu, L=L)
