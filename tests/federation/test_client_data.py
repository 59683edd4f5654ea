"""Clients' samples in one table: assignment of rows, and rejected tables."""

import numpy as np
import pytest

from fedtheory.federation.client_data import FederatedData

PAIRS = [([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 1]), ([[3.0, 5.0]], [0])]


def test_rows_between_the_offsets_are_the_clients_own():
    data = FederatedData.from_clients(PAIRS, test=[([[9.0, 9.0]], [1]), (np.empty((0, 2)), [])])
    assert data.offsets.tolist() == [0, 3, 4]
    for k, (x, y) in enumerate(PAIRS):
        np.testing.assert_array_equal(data.client(k)[0], x)
        np.testing.assert_array_equal(data.client(k)[1], y)
    assert data.test_client(0)[1].tolist() == [1]
    assert data.test_client(1)[1].size == 0


def test_taking_clients_keeps_their_rows_and_the_classes_of_all():
    data = FederatedData.from_clients(PAIRS, num_classes=5).take([1, 0, 1])
    assert data.sample_counts.tolist() == [1, 3, 1]
    np.testing.assert_array_equal(data.client(2)[0], PAIRS[1][0])
    assert data.num_classes == 5


def test_arrays_are_copies_that_nobody_can_write():
    features = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    data = FederatedData(features, np.array([0, 1, 0]), np.array([0, 2, 3]))
    features[0, 0] = 7.0
    assert data.features[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        data.features[0, 0] = 1.0


def test_a_partition_holds_out_a_share_of_each_client_and_loses_no_row():
    x = np.arange(40.0)[:, None]
    parts = [np.arange(30), np.arange(30, 39), np.array([39])]
    data = FederatedData.from_partition(x, np.zeros(40, int), parts, test_fraction=0.25, rng=1)
    # floor(0.75 * 30) = 22, floor(0.75 * 9) = 6, and a single sample stays.
    assert data.sample_counts.tolist() == [22, 6, 1]
    for k, part in enumerate(parts):
        both = np.concatenate([data.client(k)[0][:, 0], data.test_client(k)[0][:, 0]])
        assert sorted(both) == part.tolist()


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (([[0.0]], [0], [0]), "offsets must increase from 0 to 1"),
        (([[0.0]], [0], [0, 1, 1]), "client 1 without any"),
        (([[0.0], [1.0]], [0, 1], [0, 2, 1, 2]), "offsets must increase"),
        (([[0.0], [1.0]], [0, 0.5], [0, 2]), "got 0.5 at index 1"),
        (([[0.0], [1.0]], [0, -1], [0, 2]), "got -1 at index 1"),
        (([[0.0], [1.0]], [0, 2], [0, 2], 2), "got 2 at index 1"),
        (([[0.0]], [0], [0, 1], 2, [[1.0, 2.0]], [0], [0, 1]), "test_features must have 1 columns"),
        (([[0.0]], [0], [0, 1], 2, [[1.0]], [3], [0, 1]), "test_labels must be in 0..1"),
    ],
)
def test_a_table_in_which_a_sample_has_no_client_or_no_class_is_refused(arguments, given):
    with pytest.raises(ValueError, match=given):
        FederatedData(*arguments)


@pytest.mark.parametrize(("share", "kept"), [(0.8, 2), (0.9, 1), (0.7, 3), (0.3, 7), (0.1, 9), (1.0, 1), (0.0, 10)])
def test_the_training_share_of_ten_samples_is_exact(share, kept):
    # 1 - 0.8 is a little less than 1/5 in binary.
    data = FederatedData.from_partition(np.zeros((10, 1)), np.zeros(10), [np.arange(10)], test_fraction=share)
    assert data.num_samples == kept


def test_a_partition_of_other_rows_is_refused():
    for part, error in (([0, 2], ValueError), ([-1], ValueError), ([0.5], TypeError)):
        with pytest.raises(error, match="part 0 must"):
            FederatedData.from_partition([[0.0], [1.0]], [0, 1], [part])


@pytest.mark.parametrize(
    ("parts", "error", "text"),
    [
        ({0: [0], 1: [1]}, TypeError, "parts must be a sequence"),
        ([0, 1], TypeError, "part 0 must be an array of numbers of samples, got 0"),
        ([[0, 1], [1]], ValueError, "got 1 of 2 rows more than once, the first of them row 1"),
        ([[1]], ValueError, "got 1 of 2 rows in no part, the first of them row 0"),
        ([[0, 1], []], ValueError, "client 1 without any"),
        ([], ValueError, "at least one client"),
    ],
)
def test_parts_that_overlap_lose_rows_or_are_empty_are_refused(parts, error, text):
    with pytest.raises(error, match=text):
        FederatedData.from_partition([[0.0], [1.0]], [0, 1], parts, test_fraction=0.5)


def test_rows_are_left_out_where_this_is_stated():
    data = FederatedData.from_partition([[0.0], [1.0], [2.0]], [0, 1, 1], [[2], [0]], complete=False)
    assert data.features[:, 0].tolist() == [2, 0]


def test_a_common_test_set_belongs_to_no_client_and_stays_with_those_that_are_taken():
    x, y = np.arange(12.0)[:, None], np.arange(12) % 3
    common = np.array([[70.0], [80.0]], dtype=np.float32), [2, 0]
    data = FederatedData.from_partition(x, y, [np.arange(8), np.arange(8, 12)], test=common, test_fraction=0.25)
    assert [len(data.test_client(k)[1]) for k in range(2)] == [2, 1]
    assert data.test_offsets.tolist() == [0, 2, 3]
    assert data.test_features[3:].ravel().tolist() == [70.0, 80.0]
    assert data.test_labels[3:].tolist() == [2, 0]
    taken = data.take([1])
    assert taken.test_offsets.tolist() == [0, 1]
    assert taken.test_features[1:].ravel().tolist() == [70.0, 80.0]
