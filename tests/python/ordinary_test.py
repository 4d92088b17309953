"""Small things ordinary programs do: arrays read and stacked, ragged and sparse values in sessions, printing."""
import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def written(**kwargs):
    array = tf.TensorArray(tf.float32, size=3, **kwargs)
    for k in range(3):
        array = array.write(k, float(k + 1))
    return array


def test_stack_after_read_has_zeros_where_elements_were_cleared():
    array = written()
    assert float(array.read(1)) == 2.0
    np.testing.assert_array_equal(array.stack(), [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(array.gather([2, 1]), [3.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cleared after a previous read"):
        array.read(1)


def test_stack_after_read_of_an_array_that_is_kept():
    array = written(clear_after_read=False)
    assert float(array.read(1)) == float(array.read(1)) == 2.0
    np.testing.assert_array_equal(array.stack(), [1.0, 2.0, 3.0])


def test_element_written_again_after_it_was_cleared():
    array = written()
    array.read(1)
    array = array.write(1, 7.0)
    assert float(array.read(1)) == 7.0


def test_session_gives_ragged_values():
    with tf.Graph().as_default(), v1.Session() as session:
        ragged = tf.ragged.constant([[[1, 2], []], [[3]]])
        value = session.run(ragged)
        assert isinstance(value, v1.ragged.RaggedTensorValue)
        assert value.to_list() == [[[1, 2], []], [[3]]] and value.ragged_rank == 2 and value.shape == (2, None, None)
        both = session.run({"a": [ragged * 2], "b": tf.constant(1)})
        assert both["a"][0].to_list() == [[[2, 4], []], [[6]]] and both["b"] == 1


def test_session_feeds_ragged_values():
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.ragged.placeholder(tf.int32, 1)
        total = tf.reduce_sum(place, axis=1)
        for rows in ([[1, 2], [3]], [[], [4, 5, 6], [7]]):
            value = v1.ragged.constant_value(rows, dtype=np.int32)
            np.testing.assert_array_equal(session.run(total, {place: value}), [sum(r) for r in rows])


def test_ragged_value_as_text():
    value = v1.ragged.constant_value([[1, 2], [3]])
    assert str(value) == "<tf.RaggedTensorValue [[1, 2], [3]]>"
    assert repr(value) == "tf.RaggedTensorValue(values=array([1, 2, 3]), row_splits=array([0, 2, 3]))"
    with pytest.raises(TypeError, match="row_splits must be a 1D int32 or int64 numpy array"):
        v1.ragged.RaggedTensorValue([1, 2], [0, 2])


DENSE = np.array([[0.0, -1.0, 0.0], [2.0, 0.0, 3.0]], np.float32)
SPARSE = v1.SparseTensorValue(np.argwhere(DENSE), DENSE[DENSE != 0], DENSE.shape)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0], [0, 1], [-2]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sparse_placeholder_of_unknown_rank_is_reduced(axis, keepdims):
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.sparse_placeholder(tf.float32)
        result = session.run(tf.sparse.reduce_sum(place, axis=axis, keepdims=keepdims), {place: SPARSE})
    np.testing.assert_allclose(result, DENSE.sum(numpy_axis, keepdims=keepdims))


def test_sparse_reduction_refuses_an_axis_the_value_does_not_have():
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.sparse_placeholder(tf.float32)
        total = tf.sparse.reduce_sum(place, axis=2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
            session.run(total, {place: SPARSE})


@pytest.mark.parametrize("text", ["Buzz", "", "two words", "{}", "100%"])
def test_a_single_string_is_printed_without_quotes(capfd, text):
    tf.print(text, output_stream=sys.stdout)
    tf.print(tf.constant(text), output_stream=sys.stdout)

    @tf.function
    def show(value):
        tf.print(value, output_stream=sys.stdout)

    show(tf.constant(text))
    assert capfd.readouterr().out == 3 * (text + "\n")


def test_numpy_functions_take_variables():
    tnp = tf.experimental.numpy
    v = tf.Variable([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tnp.take(v, [0, 2]), [1.0, 3.0])
    np.testing.assert_array_equal(tnp.concatenate([v, v]), [1, 2, 3, 1, 2, 3])
    np.testing.assert_array_equal(tnp.sum(v), 6.0)


# ---- variable scopes inside bodies and threads, Python functions over ragged tensors ---------------------------------------


def doubled_sum(total, x):
    return (total + x) * v1.get_variable("two", [], tf.int32, initializer=v1.constant_initializer(2))


BODIES = {
    "foldl": lambda e: v1.foldl(doubled_sum, e),
    "scan": lambda e: v1.scan(doubled_sum, e),
    "map_fn": lambda e: v1.map_fn(lambda x: doubled_sum(0, x), e),
    "cond": lambda e: v1.cond(tf.constant(True), lambda: doubled_sum(e, e), lambda: e),
    "while_loop": lambda e: v1.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, doubled_sum(a, 1)), [0, e])[1],
}


@pytest.mark.parametrize("how", BODIES)
def test_bodies_share_the_variables_of_the_scope_around_them(how):
    with tf.Graph().as_default(), v1.Session() as session:
        e = tf.constant([1, 2, 3])
        with v1.variable_scope("root") as scope:
            first = BODIES[how](e)
            scope.reuse_variables()
            second = BODIES[how](e)
        assert [v.name for v in v1.global_variables()] == ["root/two:0"]
        session.run(v1.global_variables_initializer())
        a, b = session.run([first, second])
        np.testing.assert_array_equal(a, b)


def test_threads_have_variable_scopes_of_their_own():
    graph, names = tf.Graph(), {}

    def work(k):
        with graph.as_default(), v1.variable_scope(f"thread{k}"):
            barrier.wait()
            names[k] = v1.get_variable("v", [1]).name
            barrier.wait()

    barrier = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    [t.start() for t in threads]
    [t.join(30) for t in threads]
    assert names == {0: "thread0/v:0", 1: "thread1/v:0"}


def test_variable_scopes_that_are_left_in_the_wrong_order():
    with tf.Graph().as_default():
        outer, inner = v1.variable_scope("a"), v1.variable_scope("b")
        outer.__enter__()
        inner.__enter__()
        with pytest.raises(RuntimeError, match="Improper nesting"):
            outer.__exit__(None, None, None)


def test_initializer_without_arguments():
    with tf.Graph().as_default():
        assert v1.get_variable("v", initializer=lambda: [1.0, 2.0]).shape == [2]


RAGGED, KIND = tf.ragged.constant([[1, 2], [3]]), tf.RaggedTensorSpec([None, None], tf.int32)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_python_function_over_ragged_tensors(wrap):
    assert wrap(lambda: tf.py_function(lambda r: r * 2, [RAGGED], KIND))().to_list() == [[2, 4], [6]]
    assert int(wrap(lambda: tf.py_function(tf.reduce_sum, [RAGGED], tf.int32))()) == 6
    total, again = wrap(lambda: tf.py_function(lambda a, r: (tf.reduce_sum(r), r), [1.0, RAGGED], [tf.int32, KIND]))()
    assert int(total) == 6 and again.to_list() == RAGGED.to_list()
    with pytest.raises(tf.errors.InvalidArgumentError, match="must return .* as Tout says"):
        wrap(lambda: tf.py_function(lambda r: r.flat_values, [RAGGED], KIND))()


def test_python_function_must_be_callable():
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_function(5, [1.0], tf.float32)


def test_ragged_constants_without_values():
    assert tf.ragged.constant([], ragged_rank=1).to_list() == []
    assert tf.ragged.constant([[], []], ragged_rank=2).to_list() == [[], []]
    with pytest.raises(ValueError, match="scalar values depth 2"):
        tf.ragged.constant([[1]], ragged_rank=2)


def test_messages_are_lists_too():
    metadata = v1.RunMetadata()
    assert len(metadata.step_stats.dev_stats) == 0 and list(metadata.step_stats.dev_stats) == []
    config = v1.ConfigProto()
    config.session_inter_op_thread_pool.add(num_threads=1)
    assert [p.num_threads for p in config.session_inter_op_thread_pool] == [1]
    assert len(config.session_inter_op_thread_pool) == 1


def test_sessions_refuse_what_they_cannot_do():
    with tf.Graph().as_default():
        e = tf.constant(1.0, name="e")
        with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
            v1.Session("grpc://somewhere")
        with v1.Session() as session:
            assert session.run(b"e:0") == session.run(e) == 1.0
            with pytest.raises(RuntimeError, match="not re-entrant"):
                session.__enter__()


LONG_ROWS = tf.ragged.constant([list(range(8)), [], [1]])


def test_print_of_composite_tensors(capsys):
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    tf.print("a", LONG_ROWS, sparse, [LONG_ROWS[1:]], output_stream=sys.stdout)
    text = "SparseTensor(indices=[[0 1]], values=[2], shape=[2 2])"
    assert capsys.readouterr().out == f"a [[0, 1, 2, ..., 5, 6, 7], [], [1]] '{text}' [[[], [1]]]\n"
    tf.print(tf.ragged.constant([["it's"], []]), LONG_ROWS, summarize=1, sep="|", output_stream=sys.stdout)
    assert capsys.readouterr().out == "[['it\\'s'], []]|[[0, ..., 7], ..., [1]]\n"


def test_ragged_tensor_in_a_format():
    text = tf.strings.format("{} and {}", [LONG_ROWS, tf.constant([1, 2])], summarize=2)
    assert text.numpy() == b"[[0, 1, ..., 6, 7], [], [1]] and [1 2]"
    traced = tf.function(lambda r: tf.strings.format("<{}>", r, summarize=-1))
    assert traced(LONG_ROWS[1:]).numpy() == b"<[[], [1]]>"
    assert traced(tf.ragged.constant([[[1.5]], []])).numpy() == b"<[[[1.500000]], []]>"


def again(value):
    return pickle.loads(pickle.dumps(value))


def test_composite_tensors_are_pickled():
    ragged = again(tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1.5], [], [2.0], [3.0]]), 2))
    assert ragged.to_list() == [[[1.5], []], [[2.0], [3.0]]] and ragged.shape == [2, 2, None]
    np.testing.assert_array_equal(tf.sparse.to_dense(again(tf.sparse.eye(2))), np.eye(2))
    slices = again(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), tf.constant([5, 2])))
    assert slices.indices.numpy() == [3] and slices.dense_shape.numpy().tolist() == [5, 2]
    assert isinstance(copy.deepcopy(slices), tf.IndexedSlices)


def test_random_generators_and_ops_are_pickled():
    generator = tf.random.Generator.from_seed(3)
    generator.normal([2])
    copied = again(generator)
    np.testing.assert_array_equal(copied.normal([3]), generator.normal([3]))
    assert again([tf.nn.relu, tf.math.add, tf.raw_ops.AddV2]) == [tf.nn.relu, tf.math.add, tf.raw_ops.AddV2]
    assert copy.deepcopy(tf.nn.relu) is tf.nn.relu


class Scaled(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)
        self.inner = [tf.Variable(1.0)]

    @tf.function
    def __call__(self, x):
        return x * self.factor + self.inner[0]


@pytest.mark.parametrize("copied", [copy.deepcopy, again])
def test_modules_are_copied_with_their_functions(copied):
    module = Scaled()
    assert float(module(tf.constant(3.0))) == 7
    other = copied(module)
    other.factor.assign(5.0)
    assert float(other(tf.constant(3.0))) == 16 and float(module(tf.constant(3.0))) == 7
    assert len(other.variables) == 2 and other.name_scope.name == module.name_scope.name
    with module.name_scope as outside, copied(module.name_scope) as inside:
        assert outside == inside == "scaled/"
