"""tf.experimental.RowPartition: the answers are TensorFlow's."""
import pytest

import evenflow as tf

R = tf.experimental.RowPartition
# How it is made -> row splits, rows of the values, dtype, and the length that all rows have.
MADE = {
    "rowids": (lambda: R.from_value_rowids([0, 0, 2], 4), [0, 2, 2, 3, 3], [0, 0, 2], tf.int64, None),
    "int32": (lambda: R.from_value_rowids(tf.constant([0, 1, 1])), [0, 1, 3], [0, 1, 1], tf.int32, None),
    "splits": (lambda: R.from_row_splits([0, 2, 5]), [0, 2, 5], [0, 0, 1, 1, 1], tf.int64, None),
    "lengths": (lambda: R.from_row_lengths([1, 0, 2]), [0, 1, 1, 3], [0, 2, 2], tf.int64, None),
    "starts": (lambda: R.from_row_starts([0, 2], 5), [0, 2, 5], [0, 0, 1, 1, 1], tf.int64, None),
    "limits": (lambda: R.from_row_limits([2, 5]), [0, 2, 5], [0, 0, 1, 1, 1], tf.int64, None),
    "uniform": (lambda: R.from_uniform_row_length(2, nvals=6), [0, 2, 4, 6], [0, 0, 1, 1, 2, 2], tf.int64, 2),
    "uniform rows": (lambda: R.from_uniform_row_length(2, nrows=2), [0, 2, 4], [0, 0, 1, 1], tf.int64, 2),
    "empty rows": (lambda: R.from_uniform_row_length(0, nvals=0, nrows=3), [0, 0, 0, 0], [], tf.int64, 0),
    "dtype": (lambda: R.from_row_lengths([1, 2], dtype=tf.int32), [0, 1, 3], [0, 1, 1], tf.int32, None),
    "with_dtype": (lambda: R.from_row_splits([0, 2, 5]).with_dtype(tf.int32), [0, 2, 5], [0, 0, 1, 1, 1], tf.int32, None),
}


@pytest.mark.parametrize("name", MADE)
def test_rows(name):
    make, splits, rows, dtype, length = MADE[name]
    p = make()
    assert p.row_splits().numpy().tolist() == splits and p.value_rowids().numpy().tolist() == rows
    assert p.dtype == p.row_splits().dtype == p.value_rowids().dtype == p.nrows().dtype == dtype
    assert p.nrows().numpy() == len(splits) - 1 == p.static_nrows and p.nvals().numpy() == splits[-1]
    assert p.row_starts().numpy().tolist() == splits[:-1] and p.row_limits().numpy().tolist() == splits[1:]
    assert p.row_lengths().numpy().tolist() == [b - a for a, b in zip(splits, splits[1:])]
    assert p.offsets_in_rows().numpy().tolist() == [k - splits[row] for k, row in enumerate(rows)]
    assert p.is_uniform() == (length is not None) and p.static_uniform_row_length == length


def test_text():
    assert repr(R.from_row_lengths([1, 2])) == "tf.RowPartition(row_splits=[0 1 3])"
    assert repr(R.from_uniform_row_length(2, nvals=6)) == "tf.RowPartition(nrows=3, uniform_row_length=2)"


def test_in_a_function():
    f = tf.function(lambda x: R.from_row_lengths(x).value_rowids())
    assert f(tf.constant([1, 2, 0, 1])).numpy().tolist() == [0, 1, 1, 3]
    assert f(tf.constant([2])).numpy().tolist() == [0, 0]


@pytest.mark.parametrize("make, error", [
    (lambda: R.from_row_splits([1, 2]), tf.errors.InvalidArgumentError), (lambda: R.from_value_rowids([1, 0]), tf.errors.InvalidArgumentError),
    (lambda: R.from_row_lengths([-1, 2]), tf.errors.InvalidArgumentError), (lambda: R(1), ValueError),
    (lambda: R.from_row_splits([[0, 1]]), ValueError), (lambda: R.from_uniform_row_length(2), ValueError),
    (lambda: R.from_row_lengths([1]).with_dtype(tf.float32), ValueError)])
def test_errors(make, error):
    with pytest.raises(error):
        make()
