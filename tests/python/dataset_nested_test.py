"""Datasets of datasets, made from lists of datasets; the expected values are TensorFlow's."""
import pytest

import evenflow as tf

D = tf.data.Dataset


def values(dataset):
    return [int(v) for v in dataset.as_numpy_iterator()]


def test_slices_of_a_list_of_datasets():
    slices = D.from_tensor_slices([D.range(3), D.range(10, 12)])
    assert slices.element_spec == tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))
    assert int(slices.cardinality()) == 2
    assert [values(d) for d in slices] == [[0, 1, 2], [10, 11]]
    assert values(slices.interleave(lambda d: d)) == [0, 10, 1, 11, 2]
    assert values(slices.interleave(lambda d: d, num_parallel_calls=2)) == [0, 10, 1, 11, 2]
    assert values(slices.flat_map(lambda d: d.map(lambda x: x + 1))) == [1, 2, 3, 11, 12]


def test_in_structures():
    pairs = D.from_tensor_slices({"a": [D.range(1), D.range(2)], "b": [7, 8]})
    assert pairs.element_spec["b"] == tf.TensorSpec((), tf.int32)
    assert [(values(e["a"]), int(e["b"])) for e in pairs] == [([0], 7), ([0, 1], 8)]
    dicts = D.from_tensor_slices([D.range(2).map(lambda x: {"x": x}) for _ in range(2)]).flat_map(lambda d: d)
    assert [int(e["x"]) for e in dicts] == [0, 1, 0, 1]


def test_shapes_that_differ_become_unknown():
    slices = D.from_tensor_slices([D.from_tensors([1, 2]), D.from_tensors([1, 2, 3])])
    assert slices.element_spec == tf.data.DatasetSpec(tf.TensorSpec((None,), tf.int32))
    assert [v.tolist() for v in slices.flat_map(lambda d: d).as_numpy_iterator()] == [[1, 2], [1, 2, 3]]


def test_many():
    slices = D.from_tensor_slices([D.from_tensors(k) for k in range(777)])
    assert values(slices.flat_map(lambda d: d)) == list(range(777))


@pytest.mark.parametrize("tensors, message", [
    ([D.range(3), D.from_tensors("a")], "of one kind"),
    (D.range(3), "not supported for rank 0"),
    ((D.range(3), D.range(4)), "not supported for rank 0"),
    ([D.range(3), 3], "cannot be converted to a tensor"),
    (([D.range(1), D.range(2)], [1, 2, 3]), r"Dimensions \[2, 3\] are not compatible"),
])
def test_errors(tensors, message):
    with pytest.raises(ValueError, match=message):
        D.from_tensor_slices(tensors)


def test_a_dataset_is_not_read_as_a_list():
    with pytest.raises(ValueError, match="cannot be converted to a tensor"):
        D.from_tensors([D.range(3), D.range(3)])


def test_slices_of_a_list_of_datasets_in_a_graph_of_tensorflow_1():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        slices = D.from_tensor_slices([D.range(3), D.range(10, 12)]).flat_map(lambda d: d)
        one = tf.compat.v1.data.make_one_shot_iterator(slices).get_next()
        assert [int(session.run(one)) for _ in range(5)] == [0, 1, 2, 10, 11]
        with pytest.raises(ValueError, match="not compatible"):
            D.from_tensor_slices(([D.range(3), D.range(4)], [1., 2., 3.]))
