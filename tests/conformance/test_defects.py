"""Every known defect of public code, and those that we could think of, is caught, by the check that is meant for it."""

from typing import Any

import pytest

from tests.conformance.defects import (
    active_federated,
    aggregation,
    bounds,
    manners,
    power_of_choice,
    probabilities,
    shapley,
    strategies,
    synthetic,
)

KINDS = (power_of_choice, active_federated, manners, strategies, probabilities, aggregation, shapley, synthetic, bounds)
DEFECTS = [defect for kind in KINDS for defect in kind.CAUGHT]  # type: ignore[attr-defined]


def title(defect: Any) -> str:
    subject, _, options, check = defect
    name = getattr(subject, "__name__", type(subject).__name__)
    return f"{name}-{check}{'-' + '-'.join(options) if options else ''}".replace(" ", "-")


@pytest.mark.parametrize("defect", DEFECTS, ids=title)
def test_the_defect_is_caught_by_the_check_that_is_meant_for_it(defect: Any) -> None:
    subject, check, options, expected = defect
    found = check(subject, **options)
    assert expected in [failure.check for failure in found.failures], found
    assert max(map(len, repr(found).splitlines())) <= 80
    sentences = [failure.sentence for failure in found.failures]
    assert not any("\n" in sentence or "Traceback" in sentence or len(sentence) > 900 for sentence in sentences)
