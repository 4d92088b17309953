"""A function called with one size after another does what it would do if it were traced for each: Python sees the sizes
of the call, and one trace serves all sizes that Python did not look at."""
import json
import pathlib

import evenflow as tf
import pytest
from shapes_cases import SIZES, cases, make, names_for, outcome, same

REFERENCE = json.loads((pathlib.Path(__file__).parent / "shapes_reference.json").read_text())
NAMES = names_for(tf)


@pytest.mark.parametrize("group, source", list(cases()))
def test_as_tensorflow(group, source):
    function = make(tf, NAMES, source, group)
    wanted = REFERENCE[f"{group}: {source}"]
    for size, want in zip(SIZES[group], wanted):
        found = outcome(function, tf, size, group)
        assert same(found, want), f"for {size}: {found} instead of {want}"


# ---- how often Python runs -------------------------------------------------------------------------------------------


def traced(python, sizes=((4, 3), (2, 3), (7, 3), (9, 3), (1, 3), (4, 3)), **options):
    """The sizes Python saw, one for each time it ran."""
    seen = []

    @tf.function(**options)
    def function(x):
        seen.append(None)
        result = python(x)
        seen[-1] = x.shape.rank
        return result

    for size in sizes:
        function(tf.ones(size))
    return len(seen)


WEIGHT = tf.Variable(tf.ones([3, 5]))


@tf.function
def layer(x):
    return tf.tanh(x) @ WEIGHT


def train(x):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, WEIGHT)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), y))
    return tape.gradient(loss, WEIGHT)


def recurrent(x):
    h, steps = tf.zeros([tf.shape(x)[0], 3]), tf.TensorArray(tf.float32, 3)
    for i in tf.range(3):
        h = tf.tanh(x + h)
        steps = steps.write(i, h)
    return steps.stack()


def rows(x):
    total = tf.zeros([3])
    for row in x:
        total += row
    return total


def through_a_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(2):
            y = y * x
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, x)


GENERAL = {
    "layer": layer, "train": train, "recurrent": recurrent, "rows": rows, "through_a_loop": through_a_loop,
    "ones": lambda x: tf.ones(x.shape) + x,
    "random": lambda x: tf.random.normal(x.shape),
    "rank": lambda x: x * len(x.shape),
    "other_size": lambda x: x * x.shape[1],
    "map_fn": lambda x: tf.map_fn(lambda row: row * 2, x),
    "vectorized_map": lambda x: tf.vectorized_map(lambda row: row * 2, x),
    "scan": lambda x: tf.scan(lambda a, row: a + row, x, initializer=tf.zeros([3])),
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x),
    "while_loop": lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x), [0, x])[1],
    "reshape": lambda x: tf.reshape(x, [tf.shape(x)[0], 3, 1]),
    "slice": lambda x: x[1:],
    "boolean_mask": lambda x: tf.boolean_mask(x, x[:, 0] > 0),
    "repeat": lambda x: tf.repeat(x, 2, axis=0),
    "dropout": lambda x: tf.nn.dropout(x, 0.5),
    "set_shape": lambda x: tf.identity(x).set_shape(x.shape),
    "gradients": lambda x: tf.gradients(tf.reduce_sum(tf.ones(x.shape) * x * x), x)[0],
    "sigmoid": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(x, x),
    "nested": lambda x: layer(x) + layer(x * 2),
}


@pytest.mark.parametrize("name", GENERAL)
def test_one_trace_serves_sizes_that_nobody_reads(name):
    assert traced(GENERAL[name]) == 2  # for the first size, and for all others


READING = {
    "index": lambda x: x * x.shape[0],
    "as_list": lambda x: x * x.shape.as_list()[0],
    "compare": lambda x: x if x.shape == [4, 3] else -x,
    "print": lambda x: (str(x.shape), x)[1],
    "num_elements": lambda x: x * x.shape.num_elements(),
    "static_value": lambda x: x * tf.get_static_value(tf.shape(x))[0],
    "unstack": lambda x: tf.add_n(tf.unstack(x)),
    "derived": lambda x: x * tf.concat([x, x], 0).shape[0],
    "in_a_body": lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * a.shape[0]), [0, x])[1],
    "of_a_capture": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * (x + 1).shape[0], lambda: x),
}


@pytest.mark.parametrize("name", READING)
def test_python_runs_once_for_each_size_it_reads(name):
    assert traced(READING[name]) == 5  # one of the six sizes comes twice


def test_a_size_that_a_nested_function_reads_counts():
    @tf.function
    def inner(x):
        return x * x.shape[0]

    assert traced(lambda x: inner(x) + 1) == 5
    assert traced(lambda x: inner(x) + 1, autograph=False) == 5  # found in the inner function's cache


def test_only_the_size_that_is_read_is_kept():
    seen = []

    @tf.function
    def f(x):
        seen.append(x.shape[1])
        return tf.reduce_sum(x) * x.shape[1]

    for size in ([4, 3], [2, 5], [7, 5], [9, 5], [9, 3], [1, 3], [6, 5]):
        assert float(f(tf.ones(size))) == size[0] * size[1] ** 2
    assert len(seen) <= 4 and set(seen) == {3, 5}


def test_sizes_that_were_equal_may_differ_later():
    @tf.function
    def f(x, y):
        return x * y

    for a, b in ((4, 4), (2, 2), (7, 7), (1, 5), (5, 1), (3, 3)):
        assert f(tf.ones([a]), tf.ones([b])).shape == [max(a, b)]
    with pytest.raises(ValueError):
        f(tf.ones([2]), tf.ones([3]))
    assert f(tf.ones([6]), tf.ones([6])).shape == [6]


def test_sizes_that_do_not_fit_are_refused_as_when_traced():
    f = tf.function(lambda x: x + tf.ones([4, 3]))
    assert f(tf.ones([4, 3])).shape == f(tf.ones([1, 3])).shape == [4, 3]
    for _ in range(2):
        with pytest.raises(ValueError, match="Incompatible shapes"):
            f(tf.ones([2, 3]))
    assert f(tf.ones([1, 3])).shape == [4, 3]


def test_an_error_that_python_catches_is_a_size_that_was_read():
    @tf.function(autograph=False)
    def f(x):
        try:
            return tf.reshape(x, [2, 3])
        except ValueError:
            return x * 5.0

    for n in (2, 4, 2, 7, 2):
        assert f(tf.ones([n, 3])).shape == [n, 3]
        assert float(f(tf.ones([n, 3]))[0, 0]) == (1.0 if n == 2 else 5.0)


def test_a_concrete_function_is_of_its_own_sizes():
    @tf.function
    def f(x):
        return x * 2

    for n in (4, 2, 7):
        f(tf.ones([n, 3]))
    concrete = f.get_concrete_function(tf.TensorSpec([5, 3]))
    assert concrete.structured_outputs.shape == concrete.outputs[0].shape == [5, 3]
    assert concrete.structured_input_signature[0][0].shape == [5, 3]
    open_size = f.get_concrete_function(tf.TensorSpec([None, 3]))
    assert open_size.outputs[0].shape.as_list() == [None, 3]


def test_reduce_retracing_keeps_the_traces_that_saw_sizes():
    @tf.function(reduce_retracing=True)
    def f(x):
        return tf.constant([-1 if n is None else n for n in x.shape])

    sizes = [[2, 3], [4, 3], [2, 3], [2, 5], [4, 3], [2, 3], [6, 7]]
    seen = [f(tf.ones(s)).numpy().tolist() for s in sizes]
    assert seen == [[2, 3], [-1, 3], [2, 3], [-1, -1], [-1, 3], [2, 3], [-1, -1]]
    assert f.experimental_get_tracing_count() == 3


def test_reduce_retracing_shows_python_no_size_that_changed():
    seen = []

    @tf.function(reduce_retracing=True)
    def f(x):
        seen.append(x.shape.as_list())
        return tf.reduce_sum(x)

    for n in (4, 2, 7):
        f(tf.ones([n, 3]))
    assert seen == [[4, 3], [None, 3]]


def test_a_signature_says_what_is_open():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        seen.append(x.shape.as_list())
        return tf.ones(tf.shape(x))

    assert [f(tf.ones([n, 3])).shape[0] for n in (4, 2)] == [4, 2]
    assert seen == [[None, 3]]


def test_many_sizes_that_are_read_stay_within_bounds():
    f = tf.function(lambda x: x * x.shape[0])
    for n in range(1, 200):
        assert float(f(tf.ones([n]))[0]) == n
    for n in (1, 199, 100):
        assert float(f(tf.ones([n]))[0]) == n


def test_the_type_of_a_shape_is_always_the_same():
    f = tf.function(lambda x: (type(x.shape) is tf.TensorShape, type(x.shape[0]) is int))
    assert all(bool(a) and bool(b) for a, b in [f(tf.ones([n])) for n in (3, 2, 5)])


def test_shapes_outlive_the_trace():
    kept = []

    @tf.function
    def f(x):
        kept.append(x.shape)
        return x

    for n in (3, 2, 5, 7):
        f(tf.ones([n]))
    assert [s.as_list() for s in kept] == [[3], [2]]
    assert tf.ones(kept[1]).shape == [2]  # eagerly: the sizes it had


def test_a_size_that_does_not_fit_raises_as_a_new_trace_would():
    def first_row(x):
        return tf.repeat(x, 2, axis=0)[0] + 1.0

    f = tf.function(first_row)
    for rows in (4, 2):
        f(tf.ones([rows, 3]))
    with pytest.raises(ValueError, match="slice index 0") as seen:
        f(tf.ones([0, 3]))
    assert isinstance(seen.value, tf.errors.InvalidArgumentError)
    with pytest.raises(ValueError, match="slice index 0"):
        tf.function(first_row)(tf.ones([0, 3]))
    assert f(tf.ones([7, 3])).shape == [3]


def test_a_gradient_has_the_sizes_of_its_source():
    @tf.function
    def f(x):
        total = tf.zeros(x.shape[1:])
        for row in x:
            total += row
        gradient = tf.gradients(tf.reduce_sum(total), x)[0]
        return gradient.shape, gradient

    for rows in (4, 2, 5):
        shape, gradient = f(tf.ones([rows, 3]))
        assert shape.numpy().tolist() == [rows, 3] and gradient.shape == [rows, 3]
