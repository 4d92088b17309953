"""What Python values, operators and attributes do beside tensors: TensorFlow's answers, as tables."""
import operator

import numpy as np
import pytest

import evenflow as tf

c, v = tf.constant, tf.Variable
Refused = (TypeError, ValueError, AttributeError, RuntimeError, NotImplementedError, OverflowError, IndexError)


def answer(call):
    """The value of a call, or the class of what it raises."""
    try:
        made = call()
    except (*Refused, tf.errors.OpError) as e:
        return type(e)
    return made.numpy().tolist() if isinstance(made, (tf.Tensor, tf.Variable)) else made


def agree(got, want):
    if isinstance(want, type):
        assert isinstance(got, type) and issubclass(got, want), got
    else:
        np.testing.assert_equal(got, want)


def in_graph(f):
    return lambda: tf.function(f, autograph=False)()


@pytest.mark.parametrize("call, want", [
    # one tensor as a Python value
    (lambda: bool(c([])), False),
    (lambda: bool(c([1, 2])), ValueError),
    (lambda: 2 in c([1, 2]), True),
    (lambda: 2 in c(2), TypeError),
    (lambda: int(c([1])), TypeError),
    (lambda: float(c([[1.0]])), TypeError),
    (lambda: int(c(2.5 + 1j)), 2),
    (lambda: operator.index(c(1.0)), AttributeError),
    (lambda: operator.index(c([1])), TypeError),
    (lambda: [int(e) for e in reversed(c([1, 2]))], [2, 1]),
    (lambda: +c(1), TypeError),
    (lambda: round(c(1.5)), AttributeError),
    (lambda: c(1) == object(), ValueError),
    (lambda: c(1) == None, False),  # noqa: E711
    (lambda: repr(c(0.1, tf.float16)), "<tf.Tensor: shape=(), dtype=float16, numpy=0.0999755859375>"),
    # a variable has less
    (lambda: len(v([1, 2])), TypeError),
    (lambda: operator.index(v(1)), TypeError),
    (lambda: v(1) == None, ValueError),  # noqa: E711
    (lambda: f"{v(1.0):.2f}", TypeError),
    (lambda: hasattr(v(1), "ndim"), False),
    (lambda: operator.itruediv(v(1.0), 2.0), RuntimeError),
    (lambda: operator.ipow(v(1.0), 2.0), RuntimeError),
    (lambda: operator.ifloordiv(v(5), 2), 2),
    (lambda: str(v([[1], [2]], name="n")).split("numpy=")[1], "\narray([[1],\n       [2]], dtype=int32)>"),
    (in_graph(lambda: float(v0)), AttributeError),
    (in_graph(lambda: c([1], tf.uint64) + (-1)), [0]),
    (in_graph(lambda: complex(c(1.0))), TypeError),
])
def test_manners(call, want):
    agree(answer(call), want)


v0, v1, v2 = v(1.0), v([True]), v([1.0], dtype=tf.float64)


@pytest.mark.parametrize("call, eager, graph", [
    # what is no number
    (lambda: tf.identity(object()), ValueError, TypeError),
    (lambda: tf.identity(None), ValueError, ValueError),
    (lambda: tf.identity([1, None]), ValueError, TypeError),
    (lambda: tf.identity(["a", 1]), ValueError, TypeError),
    (lambda: tf.identity([1, 1j]), ValueError, [1, 1j]),
    (lambda: tf.identity([1, True]), [1, 1], [1, 1]),
    (lambda: tf.identity([True, 1]), ValueError, [1, 1]),
    # sizes
    (lambda: tf.identity([[], [1]]), [[], []], ValueError),
    (lambda: tf.identity([[1], []]), ValueError, ValueError),
    (lambda: tf.identity([2**63]), ValueError, [2**63]),
    (lambda: c([1], tf.int8) + 2**64, ValueError, OverflowError),
    # arrays are cast as numpy casts
    (lambda: c([1.0]) + np.array(None), [np.nan], [np.nan]),
    (lambda: c([1]) + np.array([2.5], object), [3], [3]),
    (lambda: tf.identity(np.array([1], object)), ValueError, TypeError),
    (lambda: c(1) * np.timedelta64(3, "D"), 3, 3),
    (lambda: tf.identity(np.datetime64("2020-01-01")), ValueError, TypeError),
    (lambda: c(1) | {1}, ValueError, TypeError),
    (lambda: v1 * c(2.5), [True], [True]),
    (lambda: c(2.5) * v1, tf.errors.InvalidArgumentError, TypeError),
    (lambda: ~c(1.0), tf.errors.InvalidArgumentError, TypeError),
    # shapes are int32 or int64
    (lambda: c([1, 2]) + tf.TensorShape([1, 2]), [2, 4], [2, 4]),
    (lambda: c([1.0, 2]) - tf.TensorShape([1, 2]), TypeError, TypeError),
    # what means a dtype
    (lambda: c(1, int), TypeError, TypeError),
    (lambda: c(1, float), 1.0, 1.0),
    (lambda: c(1, b"float32"), TypeError, TypeError),
    (lambda: c(1, c(1.0)), TypeError, TypeError),
    # a tensor is no constant of another dtype, packing casts
    (lambda: tf.convert_to_tensor([c(1), 2], tf.float32), [1.0, 2.0], [1.0, 2.0]),
])
def test_values(call, eager, graph):
    agree(answer(call), eager)
    agree(answer(in_graph(call)), graph)


x = tf.reshape(tf.range(6), [2, 3])


@pytest.mark.parametrize("call, eager, graph", [
    # a bool among indices is an integer, alone it is a mask
    (lambda: x[..., True], [1, 4], [1, 4]),
    (lambda: x[np.bool_(True)], TypeError, TypeError),
    (lambda: x[c([0, 1])], TypeError, TypeError),
    (lambda: x[v([True, False])], TypeError, None),
    (lambda: x[2**64], ValueError, TypeError),
    (lambda: x[np.array(1)], [3, 4, 5], [3, 4, 5]),
    (lambda: x[np.uint8(1)], [3, 4, 5], TypeError),
    (lambda: x[np.array(1, np.uint8)], TypeError, TypeError),
    (lambda: x[c(1, tf.int64):, :1], [[3]], [[3]]),
    (lambda: x[c(1, tf.int64):, :c(1)], tf.errors.InvalidArgumentError, TypeError),
    (lambda: c([np.uint8(1)]).dtype == tf.uint8, False, True),
    (lambda: c([np.float64(1)]).dtype == tf.float64, True, False),
    (lambda: x[c(1, tf.int16):2], tf.errors.InvalidArgumentError, TypeError),
    # raw ops: by name, attributes of their own kind
    (lambda: tf.raw_ops.AddV2(x, x), TypeError, TypeError),
    (lambda: tf.raw_ops.Sum(input=x, axis=1), [3, 12], [3, 12]),
    (lambda: tf.raw_ops.Sum(input=x, reduction_indices=1), TypeError, TypeError),
    (lambda: tf.raw_ops.MatMul(a=x, b=x, transpose_a=1), TypeError, TypeError),
    (lambda: tf.raw_ops.Unpack(value=x, num=None, axis=0), TypeError, TypeError),
    (lambda: tf.raw_ops.Pack(values=x, axis=1), [[0, 3], [1, 4], [2, 5]], TypeError),
    (lambda: tf.raw_ops.ArgMax(input=x, dimension=0, output_type=tf.uint8), tf.errors.InvalidArgumentError, TypeError),
    (lambda: tf.raw_ops.AddN(inputs=[x, None]), ValueError, TypeError),
    # sizes, and what is made of them
    (lambda: c([c(1), 2]), ValueError, TypeError),
    (lambda: tf.zeros({2}), [0, 0], [0, 0]),
    (lambda: tf.zeros("2"), TypeError, TypeError),
    (lambda: tf.eye(np.float32(2)), TypeError, TypeError),
    (lambda: tf.eye(c(2, tf.uint8), 1), [[1], [0]], [[1], [0]]),
    (lambda: tf.eye(2, batch_shape=2), TypeError, TypeError),
    (lambda: tf.linspace(np.uint8(1), np.uint8(2), c(2, tf.uint8)).dtype == tf.float32, True, True),
    (lambda: tf.linspace(1j, 2j, 2), [1j, 2j], [1j, 2j]),
    (lambda: tf.linspace(1, 2, 2.5), TypeError, TypeError),
    (lambda: np.asarray(c("a")).dtype == object, True, None),
    (lambda: c([1.5]).__array__(dtype="int8").dtype.name, "int8", None),
    (lambda: tf.group(x), None, TypeError),
    (lambda: tf.eye(2**40), tf.errors.ResourceExhaustedError, None),
    (lambda: tf.eye(1, batch_shape=[[2]]), ValueError, None),
    (lambda: tf.stack(c(3)), 3, None),
    (lambda: tf.stack(np.float32(2)), 2, None),
    (lambda: tf.stack([], 1), IndexError, IndexError),
    (lambda: tf.range([2]), [0, 1], ValueError),
    (lambda: tf.reshape(x, tf.TensorShape(None)), ValueError, ValueError),
    (lambda: tf.ones_like(["a"]), tf.errors.InvalidArgumentError, TypeError),
    (lambda: operator.index(c(True)), AttributeError, None),
    (lambda: tf.function(lambda a: a)(np.datetime64("2020-01-01")), TypeError, None),
    (lambda: tf.function(lambda a: a)(np.array([1], object)), ValueError, None),
    (lambda: c(4) | range(3), [4, 5, 6], [4, 5, 6]),
    # a variable decides like a tensor, unless a list makes all be converted
    (lambda: tf.maximum(2.0, v2), [2.0], None),
    (lambda: tf.maximum([2.0], v2), ValueError, None),
    (lambda: tf.maximum(v2, [2.0]), [2.0], None),
    # attributes are read before inputs, an array may do what a tensor cannot
    (lambda: tf.raw_ops.MatMul(a=..., b=..., transpose_a=1), TypeError, TypeError),
    (lambda: (c([2]) * np.array(["a"], object)).tolist(), ["aa"], None),
    (lambda: x[0, 2**64], ValueError, TypeError),
    (lambda: v0.handle.numpy(), tf.errors.InvalidArgumentError, None),
    (lambda: tf.TensorShape([1]).with_rank(None).as_list(), [1], None),
])
def test_calls(call, eager, graph):
    for made, want in ((call, eager), (in_graph(call), graph)):
        if want is not None:
            agree(answer(made), want)


f, scalar, complex_v = c([1.5, 2.5]), c(3), v([1j])
Invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("call, eager, graph", [
    # at once: inputs of a type variable together, then those of a fixed dtype, then what the op takes
    (lambda: tf.raw_ops.SelectV2(condition=["a"], t=x, e={1}), ValueError, TypeError),
    (lambda: tf.raw_ops.SelectV2(condition=["a"], t=x, e=x), TypeError, TypeError),
    (lambda: tf.raw_ops.OneHot(indices=[0], depth="a", on_value=1, off_value=[None]), ValueError, TypeError),
    (lambda: tf.raw_ops.ArgMax(input=None, dimension=0, output_type=tf.int8), ValueError, ValueError),
    (lambda: tf.raw_ops.ArgMax(input=x, dimension=0.5), TypeError, TypeError),
    (lambda: tf.raw_ops.ArgMax(input=[1], dimension=0.5), Invalid, TypeError),
    (lambda: tf.raw_ops.ConcatV2(values=[v2, c([1j])], axis=[0]), ValueError, TypeError),
    (lambda: tf.raw_ops.Pack(values=[], axis=0.0), IndexError, ValueError),
    # in a graph the first decides; in a list, a tensor
    (lambda: tf.raw_ops.Maximum(x=1, y=f), [1.5, 2.5], TypeError),
    (lambda: tf.raw_ops.Maximum(x=f, y=1), [1.5, 2.5], [1.5, 2.5]),
    (lambda: tf.raw_ops.Pack(values=[1, c(1.5)]), [1.0, 1.5], [1.0, 1.5]),
    (lambda: tf.raw_ops.Slice(input=f, begin=[], size=[1]), Invalid, TypeError),
    # sequences that are no lists
    (lambda: tf.raw_ops.Pack(values=range(2)), [0, 1], TypeError),
    (lambda: tf.raw_ops.Pack(values=x, axis=0.0), TypeError, TypeError),
    (lambda: tf.raw_ops.Pack(values=np.zeros([1, 1])), ValueError, TypeError),
    (lambda: tf.raw_ops.AddN(inputs=v2), 1.0, None),
    # one element is as good as a scalar, but not to a graph
    (lambda: tf.raw_ops.Range(start=[0], limit=2, delta=1), [0, 1], ValueError),
    (lambda: tf.raw_ops.Range(start=[[0]], limit=2, delta=1), Invalid, ValueError),
    (lambda: tf.raw_ops.Fill(dims=2, value=[1]), [1, 1], ValueError),
    (lambda: tf.raw_ops.Reshape(tensor=x, shape=6), [0, 1, 2, 3, 4, 5], ValueError),
    (lambda: tf.raw_ops.ConcatV2(values=[f, f], axis=[0]), [1.5, 2.5] * 2, ValueError),
    (lambda: tf.raw_ops.GatherV2(params=f, indices=0, axis=[0]), Invalid, ValueError),
    (lambda: tf.raw_ops.ExpandDims(input=1, axis=[[0]]), [1], [1]),
    (lambda: tf.raw_ops.Unpack(value=x, num=0, axis=9), [], ValueError),
    # of dtypes that are declared, but without kernels, graphs look at the shapes first
    (lambda: tf.raw_ops.ApproximateEqual(x=c([1, 2]), y=[1, 2, 3]), None, ValueError),
    (lambda: tf.raw_ops.FloorDiv(x=c([1j, 2]), y=None), ValueError, ValueError),
    (lambda: tf.raw_ops.RealDiv(x=c([1, 2]), y=[1, 2, 3]), None, ValueError),
    (lambda: tf.raw_ops.RealDiv(x=c([True]), y=[True]), Invalid, TypeError),
    # a product with the conjugate, whose halves cancel only if they are finite
    (lambda: tf.math.is_nan(tf.math.imag(tf.math.squared_difference(c([2 + 1j, float("inf")]), 1j))), [False, True], None),
    # what fails here the other operand may do
    (lambda: scalar * ["a"], ["a"] * 3, None),
    (lambda: v(2) * "ab", "abab", None),
    (lambda: c(1.5) * ["a"], AttributeError, TypeError),
    (lambda: scalar - np.str_("a"), ValueError, TypeError),
    (lambda: c(True) & None, ValueError, ValueError),
    (lambda: f & None, ValueError, TypeError),
    (lambda: f == tf.TensorShape([1]), TypeError, TypeError),
    (lambda: c([1], tf.uint64) < -1, OverflowError, None),
    (lambda: np.abs(c(1.5, tf.bfloat16)), ValueError, None),
    (lambda: x[True, 0], TypeError, 3),
    # variables
    (lambda: v(3).count_up_to(4), 3, None),
    (lambda: v(3).count_up_to(3), tf.errors.OutOfRangeError, None),
    (lambda: v([3]).count_up_to(9), Invalid, None),
    (lambda: v(1.0).count_up_to(9), Invalid, None),
    (lambda: v2.count_up_to(9), Invalid, TypeError),
    (lambda: v2.eval(), None, AttributeError),
    (lambda: v2.__deepcopy__({}), None, NotImplementedError),
    (lambda: v2[0:0].assign([1.0, 2.0]), [1.0], None),
    (lambda: v(tf.zeros([1, 0])).scatter_nd_add([[0]], tf.zeros([1, 0])), Invalid, None),
    (lambda: tf.cast([-float("inf")] * 9, tf.uint32), [2**31] * 8 + [0], None),
    (lambda: v2[np.array([True])].assign([1.0]), AttributeError, AttributeError),
    (lambda: v(1, trainable="a").trainable, "a", None),
    (lambda: v(1, aggregation=tf.VariableAggregation.SUM).aggregation == tf.compat.v1.VariableAggregation.SUM, True, None),
    (lambda: v(1, synchronization=tf.VariableSynchronization.ON_READ).trainable, False, None),
    (lambda: complex_v < None, ValueError, TypeError),
    (lambda: complex_v == None, ValueError, ValueError),  # noqa: E711
    (lambda: c([], tf.variant, shape=[1, 2]), TypeError, TypeError),
    (lambda: c([], tf.variant).shape.rank, 1, TypeError),
    (lambda: tf.linalg.tensor_diag_part(scalar), 3, ValueError),
])
def test_order(call, eager, graph):
    test_calls(call, eager, graph)
