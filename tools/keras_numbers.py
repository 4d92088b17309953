#!/usr/bin/env python3
"""Compares models of keras.applications and three trainings by `fit` with the results of TensorFlow, which are stored in
tests/python/keras_numbers.json.

Run it with the project's own Python: .venv/bin/python tools/keras_numbers.py [NAME...]
"""
import json
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"))
import evenflow  # noqa: E402, F401  (it becomes the backend of Keras)
import keras  # noqa: E402
import keras_numbers_cases as cases  # noqa: E402


def main(names):
    reference = json.loads(cases.REFERENCE.read_text())
    wrong = 0
    known = [*cases.MODELS, *cases.TRAINED]
    if set(names) - set(known):
        sys.exit(f"no such name: {', '.join(sorted(set(names) - set(known)))}; there are {', '.join(known)}")
    for kind, listed, run, most in (("applications", cases.MODELS, cases.application, cases.NEAR),
                                    ("losses", cases.TRAINED, cases.training, cases.FOLLOWS)):
        for name in [n for n in listed if not names or n in names]:
            began = time.perf_counter()
            off = cases.distance(run(keras, name), reference[kind][name])
            wrong += not off <= most
            print(f"{name:20} {off:8.1e} relative, at most {most:.0e}: {'ok' if off <= most else 'WRONG'}"
                  f"   ({time.perf_counter() - began:.1f} s)", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
