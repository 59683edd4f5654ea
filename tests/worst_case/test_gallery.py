"""The gallery's enclosures contain PEPit's results and theoretical values, and are narrow."""

import pytest

from tests.worst_case.gallery import GALLERY, Example

SLACK = 1e-6
"""Of the larger of 1 and the value: how far PEPit's float may be off, and both sides apart."""


@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_an_enclosure_is_narrow_and_holds_what_others_say(example: Example) -> None:
    worst = example.problem().solve()
    assert worst.upper is not None
    # Of a class of which conditions are known to be necessary only, the upper side is what PEPit answers, too.
    assert worst.lower is not None or worst.relaxed
    lower, upper = float(worst.upper if worst.lower is None else worst.lower), float(worst.upper)
    slack = SLACK * max(1, abs(upper))
    assert upper - lower <= slack
    for said in (example.theory, None if example.pepit_is_off else example.pepit):
        assert said is None or lower - slack <= said <= upper + slack
    assert example.bound is None or lower <= example.bound


def check_attained(example: Example) -> None:
    worst = example.problem().solve()
    if worst.lower is None:
        return
    found = worst.instance().outcome()
    assert found.objective >= float(worst.lower) - 2e-6 * abs(float(worst.lower))
    # What is computed misses what the proof has by rounding; directions that are negligible are left out.
    assert max(found.broken.values()) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("example", GALLERY, ids=lambda one: one.name)
def test_a_run_of_the_method_on_the_instance_attains_the_lower_side(example: Example) -> None:
    check_attained(example)


@pytest.mark.parametrize("name", ["proximal_gradient", "proximal_point", "krasnoselskii_mann_with_constant_steps"])
def test_a_run_of_some_methods_on_the_instance_attains_the_lower_side(name: str) -> None:
    check_attained(next(one for one in GALLERY if one.name.endswith(f": {name}")))
