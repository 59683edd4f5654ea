"""Each known error of partitions is detected with its smallest case, and correct code passes."""

import numpy as np
import pytest

from fedtheory.conformance import check_partition
from fedtheory.datasets import capped_dirichlet_partition, class_shares_partition, dirichlet_partition
from tests.environment import thinned


def split(rng, labels, num_clients):
    return np.array_split(rng.permutation(len(labels)), num_clients)


def contiguous(rng, labels, num_clients):
    return np.array_split(np.arange(len(labels)), num_clients)


def contiguous_in_any_order(rng, labels, num_clients):
    parts = np.array_split(np.arange(len(labels)), num_clients)
    return [parts[k] for k in rng.permutation(num_clients)]


def without_the_rest(rng, labels, num_clients):
    order, size = rng.permutation(len(labels)), len(labels) // num_clients
    return [order[k * size : (k + 1) * size] for k in range(num_clients)]


def with_copies(rng, labels, num_clients):
    return [rng.choice(len(labels), max(1, len(labels) // num_clients), replace=False) for _ in range(num_clients)]


def of_the_global_generator(rng, labels, num_clients):
    return np.array_split(np.random.permutation(len(labels)), num_clients)  # noqa: NPY002


def counted_from_one(rng, labels, num_clients):
    return [part + 1 for part in split(rng, labels, num_clients)]


def sorted_in_place(rng, labels, num_clients):
    labels.sort()
    return split(rng, labels, num_clients)


def one_by_one_in_place(rng, labels, num_clients):
    rng.shuffle(labels)
    yield from np.array_split(np.argsort(labels), num_clients)


def one_client_too_many(rng, labels, num_clients):
    return split(rng, labels, num_clients + 1)


def with_empty_clients(rng, labels, num_clients):
    return [rng.permutation(len(labels)), *[np.zeros(0, dtype=int)] * (num_clients - 1)]


def of_unequal_sizes(rng, labels, num_clients):
    order = rng.permutation(len(labels))
    return [order[: len(labels) - num_clients + 1], *([row] for row in order[len(labels) - num_clients + 1 :])]


WRONG = {
    contiguous: ("any client", "row 0 must be with client 0 with probability 0.333, and was 200 times in 200 draws"),
    contiguous_in_any_order: ("any neighbors", "rows 0 and 1 must be with one client with probability 0.273"),
    without_the_rest: ("every row", "must put every row into a part, got 1 of 4 rows in no part"),
    with_copies: ("no row twice", "must put no row into parts twice, got row 1 2 times"),
    of_the_global_generator: ("same generator", "must return the same parts for generators in the same state"),
    counted_from_one: ("range", "rows must be in 0..2, got 3 for client 0"),
    sorted_in_place: ("inputs", "must leave labels unchanged"),
    one_by_one_in_place: ("inputs", "must leave labels unchanged"),
    one_client_too_many: ("runs", "must return 1 parts, got 2"),
    with_empty_clients: ("no empty client", "every client must have a row, got none for client 1"),
    of_unequal_sizes: ("equal sizes", "sizes of parts must differ by at most 1, got 1 and 3"),
}


@pytest.mark.slow
@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_an_error_of_a_partition_is_found_with_its_smallest_case(function):
    check, sentence = WRONG[function]
    failures = {failure.check: failure.sentence for failure in check_partition(function, iid=True, equal=True).failures}
    assert failures[check].startswith(sentence)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_a_uniform_partition_into_equal_parts_is_not_refused(seed):
    assert check_partition(split, seed, iid=True, equal=True).holds


@pytest.mark.slow
def test_parts_of_unequal_sizes_and_left_out_rows_pass_where_they_are_allowed():
    assert check_partition(of_unequal_sizes, iid=True).holds
    assert check_partition(without_the_rest, complete=False, exceptions={"no empty client": "few rows"}).holds
    assert check_partition(contiguous).holds


def test_the_result_of_no_partition_is_a_failure_and_not_a_crash():
    for wrong in (lambda rng, labels, num_clients: None, lambda rng, labels, num_clients: [["a"]] * num_clients):
        [failure] = check_partition(wrong).failures
        assert failure.check == "runs"
    with pytest.raises(TypeError, match="function must be"):
        check_partition("iid")


# The loop over classes of public code, with clients of N/K rows closed or not, repeated until all have ten rows.
def by_classes(rng, labels, num_clients, concentration=0.5, capped=False):
    sizes = np.zeros(num_clients)
    while sizes.min() < 10:
        parts: list[list[np.ndarray]] = [[] for _ in range(num_clients)]
        sizes = np.zeros(num_clients)
        for c in np.unique(labels):
            shares = rng.dirichlet(np.full(num_clients, concentration))
            shares = shares * (sizes < len(labels) / num_clients) if capped else shares
            rows = rng.permutation(np.flatnonzero(labels == c))
            cuts = (np.cumsum(shares / shares.sum()) * len(rows)).astype(int)[:-1]
            for k, piece in enumerate(np.split(rows, cuts)):
                parts[k].append(piece)
                sizes[k] += len(piece)
    return [np.concatenate(part) for part in parts]


LAWS = {
    "clients": by_classes,
    "capped clients": lambda *of: by_classes(*of, capped=True),
    "classes": lambda rng, labels, num_clients: class_shares_partition(
        labels, num_clients, 0.5, min_samples=1, rng=rng
    ),
}


def shares_are_right(function, law, concentration, seed=0):
    listed = check_partition.checks(function, seed, law=law, concentration=concentration)
    return {check.name: check for check in listed}["shares"].failure() is None


@pytest.mark.slow
@pytest.mark.parametrize("asked", LAWS)
@pytest.mark.parametrize("law", LAWS)
def test_a_law_of_shares_is_told_from_each_other_law(law, asked):
    assert shares_are_right(LAWS[law], asked, 0.5) == (law == asked)


@pytest.mark.slow
@pytest.mark.parametrize("concentration", [0.1, 0.5, 5.0])
@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_right_shares_pass_and_large_clients_with_another_concentration_do_not(concentration, seed):
    for law, function in (
        ("clients", lambda r, y, k, a: dirichlet_partition(y, k, a, rng=r)),
        ("clients", by_classes),
        ("capped clients", lambda r, y, k, a: capped_dirichlet_partition(y, k, a, min_samples=1, rng=r)),
        ("classes", lambda r, y, k, a: class_shares_partition(y, k, a, min_samples=1, rng=r)),
    ):
        asked = concentration
        assert shares_are_right(lambda r, y, k, f=function, a=asked: f(r, y, k, a), law, asked, seed)
        if law != "classes":  # whose clients are too small for it
            assert not shares_are_right(lambda r, y, k, f=function, a=4 * asked: f(r, y, k, a), law, asked, seed)


def test_a_law_needs_its_concentration():
    for options in ({"law": "clients"}, {"concentration": 0.5}, {"law": "rows", "concentration": 0.5}):
        with pytest.raises(ValueError, match="must be"):
            check_partition(split, **options)
