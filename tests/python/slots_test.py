"""Variables that optimizers and averages make beside others: names, starts, graphs; and the devices ops ask for."""
import pytest

import evenflow as tf

v1 = tf.compat.v1


def test_slots_are_named_by_the_variable_scope():
    with tf.Graph().as_default():
        with v1.variable_scope("one"):
            w = v1.get_variable("w", [2])
        with v1.variable_scope("two"):
            v1.train.AdamOptimizer().minimize(tf.reduce_sum(w))
        with v1.name_scope("ns"):
            v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w))
            v1.train.AdamOptimizer(name="B").minimize(tf.reduce_sum(w))
        names = [v.name for v in v1.global_variables()]
        assert names == ["one/w:0", "two/beta1_power:0", "two/beta2_power:0", "two/one/w/Adam:0", "two/one/w/Adam_1:0",
                         "one/w/Momentum:0", "ns/beta1_power:0", "ns/beta2_power:0", "one/w/B:0", "one/w/B_1:0"]


def test_an_optimizer_lists_the_variables_of_this_graph():
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
    for name in ("a", "b"):
        with tf.Graph().as_default():
            w = v1.Variable([1.0, 2.0], name=name)
            optimizer.minimize(tf.reduce_sum(w))
            assert [v.name for v in optimizer.variables()] == [name + "/Momentum:0"]
            with tf.Graph().as_default():
                assert optimizer.variables() == []


def test_the_average_of_a_variable_begins_with_its_value():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable(10.0, name="v0")
        t = v + 30.0
        ema = v1.train.ExponentialMovingAverage(0.25, zero_debias=True)
        update = ema.apply([v, t])
        session.run(v1.global_variables_initializer())
        assert session.run([ema.average(v), ema.average(t)]) == [10, 0]
        session.run([update, v.assign(20.0)][:1])
        assert session.run([ema.average(v), ema.average(t)]) == [10, 40]
        assert sorted(x.name for x in v1.global_variables() if "biased" in x.name) == \
            ["add/ExponentialMovingAverage/biased:0"]
        with v1.variable_scope("s"):
            assert ema.average_name(v1.Variable(1.0, name="u")) == "s/s/u/ExponentialMovingAverage"


def test_a_graph_remembers_devices():
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            outer, w = tf.constant(1), v1.get_variable("w", [])
            with tf.device("/cpu:0"):
                inner = tf.constant(2)
            with tf.device(None):
                free = tf.constant(3)
        with graph.device(lambda op: "/cpu:0" if op.type == "Const" else "/job:x"):
            total = tf.constant(1) + 2
        assert [x.device for x in (outer, w, inner, free, total, total.op.inputs[0])] == \
            ["/job:ps/task:0", "/job:ps/task:0", "/job:ps/task:0/device:CPU:0", "", "/job:x", "/device:CPU:0"]
        with pytest.raises(ValueError):
            with tf.device("nonsense!!"):
                pass
    with pytest.raises(tf.errors.InvalidArgumentError):
        with tf.device("/job:ps/task:0"):
            tf.constant(1)
