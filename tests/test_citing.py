"""Every bound cites a paper."""

from fedtheory.verification import known_bounds
from tests.additions import check_of_all


def test_every_bound_has_a_paper_with_an_address():
    bounds = known_bounds().items()
    assert all(one.statement.topic.authors and one.statement.topic.title for _, one in bounds)
    check_of_all("an address", (f"{name}: {one.statement}" for name, one in bounds if not one.statement.topic.url))
