"""Values given as lists, sizes that are zero, names that are none: small arguments as TensorFlow reads them."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def test_a_list_among_grad_ys_is_a_value():
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
        assert session.run(tf.gradients(x * 2.0, x, grad_ys=[[1.0, 2.0, 3.0]]))[0].tolist() == [2, 4, 6]
        assert session.run(v1.gradients(x * 2.0, x, grad_ys=[[1.0, 1.0, 1.0]]))[0].tolist() == [2, 2, 2]
        assert session.run(tf.gradients([x * y, y], y, grad_ys=[[1.0, 0.0, 0.0], 5.0]))[0] == 6
        with pytest.raises(ValueError):
            tf.gradients([x, y], y, grad_ys=[1.0, 2.0, 3.0])


def test_small_questions():
    assert not v1.Dimension(0) and not v1.Dimension(None) and v1.Dimension(2)
    assert len(list(v1.RunMetadata().step_stats.dev_stats)) == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        tf.constant(1, tf.uint8) // tf.constant(0, tf.uint8)


def test_labels_of_open_shape():
    unique = tf.function(tf.nn.ctc_unique_labels, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    labels = [[3, 4, 4, 3], [5, 5, 5, 5]]
    for made, known in zip(unique(tf.constant(labels)), tf.nn.ctc_unique_labels(labels)):
        assert made.dtype == known.dtype
        np.testing.assert_array_equal(made, known)


@pytest.mark.parametrize("small", [tf.int8, tf.uint8])
def test_bytes_multiply_bfloat16(small):
    x, y = tf.constant([[1, 2], [3, 4]], small), tf.constant([[1, 2], [0, 1]], tf.bfloat16)
    made = tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=tf.bfloat16)
    assert made.dtype == tf.bfloat16
    np.testing.assert_array_equal(tf.cast(made, tf.float32), [[1, 4], [3, 10]])
    other = tf.raw_ops.BatchMatMulV3(x=y, y=x, Tout=tf.bfloat16)
    np.testing.assert_array_equal(tf.cast(other, tf.float32), [[7, 10], [3, 4]])


def test_scopes_with_names_that_are_none():
    with tf.Graph().as_default():
        for bad in ("_bad", "a b", "?"):
            with pytest.raises(ValueError):
                with v1.name_scope(bad):
                    pass
        with v1.name_scope("a"), v1.name_scope("_inner") as name:
            assert name == "a/_inner/"
