"""A program with Keras's TensorBoard callback, which runs on TensorFlow and on Evenflow alike; it prints what stands in the
event files: tag, plugin and steps. `python tensorboard_program.py FOLDER > tensorboard_reference.json` under TensorFlow, with
tensorboard installed, records the answer for tensorboard_test.py."""
import glob
import json
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


def found(folder):
    made = {}
    for path in sorted(glob.glob(os.path.join(folder, "events.out.tfevents.*.v2"))):
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                shape = [d.size for d in value.tensor.tensor_shape.dim]
                made.setdefault(f"{value.tag} {plugin} {value.tensor.dtype} {shape}", []).append(event.step)
            if event.WhichOneof("what") == "graph_def":
                made.setdefault("graph", []).append(event.step)
    return made


def fit(folder, **options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(3, 3, activation="relu"), keras.layers.Flatten(),
                              keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    x, y = np.random.rand(64, 8, 8, 1).astype("f"), np.random.rand(64, 1).astype("f")
    callback = keras.callbacks.TensorBoard(folder, **options)
    model.fit(x, y, epochs=2, batch_size=8, validation_split=0.25, callbacks=[callback], verbose=0)
    made = {"train": found(os.path.join(folder, "train")), "validation": found(os.path.join(folder, "validation"))}
    made["profiles"] = len(glob.glob(os.path.join(folder, "train", "plugins", "profile", "*", "*.xplane.pb")))
    return made


if __name__ == "__main__":
    top = sys.argv[1]
    print(json.dumps({
        "plain": fit(os.path.join(top, "a")),
        "all": fit(os.path.join(top, "b"), histogram_freq=1, write_images=True, update_freq=2, profile_batch=(2, 4),
                   write_steps_per_second=True),
        "batch": fit(os.path.join(top, "c"), update_freq="batch", write_graph=False, profile_batch=3),
    }, indent=1, sort_keys=True))
