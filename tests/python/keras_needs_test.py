"""Calls that Keras's own tests led to: what TensorFlow answered, keras_needs.json, is what Evenflow answers."""
import json

import keras_needs_cases as cases
import numpy as np
import pytest

import evenflow as tf
from evenflow._src import alias, config

ANSWERS = json.loads(cases.ANSWERS.read_text())


def same(mine, theirs, near=(2e-5, 2e-6)):
    if isinstance(theirs, list):
        return isinstance(mine, list) and len(mine) == len(theirs) and all(same(a, b, near) for a, b in zip(mine, theirs))
    if isinstance(theirs, float):
        return isinstance(mine, float) and bool(np.isclose(mine, theirs, rtol=near[0], atol=near[1]))
    return type(mine) is type(theirs) and mine == theirs


@pytest.mark.parametrize("name", cases.CASES)
def test_as_tensorflow(name):
    got = cases.answer(tf, name)
    # For labels that are too long TensorFlow adds float32 logarithms near -707, which are 6e-5 apart.
    near = (2e-4, 3e-5) if "too long" in name else (2e-5, 2e-6)
    assert same(got, ANSWERS[name], near), (got, ANSWERS[name])


def test_mirrored_over_several_devices_says_what_to_do():
    with pytest.raises(NotImplementedError, match="leave `devices` out"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with pytest.raises(AssertionError, match="No duplicates"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"])
    assert tf.distribute.MirroredStrategy().num_replicas_in_sync == 1


def test_names_of_specs():
    registry = alias.Inside("python.framework.type_spec_registry")
    for spec, name in ((tf.TensorSpec, "tf.TensorSpec"), (tf.RaggedTensorSpec, "tf.RaggedTensorSpec"),
                       (tf.SparseTensorSpec, "tf.SparseTensorSpec"), (tf.TensorArraySpec, "tf.TensorArraySpec")):
        assert registry.get_name(spec) == name and registry.lookup(name) is spec

    class Masked(tf.experimental.ExtensionType):
        __name__ = "keras_needs.Masked"
        values: tf.Tensor

    assert registry.lookup("keras_needs.Masked.Spec") is Masked.Spec and registry.get_name(Masked.Spec) == "keras_needs.Masked.Spec"
    with pytest.raises(ValueError, match="No TypeSpec has been registered with name 'x'"):
        registry.lookup("x")
    with pytest.raises(ValueError, match="has not been registered"):
        registry.get_name(tf.IndexedSlicesSpec)
    with pytest.raises(ValueError, match="must have the form"):
        registry.register("plain")
    with pytest.raises(ValueError, match="already been registered for class"):
        registry.register("tf.TensorSpec")(type("Another", (tf.TypeSpec,), {}))


def test_determinism_can_be_taken_back():
    inside = alias.Inside("python.framework.config")
    tf.config.experimental.enable_op_determinism()
    assert config.is_op_determinism_enabled()
    inside.disable_op_determinism()
    assert not config.is_op_determinism_enabled()


def test_ctc_in_a_function_of_any_size():
    spec = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None, None])]
    f = tf.function(lambda labels, x: tf.nn.ctc_loss(labels, x, [4, 3], [6, 6], False, blank_index=0), input_signature=spec)
    labels = cases.LABELS["the blank among them"][0]
    np.testing.assert_allclose(f(labels, cases.LOGITS), ANSWERS["ctc, the blank among them"][0], rtol=2e-5)


def test_the_modules_of_messages():
    assert alias.Inside("core.util.event_pb2").Event is tf.compat.v1.Event
    assert alias.Inside("core.framework.summary_pb2").Summary is tf.compat.v1.Summary
    assert alias.Inside("python.lib.io.tf_record").TFRecordWriter is tf.io.TFRecordWriter


def test_a_layer_that_does_not_fit_is_named_by_its_shapes(tmp_path):
    def model(units):
        return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), tf.keras.layers.Dense(units)])

    file = str(tmp_path / "model.keras")
    model(5).save(file)
    with pytest.raises(ValueError, match="must match"):
        model(6).load_weights(file)
