"""Every worst case, lemma and federation is independent of the units."""

from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory import worst_case
from tests.worst_case.test_fixtures import CLASS, ETA, FIXTURES, ONE_OF_TWO, SKEWS

# Squared lengths times 49 and curvatures times 3, by the powers of them in each constant.
POWERS = {
    **dict.fromkeys(("distance2", "distance"), (1, 0)),
    **dict.fromkeys(("mu", "L"), (0, 1)),
    **dict.fromkeys(("objective_gap", "client_gap", "threshold", "gap"), (1, 1)),
    **dict.fromkeys(("gradient_noise",), (1, 2)),
}


def unit(name: str) -> Q:
    lengths, curvatures = POWERS.get(name, (0, 0))
    return Q(49) ** lengths * Q(3) ** curvatures


# Of the known worst cases the door, what stands before the step size, and the options.
DOORS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "all, 2 steps": ("fedavg", (2,), {}),
    "all, gap": ("fedavg", (2,), {"objective": "gap"}),
    "all, 2 steps, quadratic": ("fedavg", (2,), {"functions": "quadratic"}),
    "all, 3 rounds of 2": ("fedavg", (2,), {"num_rounds": 3}),
    "independent, 2 steps": ("fedavg", (2,), {"sampling": "independent", "num_selected": 1}),
    "1 of 2, 2 rounds": ("fedavg", (1,), {**ONE_OF_TWO, "num_rounds": 2}),
    "noise, all of 10": ("fedavg", (2,), {"num_clients": 10, "gradient_noise": 1}),
    "pow-d 3 3 2": ("power_of_choice", (3, 3, 2, 1), {}),
    "pow-d 2 2 1, free minima": ("power_of_choice", (2, 2, 1, 1), {"minima": "free"}),
    "pow-d 2 2 1, 2 rounds": ("power_of_choice", (2, 2, 1, 1), {"num_rounds": 2}),
    "skewed, far": ("skew_class", (1,), {**SKEWS, "distance2": 10}),
    "skewed, 2 steps": ("skew_class", (2,), SKEWS),
    "skewed, quadratic, where the lemma is attained": (
        "skew_class",
        (1,),
        {**SKEWS, "distance2": Q(40, 11), "functions": "quadratic"},
    ),
    "floor": ("error_floor", (2,), {"distance2": None}),
    "floor, gap": ("error_floor", (2,), {"distance2": None, "objective": "gap"}),
    "FedALIGN, threshold 0: two clients alone": ("fedalign", (2,), {"client_gap": Q(1, 2), "threshold": 0}),
    "optimal sampling": ("optimal_client_sampling", ([Q(1, 2), Q(1, 4), Q(1, 4)], 1), {}),
}


@pytest.mark.parametrize("name", DOORS)
def test_in_other_units_the_worst_case_is_the_same_and_attained(name: str) -> None:
    door, before, options = DOORS[name]
    given = {key: value for key, value in (CLASS | options).items() if value is not None}
    scaled = {key: value * unit(key) if key in POWERS else value for key, value in given.items()}
    worst = getattr(worst_case, door)(*before, ETA / 3, **scaled)
    lower, upper = worst.enclosure
    known, one = FIXTURES[name][1], unit(given.get("objective", "distance"))
    slack = 0 if isinstance(known, Q) else 10.0 ** -(len(str(known)) - 2)
    assert lower / one - slack <= known <= upper / one + slack
    assert worst.relative_width <= 1e-5
    # Bounds of constraints are shares of constants, or 0; of several programs the largest multipliers count.
    promised = worst.multipliers(**{key: Q(scaled[key]) for key in worst.multipliers})
    assert promised == upper or (len(worst.cases) > 1 and promised > upper)
    found = worst.instance()
    assert found.run() == pytest.approx(float(lower), rel=1e-6)
    # Gradients are as long as the root of 2 L Gamma, 36.
    assert max(found.outcome().broken.values()) < 36e-5
