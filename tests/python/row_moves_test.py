"""Ops that find, sort and distribute elements: every size of element, lengths around the blocks and chunks in which the
kernels work, both numbers of threads, against numpy."""
import numpy as np
import pytest

import evenflow as tf

raw = tf.raw_ops
ALL = [np.bool_, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(request.param)
    yield request.param
    tf.config.threading.set_intra_op_parallelism_threads(before)


@pytest.mark.parametrize("dtype", ALL)
def test_where(dtype):
    rng = np.random.default_rng(1)
    for shape in ((0,), (1,), (1023,), (1024,), (1025,), (50001,), (3, 0), (1, 2000), (301, 7), (5, 13, 41), (2, 3, 4, 5)):
        for odds in (0, 2, 50):
            x = (rng.integers(0, odds + 1, shape) if odds else np.zeros(shape)).astype(dtype)
            if x.dtype.kind == "c":
                x = x * 1j
            want = np.argwhere(x)
            got = tf.where(x)
            assert got.dtype == tf.int64 and got.shape == want.shape
            np.testing.assert_array_equal(got, want)
    assert tf.where(np.ones([2100], dtype)).shape == [2100, 1]


def test_where_counts_nan_and_not_negative_zero():
    x = np.array([np.nan, -0.0, 0.0, 1e-45, -np.inf], np.float32)
    assert tf.where(x).numpy().ravel().tolist() == [0, 3, 4]
    assert tf.where(tf.cast(x, tf.bfloat16)).numpy().ravel().tolist() == [0, 4]
    assert tf.where(np.array([0j, complex(-0.0, -0.0), complex(0, -1)])).numpy().ravel().tolist() == [2]


@pytest.mark.parametrize("dtype", ALL)
def test_dynamic_partition(dtype):
    rng = np.random.default_rng(2)
    for rows in (0, 1, 100, 16383, 16384, 24577, 150001):
        for row in ((), (3,)) if rows < 20000 else ((), ):
            x = rng.integers(0, 2, (rows, *row)).astype(dtype) if dtype == np.bool_ else \
                rng.integers(0, 100, (rows, *row)).astype(dtype)
            for parts in (1, 3, 700):
                at = rng.integers(0, parts, rows).astype(np.int32)
                for number, got in enumerate(tf.dynamic_partition(x, at, parts)[:5]):
                    np.testing.assert_array_equal(got, x[at == number])


def test_dynamic_partition_of_strings_and_empty_rows():
    a, b = tf.dynamic_partition(tf.constant([["a", "bb"], ["c", "d"], ["e", "f" * 50]]), [1, 0, 1], 2)
    assert a.numpy().tolist() == [[b"c", b"d"]] and b.numpy().tolist() == [[b"a", b"bb"], [b"e", b"f" * 50]]
    a, b = tf.dynamic_partition(np.zeros([40000, 0], np.float32), np.arange(40000, dtype=np.int32) % 2, 2)
    assert a.shape == b.shape == [20000, 0]


def test_the_first_wrong_part_is_named():
    for rows in (10, 50000):
        at = np.zeros(rows, np.int32)
        at[[rows // 2, rows - 1]] = [7, -1]
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"partitions\[{rows // 2}\] = 7 is not in \[0, 2\)"):
            tf.dynamic_partition(at, at, 2)


@pytest.mark.parametrize("dtype", ALL)
def test_shuffled_rows_of_every_size_take_the_same_order(dtype):
    for n in (2, 129, 257, 5000):
        key, counter = np.array([7], np.uint64), np.array([3, 4], np.uint64)
        order = raw.StatelessShuffle(value=np.arange(n), key=key, counter=counter, alg=1).numpy()
        assert sorted(order.tolist()) == list(range(n))
        for row in ((), (2,), (3,), (0,)):
            x = (np.arange(n * int(np.prod(row))).reshape(n, *row) % 251).astype(dtype)
            got = raw.StatelessShuffle(value=x, key=key, counter=counter, alg=1)
            np.testing.assert_array_equal(got, x[order])
            got = raw.StatelessShuffle(value=x.astype(str), key=key, counter=counter, alg=1)
            assert got.numpy().astype(str).tolist() == x[order].astype(str).tolist()


@pytest.mark.parametrize("dtype", ALL)
def test_unique(dtype):
    rng = np.random.default_rng(3)
    for n in (0, 1, 255, 256, 257, 1023, 1025, 30000):
        for high in (1, 5, 100, 10**6):
            with np.errstate(over="ignore"):
                x = rng.integers(-high, high, n).astype(dtype)
            if high == 10**6 and dtype in (np.int64, np.float64, np.complex128):
                x = x * dtype(2**40)
            _, first = np.unique(x, return_index=True)
            want = x[np.sort(first)]
            for index in (tf.int32, tf.int64):
                y, at, count = tf.unique_with_counts(x, index)
                np.testing.assert_array_equal(y, want)
                assert at.dtype == count.dtype == index
                np.testing.assert_array_equal(want[at.numpy()] if n else [], x)
                np.testing.assert_array_equal(count, np.bincount(at.numpy(), minlength=len(want)))
                again, places = tf.unique(x, index)
                np.testing.assert_array_equal(again, y)
                np.testing.assert_array_equal(places, at)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_unique_takes_zeros_for_equal_and_nan_for_new(dtype):
    x = tf.cast([0.0, -0.0, np.nan, 1.0, np.nan, -1.0, np.inf, -np.inf, np.inf, 1.0], dtype)
    y, at = tf.unique(x)
    assert at.numpy().tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 5, 2]
    assert str(tf.cast(y, tf.float32).numpy().tolist()) == "[0.0, nan, 1.0, nan, -1.0, inf, -inf]"


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_to_dense(dtype, index):
    rng = np.random.default_rng(4)
    for shape in ((0,), (7,), (1000,), (31, 33), (5, 6, 40)):
        for share in (0.0, 0.3, 1.0):
            at = np.argwhere(rng.uniform(size=shape) < share).astype(index)
            values = rng.integers(0, 100, len(at)).astype(dtype)
            want = np.full(shape, 1, dtype)
            want[tuple(at.T)] = values
            size = np.array(shape, index)
            got = raw.SparseToDense(sparse_indices=at, output_shape=size, sparse_values=values, default_value=dtype(1))
            np.testing.assert_array_equal(got, want)
            want[tuple(at.T)] = dtype(2)
            got = raw.SparseToDense(sparse_indices=at, output_shape=size, sparse_values=dtype(2), default_value=dtype(1))
            np.testing.assert_array_equal(got, want)


def test_sparse_to_dense_of_strings_and_of_a_scalar():
    got = raw.SparseToDense(sparse_indices=[[0], [2]], output_shape=[4], sparse_values=["a", "b" * 40], default_value="-")
    assert got.numpy().tolist() == [b"a", b"-", b"b" * 40, b"-"]
    got = raw.SparseToDense(sparse_indices=np.zeros([1, 0], np.int64), output_shape=np.zeros([0], np.int64),
                            sparse_values=[5], default_value=1)
    assert int(got) == 5


def test_wrong_sparse_rows_are_named():
    at = np.arange(600, dtype=np.int64)[:, None]
    for row, value, words in ((300, 299, "repeated"), (500, 3, "out of order"), (400, 600, "out of bounds"),
                              (0, -1, "out of bounds")):
        wrong = at.copy()
        wrong[row] = value
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[{row}\] is {words}"):
            raw.SparseToDense(sparse_indices=wrong, output_shape=[600], sparse_values=np.ones(600), default_value=0.0)
    made = raw.SparseToDense(sparse_indices=[[2], [0], [2]], output_shape=[3], sparse_values=[1, 2, 3], default_value=0,
                             validate_indices=False)
    assert made.numpy().tolist() == [2, 0, 3]


@pytest.mark.parametrize("shape", [(10,), (50, 40), (3, 4, 5), (2**30, 2**28), (1, 2**58)])
def test_sparse_reorder(shape):
    rng = np.random.default_rng(5)
    for n in (0, 1, 2, 63, 64, 65, 5000):
        at = np.stack([rng.integers(0, d, n) for d in shape], 1)
        order = np.lexsort(at.T[::-1])
        for values in (np.arange(n), np.arange(n).astype(np.float32), np.arange(n).astype(str)):
            for indices, kept in ((at, values), (at[order], values[order])):
                got, moved = raw.SparseReorder(input_indices=indices, input_values=kept, input_shape=shape)
                np.testing.assert_array_equal(got, at[order])
                assert moved.numpy().astype(str).tolist() == values[order].astype(str).tolist()
