"""Ops as results of branches, assignments inside them, composites as arguments, sparse rows, gradients that fail."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def run(build):
    with tf.Graph().as_default(), v1.Session() as session:
        made = build()
        session.run(v1.global_variables_initializer())
        return session.run(made)


def test_in_place_of_an_op_a_branch_gives_the_predicate():
    assert run(lambda: tf.cond(tf.constant(3) > 2, tf.no_op, tf.no_op)) == True  # noqa: E712
    assert run(lambda: v1.cond(tf.constant(3) < 2, tf.no_op, tf.no_op)) == False  # noqa: E712
    assert run(lambda: tf.switch_case(tf.constant(1), [tf.no_op, tf.no_op])) == 1
    assert run(lambda: tf.case([(tf.constant(3) < 2, tf.no_op)], default=tf.no_op)) == False  # noqa: E712

    @tf.function
    def f(p):
        return tf.cond(p, lambda: (tf.no_op(), 1), lambda: (tf.no_op(), 2))

    flag, number = f(tf.constant(False))
    assert not flag and int(number) == 2
    with tf.Graph().as_default():
        assert tf.cond(v1.placeholder(tf.bool), tf.no_op, tf.no_op).shape.rank is None
    with pytest.raises(ValueError, match="Lengths of branch outputs"):
        tf.function(lambda p: tf.cond(p, tf.no_op, lambda: None))(tf.constant(True))


def test_the_op_of_an_assignment_in_a_branch():
    def build():
        a = tf.Variable(7)

        def then():
            assigned = a.assign(1)
            assert assigned.op.type == "AssignVariableOp" and assigned.op.graph is not a.graph
            return [assigned.op, tf.no_op()]

        done = tf.cond(tf.constant(3) > 2, then, lambda: [a.assign_add(2).op, tf.no_op()])
        with tf.control_dependencies(done):
            return done, a.read_value()

    assert run(build) == ([True, True], 1)

    seen = []

    @tf.function
    def g():
        seen.append(variable.assign_add(1).op.type)
        return variable.assign(5)

    variable = tf.Variable(1)
    assert int(g()) == 5 and seen == ["AssignAddVariableOp"] and variable.assign(2).op is None


def test_specs_of_composites_for_concrete_functions():
    @tf.function(input_signature=[{"a": tf.SparseTensorSpec([None, 3]), "b": tf.TensorSpec([])}])
    def f(d):
        shapes.append(d["a"].shape.as_list())
        return d["a"].values * d["b"]

    shapes = []
    concrete = f.get_concrete_function()
    assert tf.nest.flatten(concrete.structured_input_signature)[0] == tf.SparseTensorSpec([None, 3])
    for rows in (1, 2):
        value = tf.sparse.from_dense(np.ones([rows, 3], np.float32))
        assert f({"a": value, "b": 2.0}).numpy().tolist() == [2.0] * (3 * rows)
    assert shapes == [[None, 3]]
    with pytest.raises(TypeError, match="Can not cast"):
        f({"a": tf.sparse.from_dense([[1.0]]), "b": 2.0})
    ragged = tf.function(lambda r: r.flat_values + 1).get_concrete_function(tf.RaggedTensorSpec([None, None]))
    assert ragged(tf.ragged.constant([[1.0], [2.0, 3.0]])).numpy().tolist() == [2.0, 3.0, 4.0]
    sparse = tf.function(lambda s: s.values).get_concrete_function(tf.SparseTensorSpec([None, 2]))
    assert sparse(tf.sparse.from_dense([[1.0, 0.0]])).numpy().tolist() == [1.0]


SPARSE = tf.SparseTensor([[0, 0], [0, 1], [2, 1]], [1, 2, 3], [3, 2])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_rows_of_sparse_tensors(wrap):
    same = wrap(lambda s: tf.map_fn(lambda x: x.with_values(x.values * 2), s))(SPARSE)
    assert tf.sparse.to_dense(same).numpy().tolist() == [[2, 4], [0, 0], [0, 6]]
    sums = wrap(lambda s: tf.map_fn(tf.sparse.reduce_sum, s, fn_output_signature=tf.int32))(SPARSE)
    assert sums.numpy().tolist() == [3, 0, 3]
    pairs = wrap(lambda s: tf.map_fn(lambda p: tf.sparse.reduce_sum(p[0]) + p[1], (s, tf.range(3)),
                                     fn_output_signature=tf.int32))(SPARSE)
    assert pairs.numpy().tolist() == [3, 1, 5]
    made = wrap(lambda t: tf.map_fn(lambda x: tf.sparse.from_dense([[x, 0, x]]), t,
                                    fn_output_signature=tf.SparseTensorSpec([1, 3], tf.int32)))(tf.constant([1, 2]))
    assert tf.sparse.to_dense(made).numpy().tolist() == [[[1, 0, 1]], [[2, 0, 2]]]


def test_rows_of_sparse_tensors_in_any_order_and_none():
    mixed = tf.SparseTensor([[2, 1], [0, 0], [0, 1]], [3, 1, 2], [3, 2])
    assert tf.map_fn(tf.sparse.reduce_sum, mixed, fn_output_signature=tf.int32).numpy().tolist() == [3, 0, 3]
    empty = tf.map_fn(lambda x: x, tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [0, 2]))
    assert empty.dense_shape.numpy().tolist() == [0, 2] and empty.values.shape == (0,)
    with pytest.raises(ValueError, match="different first dimensions"):
        tf.map_fn(lambda x: 1, (SPARSE, tf.range(2)), fn_output_signature=tf.int32)


def test_consumers_of_a_sparse_tensor():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 0]], [1.0], [1, 1])
        out = tf.sparse.sparse_dense_matmul(sparse, tf.ones([1, 1]))
        assert sparse.consumers() == [out.op]
        other = tf.identity(sparse.values)
        assert {op.name for op in sparse.consumers()} == {out.op.name, other.op.name}


@tf.custom_gradient
def trap(x):
    def backward(_):
        raise AssertionError("ran")

    return x * 1.0, backward


def test_a_gradient_that_nobody_asks_for_may_fail():
    f, x, w = tf.function(lambda x: trap(x)), tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * f(w)
    assert float(tape.gradient(y, x)) == 2.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(tf.stop_gradient(x))
    assert tape.gradient(y, x) is None
    with tf.Graph().as_default():
        x, w = tf.constant(1.0), tf.constant(2.0)
        assert v1.gradients(x * trap(w), x)[0] is not None


def test_a_gradient_that_fails():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = trap(x)
    with pytest.raises(AssertionError, match="ran"):
        tape.gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.function(lambda x: trap(x))(x)
    for _ in range(2):
        with pytest.raises(AssertionError, match="ran") as raised:
            tape.gradient(y, x)
        [note] = getattr(raised.value, "__notes__", [__file__])
        assert "branch_details_test.py" in note


def test_python_functions_without_state_or_arguments():
    for stateful, expected in ((True, [0, 1, 2]), (False, [0, 0, 0])):
        with tf.Graph().as_default(), v1.Session() as session:
            numbers = iter(range(3))
            made = tf.numpy_function(lambda numbers=numbers: np.int64(next(numbers)), [], tf.int64, stateful=stateful)
            assert [session.run(made) for _ in range(3)] == expected


@pytest.mark.parametrize("op", [tf.py_function, tf.numpy_function])
def test_arguments_of_python_functions(op):
    def minus(a, b):
        return a - b

    for bad, words in ((lambda: op(minus), "Missing.*Tout"), (lambda: op(tf.int32)(minus), "Missing.*Tout"),
                       (lambda: op(inp=[], Tout=tf.int32), "Don't.*inp.*decorator"),
                       (lambda: op(minus, Tout=tf.int32), "Missing.*inp")):
        with pytest.raises(TypeError, match=words):
            bad()
    assert int(op(Tout=tf.int32)(minus)(3, 1)) == 2


def test_in_a_graph_of_tensorflow_1_bodies_run_only_what_their_results_need():
    with tf.Graph().as_default(), v1.Session() as session:
        seen = v1.get_variable("seen", initializer=0, use_resource=True)
        used = v1.get_variable("used", initializer=0, use_resource=True)

        def body(i):
            seen.assign_add(1)
            with tf.control_dependencies([used.assign_add(1)]):
                return tf.identity(i) + 1

        def nested(x):
            return v1.cond(x > 0, lambda: body(x), lambda: x)

        made = {"cond": v1.cond(tf.constant(True), lambda: body(tf.constant(1)), lambda: tf.constant(0)),
                "case": tf.switch_case(tf.constant(0), [lambda: body(tf.constant(1)), lambda: tf.constant(0)]),
                "while": v1.while_loop(lambda i: i < 3, body, [tf.constant(1)]),
                "nested": v1.cond(tf.constant(True), lambda: nested(tf.constant(1)), lambda: tf.constant(0)),
                "map": tf.map_fn(body, tf.constant([1, 1]))}
        session.run(v1.global_variables_initializer())
        counts = {}
        for name, fetch in made.items():
            before = session.run(used)
            session.run(fetch)
            counts[name] = int(session.run(used) - before)
        assert session.run(seen) == 0
        assert counts == {"cond": 1, "case": 1, "while": 2, "nested": 1, "map": 2}


def test_in_a_function_bodies_run_all_that_has_effects():
    seen = tf.Variable(0)

    @tf.function
    def count():
        def body(i):
            seen.assign_add(1)
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
        return tf.cond(seen > 2, lambda: body(tf.constant(1)), lambda: tf.constant(0))

    assert count().numpy() == 2 and seen.numpy() == 4
    with tf.Graph().as_default(), v1.Session() as session:
        own = v1.get_variable("own", initializer=0, use_resource=True)
        session.run(own.initializer)

        def branch():
            own.assign_add(1)
            return tf.constant(5)

        inside = tf.function(lambda: tf.cond(tf.constant(True), branch, lambda: tf.constant(0)))
        rows = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1).map(
            lambda x: (tf.debugging.assert_equal(x, tf.constant(1, tf.int64)), x)[1])).get_next()
        assert session.run(inside()) == 5 and session.run(own) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(rows)


def test_the_gradient_of_a_branch_whose_effects_are_dropped():
    with tf.Graph().as_default(), v1.Session() as session:
        seen = v1.get_variable("seen", initializer=0., use_resource=True)
        x = tf.constant(3.)

        def square(y):
            seen.assign_add(1.)
            return y * y

        z = v1.cond(x > 0, lambda: square(x), lambda: x)
        w = v1.while_loop(lambda i, y: i < 2, lambda i, y: [i + 1, square(y)], [tf.constant(0), x])[1]
        session.run(v1.global_variables_initializer())
        assert session.run(v1.gradients(z, [x])[0]) == 6
        assert session.run(v1.gradients(w, [x])[0]) == 108
        assert session.run(seen) == 0


def test_what_a_branch_returns_of_an_assignment_runs_it():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=0, use_resource=True)
        rows = v1.get_variable("rows", initializer=[0, 0], use_resource=True)
        weight = v1.get_variable("weight", initializer=2., use_resource=True)

        def group():
            done = v1.group(v.assign_add(1))
            with tf.control_dependencies([done]):
                return tf.identity(v)

        chosen = [lambda: v.assign_add(1), lambda: tf.identity(v.assign_add(1)), lambda: v1.assign_add(v, 1),
                  lambda: v.assign_sub(-1) + 0, group]
        made = [v1.cond(tf.constant(True), branch, lambda: 0) for branch in chosen]
        loop = v1.while_loop(lambda i, x: i < 2, lambda i, x: [i + 1, v.assign_add(1) + 0], [0, 0])
        scattered = v1.cond(tf.constant(True), lambda: v1.scatter_update(rows, [1], [5]), lambda: tf.constant([0, 0]))
        step = v1.cond(tf.constant(True), lambda: v1.train.GradientDescentOptimizer(0.25).minimize(weight * weight), tf.no_op)
        session.run(v1.global_variables_initializer())
        assert [int(session.run(m)) for m in made] == [1, 2, 3, 4, 5]
        assert session.run(loop)[0] == 2 and session.run(v) == 7
        assert session.run(scattered).tolist() == [0, 5] == session.run(rows).tolist()
        session.run(step)
        assert session.run(weight) == 1
