"""What a ConcreteFunction takes: Python values, tensors by position and by name, structures. The expected results and classes of
exceptions are those of TensorFlow 2.21."""
import collections

import numpy as np
import pytest

import evenflow as tf

Pair = collections.namedtuple("Pair", "u w")
Other = collections.namedtuple("Other", "u w")
SCALAR, LINE = tf.TensorSpec([], tf.float32), tf.TensorSpec([None], tf.float32)
one, two = tf.constant(1.0), tf.constant(2.0)
scale = tf.Variable(3.0)


def concrete(f, *args, **kwargs):
    return tf.function(f).get_concrete_function(*args, **kwargs)


@pytest.fixture(scope="module")
def functions():
    return {
        "add": concrete(lambda a, b: a + b, SCALAR, SCALAR),
        "named": concrete(lambda a, b: a - b, tf.TensorSpec([], tf.float32, "p"), tf.TensorSpec([], tf.float32, "q")),
        "rest": concrete(lambda *a: a[0] + a[1], SCALAR, SCALAR),
        "int": concrete(lambda a: a * 2, tf.TensorSpec([], tf.int32)),
        "bool": concrete(lambda a: not_(a), tf.TensorSpec([], tf.bool)),
        "text": concrete(lambda a: tf.strings.length(a), tf.TensorSpec([], tf.string)),
        "line": concrete(lambda a: tf.reduce_sum(a), LINE),
        "two": concrete(lambda a, k: a * k, SCALAR, 2),
        "true": concrete(lambda a, k: a * 1.0, SCALAR, True),
        "none": concrete(lambda a, k: a * 1.0, SCALAR, None),
        "default": concrete(lambda a, k=2.0: a * k, SCALAR),
        "keyword": concrete(lambda a, *, k: a * k, SCALAR, k=SCALAR),
        "list": concrete(lambda v: v[0] + v[1], [SCALAR, SCALAR]),
        "tuple": concrete(lambda v: v[0] + v[1], (SCALAR, SCALAR)),
        "dict": concrete(lambda d: d["x"] - d["y"], {"x": SCALAR, "y": SCALAR}),
        "pair": concrete(lambda p: p.u - p.w, Pair(SCALAR, SCALAR)),
        "lines": concrete(lambda v: tf.reduce_sum(v[0]) + v[1], [LINE, SCALAR]),
        "captured": concrete(lambda a: a * scale + one, SCALAR),
        "nothing": concrete(lambda: scale + 1.0),
        "mixed": concrete(lambda d, k: d["x"][0] * k, {"x": [SCALAR], "n": 3}, 2.0),
    }


def not_(a):
    return tf.logical_not(a)


def call(*args, **kwargs):
    return args, kwargs


@pytest.mark.parametrize("name, given, result", [
    ("add", call(1.0, 2.0), 3), ("add", call(1, 2), 3), ("add", call(one, 2.0), 3), ("add", call(1, two), 3), ("add", call(True, 1.0), 2),
    ("add", call(np.float64(1), np.int32(2)), 3), ("add", call(np.array(1.0), 2.0), 3), ("add", call(scale, 1.0), 4),
    ("add", call(a=1.0, b=2), 3), ("add", call(1.0, b=2.0), 3), ("add", call(b=one, a=2.0), 3),
    ("named", call(3.0, 1.0), 2), ("named", call(a=3.0, b=1.0), 2), ("named", call(p=two, q=one), 1), ("named", call(two, q=one), 1),
    ("named", call(q=one, p=two), 1), ("named", call(b=one, a=two), 1),
    ("rest", call(1, 2.0), 3), ("rest", call(one, two), 3),
    ("int", call(3), 6), ("int", call(np.int8(3)), 6), ("bool", call(True), False), ("text", call("abc"), 3), ("text", call(b"ab"), 2),
    ("line", call([1.0, 2.0]), 3), ("line", call((1, 2)), 3), ("line", call([]), 0), ("line", call(np.ones(3)), 3),
    ("line", call([one, 2.0]), 3), ("line", call(range(3)), 3),
    ("two", call(3.0, 2), 6), ("two", call(tf.constant(3.0)), 6), ("two", call(3.0, k=2), 6), ("two", call(3.0, 2.0), 6),
    ("two", call(3.0, np.int32(2)), 6), ("two", call(3.0, tf.constant(2)), 6), ("true", call(3.0, 1), 3), ("none", call(3.0, None), 3),
    ("default", call(one), 2), ("default", call(1.0, 2.0), 2), ("default", call(1.0, k=2.0), 2), ("default", call(1.0, two), 2),
    ("keyword", call(2.0, k=3.0), 6), ("keyword", call(two, k=two), 4), ("keyword", call(two, two), 4),
    ("list", call([1.0, 2]), 3), ("list", call(one, two), 3), ("list", call(v=[1.0, two]), 3), ("list", call(v=one, v_1=two), 3),
    ("tuple", call((1.0, two)), 3), ("dict", call({"y": 1.0, "x": 3.0}), 2), ("dict", call(d={"x": two, "y": one}), 1),
    ("dict", call(two, one), 1), ("pair", call(Pair(3.0, one)), 2), ("pair", call(p=Pair(two, one)), 1),
    ("pair", call(Other(two, 1.0)), 1),
    ("lines", call([[1.0, 2.0], 3.0]), 6), ("lines", call([[], 3]), 3), ("lines", call([tf.ones([4]), one]), 5),
    ("captured", call(2.0), 7), ("captured", call(a=two), 7), ("nothing", call(), 4),
    ("mixed", call({"x": [3.0], "n": 3}, 2.0), 6), ("mixed", call({"x": [tf.constant(3.0)], "n": 3.0}, 2), 6),
    ("mixed", call(tf.constant(3.0)), 6)])
def test_calls_that_fit(functions, name, given, result):
    assert functions[name](*given[0], **given[1]).numpy() == result


@pytest.mark.parametrize("name, given, why", [
    ("add", call(1.0), "missing a required argument: 'b'"), ("add", call(one), "missing required arguments: b"),
    ("add", call(1.0, 2.0, 3.0), "takes 2 positional arguments, got 3"), ("add", call(one, two, one), "too many positional"),
    ("add", call(1.0, a=2.0), "missing required arguments"), ("add", call(1.0, 2.0, b=3.0), "got two values for 'b'"),
    ("add", call(1.0, z=2.0), "missing"), ("add", call(1.0, 2.0, z=2.0), "unexpected keyword argument"),
    ("add", call("a", 1.0), "got str"), ("add", call(None, 1.0), "got NoneType"), ("add", call(1j, 1.0), "got complex"),
    ("add", call([1.0], 2.0), r"Can not cast TensorSpec\(shape=\(1,\)"), ("add", call([one], two), "Can not cast"),
    ("add", call([one, two]), "missing a required argument"), ("add", call({}, 1.0), "got dict"), ("add", call(10 ** 400, 1.0), "got int"),
    ("named", call(p=3.0, q=1.0), "got float"), ("named", call(two, b=one, q=one), "unexpected|got two"),
    ("int", call(3.5), "got float"), ("int", call("3"), "got str"), ("int", call(2 ** 63), "got int"), ("int", call([3]), "Can not cast"),
    ("bool", call("x"), "got str"), ("text", call(3), "got int"),
    ("line", call(1.0), r"Can not cast TensorSpec\(shape=\(\)"), ("line", call([[1.0]]), "Can not cast"),
    ("line", call([[1.0], [1.0, 2.0]]), "got list"), ("line", call(scale), "Can not cast"),
    ("two", call(1.0), "missing a required argument: 'k'"), ("two", call(1.0, 3), r"Can not cast 3 to Literal\[2\]"),
    ("two", call(one, tf.constant(3)), "Can not cast"), ("two", call(1.0, None), "Can not cast"), ("two", call(1.0, "2"), "Can not cast"),
    ("none", call(1.0, 0), "Can not cast"), ("true", call(1.0, False), "Can not cast"),
    ("keyword", call(1.0, 2.0), "too many positional"), ("keyword", call(1.0), "missing a required argument: 'k'"),
    ("list", call((one, two)), "Can not cast"), ("tuple", call([one, two]), "Can not cast"), ("list", call([1.0]), "Can not cast|no len"),
    ("list", call(1.0, 2.0), "too many positional"), ("list", call([tf.constant(1), two]), "Can not cast"),
    ("list", call(tf.constant([1.0, 2.0])), "Can not cast"), ("list", call([[1.0], 2.0]), "Can not cast"),
    ("dict", call({"x": one}), "different keys"), ("dict", call({"x": one, "y": two, "z": one}), "different keys"),
    ("dict", call({"x": tf.constant(1), "y": 2.0}), "Can not cast"), ("pair", call((one, two)), "Can ?not cast"),
    ("pair", call([one, two]), "Can ?not cast"), ("lines", call([[[1.0]], 1.0]), "Can not cast"),
    ("captured", call(one, two), "too many positional"), ("captured", call(2.0, scale), "takes 1 positional"),
    ("captured", call(one, scale.handle, one), "too many positional"), ("nothing", call(1.0), "too many positional"),
    ("mixed", call({"x": [one], "n": 4}, 2.0), "Can not cast 4"), ("mixed", call(1.0), "missing a required argument")])
def test_calls_that_do_not(functions, name, given, why):
    with pytest.raises(TypeError, match=why) as raised:
        functions[name](*given[0], **given[1])
    assert "Fallback to flat signature also failed" in str(raised.value)


@pytest.mark.parametrize("name, given", [("add", call(tf.constant(1), two)), ("add", call(one, b=tf.constant(1.0, tf.float64))),
                                         ("int", call(one)), ("list", call(tf.constant(1), two))])
def test_tensors_of_another_dtype(functions, name, given):
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a"):
        functions[name](*given[0], **given[1])


def test_components_may_have_other_sizes():
    ragged = tf.RaggedTensorSpec([None, None], tf.float32)
    f = concrete(lambda r: tf.reduce_sum(r), ragged)
    assert f(tf.ragged.constant([[1.0], [2.0, 3.0]])).numpy() == 6
    assert f(tf.ragged.constant([[1.0, 1.0, 1.0]])).numpy() == 3
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.ragged.constant([[1]]))
    with pytest.raises(TypeError):
        f([[1.0]])
