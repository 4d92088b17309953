"""Which dtype a value takes, and which it refuses: TensorFlow's answers, as tables."""
import numpy as np
import pytest

import evenflow as tf

c = tf.constant
DTYPES = "bool int8 uint8 int32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()


def kept(value, dtypes=tuple(DTYPES)):
    """The dtypes a value can be made of, in order, without those that refuse it with TypeError or ValueError."""
    made = []
    for dtype in dtypes:
        try:
            made.append(c(value, dtype).dtype.name)
        except (TypeError, ValueError):
            pass
    return " ".join(made)


FLOATS = "float16 bfloat16 float32 float64 complex64 complex128"
ALL = " ".join(DTYPES[1:])


@pytest.mark.parametrize("value, natural, others", [
    (True, "bool", "bool int32 int64 uint64 float16 float32 float64 complex128"),
    (1, "int32", ALL),
    (2**40, "int64", ALL),
    (2**63, ValueError, "uint64 float16 float32 float64 complex128"),
    (1.5, "float32", FLOATS),
    (1e40, ValueError, FLOATS),
    (1j, "complex128", "complex64 complex128"),
    ([True, 1], ValueError, "int32 int64 uint64 float16 float32 float64 complex128"),
    ([1, True], "int32", ALL),
    ([1, 2.5], "float32", FLOATS),
    ([1, 1j], ValueError, "complex128"),
    ([1j, 1], "complex128", "complex64 complex128"),
    ([np.int64(1)], "int32", ALL),
    ([np.float64(1)], "float64", FLOATS),
    ([1, np.float64(1)], "float32", FLOATS),
    ([np.float16(1), 2.5], "float16", FLOATS),
    ([np.bool_(True)], "bool", "bool"),
    ([1, np.bool_(True)], ValueError, ""),
    ([np.arange(2)], "int32", ALL),
    ([np.arange(2.0), [1, 2]], "float64", FLOATS),
    ([range(2)], "int32", ALL),
    ([np.zeros((0, 3)), []], "float32", "bool " + ALL),
    (np.array(1.5 + 1j), "complex128", "bool " + ALL),
    (np.array([-1.5]), "float64", "bool " + ALL),
])
def test_values(value, natural, others):
    if isinstance(natural, str):
        assert c(value).dtype.name == natural
    else:
        with pytest.raises(natural):
            c(value)
    assert kept(value) == others


def test_values_of_arrays_in_lists():
    t = c([np.array([1, 2**40]), [2, 3]])
    assert t.dtype == tf.int64 and t.numpy().tolist() == [[1, 2**40], [2, 3]]
    assert c([np.array([1.5, 2.5]), [1, 2]], tf.float16).numpy().tolist() == [[1.5, 2.5], [1, 2]]
    with pytest.raises(OverflowError):
        c(-1, tf.uint64)
    objects = np.array([1, 2.5], dtype=object)  # gone through as a list is
    assert c([objects, np.array([1, 2])]).numpy().tolist() == [[1, 2.5], [1, 2]]
    assert tf.stack([[1, 2], objects]).dtype == tf.float32
    assert c([np.array(["b"], dtype=object), ["a"]]).dtype == tf.string
    for dtype, error in ((tf.variant, TypeError), (tf.int32, TypeError), (tf.string, TypeError)):
        with pytest.raises(error):
            c([objects, np.array([1, 2])], dtype)
    with pytest.raises(ValueError):
        c([objects, ["a", "b"]])


def test_a_dtype_that_is_hinted_at():
    """It is tried first by whatever is registered; an object's own method does not hear of it."""
    sizes, three = tf.TensorShape([1, 2]), c(3, tf.int64)
    assert (three + sizes).numpy().tolist() == [4, 5] and (three / sizes).dtype == tf.float64
    assert tf.convert_to_tensor(sizes, dtype_hint=tf.float32).dtype == tf.int32

    class Seven:
        def __tf_tensor__(self, dtype=None, name=None):
            return c(7, dtype)

    assert tf.convert_to_tensor(Seven(), dtype_hint=tf.int64).dtype == tf.int32


def test_attributes_that_are_no_integers():
    """NaN is no number of anything; what is too large a graph cannot write down."""
    def hot(axis):
        return tf.one_hot(0, 2, axis=axis)

    for call in (hot, lambda axis: tf.function(lambda: hot(axis), autograph=False)()):
        with pytest.raises(TypeError):
            call(float("nan"))
        with pytest.raises(OverflowError if call is hot else ValueError):
            call(1e40)


def test_range_of_halves():
    assert tf.range(np.float16(1.5), 3).numpy().tolist() == [1.5, 2.5]
    assert tf.range(c(1, tf.float16), c(3, tf.bfloat16)).dtype == tf.bfloat16 and tf.range(np.float16(2)).dtype == tf.float16
    assert tf.range(np.float16(1), np.float32(3)).dtype == tf.float32


def test_what_numpy_decides():
    """In a graph a list that holds an array is no list of lists, whatever dtype is wanted; a product that is none is asked of
    the array."""
    def where(x):
        return tf.where(True, x, [np.array([1, 2]), [3, 4]])

    assert where(c(1, tf.uint64)).shape == [2, 2]
    with pytest.raises(ValueError):
        tf.function(where, autograph=False)(c(1, tf.uint64))
    objects = np.array([1, "a"], dtype=object)
    assert (tf.zeros([0, 2]) @ objects).dtype == object
    with pytest.raises(NotImplementedError):
        tf.function(lambda x: x @ objects, autograph=False)(tf.zeros([0, 2]))


def test_shapes_come_before_kernels():
    @tf.function(autograph=False)
    def scatter(x, updates):
        return tf.tensor_scatter_nd_max(x, [[0]], updates)

    with pytest.raises(ValueError, match="updates"):
        scatter(c([1j, 2]), c([1j, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be one of"):
        scatter(c([1j, 2]), c([1j]))
    with pytest.raises(tf.errors.NotFoundError):
        tf.tensor_scatter_nd_max(c([1j, 2]), [[0]], c([1j]))


def test_dtypes_without_a_kernel():
    """TensorFlow declares some ops for dtypes that they have no kernel for: not found, or an invalid graph."""
    calls = [lambda: tf.math.reciprocal(c([2])), lambda: tf.realdiv(c([2]), c([2])), lambda: c([1j]) // c([1j]),
             lambda: tf.round(c([1j])), lambda: tf.einsum("i,i->", c([1], tf.int8), c([1], tf.int8))]
    for call in calls:
        with pytest.raises(tf.errors.NotFoundError):
            call()
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(call, autograph=False)()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.realdiv(c([2]), c([2], tf.int64))


def test_text_and_numbers_in_graphs():
    """A graph may hold a cast between them, which fails when it runs."""
    @tf.function(autograph=False)
    def cast(x, to):
        return tf.convert_to_tensor([x], to)

    @tf.function(autograph=False)
    def unused(x):
        assert tf.cast(x, tf.string).shape == [2]
        return x

    for x, to in (c(1), tf.string), (c("a"), tf.float32):
        with pytest.raises(tf.errors.UnimplementedError, match="is not supported"):
            cast(x, to)
    assert unused(c([1, 2])).numpy().tolist() == [1, 2]
    with pytest.raises(ValueError):
        tf.function(lambda x: tf.reshape(tf.cast(x, tf.string), [5]), autograph=False)(c([1, 2]))


@pytest.mark.parametrize("call, want", [
    # a tensor decides, else the first value; arrays are cast, numbers refuse
    (lambda: tf.multiply([1.5], np.array([2.5])), "float32"),
    (lambda: tf.multiply(np.array([2.5]), [1.5]), "float64"),
    (lambda: tf.multiply(np.array([2.5]), c([1.5])), "float32"),
    (lambda: tf.multiply(np.array([2j]), c([2])), "int32"),
    (lambda: tf.multiply([1.5], c([2])), TypeError),
    (lambda: tf.maximum(c([2], tf.int8), True), TypeError),
    (lambda: tf.stack([[1.0], np.array([2.0])]), "float32"),
    # tf.add and quotients: the first decides
    (lambda: tf.add([1.5], c([2.5], tf.float64)), tf.errors.InvalidArgumentError),
    (lambda: tf.add(c([2.5], tf.float64), [1.5]), "float64"),
    (lambda: c([2.5], tf.float64) + [1.5], "float64"),
    (lambda: [1.5] + c([2.5], tf.float64), "float64"),
    (lambda: tf.math.truediv([1.5], c([2.5], tf.float64)), TypeError),
    (lambda: tf.math.divide_no_nan([1.5], c([2.5], tf.float64)), "float64"),
    (lambda: tf.math.divide_no_nan(c([True]), c([True])), TypeError),
    (lambda: tf.math.multiply_no_nan([1.5], c([2.5], tf.float64)), ValueError),
    (lambda: c([True]) / c([True]), TypeError),
    (lambda: c([True]) / np.array([True]), np.ndarray),
    (lambda: [1.5] @ c([2]), TypeError),
    # bool * anything is bool, and only the operator
    (lambda: c([True]) * c([False]), "bool"),
    (lambda: c([True]) * 2, "bool"),
    (lambda: 2 * c([True]), TypeError),
    (lambda: tf.multiply(c([True]), c([True])), tf.errors.InvalidArgumentError),
    # a list beside a tensor of a wrong dtype: an error of conversion, not of the op
    (lambda: tf.logical_and(c([1]), c([True])), tf.errors.InvalidArgumentError),
    (lambda: tf.logical_and(c([1]), True), tf.errors.InvalidArgumentError),
    (lambda: tf.logical_and(c([1]), np.array([True])), tf.errors.InvalidArgumentError),
    (lambda: tf.logical_and(c([1]), [True]), ValueError),
    (lambda: tf.logical_and(c([1]), np.bool_(True)), ValueError),
    (lambda: tf.logical_and(c([True]), [1]), TypeError),
    (lambda: tf.where([True], c([1]), c([1.5])), tf.errors.InvalidArgumentError),
    (lambda: tf.logical_and(np.array([2.5]), [True]), "bool"),
    (lambda: c([2]) == [1.5], TypeError),
    (lambda: tf.math.real(c([True])), TypeError),
])
def test_operands(call, want):
    if isinstance(want, str):
        assert call().dtype.name == want
    elif want is np.ndarray:
        assert isinstance(call(), want)
    else:
        with pytest.raises(want) as raised:
            call()
        assert want is tf.errors.InvalidArgumentError or not isinstance(raised.value, tf.errors.OpError)


def test_what_is_not_there_is_not_looked_at():
    """Checks TensorFlow makes late or not at all."""
    invalid = tf.errors.InvalidArgumentError
    assert tf.reverse(c(2.5), [0]).numpy() == 2.5 and tf.reverse(tf.zeros([0, 2]), [3]).shape == (0, 2)
    assert tf.math.unsorted_segment_sum(tf.zeros([2, 0]), [0, 7], 3).shape == (3, 0)
    assert tf.gather(tf.zeros([3, 0]), [5]).shape == (1, 0)
    assert tf.repeat(c(2), 3, axis=0).numpy().tolist() == [2, 2, 2]
    assert tf.reduce_any(np.array([0.0, 2.5])).numpy()
    assert tf.where([], c([], tf.float64), np.zeros(0)).dtype == tf.float64
    for call in (lambda: tf.math.reduce_variance(c([1, 2]), axis=1), lambda: tf.sort(c([1.0]), axis=1),
                 lambda: tf.gather_nd(tf.zeros([4, 0]), [[2]])):
        with pytest.raises(invalid):
            call()
    with pytest.raises(TypeError):
        tf.math.reduce_variance(c([1, 2]))
    with pytest.raises(TypeError):
        tf.linalg.diag_part([[True]])


def test_results_of_vectors_and_of_what_is_left():
    """A number that does not fit, a complex quotient by zero: whole vectors and the last few elements differ."""
    def cast(n, dtype, to):
        return tf.cast(tf.fill([n], c(-1.5, dtype)), to).numpy().tolist()

    assert cast(17, tf.float64, tf.uint8) == [0] * 16 + [255]
    assert cast(33, tf.float32, tf.uint16) == [0] * 32 + [65535]
    assert cast(9, tf.bfloat16, tf.uint8) == [0] * 8 + [255]
    assert cast(17, tf.float16, tf.uint8) == [0] * 16 + [255]
    quotient = (tf.fill([5], c(1 + 2j, tf.complex64)) / c(0j, tf.complex64)).numpy()
    assert np.isnan(quotient[:4]).all() and quotient[4] == complex(np.inf, np.inf)
    quotient = (tf.fill([3], c(1 + 2j)) / c(complex(np.inf, 0))).numpy()
    assert np.isnan(quotient[:2]).all() and quotient[2] == 0


x = c([[1.0, 2.0]])
invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("call, want", [
    # a number must take the default dtype of an axis or shape; a list is what it is, and the op refuses it
    (lambda: tf.reduce_sum(x, axis=1.5), TypeError),
    (lambda: tf.reduce_sum(x, axis=[1.5]), invalid),
    (lambda: tf.reduce_sum(x, axis=[2**40]), invalid),
    (lambda: tf.reduce_sum(x, axis=[]), [[1, 2]]),
    (lambda: tf.reshape(x, "a"), invalid),
    (lambda: tf.one_hot([1.5], 3), invalid),
    (lambda: tf.one_hot([1], 2, on_value=1.5, off_value=0), TypeError),
    (lambda: tf.math.unsorted_segment_sum(x, [0], 1.5), invalid),
    (lambda: tf.argmax(x, [0]), TypeError),
    (lambda: tf.sort(x, axis=[0]), ValueError),
    (lambda: tf.repeat(x, 1.5), TypeError),
    (lambda: tf.constant(c([1.5]), tf.float64), TypeError),
    (lambda: tf.saturate_cast(c([True]), tf.bool), TypeError),
    (lambda: tf.math.is_non_decreasing(c([True])), TypeError),
    (lambda: tf.add_n(c(1)), TypeError),
    (lambda: tf.norm(x, axis=[0]), ValueError),
    (lambda: tf.norm(c([True])), TypeError),
    (lambda: tf.gather_nd(c([1, 2]), [[0], [1]], batch_dims=1), ValueError),
    (lambda: tf.gather(c([1, 2]), [1, 1], axis=0, batch_dims=1), [2, 2]),
    (lambda: tf.clip_by_value(c([5]), c([0.0]), c([1.0])), invalid),
    (lambda: tf.math.bincount(c([0, 1, 1], tf.int64)), [1, 2]),
    (lambda: tf.math.zero_fraction(c([True, False])), 0.5),
    (lambda: tf.linalg.tensor_diag_part(c(2.5)), 2.5),
    (lambda: tf.linalg.matvec(c([[2.5]], tf.float64), [1.5]), invalid),
    (lambda: tf.meshgrid([1], [1.5]), invalid),
    (lambda: tf.math.unsorted_segment_mean(c([1, 2]), [0, 0], 1), [1.5]),
    (lambda: tf.stack([np.array([True]), 1], axis=1), TypeError),
    (lambda: tf.math.cumulative_logsumexp(c([np.inf, np.inf])), [np.inf, np.nan]),
    (lambda: tf.where(c(True)), invalid),
    (lambda: tf.math.is_non_decreasing(c([2, 1], tf.uint8)), False),
    (lambda: tf.math.is_non_decreasing(c([np.inf, np.inf])), True),
    (lambda: tf.linspace(c(np.inf), 1.0, 2), [np.inf, 1]),
    (lambda: tf.histogram_fixed_width(c([np.nan, 1.0]), [0.0, 2.0], 1), [2]),
    (lambda: tf.math.zeta(c(np.inf), c(-2.5)), np.inf),
    (lambda: tf.add_n(1.5), TypeError),
    (lambda: tf.constant([[1]], shape=[2, 2]), invalid),
    (lambda: tf.saturate_cast(c(-np.inf, tf.float16), tf.float32), -65504),
    (lambda: tf.shape(tf.stack([np.zeros((1, 0)), tf.zeros([1, 0], tf.float64)])), [2, 1, 0]),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(c(1.0), c(1.0)), invalid),
])
def test_functions(call, want):
    if isinstance(want, type):
        with pytest.raises(want) as raised:
            call()
        assert want is invalid or not isinstance(raised.value, tf.errors.OpError)
    else:
        np.testing.assert_allclose(call().numpy(), want)


def test_a_list_that_holds_itself_is_no_attribute():
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="ksize"):
        tf.raw_ops.MaxPool(input=tf.zeros([1, 2, 2, 1]), ksize=endless, strides=[1, 1, 1, 1], padding="SAME")
    with pytest.raises((RecursionError, ValueError)):
        tf.constant(endless)


def test_a_list_may_change_while_its_items_are_converted():
    class Clearing:
        def __tf_tensor__(self, dtype=None, name=None):
            items.clear()
            return c(1.0)

    items = [Clearing(), c(2.0), np.float32(3.0)]
    np.testing.assert_array_equal(tf.raw_ops.Pack(values=items), [1, 2, 3])
