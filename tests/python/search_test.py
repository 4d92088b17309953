"""Positions in sorted rows and counts in bins: every dtype, sizes around the blocks in which the kernels work, both
numbers of threads, against numpy."""
import numpy as np
import pytest

import evenflow as tf

raw = tf.raw_ops


@pytest.fixture(params=[1, 2])
def threads(request):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(request.param)
    yield request.param
    tf.config.threading.set_intra_op_parallelism_threads(before)


SIZES = [(0, 3), (1, 31), (2, 32), (3, 33), (7, 65), (64, 0), (1000, 5000), (1023, 40001)]
DTYPES = [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
          tf.uint32, tf.uint64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_in_sorted_rows(dtype, threads):
    rng = np.random.default_rng(3)
    kind = dtype.as_numpy_dtype
    for n, m in SIZES:
        rows = np.sort(rng.integers(0, 100, (3, n)), 1).astype(kind)
        for values in (rng.integers(0, 110, (3, m)), np.sort(rng.integers(0, 110, (3, m)), 1)):
            values = values.astype(kind)
            for side in ("left", "right"):
                want = [np.searchsorted(r.astype(np.float64), v.astype(np.float64), side) for r, v in zip(rows, values)]
                for index in (tf.int32, tf.int64):
                    op = raw.LowerBound if side == "left" else raw.UpperBound
                    got = op(sorted_inputs=rows, values=values, out_type=index)
                    assert got.dtype == index
                    np.testing.assert_array_equal(got, np.reshape(want, [3, m]))


def test_large_integers_are_compared_exactly(threads):
    top = 2**63 - 1
    rows, values = np.array([[-top, 0, top - 1, top]]), np.array([[top - 1, top, -top, 1]])
    assert raw.LowerBound(sorted_inputs=rows, values=values).numpy().tolist() == [[2, 3, 0, 2]]
    assert raw.UpperBound(sorted_inputs=rows, values=values).numpy().tolist() == [[3, 4, 1, 2]]


def test_nan_among_sorted_rows(threads):
    nan = np.nan
    rows = np.array([[1, 2, 3, nan]], np.float32)
    values = np.array([[nan, 2, 5, -1] * 20], np.float32)
    assert raw.LowerBound(sorted_inputs=rows, values=values).numpy()[0, :4].tolist() == [0, 1, 3, 0]
    assert raw.UpperBound(sorted_inputs=rows, values=values).numpy()[0, :4].tolist() == [4, 2, 4, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_histograms(dtype, threads):
    rng = np.random.default_rng(4)
    for n in (0, 1, 511, 512, 513, 100003):
        for bins in (1, 7, 300, 20000):
            x = (rng.standard_normal(n) * 50).astype(dtype)
            step = 80.0 / bins
            at = np.clip(np.floor((x.astype(np.float64) + 40) / step), 0, bins - 1).astype(np.int64)
            for out in (tf.int32, tf.int64):
                got = tf.histogram_fixed_width(x, np.array([-40, 40], dtype), bins, out)
                assert got.dtype == out
                np.testing.assert_array_equal(got, np.bincount(at, minlength=bins))


def test_the_first_nan_of_a_histogram_is_named(threads):
    x = np.ones(100000, np.float32)
    x[[70001, 90000]] = np.nan
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 70001 is"):
        tf.histogram_fixed_width(x, [0.0, 2.0], 10)
    assert tf.histogram_fixed_width(x, [0.0, 2.0], 1).numpy().tolist() == [100000]
    wide = np.array([np.inf, 3e38, -np.inf, 0], np.float64)
    assert tf.histogram_fixed_width(wide, np.array([-1.0, np.inf]), 3).numpy().tolist() == [4, 0, 0]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.float64])
def test_bincount(dtype, threads):
    rng = np.random.default_rng(5)
    for n in (0, 1, 511, 512, 513, 100003):
        for size in (0, 1, 10, 1000, 200000):
            for index in (np.int32, np.int64):
                x = rng.integers(0, 1200, n).astype(index)
                want = np.bincount(x[x < size], minlength=size)
                for binary in (False, True):
                    got = raw.DenseBincount(input=x, size=index(size), weights=tf.zeros([0], dtype), binary_output=binary)
                    assert got.dtype == dtype
                    np.testing.assert_array_equal(got, want > 0 if binary else want)


def test_a_negative_number_is_named(threads):
    for n in (10, 100000):
        x = np.ones(n, np.int32)
        x[[n // 2, n - 1]] = -3
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"element {n // 2} is -3"):
            raw.DenseBincount(input=x, size=4, weights=tf.zeros([0], tf.int32))


def test_float_counts_end_where_a_sum_of_ones_does(threads):
    x = np.zeros(2**24 + 1000, np.int32)
    assert raw.DenseBincount(input=x, size=1, weights=tf.zeros([0], tf.float32)).numpy().tolist() == [2.0**24]
