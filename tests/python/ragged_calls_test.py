"""Public functions called with ragged tensors and their values: what TensorFlow 2.21 answers."""
import numpy as np
import pytest

import evenflow as tf

value = tf.compat.v1.ragged.constant_value
FLOATS = [[1.0, 2.0, 3.0], [4.0, 5.0]]
WORDS = [["A b", "B"], ["C"]]


def ragged(rows, **kwargs):
    """The same rows as a RaggedTensorValue and as a RaggedTensor."""
    return [value(rows, **kwargs), tf.ragged.constant(rows, **kwargs)]


def lists(x):
    if isinstance(x, (list, tuple)):
        return [lists(i) for i in x]
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist() if x.shape.rank else x.numpy()


@pytest.mark.parametrize("x", ragged(FLOATS))
def test_elementwise_functions_keep_rows(x):
    for function in (tf.nn.gelu, tf.nn.silu, tf.nn.leaky_relu, tf.math.log_sigmoid, tf.math.real, tf.math.reciprocal_no_nan,
                     lambda v: tf.truediv(v, 2.0), lambda v: tf.divide(v, 2.0), lambda v: tf.math.divide_no_nan(v, 0.0),
                     lambda v: tf.nn.dropout(v, 0.0), lambda v: tf.saturate_cast(v, tf.int8),
                     lambda v: tf.nn.sigmoid_cross_entropy_with_logits(v, v)):
        made = function(x)
        flat = function(tf.constant(x.flat_values))
        assert isinstance(made, tf.RaggedTensor) and made.row_splits.numpy().tolist() == [0, 3, 5]
        np.testing.assert_allclose(made.flat_values, flat)


@pytest.mark.parametrize("x", ragged(FLOATS))
def test_arguments_by_name(x):
    assert lists(tf.expand_dims(input=x, axis=1)) == [[[1.0, 2.0, 3.0]], [[4.0, 5.0]]]
    assert lists(tf.tile(input=x, multiples=[1, 2])) == [[1.0, 2.0, 3.0] * 2, [4.0, 5.0] * 2]
    assert lists(tf.multiply(x=x, y=2.0)) == [[2.0, 4.0, 6.0], [8.0, 10.0]]
    assert lists(tf.stack([x, x]))[1] == FLOATS
    assert lists(tf.ragged.stack([x, x]))[0] == FLOATS
    assert lists(tf.ragged.stack([x])) == [FLOATS] and lists(tf.ragged.stack([[1, 2], [3]])) == [[1, 2], [3]]


@pytest.mark.parametrize("x", ragged(FLOATS))
def test_pieces(x):
    assert lists(tf.split(x, 2)) == [[FLOATS[0]], [FLOATS[1]]]
    assert lists(tf.split(x, [1, 1])) == [[FLOATS[0]], [FLOATS[1]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.split(tf.ragged.constant([[1], [2], [3]]), 2)
    with pytest.raises(ValueError):
        tf.split(x, 2, axis=1)
    assert lists(tf.dynamic_partition(x, [1, 0], 2)) == [[FLOATS[1]], [FLOATS[0]]]
    assert lists(tf.where(value([[True, False, True], [False, True]]))) == [[0, 0], [0, 2], [1, 1]]
    assert lists(tf.reshape(x, [5])) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert lists(tf.cumsum(x)) == [[1.0, 2.0, 3.0], [5.0, 7.0]]


def test_elements_by_place():
    p = tf.ragged.constant([[[1, 2], [3]], [[4, 5, 6]]])
    assert lists(tf.gather_nd(p, [[0, 1]])) == [[3]]
    assert lists(tf.gather_nd(p, [[0, 1, 0], [1, 0, 2]])) == [3, 6]
    assert lists(tf.gather_nd(p, [1, 0])) == [4, 5, 6]
    assert lists(tf.gather_nd(tf.constant([1, 2, 3]), tf.ragged.constant([[[0]], [[2], [1]]], ragged_rank=1))) == [[1], [3, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather_nd(p, [[1, 1]])
    with pytest.raises(ValueError, match="innermost dimension"):
        tf.gather_nd(tf.constant([1, 2, 3]), tf.ragged.constant([[0], [1]]))


@pytest.mark.parametrize("x", ragged(FLOATS))
def test_reductions(x):
    np.testing.assert_allclose(tf.reduce_logsumexp(x, 1), [3.4076059, 5.3132617], 1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(x, 1, keepdims=True), [[3.4076059], [5.3132617]], 1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(x), 5.4519143, 1e-6)
    np.testing.assert_allclose(tf.math.reduce_std(x, 1), [0.8164966, 0.5], 1e-6)
    np.testing.assert_allclose(tf.math.reduce_variance(x, 0, True), [[2.25, 2.25, 0.0]], 1e-6)
    np.testing.assert_allclose(tf.math.reduce_variance(x), 2.0, 1e-6)
    assert lists(tf.reduce_sum(x, 1)) == [6.0, 9.0]


def test_reductions_of_rows_of_rows():
    x = tf.ragged.constant([[[1, 2], [3, 4, 5]], [[6]]])
    assert lists(tf.reduce_sum(x, 0)) == [[7, 2], [3, 4, 5]]
    assert lists(tf.reduce_sum(x, 1)) == [[4, 6, 5], [6]]
    assert lists(tf.reduce_mean(x, 1)) == [[2.0, 3.0, 5.0], [6.0]]
    assert tf.reduce_mean(x).dtype == tf.float64 and float(tf.reduce_mean(x)) == 3.5
    assert lists(tf.math.reduce_variance(tf.ragged.constant([[1, 2], [3]]), 1)) == [0.25, 0.0]


@pytest.mark.parametrize("x", ragged(WORDS))
def test_text(x):
    assert lists(tf.strings.reduce_join(x, 1)) == [b"A bB", b"C"]
    assert lists(tf.strings.reduce_join(x, 0)) == [b"A bC", b"B"]
    assert lists(tf.strings.reduce_join(x, -1, keepdims=True, separator="-")) == [[b"A b-B"], [b"C"]]
    assert lists(tf.strings.reduce_join(x)) == b"A bBC"
    assert lists(tf.strings.lower(x)) == [[b"a b", b"b"], [b"c"]]
    assert lists(tf.strings.split(x)) == [[[b"A", b"b"], [b"B"]], [[b"C"]]]
    assert lists(tf.strings.format("{} {}", [x, 3])) == b"[['A b', 'B'], ['C']] 3"


def test_segments_joined():
    assert lists(tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, ":")) == [b"b", b"a:c", b""]
    assert lists(tf.strings.unsorted_segment_join([["a", "b"], ["c", "d"]], [0, 0], 1)) == [[b"ac", b"bd"]]
    for ids in ([1, -1, 1], [0, 5, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            tf.strings.unsorted_segment_join(["a", "b", "c"], ids, 2)


def test_long_rows_are_cut_in_the_middle(capfd):
    x = tf.ragged.constant([[1, 2], [], [4, 5, 6, 7, 8, 9, 10, 11]])
    assert lists(tf.strings.format("{}", x)) == b"[[1, 2], [], [4, 5, 6, ..., 9, 10, 11]]"
    assert lists(tf.strings.format("{}", x, summarize=-1)) == b"[[1, 2], [], [4, 5, 6, 7, 8, 9, 10, 11]]"
    tf.function(lambda: [tf.print("x", x), 1][1])()
    assert "x [[1, 2], [], [4, 5, 6, ..., 9, 10, 11]]" in capfd.readouterr().err


def test_products():
    assert lists(tf.matmul(value([[1, 2, 3], [4, 5, 6]]), value([[5], [4], [3]]))) == [[22], [58]]
    a = tf.ragged.constant([[[1.0, 2], [3, 4], [5, 6]], [[1, 2, 3]]])
    b = tf.ragged.constant([[[1.0], [2]], [[3.0, 1], [4, 1], [5, 1]]])
    assert lists(tf.matmul(a, b)) == [[[5.0], [11.0], [17.0]], [[26.0, 6.0]]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ragged.constant([[1.0, 2], [3]]), tf.constant([[1.0], [2]]))


# ---- gradients and graphs ---------------------------------------------------------------------------------------


def test_gradients_have_the_rows_of_their_sources():
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert lists(first) == [[3.0, 12.0], [27.0]]
    assert lists(outer.gradient(first, x)) == [[6.0, 12.0], [18.0]]

    @tf.function
    def of_graph(x):
        return tf.gradients(x * x, x)[0], tf.gradients(x * x, [x, x.values], grad_ys=x)

    whole, (rows, flat) = of_graph(x)
    assert lists(whole) == [[2.0, 4.0], [6.0]] and lists(rows) == [[2.0, 8.0], [18.0]] and lists(flat) == [2.0, 8.0, 18.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.with_values(tf.stop_gradient(x.values))
    assert tape.gradient(y, x) is None


def test_factories_in_a_graph():
    with tf.Graph().as_default():
        x = tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 3], validate=False)
        assert str(x) == ('tf.RaggedTensor(values=Tensor("RaggedFromRowSplits/values:0", shape=(3,), dtype=int32), '
                          'row_splits=Tensor("RaggedFromRowSplits/RowPartitionFromRowSplits/row_splits:0", shape=(3,), '
                          'dtype=int64))')
        with pytest.raises(ValueError, match="only supported in eager mode"):
            tf.ragged.constant([[1], [2, 3]]).numpy()
        assert (x == x) is True and (x == tf.ragged.constant([[1], [2, 3]])) is False
        assert not tf.compat.v1.executing_eagerly_outside_functions()
        y = tf.RaggedTensor.from_row_splits(tf.compat.v1.placeholder_with_default([1, 2, 3], None), x.row_splits)
        with pytest.raises(ValueError, match="unknown rank"):
            tf.add(x, y)
        rows = tf.compat.v1.placeholder_with_default(np.array([[0, 1]]), None)
        bad = tf.RaggedTensor.from_value_rowids([1, 2], rows, 3)
        with tf.compat.v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(bad.flat_values + tf.cast(bad.row_splits[0], tf.int32))


def test_the_number_of_rows_given_is_kept():
    nrows = tf.constant(7, tf.int64)
    x = tf.RaggedTensor.from_value_rowids([1, 2], tf.constant([0, 2], tf.int64), nrows, validate=False)
    assert x.nrows() is nrows and x.with_values(x.values).nrows() is nrows and x.nrows(tf.int32).dtype == tf.int32
    with pytest.raises(ValueError, match=r"Expected nrows >= 0; got -2"):
        tf.RaggedTensor.from_value_rowids([1], [0], -2)
    with pytest.raises(ValueError, match=r"got nrows=2, value_rowids\[-1\]=2"):
        tf.RaggedTensor.from_value_rowids([1, 2], [0, 2], 2)


def test_a_ragged_loop_variable_with_a_spec_as_invariant():
    rows = tf.ragged.constant([[1, 2], [3]])

    @tf.function
    def double(spec):
        def body(i, r):
            assert r.row_splits.shape == [None]
            return i + 1, tf.concat([r, r], 0)
        return tf.while_loop(lambda i, r: i < 2, body, [0, rows], shape_invariants=[tf.TensorShape([]), spec])[1]

    expected = [[1, 2], [3]] * 4
    assert double(tf.RaggedTensorSpec([None, None], tf.int32)).to_list() == expected

    @tf.function
    def in_a_dict():
        def body(i, d):
            return i + 1, {"r": tf.concat([d["r"], d["r"]], 0)}
        return tf.while_loop(lambda i, d: i < 2, body, [0, {"r": rows}],
                             shape_invariants=[tf.TensorShape([]), {"r": tf.TensorShape([None, None])}])[1]["r"]

    assert in_a_dict().to_list() == expected
