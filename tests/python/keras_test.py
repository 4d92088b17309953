"""The real Keras on Evenflow: it imports unmodified, runs forward, and trains to the losses it has on TensorFlow.

`python keras_test.py` with TensorFlow installed records those losses beside this file.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np

LOSSES = pathlib.Path(__file__).with_name("keras_losses.json")
STEPS = 20


def data():
    rng = np.random.default_rng(7)
    return rng.random((32, 12, 12, 1), dtype=np.float32), rng.integers(0, 5, 32).astype(np.int32)


def model(keras):
    """A small network whose weights come from numpy, so that they are the same everywhere."""
    net = keras.Sequential([keras.layers.Input((12, 12, 1)), keras.layers.Conv2D(6, 3, activation="relu"),
                            keras.layers.Flatten(), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(5)])
    rng = np.random.default_rng(8)
    net.set_weights([rng.normal(0, 0.1, w.shape).astype(np.float32) for w in net.get_weights()])
    return net


def train(tf, keras, optimizer, traced):
    """The losses of a training loop by hand."""
    net, (x, y) = model(keras), data()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer.build(net.trainable_variables)

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(y, net(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss

    call = tf.function(step) if traced else step
    return [float(call()) for _ in range(STEPS)]


def optimizers(keras):
    return {"sgd": keras.optimizers.SGD(0.1, momentum=0.9), "adam": keras.optimizers.Adam(0.01),
            "rmsprop": keras.optimizers.RMSprop(0.003)}


def check(name, traced):
    import evenflow as tf
    expected = json.loads(LOSSES.read_text())[name]
    found = train(tf, tf.keras, optimizers(tf.keras)[name], traced)
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4), (found, expected)
    assert found[-1] < found[0]


def test_import_is_the_real_package():
    code = ("import evenflow as tf, sys; k = tf.keras; import keras; "
            "print(keras.__version__, keras.backend.backend(), sys.modules['tensorflow'] is tf, k.layers is keras.layers)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[:3] == ["3.15.1", "tensorflow", "True"], done.stderr


def test_forward_eager_and_traced():
    import evenflow as tf
    net, (x, _) = model(tf.keras), data()
    eager = net(x)
    assert tuple(eager.shape) == (32, 5) and np.allclose(eager.numpy(), tf.function(net)(x).numpy(), atol=1e-5)


def test_sgd_eager():
    check("sgd", False)


def test_sgd_function():
    check("sgd", True)


def test_adam_eager():
    check("adam", False)


def test_adam_function():
    check("adam", True)


def test_rmsprop_function():
    check("rmsprop", True)


def test_program_that_imports_tensorflow_keras(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("from tensorflow import keras\nfrom tensorflow.keras import layers\n"
                       "import tensorflow.keras.layers as again\nimport tensorflow as tf\n"
                       "print(layers.Dense(3)(tf.ones([2, 4])).shape, again is layers, tf.keras is keras)")
    done = subprocess.run([sys.executable, "-m", "evenflow", str(program)], capture_output=True, text=True)
    assert done.stdout.strip() == "(2, 3) True True", done.stderr


if __name__ == "__main__":
    import tensorflow
    keras_ = tensorflow.keras
    LOSSES.write_text(json.dumps({name: [round(v, 7) for v in train(tensorflow, keras_, o, True)]
                                  for name, o in optimizers(keras_).items()}, indent=1) + "\n")
