"""Writes keras_reference.json: the losses of keras_programs.py on TensorFlow. Run it where TensorFlow is installed."""
import json
import pathlib

import keras
import tensorflow as tf

import keras_programs as programs

tf.config.threading.set_intra_op_parallelism_threads(1)
found = {name: programs.train(tf, *run, in_function=False) for name, run in programs.RUNS.items()}
path = pathlib.Path(__file__).with_name("keras_reference.json")
versions = f"tensorflow {tf.__version__}, keras {keras.__version__}"
path.write_text(json.dumps({"made_by": versions, "losses": found}, indent=1) + "\n")
