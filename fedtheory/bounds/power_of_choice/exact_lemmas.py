"""Lemmas of Power-of-Choice in their sharpest form, which some federation attains; not in the paper."""

from fedtheory.arithmetic.functions import geometric, short_of_one
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice.paper import ANY_MEAN, ANY_STEP, LOWEST, PAPER, short_steps
from fedtheory.theorem import EXACT_GRADIENTS, FEDTHEORY, Convex, Hypothesis, LeftSide, Smooth, StronglyConvex, states


def _steeper(run):
    """Report that every client's squared gradient at the first model exceeds the G2 that the user stated, or None."""
    least = min(run.first_gradients2) if "G2" in run.given else 0
    return f"G2 = {run.given['G2']:g}, and {least:g} at the first model" if least > run.given.get("G2", least) else None


_STARTING_GRADIENTS = Hypothesis(
    "|grad F_k(u)|^2 <= G2 for every active client at the round's starting model u", of_run=_steeper
)


@states(
    FEDTHEORY,
    "the loss that a step leaves",
    related=(PAPER, "Appendix C"),
    form="derived",
    left=LeftSide("client gap", "F_k(y - step_size grad F_k(y)) - F_k*", model="clients", after="step"),
    side="lower",
    assumes=(Smooth(of="F_k"), Convex(of="F_k"), LOWEST, short_steps(1)),
    options=("strategy", *ANY_STEP),
    worst_case=lambda: poc._worst_cases.LOSS_AFTER_STEP,
)
def loss_after_step(excess, *, step_size, L):
    r"""Lower bound on ``F_k(y - step_size grad F_k(y)) - F_k*``; a step keeps ``(1 - step_size L)^2`` of the excess.

    .. math::
        (1-\eta L)^2(F_k(y)-F_k^*)

    Examples
    --------
    F_k(w) = (L/2) w^2 attains it: with L = 2 and step_size = 1/4 a step leads from w = 4 to 2, and the loss from 16 to
    4.

    >>> loss_after_step(16.0, step_size=1 / 4, L=2)
    4.0
    """
    return {"left": short_of_one(step_size, L) ** 2 * excess}


@states(
    FEDTHEORY,
    "the exact drift for a fixed step size, without noise",
    related=(PAPER, "Lemma B.2"),
    form="derived",
    left=LeftSide("drift", "1/m sum_k |w_bar_t - w_k_t|^2", model="clients", after="step"),
    assumes=(Smooth(), StronglyConvex(), _STARTING_GRADIENTS, EXACT_GRADIENTS, short_steps(1)),
    schemes=ANY_MEAN,
    worst_case=lambda: poc._worst_cases.DRIFT,
)
def exact_client_drift(step_size, *, mu, L, local_steps, G2):
    r"""Bound on ``1/m sum_k |w_bar_t - w_k_t|^2`` after tau - 1 local steps; two equal groups of clients attain it.

    .. math::
        G^2\Big(\frac{1-(1-\eta\mu)^{\tau-1}}\mu\Big)^2

    Examples
    --------
    With mu = 1, eta = 1/2, tau = 3 and G2 = 16 the two models move by 4/2 + 4/4 in opposite directions:

    >>> exact_client_drift(1 / 2, mu=1, L=2, local_steps=3, G2=16)
    9.0
    """
    _, gone = geometric(step_size * mu, local_steps - 1)
    return {"drift": G2 * (gone / mu) ** 2}
