"""Single checks of the conformance kit, for use in pytest."""

from collections.abc import Callable, Mapping
from typing import Any

from fedtheory._support.wording import truncate
from fedtheory.conformance._checks import Check, excused
from fedtheory.conformance.aggregation import aggregation_checks, check_aggregation
from fedtheory.conformance.generators import check_generator, generator_checks
from fedtheory.conformance.methods import check_method, method_checks
from fedtheory.conformance.own_bounds import bound_checks, check_bound
from fedtheory.conformance.partitions import check_partition, partition_checks
from fedtheory.conformance.probabilities import check_probabilities, probability_checks
from fedtheory.conformance.shapley import check_shapley, shapley_checks
from fedtheory.conformance.strategies import check_strategy, strategy_checks

__all__ = [
    "check_aggregation",
    "check_generator",
    "check_method",
    "check_partition",
    "check_probabilities",
    "check_shapley",
    "check_strategy",
    "checks_of",
]


def checks_of(
    subject: Any,
    *arguments: Any,
    by: Callable[..., Any] = check_strategy,
    exceptions: Mapping[str, str] | None = None,
    **options: Any,
) -> list[Check]:
    """Return the single checks of a function of the conformance kit, by name.

    Each check is a function without arguments. It raises an AssertionError with one sentence if the code does not pass.
    If it is excepted, it raises ``unittest.SkipTest`` with the reason, which pytest shows. Its name becomes the id of
    the test.

    Parameters
    ----------
    subject
        The strategy or function to check.
    arguments, options
        Further arguments of ``by``, such as ``like``, ``rng``, or the claim of ``check_bound``.
    by
        ``check_strategy``, ``check_probabilities``, ``check_aggregation``, ``check_shapley``, ``check_generator``,
        ``check_method``, ``check_partition`` or ``check_bound``.
    exceptions
        Names of checks to skip, each with the reason.

    Returns
    -------
    list[Check]
        All checks of the kit, in its order.

    Raises
    ------
    ValueError
        If ``by`` is none of these, or an exception names no check.

    Examples
    --------
    ``@pytest.mark.parametrize("check", checks_of(all_clients))`` above ``def test_all_clients(check): check()``:

    >>> def all_clients(rng, weights, losses):
    ...     return range(len(weights))
    >>> checks = checks_of(all_clients)
    >>> [check.__name__ for check in checks][:4]
    ['runs', 'range', 'duplicates', 'inputs']
    >>> for check in checks:
    ...     check()
    """
    makers: dict[Callable[..., Any], Callable[..., list[Check]]] = {
        check_strategy: strategy_checks,
        check_probabilities: probability_checks,
        check_aggregation: aggregation_checks,
        check_shapley: shapley_checks,
        check_generator: generator_checks,
        check_method: method_checks,
        check_partition: partition_checks,
        check_bound: bound_checks,
    }
    make = next((maker for check, maker in makers.items() if by is check), None)
    if make is None:
        message = f"by must be one of {', '.join(check.__name__ for check in makers)}, got {truncate(by)}"
        raise ValueError(message)
    return excused(make(subject, *arguments, **options), exceptions)
