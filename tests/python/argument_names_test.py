"""What the inputs of a trace are called; Python functions in graphs; what a module's attributes may hold."""
import pytest

import evenflow as tf

S = tf.TensorSpec


def names(concrete):
    return [t.op.name for t in concrete.inputs]


def test_inputs_are_called_as_parameters_and_specs():
    @tf.function
    def f(x, *vals, k=1.0, **more):
        return x + sum(vals) + k + sum(more.values())

    assert names(f.get_concrete_function(S([]), S([]), S([]))) == ["x", "vals_0", "vals_1"]
    given = f.get_concrete_function(S([]), S([], name="y"), S([]), z=S([], name="own"), k=S([]))
    assert names(given) == ["x", "y", "vals_1", "k", "own"]
    assert [t.op.get_attr("_user_specified_name") for t in given.inputs] == [b"x", b"y", b"vals_1", b"k", b"own"]
    assert given.name == b"__inference_f"


def test_variables_are_called_as_parameters():
    @tf.function
    def f(a, b):
        return a * b

    assert names(f.get_concrete_function(S([]), tf.Variable(2.0))) == ["a", "b"]


def test_specs_inside_structures_name_inputs():
    @tf.function
    def f(x, z=(1.0, 2.0)):
        return x + z[0] * z[1]

    assert names(f.get_concrete_function(4.0, z=(S([], name="first"), S([], name="second")))) == ["first", "second"]
    assert float(f.get_concrete_function(S([]), (S([], name="first"), S([])))(1.0, (2.0, 3.0))) == 7.0


def test_placeholders_of_graphs_have_no_such_name():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="no attribute '_user_specified_name'"):
            tf.compat.v1.placeholder(tf.float32).op.get_attr("_user_specified_name")


def test_python_functions_take_lists_and_give_ragged_tensors():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    (made,) = tf.py_function(tf.RaggedTensor.from_row_lengths, [[1, 2, 3], tf.constant([1, 2], tf.int64)], [spec])
    assert made.to_list() == [[1], [2, 3]]
    with pytest.raises(TypeError, match="DType"):
        tf.py_function(lambda x: x, [1], [{}])


def test_python_functions_without_results_are_ops_in_graphs():
    seen = []
    with tf.Graph().as_default():
        op = tf.py_function(lambda: seen.append(1), [], [])
        with tf.compat.v1.Session() as session:
            assert session.run(op) is None
    assert seen == [1]


def test_module_attributes_that_cannot_be_walked():
    module = tf.Module()
    module.layers = {object(): None, object(): None}
    with pytest.raises(ValueError, match="Error processing property 'layers'"):
        module.variables
