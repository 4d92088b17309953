"""Random ops in functions: each function and trace has its own sequence. The numbers are those of TensorFlow."""
import numpy as np
import pytest

import evenflow as tf

CASES = {}


def numbers(*expected):
    def add(program):
        CASES[program.__name__] = program, expected
        return program
    return add


def u(**options):
    return tf.random.uniform([], **options)


@numbers(0.812696, 0.527289, 0.848943)
def function_repeated():
    tf.random.set_seed(1)
    f = tf.function(lambda: u())
    return [f(), f(), f()]


@numbers(0.812696, 0.527289, 0.812696, 0.527289)
def set_seed_between():
    tf.random.set_seed(1)
    f = tf.function(lambda: u())
    a = [f(), f()]
    tf.random.set_seed(1)
    return a + [f(), f()]


@numbers(0.812696, 0.812696, 0.527289, 0.527289)
def two_functions():
    tf.random.set_seed(1)
    f = tf.function(lambda: u())
    g = tf.function(lambda: u())
    return [f(), g(), f(), g()]


@numbers(0.319542, 0.826153, 0.319542, 0.826153)
def op_seed_only():
    f = tf.function(lambda: u(seed=3))
    g = tf.function(lambda: u(seed=3))
    return [f(), f(), g(), g()]


@numbers(0.288678, 0.447501, 0.288678, 0.447501)
def both_seeds():
    tf.random.set_seed(5)
    f = tf.function(lambda: u(seed=3))
    g = tf.function(lambda: u(seed=3))
    return [f(), f(), g(), g()]


@numbers(0.288678, 0.288678, 0.447501, 0.447501)
def two_ops_same_seed():
    tf.random.set_seed(5)
    f = tf.function(lambda: (u(seed=3), u(seed=3)))
    return [f(), f()]


@numbers(0.182865, 0.182865, 0.182865, 0.673077, 0.673077, 0.673077, 0.182865, 0.673077)
def nested():
    tf.random.set_seed(5)
    f = tf.function(lambda: u())
    g = tf.function(lambda: (f(), f(), u()))
    return [g(), g(), f(), f()]


@numbers(0.182865, 0.182865, 0.182865, 0.387518, 0.673077, 0.673077, 0.673077, 0.985923, 0.936387)
def nested_first_outer():
    tf.random.set_seed(5)
    f = tf.function(lambda: u())
    a = [f()]
    g = tf.function(lambda: (u(), f(), u()))
    return a + [g(), f(), g(), f()]


@numbers(0.182865, 0.673077, 0.182865, 0.936387, 0.673077)
def retraced():
    tf.random.set_seed(5)
    f = tf.function(lambda x: x * 0 + u())
    return [f(tf.constant(1.0)), f(tf.constant(1.0)), f(tf.constant([1.0])), f(tf.constant(1.0)), f(tf.constant([1.0]))]


@numbers(0.182865, 0.673077, 0.36573, 1.346153, 0.936387)
def retraced_number():
    tf.random.set_seed(5)
    f = tf.function(lambda k: k * u())
    return [f(1), f(1), f(2), f(2), f(1)]


@numbers(0.626393, 0.182865, 0.701707, 0.673077, 0.201795)
def eager_and_function():
    tf.random.set_seed(5)
    a = [u()]
    f = tf.function(lambda: u())
    return a + [f(), u(), f(), u()]


@numbers(0.182865, 0.673077, 0.936387, 0.387641, 0.066045, 0.486162, 0.772533, 0.685594)
def while_loop():
    tf.random.set_seed(5)

    @tf.function
    def f():
        ta = tf.TensorArray(tf.float32, 4)
        for i in tf.range(4):
            ta = ta.write(i, u())
        return ta.stack()
    return [f(), f()]


@numbers(0.182865, 10.182865, 0.673077, 10.673077)
def cond():
    tf.random.set_seed(5)

    @tf.function
    def f(x):
        if x > 0:
            y = u()
        else:
            y = u() + 10
        return y
    return [f(tf.constant(1.0)), f(tf.constant(-1.0)), f(tf.constant(1.0)), f(tf.constant(-1.0))]


@numbers(0.210983, 0.606327, 0.615558, 0.210983, 0.606327, 0.615558)
def ds_map_seed():
    ds = tf.data.Dataset.range(3).map(lambda i: u(seed=1))
    return [list(ds), list(ds)]


@numbers(0.182865, 0.01476, 0.182865, 0.673077, 0.16376, 0.673077, 0.182865, 0.01476, 0.182865, 0.673077, 0.16376,
         0.673077)
def ds_map_two():
    tf.random.set_seed(5)
    ds = tf.data.Dataset.range(2).map(lambda i: (u(), u(seed=2))).map(lambda a, b: (a, b, u()))
    return [list(ds), list(ds)]


@numbers(0.210983, 0.895064, 0.722423, 0.748874, 0.467936, 0.305286, 0.449368, 0.970208, 0.733998, 0.70268, 0.125947,
         0.156392, 0.815717, 0.139372, 0.472033, 0.374259, 0.210983, 0.895064, 0.722423, 0.748874, 0.467936,
         0.305286, 0.449368, 0.970208, 0.733998, 0.70268, 0.125947, 0.156392, 0.815717, 0.139372, 0.472033, 0.374259)
def ds_batch_map():
    ds = tf.data.Dataset.range(8).batch(4).map(lambda i: tf.random.uniform([4], seed=1)).repeat(2)
    return [list(ds), list(ds)]


@numbers(0.210983, 0.210983, 0.606327, 0.606327)
def two_iters():
    ds = tf.data.Dataset.range(3).map(lambda i: u(seed=1))
    a, b = (iter(ds), iter(ds))
    return [next(a), next(b), next(a), next(b)]


@numbers(0.0, 3.0, 4.0, 7.0, 0.0, 3.0, 4.0, 7.0)
def filter_ds():
    ds = tf.data.Dataset.range(8).filter(lambda i: u(seed=1) < 0.5)
    return [list(ds), list(ds)]


@numbers(0.182865, 0.673077, 0.936387, 0.387641)
def concrete():
    tf.random.set_seed(5)
    f = tf.function(lambda: u())
    c = f.get_concrete_function()
    return [f(), c(), f(), c()]


@numbers(0.801599, 0.723816, 0.439859, 0.494459)
def concrete_two():
    f = tf.function(lambda x: x + u())
    c = f.get_concrete_function(tf.TensorSpec([]))
    return [c(tf.constant(0.0)), f(tf.constant(0.0)), c(tf.constant(0.0)), f(tf.constant(0.0))]


@numbers(0.182865, 0.182865, 0.673077, 0.673077)
def method():
    tf.random.set_seed(5)

    class A:

        @tf.function
        def m(self):
            return u()
    a, b = (A(), A())
    return [a.m(), b.m(), a.m(), b.m()]


@numbers(0.182865, 0.182865, 0.182865, 0.182865, 0.673077, 0.673077, 0.673077)
def two_inner_calls_same():
    tf.random.set_seed(5)
    f = tf.function(lambda: u())
    g = tf.function(lambda: (f(), f()))
    h = tf.function(lambda: f())
    return [g(), h(), f(), g(), h()]


@numbers(0.36573, 0.182865, 0.36573)
def custom_grad():
    tf.random.set_seed(5)
    f = tf.function(lambda x: x * u())
    x = tf.constant(2.0)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    return [y, t.gradient(y, x), f(x)]


@numbers(1.603197, 1.603197, 0.801599, 1.447632, 0.723816, 1.447632)
def tape_calls():
    f = tf.function(lambda x: x * u())
    x = tf.Variable(2.0)
    r = [f(x)]
    for _ in range(2):
        with tf.GradientTape() as t:
            y = f(x)
        r += [y, t.gradient(y, x)]
    return r + [f(x)]


@numbers(0.801599, 0.801599, 0.801599, 0.801599, 0.801599, 0.723816, 0.723816, 0.723816, 0.723816, 0.723816,
         0.801599, 0.801599, 0.801599)
def deep():
    a = tf.function(lambda: u())
    b = tf.function(lambda: (a(), a()))
    c = tf.function(lambda: (b(), b(), a()))
    return [c(), c(), b(), a()]


@numbers(1.603197, 8.015985, 1.447632, 7.23816, 0.801599)
def cond_calls():
    a = tf.function(lambda: u())

    @tf.function
    def f(x):
        if x > 0:
            y = a() + a()
        else:
            y = a() * 10.0
        return y
    return [f(tf.constant(1.0)), f(tf.constant(-1.0)), f(tf.constant(1.0)), f(tf.constant(-1.0)), a()]


@numbers(1.965273, 1.965273, 1.973944, 1.973944, 0.801599)
def loop_calls():
    a = tf.function(lambda: u())

    @tf.function
    def f():
        s = tf.constant([0.0, 0.0])
        for i in tf.range(3):
            s = s + tf.stack([a(), a()])
        return s
    return [f(), f(), a()]


@numbers(2.404796, 1.603197, 0.801599, 2.171448)
def recursion():

    @tf.function
    def f(n):
        return u() if n == 0 else f(n - 1) + u()
    return [f(2), f(1), f(0), f(2)]


@numbers(0.127364, 0.778069, 0.858016, 0.257049, 0.839977)
def set_seed_inside():

    @tf.function
    def f():
        tf.random.set_seed(3)
        return (u(), u())
    return [f(), f(), u()]


@numbers(0.812696, 0.812696, 0.829064, 0.527289, 0.304166)
def functions_seed_changes():
    tf.random.set_seed(1)
    f = tf.function(lambda x: u())
    a = [f(1)]
    tf.random.set_seed(2)
    return a + [f(1), f(2), f(1), f(2)]


@numbers(0.801599, 0.268964, 0.439859, 0.150774, 0.892488, 0.634706, 0.659707, 0.008742, 0.763522, 0.466208,
         0.596861, 0.859308, 0.351858, 0.036372)
def sizes_sig():
    f = tf.function(lambda x: x * 0 + tf.random.uniform(tf.shape(x)), input_signature=[tf.TensorSpec([None])])
    return [f(tf.zeros([2])), f(tf.zeros([3])), f(tf.zeros([2])), f(tf.zeros([3])), f(tf.zeros([4]))]


@numbers(0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0, 2.0)
def dropout_seed():
    f = tf.function(lambda: tf.nn.dropout(tf.ones([6]), 0.5, seed=1))
    g = tf.function(lambda: tf.nn.dropout(tf.ones([6]), 0.5, seed=1))
    return [f(), f(), g()]


@numbers(3.0, 0.0, 4.0, 1.0, 3.0, 0.0, 4.0, 1.0, 2.0, 3.0, 1.0, 4.0, 2.0, 3.0, 1.0, 4.0)
def shuffle_same():
    f = tf.function(lambda: tf.random.shuffle(tf.range(5), seed=1))
    g = tf.function(lambda: tf.random.shuffle(tf.range(5), seed=1))
    return [f(), g(), f(), g()]


@numbers(0.123919, 2.798774, 0.53973, 0.10494, 0.680345, 0.877782, 0.764357, 0.018779, -1.035848, 0.497683, 0.430893,
         0.356949, 1.015499, -0.807808, 0.052837, 0.295539)
def many_ops():
    tf.random.set_seed(0)

    @tf.function
    def f():
        return (tf.random.normal([2]), tf.random.uniform([2]), tf.random.normal([2], seed=1), tf.random.uniform([2]))
    return [f(), f()]


@numbers(0.626393, 0.182865, 0.626393, 0.673077, 0.701707)
def init_scope():
    tf.random.set_seed(5)

    @tf.function
    def f():
        with tf.init_scope():
            a = u()
        return (a, u())
    return [f(), f(), u()]


@numbers(0.132299, 0.53481, 0.287967, 0.853267, 0.031143, 0.534076)
def generator():
    g = tf.random.Generator.from_seed(3)
    f = tf.function(lambda: g.uniform([2]))
    return [f(), f(), g.uniform([2])]


@numbers(0.740746, 0.740746, 0.740746, 0.043924, 0.043924)
def no_seed_differs():
    f = tf.function(lambda: u(seed=11))
    g = tf.function(lambda x: u(seed=11))
    return [f(), g(1), g(2), f(), g(1)]


@numbers(0.386929, 0.386929, 0.663345, 0.386929, 0.386929, 0.663345)
def graph_opseed():
    with tf.Graph().as_default():
        a = tf.random.uniform([], seed=3)
        b = tf.random.uniform([], seed=3)
        with tf.compat.v1.Session() as s:
            r = [s.run([a, b]), s.run(a)]
        with tf.compat.v1.Session() as s:
            r += [s.run([a, b]), s.run(b)]
    return r


@pytest.mark.parametrize("name", list(CASES))
def test_numbers_are_those_of_tensorflow(name):
    program, expected = CASES[name]
    tf.random.set_seed(99)
    found = np.concatenate([np.ravel(np.asarray(v))[:4] for v in tf.nest.flatten(program())])
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_iterations_of_several_datasets_draw_apart():
    """TensorFlow starts a dataset's function anew in each iteration, whatever another dataset has drawn."""
    tf.random.set_seed(1)
    for ds in [tf.data.Dataset.range(1).map(lambda _: tf.random.uniform([])) for _ in range(8)]:
        assert len({float(x) for _ in range(100) for x in ds}) == 1
