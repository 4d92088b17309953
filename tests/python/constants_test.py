"""What values become as constants, at once and inside a graph, and what is refused first."""
import copy

import numpy as np
import pytest

import evenflow as tf


def graph(f, *args):
    return tf.function(f, autograph=False)(*args)


def dtype_shape(t):
    return t.dtype.name, tuple(t.shape)


# ---- at once: the first elements say how deep a list is ------------------------------------------------

@pytest.mark.parametrize("value, dtype, shape", [
    ([[1], b"b"], "int32", (2, 1)),
    ([["p", "q"], "ab"], "string", (2, 2)),
    ([[1], {3: 4}], "int32", (2, 1)),
    ([np.zeros((2, 0, 3)), [1.5]], "float32", (2, 2, 0)),
    ([[], 1], "float32", (2, 0)),
])
def test_lists_are_opened(value, dtype, shape):
    assert dtype_shape(tf.constant(value)) == (dtype, shape)


def test_tensors_in_lists():
    assert dtype_shape(tf.constant([tf.zeros([2, 0, 3]), 1])) == ("float32", (2, 2, 0))
    with pytest.raises(ValueError):
        tf.constant([tf.constant([1]), [2]])
    with pytest.raises(TypeError):
        tf.convert_to_tensor([tf.constant(1), 2, tf.constant(2.5)])


def test_large_integers_come_first():
    with pytest.raises(ValueError):
        tf.constant([10**30, 1.5])
    assert tf.constant([1.5, 10**30]).dtype == tf.float32
    with pytest.raises(ValueError):
        tf.constant([10**30, 1.5], tf.bool)


def test_no_arrays_of_handles():
    with pytest.raises(TypeError):
        tf.constant(np.zeros(2), tf.variant)
    with pytest.raises(ValueError):
        tf.constant(np.zeros(2), tf.resource)
    with pytest.raises(TypeError):
        tf.constant(np.array([None]), tf.resource)


def test_shapes_that_are_not_known():
    with pytest.raises(TypeError):
        tf.constant([1, 2], shape=[None])
    with pytest.raises(ValueError):
        tf.constant(1, shape=[1, None])


# ---- in a graph: numpy's rules ---------------------------------------------------------------------------

def test_symbolic_tensors_are_no_constants():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError):
        graph(lambda a: tf.constant(a), x)
    with pytest.raises(TypeError):
        graph(lambda a: tf.constant([a, a], tf.int32), x)
    assert dtype_shape(graph(lambda a: tf.constant(a, tf.complex64, shape=[0]), x)) == ("complex64", (0,))


def test_empty_constants_of_text_in_a_graph():
    """What is given must be text, even where nothing of it is kept."""
    for value in (tf.constant(1j), {}, [1], 2.5):
        with pytest.raises(TypeError):
            tf.function(lambda v=value: tf.constant(v, tf.string, [0]), autograph=False)()
    assert tf.function(lambda: tf.constant(["a", ["b"]], tf.string, [0]), autograph=False)().shape == [0]


def test_variants_like_what_has_no_size():
    spec = [tf.TensorSpec([None], tf.float32)]
    for like in (tf.zeros_like, tf.ones_like):
        f = tf.function(lambda x: like(x, dtype=tf.variant), autograph=False, input_signature=spec)
        assert f(tf.constant([1.0, 2.0])).dtype == tf.float32
        with pytest.raises(TypeError):
            tf.function(lambda x: like(x, dtype=tf.variant), autograph=False)(tf.constant([1.0]))


def test_arrays_are_cast_in_a_graph():
    x = np.array([1.5, -2.5])
    assert graph(lambda: tf.constant(x, tf.int32)).numpy().tolist() == [1, -2]
    t = tf.constant([1.5])
    assert graph(lambda: tf.constant(t, tf.int64)).numpy().tolist() == [1]
    assert graph(lambda: tf.constant([1, 2], shape=[2, 1])).shape == (2, 1)
    assert graph(lambda: tf.constant(3, shape=[2, 2])).numpy().tolist() == [[3, 3], [3, 3]]
    with pytest.raises(TypeError):
        graph(lambda: tf.constant([1, 2], shape=[3]))
    with pytest.raises(ValueError):
        graph(lambda: tf.constant(range(3)))


def test_hints_in_a_graph():
    assert graph(lambda: tf.convert_to_tensor(True, dtype_hint=tf.bfloat16)).dtype == tf.bfloat16
    assert graph(lambda a: tf.convert_to_tensor([a, 2], dtype_hint=tf.int8), tf.constant(1, tf.int64)).dtype == tf.int8


# ---- arguments of functions -------------------------------------------------------------------------------

def test_objects_are_strings_while_tracing():
    seen = []
    with pytest.raises(ValueError):
        graph(lambda a: seen.append(a.dtype), np.array([1, "a"], dtype=object))
    assert seen == [tf.string]
    with pytest.raises(KeyError):
        graph(lambda a: {}[a.dtype], np.array(None))


def test_arguments_that_stay_python():
    seen = []
    graph(lambda a, b: seen.extend((a, b)), np.str_("a"), range(3))
    assert seen == ["a", [0, 1, 2]] and isinstance(seen[0], str)


# ---- functions that make tensors ----------------------------------------------------------------------------

def test_saturate_cast_converts_first():
    with pytest.raises(ValueError):
        tf.saturate_cast([1, None], None)
    with pytest.raises(KeyError):
        tf.saturate_cast([True], tf.variant)


def test_eye():
    with pytest.raises(TypeError):
        tf.eye(True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.eye(tf.constant(2), tf.constant(4, tf.int64))
    assert tf.eye(2, 3, batch_shape=[True]).shape == (1, 2, 3)


def test_sizes():
    with pytest.raises(TypeError):
        tf.zeros([2.5])
    assert graph(lambda: tf.zeros([2.5], tf.int16)).shape == (2,)
    with pytest.raises(ValueError):
        tf.zeros_like([1.5], dtype=tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor(range(3), tf.uint8)


# ---- attributes -----------------------------------------------------------------------------------------------

def test_numbers_of_dtypes():
    assert tf.DType(2.5) is tf.float64 and tf.DType(tf.constant(3)) is tf.int32 and tf.DType("1") is tf.float32
    for value, error in ((float("nan"), ValueError), (10**30, OverflowError), (None, TypeError), ("", ValueError)):
        with pytest.raises(error):
            tf.DType(value)


def test_shapes_keep_bools():
    assert repr(tf.TensorShape([True, None])) == "TensorShape([True, None])"
    with pytest.raises(TypeError):
        tf.TensorShape([1]).with_rank("a")
    with pytest.raises(ValueError):
        tf.TensorShape([1]) == [-1]


def test_tensors_and_variables():
    assert isinstance(tf.constant(1.5).__array__(), np.float32)
    with pytest.raises(NotImplementedError):
        tf.constant(1).consumers()
    v = tf.Variable([1.0])
    assert copy.copy(v) is v and v._shape_tuple() == (1,)
    for name in ("cpu", "backing_device", "__index__"):
        assert hasattr(tf.constant(1), name)
        with pytest.raises(AttributeError):
            graph(lambda a: getattr(a, name), tf.constant(1))
    assert tf.TensorSpec([], tf.int32)._to_components(v) is v
