"""Types that are stored and moved but not computed with: quantized integers, 8-bit floats, int4 and
their like. Which op takes which of them, and the class of the error otherwise, are TensorFlow 2.21's."""
import ml_dtypes
import numpy as np
import pytest

import evenflow as tf

QUANTIZED = ("qint8", "quint8", "qint32", "qint16", "quint16")
USUAL = QUANTIZED[:3]
FLOAT8 = ("float8_e5m2", "float8_e4m3fn")
OTHER_FLOAT8 = ("float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz")
INT4 = ("int4", "uint4")
REST = ("int2", "uint2", "float4_e2m1fn")
ALL = QUANTIZED + FLOAT8 + OTHER_FLOAT8 + INT4 + REST
INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")

ROWS = [[1, 0, 1], [0, 1, 1]]


def array(name):
    numpy_type = tf.as_dtype(name).as_numpy_dtype
    if name in QUANTIZED:
        return np.array([[(v,) for v in row] for row in ROWS], numpy_type)
    return np.array(ROWS, np.float32).astype(numpy_type)


def plain(x):
    """Nested lists of Python numbers."""
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return np.asarray(x.numpy()).astype(np.float64).tolist()


# name: (call, what it gives, the types that it takes, the error of the others)
CALLS = {
    "identity": (tf.identity, ROWS, ALL, None),
    "reshape": (lambda x: tf.reshape(x, [3, 2]), [[1, 0], [1, 0], [1, 1]], ALL, None),
    "expand_dims": (lambda x: tf.expand_dims(x, 0), [ROWS], ALL, None),
    "squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 0)), ROWS, ALL, None),
    "shape": (tf.shape, [2, 3], ALL, None),
    "function": (lambda x: tf.function(lambda y: tf.identity(y))(x), ROWS, ALL, None),
    "concat": (lambda x: tf.concat([x, x], 0), ROWS + ROWS, QUANTIZED + FLOAT8, tf.errors.NotFoundError),
    "stack": (lambda x: tf.stack([x, x]), [ROWS, ROWS], QUANTIZED + FLOAT8, tf.errors.NotFoundError),
    "unstack": (tf.unstack, ROWS, FLOAT8, tf.errors.NotFoundError),
    "split": (lambda x: tf.split(x, 3, 1), [[[1], [0]], [[0], [1]], [[1], [1]]], ("quint8",) + FLOAT8 + INT4,
              tf.errors.NotFoundError),
    "split_sizes": (lambda x: tf.split(x, [1, 2], 1), [[[1], [0]], [[0, 1], [1, 1]]], ("quint8",) + FLOAT8 + INT4,
                    tf.errors.NotFoundError),
    "slice": (lambda x: tf.slice(x, [0, 0], [1, 2]), [[1, 0]], USUAL + FLOAT8, tf.errors.NotFoundError),
    "index": (lambda x: x[:, ::2], [[1, 1], [0, 1]], USUAL + FLOAT8, tf.errors.NotFoundError),
    "gather": (lambda x: tf.gather(x, [1, 0]), ROWS[::-1], QUANTIZED + FLOAT8, tf.errors.NotFoundError),
    "gather_nd": (lambda x: tf.gather_nd(x, [[1, 0]]), [0], USUAL + FLOAT8, tf.errors.NotFoundError),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 0]]), [[0, 0, 0]] + ROWS, USUAL, tf.errors.NotFoundError),
    "mirror": (lambda x: tf.pad(x, [[1, 0], [0, 0]], "REFLECT"), [[0, 1, 1]] + ROWS, USUAL, tf.errors.NotFoundError),
    "transpose": (tf.transpose, [[1, 0], [0, 1], [1, 1]], FLOAT8, tf.errors.NotFoundError),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [1, 2, 3]), [ROWS], FLOAT8, tf.errors.NotFoundError),
    "tile": (lambda x: tf.tile(x, [1, 2]), None, (), tf.errors.UnimplementedError),
    "tile_once": (lambda x: tf.tile(x, [1, 1]), ROWS, ALL, None),
    "roll": (lambda x: tf.roll(x, 1, 0), None, (), tf.errors.NotFoundError),
    "reverse": (lambda x: tf.reverse(x, [0]), None, (), tf.errors.InvalidArgumentError),
    "where": (lambda x: tf.where(tf.constant(ROWS) > 0, x, x), None, (), tf.errors.NotFoundError),
    "zeros_like": (tf.zeros_like, None, (), tf.errors.NotFoundError),
    "ones_like": (tf.ones_like, None, (), tf.errors.InvalidArgumentError),
    "equal": (lambda x: tf.equal(x, x), [[1, 1, 1]] * 2, QUANTIZED, tf.errors.NotFoundError),
    "not_equal": (lambda x: tf.not_equal(x, x), [[0, 0, 0]] * 2, QUANTIZED, tf.errors.NotFoundError),
    "less": (lambda x: tf.less(x, x), None, (), tf.errors.InvalidArgumentError),
    "add": (lambda x: x + x, None, (), tf.errors.InvalidArgumentError),
    "stitch": (lambda x: tf.dynamic_stitch([[0, 1]], [x]), ROWS, USUAL, tf.errors.NotFoundError),
    "fill": (lambda x: tf.fill([2], array(x.dtype.name)[0, 0]), [1, 1], QUANTIZED + INT4, tf.errors.NotFoundError),
    "variable": (lambda x: tf.Variable(x).assign(x).read_value(), ROWS, USUAL + FLOAT8 + INT4 + REST,
                 tf.errors.InvalidArgumentError),
    "assign_add": (lambda x: tf.Variable(x).assign_add(x), None, (), tf.errors.InvalidArgumentError),
    "unique": (lambda x: tf.unique(tf.reshape(x, [-1])), None, (), tf.errors.NotFoundError),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_ops_that_take_them(call):
    function, expected, takes, error = CALLS[call]
    for name in ALL:
        x = tf.constant(array(name))
        assert x.dtype == name
        if name in takes:
            made = function(x)
            assert plain(made) == expected, name
        else:
            with pytest.raises(error):
                function(x)


@pytest.mark.parametrize("name", ALL)
def test_values_come_and_go_as_numpy(name):
    x = tf.constant(array(name))
    out = x.numpy()
    base = name[1:] if name in QUANTIZED else name
    assert out.dtype == np.dtype(getattr(ml_dtypes, name) if name not in QUANTIZED else base)
    assert out.astype(np.float64).tolist() == ROWS
    assert int(tf.reshape(x, [-1]).numpy()[0]) == 1
    assert name in repr(x)
    again = tf.convert_to_tensor(out, dtype=name)
    assert again.dtype == name and plain(again) == ROWS


def test_lists():
    for name in QUANTIZED + INT4:
        assert plain(tf.constant([1, 0], name)) == [1, 0]
        assert plain(tf.zeros([2], name)) == [0, 0]
        assert plain(tf.ones([2], name)) == [1, 1]
        for value in ([True], [1.0], "a"):
            with pytest.raises(TypeError):
                tf.constant(value, name)
    for name in FLOAT8:
        assert plain(tf.constant([1.5, 0], name)) == [1.5, 0]
        with pytest.raises(TypeError):
            tf.constant([1, 0], name)
    for name in OTHER_FLOAT8 + REST:
        with pytest.raises(TypeError):
            tf.constant([1], name)
        with pytest.raises(TypeError):
            tf.zeros([2], name)
        assert tf.constant([], name).shape == (0,)
    assert int(tf.constant(300, tf.qint8).numpy()) == 44
    assert int(tf.constant(300, "int4").numpy()) == -4


def casts(src, dst):
    """Whether TensorFlow has this cast; a quantized type is cast as its integers."""
    src, dst = (n[1:] if n in QUANTIZED else n for n in (src, dst))
    if src == dst:
        return True
    if src in FLOAT8:
        return dst in INTS + FLOATS + FLOAT8 + ("bool", "complex64", "complex128")
    if dst in FLOAT8:
        return src in FLOATS
    if src in INT4 or dst in INT4:
        return src in INTS + INT4 and dst in INTS + INT4
    return src not in ALL + ("string",) and dst not in ALL + ("string",)


@pytest.mark.parametrize("name", ALL)
def test_casts(name):
    for other in INTS + FLOATS + ALL + ("bool", "complex64", "complex128", "string"):
        for src, dst in ((name, other), (other, name)):
            x = tf.constant(array(src)) if src in ALL else tf.constant(["1"]) if src == "string" else tf.cast(ROWS, src)
            if casts(src, dst):
                assert tf.cast(x, dst).dtype == dst and np.real(plain(tf.cast(x, dst))).tolist() == ROWS
            else:
                with pytest.raises(tf.errors.UnimplementedError):
                    tf.cast(x, dst)


def test_a_large_cast_that_there_is_not_fails_where_it_is_called():
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast(tf.ones([1 << 20]), "int4")


def test_float8_rounds_as_ml_dtypes():
    values = np.concatenate([np.linspace(-500, 500, 4001), np.geomspace(1e-9, 1e6, 997), -np.geomspace(1e-9, 1e6, 997),
                             [np.nan, np.inf, -np.inf, 0.0, -0.0, 448, 464, 465, 57344, 61440]])
    for name in FLOAT8:
        numpy_type = getattr(ml_dtypes, name)
        for source in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16):
            x = values.astype(source)
            want, have = x.astype(numpy_type), tf.cast(x, name).numpy()
            number = ~np.isnan(want.astype(np.float32))
            assert (want.view(np.uint8) == have.view(np.uint8))[number].all()
            assert np.isnan(have.astype(np.float32))[~number].all()
        codes = np.arange(256, dtype=np.uint8).view(numpy_type)
        np.testing.assert_array_equal(tf.cast(codes, tf.float32).numpy(), codes.astype(np.float32))


def test_what_an_integer_cannot_hold():
    x = tf.constant(np.array([np.nan, -np.inf, 57344, -3.5, 1], np.float32).astype(ml_dtypes.float8_e5m2))
    assert tf.cast(x, tf.int8).numpy().tolist() == [0, 0, 0, -3, 1]
    assert tf.cast(x, tf.uint16).numpy().tolist() == [0, 0, 57344, 65533, 1]
    assert tf.cast(x, tf.int32).numpy().tolist() == [-(2**31), -(2**31), 57344, -3, 1]
    assert tf.cast(x, tf.uint32).numpy().tolist() == [0, 0, 57344, 2**32 - 3, 1]
    y = tf.cast(tf.constant([7, 8, -9, 17, -1, 300]), "int4")
    assert plain(y) == [7, -8, 7, 1, -1, -4]
    assert plain(tf.cast(y, "uint4")) == [7, 8, 7, 1, 15, 12]
    assert tf.cast(y, tf.uint8).numpy().tolist() == [7, 248, 7, 1, 255, 252]


def test_slices_of_variables():
    for name in FLOAT8:
        v = tf.Variable(array(name))
        v[0:1].assign(tf.constant(array(name)[1:2]))
        assert plain(v) == [ROWS[1], ROWS[1]]


def test_placeholders_and_graphs():
    for name in ALL:
        with tf.Graph().as_default():
            p = tf.compat.v1.placeholder(name, [2, 3])
            y = tf.identity(p)
            with tf.compat.v1.Session() as session:
                assert session.run(y, {p: array(name)}).astype(np.float64).tolist() == ROWS


def test_a_graph_without_a_kernel_is_invalid():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda x: tf.pad(x, [[1, 0], [0, 0]]))(tf.constant(array("int4")))
    with pytest.raises(TypeError):
        tf.function(lambda x: x + x)(tf.constant(array("float8_e5m2")))


def test_they_have_no_gradients():
    x = tf.constant(array("float8_e5m2"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
    assert tape.gradient(y, x) is None


def test_a_graph_refuses_floats_as_quantized_numbers():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Expected qint8"):
        tf.constant([0.5], tf.qint8)
