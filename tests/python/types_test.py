"""dtypes, shapes, errors, nest, type specs: what needs no op."""
import collections
import pickle

import numpy as np
import pytest

import evenflow as tf
from evenflow._src import nest


def test_dtypes_compare_as_tensorflow():
    assert tf.float32 == "float32" == tf.float32
    assert tf.float32 == np.float32 and tf.float32 == np.dtype("f4") and tf.float32 == float
    assert tf.bool == bool and tf.int64 != int and tf.string != str
    assert tf.float32 != "nonsense" and tf.float32 is not None
    assert hash(tf.float32) == 1 and hash(tf.float32) != hash("float32")


def test_dtype_properties():
    assert tf.complex64.real_dtype is tf.float32
    assert tf.bfloat16.is_floating and tf.bfloat16.size == 2
    assert tf.uint8.limits == (0, 255) and tf.int8.min == -128
    assert repr(tf.int32) == "tf.int32" and str(tf.int32) == "<dtype: 'int32'>"
    assert tf.as_dtype("float32_ref").base_dtype is tf.float32
    assert pickle.loads(pickle.dumps(tf.half)) is tf.float16
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.as_dtype("foo")
    with pytest.raises(TypeError):
        tf.string.max


def test_shapes_are_like_tuples():
    s = tf.TensorShape([2, None, 3])
    assert s == [2, None, 3] and s == (2, None, 3) and s != [2, None]
    assert hash(tf.TensorShape([1, 2])) == hash((1, 2))
    assert s.rank == 3 and len(s) == 3 and s[0] == 2 and s[-1] == 3 and s[1] is None
    assert s[1:] == [None, 3] and s + [4] == [2, None, 3, 4] and [1] + s == [1, 2, None, 3]
    assert repr(s) == "TensorShape([2, None, 3])" and str(s) == "(2, None, 3)"
    assert s.num_elements() is None and tf.TensorShape([2, 3]).num_elements() == 6


def test_unknown_shape():
    s = tf.TensorShape(None)
    assert s.rank is None and not s and s == tf.TensorShape(None) and str(s) == "<unknown>"
    assert s[0] is None and s[1:3] == [None, None]
    for ask in (len, list, lambda x: x.as_list()):
        with pytest.raises(ValueError):
            ask(s)


def test_shapes_merge():
    a = tf.TensorShape([2, None])
    assert a.merge_with([None, 3]) == [2, 3]
    assert a.most_specific_compatible_shape([4, None]) == [None, None]
    assert a.is_compatible_with([2, 9]) and not a.is_compatible_with([3, 9])
    with pytest.raises(ValueError, match="not compatible"):
        a.merge_with([3, 3])
    with pytest.raises(ValueError, match="rank 3"):
        a.with_rank(3)
    with pytest.raises(TypeError):
        tf.TensorShape([2.5])
    with pytest.raises(ValueError, match=">= 0"):
        tf.TensorShape([-2])


def test_errors():
    e = tf.errors.InvalidArgumentError(None, None, "what", 3)
    assert e.message == "what" and e.error_code == tf.errors.INVALID_ARGUMENT and str(e) == "what"
    assert isinstance(e, tf.errors.OpError)
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and again.message == "what"
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)


def test_errors_in_graphs_are_value_errors_too():
    @tf.function
    def f(x):
        return tf.matmul(x, x)

    with pytest.raises(ValueError):
        f(tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


Point = collections.namedtuple("Point", "x y")


def test_nest_flatten_and_pack():
    s = {"b": 1, "a": [2, (3, None)]}
    assert tf.nest.flatten(s) == [2, 3, None, 1]
    assert tf.nest.pack_sequence_as(s, [1, 2, 3, 4]) == {"b": 4, "a": [1, (2, 3)]}
    assert tf.nest.pack_sequence_as(Point(0, [0]), [5, 6]) == Point(5, [6])
    assert tf.nest.map_structure(lambda a, b: a + b, [1, {"k": 2}], [3, {"k": 4}]) == [4, {"k": 6}]
    assert tf.nest.flatten("ab") == ["ab"] and tf.nest.flatten(5) == [5]
    with pytest.raises(ValueError, match="2 atoms"):
        tf.nest.pack_sequence_as([1, 2], [1])


def test_nest_compares():
    tf.nest.assert_same_structure([1, {"a": 2}], [3, {"a": 4}])
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.assert_same_structure([1], (1,))
    with pytest.raises(ValueError, match="set of keys"):
        tf.nest.assert_same_structure({"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match="number of elements"):
        tf.nest.assert_same_structure([1], [1, 2])


def test_nest_up_to_and_paths():
    assert nest.flatten_up_to([0, 0], [[1, 2], {"a": 3}]) == [[1, 2], {"a": 3}]
    assert nest.flatten_with_joined_string_paths({"a": [1, 2]}) == [("a/0", 1), ("a/1", 2)]
    pairs = nest.map_structure_with_tuple_paths(lambda p, x: (p, x), {"a": [1]})
    assert pairs == {"a": [(("a", 0), 1)]}


def test_composites_open_up():
    st = tf.SparseTensor([[0]], [1], [3])
    assert len(tf.nest.flatten(st)) == 1
    parts = tf.nest.flatten([st, 2], expand_composites=True)
    assert len(parts) == 4
    again = tf.nest.pack_sequence_as([st, 2], parts, expand_composites=True)
    assert isinstance(again[0], tf.SparseTensor) and again[0].shape == [3]


def test_specs():
    a, b = tf.TensorSpec([1, None]), tf.TensorSpec([1, 2])
    assert repr(a) == "TensorSpec(shape=(1, None), dtype=tf.float32, name=None)"
    assert b.is_subtype_of(a) and a.is_compatible_with(b) and not a.is_compatible_with(3)
    assert a.is_compatible_with(tf.ones([1, 7]))
    assert a.most_specific_common_supertype([tf.TensorSpec([5, 5])]) == tf.TensorSpec([None, None])
    with pytest.raises(ValueError):
        a.most_specific_compatible_type(tf.TensorSpec([1, 2], tf.int32))
    assert tf.type_spec_from_value(np.ones(3)) == tf.TensorSpec([3], tf.float64)


def test_values_pickle():
    for value in (tf.TensorShape([1, None]), tf.TensorShape(None), tf.TensorSpec([2], tf.int32, "n"),
                  tf.SparseTensorSpec([3]), tf.RaggedTensorSpec([2, None]), tf.IndexedSlicesSpec()):
        assert pickle.loads(pickle.dumps(value)) == value


def test_indexed_slices():
    rows = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 1]), tf.constant([3, 3]))
    dense = tf.convert_to_tensor(rows)
    assert dense.numpy().tolist() == [[0] * 3, [2] * 3, [0] * 3]
    assert tf.cast(rows, tf.float64).values.dtype == tf.float64
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.ones([1, 1]), tf.constant([0])))


def test_missing_names_say_what_is_near():
    with pytest.raises(AttributeError, match="tf.math.reduce_sum"):
        tf.math.reduce_summ
    with pytest.raises(AttributeError, match="nearest"):
        tf.raw_ops.AddV3


def test_names_of_specs():
    a, b, none = (tf.TensorSpec([1], tf.float32, name) for name in ("a", "b", None))
    assert a.is_subtype_of(a) and none.is_subtype_of(a) and none.is_subtype_of(none)
    assert not a.is_subtype_of(none) and not a.is_subtype_of(b)
    assert a.is_compatible_with(b) and none.is_compatible_with(a)
    assert a.most_specific_common_supertype([b]) is None and none.most_specific_common_supertype([a]) is None
    assert a.most_specific_common_supertype([tf.TensorSpec([2], tf.float32, "a")]) == tf.TensorSpec([None], tf.float32, "a")


@pytest.mark.parametrize("number", [100, 200, 201, 233, 1001])
def test_numbers_of_no_dtype(number):
    with pytest.raises(TypeError):
        tf.dtypes.DType(number)
    assert tf.dtypes.DType(101).base_dtype is tf.float32


def test_a_dtype_equals_its_name_only():
    assert tf.float32 == "float32" and tf.float32 != "float64" and tf.float32 != "no dtype"
    assert tf.as_dtype("float") == tf.float32 == "float" and tf.bool == "bool"
