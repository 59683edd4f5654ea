"""Federated averaging with unbiased selection, in the form that Power-of-Choice states."""

from fedtheory.bounds import fedavg
from fedtheory.bounds.fedavg.paper import FUNCTIONS, GRADIENTS, PAPER, WITH_REPLACEMENT
from fedtheory.bounds.power_of_choice.decaying_steps import decaying_step_sizes as power_of_choice_steps
from fedtheory.theorem import FEDTHEORY, Hypothesis, LeftSide, Noise, selected_by, states

_ASSUMES = (
    *FUNCTIONS,
    Noise(source="Assumption 3"),
    GRADIENTS,
    Hypothesis(
        "num_selected clients are drawn with replacement, client k with probability p_k, and averaged by "
        "a plain mean, so that all skews are 1",
        of_run=selected_by("multinomial"),
    ),
)


@states(
    FEDTHEORY,
    "Theorem 2 with the step sizes and constants of Power-of-Choice",
    related=(PAPER, "Theorem 2"),
    form="derived",
    left=LeftSide("gap", "E F(w_T) - F*", over=("selection", "noise")),
    assumes=_ASSUMES,
    schemes=WITH_REPLACEMENT,
    step_sizes=power_of_choice_steps,
    worst_case=lambda: fedavg._worst_cases.DECAYING_STEPS,
)
def decaying_steps_gap(num_steps, *, mu, L, local_steps, num_selected, G2, sigma2, objective_gap, initial_distance2):
    r"""Bound on ``E F(w_T) - F*`` for unbiased selection and step sizes ``1 / (mu (t + gamma))``, ``gamma = 4 L / mu``.

    .. math::
        \frac{1}{T+\gamma}\Big[\frac{4L(32E^2G^2+\sigma^2/K)}{3\mu^2}+\frac{8L^2\Gamma}{\mu^2}
        +\frac{L\gamma\|w_0-w^*\|^2}{2}\Big]

    This is Theorem 3.1 of Power-of-Choice at rho_bar = rho_tilde = 1, where its bias is 0.

    Examples
    --------
    With mu = 1, L = 3 (so gamma = 12), E = 2, K = 5 and T = 20:
    ``(4 (32 * 4 * 19 + 10/5) + 8 * 9 * 5 + 3 * 12 * 7 / 2) / 32 = 10222/32``.

    >>> decaying_steps_gap(20, mu=1, L=3, local_steps=2, num_selected=5, G2=19, sigma2=10, objective_gap=5,
    ...                    initial_distance2=7)
    319.4375
    """
    gamma = 4 * L / mu
    per_variance = 4 * L / (3 * mu**2)
    return {
        "drift": per_variance * 32 * G2 * local_steps**2 / (num_steps + gamma),
        "noise": per_variance * sigma2 / num_selected / (num_steps + gamma),
        "heterogeneity": 8 * L**2 * objective_gap / mu**2 / (num_steps + gamma),
        "initial": L * gamma * initial_distance2 / 2 / (num_steps + gamma),
    }
