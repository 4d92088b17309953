"""Argument work of the op families beyond the golden corpus: what TensorFlow 2.21 answered."""
import numpy as np
import pytest

import evenflow as tf

f = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def same(tensor, value, dtype=None):
    assert tensor.shape == np.shape(value)
    np.testing.assert_allclose(tensor.numpy(), value, rtol=1e-5, atol=1e-6)
    if dtype is not None:
        assert tensor.dtype == dtype


def test_numbers_follow_the_tensor():
    i = tf.constant([1, 2, 3])
    same(i + np.float32(1.5), [2, 3, 4], tf.int32)
    same(tf.constant(f) + True, f + 1, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        i + 1.5
    with pytest.raises(TypeError):
        1.5 + i
    with pytest.raises(TypeError):
        tf.maximum(i, 1.5)


def test_constants():
    same(tf.constant([256, -1], tf.uint8), [0, 255], tf.uint8)
    same(tf.constant([1], shape=[2, 2]), [[1, 1], [1, 1]])
    assert tf.constant([1, 2**40]).dtype == tf.int64
    for bad in ([True, 1], [1, 2j], ["a", 1], [[1], [2, 3]]):
        with pytest.raises(ValueError):
            tf.constant(bad)
    for value, dtype in ((1.5, tf.int32), (1, tf.bool), ("a", tf.int32), (1, tf.string)):
        with pytest.raises(TypeError):
            tf.constant(value, dtype)


def test_stack_and_concat_of_numbers():
    same(tf.stack([1, 2.5]), [1, 2.5], tf.float32)
    same(tf.stack([]), np.zeros([0]), tf.float32)
    same(tf.concat(tf.constant(f), 0), f)
    with pytest.raises(ValueError, match="axis"):
        tf.stack([f, f], axis=5)


def test_linspace():
    same(tf.linspace(0, 10, 5), [0, 2.5, 5, 7.5, 10], tf.float64)
    same(tf.linspace([0.0, 1.0], [2.0, 3.0], 3, axis=1), [[0, 1, 2], [1, 2, 3]])
    same(tf.linspace(0.0, 1.0, 0), np.zeros([0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.linspace(0.0, 1.0, -1)


def test_bad_indices_can_be_ignored():
    same(tf.gather_nd(f, [[5, 0], [1, 1]], bad_indices_policy="IGNORE"), [0, f[1, 1]])
    same(tf.scatter_nd([[5], [1]], [1.0, 2.0], [2], bad_indices_policy="IGNORE"), [0, 2])


def test_einsum_of_many():
    a, b, c = (np.random.rand(*s).astype(np.float32) for s in ((2, 3), (3, 4), (4, 2)))
    same(tf.einsum("ij,jk,kl->il", a, b, c), a @ b @ c)
    same(tf.einsum("i j , j k", a, b), a @ b)
    with pytest.raises(ValueError):
        tf.einsum("ij->k", a)


def test_saturate_cast():
    same(tf.saturate_cast([3e9, -3e9, 1.5], tf.int32), [2147483520, -2147483648, 1], tf.int32)
    same(tf.saturate_cast([300, -5], tf.uint8), [255, 0], tf.uint8)


def test_random_sequences_repeat():
    tf.random.set_seed(7)
    first = [tf.random.uniform([2]).numpy(), tf.random.normal([2], seed=3).numpy()]
    tf.random.set_seed(7)
    again = [tf.random.uniform([2]).numpy(), tf.random.normal([2], seed=3).numpy()]
    np.testing.assert_array_equal(first, again)
    assert (tf.random.uniform([2]).numpy() != first[0]).any()


def test_equal_seeds_in_one_graph_give_equal_numbers():
    @tf.function
    def two():
        return tf.random.uniform([2], seed=1), tf.random.uniform([2], seed=1)

    a, b = two()
    np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_generator_states():
    assert tf.random.Generator.from_seed(1234).state.numpy().tolist() == [1234, 0, 0]
    assert tf.random.Generator.from_seed([1, 2]).state.numpy().tolist() == [0, 1, 2]
    g = tf.random.Generator.from_seed(5)
    assert g.skip(3).numpy().tolist() == [5, 0, 0] and g.state.numpy().tolist() == [773, 0, 0]


def test_ctc_agrees_with_all_alignments():
    x = np.random.RandomState(0).randn(3, 1, 3).astype(np.float32)
    p = np.exp(x[:, 0]) / np.exp(x[:, 0]).sum(-1, keepdims=True)
    total = 0.0
    for path in np.ndindex(3, 3, 3):  # blank is 0, the label 1
        kept = [c for k, c in enumerate(path) if c != 0 and (k == 0 or path[k - 1] != c)]
        if kept == [1]:
            total += p[0, path[0]] * p[1, path[1]] * p[2, path[2]]
    loss = tf.nn.ctc_loss([[1]], x, [1], [3], blank_index=0)
    same(loss, [-np.log(total)])


def test_decoders():
    x = np.full([4, 1, 3], -5.0, np.float32)
    for t, c in enumerate((0, 0, 2, 1)):  # class 2 is the blank
        x[t, 0, c] = 5.0
    found, scores = tf.nn.ctc_greedy_decoder(x, [4])
    assert found[0].values.numpy().tolist() == [0, 1] and scores.numpy().tolist() == [[-20.0]]
    found, _ = tf.nn.ctc_beam_search_decoder(x, [4], beam_width=3)
    assert found[0].values.numpy().tolist() == [0, 1]


def test_index_shuffle_is_a_permutation():
    order = tf.random.experimental.index_shuffle(tf.range(10), [1, 2], 9)
    assert order.numpy().tolist() == [5, 0, 1, 4, 3, 6, 9, 8, 7, 2]


def test_fake_quantization():
    y = tf.quantization.fake_quant_with_min_max_args([-3.0, 0.1, 7.0])
    same(y, [-3.0117648, 0.09411765, 5.9764705])
    with tf.GradientTape() as tape:
        x = tf.constant([-9.0, 0.5, 9.0])
        tape.watch(x)
        y = tf.quantization.fake_quant_with_min_max_args(x)
    assert tape.gradient(y, x).numpy().tolist() == [0, 1, 0]


def test_isotonic_regression():
    y, segments = tf.nn.isotonic_regression([[3, 1, 2, 5]])
    same(y, [[3, 8 / 3, 8 / 3, 8 / 3]], tf.float64)
    assert segments.numpy().tolist() == [[0, 1, 1, 1]]


def test_assertions():
    tf.debugging.assert_shapes([(f, ("N", "Q")), (np.ones(3), ("Q",))])
    with pytest.raises(ValueError):
        tf.debugging.assert_shapes([(f, ("N", "Q")), (np.ones(3), ("N",))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="my words"):
        tf.debugging.assert_less(1, 0, message="my words")
    with pytest.raises(ValueError):
        tf.debugging.assert_rank(f, 1)


def test_sobol_points():
    last = tf.math.sobol_sample(1111, 2, skip=123456, dtype=tf.float64)[:, -2:]
    assert last.numpy().tolist() == [
        [0.19910430908203125, 0.6688613891601562],
        [0.9491043090820312, 0.9188613891601562],
    ]
    parts = [tf.math.sobol_sample(5, 100, skip=k) for k in (0, 100)]
    assert np.array_equal(tf.concat(parts, 0), tf.math.sobol_sample(5, 200))
    assert (tf.math.sobol_sample(3, 4, skip=2**30).numpy() > 0).all()
    for bad in ((0, 1), (1, 0), (1, 1, -1), (21201, 1), (1, 5, 2**31 - 4)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.math.sobol_sample(*bad)
    with pytest.raises(tf.errors.UnimplementedError, match="1111"):
        tf.math.sobol_sample(1112, 1)


def test_normal_numbers_within_bounds():
    sample = tf.random.stateless_parameterized_truncated_normal
    for low, high, numbers in (
        (-1.0, 2.0, [1.0239844, -0.53878856, 1.2795534]),
        (-0.5, 0.5, [0.012006164, -0.17291129, -0.20902252]),
        (3.0, np.inf, [3.2026837, 3.3737793, 3.1276612]),
        (-np.inf, -3.0, [-3.2026837, -3.3737793, -3.1276612]),
    ):
        same(sample([3], [5, 6], minvals=low, maxvals=high), numbers, tf.float32)
    for bad in ({"stddevs": -1.0}, {"minvals": 3.0}, {"minvals": -np.inf, "maxvals": np.inf}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid parameters"):
            sample([2], [1, 2], **bad)


def test_refused_only_while_a_graph_is_built():
    image = tf.ones([1, 2, 2, 1])
    for call, shape in ((lambda x: tf.nn.max_pool2d(x, 3, 1, "VALID"), [1, 0, 0, 1]),
                        (lambda x: tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 1, 1]), [1, 1, 1, 1], "VALID"), [1, 0, 0, 1]),
                        (lambda x: tf.reverse(x[0, 0, 0, 0], [0]), [])):
        assert call(image).shape == shape
        with pytest.raises(ValueError):
            tf.function(call, autograph=False)(image)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.linalg.cross([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError):
        tf.function(lambda: tf.linalg.cross([1.0, 2.0], [1.0, 2.0]))()


def test_sizes_of_any_type_in_a_graph():
    same(tf.function(lambda x: tf.shape(x, tf.float32))(tf.ones([2, 3])), [2, 3], tf.float32)
    same(tf.function(lambda x: tf.size(x, tf.uint8))(tf.ones([2, 3])), 6, tf.uint8)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.shape(tf.ones([2, 3]), tf.float32)


def test_saturate_cast_of_wide_integers():
    for target in (tf.float32, tf.float64, tf.bfloat16, tf.int64, tf.uint64):
        same(tf.saturate_cast(tf.constant([5, 64], tf.int64), target), [5, 64], target)
    same(tf.saturate_cast(tf.constant([5, 2 ** 63], tf.uint64), tf.int64), [5, 2 ** 63 - 1], tf.int64)


def test_a_graph_unpacks_any_number():
    rows = tf.function(lambda x: tf.unstack(x))(tf.zeros([9, 2]))
    assert [r.shape.as_list() for r in rows] == [[2]] * 9


@pytest.mark.parametrize("image, window", [((2, 5, 5, 0), (3, 3, 0, 4)), ((2, 5, 5, 2), (3, 3, 2, 0)), ((2, 5, 5, 2), (3, 0, 2, 1))])
def test_convolution_with_an_empty_filter(image, window):
    """Refused, as TensorFlow does; the gradients' ops give zeros or nothing."""
    for op, channels in ((tf.raw_ops.DepthwiseConv2dNative, window[2] * window[3]), (tf.raw_ops.Conv2D, window[3])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
            op(input=tf.zeros(image), filter=tf.zeros(window), strides=[1] * 4, padding="SAME")
        name, out = op.__name__, tf.ones(image[:3] + (channels,))
        back = getattr(tf.raw_ops, name + "BackpropInput")(input_sizes=image, filter=tf.zeros(window), out_backprop=out,
                                                           strides=[1] * 4, padding="SAME")
        assert back.shape == image and not back.numpy().any()
        back = getattr(tf.raw_ops, name + "BackpropFilter")(input=tf.ones(image), filter_sizes=window, out_backprop=out,
                                                            strides=[1] * 4, padding="SAME")
        assert back.shape == window


def test_more_pieces_than_sixteen_bits_count():
    n = 70000
    pieces = tf.split(tf.range(n), n)
    assert len(pieces) == n and pieces[-1].numpy().tolist() == [n - 1]
    assert int(tf.unstack(tf.range(n))[65537]) == 65537


POOL = {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
POOL3D = {"ksize": [1] * 5, "strides": [1] * 5, "padding": "VALID"}


@pytest.mark.parametrize("name", ["MaxPoolGrad", "MaxPoolGradGrad", "MaxPoolGradV2", "MaxPoolGradGradV2",
                                  "MaxPool3DGrad", "MaxPool3DGradGrad"])
def test_pooling_gradients_check_all_their_shapes(name):
    three = "3D" in name
    op, attrs = getattr(tf.raw_ops, name), POOL3D if three else POOL
    one, two = (tf.ones([1] * (4 if three else 3) + [n]) for n in (1, 2))
    assert op(orig_input=one, orig_output=one, grad=one, **attrs).shape == one.shape
    for output, grad in ((two, one), (one, two), (tf.ones([1, 1]), one)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            op(orig_input=one, orig_output=output, grad=grad, **attrs)


@pytest.mark.parametrize("shape, gradient", [([], 18), ([3], [4, 6, 8]), ([2, 1], [[3], [15]]),
                                             ([2, 3], [[0, 1, 2], [4, 5, 6]])])
def test_what_is_put_into_a_slice_is_broadcast(shape, gradient):
    def put(value):
        return tf.raw_ops.TensorStridedSliceUpdate(
            input=tf.zeros([3, 4]), begin=[0, 0], end=[2, 3], strides=[1, 1], value=value)

    value = tf.ones(shape)
    with tf.GradientTape() as tape:
        tape.watch(value)
        made = put(value)
        weighted = made * tf.reshape(tf.range(12.0), [3, 4])
    assert made.numpy().tolist() == [[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]
    assert tape.gradient(weighted, value).numpy().tolist() == gradient
    if len(shape) == 2:
        assert (put(tf.ones([1, 1] + shape)) == made).numpy().all()  # more dimensions of 1 in front
    for bad in ([2], [4, 3], [2, 2, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            put(tf.ones(bad))


def test_sums_into_variables_without_a_kernel_are_invalid():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable(True).assign_add(True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable("a").assign_add("b")


@pytest.mark.parametrize("dtype, by_log, by_log1p", [
    ("float16", [45918, 46374, 17507, 49286, 50927, 19763], [8416, 10410, 17732, 49573, 51206, 20511]),
    ("bfloat16", [48747, 48805, 16524, 49169, 49373, 16806], [15388, 15638, 16553, 49204, 49409, 16900])])
def test_logarithms_in_16_bits_are_rounded_before_the_product(dtype, by_log, by_log1p):
    x = tf.constant([0.1, 0.2, 3.5, -2, -5, 30], dtype)
    y = tf.constant([0.1, 0.2, 3.5, 3.1, 4, 2], dtype)
    assert tf.math.xlogy(x, y).numpy().view(np.uint16).tolist() == by_log
    assert tf.math.xlog1py(x, y).numpy().view(np.uint16).tolist() == by_log1p
    assert (tf.math.xlogy(x, y) == x * tf.math.log(y)).numpy().all()


def test_more_outputs_than_an_op_can_make():
    n = 2**24 + 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="16777217 outputs; one op can make 16777216 at most"):
        tf.raw_ops.Unpack(value=tf.zeros([n], tf.int8), num=n)
