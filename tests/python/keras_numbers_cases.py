"""Whole models with weights from a seeded generator: ten of keras.applications called once, and a CNN, an LSTM and a small
transformer trained by `fit` for a hundred steps.

`python keras_numbers_cases.py` runs where TensorFlow is and writes its answers to keras_numbers.json; keras_numbers_test.py runs
the quick models on Evenflow and compares, tools/keras_numbers.py all of them.
"""
import json
import pathlib
import sys

import numpy as np

REFERENCE = pathlib.Path(__file__).resolve().with_name("keras_numbers.json")
NEAR, FOLLOWS = 1e-4, 1e-3  # relative differences allowed: of outputs, and of losses
KEPT = 24  # of an output, so many elements are recorded, and two sums over all of them

# Name in keras.applications: the side of the square images, about the smallest that the architecture accepts, and the gain
# of its kernels, at which the output neither saturates nor forgets the image.
MODELS = {"MobileNetV2": (32, 2), "MobileNetV3Small": (32, 3.2), "EfficientNetB0": (32, 4.2), "ResNet50V2": (32, 1),
          "DenseNet121": (32, 2), "NASNetMobile": (32, 1.4), "ConvNeXtTiny": (32, 1), "VGG16": (32, 2), "Xception": (71, 1.2),
          "InceptionV3": (75, 2.4)}
QUICK = ("MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "ResNet50V2")  # what `make test` runs


def weights(model, gain=1.6, seed=7):
    """Sets every weight from one generator, at a scale that keeps the activations of a deep model near 1."""
    rng = np.random.default_rng(seed)
    for w in model.weights:
        name, shape = w.path.rsplit("/", 1)[-1], tuple(w.shape)
        values = rng.standard_normal(shape, dtype="float32")
        if not np.issubdtype(np.dtype(w.dtype), np.floating):
            continue  # the seeds of Dropout, and counts
        if len(shape) >= 2:
            depthwise = len(shape) == 4 and shape[-1] == 1
            values *= np.float32(np.sqrt(1 / np.prod(shape[:2]) if depthwise else gain / np.prod(shape[:-1])))
        elif name in ("gamma", "variance", "moving_variance"):
            values = 1 + np.float32(0.2) * np.tanh(values)
        else:
            values *= np.float32(0.1)
        w.assign(values)


def digest(array):
    """What is recorded of an output: its shape, its first elements, a sum with fixed weights and a sum of magnitudes."""
    a = np.asarray(array, np.float64)
    w = np.cos(np.arange(a.size, dtype=np.float64)).reshape(a.shape)
    return {"shape": list(a.shape), "first": a.ravel()[:KEPT].tolist(), "weighted": float((a * w).sum()),
            "magnitude": float(np.abs(a).sum())}


def distance(found, expected):
    """The largest relative difference between two digests, or two lists of losses; infinite where shapes differ."""
    if isinstance(expected, list):
        a, b = np.asarray(found), np.asarray(expected)
    else:
        if found["shape"] != expected["shape"]:
            return float("inf")
        # The weighted sum has terms of both signs: its error is judged against the sum of magnitudes.
        a = np.array([*found["first"], found["magnitude"], expected["magnitude"] + found["weighted"] - expected["weighted"]])
        b = np.array([*expected["first"], expected["magnitude"], expected["magnitude"]])
    off = np.abs(a - b) / np.maximum(np.abs(b), 1e-12) if a.shape == b.shape else np.array([np.inf])
    return float(np.where(np.isnan(off), np.inf, off).max())


def application(keras, name):
    """The digest of the class probabilities that a model of keras.applications gives for two images."""
    keras.backend.clear_session()
    side, gain = MODELS[name]
    model = getattr(keras.applications, name)(weights=None, include_top=True, input_shape=(side, side, 3))
    weights(model, gain)
    images = np.random.default_rng(side).uniform(0, 255 if name.startswith(("Eff", "Conv", "MobileNetV3")) else 1,
                                                 (2, side, side, 3)).astype("float32")
    return digest(model.predict(images, verbose=0))


def _cnn(keras):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu", padding="same"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Conv2D(16, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dropout(0.25, seed=5),
        layers.Dense(4, activation="softmax")])
    rng = np.random.default_rng(1)
    images = rng.uniform(size=(320, 16, 16, 3)).astype("float32")
    images[:, :, :, 0] *= rng.uniform(size=(320, 1, 1)).astype("float32")  # the class is how red an image is
    return model, images, np.digitize(images[..., 0].mean((1, 2)), [0.12, 0.25, 0.38]), keras.optimizers.Adam(0.0015)


def _lstm(keras):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((12,)), layers.Embedding(50, 8, mask_zero=True), layers.LSTM(12, return_sequences=True),
        layers.Bidirectional(layers.LSTM(6)), layers.Dense(4, activation="softmax")])
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 50, (320, 12))
    return model, tokens, tokens[:, -1] % 4, keras.optimizers.SGD(0.3, momentum=0.9)


def _transformer(keras):
    layers = keras.layers
    tokens = keras.Input((10,), dtype="int32")
    x = layers.Embedding(40, 16)(tokens) + layers.Embedding(10, 16)(np.arange(10)[None])
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8, dropout=0.1, seed=3)(x, x, use_causal_mask=True))
        x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, activation="gelu")(x)))
    made = layers.Dense(4, activation="softmax")(layers.GlobalAveragePooling1D()(x))
    rng = np.random.default_rng(3)
    given = rng.integers(0, 40, (320, 10))
    return keras.Model(tokens, made), given, given[:, 0] % 4, keras.optimizers.AdamW(3e-3)


TRAINED = {"cnn": _cnn, "lstm": _lstm, "transformer": _transformer}


def training(keras, name):
    """The loss of each of a hundred steps of `fit`: ten epochs of ten batches, shuffled."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(17)
    model, x, y, optimizer = TRAINED[name](keras)
    weights(model)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy())
    losses = []

    class Keep(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.sum = 0.0

        def on_train_batch_end(self, batch, logs=None):  # logs has the mean of the epoch so far
            total = (batch + 1) * float(logs["loss"])
            losses.append(total - (self.sum if batch else 0.0))
            self.sum = total

    model.fit(x, y, batch_size=32, epochs=10, verbose=0, callbacks=[Keep()])
    return losses


def main(names):
    import keras
    import tensorflow as tf

    kept = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else {"applications": {}, "losses": {}}
    kept["made_by"] = f"tensorflow {tf.__version__}, keras {keras.__version__}"
    for name in [n for n in MODELS if not names or n in names]:
        kept["applications"][name] = application(keras, name)
    for name in [n for n in TRAINED if not names or n in names]:
        kept["losses"][name] = training(keras, name)
    rows = [f'"made_by": {json.dumps(kept["made_by"])}']
    for part in ("applications", "losses"):
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in kept[part].items())
        rows.append(f'"{part}": {{\n{lines}\n }}')
    REFERENCE.write_text("{\n " + ",\n ".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
