"""LEAF folders are read user by user; broken folders are rejected with name and position."""

import json

import numpy as np
import pytest

from fedtheory.datasets.leaf import read_leaf


def shard(**users):
    """LEAF's layout for users given as pairs (rows, labels)."""
    return {
        "users": list(users),
        "num_samples": [len(y) for _, y in users.values()],
        "user_data": {name: {"x": x, "y": y} for name, (x, y) in users.items()},
    }


def write(folder, **files):
    for name, content in files.items():
        kind, _, stem = name.partition("_")
        (folder / kind).mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / kind / f"{stem}.json").write_text(text, encoding="utf-8")
    return folder


ANNA = ([[0.0, 1.5], [2, 3]], [1, 0])
BERT = ([[4.0, 5.0]], [2])


def test_users_of_several_files_become_clients_in_order(tmp_path):
    write(tmp_path, train_b=shard(bert=BERT), train_a=shard(anna=ANNA), test_all=shard(bert=([[9.0, 9.0]], [1])))
    data = read_leaf(tmp_path)
    assert data.sample_counts.tolist() == [2, 1]
    np.testing.assert_array_equal(data.client(0)[0], ANNA[0])
    np.testing.assert_array_equal(data.client(1)[1], BERT[1])
    assert data.test_client(0)[1].size == 0
    assert data.test_client(1)[1].tolist() == [1]
    assert data.num_classes == 3


def test_held_out_users_of_a_split_by_user_are_a_common_test_set(tmp_path):
    carl, dora = ([[7.0, 8.0]], [4]), ([[5.0, 6.0], [3.0, 2.0]], [0, 1])
    write(tmp_path, train_a=shard(anna=ANNA, bert=BERT), test_a=shard(carl=carl), test_b=shard(dora=dora))
    data = read_leaf(tmp_path)
    assert (data.num_clients, data.num_classes) == (2, 5)
    assert data.test_client(0)[1].size == data.test_client(1)[1].size == 0
    np.testing.assert_array_equal(data.test_features, [*carl[0], *dora[0]])
    assert data.test_labels.tolist() == [4, 0, 1]
    with pytest.raises(ValueError, match=r"test_labels must be in 0..3, got 4"):
        read_leaf(tmp_path, num_classes=4)


def test_a_folder_without_test_files_holds_out_nothing(tmp_path):
    write(tmp_path, train_a=shard(anna=ANNA, bert=BERT))
    data = read_leaf(tmp_path, num_classes=7)
    assert data.test_labels.size == 0
    assert data.num_classes == 7


def test_images_nested_as_rows_are_flattened_and_float_labels_of_whole_value_accepted(tmp_path):
    write(tmp_path, train_a=shard(anna=([[[1, 2], [3, 4]]], [1.0])))
    np.testing.assert_array_equal(read_leaf(tmp_path).features, [[1, 2, 3, 4]])


def test_num_samples_may_be_absent_and_other_entries_are_ignored(tmp_path):
    content = shard(anna=ANNA) | {"hierarchies": ["x"]}
    del content["num_samples"]
    assert read_leaf(write(tmp_path, train_a=content)).num_samples == 2


def test_the_largest_label_and_the_longest_number_are_read(tmp_path):
    content = shard(anna=([[10**17, 0.5], [1, 2]], [1000000, 0.0]))
    data = read_leaf(write(tmp_path, train_a=content), num_classes=1000001)
    assert data.client(0)[1].tolist() == [1000000, 0]
    assert data.client(0)[0][0, 0] == 1e17


def test_a_byte_order_mark_is_skipped(tmp_path):
    write(tmp_path, train_a="\ufeff" + json.dumps(shard(anna=ANNA)))
    np.testing.assert_array_equal(read_leaf(tmp_path).features, ANNA[0])


def test_labels_that_begin_at_1_keep_their_numbers_and_do_not_fit_their_own_number_of_classes(tmp_path):
    write(tmp_path, train_a=shard(anna=([[0.0], [1.0]], [1, 2])))
    assert (read_leaf(tmp_path).labels.tolist(), read_leaf(tmp_path).num_classes) == ([1, 2], 3)
    with pytest.raises(ValueError, match=r"labels must be in 0\.\.1, got 2"):
        read_leaf(tmp_path, num_classes=2)


GOOD = json.dumps(shard(anna=ANNA))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (GOOD.replace('"x":', '"z":'), "must hold lists 'x' and 'y' for user 'anna'"),
        (GOOD.replace('"y": [1, 0]', '"y": 1'), "must hold lists 'x' and 'y' for user 'anna'"),
        (GOOD.replace("[1, 0]", "[1, 1000001]"), "whole labels in 0..1000000 for user 'anna', got 1000001 in row 1"),
        (GOOD.replace("[1, 0]", "[1, true]"), "whole labels in 0..1000000 for user 'anna', got True in row 1"),
        (GOOD.replace("1.5", "1" * 400), "must hold a row of numbers per sample, got .* in row 0 of user 'anna'"),
        (GOOD[:-9], r"a\.json must be a JSON file, got one which is not JSON .* line 1 column"),
        (GOOD + "}", r"a\.json must be a JSON file, got one which is not JSON .*: Extra data: line 1 column"),
        ("[]", "must be an object with the entries 'users' and 'user_data'"),
        ('{"users": "anna", "user_data": {}}', "must hold a list of names"),
        (GOOD.replace("1.5", "NaN"), "NaN is not a finite number"),
        (GOOD.replace("1.5", "-Infinity"), "-Infinity is not a finite number"),
        (GOOD.replace("1.5", "1e999"), "1e999 is not a finite number"),
        (GOOD.replace("[0.0, 1.5]", "[0.0]"), "must hold rows of equal length for user 'anna', got 2 after 1 in row 1"),
        (GOOD.replace("1.5", '"1.5"'), "must hold a row of numbers per sample, got .* in row 0 of user 'anna'"),
        (GOOD.replace("1.5", "1" * 5000), "5000 digits"),
        (GOOD.replace("1.5", "[1.5]"), "must hold a row of numbers per sample, got .* in row 0 of user 'anna'"),
        (GOOD.replace("1.5", "true").replace("0.0", "false"), "must hold a row of numbers per sample"),
        (GOOD.replace("1.5", "true"), "must hold a row of numbers per sample, got .* in row 0 of user 'anna'"),
        (GOOD.replace("0.0, 1.5", "[0, 1], [true, 2]"), "must hold a row of numbers per sample, got .* in row 0"),
        (GOOD.replace("1.5", "null"), "must hold a row of numbers per sample, got .* in row 0 of user 'anna'"),
        (GOOD.replace("[1, 0]", "[1]"), "one label per row for user 'anna', got 2 rows, 1 labels, num_samples 2"),
        (GOOD.replace("[1, 0]", "[1, 0.5]"), "whole labels in 0..1000000 for user 'anna', got 0.5 in row 1"),
        (GOOD.replace("[1, 0]", "[1, -1]"), "whole labels in 0..1000000 for user 'anna', got -1 in row 1"),
        (GOOD.replace("[1, 0]", '[1, "a"]'), "whole labels in 0..1000000 for user 'anna', got 'a' in row 1"),
        (
            GOOD.replace("[1, 0]", "[1, 1e999]"),
            "1e999 is not a finite number",
        ),
        (GOOD.replace("[2]", "[3]"), "one label per row for user 'anna', got 2 rows, 2 labels, num_samples 3"),
        (GOOD.replace('["anna"]', '["anna", 7]').replace("[2]", "[2, 1]"), "must hold a list of names in 'users'"),
        (GOOD.replace("[2]", "[2, 2]"), "must hold one number per user in 'num_samples'"),
        (GOOD.replace('["anna"]', '["anna", "bert"]').replace("[2]", "[2, 1]"), "got 'bert' in one of them only"),
        (
            GOOD.replace('["anna"]', '["anna", "carl", "bert"]').replace("[2]", "[2, 1, 1]"),
            "got 'bert' in one of them only",
        ),
        (GOOD.replace('["anna"]', '["anna", "anna"]').replace("[2]", "[2, 2]"), "got 'anna' again"),
        (GOOD.replace('{"anna":', '{"anna": 1, "anna":'), "'anna' stands twice"),
        (json.dumps(shard(anna=([], []))), "must hold a sample of each user, got none for 'anna'"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_broken_files_are_refused_with_their_name_and_place(tmp_path, content, text):
    write(tmp_path, train_a=content)
    with pytest.raises(ValueError, match=text) as caught:
        read_leaf(tmp_path)
    assert str(tmp_path / "train" / "a.json") in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    write(tmp_path, train_a=GOOD)
    (tmp_path / "train" / "a.json").write_bytes(b'{"users\xff')
    with pytest.raises(
        ValueError, match=r"a\.json must be a JSON file, got one which is not JSON .*0xff in position 7"
    ):
        read_leaf(tmp_path)


def test_users_in_two_files_or_only_held_out_or_of_another_width_are_refused(tmp_path):
    write(tmp_path, train_a=shard(anna=ANNA), train_b=shard(anna=BERT))
    with pytest.raises(ValueError, match=r"b\.json must hold users of no other file, got 'anna' of a\.json again"):
        read_leaf(tmp_path)
    write(tmp_path, train_b=shard(bert=BERT), test_a=shard(anna=BERT, carl=BERT))
    with pytest.raises(
        ValueError, match=r"a\.json must hold users of the train .* got 'carl' in addition to some of them"
    ):
        read_leaf(tmp_path)
    write(tmp_path, test_a=shard(bert=([[1.0]], [0])))
    with pytest.raises(ValueError, match=r"a\.json must have 2 features, got 1 for user 'bert'"):
        read_leaf(tmp_path)


def test_a_folder_without_training_files_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"train must contain at least one user in \.json files"):
        read_leaf(tmp_path)
