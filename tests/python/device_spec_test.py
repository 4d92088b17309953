"""tf.DeviceSpec: names of devices and their parts."""
import pytest

import evenflow as tf

Spec, SpecV1 = tf.DeviceSpec, tf.compat.v1.DeviceSpec


@pytest.mark.parametrize("name, text", [
    ("/job:a/replica:0/task:1/device:CPU:0", "/job:a/replica:0/task:1/device:CPU:0"), ("/cpu:0", "/device:CPU:0"),
    ("gpu:1", "/device:GPU:1"), ("/device:GPU:*", "/device:GPU:*"), ("/job:w", "/job:w"), ("", "")])
def test_names(name, text):
    assert Spec.from_string(name).to_string() == text
    assert Spec.from_string(name) == Spec.from_string(text) and hash(Spec.from_string(name)) == hash(Spec.from_string(text))


@pytest.mark.parametrize("name", ["/gpu:0/cpu:1", "/bad", "/task:x", "/job:a/device:CPU"])
def test_names_that_are_none(name):
    with pytest.raises(ValueError):
        Spec.from_string(name)


def test_parts():
    spec = Spec(job="ps", replica=0, task=1, device_type="gpu", device_index=2)
    assert (spec.job, spec.replica, spec.task, spec.device_type, spec.device_index) == ("ps", 0, 1, "GPU", 2)
    assert spec.replace(task=3).to_string() == "/job:ps/replica:0/task:3/device:GPU:2"
    merged = Spec(job="a", device_type="CPU", device_index=0).make_merged_spec(Spec(task=1, device_type="GPU"))
    assert merged.to_string() == "/job:a/task:1/device:GPU:0"
    assert repr(Spec(job="a")) == "<DeviceSpec(job=a, replica=None, task=None, device_type=None, device_index=None)>"
    with pytest.raises(AttributeError):
        spec.job = "worker"


def test_specs_that_change():
    spec = SpecV1(job="a", device_type="CPU", device_index=0)
    spec.task = 2
    spec.merge_from(SpecV1(device_type="GPU"))
    assert spec.to_string() == "/job:a/task:2/device:GPU:0" and isinstance(spec, Spec)
    assert spec.parse_from_string("/job:x/task:1") is spec and spec.to_string() == "/job:x/task:1"


def test_as_the_argument_of_device():
    with tf.Graph().as_default(), tf.device(Spec(job="w", device_type="CPU", device_index=0)):
        assert tf.constant(1).op.device == "/job:w/device:CPU:0"


def test_functions_by_device():
    execute = tf.__internal__.execute_fn_for_device
    assert execute({"cpu": lambda: 1, "GPU": lambda: 3}, lambda: 2) == 1
    assert execute({"GPU": lambda: 3}, lambda: 2) == 2
    with pytest.raises(ValueError):
        execute({}, lambda: 2)
