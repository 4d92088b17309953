"""Small training runs with Keras that give numbers: the same programs run on TensorFlow (keras_reference.py) and on
Evenflow (keras_test.py). All weights and data come from numpy, so that both start from the same point."""
import numpy as np

STEPS = 20

OPTIMIZERS = {
    "sgd": lambda k: k.optimizers.SGD(0.05),
    "momentum": lambda k: k.optimizers.SGD(0.02, momentum=0.9),
    "nesterov": lambda k: k.optimizers.SGD(0.02, momentum=0.9, nesterov=True),
    "adam": lambda k: k.optimizers.Adam(0.005),
    "amsgrad": lambda k: k.optimizers.Adam(0.005, amsgrad=True),
    "adamw": lambda k: k.optimizers.AdamW(0.005, weight_decay=0.01),
    "rmsprop": lambda k: k.optimizers.RMSprop(0.003, momentum=0.5, centered=True),
    "adagrad": lambda k: k.optimizers.Adagrad(0.05),
    "adadelta": lambda k: k.optimizers.Adadelta(1.0),
    "adamax": lambda k: k.optimizers.Adamax(0.005),
    "nadam": lambda k: k.optimizers.Nadam(0.005),
    "ftrl": lambda k: k.optimizers.Ftrl(0.05, l1_regularization_strength=0.001),
    "lion": lambda k: k.optimizers.Lion(0.001),
    "clipped": lambda k: k.optimizers.Adam(0.005, global_clipnorm=0.5),
    "averaged": lambda k: k.optimizers.SGD(0.05, use_ema=True, ema_overwrite_frequency=5),
    "scheduled": lambda k: k.optimizers.SGD(k.optimizers.schedules.ExponentialDecay(0.1, 5, 0.5)),
}


def _set_weights(model, seed):
    rng = np.random.default_rng(seed)
    values = []
    for w in model.get_weights():
        fan = int(np.prod(w.shape[:-1])) if w.ndim > 1 else 1
        values.append((rng.normal(size=w.shape) / np.sqrt(fan)).astype(w.dtype) if w.ndim > 1 else w)
    model.set_weights(values)


def _cnn(k):
    layers = k.layers
    return k.Sequential([layers.Input((10, 10, 3)), layers.Conv2D(6, 3, activation="relu"),
                         layers.Conv2D(4, 3, strides=2, padding="same"), layers.Flatten(),
                         layers.Dense(16, activation="tanh"), layers.Dense(5)])


def _norms(k):
    layers = k.layers
    return k.Sequential([layers.Input((8, 8, 3)), layers.Conv2D(6, 3, padding="same", use_bias=False),
                         layers.BatchNormalization(), layers.Activation("relu"), layers.MaxPooling2D(),
                         layers.SeparableConv2D(4, 3), layers.LayerNormalization(),
                         layers.GlobalAveragePooling2D(), layers.Dense(5)])


def _recurrent(kind):
    def model(k):
        layers = k.layers
        cells = getattr(layers, kind)
        first = cells(8, return_sequences=True, recurrent_initializer="glorot_uniform")
        return k.Sequential([layers.Input((7,), dtype="int32"), layers.Embedding(20, 6, mask_zero=True), first,
                             cells(6, recurrent_initializer="glorot_uniform"), layers.Dense(5)])

    return model


def _attention(k):
    layers = k.layers
    inputs = k.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8)(inputs)
    y = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.Dense(8, activation="gelu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    return k.Model(inputs, layers.Dense(5)(x))


def _images(shape):
    def data(rng):
        return rng.normal(size=(12,) + shape).astype("float32"), rng.integers(0, 5, 12)

    return data


def _words(length):
    def data(rng):
        return rng.integers(0, 20, (12, length)).astype("int32"), rng.integers(0, 5, 12)

    return data


def train(tf, model_of, data, optimizer, in_function):
    """Losses of the steps of a GradientTape loop, eager or inside a tf.function."""
    keras = tf.keras
    model = model_of(keras)
    _set_weights(model, 7)
    x, y = data(np.random.default_rng(3))
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    opt = OPTIMIZERS[optimizer](keras)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    if in_function:
        step = tf.function(step)
    x, y = tf.constant(x), tf.constant(y)
    losses = [float(step(x, y)) for _ in range(STEPS)]
    losses.append(float(loss_of(y, model(x, training=False))))
    return losses


MODELS = {
    "norms": (_norms, _images((8, 8, 3))),
    "lstm": (_recurrent("LSTM"), _words(7)),
    "gru": (_recurrent("GRU"), _words(7)),
    "simple_rnn": (_recurrent("SimpleRNN"), _words(7)),
    "attention": (_attention, _words(6)),
}

RUNS = {f"cnn_{name}": (_cnn, _images((10, 10, 3)), name) for name in OPTIMIZERS}
RUNS.update({f"{name}_adam": (*parts, "adam") for name, parts in MODELS.items()})
RUNS.update({f"{name}_sgd": (*parts, "momentum") for name, parts in MODELS.items()})
