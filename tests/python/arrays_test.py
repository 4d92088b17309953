"""An array read from a tensor is the user's own: writing to it changes nothing else, however it was read. Only what nobody
can look at again hands its memory over."""

import functools
import gc

import numpy as np
import pytest

import evenflow as tf

N = 10_000  # elements: far above what is copied anyway, and below and above what is deferred
SIZES = [3, 1100, N, 40_000]
v1 = tf.compat.v1


def fresh(n=N):
    return tf.constant(np.arange(n, dtype="float32")) + 1.0


def own(array):
    """Writes to the array."""
    assert array.flags.writeable
    array[...] = -5


READS = {
    "numpy": lambda x: x.numpy(),
    "_numpy": lambda x: x._numpy(),
    "bound": lambda x: functools.partial(type(x).numpy, x)(),
    "array": np.array,
    "__array__": lambda x: x.__array__(),
    "__array__ of a dtype": lambda x: x.__array__(np.float32),
    "__array__ copy": lambda x: x.__array__(copy=True),
    "static value": tf.get_static_value,
    "identity": lambda x: tf.identity(x).numpy(),
    "reshape": lambda x: tf.reshape(x, [-1]).numpy(),
    "all of it": lambda x: x[:].numpy(),
    "squeeze": lambda x: tf.squeeze(x).numpy(),
    "stop_gradient": lambda x: tf.stop_gradient(x).numpy(),
    "function": lambda x: tf.function(lambda y: y)(x).numpy(),
    "view in a function": lambda x: tf.function(lambda y: tf.reshape(y, [-1]))(x).numpy(),
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("how", READS)
def test_reading_gives_an_array_of_ones_own(how, n):
    x = fresh(n)
    own(READS[how](x))
    np.testing.assert_array_equal(x, np.arange(1, n + 1, dtype="float32"))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("how", ["asarray", "memoryview", "frombuffer", "__array__"])
def test_windows_are_read_only(how, n):
    x = fresh(n)
    read = {"asarray": np.asarray, "memoryview": lambda t: np.asarray(memoryview(t)),
            "frombuffer": lambda t: np.frombuffer(t, np.float32), "__array__": lambda t: t.__array__(copy=False)}[how]
    a = read(x)
    assert not a.flags.writeable
    with pytest.raises(ValueError):
        a[0] = 1
    if how != "__array__" or n > 8:
        assert np.shares_memory(a, np.asarray(x))
    with pytest.raises(ValueError):
        a.flags.writeable = True
    assert memoryview(x).readonly


def test_a_copy_that_cannot_be_avoided_is_refused():
    with pytest.raises(ValueError):
        fresh().__array__("float64", copy=False)


def test_a_temporary_hands_its_memory_over():
    x = fresh()
    for make in (lambda: x + 1.0, lambda: tf.function(lambda y: y * 2.0)(x), lambda: tf.sort(x), lambda: tf.zeros([N])):
        a = make().numpy()
        assert a.flags.writeable and isinstance(a.base, tf.Tensor)
        own(a)
        assert isinstance(make().numpy(), np.ndarray) and make().numpy()[0] != -5
    a = (x + 1.0).numpy()
    again = a.base.numpy()  # who holds the array may hold the tensor
    assert again.base is None
    del x
    gc.collect()
    assert a[1] == 3


def test_a_method_that_was_kept_reads_the_same_twice():
    for read in ((fresh() + 1.0).numpy, functools.partial(type(fresh()).numpy, fresh() + 1.0)):
        own(read())
        assert read()[0] == 2


def test_a_tensor_in_a_list_keeps_its_value():
    values = [fresh(), fresh() * 2.0]
    for t in map(type(values[0]).numpy, values):
        own(t)
    for k in range(2):
        own(values[k].numpy())
    sorted(values, key=lambda t: own(t.numpy()) or 0)
    assert [float(t[0]) for t in values] == [1, 2]


def test_results_that_others_hold():
    constant = tf.constant(np.arange(N))
    f = tf.function(lambda x: (constant, tf.constant(np.ones(N)), x, tf.range(N)))
    x = fresh()
    for k in range(4):
        for _ in range(2):
            own(f(x)[k].numpy())
    for result, truth in zip(f(x), (np.arange(N), np.ones(N), np.arange(N) + 1, np.arange(N))):
        np.testing.assert_array_equal(result, truth)


def test_variables():
    v = tf.Variable(np.ones(N, "float32"))
    for read in (lambda: v.numpy(), lambda: v.value().numpy(), lambda: v.read_value().numpy(), lambda: np.array(v),
                 lambda: v.__array__(), lambda: tf.identity(v).numpy(), lambda: tf.convert_to_tensor(v).numpy()):
        own(read())
        assert v.numpy().min() == 1
    a = v.numpy()
    v.assign_add(tf.ones([N]))
    assert a[0] == 1 and v.numpy()[0] == 2
    window = np.asarray(v.value())
    v.assign_add(tf.ones([N]))
    assert window[0] == 2


def test_what_comes_in_is_copied():
    for make in (tf.constant, tf.convert_to_tensor, tf.identity, tf.Variable, tf.experimental.dlpack.from_dlpack,
                 lambda a: tf.reshape(a, [-1]), lambda a: tf.Variable(np.zeros(N)).assign(a),
                 lambda a: next(iter(tf.data.Dataset.from_tensors(a))),
                 lambda a: tf.numpy_function(lambda _: a, [1.0], tf.float64)):
        source = np.ones(N)
        t = make(source)
        source[...] = 7
        assert np.array(t).max() == 1


def test_gradients_and_slices():
    x = tf.Variable(np.arange(N, dtype="float32"))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(x * x)
        z = tf.reduce_sum(tf.gather(tf.reshape(x, [100, 100]), [1, 2, 2]))
        w = x * 2.0
    first = tape.gradient(y, x)
    own(first.numpy())
    own(tape.gradient(y, x).numpy())
    own(w.numpy())
    assert first[1].numpy() == 2 and tape.gradient(y, x)[1].numpy() == 2 and w[1].numpy() == 2
    own(tf.convert_to_tensor(tape.gradient(z, x)).numpy())
    table = tf.Variable(tf.ones([100, 100]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, tf.range(50)))
    slices = tape.gradient(y, table)
    own(slices.values.numpy())
    own(slices.indices.numpy())
    assert slices.values.numpy().min() == 1 and slices.indices.numpy()[1] == 1


def test_sessions():
    with tf.Graph().as_default():
        constant = tf.constant(np.ones(N))
        fed = v1.placeholder(tf.float64, [N])
        stored = v1.get_variable("stored", initializer=np.ones(N))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for fetch in (constant, stored, tf.identity(constant), tf.reshape(stored, [100, 100]), constant + 1.0):
                before = session.run(fetch).max()
                own(session.run(fetch))
                assert session.run(fetch).max() == before
            source = np.ones(N)
            for fetch in (fed, tf.identity(fed), tf.reshape(fed, [100, 100])):
                own(session.run(fetch, {fed: source}))
                assert source.max() == source.min() == 1
                result = session.run(fetch, {fed: source})
                source[...] = 7
                assert result.max() == 1
                source[...] = 1


def test_callbacks():
    kept = []

    def fn(a):
        a = a.numpy() if tf.is_tensor(a) else a
        kept.append(a)
        return a

    x = fresh()
    for call in (tf.numpy_function, tf.py_function):
        y = call(fn, [x], tf.float32)
        for a in kept:
            own(a)
        assert x[0].numpy() == 1 and y[0].numpy() == 1


def test_kinds_of_values():
    assert tf.constant([1, 2]).numpy().tolist() == [1, 2]
    assert isinstance(tf.constant(1.5).numpy(), np.float32)
    assert tf.constant("abc").numpy() == b"abc"
    strings = tf.constant(["a", "b"])
    strings.numpy()[0] = b"c"
    assert strings.numpy().tolist() == [b"a", b"b"]
    assert tf.zeros([0, 3]).numpy().shape == (0, 3)
