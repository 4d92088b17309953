"""Variable scopes in detail: names, caching devices, regularizers, getters; device functions; seeds of gradients."""
import time

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_scopes_without_a_name_scope():
    with v1.variable_scope("a", auxiliary_name_scope=False) as a:
        assert a.original_name_scope == "" and tf.constant(1, name="c").name == "c:0"
        assert v1.get_variable("w", []).name == "a/w:0"
    with v1.variable_scope("outer"):
        with v1.variable_scope("inner", auxiliary_name_scope=False) as inner:
            assert inner.original_name_scope == "outer/"
            assert v1.get_variable("w", []).name == "outer/inner/w:0"
            assert tf.constant(1, name="c").name == "outer/c:0"
        with v1.variable_scope(None, default_name="d", auxiliary_name_scope=False) as scope:
            assert scope.original_name_scope == "outer/"
    with pytest.raises(TypeError, match="auxiliary_name_scope"):
        v1.variable_scope("b", auxiliary_name_scope="yes")


def test_names_no_scope_may_have():
    for name in ("_", "a b", "-x"):
        with pytest.raises(ValueError, match="is not a valid root scope name"):
            with v1.variable_scope(name):
                pass
    with tf.name_scope("a"), tf.name_scope("_b"):
        assert tf.constant(1, name="c").name == "a/_b/c:0"
        with pytest.raises(ValueError, match="is not a valid scope name"):
            with tf.name_scope("b?"):
                pass


def test_dtype_must_be_that_of_the_initializer():
    with pytest.raises(ValueError, match="don't match"):
        v1.get_variable("a", initializer=tf.constant(1), dtype=tf.float64)
    assert v1.get_variable("b", initializer=np.arange(3), dtype=tf.int64).dtype == tf.int64


def test_caching_devices_come_from_scopes():
    with v1.variable_scope("s", caching_device="/job:near"):
        near = v1.get_variable("v", initializer=2.0)
        with v1.variable_scope("t", caching_device=""):
            own = v1.get_variable("v", [])
        with v1.variable_scope("u", caching_device=lambda op: op.device):
            assert v1.get_variable("v", []).value().device == ""
    assert near.value().device == "/job:near" and own.value().device == ""
    assert v1.Variable(1.0, caching_device="/job:near").value().device == "/job:near"
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(near.value() + 1) == 3.0


def test_getters_name_ops_outside_of_the_scope():
    def twice(getter, name, *args, **kwargs):
        return tf.add(getter(name, *args, **kwargs), 1.0, name="sum")

    with v1.variable_scope("s", custom_getter=twice):
        assert v1.get_variable("v", []).name == "sum:0"
    assert [v.name for v in v1.global_variables()] == ["s/v:0"]
    with pytest.raises(ValueError, match="custom_getter .* not callable"):
        with v1.variable_scope("t", custom_getter=3):
            v1.get_variable("v", [])


def test_regularizers_come_from_scopes():
    losses = v1.GraphKeys.REGULARIZATION_LOSSES
    with v1.variable_scope("s", regularizer=lambda v: v * 2.0):
        v1.get_variable("v", [])
        v1.get_variable("w", [], regularizer=v1.no_regularizer)
    assert [t.name for t in v1.get_collection(losses)] == ["s/v/Regularizer/mul:0"]


def test_device_functions_are_asked_once_for_each_op(graph):
    asked = []

    def where(op):
        asked.append(op.name)
        return "/device:GPU:1" if op.type == "VarHandleOp" else op.device

    with graph.device(where):
        v = v1.get_variable("x", [2])
        c = tf.constant(1.0, name="c")
    assert asked.count("x") == 1 and asked.count("c") == 1
    assert v.handle.device == "/device:GPU:1" and c.device == ""
    assert asked.count("x") == 1


def test_gradients_given_as_lists_of_numbers():
    x = tf.constant([1.0, 2.0])
    y, z = x * 2.0, x * 3.0
    with v1.Session() as session:
        (found,) = v1.gradients([y], [x], grad_ys=[[1.0, 10.0]])
        assert session.run(found).tolist() == [2.0, 20.0]
        (found,) = v1.gradients([y, z], [x], grad_ys=[[1.0, 1.0], [[0.0, 1.0]][0]])
        assert session.run(found).tolist() == [2.0, 5.0]
    with pytest.raises(ValueError, match="Passed 3 grad_ys for 2 ys"):
        v1.gradients([y, z], [x], grad_ys=[1.0, 2.0, 3.0])


def test_config_must_be_one():
    with pytest.raises(TypeError, match="`config` must be a tf.ConfigProto"):
        v1.Session(config=37)
    assert v1.VariableAggregation.ONLY_FIRST_TOWER == tf.VariableAggregation.ONLY_FIRST_REPLICA


def test_functions_see_the_collections_around_them(graph):
    w = v1.get_variable("w", [])
    graph.add_to_collection("mine", 1)
    seen = []

    def note(key):
        inner = v1.get_default_graph()
        assert any(v is w for v in v1.global_variables())
        seen.append(inner.get_collection("mine"))
        inner.add_to_collection("mine", key)

    @tf.function
    def f(x):
        note("function")
        return x

    f(tf.constant(1.0))
    assert graph.get_collection("mine") == [1]  # a function has a copy
    tf.cond(v1.placeholder(tf.bool), lambda: note("then") or 1.0, lambda: 2.0)
    tf.while_loop(lambda i: i < 3, lambda i: note("loop") or i + 1, [tf.constant(0)])
    assert graph.get_collection("mine") == [1, "then", "loop"]  # branches and loops share it
    tf.data.Dataset.range(3).map(lambda x: note("map") or x)
    assert seen == [[1], [1], [1, "then"], [1, "then", "loop"]]


def test_names_may_be_bytes(graph):
    assert tf.constant(1.0, name=b"e").name == "e:0" and tf.add(1.0, 2.0, name=b"sum").name == "sum:0"
    assert v1.placeholder(tf.float32, name=b"p").name == "p:0"
    assert tf.Variable(1.0, name=b"v").name == "v:0" and v1.get_variable(b"w", []).name == "w:0"
    assert graph.as_graph_element(b"e:0").name == "e:0"
    with v1.Session() as session:
        assert session.run(b"sum:0") == 3.0
    with pytest.raises(UnicodeDecodeError):
        tf.identity(1.0, name=b"\xff")
    with pytest.raises(TypeError, match="name must be a string"):
        tf.identity(1.0, name=3)
    with pytest.raises(TypeError, match="Operation names are strings"):
        graph.get_operation_by_name(b"e")
    with pytest.raises(TypeError, match="Tensor names are strings"):
        graph.get_tensor_by_name(b"e:0")


def test_init_scope_that_cannot_enter_its_graph_changes_nothing(monkeypatch):
    def refuse(self):
        raise RuntimeError("refused")

    with tf.Graph().as_default() as outer:
        @tf.function
        def f(x):
            before = tf.compat.v1.get_default_graph()
            monkeypatch.setattr(type(outer), "_enter_scope", refuse)
            with pytest.raises(RuntimeError, match="refused"):
                with tf.init_scope():
                    pass
            monkeypatch.undo()
            assert tf.compat.v1.get_default_graph() is before
            return x + 1

        assert f(tf.constant(1.0)).graph is outer


def test_consumers_of_all_tensors_of_a_long_graph():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        for _ in range(3000):
            x = tf.sin(x)
        began = time.process_time()
        used = [op.outputs[0].consumers() for op in graph.get_operations()]
        assert time.process_time() - began < 1  # it took 2.5 seconds in Python
    assert [len(ops) for ops in used] == [1] * 3000 + [0] and used[7][0] is graph.get_operations()[8]


def test_an_attribute_that_was_set():
    with tf.Graph().as_default():
        op = tf.constant(1.0).op
        op._set_attr("_note", 7)
        assert op.get_attr("_note") == 7 and op.get_attr("dtype") == tf.float32


def test_the_values_of_a_name_scope_belong_to_one_graph():
    with tf.Graph().as_default():
        foreign = tf.constant(1)
    with tf.Graph().as_default() as graph:
        own = tf.constant(1)
        with pytest.raises(ValueError, match="must be from the same graph as"):
            with tf.compat.v1.name_scope("scope", values=[foreign, own]):
                pass
        with tf.compat.v1.name_scope("scope", values=[own, 2.0, None]) as name:
            assert name == "scope/" and tf.constant(2).graph is graph
    with tf.compat.v1.name_scope("scope", values=[own]):
        assert tf.constant(2).graph is graph
