"""Ragged tensors: making, taking apart, indexing, arithmetic."""
import evenflow as tf
import pytest

ROWS = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]


def test_parts_and_text():
    r = tf.ragged.constant(ROWS)
    assert repr(r) == "<tf.RaggedTensor [[1.0, 2.0], [], [3.0, 4.0, 5.0]]>"
    assert str(r.shape) == "(3, None)" and r.ragged_rank == 1
    assert r.row_lengths().numpy().tolist() == [2, 0, 3]
    assert r.value_rowids().numpy().tolist() == [0, 0, 2, 2, 2]
    assert r.bounding_shape().numpy().tolist() == [3, 3]
    assert len(tf.nest.flatten(r, expand_composites=True)) == 2


@pytest.mark.parametrize("make, part", [
    ("from_row_splits", [0, 3, 2]), ("from_row_splits", [1, 3]), ("from_row_splits", [0, 2]),
    ("from_row_lengths", [1, -1, 3]), ("from_row_lengths", [1, 1]), ("from_value_rowids", [0, 2, 1])])
def test_parts_that_do_not_fit(make, part):
    with pytest.raises(tf.errors.InvalidArgumentError):
        getattr(tf.RaggedTensor, make)([1, 2, 3], part)


def test_indexing():
    r = tf.ragged.constant(ROWS)
    assert r[0].numpy().tolist() == [1, 2] and float(r[2, 1]) == 4 and r[-1].numpy().tolist() == [3, 4, 5]
    assert r[::2].to_list() == [[1, 2], [3, 4, 5]]
    assert r[:, ::-1].to_list() == [[2, 1], [], [5, 4, 3]]
    assert r[:, -2:].to_list() == [[1, 2], [], [4, 5]]
    assert r[..., :1].to_list() == [[1], [], [3]]
    with pytest.raises(IndexError):
        r[3]
    with pytest.raises(ValueError, match="inner ragged"):
        r[:, 0]


def test_arithmetic():
    r = tf.ragged.constant(ROWS)
    assert (r * r + 1.0).to_list() == [[2, 5], [], [10, 17, 26]]
    assert (10.0 - r).to_list() == [[9, 8], [], [7, 6, 5]]
    assert (r * tf.constant([[10.0], [20.0], [30.0]])).to_list() == [[10, 20], [], [90, 120, 150]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        r + tf.constant([1.0, 2.0, 3.0])


def test_dense_and_back_with_gradient():
    x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        dense = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5]).to_tensor(-1.0, shape=[None, 4])
        loss = tf.reduce_sum(dense * dense)
    assert dense.numpy().tolist() == [[1, 2, -1, -1], [-1] * 4, [3, 4, 5, -1]]
    assert tape.gradient(loss, x).numpy().tolist() == [2, 4, 6, 8, 10]
    assert tf.RaggedTensor.from_tensor([[1, 2, 0], [0, 0, 0]], padding=0).to_list() == [[1, 2], []]
    deep = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    assert deep.to_tensor().numpy().tolist() == [[[1, 2], [0, 0]], [[0, 0], [0, 0]], [[3, 0], [0, 0]]]
    assert deep.merge_dims(0, 1).to_list() == [[1, 2], [], [3]]
    assert deep.to_sparse().indices.numpy().tolist() == [[0, 0, 0], [0, 0, 1], [2, 0, 0]]


def test_through_a_function():
    r = tf.ragged.constant(ROWS)
    assert tf.function(lambda x: x * 2.0)(r).to_list() == [[2, 4], [], [6, 8, 10]]


def test_a_call_keeps_each_dimension():
    traces = []

    @tf.function
    def same(x):
        traces.append(x.shape.as_list())
        return x

    flat = tf.constant([1.0, 2.0, 3.0, 4.0])
    splits = tf.constant([0, 2, 4], tf.int64)
    even = tf.RaggedTensor.from_uniform_row_length(flat, 2)
    ragged = tf.RaggedTensor.from_row_splits(flat, splits)
    outer = tf.RaggedTensor.from_uniform_row_length(ragged, 2)
    inner = tf.RaggedTensor.from_row_splits(even, splits[:2])
    for x in (even, ragged, outer, inner, even, ragged, outer, inner):
        y = same(x)
        assert y.shape.as_list() == x.shape.as_list() and y.ragged_rank == x.ragged_rank
        assert y.to_list() == x.to_list()
    assert traces == [[2, 2], [2, None], [1, 2, None], [1, None, 2]]
    assert int(same(outer).uniform_row_length) == 2
    more = tf.ragged.constant([[1.0], [], [2.0, 3.0]])
    assert same(more).shape.as_list() == [3, None] and traces[-1] == [3, None]
    signed = tf.function(lambda x: x * 2.0, input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    assert signed(more).to_list() == [[2.0], [], [4.0, 6.0]] and signed(ragged).to_list() == [[2.0, 4.0], [6.0, 8.0]]


@pytest.mark.parametrize("value", (tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.sparse.from_dense([[1.0, 0.0]])))
def test_a_call_makes_no_spec(value, monkeypatch):
    same = tf.function(lambda x: x)
    same(value)
    asked = []
    monkeypatch.setattr(type(value), "_type_spec", property(lambda self: asked.append(self)))
    assert isinstance(same(value), type(value)) and not asked


def test_reductions_and_rows():
    r = tf.ragged.constant(ROWS)
    assert tf.reduce_sum(r, axis=1).numpy().tolist() == [3, 0, 12]
    assert tf.reduce_mean(r, axis=0).numpy().tolist() == [2, 3, 5]
    assert float(tf.reduce_sum(r)) == 15 and float(tf.reduce_mean(r, axis=[0, 1])) == 3
    assert tf.reduce_any(r > 4.0, axis=1).numpy().tolist() == [False, False, True]
    deep = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    assert tf.reduce_sum(deep, axis=1).to_list() == [[1, 2], [], [3]]
    assert tf.reduce_sum(deep, axis=2).to_list() == [[3, 0], [], [3]]
    assert tf.gather(r, [2, 0]).to_list() == [[3, 4, 5], [1, 2]]


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tf.function(f, autograph=False)])
def test_functions_of_rows(wrap):
    rows = tf.ragged.constant([[1, 2], [3], []])
    deep = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5]]])
    numbers = tf.RaggedTensorSpec([None], tf.int32)
    assert wrap(lambda: tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.int32))().numpy().tolist() == [3, 3, 0]
    assert wrap(lambda: tf.map_fn(lambda r: r * 2, rows))().to_list() == [[2, 4], [6], []]
    assert wrap(lambda: tf.map_fn(lambda r: r + 1, deep))().to_list() == [[[2], [3, 4]], [], [[5, 6]]]
    assert wrap(lambda: tf.map_fn(tf.range, tf.constant([1, 3]), fn_output_signature=numbers))().to_list() == [[0], [0, 1, 2]]
    both = wrap(lambda: tf.map_fn(lambda d: (d["r"] + d["x"], tf.size(d["r"])), {"r": rows, "x": tf.constant([10, 20, 30])},
                                  fn_output_signature=(numbers, tf.int32)))()
    assert both[0].to_list() == [[11, 12], [23], []] and both[1].numpy().tolist() == [2, 1, 0]
    assert wrap(lambda: tf.map_fn(tf.range, tf.zeros([0], tf.int32), fn_output_signature=numbers))().to_list() == []


def test_elements_of_any_length():
    array = tf.TensorArray(tf.int32, 2, infer_shape=False, element_shape=[None])
    assert array.write(0, [1]).write(1, [2, 3]).concat().numpy().tolist() == [1, 2, 3]


def test_going_over_rows():
    ragged = tf.ragged.constant([[1, 2], [3], []])
    assert [row.numpy().tolist() for row in ragged] == [[1, 2], [3], []]
    assert [row.to_list() for row in tf.ragged.constant([[[1], [2, 3]], []])] == [[[1], [2, 3]], []]
    with pytest.raises(TypeError, match="boolean"):
        bool(ragged)

    @tf.function
    def lengths(rows):
        total, seen = 0, 0
        for row in rows:
            total += tf.reduce_sum(row)
            if tf.size(row) == 0:
                break
            seen += 1
        return total, seen

    assert [int(v) for v in lengths(ragged)] == [6, 2]
