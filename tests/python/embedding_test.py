"""Embedding tables in one part or several, by dense, sparse and ragged numbers."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
TABLE = np.arange(26, dtype=np.float32).reshape(13, 2)
RAGGED = tf.ragged.constant([[1, 12], [3], [], [0, 5, 5]])


def dealt(parts, strategy):
    if strategy == "mod":
        return [TABLE[k::parts] for k in range(parts)]
    return np.array_split(TABLE, parts)


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("parts", [1, 3, 5])
def test_parts_give_the_rows_of_the_whole(parts, strategy):
    table, ids = dealt(parts, strategy), [[0, 12, 3], [7, 7, 11]]
    np.testing.assert_array_equal(v1.nn.embedding_lookup(table, ids, strategy), TABLE[np.array(ids)])
    variables = [tf.Variable(t) for t in table]
    ids = tf.constant(ids, tf.int64)
    np.testing.assert_array_equal(v1.nn.embedding_lookup(variables, ids, strategy), TABLE[ids.numpy()])
    if strategy == "div":
        np.testing.assert_array_equal(tf.nn.embedding_lookup(table, ids), TABLE[ids.numpy()])
    open_parts = tf.function(lambda *t: v1.nn.embedding_lookup(list(t), ids, strategy),
                             input_signature=[tf.TensorSpec([None, 2])] * parts)
    np.testing.assert_array_equal(open_parts(*table), TABLE[ids.numpy()])


def test_wrong_tables():
    with pytest.raises(ValueError, match="partition strategy"):
        v1.nn.embedding_lookup([TABLE, TABLE], [1], "row")
    with pytest.raises(ValueError):
        tf.nn.embedding_lookup([], [1])
    with pytest.raises(ValueError):
        tf.nn.embedding_lookup(None, [1])


def test_ragged_numbers_give_ragged_rows():
    found = tf.nn.embedding_lookup(TABLE, RAGGED)
    assert found.to_list() == [TABLE[[1, 12]].tolist(), [TABLE[3].tolist()], [], TABLE[[0, 5, 5]].tolist()]
    limited = tf.nn.embedding_lookup(TABLE, RAGGED, max_norm=1.0)
    np.testing.assert_allclose(np.linalg.norm(limited.flat_values, axis=1), [1, 1, 1, 1, 1, 1], rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ragged_and_sparse_numbers_agree(combiner, weighted, dtype):
    table = TABLE.astype(dtype)
    weights = tf.ragged.constant([[1.0, 2.0], [0.5], [], [1.0, 1.0, 3.0]]) if weighted else None
    made = tf.nn.embedding_lookup_sparse(table, RAGGED, weights, combiner=combiner)
    assert made.dtype == dtype
    expected = np.zeros((4, 2))
    for row, ids in enumerate(RAGGED.to_list()):
        w = np.array(weights.to_list()[row] if weighted else [1.0] * len(ids))
        by = {"sum": 1, "mean": w.sum(), "sqrtn": np.sqrt((w * w).sum())}[combiner]
        expected[row] = (TABLE[ids] * w[:, None]).sum(0) / (by or 1)
    np.testing.assert_allclose(made, expected, rtol=2e-3)
    sparse = tf.nn.embedding_lookup_sparse(
        table, RAGGED.to_sparse(), None if weights is None else weights.to_sparse(), combiner=combiner)
    np.testing.assert_allclose(sparse, expected, rtol=2e-3)


def test_numbers_and_weights_of_two_kinds_are_refused():
    weights = tf.ragged.constant([[1.0, 2.0], [0.5], [], [1.0, 1.0, 3.0]])
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(TABLE, RAGGED.to_sparse(), weights)
    with pytest.raises(TypeError):
        tf.nn.embedding_lookup_sparse(TABLE, [[1]], None)
    with pytest.raises(ValueError):
        tf.nn.embedding_lookup_sparse(TABLE, RAGGED, tf.ragged.constant([[1.0, 2.0], [0.5]]))


def test_a_graph_leaves_the_number_of_segments_open():
    with tf.Graph().as_default():
        data = tf.ones([3, 2])
        assert tf.math.segment_sum(data, [0, 0, 1]).shape.as_list() == [None, 2]
        assert tf.math.segment_max(data, [0, 0, 1]).shape.as_list() == [None, 2]
        found = v1.nn.embedding_lookup_sparse(TABLE, RAGGED.to_sparse(), None)
        assert found.shape.as_list() == [None, 2]
        assert v1.Session().run(found).shape == (4, 2)
