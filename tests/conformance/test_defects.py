"""Every known or constructed defect is detected by the check that is meant for it."""

from typing import Any

import pytest

from fedtheory.conformance import (
    check_aggregation,
    check_bound,
    check_generator,
    check_probabilities,
    check_shapley,
    check_strategy,
)
from fedtheory.selection.uniform import Uniform
from tests.conformance.defects import (
    active_federated,
    aggregation,
    bounds,
    manners,
    methods,
    power_of_choice,
    probabilities,
    public_issues,
    shapley,
    strategies,
    synthetic,
)

KINDS = (
    power_of_choice, active_federated, manners, strategies, probabilities, aggregation, public_issues, shapley,
    synthetic, bounds, methods,
)  # fmt: skip
DEFECTS = [defect for kind in KINDS for defect in kind.CAUGHT]  # type: ignore[attr-defined]


def name_of(defect: Any) -> str:
    subject, by, options, check = defect
    name = getattr(subject, "__name__", type(subject).__name__)
    return "-".join([by.__name__, name, check, *options]).replace(" ", "-")


def failure_of(defect: Any) -> Any:
    subject, by, options, expected = defect
    [check] = [check for check in by.checks(subject, **options) if check.name == expected]
    return check.failure()


@pytest.mark.parametrize("defect", DEFECTS, ids=name_of)
def test_the_defect_is_caught_by_the_check_that_is_meant_for_it_in_one_sentence(defect: Any) -> None:
    failure = failure_of(defect)
    assert failure is not None
    assert failure.check == defect[3]
    assert "\n" not in failure.sentence


@pytest.mark.parametrize(
    ("by", "arguments", "options"),
    [
        (check_strategy, [Uniform(2), Uniform(2)], {"num_selected": 2}),
        (check_strategy, [manners.nothing], {"num_selected": 2}),
        (check_probabilities, [probabilities.right], {}),
        (check_aggregation, [aggregation.coins], {"variance": aggregation.variance_of_coins}),
        (check_aggregation, [aggregation.weighted_median], {"exact": True, "outliers": 2}),
        (check_shapley, [shapley.right], {}),
        (check_shapley, [shapley.own_generator], {"exact": False}),
        (check_generator, [synthetic.right], {}),
        (check_bound, [bounds.constant_halved, "power-of-choice:lemma-b1"], {}),
    ],
)
def test_every_check_catches_some_defect(by: Any, arguments: list[Any], options: dict[str, Any]) -> None:
    asked = {check.name for check in by.checks(*arguments, **options)}
    caught = {expected for _, check, _, expected in DEFECTS if check is by}
    assert asked - caught == set()
