"""Writes keras_reference.json: what keras_programs.py and keras_cases.py give on TensorFlow. Run it where that is."""
import json
import pathlib

import keras
import tensorflow as tf

import keras_cases as cases
import keras_programs as programs

tf.config.threading.set_intra_op_parallelism_threads(1)
losses = {name: programs.train(tf, *run, in_function=False) for name, run in programs.RUNS.items()}
digests = {name: cases.digest(run()) for name, run in cases.cases(tf).items()}
path = pathlib.Path(__file__).with_name("keras_reference.json")
made_by = f"tensorflow {tf.__version__}, keras {keras.__version__}"


def lines(table):
    """A table with one line for each of its rows."""
    return "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()) + "\n }"


path.write_text(f'{{\n "made_by": {json.dumps(made_by)},\n "losses": {lines(losses)},\n "digests": {lines(digests)}\n}}\n')
