"""The first generation's names. Numbers and names were asked of TensorFlow 2.21."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
train = v1.train

# ---- optimizers: three steps on 0.5 * sum((a * x + b) ** 2), dense and by rows [0, 2, 0] of a -----------------------


def _train(make, sparse):
    with tf.Graph().as_default():
        a = v1.Variable([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]], name="a")
        b = v1.get_variable("b", initializer=tf.constant([0.5, -1.5]))
        x = v1.placeholder(tf.float32, [2])
        rows = tf.gather(a, [0, 2, 0]) if sparse else a
        loss = tf.reduce_sum(tf.square(rows * x + b)) * 0.5
        optimizer, step = make(), train.get_or_create_global_step()
        op = optimizer.minimize(loss, global_step=step)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for k in range(3):
                session.run(op, {x: [1.0 + k, -1.0]})
            assert session.run(step) == 3 and train.global_step(session, step) == 3
            return session.run(a)[0], session.run(b), op.name, optimizer, [v.name for v in v1.global_variables()]


@pytest.mark.parametrize("make, dense, sparse, slots", [
    (lambda: train.GradientDescentOptimizer(0.1), [0.308, 1.1202, -1.315, -0.961], [0.094, 0.698, -0.329, 0.0645], []),
    (lambda: train.MomentumOptimizer(0.1, 0.9), [0.047, 0.3193, -2.692, -0.4412], [-0.257, -0.562, -1.067, 1.5923],
     ["momentum"]),
    (lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), [0.7161, -0.0662, -2.301, -0.5146],
     [1.2415, -0.2616, -0.5424, 1.0699], ["momentum"]),
    (lambda: train.AdamOptimizer(0.1), [0.7173, 1.7007, 0.203, -1.2028], [0.7173, 1.7007, 0.2008, -1.2009], ["m", "v"]),
    (lambda: train.RMSPropOptimizer(0.1, momentum=0.5), [0.1725, 1.1686, -0.5819, -0.8442],
     [-0.0054, 1.0515, -0.3928, -0.5402], ["momentum", "rms"]),
    (lambda: train.RMSPropOptimizer(0.1, centered=True), [0.3389, 1.3916, -0.3245, -1.0287],
     [0.2072, 1.3021, -0.1755, -0.7933], ["mg", "momentum", "rms"]),
    (lambda: train.AdagradOptimizer(0.1), [0.7208, 1.777, 0.2407, -1.2859], [0.719, 1.7766, 0.2491, -1.2776],
     ["accumulator"]),
    (lambda: train.AdadeltaOptimizer(1.0), [0.9982, 1.9986, 0.4983, -1.4986], [0.9982, 1.9986, 0.4984, -1.4986],
     ["accum", "accum_update"]),
    (lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=0.01), [0.5181, 1.6034, 0.2201, -1.1208],
     [0.6157, 1.6888, 0.2175, -1.2262], ["accum", "linear"]),
    (lambda: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1), [0.501, 1.5794, 0.218, -1.0981],
     [0.6069, 1.6766, 0.2141, -1.219], ["accum", "linear"]),
    (lambda: train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02), [0.3043, 1.1111, -1.3029, -0.9531],
     [0.0925, 0.6918, -0.3245, 0.0636], []),
    (lambda: train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02), [0.7181, 1.774, 0.2402, -1.2828],
     [0.7176, 1.7751, 0.2484, -1.2766], ["accumulator"]),
])
def test_optimizers(make, dense, sparse, slots):
    for by_rows, want in ((False, dense), (True, sparse)):
        a, b, name, optimizer, names = _train(make, by_rows)
        np.testing.assert_allclose(np.concatenate([a, b]), want, atol=2e-4)
        assert name == optimizer.get_name() and optimizer.get_slot_names() == slots
        wanted = len(slots) * 2 + (2 if isinstance(optimizer, train.AdamOptimizer) else 0)
        assert len(optimizer.variables()) == wanted and len(names) == 3 + wanted
        for slot in range(len(slots)):
            assert f"a/{name}{f'_{slot}' if slot else ''}:0" in names


def test_optimizers_outside_graphs():
    variable = tf.Variable([1.0, 2.0])
    optimizer = train.AdamOptimizer(0.1)
    for _ in range(2):
        assert optimizer.minimize(lambda: tf.reduce_sum(variable * variable)) is None
    np.testing.assert_allclose(variable.numpy(), [0.8004, 1.8002], atol=1e-4)
    assert len(optimizer.variables()) == 4 and optimizer.get_slot(variable, "m").shape == [2]
    with pytest.raises(RuntimeError, match="should be a function"):
        optimizer.minimize(tf.reduce_sum(variable * variable))
    with pytest.raises(ValueError):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, variable)])


def test_a_loss_without_variables():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to optimize"):
            train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
        v1.Variable(1.0)
        with pytest.raises(ValueError, match="No gradients provided"):
            train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0) * 2.0)


def test_learning_rates():
    want = {0: (0.1, 0.1, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1001),
            1: (0.07937, 0.1, 1.0, 0.08002, 0.064036, 0.084648, 0.085714, 0.091406, 0.05, 0.072461),
            5: (0.031498, 0.05, 2.0, 0.0001, 0.0001, 0.04346, 0.054545, 0.01, 0.014645, 0.0001),
            7: (0.019843, 0.025, 3.0, 0.0001, 0.009091, 0.03114, 0.046154, 0.01, 0.096194, 0.0001)}
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.placeholder(tf.int64, [])
        rates = (train.exponential_decay(0.1, step, 3, 0.5), train.exponential_decay(0.1, step, 3, 0.5, True),
                 train.piecewise_constant(step, [2, 5], [1.0, 2.0, 3.0]), train.polynomial_decay(0.1, step, 5),
                 train.polynomial_decay(0.1, step, 5, cycle=True, power=2.0), train.natural_exp_decay(0.1, step, 3, 0.5),
                 train.inverse_time_decay(0.1, step, 3, 0.5), train.cosine_decay(0.1, step, 5, 0.1),
                 train.cosine_decay_restarts(0.1, step, 2), train.linear_cosine_decay(0.1, step, 5))
        for k, numbers in want.items():
            np.testing.assert_allclose(session.run(rates, {step: k}), numbers, atol=2e-6)
    assert callable(train.exponential_decay(0.1, tf.Variable(0), 3, 0.5))


# ---- variables and scopes --------------------------------------------------------------------------------------------


def test_scopes_name_and_share():
    with tf.Graph().as_default():
        with v1.variable_scope("s") as scope:
            a = v1.get_variable("a", [2])
            c = tf.add(a, 1.0, name="c")
            u = v1.Variable(1.0, name="u")
            with v1.variable_scope("t"):
                b, d = v1.get_variable("b", []), v1.placeholder(tf.float32, name="d")
            with pytest.raises(ValueError, match="already exists"):
                v1.get_variable("a", [2])
        assert (a.name, b.name, c.name, d.name, u.name) == ("s/a:0", "s/t/b:0", "s/c:0", "s/t/d:0", "s/u:0")
        assert (scope.name, scope.original_name_scope, v1.get_variable_scope().name) == ("s", "s/", "")
        with v1.variable_scope("s", reuse=True):
            assert v1.get_variable("a", [2]) is a and tf.add(a, 1.0, name="c").name == "s_1/c:0"
            with pytest.raises(ValueError, match="specified shape"):
                v1.get_variable("a", [3])
            with pytest.raises(ValueError, match="does not exist"):
                v1.get_variable("zz", [3])
        with v1.variable_scope("s", reuse=v1.AUTO_REUSE):
            assert v1.get_variable("a", [2]) is a and v1.get_variable("e", [3]).name == "s/e:0"
        with v1.variable_scope(scope):
            assert v1.get_variable("f", [2]).name == "s/f:0" and tf.add(a, 1.0, name="c").name == "s_3/c:0"
        for want in ("dflt/f:0", "dflt_1/f:0"):
            with v1.variable_scope(None, "dflt"):
                assert v1.get_variable("f", [2]).name == want
        assert [v.name for v in v1.trainable_variables("s")] == ["s/a:0", "s/u:0", "s/t/b:0", "s/e:0", "s/f:0"]


def test_what_scopes_give_their_variables():
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("i", initializer=v1.constant_initializer(3.0), dtype=tf.float64,
                               regularizer=lambda x: tf.reduce_sum(x) * 0.5):
            z = v1.get_variable("z", [2])
        session.run(v1.global_variables_initializer())
        assert session.run(z).tolist() == [3.0, 3.0] and z.dtype == tf.float64
        assert session.run(v1.losses.get_regularization_losses()) == [3.0]
        with v1.variable_scope("g", custom_getter=lambda getter, name, *a, **k: getter(name, *a, **k) * 2.0):
            assert v1.get_variable("q", [2]).op.type == "Mul"
        with tf.name_scope("n"):
            assert v1.get_variable("g1", [1]).name == "g1:0" and v1.Variable(1.0, name="g2").name == "n/g2:0"
            assert tf.constant(1.0, name="k").name == "n/k:0" and tf.Variable(1.0).name == "n/Variable:0"
        with tf.name_scope("n"):
            assert tf.constant(1.0, name="k").name == "n_1/k:0"
        with v1.name_scope(None, "d", [z]) as name:
            assert name == "d/"
        assert v1.get_variable("p", initializer=[1, 2]).dtype == tf.int32
        with pytest.raises(NotImplementedError, match="partition"):
            v1.get_variable("pp", [4], partitioner=lambda **k: [2])
        with pytest.raises(ValueError, match="fully defined"):
            v1.get_variable("no_shape")


def test_lists_of_variables():
    with tf.Graph().as_default(), v1.Session() as session:
        a, b = v1.Variable(1.0, name="a"), tf.Variable(2.0, trainable=False, name="b")
        local = v1.get_local_variable("l", [2], initializer=v1.zeros_initializer())
        assert v1.global_variables() == [a, b] and v1.trainable_variables() == [a] and v1.local_variables() == [local]
        assert not local.trainable and isinstance(a, tf.Variable) and isinstance(b, v1.Variable)
        assert sorted(session.run(v1.report_uninitialized_variables())) == [b"a", b"b", b"l"]
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        assert session.run(v1.report_uninitialized_variables()).tolist() == []
        assert session.run([v1.is_variable_initialized(a), a.is_initialized()]) == [True, True]
        v1.add_to_collection("x", 1)
        v1.get_collection_ref("x").append(2)
        assert v1.get_collection("x") == [1, 2] and v1.get_collection("y") == []
        assert v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES, "a") == [a]
        assert (a == a) is True and (a == b) is False and {a: 1}[a] == 1


def test_changing_variables():
    with tf.Graph().as_default(), v1.Session() as session:
        u = v1.Variable(1.0)
        w = v1.Variable([0.0, 0.0])
        session.run(v1.global_variables_initializer())
        assert session.run([u.assign(5.0)]) == [5.0] and session.run(u) == 5.0
        assert session.run(u.assign_add(2.0)) == 7.0 and session.run(v1.assign_sub(u, 1.0)) == 6.0
        assert session.run(u.assign(9.0).op) is None and session.run(u) == 9.0
        assert session.run(v1.scatter_add(w, [1], [3.0])).tolist() == [0.0, 3.0]
        assert session.run(v1.scatter_update(w, [0], [7.0])).tolist() == [7.0, 3.0]
        assert session.run(v1.scatter_nd_add(w, [[0]], [1.0])).tolist() == [8.0, 3.0]
        u.load(4.0, session)
        assert u.eval() == 4.0 and session.run(u, {u: 8.0}) == 8.0 and session.run(u + 1.0) == 5.0
        with tf.control_dependencies([u.assign(20.0)]):
            after = u.read_value()
        assert session.run(after) == 20.0
        with pytest.raises(ValueError, match="Shape mismatch"):
            u.assign([1.0, 2.0])


def test_averages():
    with tf.Graph().as_default(), v1.Session() as session:
        u = v1.Variable(4.0, name="u")
        session.run(u.initializer)
        average = train.ExponentialMovingAverage(0.9)
        op = average.apply([u])
        session.run(average.average(u).initializer)
        session.run(u.assign(14.0))
        session.run(op)
        np.testing.assert_allclose(session.run(average.average(u)), 5.0, rtol=1e-6)
        assert average.average_name(u) == "u/ExponentialMovingAverage" and v1.moving_average_variables() == [u]
        tensor = tf.identity(u)
        average = train.ExponentialMovingAverage(0.5)
        op = average.apply([tensor])
        session.run(average.average(tensor).initializer)
        session.run(op)
        assert session.run(average.average(tensor)) == 7.0


# ---- gradients, losses, functions ----------------------------------------------------------------------------------------


def test_gradients():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        a, b, u = v1.Variable([2.0, 3.0]), v1.Variable(1.0), v1.Variable(5.0)
        session.run(v1.global_variables_initializer())
        da, du, db = v1.gradients(a * a + u, [a, u, b])
        assert session.run([da, du])[0].tolist() == [4.0, 6.0] and session.run(du) == 2.0 and db is None
        assert session.run(v1.gradients(a * 2.0, [b], unconnected_gradients="zero")) == [0.0]
        assert session.run(v1.gradients([u * 3.0], [u], grad_ys=[2.0])) == [6.0]
        assert session.run(v1.hessians(tf.reduce_sum(a**3.0), a)[0]).tolist() == [[12.0, 0.0], [0.0, 18.0]]
        inner = u * 2.0
        assert session.run(v1.gradients(inner * u, [u], stop_gradients=[inner])) == [10.0]
        loss = u * u
    with v1.Session(graph=graph).as_default() as session:  # outside of the graph
        session.run(u.initializer)
        assert session.run(v1.gradients(loss, u)) == [10.0]
    with pytest.raises(RuntimeError, match="GradientTape"):
        v1.gradients(tf.constant(1.0), tf.constant(1.0))


def test_tapes_in_graphs():
    with tf.Graph().as_default(), v1.Session() as session:
        v, w = tf.Variable(2.0), v1.get_variable("w", [2], initializer=v1.ones_initializer())
        session.run(v1.global_variables_initializer())
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v * w)
        dv, dw = session.run(tape.gradient(loss, [v, w]))
        assert dv == 8.0 and dw.tolist() == [4.0, 4.0]
        optimizer = train.GradientDescentOptimizer(0.1)
        session.run(optimizer.minimize(lambda: v * v))
        np.testing.assert_allclose(session.run(v), 1.6, rtol=1e-6)


def test_a_function_decorated_with_a_graph():
    graph = tf.Graph()

    @graph.as_default()
    def build(depth):
        assert v1.get_default_graph() is graph
        return tf.constant(1.0) if depth == 0 else build(depth - 1) + 1.0

    two = build(2)
    assert tf.executing_eagerly() and two.graph is graph
    entered = graph.as_default()
    with entered, pytest.raises(RuntimeError, match="entered already"):
        entered.__enter__()
    assert tf.executing_eagerly()


def test_a_finished_graph_takes_no_more():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v = v1.Variable(1.0)
        session.run(v.initializer)
        graph.finalize()
        assert graph.finalized
        for make in (lambda: tf.constant(1.0), lambda: v + 1.0, lambda: v1.placeholder(tf.float32)):
            with pytest.raises(RuntimeError, match="Graph is finalized"):
                make()
        assert session.run(v) == 1.0


def test_values_made_eagerly_in_graphs():
    constant, variable = tf.constant(np.arange(6.0, dtype=np.float32)), tf.Variable([1.0, 2.0])
    with tf.Graph().as_default(), v1.Session() as session:
        total, double = tf.reduce_sum(constant), variable * 2.0
        assert session.run(total) == 15.0 and session.run(double).tolist() == [2.0, 4.0]
    variable.assign([5.0, 6.0])
    graph = total.graph
    assert v1.Session(graph=graph).run(double).tolist() == [10.0, 12.0]


def test_functions_in_graphs():
    @tf.function
    def square(x):
        return x * x + 1.0

    with tf.Graph().as_default(), v1.Session() as session:
        p = v1.placeholder(tf.float32, [None])
        q = square(p)
        assert [r.tolist() for r in session.run([q, v1.gradients(q, p)[0]], {p: [1.0, 2.0]})] == [[2.0, 5.0], [2.0, 4.0]]
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())

        @tf.function
        def step(x):
            w.assign_add(1.0)
            return x * w

        r = step(p)
        session.run(w.initializer)
        assert [session.run(r, {p: [1.0]})[0] for _ in range(2)] == [2.0, 3.0]


def test_losses():
    losses = v1.losses
    with tf.Graph().as_default(), v1.Session() as session:
        y, p = tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.constant([[0.7, 0.2], [0.4, 0.6]])
        found = [losses.mean_squared_error(y, p), losses.absolute_difference(y, p, weights=[[1.0], [0.0]]),
                 losses.huber_loss(y, p, delta=0.3), losses.log_loss(y, p), losses.hinge_loss(y, p),
                 losses.cosine_distance(y, p, axis=1), losses.mean_pairwise_squared_error(y, p),
                 losses.sigmoid_cross_entropy(y, p, label_smoothing=0.1),
                 losses.softmax_cross_entropy(y, p, label_smoothing=0.1),
                 losses.sparse_softmax_cross_entropy([0, 1], p, weights=[0.5, 2.0]),
                 losses.mean_squared_error(y, p, weights=2.0, reduction=losses.Reduction.MEAN)]
        want = [0.1125, 0.25, 0.05375, 0.40037, 0.825, 0.35, 0.89, 0.64671, 0.55361, 0.71666, 0.1125]
        np.testing.assert_allclose(session.run(found), want, atol=1e-5)
        assert session.run(losses.mean_squared_error(y, p, reduction=losses.Reduction.NONE)).shape == (2, 2)
        assert len(losses.get_losses()) == len(found) + 1
        with pytest.raises(ValueError, match="incompatible"):
            losses.mean_squared_error(y, tf.constant([1.0]))


def test_functions_with_older_arguments():
    with tf.Graph().as_default(), v1.Session() as session:
        run = session.run
        assert run(v1.reduce_sum([[1.0, 2.0]], reduction_indices=1, keep_dims=True)).tolist() == [[3.0]]
        assert run(v1.argmax([[1, 3, 2]], dimension=1)).tolist() == [1]
        assert run(v1.to_float(3)) == 3.0 and run(v1.div(7, 2)) == 3 and run(v1.log(1.0)) == 0.0
        assert run(v1.expand_dims([1], dim=0)).tolist() == [[1]] and run(v1.squeeze([[1]], squeeze_dims=[0])).tolist() == [1]
        assert run(v1.where([True, False], [[1], [2]], [[3], [4]])).tolist() == [[1], [4]]
        assert run(v1.constant([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]
        assert run(v1.constant_initializer([1.0, 2.0])([3])).tolist() == [1.0, 2.0, 2.0]
        np.testing.assert_allclose(run(v1.nn.softmax([[1.0, 2.0]], dim=-1)), [[0.26894143, 0.7310586]], rtol=1e-6)
        assert run(v1.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))) == 1
        assert run(v1.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])) == 5
        assert run(v1.tuple([tf.constant(1), tf.constant(2)])) == [1, 2]
        assert run(v1.nn.relu([-1.0, 1.0])).tolist() == [0.0, 1.0]  # the same in both generations
        x = v1.placeholder(tf.int32)
        with tf.control_dependencies([v1.assert_positive(x)]):
            checked = tf.identity(x)
        assert run(checked, {x: 3}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(checked, {x: -3})
    with pytest.raises(ValueError, match="Cannot specify both"):
        v1.reduce_sum([1.0], axis=0, reduction_indices=0)
    with pytest.raises(AttributeError):
        v1.there_is_no_such_name


def test_random_numbers_are_tensorflows():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(7)
        uniform, bell = v1.random_uniform([2], seed=3), v1.truncated_normal([2], seed=1)
        np.testing.assert_allclose(session.run(uniform), [0.4010878801345825, 0.37683892250061035], rtol=1e-6)
        np.testing.assert_allclose(session.run(bell), [-0.5408053994178772, 1.1220329999923706], rtol=1e-6)


def test_text_and_bytes():
    assert tf.compat.as_bytes("a") == b"a" and tf.compat.as_text(b"a") == "a" and tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError):
        tf.compat.as_bytes(3)
    assert tf.compat.v2.constant is tf.constant and tf.compat.v1.float32 is tf.float32


def _program(text):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_eager_execution_off():
    assert _program("""
        import evenflow.compat.v1 as tf
        tf.disable_v2_behavior()
        assert not tf.executing_eagerly()
        x = tf.placeholder(tf.float32, [None])
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(w * x - 3.0 * x))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(40):
                sess.run(step, feed_dict={x: [1.0, 2.0]})
            print(round(float(sess.run(w)), 4), len(tf.get_default_graph().get_operations()) > 10)
        tf.reset_default_graph()
        print(len(tf.get_default_graph().get_operations()))
        tf.enable_v2_behavior()
        print(tf.executing_eagerly())
        """) == ["3.0", "True", "0", "True"]


def test_tensorflow_programs_run_as_written():
    assert _program("""
        import sys
        from evenflow._src import alias
        alias.install()
        import tensorflow as tf
        from tensorflow.python.framework import ops
        for i in range(3):
            c = tf.add(tf.constant([i]), tf.constant([2 * i]))
            with tf.compat.v1.Session() as sess:
                print(sess.run(c)[0])
        """) == ["0", "3", "6"]


def test_tuple_waits_for_its_control_inputs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.Variable(0.0)
        session.run(tf.compat.v1.global_variables_initializer())
        update = tf.group(v.assign_add(1.0))
        session.run(tf.tuple([tf.constant(1.0)], [update]))
        session.run(tf.compat.v1.tuple([tf.constant(1.0)], control_inputs=[update]))
        assert session.run(v) == 2


def test_nodes_are_called_as_in_tensorflow():
    with tf.Graph().as_default() as graph:
        a = tf.compat.v1.placeholder(tf.float32, [2, 3], name="a")
        b = tf.compat.v1.placeholder(tf.float32, [2, 3])
        t = tf.constant(True)
        made = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, a @ tf.transpose(b), t & t, t | t, t ^ t, a[0], 2 + a,
                tf.add(a, b), tf.concat([a, b], 0), tf.stack([a, b]), tf.unstack(a)[1], tf.split(a, 3, 1)[2], tf.zeros([2]),
                tf.ones_like(a), tf.one_hot([1], 3), tf.clip_by_value(a, 0.0, 1.0), tf.random.normal([2]), tf.reduce_sum(a)]
        last = made[-1].name  # asked for first: the others keep their numbers
        assert [x.name for x in (b, t, *made)] == (
            "Placeholder:0 Const:0 add:0 sub:0 mul:0 truediv:0 floordiv:0 mod:0 pow:0 matmul:0 and:0 or:0 xor:0 "
            "strided_slice:0 add_1:0 Add_2:0 concat:0 stack:0 unstack:1 split:2 zeros:0 ones_like:0 one_hot:0 clip_by_value:0 "
            "random_normal:0 Sum:0"
        ).split()
        assert last == "Sum:0"
        with tf.name_scope("s"):
            assert [(a + b).name, tf.add(a, b).name] == ["s/add:0", "s/Add_1:0"]


def test_a_node_nobody_asked_for_is_found_by_name():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        sums = [a + 1.0, a + 2.0]
        assert tf.constant(5.0, name="add").name == "add_2:0"
        assert graph.get_tensor_by_name("add_1:0") is not None
        with tf.compat.v1.Session() as session:
            assert session.run(["add:0", "add_1:0"]) == [2.0, 3.0]
        with pytest.raises(KeyError):
            graph.get_tensor_by_name("add_3:0")
        del sums


@pytest.fixture
def v1_shapes():
    v1.disable_v2_tensorshape()
    yield
    v1.enable_v2_tensorshape()


def test_shapes_of_dimensions(v1_shapes):
    """What `x.shape[1].value` in programs of the first generation stands on."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        assert x.shape[1].value == x.get_shape()[1].value == 3 and x.shape[0].value is None
        assert str(x.shape) == "(?, 3)" and repr(x.shape) == "TensorShape([Dimension(None), Dimension(3)])"
        assert str(x.shape[:1]) == "(?,)" and str(x) == 'Tensor("Placeholder:0", shape=(?, 3), dtype=float32)'
        assert [d.value for d in x.shape] == x.shape.as_list() == [None, 3] and x.shape == [None, 3]
        w = v1.get_variable("w", [x.shape[1], 4])
        assert tf.matmul(x, w).shape.as_list() == [None, 4]
        assert len(tf.split(x, x.shape[1], axis=1)) == 3
        assert tf.reshape(x, [-1, x.shape[1] * 2]).shape.as_list() == [None, 6]
        assert tf.squeeze(tf.RaggedTensor.from_tensor(tf.zeros([2, 1])), 1).shape.as_list() == [2]
    assert str(tf.TensorShape([None, 2])) == "(?, 2)" and str(tf.TensorShape(None)) == "<unknown>"


def test_disable_v2_behavior_makes_dimensions():
    code = "import evenflow.compat.v1 as tf; tf.disable_v2_behavior(); print(tf.zeros([2, 3]).shape[1].value); " \
           "tf.enable_v2_behavior(); print(tf.zeros([2, 3]).shape[1] + 1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3\n4\n", done.stderr


@pytest.mark.parametrize("find, error, why", [
    (lambda g: g.get_tensor_by_name("q:0"), KeyError, "refers to a Tensor which does not exist. The operation, 'q', does not"),
    (lambda g: g.get_tensor_by_name("c:3"), KeyError, "exists but only has 1 outputs"),
    (lambda g: g.get_tensor_by_name("c"), ValueError, "refers to an Operation, not a Tensor"),
    (lambda g: g.get_tensor_by_name("q"), ValueError, "looks like an \\(invalid\\) Operation name, not a Tensor"),
    (lambda g: g.get_operation_by_name("c:0"), ValueError, "appears to refer to a Tensor, not a Operation"),
    (lambda g: g.get_operation_by_name("q"), KeyError, "refers to an Operation not in the graph"),
    (lambda g: g.as_graph_element("c", allow_operation=False), ValueError, "not a Tensor"),
    (lambda g: g.as_graph_element(3, allow_operation=False), TypeError, "Can not convert a int into a Tensor\\.$"),
])
def test_names_that_are_not_there(find, error, why):
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="c")
        with pytest.raises(error, match=why):
            find(graph)


@pytest.mark.parametrize("resource", [True, False])
@pytest.mark.parametrize("kind, end", [("op", 6), ("tensor", 6), ("variable", 5), ("inside", 8)])
def test_a_body_waits_for_ops_around_it(kind, end, resource):
    """The numbers of nodes are those of their own graph."""
    with tf.Graph().as_default():
        v = v1.Variable(5.0, use_resource=resource)
        later = [v * n for n in range(6)]  # noqa: F841
        outside = v1.assign_add(v, 1.0)

        def body(n):
            item = {"op": outside.op, "tensor": outside, "variable": v}.get(kind)
            with tf.control_dependencies([v1.assign_add(v, 1.0) if item is None else item]):
                return [n + 1]
        loop = tf.while_loop(lambda n: n < 3, body, [tf.constant(0)])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(loop)[0] == 3 and session.run(v) == end
